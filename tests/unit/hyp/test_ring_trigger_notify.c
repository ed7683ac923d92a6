// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers at EL2 that notify: they fire each time, and the recording continues. The filter chooses
 * what fires, not what is recorded.
 */
#include "filter_terms.h"
#include "trigger_rings.h"

/* Record all selftest events of a CPU; those with this id fire. */
static void record_all(u32 cpu, u64 id)
{
	const struct hyptrace_term term = {
		.offset = offsetof(struct hyptrace_entry_selftest, id), .width = 8,
		.op = HYPTRACE_TERM_EQ, .value = id,
		.on_true = HYPTRACE_FILTER_ACCEPT, .on_false = HYPTRACE_FILTER_RECORD,
	};

	env_cpu(cpu);
	assert_int_equal(filter_set(cpu, HYPTRACE_EVENT_selftest, &term, 1), 0);
}

static int setup(void **state)
{
	u32 cpu;

	setup_rings(state);
	for (cpu = 0; cpu < CPUS; cpu++)
		record_all(cpu, 7);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_NOTIFY, 0), 0);

	return 0;
}

static int teardown(void **state)
{
	set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_NONE, 0);
	set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_NONE, 0);

	return teardown_rings(state);
}

static u64 notified(u32 cpu)
{
	return env_ring_meta(&trigger_host[cpu])->notified;
}

static void assert_notified(u64 first, u64 second, u64 third)
{
	assert_int_equal(notified(0), first);
	assert_int_equal(notified(1), second);
	assert_int_equal(notified(2), third);
}

/* Without ARM, and each time */
static void fires_each_time(void **state)
{
	unsigned int i;

	(void)state;
	assert_notified(0, 0, 0);
	selftest_on(1, 7);
	assert_notified(0, 1, 0);
	for (i = 0; i < 5; i++)
		selftest_on(1, 7);
	selftest_on(2, 7);
	assert_notified(0, 6, 1);
	assert_recording(true);
	assert_none_fired_but(CPUS);
	/* A pause and ARM do not change it. */
	pause_all();
	selftest_on(1, 7);
	assert_notified(0, 6, 1);
	arm(ARM);
	selftest_on(1, 7);
	assert_notified(0, 7, 1);
	assert_none_fired_but(CPUS);
}

/* What the filter does not accept is recorded or not, as its terms say. It never fires. */
static void filter_chooses(void **state)
{
	const struct hyptrace_ring *ring = &env_rings[1];
	u64 recorded;

	(void)state;
	recorded = ring->recorded;
	selftest_on(1, 8);
	assert_int_equal(ring->recorded, recorded + 1);
	assert_int_equal(ring->filtered, 0);
	selftest_on(1, 7);
	assert_int_equal(ring->recorded, recorded + 2);
	assert_notified(0, 1, 0);

	set_filters(1, 7);
	selftest_on(1, 8);
	assert_int_equal(ring->recorded, recorded + 2);
	assert_int_equal(ring->filtered, 1);
	selftest_on(1, 7);
	assert_int_equal(ring->recorded, recorded + 3);
	assert_notified(0, 2, 0);

	/* Such a filter holds for a trigger that stops, too. */
	record_all(1, 7);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, 0), 0);
	arm(ARM);
	selftest_on(1, 8);
	assert_int_equal(ring->recorded, recorded + 4);
	assert_recording(true);
	selftest_on(1, 7);
	assert_recording(false);
	assert_notified(0, 2, 0);
	arm(ARM);
}

/* Triggers that start and stop fire as without it, and it fires whatever they do. */
static void beside_others(void **state)
{
	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_STOP, 2), 0);
	arm(ARM);
	selftest_on(1, 7);
	assert_notified(0, 1, 0);
	printk_on(2, 7);
	assert_int_equal(stopped(2)->arm, ARM);
	/* The recording goes on until a CPU has moved on twice. */
	selftest_on(1, 7);
	assert_notified(0, 2, 0);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_STOP, 0), 0);
	arm(ARM + 1);
	printk_on(2, 7);
	assert_recording(false);
	/* What is not recorded does not fire. */
	selftest_on(1, 7);
	assert_notified(0, 2, 0);

	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_START, 0), 0);
	arm(ARM + 2);
	selftest_on(1, 7);
	assert_notified(0, 2, 0);
	printk_on(2, 7);
	assert_recording(true);
	selftest_on(1, 7);
	assert_notified(0, 3, 0);
	assert_int_equal(started(2)->arm, ARM + 2);
}

