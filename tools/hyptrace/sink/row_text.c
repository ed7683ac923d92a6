// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts of rows: strings in the style of JSON or CSV, and the names of values as such strings.
 * For row.c and the formats that use it.
 */
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "row.h"

#define EACH(byte)	(UINT64_C(0x0101010101010101) * (byte))
#define HIGH		EACH(0x80)

/* Is one of eight bytes zero? The answer for a byte after a zero may be wrong. */
static inline uint64_t has_zero(uint64_t word)
{
	return (word - EACH(1)) & ~word & HIGH;
}

/* May one of eight bytes need an escape in JSON? */
static inline bool is_special(uint64_t word)
{
	uint64_t below = (word - EACH(' ')) & ~word;

	return ((word | below) & HIGH) | has_zero(word ^ EACH('"')) | has_zero(word ^ EACH('\\')) |
	       has_zero(word ^ EACH(0x7f));
}

static char hex_digit(unsigned int value)
{
	return "0123456789abcdef"[value & 0xf];
}

static bool is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

/* The same escapes as text_put_json() */
static char *put_json_char(char *to, char c)
{
	static const char names[] = "btn\0fr";	/* letters of the codes 8 to 13 */

	if (is_printable(c)) {
		if (c == '"' || c == '\\')
			*to++ = '\\';
		*to++ = c;
		return to;
	}
	*to++ = '\\';
	if (c >= '\b' && c <= '\r' && names[c - '\b']) {
		*to++ = names[c - '\b'];
		return to;
	}
	memcpy(to, "u00", 3);
	to[3] = hex_digit((unsigned char)c >> 4);
	to[4] = hex_digit(c);
	return to + 5;
}

static char *put_json(char *to, const char *text, size_t len)
{
	uint64_t word;

	*to++ = '"';
	while (len >= sizeof(word)) {
		unsigned int i;

		memcpy(&word, text, sizeof(word));
		memcpy(to, &word, sizeof(word));
		if (!is_special(word)) {
			to += sizeof(word);
		} else {
			for (i = 0; i < sizeof(word); i++)
				to = put_json_char(to, text[i]);
		}
		text += sizeof(word);
		len -= sizeof(word);
	}
	while (len--)
		to = put_json_char(to, *text++);
	*to++ = '"';
	return to;
}

/* Bytes that are not printable ASCII become \xNN: readers of CSV refuse what is not UTF-8. */
static char *put_csv(char *to, const char *text, size_t len)
{
	char *from = to;
	bool quote = false;

	*to++ = '"';
	for (; len--; text++) {
		if (!is_printable(*text)) {
			*to++ = '\\';
			*to++ = 'x';
			*to++ = hex_digit((unsigned char)*text >> 4);
			*to++ = hex_digit(*text);
			continue;
		}
		quote |= *text == '"' || *text == ',';
		if (*text == '"')
			*to++ = '"';
		*to++ = *text;
	}
	if (quote) {
		*to++ = '"';
		return to;
	}
	memmove(from, from + 1, to - from - 1);
	return to - 1;
}

/**
 * row_put_string - write a string with its quotes and escapes
 * @style:	how strings are written
 * @to:		destination, with room for ROW_STRING_FACTOR bytes for each byte of @text, and
 *		ROW_STRING_MORE
 * @text:	the string
 * @len:	its length
 *
 * Return: the end of the text.
 */
char *row_put_string(enum row_style style, char *to, const char *text, size_t len)
{
	return style == ROW_JSON ? put_json(to, text, len) : put_csv(to, text, len);
}

/**
 * row_make_text - copy a text into memory with room behind it
 * @to:		out: the copy; its member text is for free()
 * @text:	the text
 * @len:	its length
 */
void row_make_text(struct row_text *to, const char *text, size_t len)
{
	to->text = calloc(1, len + DIGITS_SLACK);
	if (!to->text)
		die_no_memory();
	memcpy(to->text, text, len);
	to->len = len;
}

static int compare(const void *a, const void *b)
{
	const struct row_name *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static void make_name(struct row_name *name, enum row_style style,
		      const struct hyptrace_symbol *symbol)
{
	size_t len = strlen(symbol->name);
	char *text = malloc(len * ROW_STRING_FACTOR + ROW_STRING_MORE);

	if (!text)
		die_no_memory();
	name->value = symbol->value;
	row_make_text(&name->text, text, row_put_string(style, text, symbol->name, len) - text);
	free(text);
}

/**
 * row_names_new - make the strings of a field's names
 * @style:	how strings are written
 * @field:	the field
 *
 * Return: the strings.
 */
struct row_names *row_names_new(enum row_style style, const struct hyptrace_field *field)
{
	struct row_names *names = calloc(1, sizeof(*names) +
					 field->nr_symbols * sizeof(names->names[0]));
	unsigned int i;

	if (!names)
		die_no_memory();
	for (i = 0; i < field->nr_symbols; i++) {
		const struct hyptrace_symbol *symbol = field->symbols[i];

		/* if a value has two names, the first one counts */
		if (hyptrace_symbol_name(field, symbol->value) != symbol->name)
			continue;
		make_name(&names->names[names->nr], style, symbol);
		if (names->names[names->nr].text.len > names->longest)
			names->longest = names->names[names->nr].text.len;
		names->nr++;
	}
	qsort(names->names, names->nr, sizeof(names->names[0]), compare);
	if (names->nr && names->names[names->nr - 1].value - names->names[0].value == names->nr - 1)
		names->nr_dense = names->nr;
	return names;
}

/**
 * row_names_free - free the strings of a field's names
 * @names:	the strings, or NULL
 */
void row_names_free(struct row_names *names)
{
	unsigned int i;

	for (i = 0; names && i < names->nr; i++)
		free(names->names[i].text.text);
	free(names);
}

/**
 * row_names_find - find the name of a value
 * @names:	the names
 * @value:	the value
 *
 * Return: the name as a string; NULL if it has none.
 */
const struct row_text *row_names_find(const struct row_names *names, uint64_t value)
{
	unsigned int low = 0, high = names->nr;

	if (names->nr_dense) {
		value -= names->names[0].value;
		return value < names->nr_dense ? &names->names[value].text : NULL;
	}
	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (names->names[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < names->nr && names->names[low].value == value ? &names->names[low].text : NULL;
}
