// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order in which catch takes events of rings that are read one after the other, while the CPUs
 * go on to record: against all events that there are.
 *
 * The time passes with each look at a ring. An event is in its ring some time after its own time,
 * since a CPU takes the time before it records.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/hyptrace/view/catch/catch_find.h"
#include "../../tools/hyptrace/view/catch/catch_order.h"

#define CPUS		4
#define EVENTS		4000
#define USEC		1000ULL

/**
 * struct event - an event
 * @ts:		its time
 * @begin:	when it began
 * @there:	when it is in the ring
 * @is_match:	it is to be caught
 */
struct event {
	uint64_t	ts;
	uint64_t	begin;
	uint64_t	there;
	bool		is_match;
};

static struct event events[CPUS][EVENTS];
static unsigned int next_at[CPUS], taken[CPUS], nr_caught;
static uint64_t now, last_ts, ahead;
static struct catch_finder *finder;
static int broken;

static uint64_t below(uint64_t limit)
{
	return (uint64_t)rand() % limit;
}

/* No two events have the same time: the last digit is the CPU. */
static void make_events(uint64_t step)
{
	unsigned int cpu, i;

	for (cpu = 0; cpu < CPUS; cpu++) {
		uint64_t ts = USEC, there = 0;

		for (i = 0; i < EVENTS; i++) {
			struct event *event = &events[cpu][i];

			/* now and then a CPU is idle */
			ts += 10 * (1 + below(below(50) ? step / 10 : 100 * step));
			event->ts = ts + cpu;
			if (there < ts + below(2 * USEC))
				there = ts + below(2 * USEC);
			event->there = there;
			event->begin = ts - below(ts < 3 * step ? ts : 3 * step);
			event->is_match = !below(40);
		}
		next_at[cpu] = 0;
		taken[cpu] = 0;
	}
	now = 0;
	last_ts = 0;
	ahead = 0;
	broken = 0;
	nr_caught = 0;
}

static unsigned int count_there(unsigned int cpu, uint64_t time)
{
	unsigned int i;

	for (i = 0; i < EVENTS && events[cpu][i].there <= time; i++)
		;
	return i;
}

static int next(void *arg, unsigned int cpu, uint64_t *ts, uint64_t *there)
{
	(void)arg;
	now += below(20 * USEC);
	if (broken)
		return broken;
	if (next_at[cpu] == EVENTS || events[cpu][next_at[cpu]].there > now)
		return 0;
	*ts = events[cpu][next_at[cpu]++].ts + ahead;
	*there = now;
	return 1;
}

/* What another CPU recorded meanwhile, or its last event: the last CATCH_BEFORE of them */
static void check_others(const struct caught *caught, const struct event *event, unsigned int cpu)
{
	const struct catch_events *of = &caught->others;
	unsigned int end = 0, first, i, at = 0;

	while (end < EVENTS && events[cpu][end].ts < event->ts)
		end++;
	first = end > CATCH_BEFORE ? end - CATCH_BEFORE : 0;
	while (first + 1 < end && events[cpu][first].ts < event->begin)
		first++;
	if (first < end && events[cpu][first].ts < event->begin)
		of = &caught->earlier;
	for (i = 0; i < of->nr; i++) {
		if (of->events[i].cpu != cpu)
			continue;
		assert_true(first + at < end);
		assert_int_equal(of->events[i].record.ts, events[cpu][first + at].ts);
		at++;
	}
	assert_int_equal(first + at, end);
}

static void take(void *arg, unsigned int cpu)
{
	const struct event *event = &events[cpu][taken[cpu]++];
	const struct hyptrace_stream_event found = {
		.cpu = cpu, .record = { .ts = event->ts, .data = event, .size = sizeof(*event) },
	};
	struct caught *caught;
	unsigned int other;

	(void)arg;
	assert_int_equal(taken[cpu], next_at[cpu]);
	assert_true(event->ts > last_ts);
	last_ts = event->ts;
	catch_finder_add(finder, cpu, &found, event->is_match, event->begin);
	caught = catch_finder_next(finder, false);
	assert_int_equal(!!caught, event->is_match);
	if (!caught)
		return;
	nr_caught++;
	for (other = 0; other < CPUS; other++)
		if (other != cpu)
			check_others(caught, event, other);
	caught_free(caught);
}

static const struct catch_order_ops ops = { .next = next, .take = take };

/* Look at the rings, whatever is held. What they had at a time is taken once that is past. */
static void look(struct catch_order *order, unsigned int *nr_past)
{
	const uint64_t begin = now;
	unsigned int cpu;

	assert_int_equal(catch_order_drain(order, begin, false), 0);
	for (cpu = 0; cpu < CPUS; cpu++) {
		assert_int_equal(catch_order_holds(order, cpu), taken[cpu] < next_at[cpu]);
		if (!catch_order_is_past(order, cpu, begin))
			continue;
		assert_true(taken[cpu] >= count_there(cpu, begin));
		*nr_past += 1;
	}
	/* nothing is held for longer than this */
	for (cpu = 0; cpu < CPUS && begin > CATCH_ORDER_NSEC; cpu++)
		assert_true(taken[cpu] >= count_there(cpu, begin - CATCH_ORDER_NSEC));
}

