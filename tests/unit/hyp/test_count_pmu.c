// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the PMU counts during events: sums by key, events, and what is not measured since the host
 * has changed a counter.
 */
#include "count_pages.h"
#include "ring_decode.h"

#define CPU		1
#define RING_PAGES	4
#define CALL		5
#define KEY(event, number)	(HYPTRACE_COUNT_KEY_##event + (number))

static struct count_pages pages;
static struct env_ring ring;
static u64 regs[31];

static s64 pmu(u64 what)
{
	return hyptrace_hcall(HYPTRACE_OP_PMU, CPU, what, 0);
}

/* Counter 2 counts instructions, and there is that of cycles. */
static int start(void **state)
{
	(void)state;
	hyptrace_host_pmu = (struct hyptrace_host_pmu) {
		.nr = 6, .enabled = BIT(2) | BIT(HYPTRACE_PMU_CYCLES), .mdcr = 6, .pmcr = 1,
		.types[2] = HYPTRACE_PMU_INST_RETIRED | BIT(27),
	};
	env_start(2 * COUNT_PAIRS + env_ring_pages(RING_PAGES));
	count_pages_give(&pages, CPU, 0);
	env_ring_load(&ring, CPU, 2 * COUNT_PAIRS, RING_PAGES, 0);
	env_cpu(CPU);
	env_counter = 1000;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, HYPTRACE_COUNTABLE_EVENTS, 0), 0);

	return 0;
}

static int start_pmu(void **state)
{
	start(state);
	assert_int_equal(pmu(HYPTRACE_PMU_RESET), 0);
	assert_int_equal(pmu(hyptrace_pmu_counter(0, 2, HYPTRACE_PMU_INST_RETIRED)), 0);
	assert_int_equal(pmu(hyptrace_pmu_counter(1, HYPTRACE_PMU_CYCLES,
						  HYPTRACE_PMU_CPU_CYCLES)), 0);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, 0, 0), 0);
	assert_int_equal(hyptrace_events_on & ~BIT_ULL(HYPTRACE_EVENT_guest_enter), 0);
	assert_int_equal(!!hyptrace_events_on, !!hyptrace_this_ring()->counting.pmu.measured);
	assert_int_equal(pmu(HYPTRACE_PMU_NONE), 0);
	assert_int_equal(hyptrace_events_on, 0);
	env_ring_free(&ring);
	count_pages_free(&pages);
	env_stop();

	return 0;
}

static void work(u64 instructions, u64 cycles)
{
	env_counter += 10;
	hyptrace_host_pmu.values[2] = (u32)(hyptrace_host_pmu.values[2] + instructions);
	hyptrace_host_pmu.values[HYPTRACE_PMU_CYCLES] += cycles;
}

/* A hypercall that takes 100 instructions; 7 more pass before the return to the host. */
static void hypercall(void)
{
	{
		hyptrace_host_call(CALL, false, regs);
		work(100, 300);
	}
	work(7, 9);
	hyptrace_host_exit();
}

static void check_key(u32 key, u64 nr, u64 measured, u64 instructions, u64 cycles)
{
	const struct hyptrace_count *from = count_published(&pages, key);
	struct count_sum sum;

	count_read(&pages, key, &sum);
	assert_int_equal(sum.nr, nr);
	assert_int_equal(from->measured, measured);
	assert_int_equal(from->pmu[0], instructions);
	assert_int_equal(from->pmu[1], cycles);
	assert_int_equal(from->pmu[2], 0);
}

static void sums_are_those_of_the_events(void **state)
{
	(void)state;
	hypercall();
	hypercall();
	check_key(KEY(host_hcall, CALL), 2, 2, 200, 600);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_HVC), 2, 2, 214, 618);
	check_key(KEY(host_hcall, CALL + 1), 0, 0, 0, 0);

	/* with events recorded, too */
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);
	hypercall();
	check_key(KEY(host_hcall, CALL), 3, 3, 300, 900);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
}

