// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of hyptrace stat: a hash table by their keys.
 */
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "stat_rows.h"

#define SLOTS_MIN	64
/* A row is hashed by the high bits of a product with an odd number, which has random bits */
#define HASH_FACTOR	UINT64_C(0x9e3779b97f4a7c15)

/* The slot of a key, or the free slot that it can take */
static uint32_t *slot_of(const struct stat_rows *rows, struct stat_key key)
{
	uint64_t hash = (key.major * HASH_FACTOR ^ key.minor) * HASH_FACTOR;
	unsigned int i = (hash >> 32) & (rows->nr_slots - 1);

	for (;; i = (i + 1) & (rows->nr_slots - 1)) {
		const struct stat_row *row;

		if (!rows->slots[i])
			return &rows->slots[i];
		row = rows->rows[rows->slots[i] - 1];
		if (row->key.major == key.major && row->key.minor == key.minor)
			return &rows->slots[i];
	}
}

/* Make room: at most half of the slots are taken. */
static void grow(struct stat_rows *rows)
{
	unsigned int i;

	rows->nr_slots = rows->nr_slots ? 2 * rows->nr_slots : SLOTS_MIN;
	free(rows->slots);
	rows->slots = calloc(rows->nr_slots, sizeof(*rows->slots));
	rows->rows = reallocarray(rows->rows, rows->nr_slots / 2, sizeof(*rows->rows));
	if (!rows->slots || !rows->rows)
		die_no_memory();
	for (i = 0; i < rows->nr; i++)
		*slot_of(rows, rows->rows[i]->key) = i + 1;
}

/**
 * stat_rows_find - find the row of a key in the table, or make one
 * @rows:	the rows
 * @key:	the key
 *
 * Return: the row.
 */
struct stat_row *stat_rows_find(struct stat_rows *rows, struct stat_key key)
{
	struct stat_row *row;
	uint32_t *slot;

	if (rows->nr * 2 >= rows->nr_slots)
		grow(rows);
	slot = slot_of(rows, key);
	if (!*slot) {
		row = calloc(1, sizeof(*row));
		if (!row)
			die_no_memory();
		row->key = key;
		rows->rows[rows->nr++] = row;
		*slot = rows->nr;
	}
	row = rows->rows[*slot - 1];
	rows->recent[stat_rows_recent(key)] = row;
	return row;
}

/**
 * stat_row_buckets - get the buckets of a row
 * @row:	the row
 * @from:	the shortest time of each bucket, if the row has none so far
 * @nr:		number of @from, at most STAT_BUCKETS
 *
 * Return: the buckets, which belong to the row.
 */
struct stat_buckets *stat_row_buckets(struct stat_row *row, const uint64_t *from, unsigned int nr)
{
	if (row->buckets)
		return row->buckets;
	row->buckets = calloc(1, sizeof(*row->buckets));
	if (!row->buckets)
		die_no_memory();
	row->buckets->nr = nr;
	memcpy(row->buckets->from, from, nr * sizeof(*from));
	return row->buckets;
}

static void merge_buckets(struct stat_row *to, const struct stat_buckets *from)
{
	struct stat_buckets *sum = stat_row_buckets(to, from->from, from->nr);
	unsigned int i;

	for (i = 0; i < from->nr && i < sum->nr; i++)
		sum->count[i] += from->count[i];
}

/**
 * stat_rows_merge - add the samples of rows to those of the same keys
 * @to:		the rows that get them
 * @from:	the other rows
 */
void stat_rows_merge(struct stat_rows *to, const struct stat_rows *from)
{
	unsigned int i;

	for (i = 0; i < from->nr; i++) {
		const struct stat_row *row = from->rows[i];
		struct stat_row *sum = stat_rows_get(to, row->key);

		sum->samples += row->samples;
		sum->guest += row->guest;
		sum->run += row->run;
		loglin_merge(&sum->times, &row->times);
		if (row->buckets)
			merge_buckets(sum, row->buckets);
	}
}

/**
 * stat_rows_free - free all rows
 * @rows:	the rows, which are then none
 */
void stat_rows_free(struct stat_rows *rows)
{
	unsigned int i;

	for (i = 0; i < rows->nr; i++) {
		loglin_free(&rows->rows[i]->times);
		free(rows->rows[i]->buckets);
		free(rows->rows[i]);
	}
	free(rows->rows);
	free(rows->slots);
	*rows = (struct stat_rows){};
}
