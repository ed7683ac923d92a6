// SPDX-License-Identifier: GPL-2.0-only
/*
 * Visits of EL2 other than __hyptrace(): hypercalls, calls of the firmware, aborts, runs of guests,
 * and a CPU that goes off and on. What is counted of them must be exact.
 */
#include <sched.h>

#include "el2.h"

#define MAX_EVENTS	8
#define HCALLS		(HYPTRACE_COUNT_HCALLS + 12)

static u64 counted(u32 key)
{
	const struct hyptrace_private_count *counter = hyptrace_this_ring()->counting.ends[key] - 1;
	u64 nr = 0;
	u32 i;

	for (i = 0; i < HYPTRACE_COUNT_BUCKETS; i++)
		nr += counter->nr[i];
	for (i = 0; i < HYPTRACE_COUNT_PACKED_BUCKETS; i++)
		nr += counter->packed[i] >> HYPTRACE_COUNT_TICK_BITS;

	return nr;
}

/* Only this CPU changes what it counts, and frees no page, while it counts an event and is on. */
static bool counts(u32 event)
{
	return hyptrace_this_ring()->counting.selected & BIT_ULL(event);
}

static void some_events(struct attack *attack)
{
	u32 nr;

	for (nr = attack_below(attack, MAX_EVENTS); nr; nr--)
		some_event(attack, any_event(attack));
	if (!attack_below(attack, 4))
		some_turn(attack);
}

/* As hyptrace_relinquish(): the silence may be more than that of the guest. */
static void give_page_up(struct attack *attack)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	u32 silent = ring->silent;

	if (silent == HYPTRACE_SILENT_GUEST) {
		hyptrace_set_silent(ring, HYPTRACE_SILENT_LOAD);
		attack->silent = HYPTRACE_SILENT_LOAD;
	}
	some_event(attack, HYPTRACE_EVENT_selftest);
	some_event(attack, HYPTRACE_EVENT_mem_transition);
	hyptrace_set_silent(ring, silent);
	attack->silent = HYPTRACE_SILENT_GUEST;
	some_event(attack, HYPTRACE_EVENT_mem_transition);
}

/* While EL2 runs a protected guest, nothing but a page that the guest gives up may show. */
static void in_protected_guest(struct attack *attack)
{
	u32 key = HYPTRACE_COUNT_KEY_mem_transition + HYPTRACE_MEM_DONATE;
	struct hyptrace_ring *ring = hyptrace_this_ring();
	bool counting = counts(HYPTRACE_EVENT_mem_transition) &&
			ring->silent == HYPTRACE_SILENT_GUEST;
	struct seen before = look();
	u64 nr = counting ? counted(key) : 0;

	some_events(attack);
	some_turn(attack);
	some_events(attack);
	require(!seen_since(before));
	require(!counting || counted(key) == nr);
	if (!attack_below(attack, 4))
		give_page_up(attack);
}

static void in_other_guest(struct attack *attack)
{
	u32 nr;

	for (nr = attack_below(attack, 4); nr; nr--) {
		some_event(attack, HYPTRACE_EVENT_hyp_exit);
		some_event(attack, HYPTRACE_EVENT_hyp_enter);
		some_event(attack, HYPTRACE_EVENT_guest_fixup);
	}
	some_events(attack);
}

static void run_guest(struct attack *attack)
{
	u64 random = attack_random(attack);
	struct hyptrace_ring *ring = hyptrace_this_ring();
	struct hyptrace_vcpu vcpu = {
		.handle = random, .vcpu_idx = random >> 8 & 7, .protected = random & 1,
		.fault.esr_el2 = random >> 16,
	};
	struct seen before;

	some_event(attack, HYPTRACE_EVENT_vcpu_load);
	hyptrace_set_vcpu(1 + (random >> 40 & 0xffff));
	before = look();
	hyptrace_run_begin(ring, vcpu.handle, vcpu.vcpu_idx);
	expect_event(attack, HYPTRACE_EVENT_guest_enter, before);

	before = look();
	hyptrace_guest_begin(vcpu.protected);
	if (vcpu.protected) {
		expect_event(attack, HYPTRACE_EVENT_hyp_exit, before);
		attack->silent = HYPTRACE_SILENT_GUEST;
		in_protected_guest(attack);
		attack->silent = 0;
	} else {
		require(!seen_since(before));
		in_other_guest(attack);
	}
	before = look();
	/* The silence ends before the event. */
	before.silent &= ~HYPTRACE_SILENT_GUEST;
	hyptrace_guest_end(vcpu.protected);
	if (vcpu.protected)
		expect_event(attack, HYPTRACE_EVENT_hyp_enter, before);
	else
		require(!seen_since(before));

	before = look();
	hyptrace_end_span(ring, guest_exit, &vcpu, random >> 24 & 0x807);
	/* Events in a guest that is not protected may have been such exits themselves. */
	if (vcpu.protected)
		expect_event(attack, HYPTRACE_EVENT_guest_exit, before);
	hyptrace_set_vcpu(0);
	some_event(attack, HYPTRACE_EVENT_vcpu_put);
	attack->nr_runs++;
	attack->nr_protected += vcpu.protected;
}