/* What a filter rejects is measured, also a call that has no result. */
static void filters_change_only_what_is_recorded(void **state)
{
	const struct hyptrace_term more_than_5 = {
		.value = 5, .offset = offsetof(struct hyptrace_entry_host_hcall, ret), .width = 8,
		.is_signed = true, .op = HYPTRACE_TERM_GT, .on_true = HYPTRACE_FILTER_ACCEPT,
		.on_false = HYPTRACE_FILTER_REJECT,
	};
	const struct hyptrace_ring *own = hyptrace_this_ring();

	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU,
					BIT_ULL(HYPTRACE_EVENT_host_hcall), 0), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_FILTER,
					hyptrace_filter_where(CPU, HYPTRACE_EVENT_host_hcall, 0, 1),
					hyptrace_pack_term(&more_than_5), more_than_5.value), 0);
	regs[1] = 5;
	hypercall();
	assert_int_equal(own->recorded, 0);
	regs[1] = 6;
	hypercall();
	assert_int_equal(own->recorded, 1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_VOID_HCALLS, 0, BIT_ULL(CALL), 0), 0);
	hypercall();
	assert_int_equal(own->recorded, 1);
	assert_int_equal(own->filtered, 2);
	check_key(KEY(host_hcall, CALL), 3, 3, 300, 900);
	regs[1] = 0;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_VOID_HCALLS, 0, 0, 0), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
}

/* Each directly precedes the event that it is about, at the same time, or stands for it. */
static void events_come_before_that_which_is_measured(void **state)
{
	static const struct hyptrace_entry_pmu expected[] = {
		{ HYPTRACE_EVENT_pmu, HYPTRACE_PMU_INST_RETIRED, HYPTRACE_PMU_OF_CALL, 100 },
		{ HYPTRACE_EVENT_pmu, HYPTRACE_PMU_CPU_CYCLES, HYPTRACE_PMU_OF_CALL, 300 },
		{ HYPTRACE_EVENT_host_hcall, 0, 0, 0 },
		{ HYPTRACE_EVENT_pmu, HYPTRACE_PMU_INST_RETIRED, HYPTRACE_PMU_OF_VISIT, 107 },
		{ HYPTRACE_EVENT_pmu, HYPTRACE_PMU_CPU_CYCLES, HYPTRACE_PMU_OF_VISIT, 309 },
	};
	static struct decoded events[DECODE_MAX];
	const u8 *data;
	u32 i;

	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU,
					BIT_ULL(HYPTRACE_EVENT_pmu) |
					BIT_ULL(HYPTRACE_EVENT_host_hcall), 0), 0);
	hypercall();
	assert_int_equal(decode_both(env_rings[CPU].page, events), ENV_NR(expected));
	data = (const u8 *)(env_rings[CPU].page + 1);
	for (i = 0; i < ENV_NR(expected); i++) {
		assert_int_equal(*(const u16 *)(data + events[i].offset), expected[i].common_type);
		if (expected[i].common_type == HYPTRACE_EVENT_pmu)
			assert_memory_equal(data + events[i].offset, &expected[i],
					    sizeof(expected[i]));
	}
	assert_true(events[1].time <= events[2].time);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
}

/* The hook of guest_enter, which is on for that, reads the values of the begin of a guest's run. */
static void runs_of_guests(void **state)
{
	const struct hyptrace_vcpu vcpu = { .fault.esr_el2 = 1ULL << HYPTRACE_EXIT_EC_SHIFT };

	(void)state;
	assert_true(hyptrace_is_measured(hyptrace_this_ring(), HYPTRACE_EVENT_guest_exit));
	hyptrace_run_begin(hyptrace_this_ring(), 1, 0);
	hyptrace_guest_begin(true);
	work(50, 60);
	hypercall();
	hyptrace_guest_end(true);
	hyptrace_end_span(hyptrace_this_ring(), guest_exit, &vcpu, HYPTRACE_EXIT_TRAP);
	check_key(KEY(guest_exit, 1), 1, 1, 157, 369);
	check_key(KEY(host_hcall, CALL), 0, 0, 0, 0);
}

/* While guest_enter is on for that, a trigger keeps the CPU from recording it as ever. */
static void guest_enter_stays_barred(void **state)
{
	const u64 event = BIT_ULL(HYPTRACE_EVENT_guest_enter);
	const struct hyptrace_ring *own = hyptrace_this_ring();

	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, event, 0), 0);
	hyptrace_run_begin(hyptrace_this_ring(), 1, 0);
	assert_int_equal(own->recorded, 1);
	hyptrace_allow_events(~event);
	hyptrace_run_begin(hyptrace_this_ring(), 1, 0);
	assert_int_equal(own->recorded, 1);
	assert_true(own->counting.pmu.has_begun[HYPTRACE_PMU_OF_GUEST]);
	hyptrace_allow_events(~0ULL);
	hyptrace_run_begin(hyptrace_this_ring(), 1, 0);
	assert_int_equal(own->recorded, 2);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
}

