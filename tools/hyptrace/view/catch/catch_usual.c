// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long an event that hyptrace catch has caught usually takes: EL2 counts all of them, by what
 * they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/message.h"
#include "output/out.h"
#include "output/printer.h"
#include "output/time_text.h"
#include "session/counters.h"
#include "catch.h"

/* What was counted of the events that are like the caught one */
struct usual {
	const struct hyptrace_event_counter	*of;	/* one of the counters */
	uint64_t				count;
	uint64_t				total;	/* sum of their times, ns */
	/* number of events by time: as many as of has */
	uint64_t				buckets[64];
};

static int read_counters(const struct catcher *c, struct hyptrace_event_counter ***counters,
			 unsigned int *nr, struct hyptrace_error *err)
{
	return hyptrace_get_counters(c->ctx->h, c->remote->name, HYPTRACE_CPU_ALL, counters, nr,
				     err);
}

static int hold(const struct catcher *c, bool hold, struct hyptrace_error *err)
{
	return hyptrace_hold_counting(c->ctx->h, c->remote->name,
				      (const char *[]){ c->event->name }, 1, hold, err);
}

/*
 * Have EL2 count the event until the verb ends. Return an exit code; the caller calls
 * catch_end_counting() in any case.
 */
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
		return cmd_fail("cannot get the counters of \"%s\": %s", c->remote->name, err.text);
	return EXIT_DONE;
}

int catch_end_counting(struct catcher *c)
{
	struct catch_counting *counting = &c->counting;
	struct hyptrace_error err;
	int code = EXIT_DONE;

	if (counting->is_used && hold(c, false, &err))
		code = cmd_fail("cannot stop counting \"%s\": %s", c->event->name, err.text);
	hyptrace_free_counters(counting->base);
	hyptrace_free_counters(counting->now);
	memset(counting, 0, sizeof(*counting));
	return code;
}

/* Have the counters read again when they are needed next. */
void catch_forget_counters(struct catcher *c)
{
	hyptrace_free_counters(c->counting.now);
	c->counting.now = NULL;
	c->counting.nr_now = 0;
}

static bool is_same(const struct hyptrace_event_counter *a, const struct hyptrace_event_counter *b)
{
	return a->cpu == b->cpu && counters_have_same_key(a, b);
}

/* Find what a counter had when the verb began, or when others had changed the counters. */
static const struct hyptrace_event_counter *find_base(const struct catch_counting *counting,
						      const struct hyptrace_event_counter *now)
{
	unsigned int i;

	for (i = 0; i < counting->nr_base; i++) {
		const struct hyptrace_event_counter *base = counting->base[i];

		/* after a reset, what was before does not matter */
		if (is_same(base, now) && base->count <= now->count)
			return base;
	}
	return NULL;
}

static void add(struct usual *usual, const struct hyptrace_event_counter *now,
		const struct hyptrace_event_counter *base)
{
	const unsigned int most = sizeof(usual->buckets) / sizeof(usual->buckets[0]);
	unsigned int i;

	usual->of = now;
	usual->count += now->count - (base ? base->count : 0);
	usual->total += now->total - (base ? base->total : 0);
	for (i = 0; i < now->nr_buckets && i < most; i++)
		usual->buckets[i] += now->buckets[i] - (base ? base->buckets[i] : 0);
}

/* Add up the counters of a field of the event that are like this one, on all CPUs. */
static void add_field(const struct catcher *c, const char *name, uint64_t value, bool others,
		      struct usual *sum)
{
	const struct catch_counting *counting = &c->counting;
	unsigned int i;

	for (i = 0; i < counting->nr_now; i++) {
		const struct hyptrace_event_counter *now = counting->now[i];

		if (!strcmp(now->event, c->event->name) && now->has_time && now->count &&
		    !strcmp(now->field, name) && now->is_others == others &&
		    (others || now->value == value))
			add(sum, now, find_base(counting, now));
	}
}

/* The event itself says nothing about others. Counters that others have reset may not have it. */
static void leave_out(const struct catcher *c, const struct hyptrace_record *rec,
		      struct usual *usual)
{
	unsigned int i = 0;
	uint64_t time;

	if (!usual->count || hyptrace_field_value(c->duration, rec, &time))
		return;
	while (i + 1 < usual->of->nr_buckets && hyptrace_counter_bucket(usual->of, i + 1) <= time)
		i++;
	if (usual->total < time || !usual->buckets[i])
		return;
	usual->count--;
	usual->total -= time;
	usual->buckets[i]--;
}

