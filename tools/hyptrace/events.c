// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choose events by the words of the command line.
 */
#include <stdlib.h>
#include <string.h>

#include "../lib/internal.h"
#include "cmd.h"
#include "text.h"

/**
 * cmd_add_word - append an argument
 * @words:	the arguments so far, whose array is for free()
 * @arg:	the argument
 */
void cmd_add_word(struct words *words, const char *arg)
{
	words->words = reallocarray(words->words, words->nr + 1, sizeof(*words->words));
	if (!words->words)
		die_no_memory();
	words->words[words->nr++] = arg;
}

static int fail_unknown(const char *verb, const char *word, struct hyptrace_event *const *events,
			unsigned int nr)
{
	struct hyptrace_nearest near;
	unsigned int i;

	hyptrace_nearest_begin(&near, word, strlen(word));
	for (i = 0; i < nr; i++)
		hyptrace_nearest_try(&near, events[i]->name);
	if (strpbrk(word, "*?["))
		return cmd_fail("cannot %s \"%s\": no event matches", verb, word);
	if (near.found)
		return cmd_fail("cannot %s \"%s\": no such event; did you mean \"%s\"?", verb,
				word, near.found);
	return cmd_fail("cannot %s \"%s\": no such event", verb, word);
}

static int fail_several(const char *verb, const struct event_choice *choice)
{
	unsigned int i;
	size_t len;
	char *list;
	FILE *f = text_open(&list, &len);

	for (i = 0; i < choice->nr_unknown; i++)
		fprintf(f, "%s\"%s\"", i ? ", " : "", choice->unknown[i]);
	text_close(f);
	cmd_note("cannot %s %s: no such events", verb, list);
	free(list);
	return EXIT_REFUSED;
}

/**
 * cmd_choose_events - find the events that arguments name
 * @verb:	the verb, for the message
 * @events:	all events of the remote
 * @nr:		number of @events
 * @words:	the arguments
 * @choice:	out: the result, for event_choice_free() in any case
 *
 * Return: an exit code; EXIT_REFUSED if one of @words names no event.
 */
int cmd_choose_events(const char *verb, struct hyptrace_event *const *events, unsigned int nr,
		      const struct words *words, struct event_choice *choice)
{
	select_events(events, nr, words->words, words->nr, choice);
	if (choice->nr_unknown == 1)
		return fail_unknown(verb, choice->unknown[0], events, nr);
	return choice->nr_unknown ? fail_several(verb, choice) : EXIT_DONE;
}
