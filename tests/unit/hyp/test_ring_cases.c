// SPDX-License-Identifier: GPL-2.0-only
/*
 * Corner cases of the ring, one per test: swaps, losses, both modes, attach and park. The long
 * random sequences are in test_ring_model.c.
 */
#include "ring_run.h"

#define PAGE_EVENTS	340	/* hyp_enter in a sub-buffer */

static struct run run;

static int start(void **state)
{
	run_start(&run, 3, *(bool *)*state);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	run_check(&run);
	run_check_pages(&run);
	run_stop(&run);

	return 0;
}

static void enter(u32 nr)
{
	while (nr--)
		run_write(&run, MODEL_ENTER, 0, run.model->last + 10);
}

static struct hyptrace_meta *meta(void)
{
	return env_ring_meta(&run.host);
}

static void nothing_to_swap(void **state)
{
	(void)state;
	assert_int_equal(run_swap(&run, 0), -EAGAIN);
	assert_int_equal(run_swap(&run, ~0ULL), -EAGAIN);
	enter(1);
	assert_int_equal(run_swap(&run, 0), 0);
	assert_int_equal(run_swap(&run, 12), -EAGAIN);
}

/*
 * The reader gets the page that the writer is in, and follows the writer. Once the writer
 * leaves it, the page is the reader's alone.
 */
static void follow_the_tail(void **state)
{
	(void)state;
	enter(5);
	assert_int_equal(run_swap(&run, 0), 0);
	assert_int_equal(meta()->writer_in_reader_page, 1);
	run_look(&run);
	assert_int_equal(run.read, 5);
	enter(PAGE_EVENTS - 5);
	run_look(&run);
	assert_int_equal(run.read, PAGE_EVENTS);
	assert_int_equal(meta()->writer_in_reader_page, 1);
	enter(1);
	assert_int_equal(meta()->writer_in_reader_page, 0);
	assert_int_equal(meta()->reader_entries, PAGE_EVENTS);
	run_drain(&run);
	assert_int_equal(run.read, PAGE_EVENTS + 1);
	assert_int_equal(run.lost, 0);
}

static void not_all_consumed(void **state)
{
	(void)state;
	enter(5);
	assert_int_equal(run_swap(&run, 0), 0);
	enter(PAGE_EVENTS);
	assert_int_equal(run_swap(&run, 0), -ESTALE);
	assert_int_equal(run_swap(&run, 60), -ESTALE);
	assert_int_equal(run_swap(&run, 4079), -ESTALE);
	assert_int_equal(run_swap(&run, 4080), 0);
	run_drain(&run);
	assert_int_equal(run.lost, 0);
}

static void overwrite(void **state)
{
	(void)state;
	enter(5 * PAGE_EVENTS + 7);
	run_sync(&run);
	assert_int_equal(meta()->overrun, 4 * PAGE_EVENTS);
	assert_int_equal(run_swap(&run, 0), 0);
	assert_int_equal(meta()->reader_lost, 4 * PAGE_EVENTS);
	assert_int_equal(run_swap(&run, 4080), 0);
	assert_int_equal(meta()->reader_lost, 0);
	run_drain(&run);
	assert_int_equal(run.read, PAGE_EVENTS + 7);
}

/* The writer leaves the reader's page and then overwrites the rest of the ring several times. */
static void overwrite_behind_reader(void **state)
{
	(void)state;
	enter(1);
	assert_int_equal(run_swap(&run, 0), 0);
	enter(6 * PAGE_EVENTS);
	run_drain(&run);
	assert_int_equal(run.read + run.lost, 6 * PAGE_EVENTS + 1);
	assert_int_equal(run.lost, 4 * PAGE_EVENTS);
}

static void discard(void **state)
{
	(void)state;
	enter(2 * PAGE_EVENTS + 13);
	run_sync(&run);
	assert_int_equal(meta()->dropped, 13);
	assert_int_equal(meta()->overrun, 0);
	assert_int_equal(meta()->written, 2 * PAGE_EVENTS + 13);
	assert_int_equal(run_swap(&run, 0), 0);
	assert_int_equal(meta()->reader_lost, 0);
	enter(1);
	assert_int_equal(run_swap(&run, 4080), 0);
	assert_int_equal(meta()->reader_lost, 0);
	assert_int_equal(run_swap(&run, 4080), 0);
	assert_int_equal(meta()->reader_lost, 13);
	run_drain(&run);
	assert_int_equal(run.read, 2 * PAGE_EVENTS + 1);
}

