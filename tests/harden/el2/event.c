// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events on this CPU, and what its ring must make of each. A CPU that knows of its silence must
 * record nothing. In calm times it must record, filter or drop each event that it has selected.
 */
#include "el2.h"

/* While the ring is attached, only its own CPU changes these. */
struct seen look(void)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	struct seen seen = {
		.attached = READ_ONCE(ring->state) == HYPTRACE_RING_ATTACHED,
		.silent = ring->silent,
	};

	if (seen.attached) {
		seen.recorded = ring->recorded;
		seen.filtered = ring->filtered;
		seen.dropped = ring->dropped;
	}

	return seen;
}

/* How many events there were since then; 0 if the ring is not the same any more */
u64 seen_since(struct seen before)
{
	struct seen now = look();

	if (!before.attached || !now.attached)
		return 0;

	return now.recorded - before.recorded + now.filtered - before.filtered +
	       now.dropped - before.dropped;
}

/* Check whether it is certain that this CPU must notice the event, if it has selected it. */
bool is_exact(const struct attack *attack, u32 event, struct seen before)
{
	/* The silence of an own call may last, if no event was on when it ended. */
	return rules.calm && before.attached && (!before.silent || attack->silent) &&
	       hyptrace_this_ring()->selected & BIT_ULL(event);
}

/* An event has happened on this CPU: check what became of it. */
void expect_event(struct attack *attack, u32 event, struct seen before)
{
	const struct hyptrace_ring *ring = hyptrace_this_ring();
	u64 audible = hyptrace_audible(attack->silent), bit = BIT_ULL(event);
	u64 nr = seen_since(before), most = 0;

	attack->nr_events++;
	if (!before.attached)
		return;
	if (!(audible & bit)) {
		attack->nr_silent++;
		require(!nr);
		return;
	}
	require(!(before.silent & ~(attack->silent | HYPTRACE_SILENT_CALL)));
	if (ring->selected & bit)
		most = 1;
	if (is_exact(attack, event, before)) {
		attack->nr_exact++;
		require(nr >= 1);
	}
	/* What the PMU has counted during it are events of their own. */
	if (ring->counting.selected & ring->counting.pmu.measured & bit &&
	    ring->selected & BIT_ULL(HYPTRACE_EVENT_pmu))
		most += ring->counting.pmu.nr;
	require(nr <= most);
}

/* Begin and end an event of any arguments. */
void do_event(u32 event, u64 random)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	struct hyptrace_vcpu vcpu = {
		.handle = random, .protected = random >> 8 & 1, .pc = random,
		.fault = { random >> 5, random, random << 3 },
	};
	u64 regs[31] = { random & 1, random, random >> 9, 3, 4, 5 };

	switch (event) {
	case HYPTRACE_EVENT_hyp_enter:
		hyptrace(hyp_enter, random);
		break;
	case HYPTRACE_EVENT_hyp_exit:
		hyptrace(hyp_exit, random);
		break;
	case HYPTRACE_EVENT_selftest:
		hyptrace(selftest, random);
		break;
	case HYPTRACE_EVENT_host_hcall:
		hyptrace_begin(host_hcall, random >> 16 & 255, regs);
		hyptrace(host_hcall, regs);
		break;
	case HYPTRACE_EVENT_host_smc:
		hyptrace_begin(host_smc, random, regs);
		hyptrace(host_smc, (int)(random % 3) - 1, regs);
		break;
	case HYPTRACE_EVENT_psci_call:
		hyptrace_psci_begin(random, regs);
		hyptrace_psci_end(random % 3);
		break;
	case HYPTRACE_EVENT_host_mem_abort:
		hyptrace_timed(host_mem_abort, (s32)random, random, random);
		break;
	case HYPTRACE_EVENT_host_ffa_call:
		hyptrace_ffa(0x84000060 + random % 160, random >> 8 & 1, regs);
		break;
	case HYPTRACE_EVENT_guest_enter:
		hyptrace(guest_enter, random, random >> 32);
		break;
	case HYPTRACE_EVENT_guest_exit:
		hyptrace_begin_span(ring, guest_exit);
		hyptrace_end_span(ring, guest_exit, &vcpu, random >> 50);
		break;
	case HYPTRACE_EVENT_guest_fixup:
		hyptrace_begin(guest_fixup, random);
		hyptrace(guest_fixup, random >> 8 & 1);
		break;
	case HYPTRACE_EVENT_vcpu_load:
		hyptrace(vcpu_load, random, random, random);
		break;
	case HYPTRACE_EVENT_vcpu_put:
		hyptrace(vcpu_put, random, random, random);
		break;
	case HYPTRACE_EVENT_vcpu_illegal_trap:
		hyptrace(vcpu_illegal_trap, random);
		break;
	case HYPTRACE_EVENT_mem_transition:
		hyptrace(mem_transition, random, random, random, random, 1, random, 7, -1);
		break;
	case HYPTRACE_EVENT_tlbi:
		hyptrace(tlbi, random, random, random, random);
		break;
	case HYPTRACE_EVENT_hyp_pool:
		hyptrace(hyp_pool, random, random, random, random);
		break;
	case HYPTRACE_EVENT_hyp_printk:
		hyptrace_printk("attack %llu %llu", random, random >> 8);
		break;
	case HYPTRACE_EVENT_hyp_panic:
		hyptrace(hyp_panic, random, random, random);
		break;
	case HYPTRACE_EVENT_func:
		hyptrace(func, random, random, random, random);
		break;
	case HYPTRACE_EVENT_pmu:
		hyptrace(pmu, random, random, random);
		break;
	case HYPTRACE_EVENT_lock_wait:
		hyptrace_begin_span(ring, lock_wait);
		hyptrace_end_span(ring, lock_wait, random, random >> 8);
		break;
	default:
		require(!"an event that this attack does not know");
	}
}

void some_event(struct attack *attack, u32 event)
{
	struct seen before = look();

	do_event(event, attack_random(attack));
	expect_event(attack, event, before);
}

/* Any event; but not a call in a call, which would end the outer one. */
u32 any_event(struct attack *attack)
{
	u32 event = 1 + attack_below(attack, HYPTRACE_NR_EVENTS - 1);

	return attack->in_call && event == HYPTRACE_EVENT_host_hcall ?
	       HYPTRACE_EVENT_selftest : event;
}
