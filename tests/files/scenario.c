// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hypervisor does, for make_file.c: hypercalls, guests that run and exit, firmware calls,
 * aborts and transitions of memory, so that all events occur, timed ones between an entry and an
 * exit. It is the same in each run.
 */
#include "../../hyp/hooks.h"
#include "rings.h"

/* A PSCI call, an SMC, an FF-A call */
#define PSCI_CPU_ON	0xc4000003
#define SMC_VERSION	0x80000000
#define FFA_VERSION	0x84000063

/* Exception classes of a guest's exits */
#define EC_WFX		0x01
#define EC_DATA_ABORT	0x24
#define EC_SHIFT	26

#define EXIT_IRQ	0
#define EXIT_TRAP	2

#define HANDLE		0x1000
#define PAGES		0x80000

static u64 state = 1;
static u64 marks[RINGS_MAX];
static bool only_marks;
static unsigned int this_cpu;

/* splitmix64 */
static u64 next_number(void)
{
	u64 z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static u64 below(u64 limit)
{
	return next_number() % limit;
}

static void pass(u64 limit)
{
	rings_pass(1 + below(limit));
}

static pid_t vcpu_of(unsigned int vcpu)
{
	return 700 + this_cpu * 4 + vcpu;
}

static void enter(u8 reason)
{
	pass(3000);
	hyptrace(hyp_enter, reason);
	pass(200);
}

static void leave(u8 reason)
{
	pass(200);
	hyptrace(hyp_exit, reason);
}

static void move_page(void)
{
	u64 pfn = PAGES + below(512);

	if (below(2)) {
		hyptrace(mem_transition, HYPTRACE_MEM_DONATE, HYPTRACE_OWNER_HOST,
			 HYPTRACE_OWNER_GUEST, pfn, 1, below(4096), HANDLE + this_cpu, 0);
		pass(50);
		hyptrace(tlbi, HYPTRACE_TLBI_VMID_IPA, 1 + this_cpu, pfn << PAGE_SHIFT, 1);
	} else {
		hyptrace(mem_transition, HYPTRACE_MEM_RECLAIM, HYPTRACE_OWNER_GUEST,
			 HYPTRACE_OWNER_HOST, pfn, 1, below(4096), HANDLE + this_cpu,
			 below(8) ? 0 : -EPERM);
	}
	hyptrace(hyp_pool, below(2) ? HYPTRACE_POOL_ALLOC : HYPTRACE_POOL_FREE, below(3),
		 below(1000), PAGES);
}

static void make_hypercall(void)
{
#define NUMBER(id, name, returns, ...)	id,
	static const u32 numbers[] = { SCENARIO_CALLS(NUMBER) };
#undef NUMBER
	u64 regs[5] = { 0, PAGES + below(512), below(1 << 20), below(16), 1 };
	u32 number = numbers[below(sizeof(numbers) / sizeof(numbers[0]))];

	if (number == SCENARIO_TEARDOWN)
		regs[1] = HANDLE + this_cpu;
	enter(HYPTRACE_REASON_HVC);
	hyptrace_begin(host_hcall, number, regs);
	pass(800);
	if (!below(3))
		move_page();
	regs[0] = !below(50);
	regs[1] = below(10) ? 0 : (u64)-EINVAL;
	hyptrace(host_hcall, regs);
	leave(HYPTRACE_REASON_ERET_HOST);
}

static void run_guest(void)
{
	static const u64 esr[] = { (u64)EC_WFX << EC_SHIFT, (u64)EC_DATA_ABORT << EC_SHIFT | 0x47 };
	struct hyptrace_ring *ring = hyptrace_this_ring();
	unsigned int index = below(2);
	u64 code = below(4) ? EXIT_TRAP : EXIT_IRQ;
	struct hyptrace_vcpu vcpu = {
		.handle = HANDLE + this_cpu,
		.vcpu_idx = index,
		.pc = 0xffff800080000000 + below(1 << 20) * 4,
		.fault = {
			.esr_el2 = esr[below(2)],
			.far_el2 = 0xffff000000000000 + below(1 << 24),
			.hpfar_el2 = below(1 << 16) << 4,
		},
	};

	enter(HYPTRACE_REASON_HVC);
	hyptrace_set_vcpu(vcpu_of(index));
	if (!below(4))
		hyptrace(vcpu_load, vcpu.handle, index, vcpu_of(index));
	hyptrace(guest_enter, vcpu.handle, index);
	hyptrace_begin_span(ring, guest_exit);
	leave(HYPTRACE_REASON_ERET_GUEST);
	pass(100000);
	enter(HYPTRACE_REASON_GUEST_EXIT);
	if (code == EXIT_TRAP && below(2)) {
		hyptrace_begin(guest_fixup, hyptrace_exit_class(&vcpu));
		pass(100);
		hyptrace(guest_fixup, !below(4));
	}
	if (!below(200))
		hyptrace(vcpu_illegal_trap, vcpu.fault.esr_el2);
	hyptrace_end_span(ring, guest_exit, &vcpu, code);
	if (!below(4))
		hyptrace(vcpu_put, vcpu.handle, index, vcpu_of(index));
	hyptrace_set_vcpu(0);
	leave(HYPTRACE_REASON_ERET_HOST);
}

static void call_firmware(void)
{
	u64 regs[5] = { 0, below(8), 0, 0, 0 };

	enter(HYPTRACE_REASON_SMC);
	switch (below(3)) {
	case 0:
		hyptrace_begin(psci_call, PSCI_CPU_ON, below(8));
		pass(2000);
		hyptrace(psci_call, 0, true);
		break;
	case 1:
		hyptrace_begin(host_smc, SMC_VERSION, regs);
		pass(2000);
		regs[0] = 0x10002;
		hyptrace(host_smc, 0, regs);
		break;
	case 2:
		hyptrace(host_ffa_call, FFA_VERSION, true, 0, regs);
		break;
	}
	leave(HYPTRACE_REASON_ERET_HOST);
}

static void abort_host(void)
{
	enter(HYPTRACE_REASON_HOST_ABORT);
	hyptrace_begin(host_mem_abort, 0x92000047, (PAGES + below(4096)) << PAGE_SHIFT);
	pass(1500);
	hyptrace(host_mem_abort, below(20) ? 0 : -EPERM);
	leave(HYPTRACE_REASON_ERET_HOST);
}

static void write_mark(void)
{
	pass(1000);
	hyptrace(selftest, marks[this_cpu]++);
}

static void do_something(void)
{
	if (only_marks) {
		write_mark();
		return;
	}
	switch (below(16)) {
	case 0:
		call_firmware();
		break;
	case 1:
	case 2:
		abort_host();
		break;
	case 3:
		write_mark();
		break;
	case 4:
		pass(100);
		hyptrace_printk("pool %llu has %u pages", (u64)PAGES, (u32)below(100));
		break;
	case 5:
	case 6:
	case 7:
		make_hypercall();
		break;
	default:
		run_guest();
		break;
	}
}

/* Let a CPU do things until it has tried to record @limit events in all. */
void scenario_step(unsigned int cpu, uint64_t limit)
{
	this_cpu = cpu;
	rings_use(cpu);
	while (rings_recorded(cpu) < limit)
		do_something();
}

/* Record marks only, each CPU with numbers from 0 on. */
void scenario_only(bool marks_only)
{
	only_marks = marks_only;
}
