// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sentence of hyp_printk: a format of the hypervisor with its numbers. For sentence.c.
 */
#include <stdio.h>
#include <string.h>

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

/* A conversion of a format, such as "%#10.8llx" */
struct conversion {
	const char	*flags;	/* characters of FLAGS */
	int		nr_flags;	/* number of these */
	int		width;	/* minimum of characters */
	int		precision;	/* minimum of digits; negative if the format has none */
	unsigned int	bits;	/* bits of the number */
	char		type;	/* its last character */
};

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

/* Parse what follows a %. Return its end; NULL if it is not known. */
static const char *parse_conversion(const char *at, struct conversion *to)
{
	to->flags = at;
	to->nr_flags = strspn(at, FLAGS);
	at = parse_width(at + to->nr_flags, &to->width);
	to->precision = -1;
	if (at && *at == '.')
		at = parse_width(at + 1, &to->precision);
	if (!at)
		return NULL;
	to->bits = 32;
	for (; *at && strchr("hlztj", *at); at++)
		to->bits = *at == 'h' ? to->bits / 2 : 64;
	to->type = *at;
	if (!*at || !strchr("diuxXoc", *at) || to->bits < 8 || to->nr_flags > (int)strlen(FLAGS))
		return NULL;
	return at + 1;
}

static char *put_character(char *to, const struct conversion *conversion, uint8_t value)
{
	const bool left = memchr(conversion->flags, '-', conversion->nr_flags);

	return to + snprintf(to, NUMBER_MAX, left ? "%-*c" : "%*c", conversion->width,
			     value >= ' ' && value <= '~' ? value : '?');
}

static char *put_number(char *to, const struct conversion *conversion, uint64_t value)
{
	unsigned int unused = 64 - conversion->bits;
	char spec[SPEC_MAX];

	if (conversion->type == 'c')
		return put_character(to, conversion, value);
	value <<= unused;
	if (conversion->type == 'd' || conversion->type == 'i')
		value = (int64_t)value >> unused;
	else
		value >>= unused;
	snprintf(spec, sizeof(spec), "%%%.*s*.*ll%c", conversion->nr_flags, conversion->flags,
		 conversion->type);
	return to + snprintf(to, NUMBER_MAX, spec, conversion->width, conversion->precision,
			     (unsigned long long)value);
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
	struct conversion conversion;
	bool known = true;
	unsigned int nr = 0;
	const char *next;

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
		next = nr < NUMBERS ? parse_conversion(format + 1, &conversion) : NULL;
		known = next;
		if (!next)
			continue;
		to = put_number(to, &conversion, numbers[nr++]);
		format = next;
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
