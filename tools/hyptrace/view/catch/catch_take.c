// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events hyptrace catch catches, of rings or of a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "output/die.h"
#include "output/message.h"
#include "session/choice.h"
#include "session/signals.h"
#include "catch.h"

/* Find the event, and parse the filter. Return an exit code. */
int catch_choose(struct catcher *c)
{
	const char *name = c->name;
	const struct words words = { .words = &name, .nr = 1 };
	struct event_choice choice = { };
	struct hyptrace_error err;
	unsigned int i;
	size_t at;
	int code;

	code = cmd_choose_events("catch", c->events, c->nr_events, &words, &choice);
	event_choice_free(&choice);
	for (i = 0; i < c->nr_events && !code; i++)
		if (!strcmp(c->events[i]->name, name))
			c->event = c->events[i];
	if (!code && !c->event)
		return cmd_fail("cannot catch \"%s\": it is no single event (see \"hyptrace list\")",
				name);
	for (i = 0; !code && i < c->event->nr_fields; i++)
		if (!strcmp(c->event->fields[i]->name, "duration"))
			c->duration = c->event->fields[i];
	if (code || !c->text)
		return code;
	c->filter = hyptrace_filter_parse(c->event, c->text, &at, &err);
	if (!c->filter && err.errnum == ENOMEM)
		die_no_memory();
	return c->filter ? EXIT_DONE : filter_fail(c->what, c->text - c->what + at, &err);
}

void catch_add_cpu(struct catcher *c, unsigned int id)
{
	c->cpus = reallocarray(c->cpus, c->nr_cpus + 1, sizeof(*c->cpus));
	if (!c->cpus)
		die_no_memory();
	c->cpus[c->nr_cpus++] = (struct catch_cpu){ .id = id };
}

bool catch_has_enough(const struct catcher *c)
{
	return c->ctx->out.error || signals_stop || (c->limit && c->nr_caught >= c->limit);
}

/* Print the events that were caught; @all: also those that are not complete. */
void catch_flush(struct catcher *c, bool all)
{
	struct caught *caught;

	while ((caught = catch_finder_next(c->finder, all))) {
		catch_print(c, caught);
		caught_free(caught);
	}
}

static bool is_match(const struct catcher *c, const struct hyptrace_record *rec)
{
	if (!c->is_armed || lines_record_id(rec) != c->event->id)
		return false;
	return !c->filter || hyptrace_filter_match(c->filter, rec->data, rec->size);
}

/* Take the next event, in the order of time. */
void catch_take(struct catcher *c, const struct hyptrace_stream_event *event)
{
	const struct hyptrace_record *rec = &event->record;
	const struct catch_progress *progress = &c->progress;
	const bool match = is_match(c, rec);
	uint64_t begin = rec->ts, duration;
	unsigned int i;

	for (i = 0; i < c->nr_cpus && c->cpus[i].id != event->cpu; i++)
		;
	if (i == c->nr_cpus)
		return;
	if (match && c->duration && !hyptrace_field_value(c->duration, rec, &duration))
		begin -= duration < begin ? duration : begin;
	if (match && rec->ts <= progress->asked_at + progress->asked_ahead)
		c->cpus[i].asked_found++;
	catch_finder_add(c->finder, i, event, match, begin);
	catch_flush(c, false);
}
