/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write numbers and short texts into memory that has room for them. For print.c,
 * and for the lines of the command.
 *
 * Each function returns the end of its text, which has no NUL. It may write up to
 * DIGITS_SLACK bytes after that, because copying whole blocks is faster.
 */
#ifndef HYPTRACE_DIGITS_H
#define HYPTRACE_DIGITS_H

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

/* digits.c */
char *hyptrace_digits_long(char *to, uint64_t value);
char *hyptrace_digits_eight(char *to, uint32_t value);
char *hyptrace_digits_hex(char *to, uint64_t value, char ten);

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

/* Write a number below 100 without a leading zero. */
static inline char *hyptrace_digits_two(char *to, uint32_t value)
{
	if (value >= 10)
		return hyptrace_digits_pair(to, value);
	*to = '0' + value;
	return to + 1;
}

static inline char *hyptrace_digits_decimal(char *to, uint64_t value)
{
	return value < 100 ? hyptrace_digits_two(to, value) : hyptrace_digits_long(to, value);
}

#endif /* HYPTRACE_DIGITS_H */
