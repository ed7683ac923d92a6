// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of text, and labels with values, by libsmartcols.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libsmartcols.h>

#include "columns.h"
#include "die.h"
#include "out.h"
#include "table.h"
#include "text.h"

#define GAP	"  "	/* between two columns */

/**
 * struct table - a table
 * @scols:	what libsmartcols has of it
 * @line:	its last row
 * @columns:	its columns; without them it has labels and values
 */
struct table {
	struct libscols_table	*scols;
	struct libscols_line	*line;
	struct columns		columns;
};

static struct table *new_table(void)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		die_no_memory();
	table->scols = scols_new_table();
	/* cells are escaped before they get there */
	if (!table->scols || scols_table_set_column_separator(table->scols, GAP) ||
	    scols_table_enable_noencoding(table->scols, 1))
		die_no_memory();
	return table;
}

static void new_column(struct table *table, const char *head, int flags)
{
	if (!scols_table_new_column(table->scols, head, 0, flags))
		die_no_memory();
}

/**
 * table_new - make a table with heads
 * @columns:	its columns
 *
 * Return: the table, for table_print().
 */
struct table *table_new(const struct columns *columns)
{
	struct table *table = new_table();
	unsigned int i;

	table->columns = *columns;
	columns_default(&table->columns);
	for (i = 0; i < table->columns.nr_chosen; i++) {
		const struct column *column = &columns->all[table->columns.chosen[i]];

		new_column(table, column->head,
			   (column->flags & COLUMN_NUMBER ? SCOLS_FL_RIGHT : 0) |
			   (column->flags & COLUMN_TRUNC ? SCOLS_FL_TRUNC : 0));
	}
	return table;
}

/**
 * table_new_labels - make a table of labels and values, without heads
 *
 * Return: the table, for table_print().
 */
struct table *table_new_labels(void)
{
	struct table *table = new_table();

	scols_table_enable_noheadings(table->scols, 1);
	/* a value that is too long continues on the next line of the terminal */
	scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_NEVER);
	new_column(table, "label", 0);
	new_column(table, "value", 0);
	return table;
}

/**
 * table_set_cell - set a cell of the last row by the number of its column
 * @table:	the table
 * @index:	the number, from 0
 * @value:	its text
 * @color:	escape sequence of its colour, or NULL
 */
void table_set_cell(struct table *table, unsigned int index, const char *value, const char *color)
{
	struct libscols_cell *cell = scols_line_get_cell(table->line, index);
	char *plain = text_copy_plain(value);

	if (scols_cell_refer_data(cell, plain) || (color && scols_cell_set_color(cell, color)))
		die_no_memory();
}

/**
 * table_row - begin a row
 * @table:	the table
 */
void table_row(struct table *table)
{
	size_t i;

	table->line = scols_table_new_line(table->scols, NULL);
	if (!table->line)
		die_no_memory();
	for (i = 0; i < scols_table_get_ncols(table->scols); i++)
		table_set_cell(table, i, "-", NULL);
}

/**
 * table_columns - get the columns of a table
 * @table:	the table
 *
 * Return: its columns, valid until the table is freed.
 */
const struct columns *table_columns(const struct table *table)
{
	return &table->columns;
}

/* The width of a column, with the gap behind it; 0 if it is hidden */
static size_t width_of(const struct table *table, unsigned int index)
{
	struct libscols_column *column = scols_table_get_column(table->scols, index);
	size_t width = strlen(scols_cell_get_data(scols_column_get_header(column))), len, i;
	struct libscols_line *line;

	for (i = 0; i < scols_table_get_nlines(table->scols); i++) {
		line = scols_table_get_line(table->scols, i);
		len = strlen(scols_cell_get_data(scols_line_get_cell(line, index)));
		width = len > width ? len : width;
	}
	return scols_column_is_hidden(column) ? 0 : width + strlen(GAP);
}

/* Hide columns that have a rank until the lines fit the terminal. */
static void fit(struct table *table, size_t indent)
{
	const struct columns *columns = &table->columns;
	struct libscols_column *column;
	size_t width = indent;
	unsigned int i, rank;

	if (!isatty(STDOUT_FILENO) || !columns->nr)
		return;
	for (i = 0; i < columns->nr_chosen; i++)
		width += width_of(table, i);
	for (rank = COLUMNS_MAX; rank; rank--) {
		for (i = 0; i < columns->nr_chosen; i++) {
			if (columns->all[columns->chosen[i]].flags >> 8 != rank ||
			    width - strlen(GAP) <= scols_table_get_termwidth(table->scols))
				continue;
			width -= width_of(table, i);
			column = scols_table_get_column(table->scols, i);
			scols_column_set_flags(column, SCOLS_FL_HIDDEN);
		}
	}
}

static void put_lines(struct out *out, unsigned int indent, const char *lines)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		out_spaces(out, indent);
		out_write(out, lines, len);
		out_putc(out, '\n');
		lines += len + (lines[len] == '\n');
	}
}

/**
 * table_free - free a table
 * @table:	the table
 */
void table_free(struct table *table)
{
	scols_unref_table(table->scols);
	free(table);
}

/**
 * table_print - print and free a table
 * @table:	the table, or NULL
 * @out:	the output
 * @indent:	blanks before each line
 * @color:	print with colours
 */
void table_print(struct table *table, struct out *out, unsigned int indent, bool color)
{
	char *lines = NULL;

	if (!table)
		return;
	fit(table, indent);
	if (scols_table_reduce_termwidth(table->scols, indent) ||
	    scols_table_enable_colors(table->scols, color) ||
	    scols_print_table_to_string(table->scols, &lines))
		die_no_memory();
	put_lines(out, indent, lines ? lines : "");
	free(lines);
	table_free(table);
}
