// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hypercall, by the thread of a CPU: it must end in time. hostile_check.c looks at its answer.
 */
#include <linux/irqflags.h>
#include <linux/time64.h>

#include <asm/arch_timer.h>
#include <asm/kvm_asm.h>

#include "el2.h"
#include "hyptrace_hostile.h"

/* The page that an op donates, or 0 */
static u64 donated(u64 op, u64 arg2)
{
	if (op == HYPTRACE_OP_RING_DIR || op == HYPTRACE_OP_RING_TABLE ||
	    op == HYPTRACE_OP_COUNT_PAGE)
		return arg2;

	return 0;
}

static void measure(struct attack *attack, const struct asked *asked, u64 cycles)
{
	u64 ns = cycles * NSEC_PER_SEC / hyptrace_el2.counter_rate();

	if (asked->op < HYPTRACE_NR_OPS && ns > attack->worst_ns[asked->op])
		attack->worst_ns[asked->op] = ns;
	if (ns > hostile_limit_ms * NSEC_PER_MSEC)
		hostile_failed(attack, asked, "it has taken too long");
}

/**
 * call() - make a hypercall __hyptrace() on this CPU
 * @attack:	its thread
 * @op:		the op
 * @arg1:	first argument
 * @arg2:	second
 * @arg3:	third
 *
 * Return: what EL2 has answered.
 */
s64 call(struct attack *attack, u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	struct asked asked = { .op = op, .args = { arg1, arg2, arg3 } };
	u64 pfn = donated(op, arg2), cycles;
	unsigned long flags;

	local_irq_save(flags);
	if (pfn)
		hostile_lock_page(pfn);
	cycles = __arch_counter_get_cntpct();
	asked.ret = hyptrace_el2.call(op, arg1, arg2, arg3);
	cycles = __arch_counter_get_cntpct() - cycles;
	if (pfn)
		hostile_unlock_page(pfn);
	local_irq_restore(flags);

	attack->made++;
	attack->left--;
	attack->kept += asked.ret == -ENOTRECOVERABLE;
	if (op < HYPTRACE_NR_OPS && asked.ret >= 0)
		attack->accepted[op]++;
	measure(attack, &asked, cycles);
	hostile_check(attack, &asked);

	return asked.ret;
}

/**
 * unshare_page() - take back a page of the pool that is shared with EL2
 * @attack:	the thread of this CPU
 * @page:	its number
 *
 * EL2 must refuse it, unless this comes between the sharing and the pinning of the page.
 */
void unshare_page(struct attack *attack, u32 page)
{
	attack->unshared += !hostile_hvc(__KVM_HOST_SMCCC_FUNC___pkvm_host_unshare_hyp,
					 hostile_pfn(page));
	attack->made++;
	attack->left--;
}
