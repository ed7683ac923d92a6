// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events that hyptrace catch finds, and what surrounds them: against lists that the test keeps
 * itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/catch/catch.h"

#define CPUS		3

/* The number of an event is its payload and its time. */
static struct hyptrace_stream_event make(unsigned int cpu, const uint64_t *number)
{
	return (struct hyptrace_stream_event){
		.cpu = cpu,
		.record = { .ts = *number, .data = number, .size = sizeof(*number) },
	};
}

static void add(struct catch_finder *finder, unsigned int cpu, uint64_t number)
{
	const struct hyptrace_stream_event event = make(cpu, &number);

	catch_finder_add(finder, cpu, &event, false, 0);
}

static void find(struct catch_finder *finder, unsigned int cpu, uint64_t number, uint64_t begin)
{
	const struct hyptrace_stream_event event = make(cpu, &number);

	catch_finder_add(finder, cpu, &event, true, begin);
}

static void assert_is(const struct hyptrace_stream_event *event, unsigned int cpu, uint64_t number)
{
	uint64_t is;

	assert_int_equal(event->cpu, cpu);
	assert_int_equal(event->record.ts, number);
	assert_int_equal(event->record.size, sizeof(is));
	memcpy(&is, event->record.data, sizeof(is));
	assert_int_equal(is, number);
}

static void few_before(void **state)
{
	struct catch_finder *finder = catch_finder_new(CPUS, 0);
	struct caught *caught;

	(void)state;
	assert_null(catch_finder_next(finder, true));
	find(finder, 1, 10, 10);
	assert_true(catch_finder_waits(finder));
	add(finder, 1, 11);
	add(finder, 1, 12);
	find(finder, 1, 13, 13);
	assert_int_equal(catch_finder_found(finder, 1), 2);
	assert_int_equal(catch_finder_found(finder, 0), 0);

	caught = catch_finder_next(finder, false);
	assert_is(&caught->event, 1, 10);
	assert_int_equal(caught->around[AROUND_BEFORE].nr, 0);
	assert_int_equal(caught->around[AROUND_OTHERS].nr, 0);
	assert_int_equal(caught->around[AROUND_AFTER].nr, 0);
	caught_free(caught);
	/* The one that was found before is an event like the others. */
	caught = catch_finder_next(finder, false);
	assert_is(&caught->event, 1, 13);
	assert_int_equal(caught->around[AROUND_BEFORE].nr, 3);
	assert_is(&caught->around[AROUND_BEFORE].events[0], 1, 10);
	assert_is(&caught->around[AROUND_BEFORE].events[2], 1, 12);
	caught_free(caught);
	assert_null(catch_finder_next(finder, true));
	assert_false(catch_finder_waits(finder));
	catch_finder_free(finder);
}

/* The last ones, however many there were */
static void many_before(void **state)
{
	struct catch_finder *finder = catch_finder_new(CPUS, 0);
	struct caught *caught;
	uint64_t number;
	unsigned int i;

	(void)state;
	for (number = 0; number < 1000; number++) {
		if (number % 7) {
			add(finder, number % 2, number);
			continue;
		}
		find(finder, number % 2, number, number);
		caught = catch_finder_next(finder, false);
		assert_is(&caught->event, number % 2, number);
		assert_int_equal(caught->around[AROUND_BEFORE].nr, number / 2 < CATCH_BEFORE ?
				 number / 2 : CATCH_BEFORE);
		for (i = 0; i < caught->around[AROUND_BEFORE].nr; i++)
			assert_is(&caught->around[AROUND_BEFORE].events[i], number % 2,
				  number - 2 * (caught->around[AROUND_BEFORE].nr - i));
		caught_free(caught);
	}
	catch_finder_free(finder);
}

/* What is longer than an event before needs more room. */
static void sizes(void **state)
{
	struct catch_finder *finder = catch_finder_new(1, 0);
	struct caught *caught;
	char data[200];
	struct hyptrace_stream_event event = { .record.data = data };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2 * CATCH_BEFORE; i++) {
		memset(data, i, sizeof(data));
		event.record.size = i < CATCH_BEFORE ? i : sizeof(data) - i;
		event.record.ts = i;
		event.record.lost = i;
		catch_finder_add(finder, 0, &event, i == 2 * CATCH_BEFORE - 1, 0);
	}
	caught = catch_finder_next(finder, false);
	assert_int_equal(caught->around[AROUND_BEFORE].nr, CATCH_BEFORE);
	for (i = 0; i < caught->around[AROUND_BEFORE].nr; i++) {
		const struct hyptrace_record *rec = &caught->around[AROUND_BEFORE].events[i].record;
		const unsigned int number = CATCH_BEFORE - 1 + i;

		memset(data, number, sizeof(data));
		assert_int_equal(rec->lost, number);
		assert_int_equal(rec->size, number < CATCH_BEFORE ? number :
				 sizeof(data) - number);
		assert_memory_equal(rec->data, data, rec->size);
	}
	caught_free(caught);
	catch_finder_free(finder);
}

