// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers at EL2: which events start and stop the recording of all CPUs, and when; what EL2
 * publishes about them; and what it refuses.
 */
#include "count_pages.h"
#include "filter_terms.h"
#include "ring_decode.h"
#include "trigger_rings.h"

static const u64 no_regs[31];

/* The last event of a CPU's ring */
static u32 last_event(u32 cpu, u64 *time)
{
	struct decoded events[DECODE_MAX];
	int nr = decode_both(env_rings[cpu].page, events);

	assert_true(nr > 0);
	*time = events[nr - 1].time;

	return *(u16 *)(env_rings[cpu].page->data + events[nr - 1].offset);
}

static void stops_at_once(void **state)
{
	u64 time;

	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, 0), 0);
	/* It is not armed so far. */
	selftest_on(1, 7);
	assert_recording(true);

	arm(ARM);
	selftest_on(1, 8);
	printk_on(1, 7);
	assert_recording(true);
	assert_none_fired_but(CPUS);

	env_counter = 5000;
	selftest_on(1, 7);
	assert_recording(false);
	assert_none_fired_but(1);
	assert_fired(stopped(1), ARM, HYPTRACE_EVENT_selftest, 5000);
	assert_int_equal(env_ring_meta(&trigger_host[1])->ended, ARM);
	assert_fired(started(1), 0, 0, 0);
	/* The event itself is recorded. */
	assert_int_equal(last_event(1, &time), HYPTRACE_EVENT_selftest);
	assert_int_equal(time, 5000);
	selftest_on(2, 7);
	selftest_on(1, 7);
	assert_none_fired_but(1);
	assert_fired(stopped(1), ARM, HYPTRACE_EVENT_selftest, 5000);

	/* Armed again, another CPU stops it. The old one stays published, with its number. */
	pause_all();
	assert_recording(false);
	arm(ARM + 1);
	assert_recording(true);
	env_counter = 6000;
	selftest_on(2, 7);
	assert_recording(false);
	assert_fired(stopped(1), ARM, HYPTRACE_EVENT_selftest, 5000);
	assert_fired(stopped(2), ARM + 1, HYPTRACE_EVENT_selftest, 6000);
}

/* Of several events only the first one has an effect, even if the stop is still to come. */
static void first_one_wins(void **state)
{
	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, 2), 0);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_STOP, 0), 0);
	arm(ARM);
	env_counter = 5000;
	selftest_on(1, 7);
	assert_recording(true);
	printk_on(2, 7);
	selftest_on(0, 7);
	assert_recording(true);
	assert_none_fired_but(1);
	assert_fired(stopped(1), ARM, HYPTRACE_EVENT_selftest, 5000);
}

/* Neither an event that has no filter any more, nor one whose trigger was taken away */
static void no_trigger(void **state)
{
	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, 0), 0);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_STOP, 0), 0);
	arm(ARM);
	env_cpu(1);
	assert_int_equal(filter_remove(1, HYPTRACE_EVENT_selftest), 0);
	selftest_on(1, 7);
	assert_recording(true);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_NONE, 0), 0);
	printk_on(1, 7);
	assert_recording(true);
	/* A trigger that is set waits for ARM. */
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_STOP, 0), 0);
	printk_on(1, 7);
	assert_recording(true);
	arm(ARM);
	printk_on(1, 7);
	assert_recording(false);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_NONE, 0), 0);
	arm(ARM);
	printk_on(1, 7);
	assert_recording(true);
}

/* An event that a CPU is just recording fires in the pause, too, but does not end it. */
static void fires_in_a_pause(void **state)
{
	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_START, 0), 0);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_STOP, 3), 0);
	arm(ARM);
	pause_all();
	env_cpu(1);
	env_counter = 5000;
	__hyptrace_selftest(7);
	__hyptrace_hyp_printk(7, 0, 0, 0, 0);
	assert_recording(false);
	assert_fired(started(1), ARM, HYPTRACE_EVENT_selftest, 5000);
	assert_fired(stopped(1), ARM, HYPTRACE_EVENT_hyp_printk, 5000);
	assert_int_equal(hyptrace_stop_after, 0);
	arm(ARM + 1);
	selftest_on(2, 7);
	assert_recording(true);
}