/* After an event that did not fit, a smaller one must not be recorded before the gap record. */
static void discard_in_order(void **state)
{
	(void)state;
	enter(2 * PAGE_EVENTS - 1);
	assert_false(run_write(&run, MODEL_SELFTEST, 0, 1000000));
	assert_false(run_write(&run, MODEL_ENTER, 0, 1000001));
	assert_int_equal(run_swap(&run, 0), 0);
	assert_true(run_write(&run, MODEL_ENTER, 0, 1000002));
	assert_int_equal(run_swap(&run, 4080), 0);
	assert_int_equal(run_swap(&run, 4080), 0);
	assert_int_equal(meta()->reader_lost, 2);
	run_drain(&run);
}

/* Events dropped after the last record are counted, and reported with the next event. */
static void discard_then_drain(void **state)
{
	(void)state;
	enter(2 * PAGE_EVENTS + 4);
	run_drain(&run);
	assert_int_equal(run.read, 2 * PAGE_EVENTS);
	assert_int_equal(run.model->pending, 4);
	enter(1);
	run_drain(&run);
	assert_int_equal(run.lost, 4);
}

static void reset_while_followed(void **state)
{
	(void)state;
	enter(3);
	assert_int_equal(run_swap(&run, 0), 0);
	run_reset(&run, RUN_CPU);
	assert_int_equal(meta()->written, 0);
	assert_int_equal(meta()->writer_in_reader_page, 0);
	assert_int_equal(run_swap(&run, 0), -EAGAIN);
	enter(2);
	run_drain(&run);
	assert_int_equal(run.read, 2);
}

static void reset_when_full(void **state)
{
	(void)state;
	enter(4 * PAGE_EVENTS);
	run_reset(&run, RUN_OTHER_CPU);
	run_reset(&run, RUN_CPU);
	run_check(&run);
	enter(2 * PAGE_EVENTS);
	run_drain(&run);
	assert_int_equal(run.read, 2 * PAGE_EVENTS);
	assert_int_equal(run.lost, 0);
}

/*
 * A reset sets the ring's time back only if it is more than HYPTRACE_MAX_LEAD_NS ahead of the
 * clock.
 */
static void reset_at_the_limit(void **state)
{
	struct hyptrace_ring *ring = &env_rings[RUN_CPU];
	struct env_ring host;
	u64 last;

	(void)state;
	env_start(env_ring_pages(3));
	env_cpu(RUN_CPU);
	env_ring_load(&host, RUN_CPU, 0, 3, 0);
	hyptrace_hcall(HYPTRACE_OP_ATTACH, RUN_CPU, HYPTRACE_ALL_EVENTS, 0);
	env_counter = 1000 + HYPTRACE_MAX_LEAD_NS;
	hyptrace(hyp_enter, 0);
	assert_int_equal(ring->last_time, env_counter);

	env_counter = 1000;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0), 0);
	last = ring->last_time;
	assert_true(last >= 1000 + HYPTRACE_MAX_LEAD_NS);
	env_counter = last - HYPTRACE_MAX_LEAD_NS - 1;
	while (hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0) == 1)
		;
	assert_int_equal(ring->last_time, env_counter);

	hyptrace_hcall(HYPTRACE_OP_DETACH, RUN_CPU, 0, 0);
	env_ring_free(&host);
	env_stop();
}

/*
 * The clock was far ahead and is corrected: a reset sets the ring's time back, and no old time
 * stamp remains.
 */
