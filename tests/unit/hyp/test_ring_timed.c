// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timed events: what they save when they begin, their duration, and that they are recorded by
 * the CPU that has begun them only.
 */
#include <linux/psci.h>

#include "filter_terms.h"
#include "ring_decode.h"

#define CPU		1
#define NR_PAGES	8

static struct env_ring ring;
static u64 regs[31];

static int start(void **state)
{
	u32 page;

	(void)state;
	env_start(2 * env_ring_pages(NR_PAGES));
	env_ring_load(&ring, CPU, 0, NR_PAGES, 0);
	/* old bytes of the host: none may be left inside a record */
	for (page = 0; page < NR_PAGES; page++)
		memset(env_ring_data(&ring, page)->data, 0xa5, HYPTRACE_SUBBUF_DATA_SIZE);
	env_cpu(CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_CLOCK, ENV_NS_CLOCK, 0, 0), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);
	env_counter = 1000;

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

/* Copy the payload of the last event; return its number in the sub-buffer, from 1. */
static int last(void *payload, u32 size)
{
	struct decoded events[DECODE_MAX];
	int nr = decode_both(env_rings[CPU].page, events);

	assert_true(nr > 0);
	assert_int_equal(events[nr - 1].size, size);
	memcpy(payload, env_rings[CPU].page->data + events[nr - 1].offset, size);

	return nr;
}

static void set_regs(u64 first)
{
	u32 i;

	for (i = 0; i < ENV_NR(regs); i++)
		regs[i] = first + i;
}

static void hypercall(u64 number, u64 x0, u64 ns, u64 success, u64 ret)
{
	set_regs(x0);
	{
		hyptrace_host_call(number, false, regs);
		env_counter += ns;
		/* the handler overwrites its arguments */
		set_regs(7000);
		regs[0] = success;
		regs[1] = ret;
	}
}

static void hypercalls(void **state)
{
	const struct hyptrace_entry_host_hcall expected = {
		.common_type = HYPTRACE_EVENT_host_hcall, .id = 12,
		.arg1 = 0xc600000d, .arg2 = 0xc600000e, .arg3 = 0xc600000f, .arg4 = 0xc6000010,
		.duration = 345, .ret = -1,
	};
	struct hyptrace_entry_host_hcall entry;

	(void)state;
	hypercall(12, 0xc600000c, 345, 0, -1);
	assert_int_equal(last(&entry, sizeof(entry)), 2);
	assert_memory_equal(&entry, &expected, sizeof(entry));

	/* EL2 has refused it; it is not of the hypervisor's range; neither is this one */
	hypercall(12, 0xc600000c, 0, -1, 0);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.invalid, 1);
	assert_int_equal(entry.id, 12);
	hypercall(0x84000000ULL - 0xc6000000, 0x84000000, 0, -1, 0);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.invalid, 1);
	assert_int_equal(entry.id, 0x84000000);
	hypercall(0x10000000cULL, 0x1c600000cULL, 0, -1, 0);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.id, 0xc600000c);
}

static struct hyptrace_entry_guest_exit guest_exit(const struct hyptrace_vcpu *vcpu, u64 code)
{
	struct hyptrace_entry_guest_exit entry;

	hyptrace_begin_span(hyptrace_this_ring(), guest_exit);
	env_counter += 77;
	hyptrace_end_span(hyptrace_this_ring(), guest_exit, vcpu, code);
	last(&entry, sizeof(entry));

	return entry;
}

