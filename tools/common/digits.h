/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write numbers and short texts into memory that has room for them, faster than printf(): eight
 * digits are computed at once in one word. Each function returns the end of its text, which has no
 * NUL. It may write up to DIGITS_SLACK bytes after that: copying whole blocks is faster.
 */
#ifndef HYPTRACE_DIGITS_H
#define HYPTRACE_DIGITS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_SLACK	32
/* Digits of UINT64_MAX in decimal */
#define DIGITS_MAX	20

#define DIGITS_TEN(tens) \
	#tens "0" #tens "1" #tens "2" #tens "3" #tens "4" \
	#tens "5" #tens "6" #tens "7" #tens "8" #tens "9"

static const char hyptrace_digits_pairs[] =
	DIGITS_TEN(0) DIGITS_TEN(1) DIGITS_TEN(2) DIGITS_TEN(3) DIGITS_TEN(4)
	DIGITS_TEN(5) DIGITS_TEN(6) DIGITS_TEN(7) DIGITS_TEN(8) DIGITS_TEN(9);

#define DIGITS_EIGHT	100000000

/*
 * Return the eight digits of @value, one per byte, the first digit in the lowest byte. The number
 * is split into halves, pairs and digits, all in one word. A product and a shift divide by 100 and
 * by 10; they are exact for numbers below 10000 and 100.
 */
static inline uint64_t hyptrace_digits_word(uint32_t value)
{
	uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32, tens;

	tens = x * 5243 >> 19 & UINT64_C(0x0000007f0000007f);
	x = tens | (x - tens * 100) << 16;
	tens = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	return tens | (x - tens * 10) << 8;
}

/* Write the digits of a word without the first @skip. */
static inline char *hyptrace_digits_put(char *to, uint64_t word, unsigned int skip)
{
	word = htole64((word | UINT64_C(0x3030303030303030)) >> 8 * skip);
	memcpy(to, &word, sizeof(word));
	return to + sizeof(word) - skip;
}

static char *hyptrace_digits_long(char *to, uint64_t value);

/* Write a number of more than eight digits. */
static __attribute__((noinline, unused)) char *hyptrace_digits_rest(char *to, uint64_t value)
{
	to = hyptrace_digits_long(to, value / DIGITS_EIGHT);
	return hyptrace_digits_put(to, hyptrace_digits_word(value % DIGITS_EIGHT), 0);
}

static __attribute__((noinline, unused)) char *hyptrace_digits_long(char *to, uint64_t value)
{
	uint64_t word;

	if (value >= DIGITS_EIGHT)
		return hyptrace_digits_rest(to, value);
	word = hyptrace_digits_word(value);
	return hyptrace_digits_put(to, word, __builtin_ctzll(word) / 8);
}

static __attribute__((noinline, unused)) char *hyptrace_digits_eight(char *to, uint32_t value)
{
	return hyptrace_digits_put(to, hyptrace_digits_word(value), 0);
}

/* Return the eight digits of @value as characters, the first digit in the lowest byte. */
static inline uint64_t hyptrace_digits_hex_word(uint32_t value)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t x = value;

	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	/* adding 6 to a digit carries into the upper half of its byte from 10 on */
	x += ones * '0' + ((x + ones * 6) >> 4 & ones) * ('a' - '0' - 10);
	return __builtin_bswap64(x);
}

/* The same for the four digits of a number below 65536: most numbers are small */
static inline uint32_t hyptrace_digits_hex_four(uint32_t value)
{
	const uint32_t ones = 0x01010101;
	uint32_t x = value >> 12 | (value & 0xf00) | (value & 0xf0) << 12 | (value & 0xf) << 24;

	return x + ones * '0' + ((x + ones * 6) >> 4 & ones) * ('a' - '0' - 10);
}

static __attribute__((noinline, unused)) char *hyptrace_digits_hex(char *to, uint64_t value)
{
	unsigned int digits = (64 - __builtin_clzll(value | 1) + 3) / 4;
	uint64_t word;

	if (digits <= 4) {
		uint32_t four = hyptrace_digits_hex_four(value) >> 8 * (4 - digits);

		four = htole32(four);
		memcpy(to, &four, sizeof(four));
		return to + digits;
	}
	if (digits > 8) {
		word = htole64(hyptrace_digits_hex_word(value >> 32) >> 8 * (16 - digits));
		memcpy(to, &word, sizeof(word));
		to += digits - 8;
		digits = 8;
	}
	word = htole64(hyptrace_digits_hex_word(value) >> 8 * (8 - digits));
	memcpy(to, &word, sizeof(word));
	return to + digits;
}

static inline char *hyptrace_digits_text(char *to, const char *text, size_t len)
{
	memcpy(to, text, DIGITS_SLACK);
	if (__builtin_expect(len > DIGITS_SLACK, 0))
		memcpy(to + DIGITS_SLACK, text + DIGITS_SLACK, len - DIGITS_SLACK);
	return to + len;
}

static inline char *hyptrace_digits_pair(char *to, uint32_t value)
{
	memcpy(to, hyptrace_digits_pairs + 2 * value, 2);
	return to + 2;
}

static inline char *hyptrace_digits_four(char *to, uint32_t value)
{
	return hyptrace_digits_pair(hyptrace_digits_pair(to, value / 100), value % 100);
}

static inline char *hyptrace_digits_decimal(char *to, uint64_t value)
{
	if (value >= 100)
		return hyptrace_digits_long(to, value);
	if (value >= 10)
		return hyptrace_digits_pair(to, value);
	*to = '0' + value;
	return to + 1;
}

#endif /* HYPTRACE_DIGITS_H */
