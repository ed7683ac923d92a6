// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events that hyptrace record holds enabled, and the filter that it sets at EL2.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/message.h"
#include "session/choice.h"
#include "session/event_hold.h"
#include "record.h"

static const struct hyptrace_event *find_event(const struct record *r, const char *name)
{
	unsigned int i;

	for (i = 0; i < r->nr_events; i++)
		if (!strcmp(r->events[i]->name, name))
			return r->events[i];
	return NULL;
}

int record_choose(struct record *r)
{
	struct hyptrace_error err;

	if (hyptrace_get_events(r->ctx->h, r->remote->name, &r->events, &r->nr_events, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", r->remote->name, err.text);
	if (r->snapshot)
		return EXIT_DONE;
	if (r->words.nr)
		return cmd_choose_events("record", r->events, r->nr_events, &r->words, &r->choice);
	cmd_choose_default("recording", r->remote->name, r->events, r->nr_events, &r->words,
			   r->quiet, &r->choice);
	return EXIT_DONE;
}

/* List the events that the filter is for: those of --event, or those that are recorded. */
static unsigned int list_filtered(const struct record *r, const struct hyptrace_event **list)
{
	unsigned int i, nr = 0;

	for (i = 0; i < r->choice.nr; i++)
		list[nr++] = find_event(r, r->choice.names[i]);
	for (i = 0; i < r->nr_events && !r->choice.nr; i++)
		if (r->events[i]->enabled)
			list[nr++] = r->events[i];
	return nr;
}

static int set_filter(struct record *r, const struct hyptrace_event **list, unsigned int nr)
{
	struct hyptrace_filter *filter;
	struct hyptrace_error err;
	unsigned int i;
	int code = EXIT_DONE;
	size_t at;

	filter = hyptrace_filter_parse_all(list, nr, r->filter, &at, &err);
	if (!filter && err.errnum == ENOMEM)
		die_no_memory();
	if (!filter)
		return filter_fail(r->filter, at, &err);
	r->is_filtered = true;
	for (i = 0; i < nr && !code; i++)
		if (event_hold(r->ctx->h, list[i], filter, list[i]->trigger, list[i]->after, &err))
			code = cmd_fail_verb("filter", list[i]->name, &err);
	hyptrace_filter_free(filter);
	return code;
}

int record_set_filter(struct record *r)
{
	const struct hyptrace_event **list;
	int code;

	if (!r->filter)
		return EXIT_DONE;
	list = calloc(r->nr_events + 1, sizeof(*list));
	if (!list)
		die_no_memory();
	code = set_filter(r, list, list_filtered(r, list));
	free(list);
	return code;
}
