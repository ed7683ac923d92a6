// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events hyptrace catch catches, of rings or of a file, and how it prints them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "output/die.h"
#include "output/message.h"
#include "output/printer.h"
#include "session/edge_losses.h"
#include "session/signals.h"
#include "sink/json_rows.h"
#include "catch.h"

static bool is_match(const struct catcher *c, const struct hyptrace_record *rec)
{
	if (!c->is_armed || lines_record_id(rec) != c->event->id)
		return false;
	return !c->filter || hyptrace_filter_match(c->filter, rec->data, rec->size);
}

/* -e and -F choose what is around the events that are caught. */
static bool accept(const struct hyptrace_stream_event *event, void *arg)
{
	struct catcher *c = arg;

	return is_match(c, &event->record) || choice_accept_event(event, &c->session.choice);
}

/* Find the event to catch, and parse its filter. Return an exit code. */
static int find_event(struct catcher *c)
{
	const char *name = c->name;
	const struct words words = { .words = &name, .nr = 1 };
	const struct session *s = &c->session;
	struct event_choice choice = {};
	struct hyptrace_error err;
	unsigned int i;
	size_t at;
	int code;

	code = cmd_choose_events("catch", s->events, s->nr_events, &words, &choice);
	event_choice_free(&choice);
	for (i = 0; i < s->nr_events && !code; i++)
		if (!strcmp(s->events[i]->name, name))
			c->event = s->events[i];
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
	if (!c->filter)
		return filter_fail(c->what, c->text - c->what + at, &err);
	hyptrace_filter_set_formats(c->filter, s->formats);
	return EXIT_DONE;
}

/* Choose the event to catch, and those around it. Return an exit code. */
int catch_choose(struct catcher *c)
{
	struct session *s = &c->session;
	int code = find_event(c);

	if (!code)
		code = session_choose(s);
	if (code || !choice_is_made(&s->choice))
		return code;
	if (s->file)
		hyptrace_file_set_filter(s->file, accept, c);
	else
		hyptrace_stream_set_filter(s->stream, accept, c);
	return EXIT_DONE;
}

void catch_add_cpu(struct catcher *c, const struct catch_cpu *cpu)
{
	c->cpus = reallocarray(c->cpus, c->nr_cpus + 1, sizeof(*c->cpus));
	if (!c->cpus)
		die_no_memory();
	c->cpus[c->nr_cpus++] = *cpu;
}

/* Find a CPU; NULL if it is not one of those that are read. */
struct catch_cpu *catch_find_cpu(struct catcher *c, unsigned int id)
{
	struct catch_cpu *cpu;

	for (cpu = c->cpus; cpu < c->cpus + c->nr_cpus; cpu++)
		if (cpu->id == id)
			return cpu;
	return NULL;
}

bool catch_has_enough(const struct catcher *c)
{
	return c->session.ctx->out.error || signals_stop || (c->limit && c->nr_caught >= c->limit);
}

/* Take the next event, in the order of time. */
void catch_take(struct catcher *c, const struct hyptrace_stream_event *next)
{
	struct catch_cpu *cpu = catch_find_cpu(c, next->cpu);
	const struct catch_progress *progress = &c->progress;
	struct hyptrace_stream_event event = *next;
	struct hyptrace_record *rec = &event.record;
	uint64_t begin = rec->ts, duration;
	bool match;

	if (!cpu)
		return;
	cpu->lost = edge_losses_add(cpu->lost, rec->lost);
	/* events were only lost, or not chosen */
	if (!rec->data)
		return;
	rec->lost = cpu->lost;
	cpu->lost = 0;
	match = is_match(c, rec);
	if (match && c->duration && !hyptrace_field_value(c->duration, rec, &duration))
		begin -= duration < begin ? duration : begin;
	if (match && rec->ts <= progress->asked_at + progress->asked_ahead)
		cpu->asked_found++;
	catch_finder_add(c->finder, cpu - c->cpus, &event, match, begin);
	catch_flush(c, false);
}

static void print_lost(struct catcher *c, const struct hyptrace_stream_event *event)
{
	if (!event->record.lost)
		return;
	out_spaces(&c->session.ctx->out, 2);
	lines_lost(&c->lines, event->cpu, event->record.ts, event->record.lost);
}

static void print_events(struct catcher *c, const struct catch_events *events)
{
	const struct hyptrace_stream_event *event;

	for (event = events->events; event < events->events + events->nr; event++) {
		print_lost(c, event);
		out_spaces(&c->session.ctx->out, 2);
		lines_event(&c->lines, event->cpu, &event->record);
	}
}

static void print_text(struct catcher *c, const struct caught *caught)
{
	const unsigned int cpu = caught->event.cpu;
	struct out *out = &c->session.ctx->out;

	out_printf(out, "%scaught %" PRIu64 ":\n", c->nr_caught > 1 ? "\n" : "", c->nr_caught);
	lines_event(&c->lines, cpu, &caught->event.record);
	catch_print_usual(c, &caught->event.record);
	if (caught->before.nr || caught->event.record.lost)
		out_printf(out, "before on CPU %u:\n", cpu);
	print_events(c, &caught->before);
	print_lost(c, &caught->event);
	if (caught->earlier.nr)
		out_puts(out, "last on other CPUs before it began:\n");
	print_events(c, &caught->earlier);
	if (caught->others.nr)
		out_puts(out, "meanwhile on other CPUs:\n");
	print_events(c, &caught->others);
	if (caught->after.nr)
		out_printf(out, "after on CPU %u:\n", cpu);
	print_events(c, &caught->after);
}

static void print_object(struct catcher *c, const char *key,
			 const struct hyptrace_stream_event *event)
{
	size_t len;
	const char *object = json_rows_object(c->lines.rows, event->cpu, &event->record, &len);

	printer_json(c->session.ctx->p, key, object, len);
}

static void print_array(struct catcher *c, const char *key, const struct catch_events *events)
{
	unsigned int i;

	printer_array(c->session.ctx->p, key);
	for (i = 0; i < events->nr; i++)
		print_object(c, NULL, &events->events[i]);
	printer_end(c->session.ctx->p);
}

static void print_json(struct catcher *c, const struct caught *caught)
{
	struct printer *p = c->session.ctx->p;

	printer_line(p, STYLE_PLAIN, "%s", "");
	printer_uint(p, "caught", c->nr_caught);
	print_object(c, "event", &caught->event);
	catch_print_usual(c, &caught->event.record);
	print_array(c, "before", &caught->before);
	print_array(c, "earlier", &caught->earlier);
	print_array(c, "meanwhile", &caught->others);
	print_array(c, "after", &caught->after);
	printer_end(p);
}

/*
 * Print the events that were caught, unless there are enough; @all: also those that are not
 * complete.
 */
void catch_flush(struct catcher *c, bool all)
{
	struct caught *caught;

	while ((caught = catch_finder_next(c->finder, all))) {
		if (!c->limit || c->nr_caught < c->limit) {
			c->nr_caught++;
			if (printer_is_json(c->session.ctx->p))
				print_json(c, caught);
			else
				print_text(c, caught);
		}
		caught_free(caught);
	}
}

void catch_print_missed(struct catcher *c, unsigned int cpu, uint64_t missed)
{
	struct printer *p = c->session.ctx->p;

	c->nr_missed += missed;
	printer_line(p, STYLE_BAD,
		     "MISSED %" PRIu64 " event%s on CPU %u: overwritten before %s could be read",
		     missed, missed == 1 ? "" : "s", cpu, missed == 1 ? "it" : "they");
	printer_uint(p, "cpu", cpu);
	printer_uint(p, "missed", missed);
	printer_end(p);
}