static void reset_takes_time_back(void **state)
{
	const u32 nr = 2 * HYPTRACE_SLOTS_PER_TABLE + 5;
	struct hyptrace_ring *ring = &env_rings[RUN_CPU];
	u32 entered, steps = 1, i;
	struct env_ring host;

	(void)state;
	for (entered = 0; entered < nr; entered += nr / 2) {
		env_start(env_ring_pages(nr));
		env_cpu(RUN_CPU);
		env_ring_load(&host, RUN_CPU, 0, nr, 0);
		hyptrace_hcall(HYPTRACE_OP_ATTACH, RUN_CPU, HYPTRACE_ALL_EVENTS, 0);
		env_counter = 1ULL << 50;
		for (i = 0; i < nr * PAGE_EVENTS; i++)
			hyptrace(hyp_enter, 0);
		assert_true(hyptrace_hcall(HYPTRACE_OP_SWAP, RUN_CPU, 0, 0) >= 0);
		env_counter = 1000;
		hyptrace(hyp_enter, 0);
		assert_true(ring->last_time >= 1ULL << 50);

		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0), 1);
		hyptrace(hyp_enter, 0);
		assert_int_equal(ring->last_time, 1000);
		/* The writer may continue meanwhile: what it writes must not be wiped. */
		for (i = 1; i < entered * PAGE_EVENTS; i++)
			hyptrace(hyp_enter, 0);
		while (hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0) == 1)
			steps++;
		assert_true(steps <= 3);
		assert_int_equal(ring->recorded, entered ? entered * PAGE_EVENTS : 1);
		for (i = 0; i < nr; i++)
			assert_true(env_ring_data(&host, i)->time_stamp <= 1000 + nr);
		for (i = 0; i + 1 < entered; i++)
			assert_int_equal(hyptrace_slot_at(ring, i)->page->commit, 12 * PAGE_EVENTS);
		/* Nothing is left to wipe: the next reset takes one call. */
		env_counter = 1000000;
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0), 0);
		hyptrace_hcall(HYPTRACE_OP_DETACH, RUN_CPU, 0, 0);
		env_ring_free(&host);
		env_stop();
	}
}

/*
 * The reset wipes each old time stamp up to the last one, as many per call as a table has
 * slots.
 */
static void reset_wipes_all(void **state)
{
	struct hyptrace_ring *ring = &env_rings[RUN_CPU];
	u32 nr, steps, i;
	struct env_ring host;

	(void)state;
	for (nr = HYPTRACE_SLOTS_PER_TABLE + 1; nr < HYPTRACE_SLOTS_PER_TABLE + 5; nr++) {
		env_start(env_ring_pages(nr));
		env_cpu(RUN_CPU);
		env_ring_load(&host, RUN_CPU, 0, nr, 0);
		hyptrace_hcall(HYPTRACE_OP_ATTACH, RUN_CPU, HYPTRACE_ALL_EVENTS, 0);
		env_counter = 1ULL << 50;
		for (i = 0; i < nr * PAGE_EVENTS; i++)
			hyptrace(hyp_enter, 0);
		env_counter = 1000;
		for (steps = 1; hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0) == 1; steps++)
			;
		assert_int_equal(ring->nr_unwiped, 0);
		assert_int_equal(ring->tail, 0);
		assert_int_equal(ring->page->time_stamp, 1000);
		/* The tail and the reader's page are not among those to wipe. */
		assert_int_equal(steps, DIV_ROUND_UP(nr - 2, HYPTRACE_SLOTS_PER_TABLE));
		for (i = 0; i < nr; i++) {
			assert_int_equal(env_ring_data(&host, i)->time_stamp,
					 env_ring_data(&host, i) == ring->page ? 1000 : 0);
			assert_int_equal(env_ring_data(&host, i)->commit, 0);
		}
		hyptrace_hcall(HYPTRACE_OP_DETACH, RUN_CPU, 0, 0);
		env_ring_free(&host);
		env_stop();
	}
}

