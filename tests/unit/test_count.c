// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting: which key an event has, its time and bucket, folds, and that EL2 publishes the same as
 * it has for itself. Each test ends a CPU's counting with a check of all keys.
 */
#include "count_pages.h"
#include "hyp_env.h"

#define CPU	1

static struct count_pages pages;
static u64 regs[31];

static void count_events(u64 events)
{
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, events, 0), 0);
}

static int start(void **state)
{
	(void)state;
	env_start(2 * COUNT_PAIRS);
	count_pages_give(&pages, CPU, 0);
	env_cpu(CPU);
	env_counter = 1000;
	count_events(HYPTRACE_COUNTABLE_EVENTS);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	count_events(0);
	count_pages_free(&pages);
	env_stop();

	return 0;
}

static void check_key(u32 key, u64 nr, u64 total, u64 max)
{
	struct count_sum sum;

	count_read(&pages, key, &sum);
	assert_int_equal(sum.nr, nr);
	assert_int_equal(sum.total, total);
	assert_int_equal(sum.max, max);
}

/* All keys but @key have counted nothing. */
static void check_others(u32 key)
{
	u32 i;

	for (i = 0; i < HYPTRACE_COUNT_KEYS; i++)
		if (i != key)
			check_key(i, 0, 0, 0);
}

static void hypercall(u64 number, u64 ticks)
{
	hyptrace_host_call(number, false, regs);

	env_counter += ticks;
}

static void hypercalls(void **state)
{
	(void)state;
	hypercall(12, 100);
	hypercall(12, 50);
	check_key(HYPTRACE_COUNT_KEY_host_hcall + 12, 2, 150, 100);
	check_others(HYPTRACE_COUNT_KEY_host_hcall + 12);
}

#define WITH_PAGES(test)	cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PAGES(hypercalls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
