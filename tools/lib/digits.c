// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers in decimal and hexadecimal, fast: the eight digits of a word all at once.
 */
#include <endian.h>

#include "digits.h"

#define EIGHT_DIGITS	100000000

/*
 * The digits of a number of up to eight, each a byte, the first one lowest. Halves
 * are split into pairs and these into digits, all of them in one word: a product
 * and a shift divide by 100 and by 10, exact for what they can be here.
 */
static inline uint64_t decimal_word(uint32_t value)
{
	uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32, tens;

	tens = x * 5243 >> 19 & UINT64_C(0x0000007f0000007f);
	x = tens | (x - tens * 100) << 16;
	tens = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	return tens | (x - tens * 10) << 8;
}

/* Put the digits of a word but for the first ones. */
static inline char *put_decimal(char *to, uint64_t word, unsigned int skip)
{
	word = htole64((word | UINT64_C(0x3030303030303030)) >> 8 * skip);
	memcpy(to, &word, sizeof(word));
	return to + sizeof(word) - skip;
}

/* All but the last eight digits, and these */
static __attribute__((noinline)) char *put_rest(char *to, uint64_t value)
{
	to = hyptrace_digits_long(to, value / EIGHT_DIGITS);
	return put_decimal(to, decimal_word(value % EIGHT_DIGITS), 0);
}

/**
 * hyptrace_digits_long - put a number of any length in decimal
 * @to:		where
 * @value:	the number, not 0
 *
 * Return: the end of it.
 */
char *hyptrace_digits_long(char *to, uint64_t value)
{
	uint64_t word;

	if (value >= EIGHT_DIGITS)
		return put_rest(to, value);
	word = decimal_word(value);
	return put_decimal(to, word, __builtin_ctzll(word) / 8);
}

/* The eight digits of a word, each a byte, the highest first in memory. */
static uint64_t hex_word(uint32_t value, char ten)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t x = value;

	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	/* 6 added to a digit from 10 on carries into its upper half */
	x += ones * '0' + ((x + ones * 6) >> 4 & ones) * (uint64_t)(ten - '0' - 10);
	return htobe64(x);
}

/**
 * hyptrace_digits_hex - put a number in hexadecimal
 * @to:		where
 * @value:	the number
 * @ten:	'a' or 'A'
 *
 * Return: the end of it.
 */
char *hyptrace_digits_hex(char *to, uint64_t value, char ten)
{
	unsigned int len = (64 - __builtin_clzll(value | 1) + 3) / 4;
	/* what is behind the digits is copied, too */
	uint64_t words[4] = {
		len > 8 ? hex_word(value >> 32, ten) : 0, hex_word(value, ten),
	};

	memcpy(to, (char *)words + 16 - len, 16);
	return to + len;
}
