// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting: the time that a CPU is outside of EL2, in the host, in guests and in the firmware. With
 * the time at EL2 it is all the time since the CPU began to count.
 */
#include "count_pages.h"

#define CPU		1
#define ENTER		BIT_ULL(HYPTRACE_EVENT_hyp_enter)
#define RING_PAGES	4

static struct count_pages pages;
static struct env_ring ring;

static int count_on(u64 events)
{
	return hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, events, 0);
}

static int start(void **state)
{
	(void)state;
	env_start(2 * COUNT_PAIRS + env_ring_pages(RING_PAGES));
	count_pages_give(&pages, CPU, 0);
	env_cpu(CPU);
	env_counter = 1000;
	assert_int_equal(count_on(ENTER), 0);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(count_on(0), 0);
	count_pages_free(&pages);
	env_stop();

	return 0;
}

static int start_with_ring(void **state)
{
	start(state);
	env_ring_load(&ring, CPU, 2 * COUNT_PAIRS, RING_PAGES, 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);

	return 0;
}

static int stop_with_ring(void **state)
{
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&ring);

	return stop(state);
}

/* The time after exits with a reason, as the host reads it */
static u64 outside(u32 reason)
{
	const struct hyptrace_count *from = count_published(&pages, HYPTRACE_COUNT_KEY_hyp_exit);
	u64 ticks = READ_ONCE(from->outside[reason]);

	return (s64)ticks < 0 ? ticks + env_counter : ticks;
}

static u64 outside_all(void)
{
	u64 sum = 0;
	u32 reason;

	for (reason = 0; reason < HYPTRACE_COUNT_EXITS; reason++)
		sum += outside(reason);

	return sum;
}

static u64 at_el2(void)
{
	struct count_sum sum;
	u64 total = 0;
	u32 reason;

	for (reason = 0; reason < HYPTRACE_COUNT_REASONS; reason++) {
		count_read(&pages, reason, &sum);
		total += sum.total;
	}

	return total;
}

static void enter(u32 reason)
{
	hyptrace(hyp_enter, reason);
}

static void leave(u32 reason)
{
	hyptrace(hyp_exit, reason);
}

/* The CPU begins in the host, also if it never enters EL2. */
static void idle(void **state)
{
	(void)state;
	env_counter += 500;
	assert_int_equal(outside(HYPTRACE_REASON_ERET_HOST), 500);
	env_counter += 1ULL << 40;
	assert_int_equal(outside(HYPTRACE_REASON_ERET_HOST), 500 + (1ULL << 40));
	assert_int_equal(outside_all(), 500 + (1ULL << 40));
	assert_int_equal(at_el2(), 0);
}

static void round_trip(void)
{
	env_counter += 100;
	enter(HYPTRACE_REASON_HVC);
	env_counter += 7;
	leave(HYPTRACE_REASON_ERET_GUEST);
	env_counter += 3000;
	enter(HYPTRACE_REASON_GUEST_EXIT);
	env_counter += 11;
	leave(HYPTRACE_REASON_ERET_HOST);
	env_counter += 10;
	enter(HYPTRACE_REASON_SMC);
	env_counter += 2;
	leave(HYPTRACE_REASON_SMC);
	env_counter += 50;
	enter(HYPTRACE_REASON_SMC);
	env_counter += 3;
	leave(HYPTRACE_REASON_ERET_HOST);
	env_counter += 20;
}

static void check_trip(u64 nr)
{
	assert_int_equal(outside(HYPTRACE_REASON_ERET_HOST), nr * 130);
	assert_int_equal(outside(HYPTRACE_REASON_ERET_GUEST), nr * 3000);
	assert_int_equal(outside(HYPTRACE_REASON_SMC), nr * 50);
	assert_int_equal(outside_all(), nr * 3180);
	assert_int_equal(at_el2(), nr * 23);
}

/* All times add up to the time that has passed. */
static void times_add_up(void **state)
{
	(void)state;
	round_trip();
	check_trip(1);
	round_trip();
	check_trip(2);
	assert_int_equal(outside_all() + at_el2(), env_counter - 1000);
}

/* Events that are recorded, too, count in the same way. */
static void recorded(void **state)
{
	(void)state;
	round_trip();
	check_trip(1);
	assert_int_equal(env_rings[CPU].recorded, 8);
}

