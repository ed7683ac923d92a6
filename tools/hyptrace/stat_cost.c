// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to record or to count an event, on this machine: how much longer the CPU then takes
 * to enter EL2 and to return.
 */
#include "stat.h"

#define VISITS			64
#define ROUNDS			8
#define PSEC_PER_NSEC		1000

/* Return the shortest time of some rounds, in ns; 0 if the remote cannot say it. */
static uint64_t time_visits(const struct stat *stat, const char *remote)
{
	uint64_t nsec = 0, least = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		if (hyptrace_time_visits(stat->ctx->h, remote, VISITS, &nsec, NULL))
			return 0;
		if (nsec < least)
			least = nsec;
	}
	return least;
}

/**
 * stat_cost_prepare - measure visits of EL2 while no event is recorded or counted
 * @stat:	the verb
 * @remote:	the remote's name
 */
void stat_cost_prepare(struct stat *stat, const char *remote)
{
	stat->visits_nsec = time_visits(stat, remote);
}

/**
 * stat_cost_measure - measure what an event costs, while those that the verb needs happen
 * @stat:	the verb. Without stat_cost_prepare(), the cost is unknown.
 * @remote:	the remote's name
 */
void stat_cost_measure(struct stat *stat, const char *remote)
{
	/* hyp_enter and hyp_exit, and maybe host_hcall */
	const unsigned int nr = stat_by_needs(stat->by, STAT_HCALL) ? 3 : 2;
	uint64_t during = stat->visits_nsec ? time_visits(stat, remote) : 0;

	if (during > stat->visits_nsec)
		stat->event_psec = (during - stat->visits_nsec) * PSEC_PER_NSEC / (VISITS * nr);
}

/**
 * stat_cost - compute what the events of a CPU have cost
 * @stat:	the verb
 * @cpu:	the CPU
 *
 * An event that was lost was recorded, too.
 *
 * Return: the time, in ns.
 */
uint64_t stat_cost(const struct stat *stat, const struct stat_cpu *cpu)
{
	const uint64_t nr = cpu->events + cpu->lost + cpu->counted;

	return nr * stat->event_psec / PSEC_PER_NSEC;
}
