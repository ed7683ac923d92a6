// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers at EL2 that stop the recording some sub-buffers later.
 */
#include "ring_decode.h"
#include "trigger_rings.h"

/* Fill the sub-buffer of a CPU, until it enters the next one or records no more. */
static bool enter_next(u32 cpu)
{
	u64 before = env_rings[cpu].nr_entered;

	while (env_rings[cpu].nr_entered == before)
		if (!is_recorded(cpu))
			return false;

	return true;
}

/* Has a CPU published that it has ended the recording? */
static bool has_ended(u64 number)
{
	u32 cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		if (env_ring_meta(&trigger_host[cpu])->ended == number)
			return true;

	return false;
}

static bool is_in_ring(u32 cpu, u32 event)
{
	struct hyptrace_ring *ring = &env_rings[cpu];
	struct decoded events[DECODE_MAX];
	u32 page;
	int nr;

	for (page = 0; page < ring->nr_pages; page++) {
		const struct hyptrace_subbuf *data = env_ring_data(&trigger_host[cpu], page);

		for (nr = decode_both(data, events); nr > 0; nr--)
			if (*(u16 *)(data->data + events[nr - 1].offset) == event)
				return true;
	}

	return false;
}

/*
 * The recording stops when a CPU, that of the event or another one, has entered the nth next
 * sub-buffer. It does not overwrite the event even if that is sooner.
 */
static void check_after(u32 after, u32 most, u32 writer, bool in_reader_page)
{
	u32 due = after < most ? after : most, i;

	start_rings(NR_PAGES, 0);
	for (i = 0; i < CPUS; i++)
		assert_int_equal(env_ring_meta(&trigger_host[i])->ended, 0);
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, after), 0);
	arm(ARM);
	/* sub-buffers before the event do not count */
	for (i = 0; i < 3 * NR_PAGES; i++)
		assert_true(enter_next(writer));
	env_cpu(0);
	while (in_reader_page && hyptrace_hcall(HYPTRACE_OP_SWAP, 1, ~0ULL, 0) >= 0)
		;
	selftest_on(1, 7);
	assert_recording(true);
	for (i = 0; i < due; i++) {
		assert_false(has_ended(ARM));
		assert_true(enter_next(writer));
	}
	assert_recording(false);
	assert_true(has_ended(ARM));
	assert_false(enter_next(writer));
	assert_true(is_in_ring(1, HYPTRACE_EVENT_selftest));
	assert_none_fired_but(1);

	/* The next time it counts from the beginning. */
	pause_all();
	arm(ARM + 1);
	assert_true(enter_next(writer));
	selftest_on(1, 7);
	for (i = 0; i < due; i++) {
		assert_recording(true);
		assert_false(has_ended(ARM + 1));
		assert_true(enter_next(writer));
	}
	assert_recording(false);
	assert_true(has_ended(ARM + 1));
	assert_int_equal(stopped(1)->arm, ARM + 1);
	teardown_rings(NULL);
}

static void after(void **state)
{
	static const u32 counts[] = { 1, 2, 3, 4, 5, 1000, ~0U };
	u32 i;

	(void)state;
	for (i = 0; i < ENV_NR(counts); i++) {
		check_after(counts[i], NR_PAGES - 2, 1, false);
		check_after(counts[i], NR_PAGES - 2, 1, true);
		check_after(counts[i], NR_PAGES - 2, 2, false);
	}
}

/* Each CPU counts its own sub-buffers: the sum of several does not matter. */
static void after_of_each(void **state)
{
	u32 cpu;

	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, 2), 0);
	arm(ARM);
	selftest_on(1, 7);
	for (cpu = 0; cpu < CPUS; cpu++) {
		assert_recording(true);
		assert_true(enter_next(cpu));
	}
	assert_recording(true);
	assert_true(enter_next(2));
	assert_recording(false);
	/* ARM ends the count, too. */
	arm(ARM + 1);
	selftest_on(1, 7);
	pause_all();
	arm(ARM + 2);
	for (cpu = 0; cpu < 10; cpu++)
		assert_true(enter_next(1));
}

/* The ring and the numbers of ARM both begin again, as with a new module. */
static void loaded_again(void **state)
{
	u32 pages = env_ring_pages(NR_PAGES);

	(void)state;
	assert_int_equal(set_trigger(HYPTRACE_EVENT_selftest, HYPTRACE_TRIGGER_STOP, 2), 0);
	arm(1);
	selftest_on(1, 7);
	assert_true(enter_next(1));
	env_cpu(1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, 1, 0, 0), 0);
	env_ring_free(&trigger_host[1]);
	env_ring_load(&trigger_host[1], 1, pages, NR_PAGES, 0);
	attach(1);
	set_filters(1, 7);
	arm(1);
	selftest_on(1, 7);
	assert_true(enter_next(1));
	assert_recording(true);
	assert_true(enter_next(1));
	assert_recording(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after),
		cmocka_unit_test_setup_teardown(after_of_each, setup_rings, teardown_rings),
		cmocka_unit_test_setup_teardown(loaded_again, setup_rings, teardown_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