/* An event that is dropped does not stop the recording: it would not be in the ring. */
static void dropped(void **state)
{
	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, 0), 0);
	arm(ARM);
	while (is_recorded(1))
		;
	selftest_on(1, 7);
	assert_none_fired_but(CPUS);
	assert_true(is_recorded(2));
	env_cpu(1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SWAP, 1, ~0ULL, 0), 0);
	selftest_on(1, 7);
	assert_int_equal(stopped(1)->arm, ARM);
	assert_false(is_recorded(2));
}

static void starts(void **state)
{
	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_START, 0), 0);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_STOP, 0), 0);
	arm(ARM);
	assert_recording(false);
	/* It stops nothing before the start, even if the CPU has passed the hook already. */
	printk_on(2, 7);
	env_cpu(2);
	__hyptrace_hyp_printk(7, 0, 0, 0, 0);
	selftest_on(1, 8);
	assert_recording(false);
	assert_none_fired_but(CPUS);

	env_counter = 5000;
	selftest_on(1, 7);
	assert_recording(true);
	assert_none_fired_but(1);
	assert_fired(started(1), ARM, HYPTRACE_EVENT_selftest, 5000);
	assert_fired(stopped(1), 0, 0, 0);
	selftest_on(2, 7);
	assert_none_fired_but(1);

	env_counter = 6000;
	printk_on(1, 7);
	assert_recording(false);
	assert_none_fired_but(1);
	assert_fired(started(1), ARM, HYPTRACE_EVENT_selftest, 5000);
	assert_fired(stopped(1), ARM, HYPTRACE_EVENT_hyp_printk, 6000);
}

/* During a pause a CPU's own hypercalls leave no silence behind. */
static void pause_and_silence(void **state)
{
	u32 cpu;

	(void)state;
	pause_all();
	for (cpu = 0; cpu < CPUS; cpu++) {
		env_cpu(cpu);
		{
			hyptrace_host_call(0, true, no_regs);
			hyptrace_silence_own_call();
			attach(cpu);
		}
		hyptrace_host_exit();
		assert_int_equal(env_rings[cpu].recorded, 0);
	}
	arm(ARM);
	for (cpu = 0; cpu < CPUS; cpu++) {
		env_cpu(cpu);
		hyptrace_host_exit();
		assert_int_equal(env_rings[cpu].recorded, 1);
	}
	assert_int_equal(hyptrace_events_on, EVENTS);
	/* While nothing is selected, a hook has nothing to do. */
	pause_all();
	for (cpu = 0; cpu < CPUS; cpu++) {
		env_cpu(cpu);
		assert_int_not_equal(hyptrace_events_on, 0);
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, cpu, 0, 0), 0);
	}
	assert_int_equal(hyptrace_events_on, 0);
}

/* A timed event that has begun before the pause is not recorded after it. */
static void begun_before(void **state)
{
	(void)state;
	env_cpu(1);
	hyptrace_begin(host_mem_abort, 1, 2);
	pause_all();
	hyptrace(host_mem_abort, 0);
	hyptrace_begin(host_mem_abort, 1, 2);
	attach(1);
	arm(ARM);
	hyptrace(host_mem_abort, 0);
	assert_int_equal(env_rings[1].recorded, 0);
	hyptrace_begin(host_mem_abort, 1, 2);
	hyptrace(host_mem_abort, 0);
	assert_int_equal(env_rings[1].recorded, 1);
}

/* A ring that replaces the CPU's publishes them, too. A ring that is loaded again does not. */
static void other_memory(void **state)
{
	u32 pages = env_ring_pages(NR_PAGES);
	struct env_ring spare;

	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_START, 0), 0);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_hyp_printk, HYPTRACE_TRIGGER_STOP, 0), 0);
	arm(ARM);
	env_counter = 5000;
	selftest_on(1, 7);
	printk_on(1, 7);
	env_ring_load(&spare, 1 | HYPTRACE_SPARE_RING, CPUS * pages, NR_PAGES, 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_EXCHANGE, 1, 0, 0), 0);
	assert_fired(&env_ring_meta(&spare)->started, ARM, HYPTRACE_EVENT_selftest, 5000);
	assert_fired(&env_ring_meta(&spare)->stopped, ARM, HYPTRACE_EVENT_hyp_printk, 5000);

	/* The two rings change places again. */
	while (hyptrace_hcall(HYPTRACE_OP_MOVE, 1, 0, 0) > 0)
		;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, 1, 0, 0), 0);
	while (hyptrace_hcall(HYPTRACE_OP_RING_FREE, 1 | HYPTRACE_SPARE_RING, 0, 0) == 1)
		;
	while (hyptrace_hcall(HYPTRACE_OP_RING_FREE, 1, 0, 0) == 1)
		;
	env_ring_load(&trigger_host[1], 1, pages, NR_PAGES, 0);
	attach(1);
	assert_fired(started(1), 0, 0, 0);
	assert_fired(stopped(1), 0, 0, 0);
}

