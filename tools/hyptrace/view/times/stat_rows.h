/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of stat and top by their keys, of which all 0 are none, and the times of CPUs.
 */
#ifndef STAT_ROWS_H
#define STAT_ROWS_H

#include <string.h>

#include "output/map.h"
#include "output/time_text.h"
#include "loglin.h"

/* What the samples of a row have in common, such as a reason; its meaning depends on --by */
struct stat_key {
	uint64_t	major;
	uint64_t	minor;	/* what distinguishes rows of the same major, or 0 */
};

/* Buckets that a counter has at most; a struct loglin has fewer */
#define STAT_BUCKETS	64

/* The samples of a row by their times, as EL2 has counted them */
struct stat_buckets {
	unsigned int	nr;
	uint64_t	from[STAT_BUCKETS];	/* the shortest time of each, ns */
	uint64_t	count[STAT_BUCKETS];
};

struct stat_row {
	struct stat_key		key;
	unsigned int		index;	/* its place among the rows */
	uint64_t		samples;
	struct loglin		times;	/* of those samples that have one */
	uint64_t		guest;	/* of guest exits: the times in guests; 0 if unknown */
	uint64_t		run;	/* likewise: guest, and what EL2 did meanwhile */
	struct stat_buckets	*buckets;	/* what EL2 has counted, if it was requested */
	/* only in the list of vCPUs: the last exit, until the next entry, and its time */
	struct stat_row		*exit;
	uint64_t		since;
};

/* Keys below this, such as reasons, need no hash. */
#define STAT_SMALL_KEYS	64

struct stat_rows {
	struct stat_row	**rows;	/* in the order of their first samples; each stays where it is */
	unsigned int	nr;
	struct map	map;
	struct stat_row	*small[STAT_SMALL_KEYS];
};

struct stat_row *stat_rows_add(struct stat_rows *rows, struct stat_key key);
void stat_rows_merge(struct stat_rows *to, const struct stat_rows *from);
struct stat_buckets *stat_row_buckets(struct stat_row *row, const uint64_t *from, unsigned int nr);
/* The samples by their times. Return the number of buckets. */
unsigned int stat_row_histogram(const struct stat_row *row,
				struct time_bucket buckets[STAT_BUCKETS]);
void stat_rows_free(struct stat_rows *rows);

/* NULL if there is none */
static inline struct stat_row *stat_rows_find(const struct stat_rows *rows, struct stat_key key)
{
	const struct map_entry *entry;

	if (!key.minor && key.major < STAT_SMALL_KEYS)
		return rows->small[key.major];
	entry = map_find(&rows->map, key.major, key.minor);
	return entry ? entry->ptr : NULL;
}

/* A new row if the key is new */
static inline struct stat_row *stat_rows_get(struct stat_rows *rows, struct stat_key key)
{
	struct stat_row *row = stat_rows_find(rows, key);

	return row ? row : stat_rows_add(rows, key);
}

static inline bool stat_key_is(struct stat_key a, struct stat_key b)
{
	return a.major == b.major && a.minor == b.minor;
}

/*
 * Where the time of a CPU goes: to the host, to EL2, or to guests. Each moment of a CPU belongs to
 * one of them or is unknown, so that the four add up to the time that has passed. An interval
 * begins and ends with hyp_enter or hyp_exit.
 */
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

#endif /* STAT_ROWS_H */
