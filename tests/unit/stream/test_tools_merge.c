// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merging of several sources in the order of time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/hyptrace.h"
#include "fail_alloc.h"

#define BOUND	10

static void expect_step(struct hyptrace_merge *merge, enum hyptrace_merge_step step,
			unsigned int source)
{
	unsigned int got = source;

	assert_int_equal(hyptrace_merge_step(merge, &got), step);
	assert_int_equal(got, source);
}

#define EMIT(source)	expect_step(merge, HYPTRACE_MERGE_EMIT, source)
#define ASK(source)	expect_step(merge, HYPTRACE_MERGE_ASK, source)
#define WAIT()		expect_step(merge, HYPTRACE_MERGE_WAIT, 0)

static void one_source(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(1, BOUND);

	(void)state;
	ASK(0);
	hyptrace_merge_pending(merge, 0, 5, 5);
	EMIT(0);
	ASK(0);
	hyptrace_merge_empty(merge, 0, 6);
	WAIT();
	assert_true(hyptrace_merge_due(merge) == UINT64_MAX);
	/* there is no other source that could have an earlier event: it is not held back */
	hyptrace_merge_pending(merge, 0, 7, 7);
	EMIT(0);
	hyptrace_merge_free(merge);
}

static void all_pending(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(3, BOUND);

	(void)state;
	ASK(0);
	hyptrace_merge_pending(merge, 0, 30, 30);
	ASK(1);
	hyptrace_merge_pending(merge, 1, 10, 10);
	ASK(2);
	hyptrace_merge_pending(merge, 2, 20, 20);
	EMIT(1);
	ASK(1);
	hyptrace_merge_pending(merge, 1, 20, 20);
	/* with equal times the source with the lower number comes first */
	EMIT(1);
	ASK(1);
	hyptrace_merge_pending(merge, 1, 40, 40);
	EMIT(2);
	ASK(2);
	hyptrace_merge_pending(merge, 2, 50, 50);
	EMIT(0);
	hyptrace_merge_free(merge);
}

static void held_for_the_empty(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(2, BOUND);

	(void)state;
	hyptrace_merge_pending(merge, 0, 100, 100);
	hyptrace_merge_empty(merge, 1, 101);
	WAIT();
	assert_int_equal(hyptrace_merge_due(merge), 110);
	hyptrace_merge_empty(merge, 1, 109);
	WAIT();
	/* an earlier event arrives in time */
	hyptrace_merge_pending(merge, 1, 95, 95);
	EMIT(1);
	ASK(1);
	hyptrace_merge_empty(merge, 1, 110);
	EMIT(0);
	ASK(0);
	hyptrace_merge_free(merge);
}

/* If another source was empty before the time of the event, the event is still held back. */
static void empty_long_ago(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(2, 0);

	(void)state;
	hyptrace_merge_empty(merge, 1, 50);
	hyptrace_merge_pending(merge, 0, 100, 100);
	WAIT();
	assert_int_equal(hyptrace_merge_due(merge), 100);
	hyptrace_merge_empty(merge, 1, 100);
	EMIT(0);
	hyptrace_merge_free(merge);
}

/* With another clock the bound counts from when the event was seen. */
static void other_clock(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(2, BOUND);

	(void)state;
	hyptrace_merge_pending(merge, 0, UINT64_C(1) << 40, 200);
	hyptrace_merge_empty(merge, 1, 205);
	WAIT();
	assert_int_equal(hyptrace_merge_due(merge), 210);
	hyptrace_merge_empty(merge, 1, 210);
	EMIT(0);
	hyptrace_merge_free(merge);
}

static void finish(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(2, BOUND);

	(void)state;
	hyptrace_merge_pending(merge, 0, 100, 100);
	hyptrace_merge_empty(merge, 1, 100);
	WAIT();
	hyptrace_merge_finish(merge);
	/* what was empty is asked once more, and its events take their place */
	ASK(1);
	hyptrace_merge_pending(merge, 1, 90, 90);
	EMIT(1);
	ASK(1);
	hyptrace_merge_empty(merge, 1, 100);
	EMIT(0);
	ASK(0);
	hyptrace_merge_empty(merge, 0, 100);
	WAIT();
	hyptrace_merge_free(merge);
}