/* The other CPUs from the begin of the event on, in the order of time; else their last event */
static void others(void **state)
{
	struct catch_finder *finder = catch_finder_new(CPUS, 0);
	struct caught *caught;

	(void)state;
	add(finder, 2, 5);
	add(finder, 0, 10);
	add(finder, 0, 20);
	add(finder, 0, 30);
	find(finder, 1, 40, 20);
	caught = catch_finder_next(finder, false);
	assert_int_equal(caught->around[AROUND_OTHERS].nr, 2);
	assert_is(&caught->around[AROUND_OTHERS].events[0], 0, 20);
	assert_is(&caught->around[AROUND_OTHERS].events[1], 0, 30);
	/* this one is older */
	assert_int_equal(caught->around[AROUND_EARLIER].nr, 1);
	assert_is(&caught->around[AROUND_EARLIER].events[0], 2, 5);
	caught_free(caught);

	add(finder, 2, 50);
	add(finder, 0, 51);
	add(finder, 2, 52);
	find(finder, 1, 60, 49);
	caught = catch_finder_next(finder, false);
	assert_int_equal(caught->around[AROUND_OTHERS].nr, 3);
	assert_is(&caught->around[AROUND_OTHERS].events[0], 2, 50);
	assert_is(&caught->around[AROUND_OTHERS].events[1], 0, 51);
	assert_is(&caught->around[AROUND_OTHERS].events[2], 2, 52);
	assert_int_equal(caught->around[AROUND_BEFORE].nr, 1);
	assert_is(&caught->around[AROUND_BEFORE].events[0], 1, 40);
	caught_free(caught);

	find(finder, 1, 70, 65);
	caught = catch_finder_next(finder, false);
	assert_int_equal(caught->around[AROUND_OTHERS].nr, 0);
	assert_int_equal(caught->around[AROUND_EARLIER].nr, 2);
	assert_is(&caught->around[AROUND_EARLIER].events[0], 0, 51);
	assert_is(&caught->around[AROUND_EARLIER].events[1], 2, 52);
	caught_free(caught);
	catch_finder_free(finder);
}

/* An event waits for those that follow on its CPU, and later ones wait for it. */
static void after(void **state)
{
	struct catch_finder *finder = catch_finder_new(CPUS, 2);
	struct caught *caught;

	(void)state;
	find(finder, 1, 10, 10);
	add(finder, 0, 11);
	find(finder, 0, 12, 12);
	add(finder, 0, 13);
	add(finder, 0, 14);
	add(finder, 0, 15);
	assert_null(catch_finder_next(finder, false));
	find(finder, 1, 16, 16);
	assert_null(catch_finder_next(finder, false));
	add(finder, 1, 17);
	caught = catch_finder_next(finder, false);
	assert_is(&caught->event, 1, 10);
	assert_int_equal(caught->around[AROUND_AFTER].nr, 2);
	assert_is(&caught->around[AROUND_AFTER].events[0], 1, 16);
	assert_is(&caught->around[AROUND_AFTER].events[1], 1, 17);
	caught_free(caught);
	caught = catch_finder_next(finder, false);
	assert_is(&caught->event, 0, 12);
	assert_int_equal(caught->around[AROUND_AFTER].nr, 2);
	assert_is(&caught->around[AROUND_AFTER].events[0], 0, 13);
	assert_is(&caught->around[AROUND_AFTER].events[1], 0, 14);
	caught_free(caught);
	assert_null(catch_finder_next(finder, false));
	assert_true(catch_finder_waits(finder));
	/* At the end it waits no more. */
	caught = catch_finder_next(finder, true);
	assert_is(&caught->event, 1, 16);
	assert_int_equal(caught->around[AROUND_AFTER].nr, 1);
	caught_free(caught);
	assert_false(catch_finder_waits(finder));
	catch_finder_free(finder);
}

static void waits_no_longer(void **state)
{
	struct catch_finder *finder = catch_finder_new(CPUS, 2);
	struct caught *caught;
	unsigned int i;

	(void)state;
	find(finder, 1, 10, 10);
	for (i = 0; i < CATCH_AGE_MAX; i++) {
		assert_null(catch_finder_next(finder, false));
		catch_finder_age(finder);
	}
	find(finder, 0, 11, 11);
	caught = catch_finder_next(finder, false);
	assert_is(&caught->event, 1, 10);
	assert_int_equal(caught->around[AROUND_AFTER].nr, 0);
	caught_free(caught);
	assert_null(catch_finder_next(finder, false));
	/* What is left is freed. */
	catch_finder_free(finder);
	catch_finder_free(NULL);
	caught_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_before), cmocka_unit_test(many_before),
		cmocka_unit_test(sizes), cmocka_unit_test(others), cmocka_unit_test(after),
		cmocka_unit_test(waits_no_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