/*
 * Add up the counters of the other events that are like this one. Their keys may be the values of
 * more than one field: of guest_exit they are the codes, but of traps, which all have the same
 * code, the classes. Return false if there are none.
 */
static bool add_up(const struct catcher *c, const struct hyptrace_record *rec,
		   struct usual *result)
{
	uint64_t value;
	unsigned int i;

	*result = (struct usual){ };
	for (i = 0; i < c->event->nr_fields && !result->count; i++)
		if (!hyptrace_field_value(c->event->fields[i], rec, &value))
			add_field(c, c->event->fields[i]->name, value, false, result);
	for (i = 0; i < c->event->nr_fields && !result->count; i++)
		add_field(c, c->event->fields[i]->name, 0, true, result);
	leave_out(c, rec, result);
	return result->count;
}

/* The time that half of the events stay below, ns; 0 if it is not known */
static uint64_t median_bound(const struct usual *usual)
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

static void print_text(const struct catcher *c, const struct usual *usual)
{
	char average[TIME_TEXT_SIZE], half[TIME_TEXT_SIZE];
	const uint64_t median = median_bound(usual);
	struct out *out = &c->ctx->out;

	time_text(average, usual->total / usual->count);
	time_text(half, median);
	out_puts(out, "usual time");
	if (usual->of->name)
		out_printf(out, " of %s", usual->of->name);
	out_printf(out, ": %s on average", average);
	if (median)
		out_printf(out, ", half of them less than %s", half);
	out_printf(out, ", %" PRIu64 " event%s\n", usual->count, usual->count == 1 ? "" : "s");
}

static void print_json(const struct catcher *c, const struct usual *usual)
{
	const uint64_t median = median_bound(usual);
	struct printer *p = c->ctx->p;

	printer_object(p, "usual");
	printer_str(p, "field", usual->of->field);
	if (usual->of->name)
		printer_str(p, "name", usual->of->name);
	else
		printer_none(p, "name");
	printer_uint(p, "count", usual->count);
	printer_uint(p, "average", usual->total / usual->count);
	if (median)
		printer_uint(p, "half_below", median);
	else
		printer_none(p, "half_below");
	printer_end(p);
}

/*
 * Without a base, all that is counted counts. Else begin with what the counters have now. One that
 * has less than its base was reset: what it has was counted since then.
 */
static int renew_base(struct catcher *c, struct hyptrace_error *err)
{
	struct catch_counting *counting = &c->counting;
	struct hyptrace_event_counter **now;
	unsigned int nr, i, j;
	int ret;

	if (!counting->base)
		return 0;
	ret = read_counters(c, &now, &nr, err);
	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		for (j = 0; j < counting->nr_base && !is_same(counting->base[j], now[i]); j++)
			;
		if (j == counting->nr_base || counting->base[j]->count <= now[i]->count)
			continue;
		now[i]->count = 0;
		now[i]->total = 0;
		for (j = 0; j < now[i]->nr_buckets; j++)
			now[i]->buckets[j] = 0;
	}
	hyptrace_free_counters(counting->base);
	counting->base = now;
	counting->nr_base = nr;
	return 0;
}

/* If others have reset the counters or switched them off, count again. */
static void renew(struct catcher *c)
{
	struct catch_counting *counting = &c->counting;
	struct hyptrace_event *event;
	struct hyptrace_error err;

	if (hyptrace_get_event(c->ctx->h, c->remote->name, c->event->name, &event, NULL))
		return;
	if (event->count_breaks != counting->breaks) {
		counting->breaks = event->count_breaks;
		if (hold(c, true, &err) || renew_base(c, &err))
			cmd_note("cannot go on to count \"%s\": %s: its usual time is not up to date",
				 c->event->name, err.text);
	}
	hyptrace_free_event(event);
}

/*
 * Print how long such an event usually takes, if that is known. For JSON an object must have been
 * begun.
 */
void catch_print_usual(struct catcher *c, const struct hyptrace_record *rec)
{
	struct catch_counting *counting = &c->counting;
	struct usual usual;
	bool is_known;

	if (!counting->is_used)
		return;
	if (!counting->now) {
		renew(c);
		read_counters(c, &counting->now, &counting->nr_now, NULL);
	}
	is_known = add_up(c, rec, &usual);
	if (is_known && printer_is_json(c->ctx->p))
		print_json(c, &usual);
	else if (is_known)
		print_text(c, &usual);
	else if (printer_is_json(c->ctx->p))
		printer_none(c->ctx->p, "usual");
	else
		out_puts(&c->ctx->out, "usual time: not known, no other such event was counted\n");
}
