// SPDX-License-Identifier: GPL-2.0-only
/* Which events are caught, how they are printed, and how long such an event usually takes. */
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

	if (code)
		return code;
	if (strcmp(choice.names[0], c->name))
		return cmd_fail("cannot catch \"%s\": it is no single event (see \"hyptrace list\")",
				c->name);
	c->event = choice.events[0];
	c->duration = hyptrace_event_field(c->event, "duration");
	if (!c->text)
		return EXIT_DONE;
	c->filter = hyptrace_filter_new(&c->event, 1, s->formats, true, c->text, &at, &err);
	return c->filter ? EXIT_DONE : filter_fail(c->what, c->text - c->what + at, &err);
}

int catch_choose(struct catcher *c)
{
	struct session *s = &c->session;
	int code = (c->what ? find_event(c) : EXIT_DONE) ?: session_choose(s);

	if (!code && choice_is_made(&s->choice))
		session_set_filter(s, accept, c);
	return code;
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

static int read_counters(const struct catcher *c, struct hyptrace_event_counter ***counters,
			 unsigned int *nr, struct hyptrace_error *err)
{
	return hyptrace_get_counters(c->session.ctx->h, c->session.name, HYPTRACE_CPU_ALL,
				     counters, nr, err);
}

static int hold(const struct catcher *c, bool hold, struct hyptrace_error *err)
{
	return hyptrace_count_events(c->session.ctx->h, c->session.name,
				     (const char *[]){ c->event->name }, 1, hold,
				     HYPTRACE_EVENT_HOLD, err);
}

/* The caller calls catch_end_counting() in any case. */
int catch_begin_counting(struct catcher *c)
{
	struct catch_counting *counting = &c->counting;
	struct hyptrace_error err;

	if (!c->event->can_be_counted || !c->duration)
		return EXIT_DONE;
	if (hold(c, true, &err))
		return cmd_fail_verb("count", c->event->name, &err);
	counting->is_used = true;
	counting->breaks = c->event->count_breaks;
	/* If EL2 counts it already, what was counted before says what is usual, too. */
	if (!c->event->counted && read_counters(c, &counting->base, &counting->nr_base, &err))
		return cmd_fail("cannot get the counters of \"%s\": %s", c->session.name, err.text);
	return EXIT_DONE;
}

void catch_forget_counters(struct catcher *c)
{
	counter_sums_free(&c->counting.sums);
	hyptrace_free_counters(c->counting.now);
	c->counting.now = NULL;
}

int catch_end_counting(struct catcher *c)
{
	struct hyptrace_error err;
	int code = EXIT_DONE;

	if (c->counting.is_used && hold(c, false, &err))
		code = cmd_fail("cannot stop counting \"%s\": %s", c->event->name, err.text);
	catch_forget_counters(c);
	hyptrace_free_counters(c->counting.base);
	return code;
}

/* After a reset, what was before does not matter. */
static const struct hyptrace_event_counter *find_base(const struct catch_counting *counting,
						      const struct hyptrace_event_counter *now)
{
	unsigned int i;

	for (i = 0; i < counting->nr_base; i++) {
		const struct hyptrace_event_counter *base = counting->base[i];

		if (base->cpu == now->cpu && counters_have_same_key(base, now))
			return base->count <= now->count ? base : NULL;
	}
	return NULL;
}

static void subtract(struct hyptrace_event_counter *now, const struct hyptrace_event_counter *base)
{
	unsigned int i;

	now->count -= base->count;
	now->total -= base->total;
	for (i = 0; i < now->nr_buckets; i++)
		now->buckets[i] -= base->buckets[i];
}

/*
 * If others have reset the counters or switched them off, count again, and begin with what they
 * have now. One that has less than its base was reset: what it has was counted since then. Without
 * a base, all that is counted counts.
 */
static void read_sums(struct catcher *c)
{
	auto_event struct hyptrace_event *event = NULL;
	struct hyptrace_event *const events[] = { (struct hyptrace_event *)c->event, NULL };
	struct catch_counting *counting = &c->counting;
	const struct hyptrace_event_counter *base;
	struct hyptrace_event_counter **now = NULL;
	struct hyptrace_error err;
	unsigned int nr, i;

	if (!hyptrace_get_event(c->session.ctx->h, c->session.name, c->event->name, &event, NULL) &&
	    event->count_breaks != counting->breaks) {
		counting->breaks = event->count_breaks;
		if (hold(c, true, &err) || (counting->base && read_counters(c, &now, &nr, &err)))
			cmd_note("cannot go on to count \"%s\": %s: its usual time is not up to date",
				 c->event->name, err.text);
	}
	for (i = 0; now && i < nr; i++)
		if (!find_base(counting, now[i]))
			subtract(now[i], now[i]);
	if (now) {
		hyptrace_free_counters(counting->base);
		counting->base = now;
		counting->nr_base = nr;
	}
	if (read_counters(c, &counting->now, &nr, NULL))
		return;
	for (i = 0; i < nr; i++) {
		base = find_base(counting, counting->now[i]);
		if (base)
			subtract(counting->now[i], base);
		if (counting->now[i]->has_time && counting->now[i]->count)
			counter_sums_add(&counting->sums, events, counting->now[i], true);
	}
}

static struct counter_sum *find_sum(const struct counter_sums *sums, const char *field,
				    const uint64_t *value)
{
	struct counter_sum *sum;

	for (sum = sums->sums; sum < sums->sums + sums->nr; sum++)
		if (!strcmp(sum->of->field, field) &&
		    (value ? !sum->of->is_others && sum->of->value == *value : sum->of->is_others))
			return sum;
	return NULL;
}

/*
 * Find the sum of the events that are like this one. Their keys may be the values of more than one
 * field: of guest_exit they are the codes, but of traps, which all have the same code, the classes.
 */
static struct counter_sum *find_usual(const struct catcher *c, const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = c->event;
	struct counter_sum *sum = NULL;
	uint64_t value;
	unsigned int i;

	for (i = 0; i < event->nr_fields && !sum; i++)
		if (!hyptrace_field_value(event->fields[i], rec, &value))
			sum = find_sum(&c->counting.sums, event->fields[i]->name, &value);
	for (i = 0; i < event->nr_fields && !sum; i++)
		sum = find_sum(&c->counting.sums, event->fields[i]->name, NULL);
	return sum;
}

/* The time that half of the @count events stay below, without @own; 0 if it is not known */
static uint64_t median_bound(const struct counter_sum *usual, uint64_t count, const uint64_t *own)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i + 1 < usual->of->nr_buckets; i++) {
		sum += usual->buckets[i] - (&usual->buckets[i] == own);
		if (2 * sum >= count)
			return hyptrace_counter_bucket(usual->of, i + 1);
	}
	return 0;
}

