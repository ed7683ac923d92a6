// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long an event that hyptrace catch has caught usually takes: EL2 counts all of them, by what
 * they are.
 */
#include "output/die.h"
#include "catch.h"

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
 * Without a base, all that is counted counts. Else begin with what the counters have now. One that
 * has less than its base was reset: what it has was counted since then.
 */
static int renew_base(struct catcher *c, struct hyptrace_error *err)
{
	struct catch_counting *counting = &c->counting;
	struct hyptrace_event_counter **now;
	unsigned int nr, i;
	int ret;

	if (!counting->base)
		return 0;
	ret = read_counters(c, &now, &nr, err);
	if (ret)
		return ret;
	for (i = 0; i < nr; i++)
		if (!find_base(counting, now[i]))
			subtract(now[i], now[i]);
	hyptrace_free_counters(counting->base);
	counting->base = now;
	counting->nr_base = nr;
	return 0;
}

/* If others have reset the counters or switched them off, count again. */
static void renew(struct catcher *c)
{
	auto_event struct hyptrace_event *event = NULL;
	const struct session *s = &c->session;
	struct hyptrace_error err;

	if (hyptrace_get_event(s->ctx->h, s->name, c->event->name, &event, NULL))
		return;
	if (event->count_breaks != c->counting.breaks) {
		c->counting.breaks = event->count_breaks;
		if (hold(c, true, &err) || renew_base(c, &err))
			cmd_note("cannot go on to count \"%s\": %s: its usual time is not up to date",
				 c->event->name, err.text);
	}
}

static void read_sums(struct catcher *c)
{
	struct hyptrace_event *const events[] = { (struct hyptrace_event *)c->event, NULL };
	struct catch_counting *counting = &c->counting;
	const struct hyptrace_event_counter *base;
	unsigned int nr, i;

	renew(c);
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

/* The event itself says nothing about others. Counters that others have reset may lack it. */
static uint64_t *find_own(const struct counter_sum *sum, uint64_t time)
{
	unsigned int i = 0;

	while (i + 1 < sum->of->nr_buckets && hyptrace_counter_bucket(sum->of, i + 1) <= time)
		i++;
	return sum->total >= time && sum->buckets[i] ? &sum->buckets[i] : NULL;
}

/* The time that half of the events stay below, ns; 0 if it is not known */
static uint64_t median_bound(const struct counter_sum *usual)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i + 1 < usual->of->nr_buckets; i++) {
		sum += usual->buckets[i];
		if (2 * sum >= usual->count)
			return hyptrace_counter_bucket(usual->of, i + 1);
	}
	return 0;
}

static void print_text(struct out *out, const struct counter_sum *usual)
{
	char average[TIME_TEXT_SIZE], half[TIME_TEXT_SIZE];
	const uint64_t median = median_bound(usual);

	time_text(average, usual->total / usual->count);
	time_text(half, median);
	out_printf(out, "usual time%s%s: %s, the average of %" PRIu64 " other%s",
		   usual->of->name ? " of " : "", usual->of->name ?: "", average, usual->count,
		   usual->count == 1 ? "" : "s");
	if (median)
		out_printf(out, "; half of them took less than %s", half);
	out_putc(out, '\n');
}

static void print_json(struct printer *p, const struct counter_sum *usual)
{
	const uint64_t median = median_bound(usual);

	printer_object(p, "usual");
	printer_str(p, "field", usual->of->field);
	printer_str(p, "name", usual->of->name);
	printer_uint(p, "count", usual->count);
	printer_uint(p, "average", usual->total / usual->count);
	printer_uint_if(p, "half_below", median, median);
	printer_end(p);
}

/* For JSON an object must have been begun. */
void catch_print_usual(struct catcher *c, const struct hyptrace_record *rec)
{
	struct context *ctx = c->session.ctx;
	struct counter_sum *usual;
	uint64_t time, *own = NULL;

	if (!c->counting.is_used)
		return;
	if (!c->counting.now)
		read_sums(c);
	usual = find_usual(c, rec);
	if (usual && !hyptrace_field_value(c->duration, rec, &time))
		own = find_own(usual, time);
	if (own) {
		--*own;
		usual->count--;
		usual->total -= time;
	}
	if (usual && usual->count && ctx->json)
		print_json(ctx->p, usual);
	else if (usual && usual->count)
		print_text(&ctx->out, usual);
	else if (ctx->json)
		printer_none(ctx->p, "usual");
	else
		out_puts(&ctx->out, "usual time: not known, EL2 has counted no other such event\n");
	if (own) {
		++*own;
		usual->count++;
		usual->total += time;
	}
}