/* A hypercall that runs a guest, with MDCR_EL2 as it is while that is loaded */
static void run_guest(u64 mdcr)
{
	const struct hyptrace_vcpu vcpu = { .fault.esr_el2 = 1ULL << HYPTRACE_EXIT_EC_SHIFT };
	u64 before = hyptrace_host_pmu.mdcr;

	{
		hyptrace_host_call(CALL, false, regs);
		work(100, 300);
		hyptrace_host_pmu.mdcr = mdcr;
		hyptrace_run_begin(hyptrace_this_ring(), 1, 0);
		hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
		hyptrace(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
		work(50, 60);
		hyptrace_end_span(hyptrace_this_ring(), guest_exit, &vcpu, HYPTRACE_EXIT_TRAP);
		hyptrace_host_pmu.mdcr = before;
	}
	hyptrace_host_exit();
}

static void check_run(u64 nr, u64 measured)
{
	check_key(KEY(guest_exit, 1), nr, measured, 50 * measured, 60 * measured);
	check_key(KEY(host_hcall, CALL), nr, measured, 150 * measured, 360 * measured);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_HVC), nr, measured, 100 * measured,
		  300 * measured);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_GUEST_EXIT), nr, measured, 50 * measured,
		  60 * measured);
}

/* A CPU without a PMU has no registers of one: to read them is an exception. */
static void a_run_without_a_pmu(void **state)
{
	const u64 event = BIT_ULL(HYPTRACE_EVENT_guest_enter);

	(void)state;
	hyptrace_host_pmu.nr = -1;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, event, 0), 0);
	run_guest(6);
	assert_int_equal(hyptrace_this_ring()->recorded, 1);
	check_run(1, 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
}

/* HPMN has the counter of instructions, 2, stand still while a guest is loaded. */
static void what_stands_still_during_a_run_is_not_measured(void **state)
{
	(void)state;
	run_guest(6);
	check_run(1, 1);
	run_guest(0);
	run_guest(2);
	check_run(3, 1);
	run_guest(3);
	check_run(4, 2);
	/* HPME */
	run_guest(2 | BIT(7));
	check_run(5, 3);
	run_guest(31);
	check_run(6, 4);
}

/* perf clears E while it programs the counters: an exit of the host may be in between. */
static void what_is_stopped_is_not_measured(void **state)
{
	(void)state;
	hyptrace_host_pmu.pmcr = 0;
	hypercall();
	check_key(KEY(host_hcall, CALL), 1, 0, 0, 0);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_HVC), 1, 0, 0, 0);
	assert_int_equal(pmu(hyptrace_pmu_counter(0, 2, HYPTRACE_PMU_INST_RETIRED)), -EINVAL);
	/* E does not concern what is EL2's own, but the counter of cycles is not. */
	hyptrace_host_pmu.mdcr = 2 | BIT(7);
	assert_int_equal(pmu(hyptrace_pmu_counter(0, 2, HYPTRACE_PMU_INST_RETIRED)), 0);
	hypercall();
	check_key(KEY(host_hcall, CALL), 2, 0, 0, 0);
	hyptrace_host_pmu.pmcr = 1;
	hypercall();
	check_key(KEY(host_hcall, CALL), 3, 1, 100, 300);
}

/* The first key of all has room for it, too, and a reset leaves the times after exits. */
static void the_first_key_is_measured(void **state)
{
	const u64 *outside = count_published(&pages, HYPTRACE_COUNT_KEY_hyp_exit)->outside;
	u64 since;

	(void)state;
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	work(30, 90);
	hyptrace(hyp_exit, HYPTRACE_REASON_SMC);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_SMC), 1, 1, 30, 90);
	since = outside[HYPTRACE_REASON_SMC];
	assert_int_equal(since, -env_counter);
	assert_int_equal(pmu(HYPTRACE_PMU_RESET), 0);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_SMC), 1, 0, 0, 0);
	assert_int_equal(outside[HYPTRACE_REASON_SMC], since);
}

static void counters_of_events_may_wrap(void **state)
{
	(void)state;
	hyptrace_host_pmu.values[2] = (u32)-10;
	hypercall();
	check_key(KEY(host_hcall, CALL), 1, 1, 100, 300);
	/* that of cycles has 64 bits */
	{
		hyptrace_host_call(CALL, false, regs);
		work(1, BIT_ULL(35));
	}
	hyptrace_host_exit();
	check_key(KEY(host_hcall, CALL), 2, 2, 101, 300 + BIT_ULL(35));
}

static void what_is_not_measured_is_not_recorded(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, BIT_ULL(HYPTRACE_EVENT_pmu), 0),
			 0);
	run_guest(0);
	assert_int_equal(hyptrace_this_ring()->recorded, 0);
	{
		hyptrace_host_call(CALL, false, regs);
		hyptrace_host_pmu.enabled = BIT(2);
	}
	hyptrace_host_exit();
	assert_int_equal(hyptrace_this_ring()->recorded, 0);
	hyptrace_host_pmu.enabled |= BIT(HYPTRACE_PMU_CYCLES);
	hypercall();
	assert_int_equal(hyptrace_this_ring()->recorded, 4);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
}

