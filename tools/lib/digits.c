// SPDX-License-Identifier: GPL-2.0-only
/*
 * Convert numbers to decimal and hexadecimal text. By hand because it is faster than
 * printf(): eight digits are computed at once in one word.
 */
#include <endian.h>

#include "digits.h"

#define EIGHT_DIGITS	100000000

/*
 * Return the eight digits of @value, one per byte, the first digit in the lowest byte.
 * The number is split into halves, these into pairs, and these into digits, all in one
 * word. A product and a shift divide by 100 and by 10; they are exact for numbers
 * below 10000 and 100.
 */
static inline uint64_t decimal_word(uint32_t value)
{
	uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32, tens;

	tens = x * 5243 >> 19 & UINT64_C(0x0000007f0000007f);
	x = tens | (x - tens * 100) << 16;
	tens = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	return tens | (x - tens * 10) << 8;
}

/* Write the digits of a word without the first @skip. */
static inline char *put_decimal(char *to, uint64_t word, unsigned int skip)
{
	word = htole64((word | UINT64_C(0x3030303030303030)) >> 8 * skip);
	memcpy(to, &word, sizeof(word));
	return to + sizeof(word) - skip;
}

/* Write a number of more than eight digits. */
static __attribute__((noinline)) char *put_rest(char *to, uint64_t value)
{
	to = hyptrace_digits_long(to, value / EIGHT_DIGITS);
	return put_decimal(to, decimal_word(value % EIGHT_DIGITS), 0);
}

char *hyptrace_digits_long(char *to, uint64_t value)
{
	uint64_t word;

	if (value >= EIGHT_DIGITS)
		return put_rest(to, value);
	word = decimal_word(value);
	return put_decimal(to, word, __builtin_ctzll(word) / 8);
}

char *hyptrace_digits_eight(char *to, uint32_t value)
{
	return put_decimal(to, decimal_word(value), 0);
}

/* Return the eight digits of @value as characters, the first digit in the lowest byte. */
static inline uint64_t hex_word(uint32_t value, char ten)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t x = value;

	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	/* adding 6 to a digit carries into the upper half of its byte from 10 on */
	x += ones * '0' + ((x + ones * 6) >> 4 & ones) * (uint64_t)(ten - '0' - 10);
	return __builtin_bswap64(x);
}

/* The same for the four digits of a number below 65536: most numbers are small */
static inline uint32_t hex_four(uint32_t value, char ten)
{
	const uint32_t ones = 0x01010101;
	uint32_t x = value >> 12 | (value & 0xf00) | (value & 0xf0) << 12 | (value & 0xf) << 24;

	return x + ones * '0' + ((x + ones * 6) >> 4 & ones) * (uint32_t)(ten - '0' - 10);
}

char *hyptrace_digits_hex(char *to, uint64_t value, char ten)
{
	unsigned int digits = (64 - __builtin_clzll(value | 1) + 3) / 4;
	uint64_t word;

	if (digits <= 4) {
		uint32_t four = hex_four(value, ten) >> 8 * (4 - digits);

		four = htole32(four);
		memcpy(to, &four, sizeof(four));
		return to + digits;
	}
	if (digits > 8) {
		word = htole64(hex_word(value >> 32, ten) >> 8 * (16 - digits));
		memcpy(to, &word, sizeof(word));
		to += digits - 8;
		digits = 8;
	}
	word = htole64(hex_word(value, ten) >> 8 * (8 - digits));
	memcpy(to, &word, sizeof(word));
	return to + digits;
}
