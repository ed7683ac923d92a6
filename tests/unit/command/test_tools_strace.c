// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: how deep calls are, in which order they come, results, and the summary.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../../tools/hyptrace/view/calls/strace_nest.h"
#include "../../tools/hyptrace/view/calls/strace_summary.h"
#include "sentence_case.h"

#define BIT(kind)	(1U << STRACE_##kind)

/* All kinds are recorded */
static const uint32_t all_parents[NR_STRACE_KINDS] = {
	[STRACE_PSCI] = BIT(SMC),
	[STRACE_FFA] = BIT(SMC),
	[STRACE_EXIT] = BIT(HCALL),
	[STRACE_FIXUP] = BIT(HCALL) | BIT(EXIT),
};

static struct strace_nest *nest;

static int end_nest(void **state)
{
	(void)state;
	strace_nest_free(nest);
	nest = NULL;
	return 0;
}

/* A call of CPU @cpu from @begin to @end has come at @now. Its number is @end. */
static void call_at(enum strace_kind kind, unsigned int cpu, uint64_t begin, uint64_t end,
		    bool is_shown, uint64_t now)
{
	const struct strace_call call = {
		.kind = kind,
		.cpu = cpu,
		.ts = end,
		.duration = end - begin,
		.number = end,
	};

	strace_nest_call(nest, &call, is_shown, now);
}

#define CALL(kind, cpu, begin, end)	call_at(STRACE_##kind, cpu, begin, end, true, 1)

static void expect_next(uint64_t number, unsigned int depth, uint64_t until)
{
	const struct strace_item *item = strace_nest_next(nest, until);

	if (!item)
		fail_msg("call %lu waits", (unsigned long)number);
	assert_false(item->is_loss);
	assert_int_equal(item->call.number, number);
	if (item->call.depth != depth)
		fail_msg("call %lu has the depth %u", (unsigned long)number, item->call.depth);
}

#define EXPECT_NEXT(number, depth)	expect_next(number, depth, 0)
#define EXPECT_WAIT()			assert_null(strace_nest_next(nest, 0))

static void guest_in_a_hypercall(void **state)
{
	(void)state;
	nest = strace_nest_new(all_parents);
	CALL(FIXUP, 0, 110, 120);
	CALL(FIXUP, 0, 130, 140);
	EXPECT_WAIT();
	CALL(EXIT, 0, 105, 150);
	EXPECT_WAIT();
	CALL(HCALL, 0, 100, 160);
	EXPECT_NEXT(120, 2);
	EXPECT_NEXT(140, 2);
	EXPECT_NEXT(150, 1);
	EXPECT_NEXT(160, 0);
	EXPECT_WAIT();
}

static void firmware(void **state)
{
	(void)state;
	nest = strace_nest_new(all_parents);
	/* CPU_ON is recorded before EL2 calls the firmware, without a duration */
	CALL(PSCI, 0, 110, 110);
	CALL(SMC, 0, 100, 150);
	CALL(FFA, 0, 210, 210);
	CALL(SMC, 0, 200, 250);
	/* CPU_OFF has no SMC: the next one began later */
	CALL(PSCI, 0, 260, 260);
	CALL(SMC, 0, 300, 350);
	EXPECT_NEXT(110, 1);
	EXPECT_NEXT(150, 0);
	EXPECT_NEXT(210, 1);
	EXPECT_NEXT(250, 0);
	EXPECT_NEXT(260, 0);
	EXPECT_NEXT(350, 0);
}

/* Clocks have coarse ticks: a call may end when the next one begins, or take no time. */
static void same_tick(void **state)
{
	(void)state;
	nest = strace_nest_new(all_parents);
	CALL(HCALL, 0, 100, 100);
	CALL(HCALL, 0, 100, 100);
	CALL(SMC, 0, 100, 110);
	/* the guest exits in the tick in which the hypercall began */
	CALL(EXIT, 0, 110, 110);
	CALL(HCALL, 0, 110, 110);
	/* an SMC does not have an exit inside, nor a hypercall a PSCI call */
	CALL(EXIT, 0, 120, 130);
	CALL(SMC, 0, 110, 140);
	CALL(PSCI, 0, 150, 150);
	CALL(HCALL, 0, 140, 160);
	EXPECT_NEXT(100, 0);
	EXPECT_NEXT(100, 0);
	EXPECT_NEXT(110, 0);
	EXPECT_NEXT(110, 1);
	EXPECT_NEXT(110, 0);
	EXPECT_NEXT(130, 0);
	EXPECT_NEXT(140, 0);
	EXPECT_NEXT(150, 0);
	EXPECT_NEXT(160, 0);
}