/* The host gives the counter to somebody else, stops it, and gives it back. */
static void what_counts_something_else_is_not_measured(void **state)
{
	(void)state;
	hyptrace_host_pmu.types[2] = 3;
	hypercall();
	check_key(KEY(host_hcall, CALL), 1, 0, 0, 0);
	hyptrace_host_pmu.types[2] = HYPTRACE_PMU_INST_RETIRED | BIT(27);
	hyptrace_host_pmu.enabled = BIT(HYPTRACE_PMU_CYCLES);
	hypercall();
	check_key(KEY(host_hcall, CALL), 2, 0, 0, 0);
	hyptrace_host_pmu.enabled |= BIT(2);
	hypercall();
	check_key(KEY(host_hcall, CALL), 3, 1, 100, 300);

	/* in another place now */
	hyptrace_host_pmu.values[4] = 1000;
	hyptrace_host_pmu.types[4] = HYPTRACE_PMU_INST_RETIRED;
	hyptrace_host_pmu.enabled |= BIT(4);
	assert_int_equal(pmu(hyptrace_pmu_counter(0, 4, HYPTRACE_PMU_INST_RETIRED)), 0);
	hypercall();
	check_key(KEY(host_hcall, CALL), 4, 2, 100, 600);
}

static void the_end_keeps_the_sums(void **state)
{
	(void)state;
	hypercall();
	assert_int_equal(pmu(HYPTRACE_PMU_NONE), 0);
	hypercall();
	check_key(KEY(host_hcall, CALL), 2, 1, 100, 300);
	assert_int_equal(pmu(HYPTRACE_PMU_RESET), 0);
	hypercall();
	check_key(KEY(host_hcall, CALL), 3, 0, 0, 0);
}

static void a_reset_is_of_these_too(void **state)
{
	(void)state;
	hypercall();
	assert_int_equal(count_reset(CPU), 0);
	check_key(KEY(host_hcall, CALL), 0, 0, 0, 0);
	hypercall();
	check_key(KEY(host_hcall, CALL), 1, 1, 100, 300);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_HVC), 1, 1, 107, 309);
}

/* Without the pages of the counters, too, the host can end it. */
static void the_end_needs_no_pages(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, 0, 0), 0);
	count_pages_free(&pages);
	assert_int_equal(pmu(hyptrace_pmu_counter(0, 2, HYPTRACE_PMU_INST_RETIRED)), -ENODATA);
	assert_int_equal(pmu(HYPTRACE_PMU_NONE), 0);
	assert_int_equal(env_rings[CPU].counting.pmu.measured, 0);
	count_pages_give(&pages, CPU, 0);
}

static void a_cpu_that_was_off_measures_nothing(void **state)
{
	(void)state;
	hypercall();
	hyptrace_cpu_off();
	assert_int_equal(pmu(hyptrace_pmu_counter(0, 2, HYPTRACE_PMU_INST_RETIRED)), -EBUSY);
	assert_int_equal(pmu(HYPTRACE_PMU_NONE), 0);
	hyptrace_cpu_on();
	hypercall();
	check_key(KEY(host_hcall, CALL), 2, 1, 100, 300);
}

/* A CPU may have a counter of instructions beside that of cycles. It counts nothing else. */
static void a_counter_of_instructions(void **state)
{
	const u64 what = hyptrace_pmu_counter(1, HYPTRACE_PMU_INSTRUCTIONS,
					      HYPTRACE_PMU_INST_RETIRED);

	(void)state;
	hyptrace_host_pmu.enabled = ~0ULL;
	hyptrace_host_pmu.types[HYPTRACE_PMU_INSTRUCTIONS] = BIT(27);
	assert_int_equal(pmu(what), -EINVAL);
	hyptrace_host_pmu.has_instructions = true;
	assert_int_equal(pmu(hyptrace_pmu_counter(1, HYPTRACE_PMU_INSTRUCTIONS, 0)), -EINVAL);
	assert_int_equal(pmu(what), 0);
	assert_int_equal(hyptrace_this_ring()->counting.pmu.events[1], HYPTRACE_PMU_INST_RETIRED);
	hyptrace_host_pmu.values[HYPTRACE_PMU_INSTRUCTIONS] = 5;
	{
		hyptrace_host_call(CALL, false, regs);
		/* It has 64 bits. */
		hyptrace_host_pmu.values[HYPTRACE_PMU_INSTRUCTIONS] += BIT_ULL(40);
	}
	hyptrace_host_exit();
	check_key(KEY(host_hcall, CALL), 1, 1, 0, BIT_ULL(40));
}