/* What a guest_exit says depends on why the guest has left, and on whether it is protected. */
static void guest_exits(void **state)
{
	struct hyptrace_vcpu vcpu = {
		.handle = 0x1000, .vcpu_idx = 3, .pc = 0x40080124,
		.fault = { 0x24ULL << 26 | 7, 0xffff800012345678, 1ULL << 63 | 0x90005 },
	};
	struct hyptrace_entry_guest_exit expected = {
		.common_type = HYPTRACE_EVENT_guest_exit, .code = HYPTRACE_EXIT_TRAP, .ec = 0x24,
		.vcpu = 5, .handle = 0x1000, .index = 3, .duration = 77, .esr = 0x24ULL << 26 | 7,
		.pc = 0x40080124, .far = 0xffff800012345678, .ipa = 0x9000678,
	};
	struct hyptrace_entry_guest_exit entry;

	(void)state;
	hyptrace_set_vcpu(5);
	entry = guest_exit(&vcpu, HYPTRACE_EXIT_TRAP);
	assert_memory_equal(&entry, &expected, sizeof(entry));

	/* with an SError pending, which is not a part of the code, the addresses are older */
	entry = guest_exit(&vcpu, 1U << 31 | HYPTRACE_EXIT_TRAP);
	assert_int_equal(entry.code, HYPTRACE_EXIT_TRAP);
	assert_int_equal(entry.ec, 0x24);
	assert_int_equal(entry.esr, expected.esr);
	assert_int_equal(entry.far, 0);
	assert_int_equal(entry.ipa, 0);

	vcpu.fault.esr_el2 = 0x20ULL << 26;
	entry = guest_exit(&vcpu, HYPTRACE_EXIT_TRAP);
	assert_int_equal(entry.ec, 0x20);
	assert_int_equal(entry.ipa, 0x9000678);

	/* only an abort has addresses, and only a trap a class */
	vcpu.fault.esr_el2 = 0x16ULL << 26;
	expected.ec = 0x16;
	expected.esr = vcpu.fault.esr_el2;
	expected.far = expected.ipa = 0;
	entry = guest_exit(&vcpu, HYPTRACE_EXIT_TRAP);
	assert_memory_equal(&entry, &expected, sizeof(entry));
	expected.code = 0;
	expected.ec = 0;
	expected.esr = 0;
	entry = guest_exit(&vcpu, 0);
	assert_memory_equal(&entry, &expected, sizeof(entry));

	/* a protected one has nothing but the code and the class */
	vcpu.protected = true;
	vcpu.fault.esr_el2 = 0x24ULL << 26;
	expected.pc = 0;
	entry = guest_exit(&vcpu, 0);
	assert_memory_equal(&entry, &expected, sizeof(entry));
	expected.code = HYPTRACE_EXIT_TRAP;
	expected.ec = 0x24;
	entry = guest_exit(&vcpu, HYPTRACE_EXIT_TRAP);
	assert_memory_equal(&entry, &expected, sizeof(entry));

	/* without pKVM, EL2 has no VM of a vCPU, and cannot know whether that is protected */
	vcpu.handle = 0;
	expected.handle = 0;
	expected.pc = vcpu.pc;
	expected.esr = vcpu.fault.esr_el2;
	expected.far = 0xffff800012345678;
	expected.ipa = 0x9000678;
	entry = guest_exit(&vcpu, HYPTRACE_EXIT_TRAP);
	assert_memory_equal(&entry, &expected, sizeof(entry));
}

/* An event lasts for an hour, also after the clock's rate has changed. */
static void durations(void **state)
{
	const u64 hour = 3600000000000;
	struct hyptrace_entry_host_mem_abort entry;

	(void)state;
	hyptrace_begin(host_mem_abort, 0x92000007, 0x1000);
	env_counter += hour;
	hyptrace(host_mem_abort, -2);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.duration, hour);
	assert_int_equal(entry.ret, -2);
	assert_int_equal(entry.esr, 0x92000007);
	assert_int_equal(entry.addr, 0x1000);

	/* It began before the clock's epoch. The CPU has a valid copy of the clock when it ends. */
	hyptrace_begin(host_mem_abort, 0, 0);
	env_counter += hour;
	hyptrace_hcall(HYPTRACE_OP_CLOCK, ENV_NS_CLOCK, env_counter, env_counter);
	hyptrace(selftest, 1);
	hyptrace(host_mem_abort, 0);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.duration, hour);

	hyptrace_hcall(HYPTRACE_OP_CLOCK, 16 * ENV_NS_CLOCK, env_counter, env_counter);
	assert_int_equal(hyptrace_timed(host_mem_abort, (env_counter += hour / 16, 5), 1, 2), 5);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.duration, hour);
	assert_int_equal(entry.ret, 5);
}

