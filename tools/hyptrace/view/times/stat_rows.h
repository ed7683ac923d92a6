/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of hyptrace stat by their keys. For stat_*.c.
 */
#ifndef STAT_ROWS_H
#define STAT_ROWS_H

#include "loglin.h"

/**
 * struct stat_key - what the samples of a row have in common; its meaning depends on --by
 * @major:	such as a reason, the number of a hypercall or a VM
 * @minor:	what distinguishes rows of the same @major, or 0
 */
struct stat_key {
	uint64_t	major;
	uint64_t	minor;
};

/* Buckets that a counter has at most */
#define STAT_BUCKETS	64

/**
 * struct stat_buckets - the samples of a row by their times, as EL2 has counted them
 * @nr:		number of buckets
 * @from:	the shortest time of each, ns
 * @count:	its samples
 */
struct stat_buckets {
	unsigned int	nr;
	uint64_t	from[STAT_BUCKETS];
	uint64_t	count[STAT_BUCKETS];
};

/**
 * struct stat_row - the samples of a key
 * @key:	the key
 * @cpu:	the CPU; only if the rows are those of one CPU
 * @samples:	number of samples
 * @times:	the times of those samples that have one
 * @guest:	sum of times in guests, only of guest exits; 0 without hyp_enter and hyp_exit
 * @run:	sum of the field duration of guest_exit: @guest and what EL2 did meanwhile
 * @buckets:	the samples that EL2 has counted, if they were requested; else NULL
 * @since:	only in the list of vCPUs: the time of its last exit
 * @exit:	only there: the row of that exit; NULL after the next entry
 */
struct stat_row {
	struct stat_key	key;
	unsigned int	cpu;
	uint64_t	samples;
	struct loglin	times;
	uint64_t	guest;
	uint64_t	run;
	struct stat_buckets	*buckets;
	uint64_t	since;
	struct stat_row	*exit;
};

/* Rows that need no look into the hash table: a power of two */
#define STAT_RECENT	16

/**
 * struct stat_rows - the rows; all 0 are none
 * @rows:	the rows, in the order of their first samples; each stays where it is
 * @nr:		number of @rows
 * @slots:	a hash table: numbers of rows plus 1, or 0
 * @nr_slots:	number of @slots, a power of two
 * @recent:	rows that were asked for lately, by the low bits of their keys; or NULL
 */
struct stat_rows {
	struct stat_row	**rows;
	unsigned int	nr;
	uint32_t	*slots;
	unsigned int	nr_slots;
	struct stat_row	*recent[STAT_RECENT];
};

struct stat_row *stat_rows_find(struct stat_rows *rows, struct stat_key key);
void stat_rows_merge(struct stat_rows *to, const struct stat_rows *from);
struct stat_buckets *stat_row_buckets(struct stat_row *row, const uint64_t *from, unsigned int nr);
void stat_rows_free(struct stat_rows *rows);

static inline unsigned int stat_rows_recent(struct stat_key key)
{
	return (key.major ^ key.minor) & (STAT_RECENT - 1);
}

/**
 * stat_rows_get - get the row of a key
 * @rows:	the rows
 * @key:	the key
 *
 * Return: the row, which is new if the key is.
 */
static inline struct stat_row *stat_rows_get(struct stat_rows *rows, struct stat_key key)
{
	struct stat_row *row = rows->recent[stat_rows_recent(key)];

	if (row && row->key.major == key.major && row->key.minor == key.minor)
		return row;
	return stat_rows_find(rows, key);
}

#endif /* STAT_ROWS_H */
