// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events that hyptrace record holds enabled, and the filter that it sets at EL2.
 *
 * A hold leaves filters as they are. So with --filter the events are enabled with that filter,
 * and at the end they become again what they were.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "record.h"

static const struct hyptrace_event *find_event(const struct record *r, const char *name)
{
	unsigned int i;

	for (i = 0; i < r->nr_events; i++)
		if (!strcmp(r->events[i]->name, name))
			return r->events[i];
	return NULL;
}

/**
 * record_choose - choose the events to hold enabled
 * @r:		the recording, with its remote
 *
 * Return: an exit code.
 */
int record_choose(struct record *r)
{
	struct hyptrace_error err;

	if (hyptrace_get_events(r->ctx->h, r->remote->name, &r->events, &r->nr_events, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", r->remote->name, err.text);
	if (r->snapshot)
		return EXIT_DONE;
	if (r->words.nr)
		return cmd_choose_events("record", r->events, r->nr_events, &r->words, &r->choice);
	cmd_choose_default("recording", r->remote->name, r->events, r->nr_events, r->quiet,
			   &r->choice);
	return EXIT_DONE;
}

/* List the events that the filter is for: those of --event, or those that are recorded. */
static void list_filtered(struct record *r)
{
	unsigned int i;

	r->filtered = calloc(r->nr_events + 1, sizeof(*r->filtered));
	if (!r->filtered)
		die_no_memory();
	for (i = 0; i < r->choice.nr; i++)
		r->filtered[r->nr_filtered++] = find_event(r, r->choice.names[i]);
	for (i = 0; i < r->nr_events && !r->choice.nr; i++)
		if (r->events[i]->enabled)
			r->filtered[r->nr_filtered++] = r->events[i];
}

/* Enable an event with a filter, and with the trigger that it has. */
static int enable(struct record *r, const struct hyptrace_event *event,
		  const struct hyptrace_filter *filter, struct hyptrace_error *err)
{
	struct hyptrace_event_options *options = hyptrace_event_options_new();
	const char *name = event->name;
	int ret;

	if (!options)
		die_no_memory();
	hyptrace_event_options_filter(options, filter);
	hyptrace_event_options_trigger(options, event->trigger, event->after);
	ret = hyptrace_enable_events(r->ctx->h, r->remote->name, &name, 1, options, err);
	hyptrace_event_options_free(options);
	return ret;
}

/**
 * record_set_filter - set the filter of --filter
 * @r:		the recording, after record_choose()
 *
 * Return: an exit code; the caller calls record_restore_filters() in any case.
 */
int record_set_filter(struct record *r)
{
	struct hyptrace_filter *filter;
	struct hyptrace_error err;
	unsigned int i, nr;
	int code = EXIT_DONE;
	size_t at;

	if (!r->filter)
		return EXIT_DONE;
	list_filtered(r);
	nr = r->nr_filtered;
	r->nr_filtered = 0;
	filter = hyptrace_filter_parse_all(r->filtered, nr, r->filter, &at, &err);
	if (!filter && err.errnum == ENOMEM)
		die_no_memory();
	if (!filter)
		return filter_fail(r->filter, at, &err);
	for (i = 0; i < nr && !code; i++) {
		if (enable(r, r->filtered[i], filter, &err))
			code = cmd_fail_verb("filter", r->filtered[i]->name, &err);
		else
			r->nr_filtered++;
	}
	hyptrace_filter_free(filter);
	return code;
}

static int restore(struct record *r, const struct hyptrace_event *event, struct hyptrace_error *err)
{
	struct hyptrace_filter *filter = NULL;
	size_t at;
	int ret;

	if (!event->enabled)
		return hyptrace_set_event(r->ctx->h, r->remote->name, event->name, false, err);
	if (event->filter) {
		filter = hyptrace_filter_parse(event, event->filter, &at, err);
		if (!filter)
			return -err->errnum;
	}
	ret = enable(r, event, filter, err);
	hyptrace_filter_free(filter);
	return ret;
}

/**
 * record_restore_filters - make the events what they were
 * @r:		the recording
 */
void record_restore_filters(struct record *r)
{
	struct hyptrace_error err;

	while (r->nr_filtered) {
		const struct hyptrace_event *event = r->filtered[--r->nr_filtered];

		/* if the remote is gone, its events are, too */
		if (restore(r, event, &err) && err.errnum != ENODEV)
			cmd_note("cannot restore the filter of \"%s\": %s", event->name, err.text);
	}
	free(r->filtered);
	r->filtered = NULL;
}
