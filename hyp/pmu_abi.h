/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of abi.h about the counters of the PMU */
#ifndef __HYPTRACE_PMU_ABI_H
#define __HYPTRACE_PMU_ABI_H

#include <linux/types.h>

/* Counters of a CPU that EL2 can read */
#define HYPTRACE_PMU_COUNTERS	4
/* In HYPTRACE_OP_PMU: no counter; the same, and set what was measured to 0 */
#define HYPTRACE_PMU_NONE	(~0ULL)
#define HYPTRACE_PMU_RESET	(~1ULL)
/* The numbers of the counters of cycles and of instructions; what they count */
#define HYPTRACE_PMU_CYCLES	31
#define HYPTRACE_PMU_INSTRUCTIONS 32
#define HYPTRACE_PMU_CPU_CYCLES	0x11
#define HYPTRACE_PMU_INST_RETIRED 0x08

/**
 * hyptrace_pmu_counter() - pack the second argument of HYPTRACE_OP_PMU
 * @place:	of what it counts in @pmu of struct hyptrace_count
 * @number:	of the counter: PMEVCNTR<number>_EL0, HYPTRACE_PMU_CYCLES or
 *		HYPTRACE_PMU_INSTRUCTIONS
 * @event:	that it counts, in the numbers of PMEVTYPER<n>_EL0.evtCount
 * Return: the argument.
 */
static inline __u64 hyptrace_pmu_counter(__u8 place, __u8 number, __u16 event)
{
	return place | (__u64)number << 8 | (__u64)event << 16;
}

#endif /* __HYPTRACE_PMU_ABI_H */