static void in_order(void)
{
	struct catch_order *order = catch_order_new(CPUS, &ops, NULL);
	unsigned int cpu, i, nr_past = 0, nr_matches = 0;
	bool is_over = false;

	finder = catch_finder_new(CPUS, 0);
	while (!is_over) {
		look(order, &nr_past);
		now += below(3) * CATCH_ORDER_NSEC;
		is_over = true;
		for (cpu = 0; cpu < CPUS; cpu++)
			is_over &= events[cpu][EVENTS - 1].there < now;
	}
	assert_int_equal(catch_order_drain(order, now, true), 0);
	for (cpu = 0; cpu < CPUS; cpu++) {
		assert_int_equal(taken[cpu], EVENTS);
		for (i = 0; i < EVENTS; i++)
			nr_matches += events[cpu][i].is_match;
	}
	assert_int_equal(nr_caught, nr_matches);
	assert_true(nr_past);
	catch_finder_free(finder);
	catch_order_free(order);
}

/* Many events in each look, or few: what the other CPUs did meanwhile is always complete. */
static void meanwhile(void **state)
{
	static const uint64_t steps[] = { 20 * USEC, 100 * USEC, 1000 * USEC, 20000 * USEC };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		srand(i + 1);
		make_events(steps[i]);
		in_order();
	}
}

/* A young event waits while other rings are empty, and is taken at the end, whatever its age. */
static void young(void **state)
{
	struct catch_order *order = catch_order_new(CPUS, &ops, NULL);
	unsigned int cpu, i;

	(void)state;
	make_events(USEC);
	for (cpu = 1; cpu < CPUS; cpu++) {
		for (i = 0; i < EVENTS; i++) {
			events[cpu][i].ts += 1000000 * USEC;
			events[cpu][i].begin += 1000000 * USEC;
			events[cpu][i].there += 1000000 * USEC;
		}
	}
	finder = catch_finder_new(CPUS, 0);
	now = events[0][0].there;
	assert_int_equal(catch_order_drain(order, now, false), 0);
	assert_true(catch_order_holds(order, 0));
	assert_int_equal(taken[0], 0);
	assert_false(catch_order_is_past(order, 0, now));
	now = events[CPUS - 1][EVENTS - 1].there + 10000 * CATCH_ORDER_NSEC;
	assert_int_equal(catch_order_drain(order, now, true), 0);
	assert_int_equal(taken[0], EVENTS);
	assert_false(catch_order_holds(order, 0));
	assert_true(catch_order_is_past(order, 0, now));
	catch_finder_free(finder);
	catch_order_free(order);
}

/* EL2's clock is ahead. All rings but the first are empty, and its first event is there now. */
static struct catch_order *begin_ahead(uint64_t by)
{
	unsigned int cpu;

	make_events(10 * USEC);
	for (cpu = 1; cpu < CPUS; cpu++)
		next_at[cpu] = EVENTS;
	events[0][0].is_match = false;
	ahead = by;
	finder = catch_finder_new(CPUS, 0);
	now = events[0][0].there;
	return catch_order_new(CPUS, &ops, NULL);
}

/* If EL2's clock is ahead, no event waits for that clock, though other rings are empty. */
static void clock_ahead(void **state)
{
	struct catch_order *order = begin_ahead(1000000 * USEC);
	const uint64_t begin = now;

	(void)state;
	events[0][1].there = UINT64_MAX;
	assert_int_equal(catch_order_drain(order, now, false), 0);
	assert_true(catch_order_holds(order, 0));
	assert_int_equal(taken[0], 0);
	now = begin + CATCH_ORDER_NSEC - 1;
	assert_int_equal(catch_order_drain(order, now, false), 0);
	assert_int_equal(taken[0], 0);
	now = begin + CATCH_ORDER_NSEC;
	assert_int_equal(catch_order_drain(order, now, false), 0);
	assert_int_equal(taken[0], 1);
	catch_finder_free(finder);
	catch_order_free(order);
}

/*
 * EL2's clock is ahead by more than the bound. An event that was there at a time is decoded only
 * after the one before it was taken. By its own time it may be newer. The ring is not past.
 */
static void decoded_late(void **state)
{
	struct catch_order *order = begin_ahead(30 * CATCH_ORDER_NSEC);
	const uint64_t begin = now;

	(void)state;
	events[0][1].ts = events[0][0].ts + 10;
	events[0][1].there = events[0][0].there;
	events[0][2].there = UINT64_MAX;
	assert_int_equal(catch_order_ahead(order), CATCH_AHEAD_NSEC);
	assert_int_equal(catch_order_drain(order, begin, false), 0);
	/* as far as the first event shows it */
	assert_in_range(catch_order_ahead(order), ahead - 25 * USEC, ahead);
	now = begin + 3 * CATCH_ORDER_NSEC;
	assert_int_equal(catch_order_drain(order, now, false), 0);
	assert_int_equal(taken[0], 1);
	assert_true(catch_order_holds(order, 0));
	assert_false(catch_order_is_past(order, 0, begin));
	assert_true(events[0][1].ts + ahead <= begin + catch_order_ahead(order) + 25 * USEC);
	assert_int_equal(catch_order_drain(order, now, true), 0);
	assert_int_equal(taken[0], 2);
	assert_true(catch_order_is_past(order, 0, begin));
	catch_finder_free(finder);
	catch_order_free(order);
}

static void errors(void **state)
{
	struct catch_order *order = catch_order_new(CPUS, &ops, NULL);

	(void)state;
	make_events(USEC);
	broken = -EIO;
	assert_int_equal(catch_order_drain(order, 1, false), -EIO);
	assert_int_equal(catch_order_drain(order, 1, true), -EIO);
	assert_false(catch_order_holds(order, 0));
	catch_order_free(order);
	catch_order_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meanwhile), cmocka_unit_test(young),
		cmocka_unit_test(clock_ahead), cmocka_unit_test(decoded_late),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
