// SPDX-License-Identifier: GPL-2.0-only
/*
 * Escape strings: only printable ASCII is printed as it is.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "out.h"
#include "text.h"

/* Bytes of an escaped character in text, such as \x1b */
#define PLAIN_MAX	4

static bool is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

static char hex_digit(unsigned int value)
{
	return "0123456789abcdef"[value & 0xf];
}

/* Write a character as text; return the end. */
static char *put_plain(char *to, char c)
{
	if (is_printable(c)) {
		*to++ = c;
		return to;
	}
	*to++ = '\\';
	*to++ = 'x';
	*to++ = hex_digit((unsigned char)c >> 4);
	*to++ = hex_digit(c);
	return to;
}

/**
 * text_put_plain - print a string as text for a terminal
 * @out:	the output
 * @s:		the string; bytes that are not printable ASCII become \xNN
 */
void text_put_plain(struct out *out, const char *s)
{
	const char *end;

	for (;;) {
		for (end = s; is_printable(*end); end++)
			;
		out_write(out, s, end - s);
		if (!*end)
			return;
		out_put_to(out, put_plain(out_room(out, PLAIN_MAX), *end));
		s = end + 1;
	}
}

/**
 * text_copy_plain - escape a string as text for a terminal
 * @s:		the string; bytes that are not printable ASCII become \xNN
 *
 * Return: a copy for free().
 */
char *text_copy_plain(const char *s)
{
	char *copy = malloc(PLAIN_MAX * strlen(s) + 1), *to = copy;

	if (!copy)
		die_no_memory();
	for (; *s; s++)
		to = put_plain(to, *s);
	*to = '\0';
	return copy;
}

/**
 * text_put_json - print a JSON string with its quotes
 * @out:	the output
 * @s:		the string; bytes that are not printable ASCII become \u00NN
 */
void text_put_json(struct out *out, const char *s)
{
	static const char names[] = "btn\0fr";	/* letters of the codes 8 to 13 */

	out_putc(out, '"');
	for (; *s; s++) {
		if (is_printable(*s)) {
			if (*s == '"' || *s == '\\')
				out_putc(out, '\\');
			out_putc(out, *s);
		} else if (*s >= '\b' && *s <= '\r' && names[*s - '\b']) {
			out_putc(out, '\\');
			out_putc(out, names[*s - '\b']);
		} else {
			out_puts(out, "\\u00");
			out_putc(out, hex_digit((unsigned char)*s >> 4));
			out_putc(out, hex_digit(*s));
		}
	}
	out_putc(out, '"');
}

/**
 * text_open - open a string that grows
 * @text:	out: the string, for free(); valid after text_close()
 * @len:	out: its length
 *
 * Return: the stream that appends to it.
 */
FILE *text_open(char **text, size_t *len)
{
	FILE *f = open_memstream(text, len);

	if (!f)
		die_no_memory();
	return f;
}

/**
 * text_close - end a string that grows
 * @f:		its stream
 */
void text_close(FILE *f)
{
	/* a write that failed has set the error flag; nothing but memory can be missing */
	bool failed = ferror(f);

	if (fclose(f) || failed)
		die_no_memory();
}