/* Once the writer has passed through the whole ring, no old time stamp is left to wipe. */
static void writer_wraps_before_wipe(void **state)
{
	const u32 nr = 2 * HYPTRACE_SLOTS_PER_TABLE;
	struct hyptrace_ring *ring = &env_rings[RUN_CPU];
	struct env_ring host;
	u32 i;

	(void)state;
	env_start(env_ring_pages(nr));
	env_cpu(RUN_CPU);
	env_ring_load(&host, RUN_CPU, 0, nr, 0);
	hyptrace_hcall(HYPTRACE_OP_ATTACH, RUN_CPU, HYPTRACE_ALL_EVENTS, 0);
	env_counter = 1ULL << 50;
	hyptrace(hyp_enter, 0);
	env_counter = 1000;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0), 1);
	/* A new ring has nothing to wipe either. */
	hyptrace_hcall(HYPTRACE_OP_DETACH, RUN_CPU, 0, 0);
	env_ring_free(&host);
	env_ring_load(&host, RUN_CPU, 0, nr, 0);
	assert_int_equal(ring->nr_unwiped, 0);
	hyptrace_hcall(HYPTRACE_OP_ATTACH, RUN_CPU, HYPTRACE_ALL_EVENTS, 0);
	env_counter = 1ULL << 50;
	hyptrace(hyp_enter, 0);
	env_counter = 1000;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0), 1);
	for (i = 0; i < (nr + 1) * PAGE_EVENTS; i++)
		hyptrace(hyp_enter, 0);
	assert_int_equal(ring->nr_unwiped, 0);
	/* So this call is a new reset, not the continuation of the old one. */
	env_counter = 1000000;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0), 0);
	assert_int_equal(ring->recorded, 0);
	hyptrace_hcall(HYPTRACE_OP_DETACH, RUN_CPU, 0, 0);
	env_ring_free(&host);
	env_stop();
}

/* Only the ring's own CPU may attach and detach it, unless that CPU is off. */
static void only_own_cpu_attaches(void **state)
{
	(void)state;
	run_detach(&run, RUN_OTHER_CPU);
	run_attach(&run, RUN_OTHER_CPU, 0);
	run_check(&run);
	run_power(&run, false);
	enter(1);
	assert_int_equal(run.next, 0);
	run_attach(&run, RUN_OTHER_CPU, BIT_ULL(HYPTRACE_EVENT_selftest));
	run_check(&run);
	run_power(&run, true);
	run_check(&run);
	enter(1);
	run_write(&run, MODEL_SELFTEST, 0, 5);
	assert_int_equal(run.next, 1);
	run_drain(&run);

	run_power(&run, false);
	run_reset(&run, RUN_OTHER_CPU);
	run_detach(&run, RUN_OTHER_CPU);
	run_power(&run, true);
	run_check(&run);
	enter(1);
	assert_int_equal(run.next, 1);
	run_attach(&run, RUN_OTHER_CPU, 0);
}

/* A detached ring can still be read. */
static void read_after_detach(void **state)
{
	(void)state;
	enter(PAGE_EVENTS + 5);
	run_detach(&run, RUN_CPU);
	run_drain(&run);
	assert_int_equal(run.read, PAGE_EVENTS + 5);
	run_attach(&run, RUN_CPU, HYPTRACE_ALL_EVENTS);
	enter(5);
	run_drain(&run);
	assert_int_equal(run.read, PAGE_EVENTS + 10);
}

static void unknown_events(void **state)
{
	u64 bit;

	(void)state;
	for (bit = 1; bit; bit <<= 1) {
		if (bit & HYPTRACE_ALL_EVENTS)
			continue;
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, RUN_CPU, bit, 0),
				 -EINVAL);
	}
	run_check(&run);
}

static bool yes = true, no;

#define OVERWRITE(test) \
	cmocka_unit_test_prestate_setup_teardown(test, start, stop, &no)
#define DISCARD(test) \
	cmocka_unit_test_prestate_setup_teardown(test, start, stop, &yes)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OVERWRITE(nothing_to_swap),
		OVERWRITE(follow_the_tail),
		DISCARD(follow_the_tail),
		OVERWRITE(not_all_consumed),
		OVERWRITE(overwrite),
		OVERWRITE(overwrite_behind_reader),
		DISCARD(discard),
		DISCARD(discard_in_order),
		DISCARD(discard_then_drain),
		OVERWRITE(reset_while_followed),
		DISCARD(reset_when_full),
		OVERWRITE(reset_when_full),
		cmocka_unit_test(reset_at_the_limit),
		cmocka_unit_test(reset_takes_time_back),
		cmocka_unit_test(reset_wipes_all),
		cmocka_unit_test(writer_wraps_before_wipe),
		OVERWRITE(only_own_cpu_attaches),
		OVERWRITE(read_after_detach),
		OVERWRITE(unknown_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
