/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the counters of the CPU's PMU have counted during an event. The host programs them to count
 * EL2, and says which ones they are; EL2 only reads them. Included by count.h and pmu_read.S.
 *
 * Events that are measured are counted, and have functions of their own in trace.c: so no other
 * event needs an instruction more.
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

/**
 * struct hyptrace_pmu_counter - what pmu_read.S reads a counter with
 * @code:	its number * HYPTRACE_PMU_CODE_BYTES
 * @type:	how it is programmed
 */
struct hyptrace_pmu_counter {
	u64	code;
	u64	type;
};

static_assert(sizeof(struct hyptrace_pmu_counter) == HYPTRACE_PMU_COUNTER_BYTES);
static_assert(!offsetof(struct hyptrace_pmu_counter, code));

/**
 * struct hyptrace_pmu - what a CPU measures
 * @measured:	bit per event id: HYPTRACE_MEASURED_EVENTS, or 0 while there is no counter
 * @enabled:	bit per number: the counters
 * @nr:		how many there are
 * @counters:	of each, what it is read with; the last one is 0, since the CPU may speculate
 *		beyond the others
 * @numbers:	of each, its number
 * @events:	of each, what it counts
 * @now:	their values when an event ended
 * @is_valid:	all of them counted then what they are to
 * @begun:	their values when each event began: HYPTRACE_PMU_OF_*
 * @has_begun:	whether it has
 */
struct hyptrace_pmu {
	u64	measured;
	u64	enabled;
	struct hyptrace_pmu_counter counters[HYPTRACE_PMU_COUNTERS + 1];
	u32	nr;
	u8	numbers[HYPTRACE_PMU_COUNTERS];
	u16	events[HYPTRACE_PMU_COUNTERS];
	u64	now[HYPTRACE_PMU_COUNTERS];
	bool	is_valid;
	u64	begun[HYPTRACE_NR_PMU_OF][HYPTRACE_PMU_COUNTERS];
	bool	has_begun[HYPTRACE_NR_PMU_OF];
};

#ifdef HYPTRACE_ENV_HOST
/**
 * struct hyptrace_host_pmu - the PMU of a CPU of a host program, which is a thread
 * @nr:		counters; the one of cycles not included
 * @enabled:	bit per counter: PMCNTENSET_EL0
 * @mdcr:	MDCR_EL2
 * @pmcr:	PMCR_EL0
 * @values:	by number
 * @types:	by number: what it counts
 */
struct hyptrace_host_pmu {
	int	nr;
	u64	enabled;
	u64	mdcr;
	u64	pmcr;
	u64	values[HYPTRACE_PMU_INSTRUCTIONS + 1];
	u64	types[HYPTRACE_PMU_INSTRUCTIONS + 1];
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
