// SPDX-License-Identifier: GPL-2.0-only
/*
 * How calls, visits of EL2 and runs of guests nest: how deep they are, in which order they come,
 * what their own times are, and what a loss breaks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "nest_case.h"

/* A call of CPU @cpu from @begin to @end has come at @now. */
#define ADD(cpu, begin, end, is_counted, now, event) \
	add(cpu, end, #event, &(struct entry_##event){ .duration = (end) - (begin) }, is_counted, \
	    now)
#define HCALL	host_hcall
#define SMC	host_smc
#define PSCI	psci_call
#define EXIT	guest_exit
#define FIXUP	guest_fixup
#define CALL_AT(kind, cpu, begin, end, is_counted, now)	\
	CALL_OF(kind, cpu, begin, end, is_counted, now)
#define CALL_OF(event, cpu, begin, end, is_counted, now) \
	ADD(cpu, begin, end, is_counted, now, event)
#define CALL(kind, cpu, begin, end)	CALL_AT(kind, cpu, begin, end, true, 1)

/* Calls are told apart by their ends. */
static const struct hyptrace_span *expect_next(uint64_t end, unsigned int depth, uint64_t until)
{
	const struct hyptrace_span *span = hyptrace_nest_next(nest, until);

	if (!span)
		fail_msg("call %lu waits", (unsigned long)end);
	assert_int_not_equal(span->kind, HYPTRACE_KIND_LOSS);
	assert_int_equal(span->end, end);
	assert_int_equal(span->record.ts, end);
	if (span->depth != depth)
		fail_msg("call %lu has the depth %u", (unsigned long)end, span->depth);
	return span;
}

#define EXPECT_NEXT(end, depth)	expect_next(end, depth, 0)

/* Calls */