static void no_overflow(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(2, BOUND);

	(void)state;
	hyptrace_merge_pending(merge, 0, UINT64_MAX - 1, UINT64_MAX - 1);
	hyptrace_merge_empty(merge, 1, 5);
	assert_true(hyptrace_merge_due(merge) == UINT64_MAX);
	WAIT();
	hyptrace_merge_free(merge);
}

/* Until which time a source may emit events without asking the others */
static void until(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(1, BOUND);

	(void)state;
	hyptrace_merge_pending(merge, 0, 5, 5);
	EMIT(0);
	assert_true(hyptrace_merge_until(merge, 0) == UINT64_MAX);
	hyptrace_merge_free(merge);

	/*
	 * up to the next event of another source; including its time if this source comes
	 * first
	 */
	merge = hyptrace_merge_new(3, BOUND);
	hyptrace_merge_pending(merge, 0, 100, 100);
	hyptrace_merge_pending(merge, 1, 50, 50);
	hyptrace_merge_pending(merge, 2, 100, 100);
	EMIT(1);
	assert_int_equal(hyptrace_merge_until(merge, 1), 99);
	hyptrace_merge_pending(merge, 1, 200, 200);
	EMIT(0);
	assert_int_equal(hyptrace_merge_until(merge, 0), 100);

	/* up to one bound before an empty source was last asked */
	hyptrace_merge_empty(merge, 0, 140);
	EMIT(2);
	assert_int_equal(hyptrace_merge_until(merge, 2), 130);
	hyptrace_merge_empty(merge, 2, 205);
	WAIT();
	hyptrace_merge_finish(merge);
	ASK(0);
	hyptrace_merge_empty(merge, 0, 140);
	ASK(2);
	hyptrace_merge_empty(merge, 2, 205);
	EMIT(1);
	assert_true(hyptrace_merge_until(merge, 1) == UINT64_MAX);
	hyptrace_merge_free(merge);

	/* clocks that cannot be compared */
	merge = hyptrace_merge_new(2, BOUND);
	hyptrace_merge_pending(merge, 0, 5, 1000);
	hyptrace_merge_empty(merge, 1, 1010);
	EMIT(0);
	assert_int_equal(hyptrace_merge_until(merge, 0), 5);
	hyptrace_merge_free(merge);
}

#define SOURCES	7
#define EVENTS	2000

/* With random sources, all asked at all times, the events come out sorted and each once. */
static void sorted(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(SOURCES, BOUND);
	uint64_t next[SOURCES] = {}, left[SOURCES], last = 0, end;
	unsigned int i, emitted = 0, source;
	uint32_t seed = 7;

	(void)state;
	for (i = 0; i < SOURCES; i++)
		left[i] = EVENTS;
	for (;;) {
		switch (hyptrace_merge_step(merge, &source)) {
		case HYPTRACE_MERGE_ASK:
			if (!left[source]) {
				hyptrace_merge_empty(merge, source, UINT64_MAX);
				break;
			}
			left[source]--;
			seed = seed * 1664525 + 1013904223;
			next[source] += seed >> 28;
			hyptrace_merge_pending(merge, source, next[source], next[source]);
			break;
		case HYPTRACE_MERGE_EMIT:
			assert_true(next[source] >= last);
			last = next[source];
			emitted++;
			end = hyptrace_merge_until(merge, source);
			for (; left[source]; emitted++) {
				seed = seed * 1664525 + 1013904223;
				left[source]--;
				next[source] += seed >> 28;
				if (next[source] > end) {
					hyptrace_merge_pending(merge, source, next[source],
							       next[source]);
					break;
				}
				last = next[source];
			}
			break;
		case HYPTRACE_MERGE_WAIT:
			assert_int_equal(emitted, SOURCES * EVENTS);
			hyptrace_merge_free(merge);
			return;
		}
	}
}

