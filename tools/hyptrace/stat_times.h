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
 * struct stat_times - the times of a CPU; all 0 is one without an event
 * @ns:		the time at each place so far
 * @first:	when the first interval ended, if @begun
 * @before:	the place of the first interval
 * @since:	when the current interval began
 * @now:	its place; STAT_UNKNOWN also if something was lost since then
 * @begun:	there was an event
 * @lost_first:	something was lost before the first event
 */
struct stat_times {
	uint64_t	ns[NR_STAT_PLACES];
	uint64_t	first;
	enum stat_place	before;
	uint64_t	since;
	enum stat_place	now;
	bool		begun;
	bool		lost_first;
};

void stat_times_sum(const struct stat_times *t, uint64_t begin, uint64_t end,
		    uint64_t ns[NR_STAT_PLACES]);
void stat_times_cut(struct stat_times *t, uint64_t at);

/* End an interval at @was, or at an unknown place, and begin one at @now. */
static inline void stat_times_change(struct stat_times *t, uint64_t ts, enum stat_place was,
				     enum stat_place now)
{
	if (__builtin_expect(!t->begun, 0)) {
		t->begun = true;
		t->first = ts;
		t->since = ts;
		t->before = t->lost_first ? STAT_UNKNOWN : was;
	} else if (ts > t->since) {
		t->ns[was] += ts - t->since;
		t->since = ts;
	}
	t->now = now;
}

/**
 * stat_times_enter - a CPU enters EL2
 * @t:		its times
 * @ts:		the time
 * @from_guest:	the CPU leaves a guest; else the host
 */
static inline void stat_times_enter(struct stat_times *t, uint64_t ts, bool from_guest)
{
	enum stat_place was = t->now;

	if (!t->begun)
		was = from_guest ? STAT_GUEST : STAT_HOST;
	else if (was == STAT_EL2)
		was = STAT_UNKNOWN;
	stat_times_change(t, ts, was, STAT_EL2);
}

/**
 * stat_times_exit - a CPU leaves EL2
 * @t:		its times
 * @ts:		the time
 * @to_guest:	it enters a guest; else the host
 */
static inline void stat_times_exit(struct stat_times *t, uint64_t ts, bool to_guest)
{
	bool known = !t->begun || t->now == STAT_EL2;

	stat_times_change(t, ts, known ? STAT_EL2 : STAT_UNKNOWN,
			  to_guest ? STAT_GUEST : STAT_HOST);
}

/**
 * stat_times_lose - events were lost since the last one
 * @t:		the times of their CPU
 */
static inline void stat_times_lose(struct stat_times *t)
{
	t->now = STAT_UNKNOWN;
	if (!t->begun)
		t->lost_first = true;
}

#endif /* STAT_TIMES_H */