static void guest_in_a_hypercall(void **state)
{
	(void)state;
	begin_nest(HYPTRACE_CALL_KINDS);
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
	begin_nest(HYPTRACE_CALL_KINDS);
	/* CPU_ON is recorded before EL2 calls the firmware, without a duration */
	CALL(PSCI, 0, 110, 110);
	CALL(SMC, 0, 100, 150);
	PUT(210, 0, host_ffa_call, .func_id = 1);
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
	begin_nest(HYPTRACE_CALL_KINDS);
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

/* A clock begins with 0, and so does a call that has taken longer. */
static void before_the_clock(void **state)
{
	const struct hyptrace_span *span;

	(void)state;
	begin_nest(HYPTRACE_CALL_KINDS);
	CALL(EXIT, 0, -1, 100);
	CALL(HCALL, 0, -1, 110);
	span = EXPECT_NEXT(100, 1);
	assert_int_equal(span->begin, 0);
	assert_int_equal(span->own, 100);
	span = EXPECT_NEXT(110, 0);
	assert_int_equal(span->begin, 0);
	assert_int_equal(span->own, 10);
}

/* A payload may be longer than its event. The span of a long one has the first bytes of it. */
static void long_payloads(void **state)
{
	static const struct {
		uint32_t	event, payload, kept;
	} sizes[] = {
		{ sizeof(struct entry_host_hcall), 127, 127 },
		{ sizeof(struct entry_host_hcall), 1000, HYPTRACE_SPAN_PAYLOAD },
		{ HYPTRACE_SPAN_PAYLOAD, 128, 128 }, { HYPTRACE_SPAN_PAYLOAD, 132, 128 },
		/* no span */
		{ HYPTRACE_SPAN_PAYLOAD + 1, 132, 0 },
	};
	struct hyptrace_stream_event put = { .cpu = 0 };
	const struct hyptrace_span *span;
	char payload[1000];
	unsigned int i;

	memset(payload, 'x', sizeof(payload));
	for (i = 0; i < COUNT(sizes); i++) {
		end_nest(state);
		describe(state);
		event_of("host_hcall")->size = sizes[i].event;
		begin_formats();
		begin_nest(HYPTRACE_CALL_KINDS);
		put.record = record_of("host_hcall", payload, sizes[i].payload);
		assert_int_equal(hyptrace_nest_add(nest, &put, true, 1), 0);
		free((void *)put.record.data);
		span = hyptrace_nest_next(nest, 0);
		assert_int_equal(!!span, !!sizes[i].kept);
		if (!span)
			continue;
		assert_int_equal(span->record.size, sizes[i].kept);
		assert_memory_equal((const char *)span->record.data + 2, payload,
				    sizes[i].kept - 2);
	}
}

static void cpus_are_apart(void **state)
{
	(void)state;
	begin_nest(HYPTRACE_CALL_KINDS);
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
	begin_nest(HYPTRACE_CALL_KINDS);
	CALL(FIXUP, 0, 110, 120);
	CALL_AT(EXIT, 0, 105, 130, false, 1);
	EXPECT_WAIT();
	CALL_AT(HCALL, 0, 100, 140, false, 1);
	/* they do not count */
	EXPECT_NEXT(120, 0);
	EXPECT_WAIT();
}

static void kinds_that_are_not_recorded(void **state)
{
	(void)state;
	/* a PSCI call is wanted, but SMCs were not recorded, nor hypercalls */
	begin_nest(BIT(GUEST_FIXUP) | BIT(GUEST_EXIT) | BIT(PSCI));
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
	begin_nest(HYPTRACE_CALL_KINDS);
	assert_false(hyptrace_nest_waits(nest, &since));
	CALL_AT(FIXUP, 0, 110, 120, true, 1000);
	CALL_AT(PSCI, 1, 110, 121, true, 1001);
	assert_true(hyptrace_nest_waits(nest, &since));
	assert_int_equal(since, 1000);
	assert_null(hyptrace_nest_next(nest, 999));
	expect_next(120, 2, 1000);
	assert_null(hyptrace_nest_next(nest, 1000));
	expect_next(121, 1, 1001);
	/* the rest of the run is as deep as it is */
	CALL_AT(FIXUP, 0, 130, 140, true, 1002);
	CALL_AT(EXIT, 0, 105, 150, true, 1003);
	CALL_AT(HCALL, 0, 100, 160, true, 1004);
	expect_next(140, 2, 0);
	expect_next(150, 1, 0);
	expect_next(160, 0, 0);
}

static void bounded_memory(void **state)
{
	unsigned int i;

	(void)state;
	begin_nest(HYPTRACE_CALL_KINDS);
	for (i = 1; i < HYPTRACE_NEST_MAX; i++)
		CALL(EXIT, 0, 10 * i, 10 * i + 1);
	EXPECT_WAIT();
	CALL(EXIT, 0, 10 * i, 10 * i + 1);
	EXPECT_NEXT(11, 1);
	EXPECT_WAIT();
	CALL(HCALL, 0, 0, 10 * i + 9);
	for (i = 2; i <= HYPTRACE_NEST_MAX; i++)
		EXPECT_NEXT(10 * i + 1, 1);
	EXPECT_NEXT(10 * (i - 1) + 9, 0);
}

static void losses_keep_their_place(void **state)
{
	const struct hyptrace_span *span;

	(void)state;
	begin_nest(HYPTRACE_CALL_KINDS);
	CALL(EXIT, 3, 110, 120);
	lose(3, 130, 5);
	EXPECT_WAIT();
	CALL(HCALL, 3, 100, 140);
	EXPECT_NEXT(120, 1);
	span = hyptrace_nest_next(nest, 0);
	assert_non_null(span);
	assert_int_equal(span->kind, HYPTRACE_KIND_LOSS);
	assert_int_equal(span->lost, 5);
	assert_int_equal(span->cpu, 3);
	assert_int_equal(span->record.ts, 130);
	EXPECT_NEXT(140, 0);
}

static void the_end(void **state)
{
	(void)state;
	begin_nest(HYPTRACE_CALL_KINDS);
	CALL(FIXUP, 0, 110, 120);
	CALL(EXIT, 0, 100, 130);
	EXPECT_WAIT();
	hyptrace_nest_end(nest);
	EXPECT_NEXT(120, 1);
	EXPECT_NEXT(130, 0);
	EXPECT_WAIT();
}

/* Visits of EL2 */

static void calls_in_a_visit(void **state)
{
	(void)state;
	begin_nest(HYPTRACE_VISIT_KINDS);
	PUT(100, 0, hyp_enter, .reason = 0);
	PUT(150, 0, psci_call, .func = 0x84000000, .duration = 20);
	PUT(180, 0, host_smc, .id = 0x84000000, .duration = 60);
	PUT(190, 0, host_hcall, .id = 7, .duration = 5);
	EXPECT_WAIT();
	PUT(200, 0, hyp_exit, .reason = 6);
	expect_stack("el2;smc;PSCI_VERSION;PSCI_VERSION", 20);
	expect_stack("el2;smc;PSCI_VERSION", 40);
	expect_stack("el2;smc;__seven", 5);
	expect_stack("el2;smc", 35);
	EXPECT_WAIT();
}

static void a_guest_in_visits(void **state)
{
	(void)state;
	begin_nest(HYPTRACE_VISIT_KINDS);
	PUT(100, 1, hyp_enter, .reason = 1);
	PUT(110, 1, hyp_exit, .reason = 7);
	PUT(1000, 1, hyp_enter, .reason = 5);
	PUT(1020, 1, guest_fixup, .ec = 1, .duration = 10);
	PUT(1030, 1, guest_exit, .code = 2, .ec = 0x24, .handle = 16, .index = 2, .duration = 925);
	/* it began long before: only its time of this visit counts */
	PUT(1040, 1, host_hcall, .id = 7, .duration = 935);
	PUT(1050, 1, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;eret_guest", 10);
	expect_stack("el2;guest_exit;DABT_LOW;__seven;guest_fixup WFx", 10);
	expect_stack("guest;VM 0x10;vCPU 2;DABT_LOW", 890);
	expect_stack("el2;guest_exit;DABT_LOW;__seven", 30);
	expect_stack("el2;guest_exit;DABT_LOW", 10);
}

static void losses_break_visits(void **state)
{
	const struct hyptrace_span *span;

	(void)state;
	begin_nest(HYPTRACE_VISIT_KINDS);
	PUT(200, 0, hyp_enter, .reason = 1);
	PUT(250, 0, host_hcall, .id = 7, .duration = 5);
	lose(0, 300, 5);
	PUT(310, 0, hyp_exit, .reason = 7);
	/* the exit to the guest is in no visit that is known: what the guest ran is in the event */
	PUT(400, 0, hyp_enter, .reason = 99);
	PUT(410, 0, guest_exit, .code = 77, .handle = 1, .duration = 60);
	PUT(420, 0, hyp_exit, .reason = 6);
	span = hyptrace_nest_next(nest, 0);
	assert_non_null(span);
	assert_int_equal(span->kind, HYPTRACE_KIND_LOSS);
	assert_int_equal(span->lost, 5);
	expect_stack("guest;VM 0x1;vCPU 0;unknown", 50);
	expect_stack("el2;unknown;unknown", 20);
	/* a hyp_exit is missing */
	PUT(500, 0, hyp_enter, .reason = 1);
	PUT(510, 0, host_hcall, .id = 7, .duration = 5);
	PUT(520, 0, hyp_enter, .reason = 1);
	PUT(530, 0, host_hcall, .id = 7, .duration = 5);
	PUT(540, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;__seven", 5);
	expect_stack("el2;hvc", 15);
	/* a broken visit does not spoil the one before, which is still in the nest */
	PUT(550, 0, hyp_enter, .reason = 1);
	PUT(560, 0, hyp_exit, .reason = 6);
	PUT(600, 0, hyp_enter, .reason = 1);
	PUT(610, 0, host_hcall, .id = 7, .duration = 5);
	hyptrace_nest_end(nest);
	expect_stack("el2;hvc", 10);
	EXPECT_WAIT();
}

/* Without hyp_enter, calls have their own times, too. */
static void calls_without_visits(void **state)
{
	(void)state;
	begin_nest(HYPTRACE_VISIT_KINDS);
	PUT(1020, 1, guest_fixup, .ec = 1, .duration = 10);
	PUT(1030, 1, guest_exit, .code = 2, .ec = 0x24, .handle = 16, .index = 2, .duration = 925);
	PUT(1040, 1, host_hcall, .id = 7, .duration = 935);
	PUT(1100, 1, host_mem_abort, .esr = 0x96000000, .duration = 7);
	expect_stack("el2;__seven;guest_fixup WFx", 10);
	expect_stack("guest;VM 0x10;vCPU 2;DABT_LOW", 915);
	expect_stack("el2;__seven", 10);
	expect_stack("el2;host_mem_abort DABT_CUR", 7);
}

/* A visit whose end does not come must not hold up other CPUs forever. */
static void a_visit_without_end(void **state)
{
	unsigned int i;

	(void)state;
	begin_nest(HYPTRACE_VISIT_KINDS);
	PUT(100, 0, hyp_enter, .reason = 1);
	PUT(110, 0, psci_call, .func = 0x84000000, .duration = 5);
	PUT(120, 0, host_smc, .id = 0x84000000, .duration = 15);
	for (i = 0; i < HYPTRACE_NEST_MAX - 3; i++)
		PUT(100 + i, 1, host_hcall, .id = 7, .duration = 1);
	EXPECT_WAIT();
	PUT(100 + i, 1, host_hcall, .id = 7, .duration = 1);
	/* the PSCI call has left: the SMC has its time */
	EXPECT_WAIT();
	PUT(200, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc;PSCI_VERSION", 15);
	for (i = 0; i < HYPTRACE_NEST_MAX - 2; i++)
		expect_stack("el2;__seven", 1);
	expect_stack("el2;hvc", 85);
	/* the time of a call that is in no other one is that of the visit */
	begin_nest(HYPTRACE_VISIT_KINDS);
	PUT(300, 0, hyp_enter, .reason = 1);
	PUT(320, 0, host_smc, .id = 0x84000000, .duration = 15);
	for (i = 0; i < HYPTRACE_NEST_MAX - 1; i++)
		PUT(300 + i, 1, host_hcall, .id = 7, .duration = 1);
	for (i = 0; i < HYPTRACE_NEST_MAX - 1; i++)
		expect_stack("el2;__seven", 1);
	PUT(400, 0, hyp_exit, .reason = 6);
	expect_stack("el2;hvc", 100);
	/* the run of a guest stays: it is in nothing */
	PUT(500, 0, hyp_enter, .reason = 5);
	PUT(530, 0, guest_exit, .code = 2, .duration = 80);
	EXPECT_WAIT();
	expect_next(530, 0, 1);
}

static void long_and_odd_stacks(void **state)
{
	const struct hyptrace_span *span;
	struct hyptrace_span odd;
	char text[16];

	(void)state;
	begin_nest(HYPTRACE_VISIT_KINDS);
	PUT(100, 0, hyp_enter, .reason = 1);
	PUT(110, 0, host_hcall, .id = 7, .duration = 5);
	PUT(200, 0, hyp_exit, .reason = 6);
	span = hyptrace_nest_next(nest, 0);
	assert_int_equal(hyptrace_span_stack(span, text, sizeof("el2;hvc;__seven")), 15);
	assert_int_equal(hyptrace_span_stack(span, text, sizeof("el2;hvc;__seve")), 7);
	assert_string_equal(text, "el2;hvc");
	assert_int_equal(hyptrace_span_stack(span, text, 2), 0);
	assert_string_equal(text, "");
	text[0] = 'x';
	assert_int_equal(hyptrace_span_stack(span, text, 0), 0);
	assert_int_equal(text[0], 'x');
	/* what would end a frame or a line */
	odd = *span;
	odd.name = "a;b\nc\xc3\xa4";
	hyptrace_span_stack(&odd, text, sizeof(text));
	assert_string_equal(text, "el2;hvc;a:b:c\xc3\xa4");
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, describe_and_begin, end_nest)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(guest_in_a_hypercall),
		TEST(firmware),
		TEST(same_tick),
		TEST(before_the_clock),
		TEST(long_payloads),
		TEST(cpus_are_apart),
		TEST(calls_that_are_not_shown),
		TEST(kinds_that_are_not_recorded),
		TEST(bounded_wait),
		TEST(bounded_memory),
		TEST(losses_keep_their_place),
		TEST(the_end),
		TEST(calls_in_a_visit),
		TEST(a_guest_in_visits),
		TEST(losses_break_visits),
		TEST(calls_without_visits),
		TEST(a_visit_without_end),
		TEST(long_and_odd_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