static void cpus_are_apart(void **state)
{
	(void)state;
	nest = strace_nest_new(all_parents);
	CALL(EXIT, 0, 110, 120);
	CALL(HCALL, 7, 100, 130);
	/* the order is that of their end: that of CPU 7 waits behind the one of CPU 0 */
	EXPECT_WAIT();
	CALL(HCALL, 0, 100, 140);
	EXPECT_NEXT(120, 1);
	EXPECT_NEXT(130, 0);
	EXPECT_NEXT(140, 0);
}

static void calls_that_are_not_shown(void **state)
{
	(void)state;
	nest = strace_nest_new(all_parents);
	CALL(FIXUP, 0, 110, 120);
	call_at(STRACE_EXIT, 0, 105, 130, false, 1);
	EXPECT_WAIT();
	call_at(STRACE_HCALL, 0, 100, 140, false, 1);
	/* they do not count */
	EXPECT_NEXT(120, 0);
	EXPECT_WAIT();
}

static void kinds_that_are_not_recorded(void **state)
{
	const uint32_t parents[NR_STRACE_KINDS] = { [STRACE_FIXUP] = BIT(EXIT) };

	(void)state;
	nest = strace_nest_new(parents);
	CALL(EXIT, 0, 110, 120);
	EXPECT_NEXT(120, 0);
	CALL(PSCI, 0, 130, 140);
	EXPECT_NEXT(140, 0);
	CALL(FIXUP, 0, 150, 160);
	EXPECT_WAIT();
	CALL(EXIT, 0, 145, 170);
	EXPECT_NEXT(160, 1);
	EXPECT_NEXT(170, 0);
}

/* A guest may run for long: its calls are printed before the hypercall ends. */
static void bounded_wait(void **state)
{
	uint64_t since;

	(void)state;
	nest = strace_nest_new(all_parents);
	assert_false(strace_nest_waits(nest, &since));
	call_at(STRACE_FIXUP, 0, 110, 120, true, 1000);
	call_at(STRACE_PSCI, 1, 110, 121, true, 1001);
	assert_true(strace_nest_waits(nest, &since));
	assert_int_equal(since, 1000);
	assert_null(strace_nest_next(nest, 999));
	expect_next(120, 2, 1000);
	assert_null(strace_nest_next(nest, 1000));
	expect_next(121, 1, 1001);
	/* the rest of the run is as deep as it is */
	call_at(STRACE_FIXUP, 0, 130, 140, true, 1002);
	call_at(STRACE_EXIT, 0, 105, 150, true, 1003);
	call_at(STRACE_HCALL, 0, 100, 160, true, 1004);
	expect_next(140, 2, 0);
	expect_next(150, 1, 0);
	expect_next(160, 0, 0);
}

static void bounded_memory(void **state)
{
	unsigned int i;

	(void)state;
	nest = strace_nest_new(all_parents);
	for (i = 1; i < STRACE_NEST_MAX; i++)
		CALL(EXIT, 0, 10 * i, 10 * i + 1);
	EXPECT_WAIT();
	CALL(EXIT, 0, 10 * i, 10 * i + 1);
	EXPECT_NEXT(11, 1);
	EXPECT_WAIT();
	CALL(HCALL, 0, 0, 10 * i + 9);
	for (i = 2; i <= STRACE_NEST_MAX; i++)
		EXPECT_NEXT(10 * i + 1, 1);
	EXPECT_NEXT(10 * (i - 1) + 9, 0);
}

