// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells of a table by their columns' keys. For both kinds of tables: table.c and table_plain.c.
 */
#include <string.h>

#include "columns.h"
#include "table.h"

/**
 * table_cell - set a cell of the last row
 * @table:	the table
 * @key:	key of its column; nothing is done if that is not printed
 * @value:	its text
 * @color:	escape sequence of its colour, or NULL
 */
void table_cell(struct table *table, const char *key, const char *value, const char *color)
{
	const struct columns *columns = table_columns(table);
	unsigned int i;

	for (i = 0; i < columns->nr_chosen; i++)
		if (!strcmp(columns->all[columns->chosen[i]].key, key))
			table_set_cell(table, i, value, color);
}

/**
 * table_label - add a label with its value
 * @table:	of table_new_labels()
 * @label:	the label
 * @value:	the value
 * @color:	escape sequence of its colour, or NULL
 */
void table_label(struct table *table, const char *label, const char *value, const char *color)
{
	table_row(table);
	table_set_cell(table, 0, label, NULL);
	table_set_cell(table, 1, value, color);
}
