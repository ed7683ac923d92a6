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

/**
 * struct loglin - a histogram; all 0 is an empty one
 * @count:	number of values
 * @sum:	their sum
 * @min:	the smallest one, if there is any
 * @max:	the largest one
 * @squares:	sum of their squares
 * @blocks:	LOGLIN_BUCKETS buckets each, or NULL
 */
struct loglin {
	uint64_t		count;
	uint64_t		sum;
	uint64_t		min;
	uint64_t		max;
	__uint128_t	squares;
	uint64_t		*blocks[LOGLIN_BLOCKS];
};

void loglin_allocate(struct loglin *h, unsigned int block);
void loglin_merge(struct loglin *to, const struct loglin *from);
void loglin_free(struct loglin *h);
uint64_t loglin_percentile(const struct loglin *h, unsigned int permille);
double loglin_deviation(const struct loglin *h);
double loglin_error(const struct loglin *h);
uint64_t loglin_block_count(const struct loglin *h, unsigned int block);
uint64_t loglin_block_from(unsigned int block);
uint64_t loglin_range_count(const struct loglin *h, uint64_t from, uint64_t to);

static inline unsigned int loglin_block(uint64_t value)
{
	/* 0 for the values below LOGLIN_BUCKETS */
	return 64 - LOGLIN_BITS - __builtin_clzll(value | (LOGLIN_BUCKETS - 1));
}

/**
 * loglin_add - add a value
 * @h:		the histogram
 * @value:	the value
 */
static inline void loglin_add(struct loglin *h, uint64_t value)
{
	unsigned int block = loglin_block(value);
	unsigned int bucket = value >> (block ? block - 1 : 0) & (LOGLIN_BUCKETS - 1);

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
