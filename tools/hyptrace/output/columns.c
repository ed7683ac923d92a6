// SPDX-License-Identifier: GPL-2.0-only
/*
 * The columns of a table, and those of them that --columns selects; rows of objects, in each format
 * of the printer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "columns.h"
#include "printer.h"
#include "text.h"

static bool is_chosen(const struct columns *columns, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < columns->nr_chosen; i++)
		if (columns->chosen[i] == index)
			return true;
	return false;
}

static bool choose(struct columns *columns, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < columns->nr; i++) {
		const char *head = columns->all[i].head;

		if (strlen(head) != len || strncasecmp(head, name, len))
			continue;
		if (!is_chosen(columns, i))
			columns->chosen[columns->nr_chosen++] = i;
		return true;
	}
	return false;
}

bool columns_parse(struct columns *columns, const char *list, const char **bad, size_t *len)
{
	columns->nr_chosen = 0;
	for (;; list += *len + 1) {
		*len = strcspn(list, ",");
		if (!choose(columns, list, *len)) {
			*bad = list;
			return false;
		}
		if (!list[*len])
			return true;
	}
}

void columns_tell_apart(struct columns *columns, unsigned int nr)
{
	if (nr < 2 || !columns->nr_chosen || is_chosen(columns, 0))
		return;
	memmove(&columns->chosen[1], columns->chosen, columns->nr_chosen * sizeof(unsigned int));
	columns->chosen[0] = 0;
	columns->nr_chosen++;
}

void columns_default(struct columns *columns, bool csv)
{
	const unsigned int hidden = COLUMN_EXTRA | (csv ? COLUMN_TEXT : COLUMN_JSON | COLUMN_CSV);
	unsigned int i;

	if (columns->nr_chosen)
		return;
	for (i = 0; i < columns->nr; i++)
		if (!(columns->all[i].flags & hidden))
			columns->chosen[columns->nr_chosen++] = i;
}

/* Is a value printed in JSON? */
bool columns_has(const struct columns *columns, const char *key)
{
	unsigned int i;

	for (i = 0; i < columns->nr; i++)
		if (!strcmp(columns->all[i].key, key))
			return columns->nr_chosen ? is_chosen(columns, i) :
			       !(columns->all[i].flags & (COLUMN_EXTRA | COLUMN_CSV | COLUMN_TEXT));
	return false;
}

char *columns_names(const struct columns *columns, const char *before)
{
	unsigned int i;
	char *names;
	size_t len;
	FILE *f = text_open(&names, &len);

	fputs(before, f);
	for (i = 0; i < columns->nr; i++)
		fprintf(f, "%s%s", i ? ", " : "", columns->all[i].head);
	text_close(f);
	return names;
}

const struct column *columns_find(const struct columns *columns, const char *name)
{
	const struct column *column, *end = columns->all + columns->nr;

	for (column = columns->all; column < end; column++)
		if (!strcmp(column->key, name) || !strcasecmp(column->head, name))
			return column;
	return NULL;
}

static void print_uint(const struct column *column, struct printer *p, uint64_t value)
{
	if (!value && column->flags & COLUMN_NOT_0)
		printer_none(p, column->key);
	else
		printer_uint(p, column->key, value);
}

void column_print(const struct column *column, struct printer *p, const void *row)
{
	const void *at = (const char *)row + (column->flags >> COLUMN_OFFSET_SHIFT);

	if (column->print) {
		column->print(p, column->key, row);
		return;
	}
	switch (column->flags & COLUMN_TYPES) {
	case COLUMN_BOOL:
		printer_bool(p, column->key, *(const bool *)at);
		break;
	case COLUMN_U32:
		print_uint(column, p, *(const uint32_t *)at);
		break;
	case COLUMN_U64:
		print_uint(column, p, *(const uint64_t *)at);
		break;
	case COLUMN_S64:
		printer_int(p, column->key, *(const int64_t *)at);
		break;
	case COLUMN_BITS64:
		printer_u64(p, column->key, *(const uint64_t *)at);
		break;
	case COLUMN_STRING:
		printer_str(p, column->key, *(const char *const *)at);
		break;
	case COLUMN_CHARS:
		printer_str(p, column->key, at);
		break;
	}
}

void columns_print_values(const struct columns *columns, struct printer *p, const void *row)
{
	const struct column *column, *end = columns->all + columns->nr;

	for (column = columns->all; column < end; column++)
		if (printer_is_csv(p) || !(column->flags & COLUMN_CSV))
			column_print(column, p, row);
}

void columns_print(const struct columns *columns, struct printer *p, const void *row)
{
	printer_row(p);
	columns_print_values(columns, p, row);
	printer_end(p);
}