/* Another CPU, whose ring records the same event, does not end what this one has begun. */
static void another_cpu(void **state)
{
	struct hyptrace_entry_host_mem_abort entry;
	struct env_ring other;
	u64 recorded;

	(void)state;
	env_ring_load(&other, CPU + 1, env_ring_pages(NR_PAGES), NR_PAGES, 0);
	env_cpu(CPU + 1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU + 1, HYPTRACE_ALL_EVENTS, 0), 0);
	env_cpu(CPU);
	recorded = env_rings[CPU].recorded;
	hyptrace_begin(host_mem_abort, 1, 2);
	env_counter += 10;
	env_cpu(CPU + 1);
	hyptrace(host_mem_abort, 3);
	assert_int_equal(env_rings[CPU + 1].recorded, 0);
	hyptrace_begin(host_mem_abort, 4, 5);
	env_counter += 20;
	env_cpu(CPU);
	hyptrace(host_mem_abort, 6);
	assert_int_equal(env_rings[CPU].recorded, recorded + 1);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.esr, 1);
	assert_int_equal(entry.ret, 6);
	assert_int_equal(entry.duration, 30);

	env_cpu(CPU + 1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU + 1, 0, 0), 0);
	env_ring_free(&other);
	env_cpu(CPU);
}

/* Without a valid copy of the clock, and in a new sub-buffer, the payload is the same. */
static void slow_path(void **state)
{
	struct hyptrace_entry_host_hcall fast, slow;
	u32 i;

	(void)state;
	hypercall(3, 0xc6000003, 10, 0, 4);
	last(&fast, sizeof(fast));
	env_rings[CPU].clock.valid_cycles = 0;
	hypercall(3, 0xc6000003, 10, 0, 4);
	last(&slow, sizeof(slow));
	assert_memory_equal(&fast, &slow, sizeof(fast));
	for (i = 0; i < 200; i++) {
		hypercall(3, 0xc6000003, 10, 0, 4);
		last(&slow, sizeof(slow));
		assert_memory_equal(&fast, &slow, sizeof(fast));
	}
	assert_true(env_rings[CPU].nr_entered > 2);
}

/* A CPU that is silent begins nothing and records nothing. */
static void silence(void **state)
{
	u64 recorded;

	(void)state;
	hyptrace_guest_begin(true);
	recorded = env_rings[CPU].recorded;
	hypercall(1, 0xc6000001, 1, 0, 0);
	hyptrace_timed(host_mem_abort, 0, 1, 2);
	hyptrace_psci_begin(PSCI_0_2_FN_CPU_OFF, regs);
	hyptrace_psci_leave();
	hyptrace_psci_end(-1);
	hyptrace_psci_resume();
	hyptrace_ffa(0x84000063, true, regs);
	assert_int_equal(env_rings[CPU].recorded, recorded);
	assert_int_equal(env_rings[CPU].begun.host_hcall.counter, 0);
	hyptrace_guest_end(true);
	hypercall(1, 0xc6000001, 1, 0, 0);
	/* the exit of the guest, then hyp_enter and host_hcall */
	assert_int_equal(env_rings[CPU].recorded, recorded + 3);
}

static void tick(void)
{
	env_counter++;
}

static void expect_psci(u32 func, s64 ret, u64 duration)
{
	struct hyptrace_entry_psci_call entry;

	last(&entry, sizeof(entry));
	assert_int_equal(entry.func, func);
	assert_int_equal(entry.arg, 101);
	assert_int_equal(entry.ret, ret);
	assert_int_equal(entry.duration, duration);
}

/*
 * A call that may not return is recorded before it, and again if it has failed; the others are
 * recorded after it. Only the relay knows which: PSCI 0.1 has no fixed function ids.
 */
static void psci(void **state)
{
	const u32 func = 0x95c1ba5f;
	u64 before = env_rings[CPU].recorded;
	s64 ret;

	(void)state;
	set_regs(100);
	for (ret = 0; ret >= -4; ret -= 4) {
		hyptrace_psci_begin(func, regs);
		assert_int_equal(env_rings[CPU].recorded, before);
		env_counter += 50;
		hyptrace_psci_end(ret);
		assert_int_equal(env_rings[CPU].recorded, ++before);
		expect_psci(func, ret, 50);

		hyptrace_psci_begin(func, regs);
		/* time passes before the call is recorded */
		env_counter_hook = tick;
		hyptrace_psci_leave();
		env_counter_hook = NULL;
		assert_int_equal(env_rings[CPU].recorded, ++before);
		expect_psci(func, 0, 0);
		env_counter += 60;
		hyptrace_psci_end(ret);
		before += !!ret;
		assert_int_equal(env_rings[CPU].recorded, before);
	}
	expect_psci(func, -4, 61);

	/* The call is not one of PSCI: it is not ended, and leaves nothing behind. */
	hyptrace_psci_begin(func + 1, regs);
	hyptrace_psci_begin(func, regs);
	hyptrace_psci_end(0);
	assert_int_equal(env_rings[CPU].recorded, before + 1);
	expect_psci(func, 0, 0);
}

