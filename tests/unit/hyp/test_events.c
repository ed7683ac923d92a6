// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of events: ids, layouts, and the hash that the driver and EL2 compare. An event
 * must be recorded if, and only if, it is enabled on its CPU.
 */
#include "ring_decode.h"

#define CPU	1

static struct env_ring ring;

static int start(void **state)
{
	(void)state;
	env_start(64);
	env_ring_load(&ring, CPU, 0, 4, 0);
	env_cpu(CPU);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	env_cpu(CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&ring);
	env_stop();

	return 0;
}

/* The ids follow the order of the list. User space knows these three: they must not change. */
static void ids(void **state)
{
	(void)state;
	assert_int_equal(HYPTRACE_EVENT_hyp_enter, 1);
	assert_int_equal(HYPTRACE_EVENT_hyp_exit, 2);
	assert_int_equal(HYPTRACE_EVENT_selftest, 3);
	assert_true(HYPTRACE_NR_EVENTS <= 64);
	assert_int_equal(HYPTRACE_ALL_EVENTS & 1, 0);
	assert_int_equal(HYPTRACE_ALL_EVENTS, (1ULL << HYPTRACE_NR_EVENTS) - 2);
}

static void attach(u64 events)
{
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, events, 0), 0);
}

static void all_events(void)
{
	hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	hyptrace(hyp_exit, HYPTRACE_REASON_ERET_HOST);
	hyptrace(selftest, 77);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_WRITE, 78, 0, 0),
			 hyptrace_this_ring()->enabled & BIT_ULL(HYPTRACE_EVENT_selftest) ?
			 0 : -ENODATA);
}

/* With each subset of events enabled, exactly these are recorded, in the order of the calls. */
static void enabled(void **state)
{
	static const u16 order[] = {
		HYPTRACE_EVENT_hyp_enter, HYPTRACE_EVENT_hyp_exit,
		HYPTRACE_EVENT_selftest, HYPTRACE_EVENT_selftest,
	};
	struct decoded events[DECODE_MAX];
	int nr, i, due;
	u64 mask;

	(void)state;
	for (mask = 0; mask <= HYPTRACE_ALL_EVENTS; mask += 2) {
		attach(mask);
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, CPU, 0, 0), 0);
		all_events();
		nr = decode_both(env_rings[CPU].page, events);
		for (i = 0, due = 0; due < 4; due++) {
			u16 id;

			if (!(mask & BIT_ULL(order[due])))
				continue;
			assert_true(i < nr);
			memcpy(&id, env_rings[CPU].page->data + events[i++].offset,
			       sizeof(id));
			assert_int_equal(id, order[due]);
		}
		assert_int_equal(i, nr);
	}
}

static void off_then_on(void **state)
{
	(void)state;
	all_events();
	assert_int_equal(env_rings[CPU].recorded, 0);
	attach(HYPTRACE_ALL_EVENTS);
	all_events();
	assert_int_equal(env_rings[CPU].recorded, 4);
	hyptrace_cpu_off();
	all_events();
	assert_int_equal(env_rings[CPU].recorded, 4);
	hyptrace_cpu_on();
	all_events();
	assert_int_equal(env_rings[CPU].recorded, 8);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	all_events();
	hyptrace_cpu_on();
	all_events();
	assert_int_equal(env_rings[CPU].recorded, 8);
}

/* An event is recorded in the ring of the CPU on which it happens. */
static void own_ring(void **state)
{
	struct env_ring other;

	(void)state;
	env_ring_load(&other, 2, 20, 3, 0);
	attach(HYPTRACE_ALL_EVENTS);
	env_cpu(2);
	all_events();
	assert_int_equal(env_rings[CPU].recorded, 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, 2, HYPTRACE_ALL_EVENTS, 0), 0);
	all_events();
	assert_int_equal(env_rings[CPU].recorded, 0);
	assert_int_equal(env_rings[2].recorded, 4);
	env_cpu(3);
	all_events();
	env_cpu(CPU);
	all_events();
	assert_int_equal(env_rings[CPU].recorded, 4);
	assert_int_equal(env_rings[2].recorded, 4);
	env_cpu(2);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, 2, 0, 0), 0);
	env_ring_free(&other);
}

/* While the CPU's copy of the clock is valid, events take their time from it. */
static void own_clock(void **state)
{
	(void)state;
	attach(HYPTRACE_ALL_EVENTS);
	env_counter = 1000;
	all_events();
	env_rings[CPU].clock.epoch_ns += 5000;
	env_counter = 1100;
	hyptrace(hyp_enter, 0);
	assert_int_equal(env_rings[CPU].last_time, 6100);
	env_counter = 1200;
	hyptrace(selftest, 0);
	assert_int_equal(env_rings[CPU].last_time, 6200);
}

/* hyptrace_events_on has the events that are enabled on any CPU, and no others. */
static void on_anywhere(void **state)
{
	const u64 enter = BIT_ULL(HYPTRACE_EVENT_hyp_enter);
	const u64 selftest = BIT_ULL(HYPTRACE_EVENT_selftest);
	struct env_ring other;

	(void)state;
	env_ring_load(&other, 2, 20, 3, 0);
	assert_int_equal(hyptrace_events_on, 0);
	attach(enter | selftest);
	assert_int_equal(hyptrace_events_on, enter | selftest);
	env_cpu(2);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, 2, selftest, 0), 0);
	env_cpu(CPU);
	attach(enter);
	assert_int_equal(hyptrace_events_on, enter | selftest);
	all_events();
	assert_int_equal(env_rings[CPU].recorded, 1);
	hyptrace_cpu_off();
	assert_int_equal(hyptrace_events_on, selftest);
	hyptrace_cpu_on();
	assert_int_equal(hyptrace_events_on, enter | selftest);
	env_cpu(2);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, 2, 0, 0), 0);
	assert_int_equal(hyptrace_events_on, enter);
	env_ring_free(&other);
	env_cpu(CPU);
	attach(0);
	assert_int_equal(hyptrace_events_on, 0);
}

static void info(void **state)
{
	s64 hash = hyptrace_hcall(HYPTRACE_OP_INFO, HYPTRACE_INFO_EVENTS, 0, 0);

	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_INFO, HYPTRACE_INFO_VERSION, 0, 0),
			 HYPTRACE_ABI_VERSION);
	assert_true(hash > 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_INFO, HYPTRACE_INFO_MISSING, 0, 0), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_INFO, HYPTRACE_INFO_INCOMPLETE, 0, 0), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_INFO, 4, 0, 0), -EINVAL);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_INFO, ~0ULL, 0, 0), -EINVAL);
}

/* FNV-1a must give its published test values, shifted as in abi.h. */
static void hash(void **state)
{
	(void)state;
	assert_true(hyptrace_event_list_hash("") == (s64)(0xcbf29ce484222325 >> 1));
	assert_true(hyptrace_event_list_hash("a") == (s64)(0xaf63dc4c8601ec8c >> 1));
	assert_true(hyptrace_event_list_hash("foobar") ==
		    (s64)(0x85944171f73967e8 >> 1));
	assert_true(hyptrace_event_list_hash("ab") != hyptrace_event_list_hash("ba"));
}

#define WITH_RING(test)	cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RING(ids),
		WITH_RING(enabled),
		WITH_RING(off_then_on),
		WITH_RING(own_ring),
		WITH_RING(on_anywhere),
		WITH_RING(own_clock),
		WITH_RING(info),
		cmocka_unit_test(hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