/* A selftest event on request of the host fires, too. */
static void on_request(void **state)
{
	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, 0), 0);
	arm(ARM);
	env_cpu(2);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_WRITE, 6, HYPTRACE_WRITE_SELFTEST, 0), 0);
	assert_recording(true);
	env_cpu(2);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_WRITE, 7, HYPTRACE_WRITE_SELFTEST, 0), 0);
	assert_recording(false);
	assert_int_equal(stopped(2)->arm, ARM);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_WRITE, 7, HYPTRACE_WRITE_PRINTK, 0), -ENODATA);
}

/* What is counted goes on to be counted while nothing is recorded. */
static void counted(void **state)
{
	const u32 key = HYPTRACE_COUNT_KEY_mem_transition + HYPTRACE_MEM_DONATE;
	u64 event = BIT_ULL(HYPTRACE_EVENT_mem_transition), before;
	struct count_pages pages;
	struct count_sum sum;

	(void)state;
	env_cpu(1);
	count_pages_give(&pages, 1, 2 * CPUS * env_ring_pages(NR_PAGES));
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, 1, event, 0), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, 1, EVENTS | event, 0), 0);
	before = env_rings[1].recorded;
	pause_all();
	hyptrace(mem_transition, HYPTRACE_MEM_DONATE, 0, 0, 0, 1, 0, 0, 0);
	assert_int_equal(env_rings[1].recorded, before);
	arm(ARM);
	hyptrace(mem_transition, HYPTRACE_MEM_DONATE, 0, 0, 0, 1, 0, 0, 0);
	assert_int_equal(env_rings[1].recorded, before + 1);
	count_read(&pages, key, &sum);
	assert_int_equal(sum.nr, 2);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, 1, 0, 0), 0);
	count_pages_free(&pages);
}

static void refused(void **state)
{
	u64 event, what, bit;

	(void)state;
	for (event = 1; event < HYPTRACE_NR_EVENTS; event++)
		for (what = 0; what < HYPTRACE_NR_TRIGGERS; what++)
			assert_int_equal(set_trigger(event, what, 0),
					 what == HYPTRACE_TRIGGER_FOLLOW &&
					 event != HYPTRACE_EVENT_func ? -EINVAL : 0);
	assert_int_equal(set_trigger(0, HYPTRACE_TRIGGER_STOP, 0), -EINVAL);
	for (event = HYPTRACE_NR_EVENTS; event < 300; event++)
		assert_int_equal(set_trigger(event, HYPTRACE_TRIGGER_STOP, 0), -EINVAL);
	for (event = 8; event < 64; event++) {
		bit = BIT_ULL(event);
		assert_int_equal(set_trigger(1 | bit, HYPTRACE_TRIGGER_STOP, 0), -EINVAL);
		assert_int_equal(set_trigger(1, HYPTRACE_TRIGGER_STOP | bit, 0), -EINVAL);
	}
	assert_int_equal(set_trigger(1, HYPTRACE_NR_TRIGGERS, 0), -EINVAL);
	assert_int_equal(set_trigger(1, HYPTRACE_TRIGGER_NONE, 1), -EINVAL);
	assert_int_equal(set_trigger(1, HYPTRACE_TRIGGER_START, 1), -EINVAL);
	assert_int_equal(set_trigger(1, HYPTRACE_TRIGGER_STOP, ~0U), 0);
	assert_int_equal(set_trigger(1, HYPTRACE_TRIGGER_STOP, 1ULL << 32), -EINVAL);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ARM, 0, 0, 0), -EINVAL);
	assert_recording(true);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup_rings, teardown_rings)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stops_at_once), TEST(first_one_wins), TEST(no_trigger),
		TEST(fires_in_a_pause), TEST(starts),
		TEST(pause_and_silence), TEST(begun_before),
		TEST(other_memory), TEST(on_request), TEST(counted), TEST(refused),
		cmocka_unit_test_setup_teardown(dropped, setup_full_rings, teardown_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
