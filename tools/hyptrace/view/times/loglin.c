// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log-linear histogram of times.
 */
#include <stdlib.h>

#include "output/die.h"
#include "loglin.h"

/**
 * loglin_allocate - get memory for the buckets of a power of two
 * @h:		the histogram
 * @block:	the block, which has none
 */
void loglin_allocate(struct loglin *h, unsigned int block)
{
	h->blocks[block] = calloc(LOGLIN_BUCKETS, sizeof(*h->blocks[block]));
	if (!h->blocks[block])
		die_no_memory();
}

/**
 * loglin_merge - add all values of a histogram to another one
 * @to:		the histogram that gets them
 * @from:	the other one
 */
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

/**
 * loglin_free - free the memory of a histogram, and make it empty
 * @h:		the histogram
 */
void loglin_free(struct loglin *h)
{
	unsigned int block;

	for (block = 0; block < LOGLIN_BLOCKS; block++)
		free(h->blocks[block]);
	*h = (struct loglin){};
}

/**
 * loglin_block_from - get the smallest value of a block
 * @block:	the block; LOGLIN_BLOCKS is not allowed
 *
 * Return: the value.
 */
uint64_t loglin_block_from(unsigned int block)
{
	return block ? (uint64_t)LOGLIN_BUCKETS << (block - 1) : 0;
}

/**
 * loglin_block_count - get the number of values in a block
 * @h:		the histogram
 * @block:	the block
 *
 * Return: the number.
 */
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

/**
 * loglin_range_count - get the number of values in a range
 * @h:		the histogram
 * @from:	the smallest value
 * @to:		the end of the range: the smallest value beyond it, or 0 for no end
 *
 * Return: the number. Each value is in one of several ranges that follow each other. It may be in
 * the wrong one if it is within 1 % of a limit.
 */
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

/* The place of the value that so many of 1000 values do not exceed, from 1 on */
static uint64_t rank_of(const struct loglin *h, unsigned int permille)
{
	uint64_t rank = ((__uint128_t)h->count * permille + 999) / 1000;

	return rank ? rank : 1;
}

/**
 * loglin_percentile - get the value that so many of 1000 values do not exceed
 * @h:		the histogram
 * @permille:	how many, from 0 to 1000
 *
 * Return: that value within 1 %; 0 if there are no values.
 */
uint64_t loglin_percentile(const struct loglin *h, unsigned int permille)
{
	uint64_t left, here;
	unsigned int block, bucket;

	if (!h->count)
		return 0;
	left = rank_of(h, permille);
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

/**
 * loglin_deviation - get the standard deviation of the values
 * @h:		the histogram
 *
 * Return: the deviation of a sample; 0 if there are less than two values.
 */
double loglin_deviation(const struct loglin *h)
{
	return square_root(variance(h));
}

/**
 * loglin_error - get the standard deviation of the mean of the values
 * @h:		the histogram
 *
 * Return: that deviation as a part of the mean; 0 if the mean is 0 or not known.
 */
double loglin_error(const struct loglin *h)
{
	if (!h->sum)
		return 0;
	return square_root(variance(h) / h->count) * h->count / h->sum;
}
