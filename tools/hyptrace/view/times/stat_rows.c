// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of stat and top.
 */
#include "output/die.h"
#include "stat.h"

struct stat_row *stat_rows_add(struct stat_rows *rows, struct stat_key key)
{
	struct stat_row *row = xcalloc(1, sizeof(*row));

	rows->rows = xreallocarray(rows->rows, rows->nr + 1, sizeof(*rows->rows));
	row->key = key;
	row->index = rows->nr;
	rows->rows[rows->nr++] = row;
	map_add(&rows->map, key.major, key.minor)->ptr = row;
	return row;
}

/* The buckets begin at @from only if the row has none so far. */
struct stat_buckets *stat_row_buckets(struct stat_row *row, const uint64_t *from, unsigned int nr)
{
	if (row->buckets)
		return row->buckets;
	row->buckets = xcalloc(1, sizeof(*row->buckets));
	row->buckets->nr = nr;
	memcpy(row->buckets->from, from, nr * sizeof(*from));
	return row->buckets;
}

void stat_rows_merge(struct stat_rows *to, const struct stat_rows *from)
{
	struct stat_buckets *buckets;
	unsigned int i, j;

	for (i = 0; i < from->nr; i++) {
		const struct stat_row *row = from->rows[i];
		struct stat_row *sum = stat_rows_get(to, row->key);

		sum->samples += row->samples;
		sum->guest += row->guest;
		sum->run += row->run;
		loglin_merge(&sum->times, &row->times);
		if (!row->buckets)
			continue;
		buckets = stat_row_buckets(sum, row->buckets->from, row->buckets->nr);
		for (j = 0; j < row->buckets->nr && j < buckets->nr; j++)
			buckets->count[j] += row->buckets->count[j];
	}
}

/* Samples of events are only in the times: they are added to the buckets of EL2. */
unsigned int stat_row_histogram(const struct stat_row *row,
				struct time_bucket buckets[STAT_BUCKETS])
{
	const struct stat_buckets *counted = row->buckets;
	const unsigned int nr = counted ? counted->nr : LOGLIN_BLOCKS;
	unsigned int i;

	for (i = 0; i < nr; i++)
		buckets[i].from = counted ? counted->from[i] : loglin_block_from(i);
	for (i = 0; i < nr; i++) {
		buckets[i].to = i + 1 < nr ? buckets[i + 1].from : 0;
		buckets[i].count = counted ? counted->count[i] +
			loglin_range_count(&row->times, buckets[i].from, buckets[i].to) :
			loglin_block_count(&row->times, i);
	}
	return nr;
}

void stat_rows_free(struct stat_rows *rows)
{
	unsigned int i;

	for (i = 0; i < rows->nr; i++) {
		loglin_free(&rows->rows[i]->times);
		free(rows->rows[i]->buckets);
		free(rows->rows[i]);
	}
	free(rows->rows);
	map_free(&rows->map);
	*rows = (struct stat_rows){};
}