static void removed(void **state)
{
	(void)state;
	selftest_on(1, 7);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_NONE, 0), 0);
	selftest_on(1, 7);
	arm(ARM);
	selftest_on(1, 7);
	assert_notified(0, 1, 0);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_NOTIFY, 0), 0);
	selftest_on(1, 7);
	assert_notified(0, 2, 0);
	/* Without a filter nothing fires. */
	assert_int_equal(filter_remove(1, HYPTRACE_EVENT_selftest), 0);
	selftest_on(1, 7);
	assert_notified(0, 2, 0);
	/* One that stops is not armed until ARM. */
	record_all(1, 7);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, 0), 0);
	selftest_on(1, 7);
	assert_recording(true);
	assert_notified(0, 2, 0);
}

/* An event that is dropped is not in the ring: it does not count. */
static void dropped(void **state)
{
	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_NOTIFY, 0), 0);
	while (is_recorded(1))
		;
	selftest_on(1, 7);
	assert_notified(0, 0, 0);
	env_cpu(1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SWAP, 1, ~0ULL, 0), 0);
	selftest_on(1, 7);
	assert_notified(0, 1, 0);
}

/* The count outlives a reset and a resize, but not the ring. The host cannot change it. */
static void count_of_a_ring(void **state)
{
	u32 pages = env_ring_pages(NR_PAGES);
	struct env_ring spare;

	(void)state;
	selftest_on(1, 7);
	env_cpu(1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, 1, 0, 0), 0);
	assert_notified(0, 1, 0);
	selftest_on(1, 7);
	assert_notified(0, 2, 0);
	env_ring_meta(&trigger_host[1])->notified = 4711;
	selftest_on(1, 7);
	assert_notified(0, 3, 0);

	env_cpu(1);
	env_ring_load(&spare, 1 | HYPTRACE_SPARE_RING, CPUS * pages, NR_PAGES, 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_EXCHANGE, 1, 0, 0), 0);
	assert_int_equal(env_ring_meta(&spare)->notified, 3);
	selftest_on(1, 7);
	assert_int_equal(env_ring_meta(&spare)->notified, 4);

	while (hyptrace_hcall(HYPTRACE_OP_MOVE, 1, 0, 0) > 0)
		;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, 1, 0, 0), 0);
	while (hyptrace_hcall(HYPTRACE_OP_RING_FREE, 1 | HYPTRACE_SPARE_RING, 0, 0) == 1)
		;
	while (hyptrace_hcall(HYPTRACE_OP_RING_FREE, 1, 0, 0) == 1)
		;
	env_ring_load(&trigger_host[1], 1, pages, NR_PAGES, 0);
	attach(1);
	assert_notified(0, 0, 0);
}

static void refused(void **state)
{
	struct hyptrace_term term = {
		.offset = offsetof(struct hyptrace_entry_selftest, id), .width = 8,
		.op = HYPTRACE_TERM_EQ, .on_true = HYPTRACE_FILTER_ACCEPT,
	};
	u32 target;

	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_NOTIFY, 1), -EINVAL);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_NOTIFY + 1, 0),
			 -EINVAL);
	env_cpu(1);
	for (target = 0; target < HYPTRACE_FILTER_RECORD; target++) {
		term.on_false = target;
		assert_int_equal(filter_set(1, HYPTRACE_EVENT_selftest, &term, 1), -EINVAL);
	}
	/* Nothing has changed. */
	selftest_on(1, 7);
	assert_notified(0, 1, 0);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(fires_each_time), TEST(filter_chooses), TEST(beside_others), TEST(removed),
		TEST(count_of_a_ring), TEST(refused),
		cmocka_unit_test_setup_teardown(dropped, setup_full_rings, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
