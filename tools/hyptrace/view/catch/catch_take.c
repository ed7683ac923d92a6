// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events hyptrace catch catches, of rings or of a file, and how it prints them.
 */
#include "output/die.h"
#include "sink/row.h"
#include "catch.h"

static bool is_match(const struct catcher *c, const struct hyptrace_record *rec)
{
	if (!c->is_armed || row_record_id(rec) != c->event->id)
		return false;
	return !c->filter || hyptrace_filter_match(c->filter, rec);
}

/* -e and -F choose what is around the events that are caught. */
static bool accept(const struct hyptrace_stream_event *event, void *arg)
{
	struct catcher *c = arg;

	return is_match(c, &event->record) || choice_accept_event(event, &c->session.choice);
}

static int find_event(struct catcher *c)
{
	auto_choice struct event_choice choice = {};
	const struct words words = { .words = (const char *[]){ c->name }, .nr = 1 };
	const struct session *s = &c->session;
	struct hyptrace_error err;
	size_t at;
	int code = cmd_choose_events("catch", s->events, s->nr_events, &words, &choice);

	if (!code && !strcmp(choice.names[0], c->name))
		c->event = choice.events[0];
	if (code)
		return code;
	if (!c->event)
		return cmd_fail("cannot catch \"%s\": it is no single event (see \"hyptrace list\")",
				c->name);
	c->duration = hyptrace_event_field(c->event, "duration");
	if (!c->text)
		return EXIT_DONE;
	c->filter = hyptrace_filter_new(&c->event, 1, s->formats, true, c->text, &at, &err);
	if (!c->filter)
		return filter_fail(c->what, c->text - c->what + at, &err);
	return EXIT_DONE;
}

int catch_choose(struct catcher *c)
{
	struct session *s = &c->session;
	int code = (c->what ? find_event(c) : EXIT_DONE) ?: session_choose(s);

	if (!code && choice_is_made(&s->choice))
		session_set_filter(s, accept, c);
	return code;
}

void catch_add_cpu(struct catcher *c, const struct catch_cpu *cpu)
{
	c->cpus = xreallocarray(c->cpus, c->nr_cpus + 1, sizeof(*c->cpus));
	c->cpus[c->nr_cpus++] = *cpu;
}

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
	cpu->lost = session_add_lost(cpu->lost, rec->lost);
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

/* What is around an event, in JSON and in text */
static const struct {
	const char	*key;
	const char	*title;
} parts[NR_AROUND] = {
	[AROUND_BEFORE]	 = { "before", "before" },
	[AROUND_EARLIER] = { "earlier", "last on other CPUs before it began" },
	[AROUND_OTHERS]	 = { "meanwhile", "meanwhile on other CPUs" },
	[AROUND_AFTER]	 = { "after", "after" },
};

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
	unsigned int i;

	out_printf(out, "%scaught %" PRIu64 ":\n", c->nr_caught > 1 ? "\n" : "", c->nr_caught);
	lines_event(&c->lines, cpu, &caught->event.record);
	catch_print_usual(c, &caught->event.record);
	for (i = 0; i < NR_AROUND; i++) {
		const bool is_own = i == AROUND_BEFORE || i == AROUND_AFTER;
		const bool has_lost = i == AROUND_BEFORE && caught->event.record.lost;

		if (caught->around[i].nr || has_lost)
			out_printf(out, is_own ? "%s on CPU %u:\n" : "%s:\n", parts[i].title, cpu);
		print_events(c, &caught->around[i]);
		if (has_lost)
			print_lost(c, &caught->event);
	}
}

static void print_object(struct catcher *c, const char *key,
			 const struct hyptrace_stream_event *event)
{
	size_t len;
	const char *object = json_rows_object(c->lines.rows, event->cpu, &event->record, &len);

	printer_json(c->session.ctx->p, key, object, len);
}

static void print_json(struct catcher *c, const struct caught *caught)
{
	struct printer *p = c->session.ctx->p;
	unsigned int i, j;

	printer_line(p, STYLE_PLAIN, "%s", "");
	printer_uint(p, "caught", c->nr_caught);
	print_object(c, "event", &caught->event);
	catch_print_usual(c, &caught->event.record);
	for (i = 0; i < NR_AROUND; i++) {
		printer_array(p, parts[i].key);
		for (j = 0; j < caught->around[i].nr; j++)
			print_object(c, NULL, &caught->around[i].events[j]);
		printer_end(p);
	}
	printer_end(p);
}

static void print(struct catcher *c, struct caught *caught)
{
	c->nr_caught++;
	if (printer_is_json(c->session.ctx->p))
		print_json(c, caught);
	else
		print_text(c, caught);
	caught_free(caught);
}

/* Of a file, the last ones are printed: keep so many. */
static void keep(struct catcher *c, struct caught *caught)
{
	struct caught *first = c->kept;

	*(first ? &c->kept_last->next : &c->kept) = caught;
	c->kept_last = caught;
	if (c->nr_kept++ < c->limit)
		return;
	c->nr_kept--;
	c->kept = first->next;
	caught_free(first);
}

/* @all: also those that are not complete */
void catch_flush(struct catcher *c, bool all)
{
	struct caught *caught;

	while ((caught = catch_finder_next(c->finder, all))) {
		if (c->session.file && c->limit)
			keep(c, caught);
		else if (!c->limit || c->nr_caught < c->limit)
			print(c, caught);
		else
			caught_free(caught);
	}
	while (all && (caught = c->kept)) {
		c->kept = caught->next;
		print(c, caught);
	}
}