/* A timed event has the time of its end, as its duration says, also if a filter takes time. */
static void time_of_a_filtered_event(void **state)
{
	const struct hyptrace_term all = {
		.offset = offsetof(struct hyptrace_entry_host_hcall, id), .width = 4,
		.op = HYPTRACE_TERM_GE,
		.on_true = HYPTRACE_FILTER_ACCEPT, .on_false = HYPTRACE_FILTER_REJECT,
	};
	struct hyptrace_entry_host_hcall entry;
	struct decoded events[DECODE_MAX];
	u64 begun;
	int nr;

	(void)state;
	assert_int_equal(filter_set(CPU, HYPTRACE_EVENT_host_hcall, &all, 1), 0);
	set_regs(100);
	env_counter_hook = tick;
	{
		hyptrace_host_call(1, false, regs);
		begun = env_counter;
		env_counter += 50;
	}
	env_counter_hook = NULL;
	nr = last(&entry, sizeof(entry));
	decode_both(env_rings[CPU].page, events);
	assert_int_equal(entry.duration, 51);
	assert_int_equal(events[nr - 1].time, begun + entry.duration);
}

/* A filter changes nothing of a call that is recorded before it is over. */
static void psci_filtered(void **state)
{
	const struct hyptrace_term all = {
		.offset = offsetof(struct hyptrace_entry_psci_call, func), .width = 4,
		.op = HYPTRACE_TERM_GE,
		.on_true = HYPTRACE_FILTER_ACCEPT, .on_false = HYPTRACE_FILTER_REJECT,
	};

	(void)state;
	assert_int_equal(filter_set(CPU, HYPTRACE_EVENT_psci_call, &all, 1), 0);
	set_regs(100);
	hyptrace_psci_begin(PSCI_0_2_FN_CPU_OFF, regs);
	env_counter_hook = tick;
	hyptrace_psci_leave();
	env_counter_hook = NULL;
	expect_psci(PSCI_0_2_FN_CPU_OFF, 0, 0);
}

/* A call that suspends the CPU does not return: the CPU starts anew. */
static void suspended(void **state)
{
	struct hyptrace_entry_host_smc smc;
	u64 before = env_rings[CPU].recorded;

	(void)state;
	set_regs(100);
	hyptrace_begin(host_smc, 100, regs);
	hyptrace_psci_begin(PSCI_0_2_FN64_CPU_SUSPEND, regs);
	assert_int_equal(env_rings[CPU].recorded, before);
	env_counter += 1000;
	hyptrace_psci_resume();
	assert_int_equal(env_rings[CPU].recorded, before + 2);
	last(&smc, sizeof(smc));
	assert_int_equal(smc.id, 100);
	assert_int_equal(smc.forwarded, 0);
	assert_int_equal(smc.ret, 0);
	assert_int_equal(smc.duration, 1000);

	/* SYSTEM_SUSPEND was recorded before. */
	hyptrace_begin(host_smc, 100, regs);
	hyptrace_psci_begin(PSCI_1_0_FN64_SYSTEM_SUSPEND, regs);
	hyptrace_psci_leave();
	assert_int_equal(env_rings[CPU].recorded, before + 3);
	hyptrace_psci_resume();
	assert_int_equal(env_rings[CPU].recorded, before + 4);
	last(&smc, sizeof(smc));
}

/* Begin CPU_OFF, which parks the ring. Return how many events are recorded then. */
static u64 begin_cpu_off(void)
{
	set_regs(PSCI_0_2_FN_CPU_OFF);
	hyptrace_begin(host_smc, PSCI_0_2_FN_CPU_OFF, regs);
	hyptrace_psci_begin(PSCI_0_2_FN_CPU_OFF, regs);
	hyptrace_psci_leave();
	hyptrace_cpu_off();

	return env_rings[CPU].recorded;
}