/* A visit of EL2 counts when it ends. */
static void at_el2_now(void **state)
{
	(void)state;
	env_counter += 5;
	enter(HYPTRACE_REASON_HVC);
	env_counter += 70;
	assert_int_equal(outside_all() + at_el2(), 75);
	leave(HYPTRACE_REASON_ERET_HOST);
	assert_int_equal(outside_all(), 5);
	assert_int_equal(at_el2(), 70);
	enter(HYPTRACE_REASON_HVC);
	env_counter += 30;
	leave(HYPTRACE_REASON_ERET_GUEST);
	assert_int_equal(outside_all(), 5);
	assert_int_equal(at_el2(), 100);
}

/* A CPU that enters EL2 without hyp_enter was outside until it leaves again. */
static void unnoticed_entry(void **state)
{
	(void)state;
	env_counter += 5;
	leave(HYPTRACE_REASON_ERET_GUEST);
	env_counter += 6;
	leave(HYPTRACE_REASON_ERET_HOST);
	env_counter += 7;
	assert_int_equal(outside(HYPTRACE_REASON_ERET_GUEST), 6);
	assert_int_equal(outside(HYPTRACE_REASON_ERET_HOST), 12);
}

static void not_counted(void **state)
{
	(void)state;
	env_counter += 5;
	assert_int_equal(count_on(BIT_ULL(HYPTRACE_EVENT_host_hcall)), 0);
	env_counter += 6;
	enter(HYPTRACE_REASON_HVC);
	leave(HYPTRACE_REASON_ERET_HOST);
	assert_int_equal(outside_all(), 5);
	/* a second time changes nothing */
	assert_int_equal(count_on(ENTER), 0);
	env_counter += 7;
	assert_int_equal(count_on(HYPTRACE_COUNTABLE_EVENTS), 0);
	env_counter += 1;
	assert_int_equal(outside(HYPTRACE_REASON_ERET_HOST), 13);
}

static void reset(void **state)
{
	(void)state;
	round_trip();
	assert_int_equal(count_reset(CPU), 0);
	assert_int_equal(outside_all(), 0);
	env_counter += 9;
	assert_int_equal(outside(HYPTRACE_REASON_ERET_HOST), 9);
	assert_int_equal(outside_all(), 9);
	round_trip();
	assert_int_equal(outside_all() + at_el2(), 9 + 3203);
}

/* A CPU that is switched off is not outside. */
static void switched_off(void **state)
{
	(void)state;
	env_counter += 5;
	enter(HYPTRACE_REASON_SMC);
	env_counter += 1;
	hyptrace_cpu_off();
	env_counter += 100000;
	assert_int_equal(outside_all(), 5);
	hyptrace_cpu_on();
	env_counter += 8;
	assert_int_equal(outside_all(), 13);
}

static void reset_while_nothing_is_counted(void **state)
{
	(void)state;
	round_trip();
	assert_int_equal(count_on(0), 0);
	assert_int_equal(count_reset(CPU), 0);
	env_counter += 100;
	assert_int_equal(outside_all(), 0);
	assert_int_equal(count_on(ENTER), 0);
	env_counter += 40;
	assert_int_equal(outside(HYPTRACE_REASON_ERET_HOST), 40);
}

/* The other parts are of other counters. */
static void first_part_of_a_reset(void **state)
{
	(void)state;
	round_trip();
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT_RESET, CPU, 0, 0), 1);
	env_counter += 100;
	assert_true(hyptrace_hcall(HYPTRACE_OP_COUNT_RESET, CPU, 1, 0) >= 0);
	env_counter += 10;
	assert_int_equal(outside_all(), 110);
}

/* The counters begin with 0 in the next pages. */
static void other_pages(void **state)
{
	(void)state;
	round_trip();
	assert_int_equal(count_on(0), 0);
	count_pages_free(&pages);
	count_pages_give(&pages, CPU, 0);
	assert_int_equal(count_on(ENTER), 0);
	round_trip();
	check_trip(1);
}

#define WITH_PAGES(test)	cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PAGES(idle),
		WITH_PAGES(times_add_up),
		cmocka_unit_test_setup_teardown(recorded, start_with_ring, stop_with_ring),
		WITH_PAGES(at_el2_now),
		WITH_PAGES(unnoticed_entry),
		WITH_PAGES(not_counted),
		WITH_PAGES(reset),
		WITH_PAGES(reset_while_nothing_is_counted),
		WITH_PAGES(first_part_of_a_reset),
		WITH_PAGES(other_pages),
		WITH_PAGES(switched_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
