// SPDX-License-Identifier: GPL-2.0-only
/* Find out why events are missing although none was lost, and say it. */
#include "output/die.h"
#include "session.h"

#define RESUME_HINT	" (use \"hyptrace start\" to resume it)"

/* More notes of a file than this are not printed. */
#define NOTES_MAX	20

/*
 * @choice: what the verb needs, or else what is enabled; @events: as they were before the verb. The
 * events and the name must stay valid. The verb itself reports events that this
 * kernel lacks.
 */
void gaps_begin(struct gaps *gaps, struct context *ctx, const char *remote,
		const struct event_choice *choice, struct hyptrace_event *const *events,
		unsigned int nr)
{
	unsigned int i;

	gaps->ctx = ctx;
	gaps->remote = remote;
	gaps->events = xcalloc(nr + 1, sizeof(*gaps->events));
	for (i = 0; i < nr; i++)
		if (!events[i]->missing &&
		    (choice->nr ? event_choice_has(choice, events[i]->name) : events[i]->enabled))
			gaps->events[gaps->nr_events++] = events[i]->name;
}

static void put_into_file(struct gaps *gaps, struct gap *gap)
{
	if (gaps->file && !gap->in_file)
		hyptrace_file_add_note(gaps->file, gap->text);
	gap->in_file = true;
}

/* Write the sentences to another file from now on, and those of the last look at once. */
void gaps_set_file(struct gaps *gaps, struct hyptrace_file_writer *file)
{
	unsigned int i;

	gaps->file = file;
	for (i = 0; i < gaps->nr; i++) {
		gaps->list[i].in_file = false;
		if (gaps->list[i].is_now)
			put_into_file(gaps, &gaps->list[i]);
	}
}

/* Say it, unless the look before has found it, too. */
static void found(struct gaps *gaps, const char *text, const char *hint, bool is_known)
{
	struct gap *gap;
	unsigned int i;

	for (i = 0; i < gaps->nr && strcmp(gaps->list[i].text, text); i++)
		;
	if (i == gaps->nr)
		xappend(gaps->list, gaps->nr)->text = xstrdup(text);
	gap = &gaps->list[i];
	gap->is_now = true;
	if (!gap->was && !is_known && !gaps->is_quiet)
		cmd_note("%s%s", gap->text, hint);
	put_into_file(gaps, gap);
}

static void look_at_state(struct gaps *gaps)
{
	auto_remote struct hyptrace_remote *remote = NULL;
	char text[HYPTRACE_EVENT_NAME_MAX + 128];
	/* what fired before the verb began, it could not hear */
	const bool is_heard = gaps->hears_triggers && gaps->has_looked;
	unsigned int i;

	if (hyptrace_get_remote(gaps->ctx->h, gaps->remote, &remote, NULL))
		return;
	gaps->has_looked = true;
	gaps->state = remote->state;
	gaps->nr_fired = remote->nr_fired;
	if (remote->state != HYPTRACE_STATE_TRACING)
		found(gaps, "tracing was switched off: later events are missing", RESUME_HINT,
		      false);
	for (i = 0; i < remote->nr_fired && remote->state == HYPTRACE_STATE_TRACING; i++) {
		if (remote->fired[i].action != HYPTRACE_TRIGGER_ACTION_STOP)
			continue;
		snprintf(text, sizeof(text),
			 "the trigger of \"%s\" has stopped the recording: later events are missing",
			 remote->fired[i].event);
		found(gaps, text, RESUME_HINT, is_heard);
	}
}

/* Say it of the first of @events and of those that are like it, which become NULL. */
static void note_events(struct gaps *gaps, const struct hyptrace_event **events, unsigned int nr)
{
	auto_free char *text = NULL;
	const struct hyptrace_event *first = events[0];
	unsigned int i, named = 0;
	FILE *f = text_open(&text);

	for (i = 0; i < nr; i++) {
		/* like it: disabled, too, or with the same filter */
		if (!events[i] || events[i]->enabled != first->enabled ||
		    (first->enabled && strcmp(events[i]->filter, first->filter)))
			continue;
		fprintf(f, "%s\"%s\"", named++ ? ", " : "", events[i]->name);
		events[i] = NULL;
	}
	if (!first->enabled)
		fprintf(f, " %s disabled: later ones are missing", named == 1 ? "was" : "were");
	else
		fprintf(f, " %s the filter \"%s\" at EL2: the other ones are missing",
			named == 1 ? "has" : "have", first->filter);
	text_close(f, &text);
	found(gaps, text, "", first->enabled && gaps->own && !strcmp(first->filter, gaps->own));
}

static void look_at_events(struct gaps *gaps)
{
	auto_free const struct hyptrace_event **with_gaps = NULL;
	struct hyptrace_event **events auto_events = NULL;
	unsigned int nr, i, nr_with = 0;

	if (!gaps->nr_events ||
	    hyptrace_get_events(gaps->ctx->h, gaps->remote, &events, &nr, NULL))
		return;
	with_gaps = xcalloc(nr + 1, sizeof(*with_gaps));
	/* with the trigger notify, the filter keeps no event back */
	for (i = 0; i < nr; i++)
		if (has_name(gaps->events, gaps->nr_events, events[i]->name) &&
		    (!events[i]->enabled || (events[i]->filter && !gaps->owns_filters &&
		     events[i]->trigger != HYPTRACE_TRIGGER_ACTION_NOTIFY)))
			with_gaps[nr_with++] = events[i];
	for (i = 0; i < nr_with; i++)
		if (with_gaps[i])
			note_events(gaps, &with_gaps[i], nr_with - i);
}

/* Say what is new; @all: also of the remote. If a request fails, the verb's next one says why. */
void gaps_look(struct gaps *gaps, bool all)
{
	unsigned int i;

	for (i = 0; i < gaps->nr; i++) {
		gaps->list[i].was = gaps->list[i].is_now;
		gaps->list[i].is_now = false;
	}
	if (all)
		look_at_state(gaps);
	look_at_events(gaps);
}

void gaps_watch(struct gaps *gaps)
{
	auto_remote struct hyptrace_remote *remote = NULL;

	if (hyptrace_get_remote(gaps->ctx->h, gaps->remote, &remote, NULL))
		return;
	if (remote->state != gaps->state || remote->nr_fired != gaps->nr_fired)
		gaps_look(gaps, true);
}

void gaps_end(struct gaps *gaps)
{
	unsigned int i;

	for (i = 0; i < gaps->nr; i++)
		free(gaps->list[i].text);
	free(gaps->list);
	free(gaps->events);
}

uint64_t gaps_count_filtered(const struct context *ctx, const struct hyptrace_file *file)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(file);
	uint64_t filtered = 0;
	unsigned int i;

	for (i = 0; i < info->nr_cpus; i++)
		if (!ctx->have_cpus || cpu_list_has(&ctx->cpus, info->cpus[i]->id))
			filtered += info->cpus[i]->filtered;
	return filtered;
}

void gaps_note_filtered(const char *name, uint64_t nr)
{
	if (nr)
		cmd_note("\"%s\": filters at EL2 have kept %" PRIu64 " event%s from being recorded",
			 name, nr, nr == 1 ? "" : "s");
}

void gaps_note_file(const struct context *ctx, const struct hyptrace_file *file, const char *path)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(file);
	unsigned int i;

	if (!info->is_complete)
		cmd_note("\"%s\": the recording was not finished; this is what was written", path);
	for (i = 0; i < info->nr_notes && i < NOTES_MAX; i++)
		cmd_note("\"%s\": %s", path, info->notes[i]);
	gaps_note_filtered(path, gaps_count_filtered(ctx, file));
}
