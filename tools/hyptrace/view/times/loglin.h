/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log-linear histogram: number, sum and extremes are exact, percentiles within 1 %. For stat.
 *
 * A power of two is divided into equal buckets. Those of a power take memory when it gets its first
 * value, so a histogram of times that are alike takes few of them.
 */
#ifndef LOGLIN_H
#define LOGLIN_H

#include <stdbool.h>
#include <stdint.h>

/* Buckets of a power of two, as a power of two: a bucket is at most 1/64 of its values wide */
#define LOGLIN_BITS	6
#define LOGLIN_BUCKETS	(1U << LOGLIN_BITS)
/* The first block has the values below LOGLIN_BUCKETS, and each other one those of a power */
#define LOGLIN_BLOCKS	(64 - LOGLIN_BITS + 1)

/* A histogram; all 0 is an empty one */
struct loglin {
	uint64_t		count;
	uint64_t		sum;	/* their sum */
	uint64_t		min;	/* the smallest one, if there is any */
	uint64_t		max;	/* the largest one */
	__uint128_t		squares;	/* sum of their squares */
	uint64_t		*blocks[LOGLIN_BLOCKS];	/* LOGLIN_BUCKETS buckets each, or NULL */
};

void loglin_allocate(struct loglin *h, unsigned int block);
void loglin_merge(struct loglin *to, const struct loglin *from);
void loglin_free(struct loglin *h);
/* The value that so many of 1000 values do not exceed; 0 without values */
uint64_t loglin_percentile(const struct loglin *h, unsigned int permille);
/* The standard deviation of a value; 0 with less than two */
double loglin_deviation(const struct loglin *h);
/* That of the mean, as a part of the mean; 0 if it is not known */
double loglin_error(const struct loglin *h);
uint64_t loglin_block_count(const struct loglin *h, unsigned int block);
/*
 * The number of values from @from on and below @to, which is 0 for no end. Each value is in one of
 * several ranges that follow each other; within 1 % of a limit, it may be in the wrong one.
 */
uint64_t loglin_range_count(const struct loglin *h, uint64_t from, uint64_t to);

/* The smallest value of a block, which is below LOGLIN_BLOCKS */
static inline uint64_t loglin_block_from(unsigned int block)
{
	return block ? (uint64_t)LOGLIN_BUCKETS << (block - 1) : 0;
}

/* By how many bits the values of a block are shifted: the first two have a bucket for each value */
static inline unsigned int loglin_shift(uint64_t value)
{
	return 63 - LOGLIN_BITS - __builtin_clzll(value | (2 * LOGLIN_BUCKETS - 1));
}

static inline unsigned int loglin_block(uint64_t value)
{
	const unsigned int shift = loglin_shift(value);

	return shift + (value >> shift) / LOGLIN_BUCKETS;
}

static inline void loglin_add(struct loglin *h, uint64_t value)
{
	const unsigned int block = loglin_block(value);
	const unsigned int bucket = (value >> loglin_shift(value)) % LOGLIN_BUCKETS;

	if (__builtin_expect(!h->blocks[block], 0))
		loglin_allocate(h, block);
	h->blocks[block][bucket]++;
	if (value < h->min || !h->count)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
	h->squares += (__uint128_t)value * value;
}

#endif /* LOGLIN_H */
