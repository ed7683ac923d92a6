// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choose events by the words of the command line.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/message.h"
#include "output/text.h"
#include "events.h"

/* The remote whose only events are marks */
#define TEST_REMOTE	"test"

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

/**
 * cmd_add_words - append the words of a list with commas
 * @words:	the arguments so far, whose array is for free()
 * @list:	the list, which is changed and must stay valid
 *
 * Return: 0, or an error after a message if the list is empty.
 */
error_t cmd_add_words(struct words *words, char *list)
{
	char *word = strtok(list, ",");

	if (!word)
		return cmd_usage("no event given: use names, globs such as \"hyp_*\", or all");
	for (; word; word = strtok(NULL, ","))
		cmd_add_word(words, word);
	return 0;
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

static bool is_any_enabled(struct hyptrace_event *const *events, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (events[i]->enabled)
			return true;
	return false;
}

/**
 * cmd_choose_default - if no event is enabled, choose what is most useful
 * @what:	what enables them until it ends, such as "stream"
 * @remote:	name of the remote
 * @events:	all its events
 * @nr:		number of @events
 * @only:	arguments that name those of which something is printed; none for all
 * @quiet:	do not tell it
 * @choice:	out: the events, perhaps none, for event_choice_free()
 */
void cmd_choose_default(const char *what, const char *remote, struct hyptrace_event *const *events,
			unsigned int nr, const struct words *only, bool quiet,
			struct event_choice *choice)
{
	/* the remote "test" writes no other events by itself */
	static const char *const test_words[] = { "selftest" };
	static const char *const words[] = { "hyp_enter", "hyp_exit" };

	if (is_any_enabled(events, nr))
		return;
	if (only->nr)
		select_events(events, nr, only->words, only->nr, choice);
	else if (!strcmp(remote, TEST_REMOTE))
		select_events(events, nr, test_words, 1, choice);
	else
		select_events(events, nr, words, 2, choice);
	if (quiet)
		return;
	if (choice->nr > 2)
		cmd_note("no event is enabled: this %s enables %u events until it ends", what,
			 choice->nr);
	else if (choice->nr)
		cmd_note("no event is enabled: this %s enables %s%s%s until it ends", what,
			 choice->names[0], choice->nr > 1 ? " and " : "",
			 choice->nr > 1 ? choice->names[1] : "");
	else
		cmd_note("no event is enabled: use \"hyptrace enable\"");
}
