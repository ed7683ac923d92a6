// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of the CPU's PMU: which ones EL2 reads, and what they have counted during an event.
 * The host is not trusted: it may program them in any way at any time, but EL2 reads no counter
 * that the CPU does not have, and says nothing if one counts something else. Called by count.c,
 * trace_count.h and calls.c.
 *
 * Registers: Arm Architecture Reference Manual, D13 "The Performance Monitors Extension".
 */
#include "hooks.h"

#ifdef __KVM_NVHE_HYPERVISOR__

/* pmu_read.S. Return: 0 if all are programmed as their types say, else the bits that differ */
u64 hyptrace_pmu_read_counters(const struct hyptrace_pmu_counter *counter,
			       const struct hyptrace_pmu_counter *end, u64 *counts);

/* How many counters of events the CPU has; -1: no PMU of version 3 */
static int nr_counters(void)
{
	u32 version = FIELD_GET(GENMASK_ULL(11, 8), read_sysreg(id_aa64dfr0_el1));

	if (!version || version == 0xf)
		return -1;

	return FIELD_GET(GENMASK_ULL(15, 11), read_sysreg(pmcr_el0));
}

static bool has_counter_of_instructions(void)
{
	return FIELD_GET(GENMASK_ULL(39, 36), read_sysreg(id_aa64dfr1_el1));
}

#define read_enabled()		read_sysreg(pmcntenset_el0)
#define read_mdcr()		read_sysreg(mdcr_el2)
#define read_pmcr()		read_sysreg(pmcr_el0)
#define synchronize_counters()	isb()

#else

#ifdef HYPTRACE_ENV_HOST
__thread struct hyptrace_host_pmu hyptrace_host_pmu = {
	.nr = -1, .mdcr = 31, .pmcr = 1,
};

static u64 hyptrace_pmu_read_counters(const struct hyptrace_pmu_counter *counter,
				      const struct hyptrace_pmu_counter *end, u64 *counts)
{
	u64 differs = 0;

	for (; counter < end; counter++) {
		u8 number = counter->code / HYPTRACE_PMU_CODE_BYTES;

		*counts++ = hyptrace_host_pmu.values[number];
		differs |= hyptrace_host_pmu.types[number] ^ counter->type;
	}

	return differs;
}

#define read_enabled()		(hyptrace_host_pmu.enabled)
#define read_mdcr()		(hyptrace_host_pmu.mdcr)
/* A CPU without a PMU need not have the register. */
#define read_pmcr()		(assert(nr_counters() >= 0), hyptrace_host_pmu.pmcr)
#define nr_counters()		(hyptrace_host_pmu.nr)
#define has_counter_of_instructions() (hyptrace_host_pmu.has_instructions)
#else
/* Only EL2 can count EL2. */
#define hyptrace_pmu_read_counters(counter, end, counts) \
	((void)(counter), (void)(end), (void)(counts), 0ULL)
#define read_enabled()		0ULL
#define read_mdcr()		0ULL
#define read_pmcr()		0ULL
#define nr_counters()		-1
#define has_counter_of_instructions() false
#endif
#define synchronize_counters()	do { } while (0)

#endif

#define PMCR_ENABLE	BIT_ULL(0)
#define MDCR_HPMN	GENMASK_ULL(4, 0)
#define MDCR_HPME	BIT_ULL(7)

/*
 * The counters that run now, as bits per number. HPME runs those of events from HPMN on, and E the
 * others. A kernel may set HPMN to 0 while a guest is loaded, and perf clears E for a while.
 */
static u64 running(void)
{
	u64 mdcr = read_mdcr(), events = GENMASK_ULL(HYPTRACE_PMU_CYCLES - 1, 0);
	u64 second = events & (events << (mdcr & MDCR_HPMN)), stopped = 0;

	if (!(mdcr & MDCR_HPME))
		stopped = second;
	if (!(read_pmcr() & PMCR_ENABLE))
		stopped |= ~second;

	return read_enabled() & ~stopped;
}

/* What the counter is programmed to count */
static u32 event_of(u8 number, u64 type)
{
	if (number == HYPTRACE_PMU_CYCLES)
		return HYPTRACE_PMU_CPU_CYCLES;
	if (number == HYPTRACE_PMU_INSTRUCTIONS)
		return HYPTRACE_PMU_INST_RETIRED;

	return (u16)type;
}

/* Check whether the CPU has a PMU, which has the counter. */
static int check_counter(u8 number)
{
	int nr = nr_counters();

	if (nr < 0)
		return -EOPNOTSUPP;
	if (number == HYPTRACE_PMU_CYCLES)
		return 0;
	if (number == HYPTRACE_PMU_INSTRUCTIONS)
		return has_counter_of_instructions() ? 0 : -EINVAL;

	return number < nr ? 0 : -EINVAL;
}

/**
 * hyptrace_pmu_clear() - measure nothing any more
 * @ring:	this CPU's
 * Context: count_lock held.
 */
void hyptrace_pmu_clear(struct hyptrace_ring *ring)
{
	if (ring->counting.pmu.measured)
		hyptrace_select_measured(false);
	ring->counting.pmu = (struct hyptrace_pmu) { };
}

