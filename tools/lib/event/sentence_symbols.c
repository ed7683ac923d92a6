// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of a field's values, found in a table by a hash. For the other sentence*.c.
 */
#include <stdlib.h>
#include <string.h>

#include "sentence.h"

/* The table has at least so many places for a name: most lookups look at one place. */
#define SPARE	2

static unsigned int bits_for(unsigned int nr)
{
	unsigned int bits = 1;

	while (1U << bits < nr * SPARE)
		bits++;
	return bits;
}

/* Make a table with room for @nr names. */
struct sentence_symbols *hyptrace_sentence_symbols_alloc(unsigned int nr)
{
	unsigned int bits = bits_for(nr);
	struct sentence_symbols *symbols;

	symbols = calloc(1, sizeof(*symbols) + sizeof(symbols->table[0]) * (1UL << bits));
	if (symbols)
		symbols->bits = bits;
	return symbols;
}

/* Return false if there is no memory. The first name of a value is used. */
bool hyptrace_sentence_symbols_add(struct sentence_symbols *symbols, uint64_t value,
				   const char *name)
{
	struct sentence_symbol *symbol =
		(struct sentence_symbol *)sentence_find_symbol(symbols, value);
	size_t len = strlen(name);
	char *text;

	if (symbol->text)
		return true;
	text = calloc(1, len + DIGITS_SLACK);
	if (!text)
		return false;
	memcpy(text, name, len);
	symbol->value = value;
	symbol->text = text;
	symbol->len = len;
	return true;
}

/* Make a table of names. Return the table, or NULL if there is no memory. */
struct sentence_symbols *hyptrace_sentence_symbols_new(const struct hyptrace_field *field)
{
	struct sentence_symbols *symbols = hyptrace_sentence_symbols_alloc(field->nr_symbols);
	unsigned int i;

	for (i = 0; symbols && i < field->nr_symbols; i++) {
		if (hyptrace_sentence_symbols_add(symbols, field->symbols[i]->value,
						  field->symbols[i]->name))
			continue;
		hyptrace_sentence_symbols_free(symbols);
		return NULL;
	}
	return symbols;
}

void hyptrace_sentence_symbols_free(struct sentence_symbols *symbols)
{
	unsigned long i;

	for (i = 0; symbols && i < 1UL << symbols->bits; i++)
		free((char *)symbols->table[i].text);
	free(symbols);
}
