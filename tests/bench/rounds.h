/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timing of the writers on the host.
 */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stdint.h>
#include <time.h>

/* The number of events in all rounds. The best round had the CPU for itself. */
#define EVENTS_IN_ALL	20000000

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Return the nanoseconds per event of the best round. */
static inline double best_round(void (*write_events)(uint64_t nr), uint64_t events)
{
	uint64_t round, start, ns, best = UINT64_MAX;

	for (round = 0; round < EVENTS_IN_ALL / events; round++) {
		start = now_ns();
		write_events(events);
		ns = now_ns() - start;
		if (ns < best)
			best = ns;
	}
	return (double)best / events;
}

#endif /* BENCH_ROUNDS_H */
