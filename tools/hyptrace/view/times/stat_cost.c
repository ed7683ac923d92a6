// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to record or to count an event, on this machine: how much longer the CPU then takes
 * to enter EL2 and to return.
 */
#include <stdlib.h>

#include "stat.h"

#define VISITS			64
#define ROUNDS			9
#define PSEC_PER_NSEC		1000

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Return the median of some rounds, in ns; 0 if the remote cannot say it. Half of the rounds differ
 * from it by @spread at most.
 */
static uint64_t time_visits(const struct stat *stat, uint64_t *spread)
{
	uint64_t nsec[ROUNDS] = {};
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		if (hyptrace_time_visits(stat->session.ctx->h, stat->session.name, VISITS,
					 &nsec[i], NULL))
			return 0;
	qsort(nsec, ROUNDS, sizeof(nsec[0]), compare);
	*spread = (nsec[ROUNDS * 3 / 4] - nsec[ROUNDS / 4]) / 2;
	return nsec[ROUNDS / 2];
}

/* Measure visits of EL2 while no event is recorded or counted. */
void stat_cost_prepare(struct stat *stat)
{
	stat->visits_nsec = time_visits(stat, &stat->visits_spread);
}

/* Measure what an event costs, while those that the verb needs happen. */
void stat_cost_measure(struct stat *stat)
{
	/* hyp_enter and hyp_exit, and maybe host_hcall */
	const unsigned int nr = stat_by_needs(stat->by, HYPTRACE_KIND_HYPERCALL) ? 3 : 2;
	uint64_t spread = 0;
	uint64_t during = stat->visits_nsec ? time_visits(stat, &spread) : 0;

	if (during <= stat->visits_nsec)
		return;
	stat->event_psec = (during - stat->visits_nsec) * PSEC_PER_NSEC / (VISITS * nr);
	stat->event_spread = (spread + stat->visits_spread) * PSEC_PER_NSEC / (VISITS * nr);
}

/* Compute what the events of a CPU have cost. An event that was lost was recorded, too. */
uint64_t stat_cost(const struct stat *stat, const struct stat_cpu *cpu, uint64_t *spread)
{
	const uint64_t nr = cpu->events + cpu->lost + cpu->counted;

	*spread = nr * stat->event_spread / PSEC_PER_NSEC;
	return nr * stat->event_psec / PSEC_PER_NSEC;
}