static void hypercall(struct attack *attack)
{
	u64 random = attack_random(attack), number = random % HCALLS, nr = 0;
	u64 regs[31] = { random >> 8 & 1, random, random >> 3, random >> 4, random >> 5 };
	u32 key = HYPTRACE_COUNT_KEY_host_hcall + (number < 128 ? number : 128);
	bool counting = counts(HYPTRACE_EVENT_host_hcall) && !hyptrace_this_ring()->silent;
	struct seen before;

	if (counting)
		nr = counted(key);
	{
		hyptrace_host_call(number, false, regs);
		attack->in_call = true;
		if (random >> 16 & 1)
			run_guest(attack);
		else
			some_events(attack);
		attack->in_call = false;
		before = look();
	}
	expect_event(attack, HYPTRACE_EVENT_host_hcall, before);
	require(!counting || counted(key) == nr + 1);
	before = look();
	hyptrace_host_exit();
	require(seen_since(before) <= 1 + HYPTRACE_PMU_COUNTERS);
}

static void firmware_call(struct attack *attack)
{
	u64 random = attack_random(attack);
	u64 regs[31] = { random, random >> 7, random >> 9, 1, 2 };
	struct seen before = look();

	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	expect_event(attack, HYPTRACE_EVENT_hyp_enter, before);
	hyptrace_begin(host_smc, random, regs);
	some_event(attack, HYPTRACE_EVENT_host_ffa_call);
	hyptrace_psci_begin(random, regs);
	if (random >> 40 & 1)
		hyptrace_psci_leave();
	before = look();
	hyptrace_smc_exit();
	hyptrace_smc_enter();
	require(seen_since(before) <= 2 + HYPTRACE_PMU_COUNTERS);
	if (random >> 41 & 1)
		hyptrace_psci_end(-(s64)(random >> 42 & 1));
	else
		hyptrace_psci_resume();
	before = look();
	hyptrace(host_smc, true, regs);
	require(seen_since(before) <= 1);
	hyptrace_host_exit();
}

/* Off: until the CPU is on again, others may do with its ring what they like. */
static void power(struct attack *attack)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	u64 random = attack_random(attack), recorded;
	u64 regs[31] = { random };

	hyptrace_psci_begin(PSCI_0_2_FN_CPU_OFF, regs);
	hyptrace_psci_leave();
	hyptrace(hyp_exit, HYPTRACE_REASON_SMC);
	recorded = READ_ONCE(ring->recorded);
	hyptrace_cpu_off();
	require(READ_ONCE(ring->state) != HYPTRACE_RING_ATTACHED);
	hyptrace(selftest, random);
	/* Others may reset the ring. */
	require(READ_ONCE(ring->recorded) <= recorded);
	for (random &= 15; random; random--)
		sched_yield();
	hyptrace_cpu_on();
	require(READ_ONCE(ring->state) != HYPTRACE_RING_PARKED);
	attack->attached = look().attached;
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	hyptrace_psci_end(-1);
	hyptrace_host_exit();
	attack->nr_off++;
}

/* The host may program the PMU at any time. The first CPU has none. */
static void program_pmu(struct attack *attack)
{
	u64 random = attack_random(attack);

	if (attack->cpu)
		hyptrace_host_pmu.nr = random & 15 ? 6 : random >> 4 & 7;
	hyptrace_host_pmu.enabled = random >> 8 & 3 ? ~0ULL : random >> 10;
	hyptrace_host_pmu.mdcr = random >> 42 & 3 ? 31 : random >> 44;
	hyptrace_host_pmu.pmcr = !!(random >> 55 & 7);
	hyptrace_host_pmu.values[random >> 32 & 31] += random;
	hyptrace_host_pmu.types[random >> 37 & 3] = random >> 39 & 7;
}

void some_visit(struct attack *attack)
{
	u64 random = attack_random(attack);

	__atomic_fetch_add(&env_counter, random & 1023, __ATOMIC_RELAXED);
	if (!(random >> 10 & 1023))
		__atomic_fetch_add(&env_counter, BIT_ULL(28), __ATOMIC_RELAXED);
	switch (random >> 20 & 15) {
	case 0:
		firmware_call(attack);
		break;
	case 1:
		some_event(attack, HYPTRACE_EVENT_hyp_enter);
		some_event(attack, HYPTRACE_EVENT_host_mem_abort);
		hyptrace_host_exit();
		break;
	case 2:
		if (random >> 24 & 7)
			program_pmu(attack);
		else
			power(attack);
		break;
	default:
		hypercall(attack);
	}
}
