// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print what hyptrace catch has caught, and what it has missed.
 */
#include <inttypes.h>

#include "output/message.h"
#include "output/out.h"
#include "output/printer.h"
#include "sink/json_rows.h"
#include "catch.h"

static void print_events(struct catcher *c, const struct catch_events *events)
{
	const struct hyptrace_stream_event *event;

	for (event = events->events; event < events->events + events->nr; event++) {
		if (event->record.lost) {
			out_spaces(&c->ctx->out, 2);
			lines_lost(&c->lines, event->cpu, event->record.ts, event->record.lost);
		}
		out_spaces(&c->ctx->out, 2);
		lines_event(&c->lines, event->cpu, &event->record);
	}
}

static void print_text(struct catcher *c, const struct caught *caught)
{
	const unsigned int cpu = caught->event.cpu;
	struct out *out = &c->ctx->out;

	out_printf(out, "%scaught %" PRIu64 ":\n", c->nr_caught > 1 ? "\n" : "", c->nr_caught);
	lines_event(&c->lines, cpu, &caught->event.record);
	catch_print_usual(c, &caught->event.record);
	if (caught->before.nr || caught->event.record.lost)
		out_printf(out, "before on CPU %u:\n", cpu);
	print_events(c, &caught->before);
	if (caught->event.record.lost) {
		out_spaces(out, 2);
		lines_lost(&c->lines, cpu, caught->event.record.ts, caught->event.record.lost);
	}
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

	printer_json(c->ctx->p, key, object, len);
}

static void print_array(struct catcher *c, const char *key, const struct catch_events *events)
{
	unsigned int i;

	printer_array(c->ctx->p, key);
	for (i = 0; i < events->nr; i++)
		print_object(c, NULL, &events->events[i]);
	printer_end(c->ctx->p);
}

static void print_json(struct catcher *c, const struct caught *caught)
{
	struct printer *p = c->ctx->p;

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

/* Print an event that was caught, unless there are enough. */
void catch_print(struct catcher *c, const struct caught *caught)
{
	if (c->limit && c->nr_caught == c->limit)
		return;
	c->nr_caught++;
	if (printer_is_json(c->ctx->p))
		print_json(c, caught);
	else
		print_text(c, caught);
}

void catch_print_missed(struct catcher *c, unsigned int cpu, uint64_t missed)
{
	struct printer *p = c->ctx->p;

	c->nr_missed += missed;
	printer_line(p, STYLE_BAD,
		     "MISSED %" PRIu64 " event%s on CPU %u: overwritten before %s could be read",
		     missed, missed == 1 ? "" : "s", cpu, missed == 1 ? "it" : "they");
	printer_uint(p, "cpu", cpu);
	printer_uint(p, "missed", missed);
	printer_end(p);
}

void catch_print_summary(const struct catcher *c)
{
	/* not all of them were written */
	if (out_has_failed(&c->ctx->out) || (c->lines.quiet && !c->nr_missed))
		return;
	cmd_note("%" PRIu64 " event%s caught, %" PRIu64 " missed%s", c->nr_caught,
		 c->nr_caught == 1 ? "" : "s", c->nr_missed,
		 c->nr_missed ? " (use larger rings: \"hyptrace set --size\")" : "");
}
