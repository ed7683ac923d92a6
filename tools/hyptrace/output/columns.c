// SPDX-License-Identifier: GPL-2.0-only
/*
 * The columns of a table, and those of them that --columns selects.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "columns.h"
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
	FILE *f = text_open(&names);

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