/* The firmware has refused CPU_OFF. */
static void fail_cpu_off(void)
{
	env_counter += 70;
	hyptrace_cpu_on();
	hyptrace_psci_end(PSCI_RET_DENIED);
	regs[0] = PSCI_RET_DENIED;
	hyptrace(host_smc, true, regs);
}

/* A CPU that could not be switched off records its failure, unless it was attached meanwhile. */
static void parked(void **state)
{
	const u64 psci_only = BIT_ULL(HYPTRACE_EVENT_psci_call);
	struct hyptrace_entry_psci_call call;
	struct hyptrace_entry_host_smc smc;
	struct decoded events[DECODE_MAX];
	u64 before = env_rings[CPU].recorded;
	int nr;

	(void)state;
	assert_int_equal(begin_cpu_off(), before + 1);
	fail_cpu_off();
	assert_int_equal(env_rings[CPU].recorded, before + 3);
	nr = last(&smc, sizeof(smc));
	assert_int_equal(smc.id, PSCI_0_2_FN_CPU_OFF);
	assert_int_equal((s32)smc.ret, PSCI_RET_DENIED);
	assert_int_equal(smc.duration, 70);
	decode_both(env_rings[CPU].page, events);
	memcpy(&call, env_rings[CPU].page->data + events[nr - 2].offset, sizeof(call));
	assert_int_equal(call.func, PSCI_0_2_FN_CPU_OFF);
	assert_int_equal(call.ret, PSCI_RET_DENIED);
	assert_int_equal(call.duration, 70);

	/* Attached meanwhile: what the CPU has begun may be older than a pause. */
	before = begin_cpu_off();
	env_cpu(CPU + 1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, psci_only, 0), 0);
	env_cpu(CPU);
	fail_cpu_off();
	assert_int_equal(env_rings[CPU].recorded, before);

	/* Likewise with the same events */
	hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0);
	before = begin_cpu_off();
	env_cpu(CPU + 1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);
	env_cpu(CPU);
	fail_cpu_off();
	assert_int_equal(env_rings[CPU].recorded, before);
}

/* A call has a function id without hints, and is handled, forwarded or refused. */
static void smc(void **state)
{
	struct hyptrace_entry_host_smc entry;
	int handled;

	(void)state;
	set_regs(200);
	for (handled = -1; handled <= 1; handled++) {
		hyptrace_begin(host_smc, 0x7c401c123, regs);
		env_counter += 10;
		hyptrace(host_smc, handled, regs);
		last(&entry, sizeof(entry));
		assert_int_equal(entry.id, 0xc400c123);
		assert_int_equal(entry.arg1, 201);
		assert_int_equal(entry.arg3, 203);
		assert_int_equal(entry.ret, 200);
		assert_int_equal(entry.invalid, handled < 0);
		assert_int_equal(entry.forwarded, !handled);
		assert_int_equal(entry.duration, 10);
	}
}

static void ffa(void **state)
{
	struct hyptrace_entry_host_ffa_call entry;
	u64 before = env_rings[CPU].recorded;

	(void)state;
	set_regs(0x84000061);
	hyptrace_ffa(0x8400005f, true, regs);
	hyptrace_ffa(0x84000100, true, regs);
	hyptrace_ffa(0xc4000053, false, regs);
	hyptrace_ffa(0xc6000063, true, regs);
	assert_int_equal(env_rings[CPU].recorded, before);

	hyptrace_ffa(0xc4000073, true, regs);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.func_id, 0xc4000073);
	assert_int_equal(entry.handled, 1);
	assert_int_equal(entry.err, 0);
	assert_int_equal(entry.res_a1, 0x84000062);
	assert_int_equal(entry.res_a4, 0x84000065);
	set_regs(0x84000060);
	regs[2] = -3;
	hyptrace_ffa(0x84000060, true, regs);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.err, -3);
	hyptrace_ffa(0x840000ff, false, regs);
	last(&entry, sizeof(entry));
	assert_int_equal(entry.handled, 0);
	assert_int_equal(entry.err, 0);
	assert_int_equal(entry.res_a1, 0);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hypercalls), TEST(guest_exits), TEST(durations), TEST(another_cpu),
		TEST(slow_path), TEST(silence), TEST(psci), TEST(psci_filtered),
		TEST(time_of_a_filtered_event), TEST(suspended),
		TEST(parked),
		TEST(smc), TEST(ffa),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
