// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log-linear histogram of times.
 */
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

uint64_t loglin_block_count(const struct loglin *h, unsigned int block)
{
	uint64_t count = 0;
	unsigned int bucket;

	for (bucket = 0; h->blocks[block] && bucket < LOGLIN_BUCKETS; bucket++)
		count += h->blocks[block][bucket];
	return count;
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