#define MANY	40

/* With any number of pending sources the earliest comes out. */
static void any_number_pending(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(MANY, 0);
	bool pending[MANY] = {};
	uint64_t ts[MANY] = {};
	unsigned int round, i, source, emitted = 0;
	uint32_t seed = 11;

	(void)state;
	hyptrace_merge_finish(merge);
	for (i = 0; i < MANY; i++)
		hyptrace_merge_empty(merge, i, 0);
	for (round = 0; round < 20000; round++) {
		seed = seed * 1664525 + 1013904223;
		source = (seed >> 8) % MANY;
		/* first more events are added than removed, then fewer */
		if (!pending[source] && (seed >> 30) % 2 == (round / 100) % 2) {
			ts[source] = seed >> 4;
			pending[source] = true;
			hyptrace_merge_pending(merge, source, ts[source], ts[source]);
			continue;
		}
		if (hyptrace_merge_step(merge, &source) == HYPTRACE_MERGE_WAIT)
			continue;
		assert_true(pending[source]);
		pending[source] = false;
		emitted++;
		for (i = 0; i < MANY; i++)
			if (pending[i])
				assert_true(ts[i] > ts[source] ||
					    (ts[i] == ts[source] && i > source));
		hyptrace_merge_empty(merge, source, 0);
	}
	assert_in_range(emitted, round / 4, round);
	hyptrace_merge_free(merge);
}

/* Up to the time of another event, or up to one bound before an empty source was asked. */
static void until_its_time(void **state)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(2, BOUND);

	(void)state;
	hyptrace_merge_pending(merge, 0, 50, 50);
	hyptrace_merge_pending(merge, 1, 50, 50);
	EMIT(0);
	/* the pending source has the higher number: up to its time, inclusive */
	assert_int_equal(hyptrace_merge_until(merge, 0), 50);
	hyptrace_merge_pending(merge, 0, 50, 50);
	EMIT(0);
	ASK(0);
	hyptrace_merge_empty(merge, 0, 55);
	WAIT();
	/* exactly one bound after the event */
	hyptrace_merge_empty(merge, 0, 60);
	EMIT(1);
	assert_int_equal(hyptrace_merge_until(merge, 1), 50);
	hyptrace_merge_free(merge);

	/* a second source has an event, but a third one may still get an earlier event */
	merge = hyptrace_merge_new(3, BOUND);
	hyptrace_merge_pending(merge, 0, 100, 100);
	hyptrace_merge_pending(merge, 1, 145, 145);
	hyptrace_merge_empty(merge, 2, 140);
	assert_int_equal(hyptrace_merge_due(merge), 110);
	EMIT(0);
	assert_int_equal(hyptrace_merge_until(merge, 0), 130);
	hyptrace_merge_free(merge);
}

static void no_memory(void **state)
{
	struct hyptrace_merge *merge;
	bool failed = true;
	unsigned int nth;

	(void)state;
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		merge = hyptrace_merge_new(3, BOUND);
		failed = fail_alloc_end();
		assert_int_equal(!merge, failed);
		hyptrace_merge_free(merge);
	}
	assert_int_equal(nth - 2, 1);
	/* no source at all is allowed */
	merge = hyptrace_merge_new(0, BOUND);
	WAIT();
	assert_true(hyptrace_merge_due(merge) == UINT64_MAX);
	hyptrace_merge_free(merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_source),
		cmocka_unit_test(all_pending),
		cmocka_unit_test(held_for_the_empty),
		cmocka_unit_test(empty_long_ago),
		cmocka_unit_test(other_clock),
		cmocka_unit_test(finish),
		cmocka_unit_test(no_overflow),
		cmocka_unit_test(until),
		cmocka_unit_test(sorted),
		cmocka_unit_test(any_number_pending),
		cmocka_unit_test(until_its_time),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