/* For JSON an object must have been begun. */
static void print_usual(struct catcher *c, const struct hyptrace_record *rec)
{
	struct printer *p = c->session.ctx->p;
	struct out *out = &c->session.ctx->out;
	char average[TIME_TEXT_SIZE], half[TIME_TEXT_SIZE];
	uint64_t time, median, count, total;
	const struct counter_sum *usual;
	const uint64_t *own = NULL;
	unsigned int i = 0;

	if (!c->counting.is_used)
		return;
	if (!c->counting.now)
		read_sums(c);
	usual = find_usual(c, rec);
	count = usual ? usual->count : 0;
	total = usual ? usual->total : 0;
	/* the event itself says nothing about others; counters that were reset may lack it */
	if (usual && !hyptrace_field_value(c->duration, rec, &time)) {
		while (i + 1 < usual->of->nr_buckets &&
		       hyptrace_counter_bucket(usual->of, i + 1) <= time)
			i++;
		own = usual->total >= time && usual->buckets[i] ? &usual->buckets[i] : NULL;
	}
	if (own) {
		count--;
		total -= time;
	}
	median = count ? median_bound(usual, count, own) : 0;
	if (count && c->lines.json) {
		printer_object(p, "usual");
		printer_str(p, "field", usual->of->field);
		printer_str(p, "name", usual->of->name);
		printer_uint(p, "count", count);
		printer_uint(p, "average", total / count);
		printer_uint_if(p, "half_below", median, median);
		printer_end(p);
	} else if (count) {
		time_text(average, total / count);
		time_text(half, median);
		out_printf(out, "usual time%s%s: %s, the average of %" PRIu64 " other%s",
			   usual->of->name ? " of " : "", usual->of->name ?: "", average,
			   count, count == 1 ? "" : "s");
		out_printf(out, median ? "; half of them took less than %s\n" : "\n", half);
	} else if (c->lines.json) {
		printer_none(p, "usual");
	} else {
		out_puts(out, "usual time: not known, EL2 has counted no other such event\n");
	}
}

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

static void print_object(struct catcher *c, const char *key,
			 const struct hyptrace_stream_event *event)
{
	size_t len;
	const char *object = json_rows_object(c->lines.rows, event->cpu, &event->record, &len);

	printer_json(c->session.ctx->p, key, object, len);
}

static void print(struct catcher *c, struct caught *caught)
{
	const unsigned int cpu = caught->event.cpu;
	const bool json = c->lines.json;
	struct printer *p = c->session.ctx->p;
	struct out *out = &c->session.ctx->out;
	unsigned int i, j;

	c->nr_caught++;
	if (json) {
		printer_line(p, STYLE_PLAIN, "%s", "");
		printer_uint(p, "caught", c->nr_caught);
		print_object(c, "event", &caught->event);
	} else {
		out_printf(out, "%scaught %" PRIu64 ":\n", c->nr_caught > 1 ? "\n" : "",
			   c->nr_caught);
		lines_event(&c->lines, cpu, &caught->event.record);
	}
	print_usual(c, &caught->event.record);
	for (i = 0; i < NR_AROUND; i++) {
		const bool is_own = i == AROUND_BEFORE || i == AROUND_AFTER;
		const bool has_lost = i == AROUND_BEFORE && caught->event.record.lost;
		const struct catch_events *around = &caught->around[i];

		if (json)
			printer_array(p, parts[i].key);
		else if (around->nr || has_lost)
			out_printf(out, is_own ? "%s on CPU %u:\n" : "%s:\n", parts[i].title, cpu);
		for (j = 0; j < around->nr; j++) {
			if (json) {
				print_object(c, NULL, &around->events[j]);
				continue;
			}
			print_lost(c, &around->events[j]);
			out_spaces(out, 2);
			lines_event(&c->lines, around->events[j].cpu, &around->events[j].record);
		}
		if (json)
			printer_end(p);
		else if (has_lost)
			print_lost(c, &caught->event);
	}
	if (json)
		printer_end(p);
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