static void refusals_change_nothing(void **state)
{
	u32 place;

	(void)state;
	hyptrace_host_pmu.enabled = ~BIT_ULL(3);
	/* no such counter, not of that event, not enabled, no such place, none left */
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 6, 0)), -EINVAL);
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 30, 0)), -EINVAL);
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 32, 8)), -EINVAL);
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 255, 0)), -EINVAL);
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 2, 3)), -EINVAL);
	assert_int_equal(pmu(hyptrace_pmu_counter(2, HYPTRACE_PMU_CYCLES, 8)), -EINVAL);
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 3, 0)), -EINVAL);
	assert_int_equal(pmu(hyptrace_pmu_counter(3, 2, HYPTRACE_PMU_INST_RETIRED)), -EINVAL);
	assert_int_equal(pmu(hyptrace_pmu_counter(4, 2, HYPTRACE_PMU_INST_RETIRED)), -EINVAL);
	assert_int_equal(pmu(1ULL << 32), -EINVAL);
	assert_int_equal(pmu(hyptrace_pmu_counter(1, HYPTRACE_PMU_CYCLES,
						  HYPTRACE_PMU_CPU_CYCLES) | 1ULL << 32), -EINVAL);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_PMU, 0, HYPTRACE_PMU_NONE, 0), -EBUSY);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_PMU, 1ULL << 40, HYPTRACE_PMU_NONE, 0), -ENXIO);
	hypercall();
	check_key(KEY(host_hcall, CALL), 1, 1, 100, 300);
	hyptrace_host_pmu.types[5] = 0x1b;
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 5, 0x1a)), -EINVAL);
	hyptrace_host_pmu.nr = 31;
	hyptrace_host_pmu.types[30] = 0x1b;
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 30, 0x1b)), -EINVAL);
	hyptrace_host_pmu.mdcr |= BIT(7);
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 30, 0x1b)), 0);
	hyptrace_host_pmu.types[0] = 0x1b;
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 0, 0x1b)), 0);
	for (place = 2; place < HYPTRACE_PMU_COUNTERS; place++)
		assert_int_equal(pmu(hyptrace_pmu_counter(place, 5, 0x1b)), 0);
	assert_int_equal(pmu(hyptrace_pmu_counter(place, 5, 0x1b)), -EINVAL);
	hyptrace_host_pmu.nr = -1;
	assert_int_equal(pmu(hyptrace_pmu_counter(2, 2, HYPTRACE_PMU_INST_RETIRED)), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums_are_those_of_the_events, start_pmu, stop),
		cmocka_unit_test_setup_teardown(events_come_before_that_which_is_measured,
						start_pmu, stop),
		cmocka_unit_test_setup_teardown(filters_change_only_what_is_recorded, start_pmu,
						stop),
		cmocka_unit_test_setup_teardown(runs_of_guests, start_pmu, stop),
		cmocka_unit_test_setup_teardown(a_run_without_a_pmu, start, stop),
		cmocka_unit_test_setup_teardown(what_stands_still_during_a_run_is_not_measured,
						start_pmu, stop),
		cmocka_unit_test_setup_teardown(what_is_stopped_is_not_measured, start_pmu, stop),
		cmocka_unit_test_setup_teardown(guest_enter_stays_barred, start_pmu, stop),
		cmocka_unit_test_setup_teardown(the_first_key_is_measured, start_pmu, stop),
		cmocka_unit_test_setup_teardown(counters_of_events_may_wrap, start_pmu, stop),
		cmocka_unit_test_setup_teardown(what_is_not_measured_is_not_recorded, start_pmu,
						stop),
		cmocka_unit_test_setup_teardown(what_counts_something_else_is_not_measured,
						start_pmu, stop),
		cmocka_unit_test_setup_teardown(a_counter_of_instructions, start_pmu, stop),
		cmocka_unit_test_setup_teardown(the_end_keeps_the_sums, start_pmu, stop),
		cmocka_unit_test_setup_teardown(a_reset_is_of_these_too, start_pmu, stop),
		cmocka_unit_test_setup_teardown(the_end_needs_no_pages, start_pmu, stop),
		cmocka_unit_test_setup_teardown(a_cpu_that_was_off_measures_nothing, start_pmu,
						stop),
		cmocka_unit_test_setup_teardown(refusals_change_nothing, start_pmu, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
