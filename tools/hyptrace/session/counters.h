/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of a remote, of each CPU or added up. For count, stat, top and catch.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct hyptrace_event_counter;
struct hyptrace_event;

/* A counter of one CPU, or the sum of those of all CPUs */
struct counter_sum {
	const struct hyptrace_event	*event;
	/* one of the counters; NULL if the event was not counted so far */
	const struct hyptrace_event_counter	*of;
	bool				all_cpus;	/* it is the sum of all CPUs */
	uint64_t			count;
	uint64_t			total;	/* sum of the times, ns */
	uint64_t			longest;	/* the longest time, ns */
	/* number of events by time: as many as of has */
	uint64_t			*buckets;
};

/* Sums to print, in this order */
struct counter_sums {
	struct counter_sum	*sums;
	unsigned int		nr;
};

bool counters_any_counted(struct hyptrace_event *const *events);
bool counters_have_same_key(const struct hyptrace_event_counter *a,
			    const struct hyptrace_event_counter *b);
void counter_sums_add(struct counter_sums *sums, struct hyptrace_event *const *events,
		      const struct hyptrace_event_counter *counter, bool all_cpus);
void counter_sums_add_unused(struct counter_sums *sums, struct hyptrace_event *const *events);
void counter_sums_sort(struct counter_sums *sums);
void counter_sums_free(struct counter_sums *sums);

#endif /* COUNTERS_H */
