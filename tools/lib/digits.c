// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers in decimal and hexadecimal, fast: decimal digits two at a time, those of
 * a hexadecimal word all at once.
 */
#include <endian.h>

#include "digits.h"

/* Less than 10000, and without a zero in front */
static inline char *put_four(char *to, uint32_t value)
{
	if (value < 100)
		return hyptrace_digits_two(to, value);
	return hyptrace_digits_pair(hyptrace_digits_two(to, value / 100), value % 100);
}

/* All but the last eight digits, and these */
static __attribute__((noinline)) char *put_rest(char *to, uint64_t value)
{
	const uint32_t part = 100000000;
	uint32_t low = value % part;

	return hyptrace_digits_four(hyptrace_digits_four(hyptrace_digits_long(to, value / part), low / 10000), low % 10000);
}

/**
 * hyptrace_digits_long - put a number of any length in decimal
 * @to:		where
 * @value:	the number
 *
 * Return: the end of it.
 */
char *hyptrace_digits_long(char *to, uint64_t value)
{
	uint32_t low = value;

	if (value < 10000)
		return put_four(to, low);
	if (value < 100000000)
		return hyptrace_digits_four(put_four(to, low / 10000), low % 10000);
	return put_rest(to, value);
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
