/* SPDX-License-Identifier: GPL-2.0-only */
/* The counter that EL2 reads for its time stamps, for el2.c and kernel.c. */
#ifndef __HYPTRACE_COUNTER_H
#define __HYPTRACE_COUNTER_H

#include <linux/cpumask.h>
#include <linux/percpu.h>

#include <asm/arch_timer.h>

/* Does the virtual counter, or the physical one, need a workaround, which EL2 does not have? */
static inline bool hyptrace_has_counter_erratum(bool is_virtual)
{
#ifdef CONFIG_ARM_ARCH_TIMER_OOL_WORKAROUND
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct arch_timer_erratum_workaround *wa =
			per_cpu(timer_unstable_counter_workaround, cpu);

		if (wa && (is_virtual ? wa->read_cntvct_el0 : wa->read_cntpct_el0))
			return true;
	}
#endif
	return false;
}

#endif /* __HYPTRACE_COUNTER_H */
