// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sentence of hyp_printk: a format of the hypervisor with its numbers. For sentence.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sentence.h"

/* Numbers that an event has */
#define NUMBERS		4

#define FLAGS		"#0- +"
#define WIDTH_MAX	32
#define SPEC_MAX	32
/* Bytes of a number at most, its NUL included */
#define NUMBER_MAX	(WIDTH_MAX + 32)

/**
 * struct conversion - a conversion of a format, such as "%#010llx"
 * @flags:	characters of FLAGS
 * @nr_flags:	number of these
 * @width:	minimum of characters
 * @bits:	bits of the number
 * @type:	its last character
 */
struct conversion {
	const char	*flags;
	int		nr_flags;
	unsigned int	width;
	unsigned int	bits;
	char		type;
};

/* Parse what follows a %. Return its end; NULL if it is not known. */
static const char *parse_conversion(const char *at, struct conversion *to)
{
	char *end;

	to->flags = at;
	to->nr_flags = strspn(at, FLAGS);
	at += to->nr_flags;
	to->width = strtoul(at, &end, 10);
	at = end;
	to->bits = 32;
	for (; *at && strchr("hlztj", *at); at++)
		to->bits = *at == 'h' ? to->bits / 2 : 64;
	to->type = *at;
	if (!*at || !strchr("diuxXoc", *at) || to->bits < 8 || to->width > WIDTH_MAX ||
	    to->nr_flags > (int)strlen(FLAGS))
		return NULL;
	return at + 1;
}

static char *put_number(char *to, const struct conversion *conversion, uint64_t value)
{
	unsigned int unused = 64 - conversion->bits;
	char spec[SPEC_MAX];

	value <<= unused;
	if (conversion->type == 'd' || conversion->type == 'i')
		value = (int64_t)value >> unused;
	else
		value >>= unused;
	if (conversion->type == 'c') {
		*to++ = value >= ' ' && value <= '~' ? (char)value : '?';
		return to;
	}
	snprintf(spec, sizeof(spec), "%%%.*s%.0u%s%c", conversion->nr_flags, conversion->flags,
		 conversion->width, "ll", conversion->type);
	return to + snprintf(to, NUMBER_MAX, spec, (unsigned long long)value);
}

/* Print a format up to its end, or as much as there is room for. */
static char *put_format(char *to, char *end, const char *format, const uint64_t *numbers)
{
	struct conversion conversion;
	unsigned int nr = 0;
	const char *next;

	while (*format && to < end) {
		if (*format != '%') {
			*to++ = *format++;
			continue;
		}
		if (format[1] == '%') {
			*to++ = '%';
			format += 2;
			continue;
		}
		next = nr < NUMBERS ? parse_conversion(format + 1, &conversion) : NULL;
		if (!next) {
			/* what follows may need other numbers: print it as it is */
			*to++ = *format++;
			nr = NUMBERS;
			continue;
		}
		to = put_number(to, &conversion, numbers[nr++]);
		format = next;
	}
	return to;
}

static char *put_hyp_printk(const struct sentence *s, const uint64_t *v, char *to)
{
	const char *format = hyptrace_symbol_name(s->fields[FIELD_FMT_ID], v[FIELD_FMT_ID]);
	char *end = to + SENTENCE_MAX - NUMBER_MAX;
	unsigned int i;

	if (format)
		return put_format(to, end, format, &v[FIELD_A]);
	to = hyptrace_sentence_key(to, "format ", v[FIELD_FMT_ID]);
	*to++ = ':';
	for (i = 0; i < NUMBERS; i++)
		to = hyptrace_sentence_key(to, " ", v[FIELD_A + i]);
	return to;
}

const struct sentence_kind hyptrace_sentence_printk = {
	"hyp_printk",
	NEEDS(FMT_ID) | NEEDS(A) | NEEDS(B) | NEEDS(C) | NEEDS(D),
	put_hyp_printk, NULL,
};
