/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the counters of the CPU's PMU have counted during an event. The host programs them to count
 * EL2, and says which ones they are; EL2 only reads them. Events that are measured are counted, and
 * have functions of their own in trace.c: so no other event needs an instruction more. Included by
 * count.h and pmu_read.S.
 */
#ifndef __HYPTRACE_PMU_H
#define __HYPTRACE_PMU_H

/* The code in pmu_read.S that reads one counter, and struct hyptrace_pmu_counter */
#define HYPTRACE_PMU_CODE_BYTES		16
#define HYPTRACE_PMU_COUNTER_BYTES	16

#ifndef __ASSEMBLY__

#include "env.h"
#include "abi.h"
#include "entry.h"
#include "names.h"

/* The events that are measured, if they are counted; hyp_exit ends hyp_enter. */
#define HYPTRACE_MEASURED_EVENTS					\
	(BIT_ULL(HYPTRACE_EVENT_hyp_enter) |				\
	 BIT_ULL(HYPTRACE_EVENT_hyp_exit) |				\
	 BIT_ULL(HYPTRACE_EVENT_host_hcall) |				\
	 BIT_ULL(HYPTRACE_EVENT_guest_exit))

/* What pmu_read.S reads a counter with */
struct hyptrace_pmu_counter {
	u64	code;	/* its number * HYPTRACE_PMU_CODE_BYTES */
	u64	type;	/* how it is programmed */
};

static_assert(sizeof(struct hyptrace_pmu_counter) == HYPTRACE_PMU_COUNTER_BYTES);
static_assert(!offsetof(struct hyptrace_pmu_counter, code));

/* What a CPU measures */
struct hyptrace_pmu {
	u64	measured;	/* bit per event id: HYPTRACE_MEASURED_EVENTS; 0 without counters */
	u64	enabled;	/* bit per number: the counters */
	/* what each is read with; the last is 0, since the CPU may speculate beyond the others */
	struct hyptrace_pmu_counter counters[HYPTRACE_PMU_COUNTERS + 1];
	u32	nr;
	u8	numbers[HYPTRACE_PMU_COUNTERS];
	u16	events[HYPTRACE_PMU_COUNTERS];	/* what each counts */
	u64	now[HYPTRACE_PMU_COUNTERS];	/* their values when an event ended */
	bool	is_valid;	/* all of them counted then what they are to */
	/* their values when each event began: HYPTRACE_PMU_OF_* */
	u64	begun[HYPTRACE_NR_PMU_OF][HYPTRACE_PMU_COUNTERS];
	bool	has_begun[HYPTRACE_NR_PMU_OF];
};

#ifdef HYPTRACE_ENV_HOST
/* The PMU of a CPU of a host program, which is a thread */
struct hyptrace_host_pmu {
	int	nr;		/* without the counters of cycles and instructions */
	bool	has_instructions;
	u64	enabled;	/* bit per counter: PMCNTENSET_EL0 */
	u64	mdcr;
	u64	pmcr;
	u64	values[HYPTRACE_PMU_INSTRUCTIONS + 1];
	u64	types[HYPTRACE_PMU_INSTRUCTIONS + 1];	/* what each counts */
};

extern __thread struct hyptrace_host_pmu hyptrace_host_pmu;
#endif

struct hyptrace_private_count;
struct hyptrace_ring;

/* pmu.c */
int hyptrace_pmu_set(struct hyptrace_ring *ring, u64 what);
void hyptrace_pmu_clear(struct hyptrace_ring *ring);
void hyptrace_pmu_read(struct hyptrace_ring *ring);
void hyptrace_pmu_begin(struct hyptrace_ring *ring, unsigned int of);
void hyptrace_pmu_run(struct hyptrace_ring *ring);
bool hyptrace_pmu_end(struct hyptrace_ring *ring, unsigned int of,
		      struct hyptrace_private_count *counter, u64 counts[HYPTRACE_PMU_COUNTERS]);

#endif /* __ASSEMBLY__ */

#endif /* __HYPTRACE_PMU_H */
