// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts of rows: strings in the style of JSON or CSV, and the names of values as such strings.
 * For row.c and the formats that use it.
 */
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/text.h"
#include "row.h"

char *row_put_string(enum row_style style, char *to, const char *text, size_t len)
{
	return style == ROW_JSON ? text_json(to, text, len) : text_csv(to, text, len);
}

/* Copy a text into memory with room behind it. */
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

void row_names_free(struct row_names *names)
{
	unsigned int i;

	for (i = 0; names && i < names->nr; i++)
		free(names->names[i].text.text);
	free(names);
}

/* Find the name of a value. Return the name as a string; NULL if it has none. */
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
