/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of a CPU goes: to the host, to EL2, or to guests. For stat.
 *
 * Each moment of a CPU belongs to one of them or is unknown, so that the four add up to the time
 * that has passed. An interval begins and ends with hyp_enter or hyp_exit.
 */
#ifndef STAT_TIMES_H
#define STAT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

enum stat_place {
	STAT_UNKNOWN,
	STAT_HOST,
	STAT_EL2,
	STAT_GUEST,
	NR_STAT_PLACES
};

/**
 * struct stat_times - the times of a CPU; all 0 is one whose place was never known
 * @ns:		the time at each place so far
 * @since:	when the current interval began
 * @now:	its place; STAT_UNKNOWN also if something was lost since then
 */
struct stat_times {
	uint64_t	ns[NR_STAT_PLACES];
	uint64_t	since;
	enum stat_place	now;
};

void stat_times_sum(const struct stat_times *t, uint64_t begin, uint64_t end,
		    uint64_t ns[NR_STAT_PLACES]);
void stat_times_cut(struct stat_times *t, uint64_t at);

/* End an interval at @was, or at an unknown place, and begin one at @now. */
static inline void stat_times_change(struct stat_times *t, uint64_t ts, enum stat_place was,
				     enum stat_place now)
{
	if (ts > t->since) {
		t->ns[was] += ts - t->since;
		t->since = ts;
	}
	t->now = now;
}

/**
 * stat_times_enter - a CPU enters EL2
 * @t:		its times
 * @ts:		the time
 */
static inline void stat_times_enter(struct stat_times *t, uint64_t ts)
{
	stat_times_change(t, ts, t->now == STAT_EL2 ? STAT_UNKNOWN : t->now, STAT_EL2);
}

/**
 * stat_times_exit - a CPU leaves EL2
 * @t:		its times
 * @ts:		the time
 * @to_guest:	it enters a guest; else the host
 */
static inline void stat_times_exit(struct stat_times *t, uint64_t ts, bool to_guest)
{
	stat_times_change(t, ts, t->now == STAT_EL2 ? STAT_EL2 : STAT_UNKNOWN,
			  to_guest ? STAT_GUEST : STAT_HOST);
}

/**
 * stat_times_lose - events were lost since the last one
 * @t:		the times of their CPU
 */
static inline void stat_times_lose(struct stat_times *t)
{
	t->now = STAT_UNKNOWN;
}

#endif /* STAT_TIMES_H */
