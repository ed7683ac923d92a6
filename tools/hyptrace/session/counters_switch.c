// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have EL2 count events, for count, enable and disable.
 */
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "choice.h"
#include "counters.h"
#include "select.h"

/* Fail if a word names an event that cannot be counted. A glob leaves out such events. */
static int check_words(const char *verb, struct hyptrace_event *const *events,
		       const struct words *words)
{
	unsigned int i, j;

	for (i = 0; i < words->nr; i++)
		for (j = 0; events[j]; j++)
			if (!events[j]->can_be_counted && !strcmp(events[j]->name, words->words[i]))
				return cmd_fail("cannot %s \"%s\": EL2 has no counters for this event",
						verb, words->words[i]);
	return EXIT_DONE;
}

/* Have EL2 count the events that words name, or count them no more. Return an exit code. */
int counters_switch(struct context *ctx, const struct words *words, bool on)
{
	const char *verb = on ? "count" : "stop counting";
	struct hyptrace_event **events, **countable;
	unsigned int i, nr = 0;
	struct event_choice choice = {};
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	int code;

	code = cmd_get_events(ctx, &remote, &events);
	if (code)
		return code;
	for (i = 0; events[i]; i++)
		;
	countable = xcalloc(i + 1, sizeof(*countable));
	for (i = 0; events[i]; i++)
		if (events[i]->can_be_counted)
			countable[nr++] = events[i];
	if (!nr)
		code = cmd_fail("remote \"%s\" cannot count events", remote->name);
	else
		code = check_words(verb, events, words);
	if (!code)
		code = cmd_choose_events(verb, countable, nr, words, &choice);
	if (!code && hyptrace_count_events(ctx->h, remote->name, choice.names, choice.nr, on, 0,
					   &err))
		code = cmd_fail_verb(verb, choice.nr == 1 ? choice.names[0] : remote->name, &err);
	event_choice_free(&choice);
	free(countable);
	hyptrace_free_events(events);
	hyptrace_free_remote(remote);
	return code;
}
