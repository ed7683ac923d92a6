// SPDX-License-Identifier: GPL-2.0-only
/*
 * Log-linear histograms: their percentiles against those of the sorted values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/times/stat.h"

#define VALUES	1000000

static uint64_t state;

/* splitmix64 */
static uint64_t next_number(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t constant(void)
{
	return 1234567;
}

static uint64_t bimodal(void)
{
	return next_number() % 10 ? 800 + next_number() % 200 : 50000 + next_number() % 30000;
}

/* Few values are very large: each further power of two has half as many. */
static uint64_t heavy_tail(void)
{
	unsigned int power = __builtin_ctzll(next_number() | UINT64_C(1) << 40);

	return (100 << 1) + ((next_number() % 1000) << power);
}

static uint64_t small(void)
{
	return next_number() % 100;
}

static uint64_t any(void)
{
	return next_number() >> next_number() % 64;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The value that @permille of 1000 values do not exceed */
static uint64_t exact(const uint64_t *sorted, uint64_t nr, unsigned int permille)
{
	uint64_t rank = (nr * permille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

static void expect_near(uint64_t got, uint64_t want)
{
	uint64_t wrong = got > want ? got - want : want - got;

	if (wrong > want / 100)
		print_message("%llu instead of %llu\n", (unsigned long long)got,
			      (unsigned long long)want);
	assert_true(wrong <= want / 100);
}

static void check(const struct loglin *h, uint64_t *values, unsigned int nr)
{
	static const unsigned int permille[] = { 0, 1, 10, 500, 900, 990, 999, 1000 };
	__uint128_t squares = 0;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		sum += values[i];
		squares += (__uint128_t)values[i] * values[i];
	}
	qsort(values, nr, sizeof(*values), compare);
	assert_true(h->count == nr && h->sum == sum && h->squares == squares);
	assert_true(h->min == values[0] && h->max == values[nr - 1]);
	for (i = 0; i < sizeof(permille) / sizeof(permille[0]); i++)
		expect_near(loglin_percentile(h, permille[i]),
			    exact(values, nr, permille[i]));
}

static void expect_percentiles(uint64_t (*value)(void))
{
	uint64_t *values = malloc(VALUES * sizeof(*values));
	struct loglin h = {};
	unsigned int i;

	assert_non_null(values);
	state = 12;
	for (i = 0; i < VALUES; i++) {
		values[i] = value();
		loglin_add(&h, values[i]);
	}
	check(&h, values, VALUES);
	loglin_free(&h);
	free(values);
}

static void constant_values(void **unused)
{
	(void)unused;
	expect_percentiles(constant);
}

static void bimodal_values(void **unused)
{
	(void)unused;
	expect_percentiles(bimodal);
}

static void heavy_tailed_values(void **unused)
{
	(void)unused;
	expect_percentiles(heavy_tail);
}

static void small_values(void **unused)
{
	(void)unused;
	expect_percentiles(small);
}

static void any_values(void **unused)
{
	(void)unused;
	expect_percentiles(any);
}

static void few_values(void **unused)
{
	uint64_t values[20];
	struct loglin h = {};
	unsigned int nr, i;

	(void)unused;
	assert_true(loglin_percentile(&h, 500) == 0);
	for (nr = 1; nr <= 20; nr++) {
		for (i = 0; i < nr; i++) {
			values[i] = 1000 * (i + 1);
			loglin_add(&h, values[i]);
		}
		check(&h, values, nr);
		loglin_free(&h);
	}
}

/* All values that begin or end a bucket are in it. */
static void bounds_of_buckets(void **unused)
{
	unsigned int power, i;

	(void)unused;
	for (power = 0; power < 64; power++) {
		for (i = 0; i < 3; i++) {
			uint64_t value = (UINT64_C(1) << power) + i - 1;
			struct loglin h = {};
			unsigned int block = loglin_block(value);

			loglin_add(&h, value);
			loglin_add(&h, value);
			assert_true(loglin_percentile(&h, 500) == value);
			assert_int_equal(loglin_range_count(&h, loglin_block_from(block),
							    block + 1 < LOGLIN_BLOCKS ?
							    loglin_block_from(block + 1) : 0), 2);
			assert_true(loglin_block_from(block) <= value);
			if (block + 1 < LOGLIN_BLOCKS)
				assert_true(value < loglin_block_from(block + 1));
			assert_int_equal(loglin_range_count(&h, value, value + 1), 2);
			assert_int_equal(loglin_range_count(&h, value + 1, 0),
					 value + 1 ? 0 : 2);
			if (value)
				assert_int_equal(loglin_range_count(&h, 0, value), 0);
			loglin_free(&h);
		}
	}
}

/* Ranges that follow each other have each value once, and powers of two are exact limits. */
static void ranges(void **unused)
{
	static const uint64_t limits[] = { 0, 3, 64, 128, 1024, 4096, 1 << 20, 0 };
	unsigned int i, j, exact;
	uint64_t count, sum = 0;
	struct loglin h = {};
	uint64_t *values;

	(void)unused;
	values = malloc(3000 * sizeof(*values));
	assert_non_null(values);
	for (i = 0; i < 3000; i++) {
		values[i] = heavy_tail() >> i % 8;
		loglin_add(&h, values[i]);
	}
	for (i = 0; i < 7; i++) {
		count = loglin_range_count(&h, limits[i], limits[i + 1]);
		sum += count;
		for (j = 0, exact = 0; j < 3000; j++)
			exact += values[j] >= limits[i] &&
				 (!limits[i + 1] || values[j] < limits[i + 1]);
		assert_int_equal(count, exact);
	}
	assert_int_equal(sum, 3000);
	free(values);
	loglin_free(&h);
}

static void merged(void **unused)
{
	static uint64_t values[3000];
	struct loglin one = {}, other = {}, none = {};
	unsigned int i;

	(void)unused;
	state = 7;
	for (i = 0; i < 3000; i++) {
		values[i] = heavy_tail();
		loglin_add(i % 3 ? &one : &other, values[i]);
	}
	loglin_merge(&one, &none);
	loglin_merge(&none, &other);
	loglin_merge(&one, &none);
	check(&one, values, 3000);
	loglin_free(&one);
	loglin_free(&other);
	loglin_free(&none);
}

static void memory_for_used_powers_only(void **unused)
{
	unsigned int i, blocks = 0;
	struct loglin h = {};

	(void)unused;
	for (i = 0; i < 1000; i++)
		loglin_add(&h, 1024 + i);
	for (i = 0; i < LOGLIN_BLOCKS; i++)
		blocks += !!h.blocks[i];
	assert_int_equal(blocks, 1);
	loglin_free(&h);
	assert_true(!h.count && !h.blocks[loglin_block(1024)]);
}

static bool is_near(double got, double want)
{
	return got > want * 0.999999 && got < want * 1.000001;
}

static void deviations(void **unused)
{
	static const uint64_t values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct loglin h = {};
	unsigned int i;

	(void)unused;
	assert_true(loglin_deviation(&h) == 0 && loglin_error(&h) == 0);
	for (i = 0; i < 8; i++)
		loglin_add(&h, values[i]);
	/* the squares of the differences from 5 add up to 32 */
	assert_true(is_near(loglin_deviation(&h), 2.1380899353));
	assert_true(is_near(loglin_error(&h), 2.1380899353 / 2.8284271247 / 5));
	loglin_free(&h);
	for (i = 0; i < 8; i++)
		loglin_add(&h, UINT64_C(1) << 40);
	assert_true(loglin_deviation(&h) == 0 && loglin_error(&h) == 0);
	loglin_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constant_values),
		cmocka_unit_test(bimodal_values),
		cmocka_unit_test(heavy_tailed_values),
		cmocka_unit_test(small_values),
		cmocka_unit_test(any_values),
		cmocka_unit_test(few_values),
		cmocka_unit_test(bounds_of_buckets),
		cmocka_unit_test(ranges), cmocka_unit_test(merged),
		cmocka_unit_test(memory_for_used_powers_only),
		cmocka_unit_test(deviations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
