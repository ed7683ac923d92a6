// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that depend on the remote: those of a field's values, in a table by a hash; hypercalls
 * with their arguments, and exception classes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "meaning.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

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
struct sentence_symbols *hyptrace_symbols_alloc(unsigned int nr)
{
	unsigned int bits = bits_for(nr);
	struct sentence_symbols *symbols;

	symbols = calloc(1, sizeof(*symbols) + sizeof(symbols->table[0]) * (1UL << bits));
	if (symbols)
		symbols->bits = bits;
	return symbols;
}

/* Return false if there is no memory. The first name of a value is used. */
bool hyptrace_symbols_add(struct sentence_symbols *symbols, uint64_t value, const char *name)
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
struct sentence_symbols *hyptrace_symbols_new(const struct hyptrace_field *field)
{
	struct sentence_symbols *symbols = hyptrace_symbols_alloc(field->nr_symbols);
	unsigned int i;

	for (i = 0; symbols && i < field->nr_symbols; i++) {
		if (hyptrace_symbols_add(symbols, field->symbols[i]->value,
					 field->symbols[i]->name))
			continue;
		hyptrace_symbols_free(symbols);
		return NULL;
	}
	return symbols;
}

void hyptrace_symbols_free(struct sentence_symbols *symbols)
{
	unsigned long i;

	for (i = 0; symbols && i < 1UL << symbols->bits; i++)
		free((char *)symbols->table[i].text);
	free(symbols);
}

/* Number of a hypercall: the low 16 bits of the function id */
#define CALL_ID_MAX	UINT16_MAX

/*
 * Types of less than 64 bits. The enums are not here: enum kvm_pgtable_prot has bits above 32.
 * pkvm_handle_t has 32 bits in 6.12 and 16 in 7.3: all that any kernel reads is printed.
 */
static const struct {
	const char	*type;
	uint8_t		bits;
	bool		is_signed;
	bool		is_count;
} small_types[] = {
	{ "bool", 1, false, true },
	{ "unsigned short", 16, false, true },
	{ "u32", 32, false, true },
	{ "unsigned int", 32, false, true },
	{ "int", 32, true, true },
	{ "pkvm_handle_t", 32, false, false },
};

/* Names of arguments that are counts or numbers of something, though their types are wide */
static const char *const count_names[] = { "pages", "id", "op" };

static bool is_count_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < COUNT(count_names); i++)
		if (!strcmp(name, count_names[i]))
			return true;
	return !strncmp(name, "nr_", 3);
}

static struct sentence_arg describe_arg(const struct hyptrace_hypercall_arg *from)
{
	struct sentence_arg arg = { .bits = 64 };
	unsigned int i;

	for (i = 0; i < COUNT(small_types); i++) {
		if (strcmp(from->type, small_types[i].type))
			continue;
		arg.bits = small_types[i].bits;
		arg.is_signed = small_types[i].is_signed;
		arg.is_count = small_types[i].is_count;
	}
	if (is_count_name(from->name))
		arg.is_count = true;
	return arg;
}

bool hyptrace_is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '\\')
			return false;
	return true;
}

bool hyptrace_is_name(const char *text)
{
	return strlen(text) <= SENTENCE_NAME_MAX && hyptrace_is_plain(text);
}

static bool is_call_plain(const struct hyptrace_hypercall *call)
{
	unsigned int i;

	for (i = 0; i < call->nr_args; i++)
		if (!hyptrace_is_name(call->args[i]->name))
			return false;
	return hyptrace_is_name(call->name);
}

/* Set the hypercalls. Return 0 or -ENOMEM; then nothing has changed. */
int hyptrace_names_set_calls(struct sentence_names *names,
			     struct hyptrace_hypercall *const *calls, unsigned int nr)
{
	struct sentence_call *table;
	unsigned int i, j, nr_ids = 0;

	for (i = 0; i < nr; i++)
		if (calls[i]->id <= CALL_ID_MAX && calls[i]->id >= nr_ids)
			nr_ids = calls[i]->id + 1;
	table = calloc(nr_ids ? nr_ids : 1, sizeof(*table));
	if (!table)
		return -ENOMEM;

	for (i = 0; i < nr; i++) {
		const struct hyptrace_hypercall *call = calls[i];

		if (call->id >= nr_ids || !is_call_plain(call))
			continue;
		table[call->id].call = call;
		table[call->id].runs_guest = !strcmp(call->name, "__kvm_vcpu_run");
		for (j = 0; j < call->nr_args && j < SENTENCE_ARGS; j++)
			table[call->id].args[j] = describe_arg(call->args[j]);
	}
	free(names->calls);
	names->calls = table;
	names->nr_calls = nr_ids;
	return 0;
}

/* Find a hypercall. Return the hypercall, or NULL. */
const struct sentence_call *hyptrace_find_call(const struct sentence_names *names, uint64_t id)
{
	return id < names->nr_calls && names->calls[id].call ? &names->calls[id] : NULL;
}

/* Get the name of an exception class. Return the name, or NULL. */
const char *hyptrace_class_name(const struct sentence_names *names, uint64_t class)
{
	return names->classes ? sentence_find_symbol(names->classes, class)->text : NULL;
}
