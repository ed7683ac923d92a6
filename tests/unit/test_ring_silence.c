// SPDX-License-Identifier: GPL-2.0-only
/*
 * What leaves no event: hypercalls of hyptrace itself, and all that EL2 does while it
 * runs a protected guest. And what does: the rest, in pairs.
 */
#include "ring_decode.h"
#include "hyp_env.h"

#define CPU		1
#define NR_PAGES	4

static struct env_ring ring;

static int start(void **state)
{
	(void)state;
	env_start(env_ring_pages(NR_PAGES));
	env_ring_load(&ring, CPU, 0, NR_PAGES, 0);
	env_cpu(CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&ring);
	env_stop();

	return 0;
}

/* A hypercall as the kernel's EL2 code has it: see hyp/linux. */
static s64 trap(u64 op, u64 arg1, u64 arg2)
{
	s64 ret;

	hyptrace_host_call(true);
	hyptrace_silence_own_call();
	ret = hyptrace_hcall(op, arg1, arg2, 0);
	hyptrace_host_exit();

	return ret;
}

static void other_trap(void)
{
	hyptrace_host_call(false);
	hyptrace_host_exit();
}

static u64 written(void)
{
	return env_rings[CPU].recorded;
}

static void own_calls(void **state)
{
	u64 op;

	(void)state;
	for (op = 0; op < HYPTRACE_NR_OPS + 2; op++) {
		if (op == HYPTRACE_OP_WRITE || op == HYPTRACE_OP_DETACH || op == HYPTRACE_OP_CLOCK)
			continue;
		trap(op, CPU, op == HYPTRACE_OP_ATTACH ? HYPTRACE_ALL_EVENTS : 0);
		assert_int_equal(written(), 0);
		assert_int_equal(env_rings[CPU].silent, 0);
	}
	assert_int_equal(trap(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS), 0);
	other_trap();
	assert_int_equal(written(), 2);
}

/* A call of ours may ask the firmware: that it does so on the way shows no more than the call. */
static void own_calls_to_the_firmware(void **state)
{
	(void)state;
	hyptrace_host_call(true);
	hyptrace_silence_own_call();
	hyptrace_smc_exit();
	hyptrace_smc_enter();
	hyptrace_host_exit();
	assert_int_equal(written(), 0);
	other_trap();
	assert_int_equal(written(), 2);
	hyptrace_smc_exit();
	hyptrace_smc_enter();
	assert_int_equal(written(), 4);
}

/* The one event that a call of ours leaves is the one that it asks for. */
static void selftest(void **state)
{
	struct decoded events[DECODE_MAX];

	(void)state;
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 7, 0), 0);
	assert_int_equal(written(), 1);
	assert_int_equal(decode_both(env_rings[CPU].page, events), 1);
	assert_int_equal(*(u16 *)(env_rings[CPU].page->data + events[0].offset),
			 HYPTRACE_EVENT_selftest);
	assert_int_equal(env_rings[CPU].silent, 0);
	other_trap();
	assert_int_equal(written(), 3);
}

/* Only going back to the host ends it. */
static void events_within(void **state)
{
	(void)state;
	hyptrace_silence_own_call();
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	hyptrace(selftest, 1);
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	assert_int_equal(written(), 0);
	assert_int_equal(env_rings[CPU].silent, HYPTRACE_SILENT_CALL);
	hyptrace_host_exit();
	assert_int_equal(written(), 0);
	assert_int_equal(env_rings[CPU].silent, 0);
}

/* The call that begins to trace is as silent as the others, and so is the one that ends it. */
static void first_and_last(void **state)
{
	(void)state;
	assert_int_equal(trap(HYPTRACE_OP_DETACH, CPU, 0), 0);
	other_trap();
	assert_int_equal(trap(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS), 0);
	assert_int_equal(written(), 0);
	other_trap();
	assert_int_equal(written(), 2);
}

/* Silence ends though only an event is on that going back to the host is none of. */
static void another_event_only(void **state)
{
	(void)state;
	assert_int_equal(trap(HYPTRACE_OP_ATTACH, CPU, BIT_ULL(HYPTRACE_EVENT_selftest)), 0);
	assert_int_equal(env_rings[CPU].silent, 0);
	hyptrace(selftest, 1);
	assert_int_equal(written(), 1);
	other_trap();
	assert_int_equal(written(), 1);
}

static void guest(bool protected, u32 entries)
{
	hyptrace_host_call(false);
	hyptrace_set_vcpu(42);
	hyptrace_guest_begin(protected);
	while (entries--) {
		hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
		hyptrace(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
		/* a call that EL2 answers by asking the firmware */
		hyptrace(hyp_exit, HYPTRACE_REASON_SMC);
		hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	}
	hyptrace_guest_end(protected);
	hyptrace_set_vcpu(0);
	hyptrace_host_exit();
}

/* Of a protected guest the host sees the first entry and the last exit. */
static void guests(void **state)
{
	(void)state;
	guest(true, 5);
	assert_int_equal(written(), 4);
	guest(false, 5);
	assert_int_equal(written(), 4 + 2 + 20);
	guest(true, 1);
	assert_int_equal(written(), 26 + 4);
	assert_int_equal(env_rings[CPU].silent, 0);
}

/* The thread of the vCPU is told as long as the CPU runs it, and only then. */
static void vcpus(void **state)
{
	static const pid_t due[] = { 0, 42, 42, 0 };
	struct decoded events[DECODE_MAX];
	pid_t vcpu;
	u32 i;

	(void)state;
	guest(true, 1);
	assert_int_equal(decode_both(env_rings[CPU].page, events), ENV_NR(due));
	for (i = 0; i < ENV_NR(due); i++) {
		memcpy(&vcpu, env_rings[CPU].page->data + events[i].offset + 4, sizeof(vcpu));
		assert_int_equal(vcpu, due[i]);
	}
}

/* Events that were chosen in between are recorded once it is over, not before. */
static void silence_outlives_a_choice(void **state)
{
	(void)state;
	hyptrace_guest_begin(true);
	assert_int_equal(written(), 1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);
	hyptrace(selftest, 1);
	assert_int_equal(written(), 1);
	hyptrace_guest_end(true);
	assert_int_equal(written(), 2);
}

/* A CPU that comes back speaks, whatever it was silent for. */
static void power(void **state)
{
	(void)state;
	hyptrace_silence_own_call();
	hyptrace_cpu_off();
	hyptrace_cpu_on();
	hyptrace(selftest, 1);
	assert_int_equal(written(), 1);
}

#define WITH_RING(test)	cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RING(own_calls),
		WITH_RING(own_calls_to_the_firmware),
		WITH_RING(selftest),
		WITH_RING(events_within),
		WITH_RING(first_and_last),
		WITH_RING(another_event_only),
		WITH_RING(guests),
		WITH_RING(vcpus),
		WITH_RING(silence_outlives_a_choice),
		WITH_RING(power),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
