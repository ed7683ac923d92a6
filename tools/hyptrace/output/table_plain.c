// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of table.h without libsmartcols, which many systems do not have as a static
 * library. Lines are as long as their text. For the static command, in place of table.c.
 */
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "die.h"
#include "out.h"
#include "table.h"
#include "text.h"

#define GAP		2		/* blanks between two columns */
#define NO_COLOR	"\033[0m"

struct cell {
	char		*text;
	const char	*color;
};

/**
 * struct table - a table
 * @columns:	its columns; without them it has labels and values
 * @cells:	row after row; the first row has the heads, if there are any
 * @width:	number of columns
 * @nr_rows:	number of rows
 */
struct table {
	struct columns	columns;
	struct cell	*cells;
	unsigned int	width;
	unsigned int	nr_rows;
};

static struct cell *row_of(const struct table *table, unsigned int row)
{
	return table->cells + (size_t)row * table->width;
}

void table_set_cell(struct table *table, unsigned int index, const char *value, const char *color)
{
	struct cell *cell = row_of(table, table->nr_rows - 1) + index;

	free(cell->text);
	cell->text = text_copy_plain(value);
	cell->color = color;
}

static struct table *new_table(const struct columns *columns, unsigned int width)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		die_no_memory();
	if (columns) {
		table->columns = *columns;
		columns_default(&table->columns);
		width = table->columns.nr_chosen;
	}
	table->width = width;
	return table;
}

struct table *table_new(const struct columns *columns)
{
	struct table *table = new_table(columns, 0);
	unsigned int i;

	table_row(table);
	for (i = 0; i < table->width; i++)
		table_set_cell(table, i, columns->all[table->columns.chosen[i]].head, NULL);
	return table;
}

struct table *table_new_labels(void)
{
	return new_table(NULL, 2);
}

void table_row(struct table *table)
{
	size_t size = sizeof(*table->cells) * table->width;
	unsigned int i;

	table->cells = reallocarray(table->cells, table->nr_rows + 1, size);
	if (!table->cells)
		die_no_memory();
	memset(row_of(table, table->nr_rows++), 0, size);
	for (i = 0; i < table->width; i++)
		table_set_cell(table, i, "-", NULL);
}

const struct columns *table_columns(const struct table *table)
{
	return &table->columns;
}

void table_free(struct table *table)
{
	unsigned int i;

	for (i = 0; i < table->nr_rows * table->width; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table);
}

static size_t column_width(const struct table *table, unsigned int index)
{
	size_t width = 0, len;
	unsigned int row;

	for (row = 0; row < table->nr_rows; row++) {
		len = strlen(row_of(table, row)[index].text);
		width = len > width ? len : width;
	}
	return width;
}

static bool is_number(const struct table *table, unsigned int index)
{
	const struct columns *columns = &table->columns;

	return columns->nr && columns->all[columns->chosen[index]].flags & COLUMN_NUMBER;
}

static void put_cell(struct table *table, struct out *out, const struct cell *cell,
		     unsigned int index, bool color)
{
	size_t blanks = column_width(table, index) - strlen(cell->text);
	bool last = index == table->width - 1;

	color = color && cell->color;
	if (is_number(table, index))
		out_spaces(out, blanks);
	out_puts(out, color ? cell->color : "");
	out_puts(out, cell->text);
	out_puts(out, color ? NO_COLOR : "");
	if (!last)
		out_spaces(out, (is_number(table, index) ? 0 : blanks) + GAP);
}

void table_print(struct table *table, struct out *out, unsigned int indent, bool color)
{
	unsigned int row, i;

	if (!table)
		return;
	/* heads alone are not a table */
	for (row = 0; row < table->nr_rows && table->nr_rows > !!table->columns.nr; row++) {
		out_spaces(out, indent);
		for (i = 0; i < table->width; i++)
			put_cell(table, out, &row_of(table, row)[i], i, color);
		out_putc(out, '\n');
	}
	table_free(table);
}