/**
 * hyptrace_pmu_set() - measure with a counter, too, or with another one in its place
 * @ring:	this CPU's
 * @what:	as in HYPTRACE_OP_PMU
 * Context: count_lock held.
 * Return: 0; -EOPNOTSUPP the CPU has no PMU; -EINVAL no such place or counter, or the counter
 * counts another event or nothing.
 */
int hyptrace_pmu_set(struct hyptrace_ring *ring, u64 what)
{
	struct hyptrace_pmu *pmu = &ring->counting.pmu;
	u8 place = what, number = what >> 8;
	int ret = check_counter(number);
	struct hyptrace_pmu_counter counter[2] = { };	/* as in struct hyptrace_pmu */
	u64 count;

	if (ret)
		return ret;
	if (place > pmu->nr || place >= HYPTRACE_PMU_COUNTERS)
		return -EINVAL;
	number = array_index_nospec(number, HYPTRACE_PMU_INSTRUCTIONS + 1);
	place = array_index_nospec(place, HYPTRACE_PMU_COUNTERS);
	counter->code = number * HYPTRACE_PMU_CODE_BYTES;
	/* What differs from 0 is its type. */
	counter->type = hyptrace_pmu_read_counters(counter, counter + 1, &count);
	if (event_of(number, counter->type) != what >> 16 || !(running() & BIT_ULL(number)))
		return -EINVAL;

	if (place == pmu->nr)
		pmu->nr++;
	pmu->numbers[place] = number;
	pmu->counters[place] = *counter;
	pmu->events[place] = what >> 16;
	pmu->enabled = 0;
	for (place = 0; place < pmu->nr; place++)
		pmu->enabled |= BIT_ULL(pmu->numbers[place]);
	if (!pmu->measured)
		hyptrace_select_measured(true);
	pmu->measured = HYPTRACE_MEASURED_EVENTS;
	memset(pmu->has_begun, 0, sizeof(pmu->has_begun));

	return 0;
}

/* The counters that stand still now, as bits per number */
static u64 missing(const struct hyptrace_pmu *pmu)
{
	return pmu->enabled & ~running();
}

/* Read all counters. Return: 0 if all are programmed as they are to be, else what differs */
static u64 read_all(const struct hyptrace_pmu *pmu, u64 *counts)
{
	synchronize_counters();

	return hyptrace_pmu_read_counters(pmu->counters, pmu->counters + pmu->nr, counts);
}

/**
 * hyptrace_pmu_read() - read the counters, as an event ends
 * @ring:	this CPU's, which measures the event
 */
void hyptrace_pmu_read(struct hyptrace_ring *ring)
{
	struct hyptrace_pmu *pmu = &ring->counting.pmu;
	u64 differs = read_all(pmu, pmu->now);

	/* That need not be counted with the event. */
	pmu->is_valid = !(differs | missing(pmu));
}

/**
 * hyptrace_pmu_begin() - begin to measure an event
 * @ring:	this CPU's, which measures the event
 * @of:		the event: HYPTRACE_PMU_OF_*
 */
void hyptrace_pmu_begin(struct hyptrace_ring *ring, unsigned int of)
{
	struct hyptrace_pmu *pmu = &ring->counting.pmu;
	u64 wrong = missing(pmu);

	wrong |= read_all(pmu, pmu->begun[of]);
	pmu->has_begun[of] = !wrong;
}

/**
 * hyptrace_pmu_run() - a guest is loaded, and will run
 * @ring:	this CPU's, which measures events
 *
 * If a counter stands still meanwhile, the hypercall that runs the guest is not measured. Visits of
 * EL2 begin and end while it is loaded, too, and need not be told.
 */
void hyptrace_pmu_run(struct hyptrace_ring *ring)
{
	struct hyptrace_pmu *pmu = &ring->counting.pmu;

	if (missing(pmu))
		pmu->has_begun[HYPTRACE_PMU_OF_CALL] = false;
}

/**
 * hyptrace_pmu_end() - end to measure an event, with the values that hyptrace_pmu_read() has read
 * @ring:	this CPU's
 * @of:		the event: HYPTRACE_PMU_OF_*
 * @counter:	the counters of its key
 * @counts:	out: what each counter has counted
 *
 * A counter of events may have 32 bits only: none counts more than that during an event.
 *
 * Return: whether it was measured.
 */
bool hyptrace_pmu_end(struct hyptrace_ring *ring, unsigned int of,
		      struct hyptrace_private_count *counter, u64 counts[HYPTRACE_PMU_COUNTERS])
{
	struct hyptrace_count *published = hyptrace_count_published(counter);
	struct hyptrace_pmu *pmu = &ring->counting.pmu;
	u32 i;

	if (!pmu->has_begun[of])
		return false;
	pmu->has_begun[of] = false;
	/* The host may have given a counter to somebody else, or have stopped it. */
	if (!pmu->is_valid)
		return false;

	hyptrace_count_begin_change(counter);
	WRITE_ONCE(published->measured, ++counter->measured);
	for (i = 0; i < pmu->nr; i++) {
		counts[i] = pmu->now[i] - pmu->begun[of][i];
		if (pmu->numbers[i] < HYPTRACE_PMU_CYCLES)
			counts[i] = (u32)counts[i];
		counter->pmu[i] += counts[i];
		WRITE_ONCE(published->pmu[i], counter->pmu[i]);
	}
	hyptrace_count_end_change(counter);

	return true;
}
