// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events are printed: those that --event names and that meet --filter; and a check of the
 * options. For the verbs that print lines.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/message.h"
#include "session/events.h"
#include "csv.h"
#include "lines.h"

#define NR_IDS	(UINT16_MAX + 1)

static const struct hyptrace_event *find_event(struct hyptrace_event *const *events,
					       unsigned int nr, const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(events[i]->name, name))
			break;
	return events[i];
}

/* Choose the events of --event. */
static int choose_events(struct lines *lines, const char *verb,
			 struct hyptrace_event *const *events, unsigned int nr)
{
	struct event_choice choice = {};
	unsigned int i;
	int code;

	code = cmd_choose_events(verb, events, nr, &lines->words, &choice);
	if (!code) {
		lines->wanted = calloc(NR_IDS, sizeof(*lines->wanted));
		if (!lines->wanted)
			die_no_memory();
	}
	for (i = 0; i < choice.nr && !code; i++)
		lines->wanted[find_event(events, nr, choice.names[i])->id & (NR_IDS - 1)] = true;
	event_choice_free(&choice);
	return code;
}

/* Make the list of the events that @wanted has, or of all, for free(). */
static struct hyptrace_event **list_wanted(const bool *wanted, struct hyptrace_event *const *events,
					   unsigned int *nr)
{
	struct hyptrace_event **chosen = calloc(*nr + 1, sizeof(struct hyptrace_event *));
	unsigned int nr_chosen = 0, i;

	if (!chosen)
		die_no_memory();
	for (i = 0; i < *nr; i++)
		if (!wanted || wanted[events[i]->id & (NR_IDS - 1)])
			chosen[nr_chosen++] = events[i];
	*nr = nr_chosen;
	return chosen;
}

/* Make a table with the columns of the events that @wanted has, or of all. */
static void make_table(struct lines *lines, const bool *wanted,
		       struct hyptrace_event *const *events, unsigned int nr)
{
	struct hyptrace_event **chosen = list_wanted(wanted, events, &nr);

	lines->table = csv_new(lines->formats, chosen, nr);
	free(chosen);
}

/* One of the events that are printed must have the fields of --filter. */
static int parse_filter(struct lines *lines, struct hyptrace_event *const *events, unsigned int nr)
{
	struct hyptrace_event **chosen = list_wanted(lines->wanted, events, &nr);
	int code = filter_parse(lines->filter, chosen, nr, lines->formats, &lines->filters);

	free(chosen);
	return code;
}

/**
 * lines_check - check options that the parser of one verb alone cannot check
 * @lines:	the line printer, with its options
 * @ctx:	the context, with its options
 *
 * Return: EXIT_DONE, or EXIT_USAGE after a message.
 */
int lines_check(const struct lines *lines, const struct context *ctx)
{
	if (!lines->csv || !ctx->json)
		return EXIT_DONE;
	cmd_note("--csv and --json exclude each other");
	return EXIT_USAGE;
}

/**
 * lines_choose - find out which events are to be printed, and begin the output
 * @lines:	the line printer, after lines_begin()
 * @verb:	the verb, for a message
 * @events:	all events; must stay valid
 * @nr:		number of @events
 *
 * Return: an exit code.
 */
int lines_choose(struct lines *lines, const char *verb, struct hyptrace_event *const *events,
		 unsigned int nr)
{
	int code = EXIT_DONE;

	if (lines->words.nr)
		code = choose_events(lines, verb, events, nr);
	if (!code)
		code = parse_filter(lines, events, nr);
	if (!code && lines->csv) {
		make_table(lines, lines->wanted, events, nr);
		csv_head(lines->table, lines->out);
	}
	return code;
}

/**
 * lines_begin_as - prepare to print as another line printer does
 * @lines:	the line printer, all 0; it only prints, and does not choose events
 * @like:	the other one, after lines_choose()
 * @ctx:	a context with a printer and an output of its own
 * @remote:	the remote of the events
 * @formats:	formats of its events, which only @lines uses
 * @events:	all events
 * @nr:		number of @events
 * @err:	the reason if it fails
 *
 * Return: 0 or a negative errno.
 */
int lines_begin_as(struct lines *lines, const struct lines *like, struct context *ctx,
		   const struct hyptrace_remote *remote, struct hyptrace_formats *formats,
		   struct hyptrace_event *const *events, unsigned int nr,
		   struct hyptrace_error *err)
{
	int ret;

	lines->time = like->time;
	lines->raw = like->raw;
	lines->csv = like->csv;
	lines->nanoseconds = like->nanoseconds;
	lines->has_offset = like->has_offset;
	lines->offset = like->offset;
	ret = lines_begin(lines, ctx, remote, formats, err);
	if (!ret && lines->csv)
		make_table(lines, like->wanted, events, nr);
	return ret;
}

/**
 * lines_has_choice - are not all events printed?
 * @lines:	the line printer, after lines_choose()
 *
 * Return: true if lines_accept() decides.
 */
bool lines_has_choice(const struct lines *lines)
{
	return lines->filters || lines->wanted;
}

/**
 * lines_accept - is an event to be printed?
 * @lines:	the line printer, after lines_choose()
 * @rec:	the event
 *
 * Return: true if it is.
 */
bool lines_accept(const struct lines *lines, const struct hyptrace_record *rec)
{
	if (lines->wanted && !lines->wanted[lines_record_id(rec)])
		return false;
	return !lines->filters || hyptrace_filters_match(lines->filters, rec);
}

/**
 * lines_accept_event - the same for a stream or a file
 * @event:	the event
 * @lines:	the line printer, after lines_choose()
 *
 * Return: true if it is to be printed.
 */
bool lines_accept_event(const struct hyptrace_stream_event *event, void *lines)
{
	return lines_accept(lines, &event->record);
}

/**
 * lines_filter_count - make the part of the last line that counts the events that were left out
 * @lines:	the line printer
 * @nr:		number of these events
 * @text:	out: the part, with a comma before it; empty if all events are printed
 *
 * Return: @text.
 */
const char *lines_filter_count(const struct lines *lines, uint64_t nr,
			       char text[FILTER_COUNT_SIZE])
{
	return filter_count(lines_has_choice(lines), nr, text);
}
