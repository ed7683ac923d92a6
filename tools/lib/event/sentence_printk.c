// SPDX-License-Identifier: GPL-2.0-only
/* The sentence of hyp_printk: a format of the hypervisor with its numbers. For sentence.c. */
#include "meaning.h"

/* Numbers that an event has */
#define NUMBERS		4

#define FLAGS		"#0- +"
/* A width or a precision at most */
#define WIDTH_MAX	32
#define SPEC_MAX	32
/* Bytes of a number at most, its NUL included */
#define NUMBER_MAX	(WIDTH_MAX + 32)
/* Bytes of all numbers in hexadecimal at most, as put_rest() prints them */
#define REST_MAX	(1 + NUMBERS * 19)

/* Parse a decimal number up to WIDTH_MAX, or none, which is 0. Return its end; NULL if larger. */
static const char *parse_width(const char *at, int *to)
{
	for (*to = 0; *at >= '0' && *at <= '9'; at++) {
		*to = 10 * *to + *at - '0';
		if (*to > WIDTH_MAX)
			return NULL;
	}
	return at;
}

/* Print a number as the conversion at *@format says, and skip that. NULL if it is not known. */
static char *put_number(char *to, const char **format, uint64_t value)
{
	const char *at = *format + 1, *const flags = at;
	const int nr_flags = strspn(flags, FLAGS);
	unsigned int bits = 32, unused;
	int width, precision = -1;
	char spec[SPEC_MAX];

	at = parse_width(at + nr_flags, &width);
	if (at && *at == '.')
		at = parse_width(at + 1, &precision);
	if (!at)
		return NULL;
	for (; *at && strchr("hlztj", *at); at++)
		bits = *at == 'h' ? bits / 2 : 64;
	if (!*at || !strchr("diuxXoc", *at) || bits < 8 || nr_flags > (int)strlen(FLAGS))
		return NULL;
	*format = at + 1;
	if (*at == 'c') {
		value = (uint8_t)value;
		return to + snprintf(to, NUMBER_MAX, memchr(flags, '-', nr_flags) ? "%-*c" : "%*c",
				     width, value >= ' ' && value <= '~' ? (char)value : '?');
	}
	unused = 64 - bits;
	value <<= unused;
	value = strchr("di", *at) ? (uint64_t)((int64_t)value >> unused) : value >> unused;
	snprintf(spec, sizeof(spec), "%%%.*s*.*ll%c", nr_flags, flags, *at);
	return to + snprintf(to, NUMBER_MAX, spec, width, precision, (unsigned long long)value);
}

/* ": 0x1 0x2", the numbers from @nr on */
static char *put_rest(char *to, const uint64_t *numbers, unsigned int nr)
{
	if (nr < NUMBERS)
		*to++ = ':';
	for (; nr < NUMBERS; nr++)
		to = put_key(to, " ", numbers[nr]);
	return to;
}

/*
 * Print a format up to its end, or as much as there is room for. What follows an unknown
 * conversion may need other numbers: print it as it is, and then the numbers that are left.
 */
static char *put_format(char *to, char *end, const char *format, const uint64_t *numbers)
{
	bool known = true;
	unsigned int nr = 0;
	char *next;

	while (*format && to < end) {
		if (*format != '%' || !known) {
			*to++ = *format++;
			continue;
		}
		if (format[1] == '%') {
			*to++ = '%';
			format += 2;
			continue;
		}
		next = nr < NUMBERS ? put_number(to, &format, numbers[nr]) : NULL;
		known = next;
		if (!next)
			continue;
		to = next;
		nr++;
	}
	return known && !*format ? to : put_rest(to, numbers, nr);
}

char *hyptrace_put_printk(const struct meaning *s, const uint64_t *v, char *to)
{
	const struct sentence_symbols *formats = s->symbols[HYPTRACE_ROLE_FORMAT];
	const char *format = formats ? sentence_find_symbol(formats, V(FORMAT))->text : NULL;
	char *end = to + SENTENCE_MAX - NUMBER_MAX - REST_MAX;

	if (format && hyptrace_is_plain(format, strlen(format)))
		return put_format(to, end, format, &V(NUMBER1));
	return put_rest(put_key(to, "format ", V(FORMAT)), &V(NUMBER1), 0);
}
