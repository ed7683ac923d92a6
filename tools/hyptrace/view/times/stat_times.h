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
#include <string.h>

enum stat_place {
	STAT_UNKNOWN,
	STAT_HOST,
	STAT_EL2,
	STAT_GUEST,
	NR_STAT_PLACES
};

/* The times of a CPU; all 0 is one whose place was never known */
struct stat_times {
	uint64_t	ns[NR_STAT_PLACES];	/* the time at each place so far */
	uint64_t	since;	/* when the current interval began */
	enum stat_place	now;	/* its place; STAT_UNKNOWN also if something was lost since then */
};

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

static inline void stat_times_enter(struct stat_times *t, uint64_t ts)
{
	stat_times_change(t, ts, t->now == STAT_EL2 ? STAT_UNKNOWN : t->now, STAT_EL2);
}

static inline void stat_times_exit(struct stat_times *t, uint64_t ts, bool to_guest)
{
	stat_times_change(t, ts, t->now == STAT_EL2 ? STAT_EL2 : STAT_UNKNOWN,
			  to_guest ? STAT_GUEST : STAT_HOST);
}

/* Events were lost since the last one. */
static inline void stat_times_lose(struct stat_times *t)
{
	t->now = STAT_UNKNOWN;
}

/*
 * The time at each place from @begin, not after the first event, to @end, not before the last one:
 * @end - @begin in all. The time before the first event is unknown.
 */
static inline void stat_times_sum(const struct stat_times *t, uint64_t begin, uint64_t end,
				  uint64_t ns[NR_STAT_PLACES])
{
	memcpy(ns, t->ns, sizeof(t->ns));
	if (t->now != STAT_UNKNOWN)
		ns[t->now] += end - t->since;
	ns[STAT_UNKNOWN] = end - begin - ns[STAT_HOST] - ns[STAT_EL2] - ns[STAT_GUEST];
}

/* Begin to count again at a time that is not before the last event. */
static inline void stat_times_cut(struct stat_times *t, uint64_t at)
{
	memset(t->ns, 0, sizeof(t->ns));
	t->since = at;
}

#endif /* STAT_TIMES_H */
