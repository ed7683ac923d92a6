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

/**
 * struct counter_sum - a counter of one CPU, or the sum of those of all CPUs
 * @event:	the event
 * @of:		one of the counters; NULL if the event was not counted so far
 * @all_cpus:	it is the sum of all CPUs
 * @count:	number of events
 * @total:	sum of the times, ns
 * @longest:	the longest time, ns
 * @buckets:	number of events by time: as many as @of has
 */
struct counter_sum {
	const struct hyptrace_event	*event;
	const struct hyptrace_event_counter	*of;
	bool				all_cpus;
	uint64_t			count;
	uint64_t			total;
	uint64_t			longest;
	uint64_t			*buckets;
};

/**
 * struct counter_sums - sums to print, in this order
 * @sums:	the sums
 * @nr:		number of @sums
 */
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
