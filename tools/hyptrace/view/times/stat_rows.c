// SPDX-License-Identifier: GPL-2.0-only
/* The rows of stat and top, and log-linear histograms of their times. */
#include "output/die.h"
#include "stat.h"

void loglin_allocate(struct loglin *h, unsigned int block)
{
	h->blocks[block] = xcalloc(LOGLIN_BUCKETS, sizeof(*h->blocks[block]));
}

void loglin_merge(struct loglin *to, const struct loglin *from)
{
	unsigned int block, bucket;

	if (!from->count)
		return;
	if (from->min < to->min || !to->count)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count += from->count;
	to->sum += from->sum;
	to->squares += from->squares;
	for (block = 0; block < LOGLIN_BLOCKS; block++) {
		if (!from->blocks[block])
			continue;
		if (!to->blocks[block])
			loglin_allocate(to, block);
		for (bucket = 0; bucket < LOGLIN_BUCKETS; bucket++)
			to->blocks[block][bucket] += from->blocks[block][bucket];
	}
}

void loglin_free(struct loglin *h)
{
	unsigned int block;

	for (block = 0; block < LOGLIN_BLOCKS; block++)
		free(h->blocks[block]);
	*h = (struct loglin){};
}

/* The value in the middle of a bucket: no value of the bucket is further from it than 1/128. */
static uint64_t middle(const struct loglin *h, unsigned int block, unsigned int bucket)
{
	unsigned int shift = block ? block - 1 : 0;
	uint64_t value = loglin_block_from(block) + ((uint64_t)bucket << shift) +
			 (((uint64_t)1 << shift) - 1) / 2;

	if (value < h->min)
		return h->min;
	return value < h->max ? value : h->max;
}

uint64_t loglin_range_count(const struct loglin *h, uint64_t from, uint64_t to)
{
	unsigned int block, bucket;
	uint64_t count = 0, value;

	for (block = 0; block < LOGLIN_BLOCKS; block++) {
		for (bucket = 0; h->blocks[block] && bucket < LOGLIN_BUCKETS; bucket++) {
			value = middle(h, block, bucket);
			if (value >= from && (!to || value < to))
				count += h->blocks[block][bucket];
		}
	}
	return count;
}

uint64_t loglin_percentile(const struct loglin *h, unsigned int permille)
{
	/* rank of the value, from 1 on */
	uint64_t left = ((__uint128_t)h->count * permille + 999) / 1000, here;
	unsigned int block, bucket;

	if (!h->count)
		return 0;
	left = left ? left : 1;
	for (block = 0; block < LOGLIN_BLOCKS; block++) {
		for (bucket = 0; h->blocks[block] && bucket < LOGLIN_BUCKETS; bucket++) {
			here = h->blocks[block][bucket];
			if (left <= here)
				return middle(h, block, bucket);
			left -= here;
		}
	}
	return h->max;
}

/* The square root, without the mathematical library */
static double square_root(double x)
{
	double root = x > 1 ? x : 1, next;

	if (x <= 0)
		return 0;
	for (;;) {
		next = (root + x / root) / 2;
		if (next >= root)
			return root;
		root = next;
	}
}

static long double variance(const struct loglin *h)
{
	long double mean;

	if (h->count < 2)
		return 0;
	mean = (long double)h->sum / h->count;
	return ((long double)h->squares - mean * h->sum) / (h->count - 1);
}

double loglin_deviation(const struct loglin *h)
{
	return square_root(variance(h));
}

double loglin_error(const struct loglin *h)
{
	if (!h->sum)
		return 0;
	return square_root(variance(h) / h->count) * h->count / h->sum;
}

struct stat_row *stat_rows_add(struct stat_rows *rows, struct stat_key key)
{
	struct stat_row *row = xcalloc(1, sizeof(*row));

	row->key = key;
	row->index = rows->nr;
	*xappend(rows->rows, rows->nr) = row;
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
		sum->measured += row->measured;
		for (j = 0; j < PMU_MAX; j++)
			sum->pmu[j] += row->pmu[j];
		loglin_merge(&sum->times, &row->times);
		if (!row->buckets)
			continue;
		buckets = stat_row_buckets(sum, row->buckets->from, row->buckets->nr);
		for (j = 0; j < row->buckets->nr && j < buckets->nr; j++)
			buckets->count[j] += row->buckets->count[j];
	}
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
