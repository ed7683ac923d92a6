// SPDX-License-Identifier: GPL-2.0-only
/*
 * The columns of a table, and those of them that --output selects.
 */
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

/**
 * columns_parse - parse a list of columns
 * @columns:	the columns of the table; the list replaces an earlier choice
 * @list:	names with commas between them, in any case
 * @bad:	out: the first unknown name, which is not terminated
 * @len:	out: its length
 *
 * Return: true if all names are known.
 */
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

/**
 * columns_tell_apart - choose the first column, too, if there are several remotes
 * @columns:	the columns of the table, of which REMOTE is the first one
 * @nr:		number of remotes
 */
void columns_tell_apart(struct columns *columns, unsigned int nr)
{
	if (nr < 2 || !columns->nr_chosen || is_chosen(columns, 0))
		return;
	memmove(&columns->chosen[1], columns->chosen, columns->nr_chosen * sizeof(unsigned int));
	columns->chosen[0] = 0;
	columns->nr_chosen++;
}

/**
 * columns_default - choose the columns that text has without --output
 * @columns:	the columns of the table; a choice stays
 */
void columns_default(struct columns *columns)
{
	unsigned int i;

	if (columns->nr_chosen)
		return;
	for (i = 0; i < columns->nr; i++)
		if (!(columns->all[i].flags & (COLUMN_JSON | COLUMN_EXTRA)))
			columns->chosen[columns->nr_chosen++] = i;
}

/**
 * columns_has - is a value printed in JSON?
 * @columns:	the columns of the table
 * @key:	the key of the value
 *
 * Return: true if it is.
 */
bool columns_has(const struct columns *columns, const char *key)
{
	unsigned int i;

	for (i = 0; i < columns->nr; i++)
		if (!strcmp(columns->all[i].key, key))
			return columns->nr_chosen ? is_chosen(columns, i) :
						    !(columns->all[i].flags & COLUMN_EXTRA);
	return false;
}

/**
 * columns_names - list the names of all columns
 * @columns:	the columns of the table
 * @before:	text before the list
 *
 * Return: the text and the names, with commas between them, for free().
 */
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

/**
 * columns_help - describe the option --output
 * @columns:	the columns of the table
 *
 * Return: the text, for free().
 */
char *columns_help(const struct columns *columns)
{
	return columns_names(columns, "Print only a table with these columns, of ");
}
