// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of a CPU goes.
 */
#include <string.h>

#include "stat_times.h"

/**
 * stat_times_sum - get the times of a CPU
 * @t:		the times
 * @begin:	begin of all times, not after the first event
 * @end:	end of all times, not before the last event
 * @ns:		out: the time at each place, @end - @begin in all
 *
 * The last interval ends at @end. The time before the first event is unknown.
 */
void stat_times_sum(const struct stat_times *t, uint64_t begin, uint64_t end,
		    uint64_t ns[NR_STAT_PLACES])
{
	memcpy(ns, t->ns, sizeof(t->ns));
	if (t->now != STAT_UNKNOWN)
		ns[t->now] += end - t->since;
	ns[STAT_UNKNOWN] = end - begin - ns[STAT_HOST] - ns[STAT_EL2] - ns[STAT_GUEST];
}

/**
 * stat_times_cut - begin to count again, in the middle of an interval
 * @t:		the times
 * @at:		when, not before the last event
 */
void stat_times_cut(struct stat_times *t, uint64_t at)
{
	memset(t->ns, 0, sizeof(t->ns));
	t->since = at;
}