static void losses_keep_their_place(void **state)
{
	const struct strace_item *item;

	(void)state;
	nest = strace_nest_new(all_parents);
	CALL(EXIT, 0, 110, 120);
	strace_nest_loss(nest, 0, 130, 5, 1);
	EXPECT_WAIT();
	CALL(HCALL, 0, 100, 140);
	EXPECT_NEXT(120, 1);
	item = strace_nest_next(nest, 0);
	assert_non_null(item);
	assert_true(item->is_loss);
	assert_int_equal(item->lost, 5);
	assert_int_equal(item->call.cpu, 0);
	assert_int_equal(item->call.ts, 130);
	EXPECT_NEXT(140, 0);
}

static void the_end(void **state)
{
	(void)state;
	nest = strace_nest_new(all_parents);
	CALL(FIXUP, 0, 110, 120);
	CALL(EXIT, 0, 100, 130);
	EXPECT_WAIT();
	strace_nest_end(nest);
	EXPECT_NEXT(120, 1);
	EXPECT_NEXT(130, 0);
	EXPECT_WAIT();
}

/* The summary */

static void add(struct strace_summary *summary, enum strace_kind kind, const char *name,
		uint64_t number, uint64_t duration, unsigned int depth, bool has_failed)
{
	const struct strace_call call = {
		.kind = kind, .name = name, .number = number, .duration = duration, .depth = depth,
	};

	strace_summary_add(summary, &call, has_failed);
}

static void sums(void **state)
{
	struct strace_summary summary = {};
	char name[] = "same";

	(void)state;
	add(&summary, STRACE_HCALL, "same", 1, 10, 0, false);
	add(&summary, STRACE_HCALL, "long", 2, 100, 0, true);
	add(&summary, STRACE_HCALL, name, 1, 20, 0, true);
	add(&summary, STRACE_SMC, "same", 1, 5, 0, false);
	add(&summary, STRACE_EXIT, "trap", 0, 50, 1, false);
	add(&summary, STRACE_HCALL, NULL, 7, 1, 0, true);
	add(&summary, STRACE_HCALL, NULL, 8, 1, 0, false);
	add(&summary, STRACE_HCALL, NULL, 8, 1, 0, false);
	strace_summary_sort(&summary);
	assert_int_equal(summary.nr, 6);
	/* without the exit, which is in a hypercall */
	assert_int_equal(summary.outer, 138);
	assert_string_equal(summary.sums[0].name, "long");
	assert_string_equal(summary.sums[1].name, "trap");
	assert_string_equal(summary.sums[2].name, "same");
	assert_int_equal(summary.sums[2].calls, 2);
	assert_int_equal(summary.sums[2].errors, 1);
	assert_int_equal(summary.sums[2].total, 30);
	assert_int_equal(summary.sums[3].kind, STRACE_SMC);
	assert_int_equal(summary.sums[4].number, 8);
	assert_int_equal(summary.sums[4].calls, 2);
	assert_int_equal(summary.sums[5].number, 7);
	assert_int_equal(summary.sums[5].errors, 1);
	strace_summary_free(&summary);
}

/* Names, results and errors of events */

static struct strace_events calls;

static struct strace_call read_call(const char *event, const void *payload)
{
	struct hyptrace_record rec = record_of(event, payload, event_of(event)->size);
	struct strace_call call;

	strace_events_init(&calls, event_list(events, NR_EVENTS), NR_EVENTS, formats, NULL, 0);
	rec.ts = 123;
	assert_true(strace_call_read(&calls, 3, &rec, &call));
	free((void *)rec.data);
	assert_string_equal(strace_kind_event(call.kind), event);
	assert_int_equal(call.cpu, 3);
	assert_int_equal(call.ts, 123);
	return call;
}

