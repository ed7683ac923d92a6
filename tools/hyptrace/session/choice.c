// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events that -e and -F choose.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "output/die.h"
#include "choice.h"
#include "filter.h"

/* Find the events of -e. Return an exit code. */
static int choose_events(struct choice *choice, const char *verb,
			 struct hyptrace_event *const *events, unsigned int nr)
{
	struct event_choice found = {};
	unsigned int i, j;
	int code;

	code = cmd_choose_events(verb, events, nr, &choice->words, &found);
	if (!code) {
		choice->wanted = calloc(CHOICE_IDS, sizeof(*choice->wanted));
		if (!choice->wanted)
			die_no_memory();
	}
	for (i = 0; i < found.nr && !code; i++)
		for (j = 0; j < nr; j++)
			if (!strcmp(events[j]->name, found.names[i]))
				choice->wanted[events[j]->id & (CHOICE_IDS - 1)] = true;
	event_choice_free(&found);
	return code;
}

/* Make the list of the events that @wanted has, or of all, for free(). */
struct hyptrace_event **choice_list(const bool *wanted, struct hyptrace_event *const *events,
				    unsigned int *nr)
{
	struct hyptrace_event **chosen = calloc(*nr + 1, sizeof(struct hyptrace_event *));
	unsigned int nr_chosen = 0, i;

	if (!chosen)
		die_no_memory();
	for (i = 0; i < *nr; i++)
		if (!wanted || wanted[events[i]->id & (CHOICE_IDS - 1)])
			chosen[nr_chosen++] = events[i];
	*nr = nr_chosen;
	return chosen;
}

/*
 * Find the chosen ones of all events. One of them must have the fields of -F. Return an exit code.
 */
int choice_make(struct choice *choice, const char *verb, struct hyptrace_event *const *events,
		unsigned int nr, const struct hyptrace_formats *formats)
{
	struct hyptrace_event **chosen;
	int code;

	code = choice->words.nr ? choose_events(choice, verb, events, nr) : EXIT_DONE;
	if (code || !choice->filter)
		return code;
	chosen = choice_list(choice->wanted, events, &nr);
	code = filter_parse(choice->filter, chosen, nr, formats, &choice->filters);
	free(chosen);
	return code;
}

void choice_free(struct choice *choice)
{
	hyptrace_filters_free(choice->filters);
	free(choice->wanted);
	free(choice->words.words);
	*choice = (struct choice){};
}

/* Is an event chosen? A hyptrace_stream_filter_fn. */
bool choice_accept_event(const struct hyptrace_stream_event *event, void *arg)
{
	const struct choice *choice = arg;
	const struct hyptrace_record *rec = &event->record;
	uint16_t id;

	if (choice->wanted) {
		if (rec->size < sizeof(id))
			return false;
		memcpy(&id, rec->data, sizeof(id));
		if (!choice->wanted[id])
			return false;
	}
	return !choice->filters || hyptrace_filters_match(choice->filters, rec);
}
