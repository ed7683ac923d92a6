// SPDX-License-Identifier: GPL-2.0-only
/*
 * How functions of EL2 nest: with each other and with calls, in one tick of the clock, in visits
 * that are broken or lost, and what their own times are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "nest_case.h"

enum { HANDLE_HCALL, HANDLE_SHARE, OUTER, INNER, LEAF, PSCI_HANDLER };

#define ALL_KINDS	(HYPTRACE_VISIT_KINDS | HYPTRACE_FUNCTION_KINDS)

/* A function, from @begin to @end, is recorded at @ts. */
#define FUNC_OF(ts, id_, depth_, begin, end, is_counted)		\
	add(0, ts, "func", &(struct entry_func){ .id = id_, .depth = depth_,	\
	    .duration = (end) - (begin), .ago = (ts) - (end) }, is_counted, 0)
#define FUNC(ts, id, depth, begin, end)	FUNC_OF(ts, id, depth, begin, end, true)

static void functions_in_a_visit(void **state)
{
	(void)state;
	begin_nest(ALL_KINDS);
	PUT(100, 0, hyp_enter, .reason = 1);
	PUT(180, 0, host_hcall, .id = 7, .duration = 70);
	FUNC(190, LEAF, 3, 130, 140);
	FUNC(190, INNER, 2, 120, 150);
	FUNC(190, INNER, 2, 150, 160);
	FUNC(190, HANDLE_SHARE, 1, 115, 170);
	EXPECT_WAIT();
	FUNC(190, HANDLE_HCALL, 0, 105, 185);
	PUT(200, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;handle_host_hcall;__seven;handle___share;inner;leaf", 10);
	expect_stack("el2;hvc;handle_host_hcall;__seven;handle___share;inner", 20);
	expect_stack("el2;hvc;handle_host_hcall;__seven;handle___share;inner", 10);
	expect_stack("el2;hvc;handle_host_hcall;__seven;handle___share", 15);
	expect_stack("el2;hvc;handle_host_hcall;__seven", 15);
	expect_stack("el2;hvc;handle_host_hcall", 10);
	expect_stack("el2;hvc", 20);
	EXPECT_WAIT();
}

/* Nor do they take time of the others. */
static void functions_that_are_not_shown(void **state)
{
	(void)state;
	begin_nest(ALL_KINDS);
	PUT(100, 0, hyp_enter, .reason = 1);
	FUNC_OF(190, LEAF, 2, 120, 130, false);
	FUNC(190, INNER, 1, 115, 145);
	FUNC_OF(190, OUTER, 0, 110, 150, false);
	PUT(200, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;inner", 30);
	expect_stack("el2;hvc", 70);
	EXPECT_WAIT();
}

/* All happens in one tick: the depth, the order and the source tell what is in what. */
static void functions_in_a_tick(void **state)
{
	unsigned int depths[] = { 5, 5, 4, 3, 3, 2, 1, 0 }, i;

	(void)state;
	begin_nest(ALL_KINDS);
	PUT(100, 0, hyp_enter, .reason = 1);
	PUT(100, 0, host_hcall, .id = 7);
	FUNC(100, LEAF, 3, 100, 100);
	FUNC(100, LEAF, 3, 100, 100);
	FUNC(100, OUTER, 2, 100, 100);
	FUNC(100, LEAF, 2, 100, 100);
	FUNC(100, HANDLE_SHARE, 1, 100, 100);
	FUNC(100, HANDLE_HCALL, 0, 100, 100);
	PUT(100, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;handle_host_hcall;__seven;handle___share;outer;leaf", 0);
	expect_stack("el2;hvc;handle_host_hcall;__seven;handle___share;outer;leaf", 0);
	expect_stack("el2;hvc;handle_host_hcall;__seven;handle___share;outer", 0);
	expect_stack("el2;hvc;handle_host_hcall;__seven;handle___share;leaf", 0);
	expect_stack("el2;hvc;handle_host_hcall;__seven;handle___share", 0);
	expect_stack("el2;hvc;handle_host_hcall;__seven", 0);
	expect_stack("el2;hvc;handle_host_hcall", 0);
	expect_stack("el2;hvc", 0);

	begin_nest(ALL_KINDS);
	PUT(100, 0, hyp_enter, .reason = 0);
	PUT(100, 0, psci_call, .func = 0x84000000);
	PUT(100, 0, host_smc, .id = 0x84000000);
	FUNC(100, PSCI_HANDLER, 0, 100, 100);
	PUT(100, 0, hyp_exit, .reason = 6);
	expect_stack("el2;smc;PSCI_VERSION;kvm_host_psci_handler;PSCI_VERSION", 0);
	expect_stack("el2;smc;PSCI_VERSION;kvm_host_psci_handler", 0);
	expect_stack("el2;smc;PSCI_VERSION", 0);
	expect_stack("el2;smc", 0);

	begin_nest(HYPTRACE_FUNCTION_KINDS);
	for (i = 0; i < COUNT(depths); i++)
		FUNC(100, i & 1 ? LEAF : INNER, depths[i], 100, 100);
	PUT(100, 0, hyp_exit, .reason = 6);
	for (i = 0; i < COUNT(depths); i++)
		assert_int_equal(hyptrace_nest_next(nest, 0)->depth, depths[i]);
	EXPECT_WAIT();
}

/* Times are rounded: each function is in the one that has called it, and the times add up. */
static void functions_with_rounded_times(void **state)
{
	const struct hyptrace_span *span;
	uint64_t sum = 0;

	(void)state;
	begin_nest(HYPTRACE_FUNCTION_KINDS);
	FUNC(200, LEAF, 2, 99, 116);
	FUNC(200, LEAF, 2, 115, 132);
	FUNC(200, INNER, 1, 101, 131);
	FUNC(200, LEAF, 1, 130, 133);
	FUNC(200, LEAF, 1, 133, 134);
	FUNC(200, OUTER, 0, 100, 132);
	PUT(201, 0, hyp_exit, .reason = 6);
	while ((span = hyptrace_nest_next(nest, 0))) {
		sum += span->own;
		assert_true(span->begin <= span->end);
		if (!span->parent)
			continue;
		assert_true(span->begin >= span->parent->begin);
		assert_true(span->end <= span->parent->end);
	}
	assert_int_equal(sum, 32);
}

/* So a function is in a call, too, that it begins before or ends after, by three at most. */
static void functions_around_a_call(void **state)
{
	(void)state;
	begin_nest(ALL_KINDS);
	PUT(100, 0, hyp_enter, .reason = 1);
	PUT(130, 0, host_hcall, .id = 7, .duration = 20);
	FUNC(190, LEAF, 0, 107, 112);
	FUNC(190, LEAF, 0, 112, 133);
	PUT(200, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;__seven;leaf", 2);
	expect_stack("el2;hvc;__seven;leaf", 18);
	expect_stack("el2;hvc;__seven", 0);
	expect_stack("el2;hvc", 80);
	PUT(300, 0, hyp_enter, .reason = 1);
	PUT(330, 0, host_hcall, .id = 7, .duration = 20);
	FUNC(390, LEAF, 0, 306, 309);
	FUNC(390, LEAF, 0, 331, 334);
	PUT(400, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;leaf", 3);
	expect_stack("el2;hvc;__seven", 20);
	expect_stack("el2;hvc;leaf", 3);
	expect_stack("el2;hvc", 74);
}

static void calls_in_functions(void **state)
{
	(void)state;
	begin_nest(ALL_KINDS);
	PUT(100, 0, hyp_enter, .reason = 0);
	PUT(150, 0, psci_call, .func = 0x84000000, .duration = 20);
	PUT(180, 0, host_smc, .id = 0x84000000, .duration = 60);
	FUNC(190, INNER, 1, 132, 148);
	FUNC(190, PSCI_HANDLER, 0, 130, 150);
	FUNC(190, LEAF, 0, 160, 170);
	PUT(200, 0, hyp_exit, .reason = 6);
	expect_stack("el2;smc;PSCI_VERSION;kvm_host_psci_handler;PSCI_VERSION;inner", 16);
	expect_stack("el2;smc;PSCI_VERSION;kvm_host_psci_handler;PSCI_VERSION", 4);
	expect_stack("el2;smc;PSCI_VERSION;kvm_host_psci_handler", 0);
	expect_stack("el2;smc;PSCI_VERSION;leaf", 10);
	expect_stack("el2;smc;PSCI_VERSION", 30);
	expect_stack("el2;smc", 40);
}

/* Of calls in a visit, times tell which one is in which: times of calls are not rounded. */
static void calls_of_a_visit(void **state)
{
	(void)state;
	begin_nest(ALL_KINDS);
	PUT(100, 0, hyp_enter, .reason = 1);
	PUT(112, 0, host_hcall, .id = 7, .duration = 2);
	/* whatever their kinds are */
	PUT(120, 0, psci_call, .func = 0x84000000, .duration = 8);
	PUT(130, 0, host_hcall, .id = 7, .duration = 18);
	FUNC(140, LEAF, 0, 135, 138);
	PUT(150, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;__seven", 2);
	expect_stack("el2;hvc;__seven;PSCI_VERSION", 8);
	expect_stack("el2;hvc;__seven", 10);
	expect_stack("el2;hvc;leaf", 3);
	expect_stack("el2;hvc", 27);
}

/* In no visit, their kinds tell that, too: a hypercall is in no other one, even in one tick. */
static void calls_of_no_visit(void **state)
{
	(void)state;
	begin_nest(HYPTRACE_CALL_KINDS | HYPTRACE_FUNCTION_KINDS);
	FUNC(105, LEAF, 1, 100, 105);
	PUT(110, 0, host_hcall, .id = 7);
	PUT(110, 0, host_hcall, .id = 7);
	PUT(111, 0, psci_call, .func = 0x84000000);
	PUT(114, 0, host_smc, .id = 0x84000000, .duration = 3);
	FUNC(120, OUTER, 0, 100, 120);
	PUT(130, 0, hyp_exit, .reason = 6);
	expect_stack("el2;outer;leaf", 5);
	expect_stack("el2;outer;__seven", 0);
	expect_stack("el2;outer;__seven", 0);
	expect_stack("el2;outer;PSCI_VERSION;PSCI_VERSION", 0);
	expect_stack("el2;outer;PSCI_VERSION", 3);
	expect_stack("el2;outer", 12);
	/* no function follows the next event */
	PUT(200, 0, host_hcall, .id = 7, .duration = 10);
	EXPECT_WAIT();
	PUT(300, 0, host_hcall, .id = 7, .duration = 20);
	expect_stack("el2;__seven", 10);
	PUT(400, 0, guest_exit, .code = 2, .ec = 0x24, .handle = 16, .duration = 10);
	expect_stack("el2;__seven", 20);
	/* nor an event that is no call; the guest ran in a hypercall */
	PUT(410, 0, mem_transition, .op = 1);
	EXPECT_WAIT();
	PUT(420, 0, host_hcall, .id = 7, .duration = 40);
	PUT(430, 0, mem_transition, .op = 1);
	expect_stack("guest;VM 0x10;vCPU 0;DABT_LOW", 10);
	expect_stack("el2;__seven", 30);
	EXPECT_WAIT();
}

/* The time of a visit before is not known any more. */
static void functions_of_two_visits(void **state)
{
	(void)state;
	begin_nest(ALL_KINDS);
	PUT(100, 0, hyp_enter, .reason = 1);
	PUT(110, 0, hyp_exit, .reason = 7);
	expect_stack("el2;hvc;eret_guest", 10);
	PUT(1000, 0, hyp_enter, .reason = 5);
	PUT(1030, 0, guest_exit, .code = 2, .ec = 0x24, .handle = 16, .index = 2, .duration = 925);
	FUNC(1040, LEAF, 1, 101, 105);
	FUNC(1040, INNER, 1, 104, 1031);
	FUNC(1040, OUTER, 0, 100, 1035);
	PUT(1050, 0, hyp_exit, .reason = 6);
	expect_stack("guest;VM 0x10;vCPU 2;DABT_LOW", 890);
	expect_stack("el2;guest_exit;DABT_LOW;outer;leaf", 0);
	expect_stack("el2;guest_exit;DABT_LOW;outer;inner", 31);
	expect_stack("el2;guest_exit;DABT_LOW;outer", 4);
	expect_stack("el2;guest_exit;DABT_LOW", 15);
}

/* A caller may be missing: its functions are in no other one. */
static void functions_without_callers(void **state)
{
	(void)state;
	begin_nest(HYPTRACE_FUNCTION_KINDS);
	FUNC(200, LEAF, 1, 100, 110);
	lose(0, 210, 1);
	/* another visit, or another caller at least */
	FUNC(300, INNER, 1, 220, 230);
	FUNC(300, OUTER, 0, 215, 240);
	/* the one that has called it is filtered */
	FUNC(300, INNER, 2, 250, 255);
	FUNC(300, LEAF, 1, 260, 270);
	FUNC(300, OUTER, 0, 260, 280);
	expect_stack("el2;leaf", 10);
	assert_int_equal(hyptrace_nest_next(nest, 0)->kind, HYPTRACE_KIND_LOSS);
	EXPECT_WAIT();
	/* the next visit, though neither hyp_enter nor hyp_exit is recorded */
	FUNC(400, OUTER, 0, 310, 320);
	expect_stack("el2;outer;inner", 10);
	expect_stack("el2;outer", 15);
	expect_stack("el2;inner", 5);
	expect_stack("el2;outer;leaf", 10);
	expect_stack("el2;outer", 10);
	EXPECT_WAIT();
	hyptrace_nest_end(nest);
	expect_stack("el2;outer", 10);
}

/* EL2 records functions before their caller returns if there are many. It may run a guest then. */
static void functions_in_several_parts(void **state)
{
	(void)state;
	begin_nest(HYPTRACE_FUNCTION_KINDS);
	FUNC(200, LEAF, 1, 100, 110);
	PUT(210, 0, mem_transition, .op = 1);
	PUT(220, 0, hyp_exit, .reason = 7);
	PUT(230, 0, hyp_enter, .reason = 5);
	PUT(240, 0, hyp_exit, .reason = 0);
	PUT(250, 0, hyp_enter, .reason = 0);
	EXPECT_WAIT();
	FUNC(300, INNER, 1, 260, 270);
	FUNC(300, OUTER, 0, 90, 280);
	PUT(310, 0, hyp_exit, .reason = 6);
	expect_stack("el2;outer;leaf", 10);
	expect_stack("el2;outer;inner", 10);
	expect_stack("el2;outer", 170);
	/* any other exit ends the visit, though their caller is not recorded */
	FUNC(400, LEAF, 1, 350, 360);
	EXPECT_WAIT();
	PUT(410, 0, hyp_exit, .reason = 6);
	expect_stack("el2;leaf", 10);
}

static void functions_of_broken_visits(void **state)
{
	(void)state;
	begin_nest(ALL_KINDS);
	/* a hyp_exit is missing */
	PUT(100, 0, hyp_enter, .reason = 1);
	FUNC(150, INNER, 1, 110, 120);
	PUT(200, 0, hyp_enter, .reason = 1);
	FUNC(250, OUTER, 0, 205, 220);
	PUT(260, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;outer", 15);
	expect_stack("el2;hvc", 45);
	/* after a loss, the function that has called it is not waited for */
	PUT(300, 0, hyp_enter, .reason = 1);
	FUNC(350, INNER, 1, 310, 320);
	lose(0, 360, 1);
	PUT(370, 0, host_hcall, .id = 7, .duration = 10);
	PUT(380, 0, mem_transition, .op = 1);
	assert_int_equal(hyptrace_nest_next(nest, 0)->kind, HYPTRACE_KIND_LOSS);
	expect_stack("el2;__seven", 10);
	/* in no visit, too */
	FUNC(450, INNER, 1, 410, 420);
	lose(0, 460, 1);
	PUT(470, 0, host_hcall, .id = 7, .duration = 10);
	PUT(480, 0, mem_transition, .op = 1);
	expect_stack("el2;inner", 10);
	assert_int_equal(hyptrace_nest_next(nest, 0)->kind, HYPTRACE_KIND_LOSS);
	expect_stack("el2;__seven", 10);
	/* the begin of the trace: hyp_enter is missing */
	begin_nest(ALL_KINDS);
	PUT(140, 0, host_hcall, .id = 7, .duration = 30);
	EXPECT_WAIT();
	FUNC(150, HANDLE_SHARE, 0, 115, 120);
	PUT(160, 0, hyp_exit, .reason = 6);
	expect_stack("el2;__seven;handle___share", 5);
	expect_stack("el2;__seven", 25);
	PUT(190, 0, host_hcall, .id = 7, .duration = 10);
	PUT(200, 0, hyp_enter, .reason = 1);
	expect_stack("el2;__seven", 10);
	/* a function that waits for its caller, which may not be recorded either */
	begin_nest(ALL_KINDS);
	PUT(140, 0, host_hcall, .id = 7, .duration = 30);
	FUNC(150, HANDLE_SHARE, 1, 115, 120);
	EXPECT_WAIT();
	PUT(200, 0, hyp_enter, .reason = 1);
	expect_stack("el2;__seven;handle___share", 5);
	expect_stack("el2;__seven", 25);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, describe_and_begin, end_nest)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions_in_a_visit),
		TEST(functions_that_are_not_shown),
		TEST(functions_in_a_tick),
		TEST(functions_with_rounded_times),
		TEST(functions_around_a_call),
		TEST(calls_in_functions),
		TEST(calls_of_a_visit),
		TEST(calls_of_no_visit),
		TEST(functions_of_two_visits),
		TEST(functions_without_callers),
		TEST(functions_in_several_parts),
		TEST(functions_of_broken_visits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