#define READ(event, ...) \
	read_call(#event, &(struct entry_##event){ __VA_ARGS__ })

static void expect_call(struct strace_call call, const char *name, bool has_result,
			const char *error)
{
	const char *is = strace_call_error(&calls, &call);
	char number[STRACE_NUMBER_SIZE];
	uint64_t value;

	assert_string_equal(strace_call_name(&call, number), name);
	assert_int_equal(strace_call_result(&calls, &call, &value), has_result);
	if (!error)
		assert_null(is);
	else
		assert_string_equal(is ? is : "none", error);
}

static void results(void **state)
{
	(void)state;
	expect_call(READ(host_hcall, .id = 7, .ret = -1), "__seven", true, "-EPERM");
	expect_call(READ(host_hcall, .id = 7, .ret = 1), "__seven", true, NULL);
	expect_call(READ(host_hcall, .id = 8, .ret = -1, .invalid = 1), "0x8", false, "invalid");
	expect_call(READ(host_smc, .id = 0x80000000, .ret = 0x10002), "SMCCC_VERSION", true, NULL);
	expect_call(READ(host_smc, .id = 0x84000000, .ret = 0xffffffff), "PSCI_VERSION", true,
		    "NOT_SUPPORTED");
	/* FF-A answers with another call */
	expect_call(READ(host_smc, .id = 0x84000063, .ret = 0x84000060), "FFA_VERSION", true,
		    "FFA_ERROR");
	expect_call(READ(psci_call, .func = 0xc4000003, .ret = -2), "PSCI_CPU_ON_64", true,
		    "INVALID_PARAMETERS");
	/* recorded before the firmware is called */
	expect_call(READ(psci_call, .func = 0xc4000003), "PSCI_CPU_ON_64", false, NULL);
	expect_call(READ(psci_call, .func = 0x84000000), "PSCI_VERSION", true, NULL);
	expect_call(READ(host_ffa_call, .func_id = 0x84000063, .handled = 1), "FFA_VERSION", false,
		    NULL);
	expect_call(READ(host_ffa_call, .func_id = 0x84000064, .handled = 1, .err = -6),
		    "FFA_FEATURES", true, "DENIED");
	expect_call(READ(host_ffa_call, .func_id = 0x84000064, .handled = 0, .err = -6),
		    "FFA_FEATURES", false, NULL);
	expect_call(READ(guest_exit, .code = 2, .ec = 0x24), "DABT_LOW", false, NULL);
	/* the class has no meaning */
	expect_call(READ(guest_exit, .code = 0, .ec = 0x24), "irq", false, NULL);
	expect_call(READ(guest_exit, .code = 77, .ec = 0x24), "0x4d", false, NULL);
	expect_call(READ(guest_fixup, .ec = 1), "WFx", false, NULL);
}

static void other_events(void **state)
{
	const struct entry_hyp_enter enter = { .reason = 1 };
	struct hyptrace_record rec = record_of("hyp_enter", &enter, sizeof(enter));
	const struct entry_host_hcall hcall = { .id = 1 };
	struct strace_call call;

	(void)state;
	strace_events_init(&calls, event_list(events, NR_EVENTS), NR_EVENTS, formats, NULL, 0);
	assert_false(strace_call_read(&calls, 0, &rec, &call));
	free((void *)rec.data);
	/* a file may have records that are too short */
	rec = record_of("host_hcall", &hcall, 8);
	assert_false(strace_call_read(&calls, 0, &rec, &call));
	free((void *)rec.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(guest_in_a_hypercall, end_nest),
		cmocka_unit_test_teardown(firmware, end_nest),
		cmocka_unit_test_teardown(same_tick, end_nest),
		cmocka_unit_test_teardown(cpus_are_apart, end_nest),
		cmocka_unit_test_teardown(calls_that_are_not_shown, end_nest),
		cmocka_unit_test_teardown(kinds_that_are_not_recorded, end_nest),
		cmocka_unit_test_teardown(bounded_wait, end_nest),
		cmocka_unit_test_teardown(bounded_memory, end_nest),
		cmocka_unit_test_teardown(losses_keep_their_place, end_nest),
		cmocka_unit_test_teardown(the_end, end_nest),
		cmocka_unit_test(sums),
		cmocka_unit_test_setup_teardown(results, describe_and_begin, free_formats),
		cmocka_unit_test_setup_teardown(other_events, describe_and_begin, free_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
