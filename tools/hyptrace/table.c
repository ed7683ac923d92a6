// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print aligned text: labels with values, and tables. The columns of a table are in the
 * order in which its rows first name them.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "table.h"
#include "text.h"

struct column {
	const char	*key;
	size_t		width;
	bool		number;
};

static char *copy(const char *s)
{
	char *text = strdup(s);

	if (!text)
		die_no_memory();
	return text;
}

/**
 * put_styled - print a string in a style
 * @out:	the output
 * @color:	print with colours; if false, ignore @style
 * @style:	its style
 * @s:		the string
 */
void put_styled(struct out *out, bool color, enum printer_style style, const char *s)
{
	static const char *const codes[] = {
		[STYLE_NAME]	= "\033[1m",
		[STYLE_GOOD]	= "\033[32m",
		[STYLE_BAD]	= "\033[31m",
	};

	if (!color || style == STYLE_PLAIN) {
		out_puts(out, s);
		return;
	}
	out_puts(out, codes[style]);
	out_puts(out, s);
	out_puts(out, "\033[0m");
}

/**
 * put_spaces - print blanks
 * @out:	the output
 * @nr:		number of blanks
 */
void put_spaces(struct out *out, size_t nr)
{
	while (nr--)
		out_putc(out, ' ');
}

/**
 * cells_add - add a cell
 * @cells:	the cells of its row or object
 * @key:	its column or label
 * @value:	its text
 * @style:	its style
 * @number:	align it to the right
 */
void cells_add(struct cells *cells, const char *key, const char *value,
	       enum printer_style style, bool number)
{
	struct cell *cell = reallocarray(cells->cell, cells->nr + 1, sizeof(*cell));
	struct text plain = {};

	if (!cell)
		die_no_memory();
	cells->cell = cell;
	cell = &cells->cell[cells->nr++];
	text_puts(&plain, "");
	text_plain(&plain, value);
	cell->key = copy(key);
	cell->value = plain.s;
	cell->style = style;
	cell->number = number;
}

static void free_cells(struct cells *cells)
{
	unsigned int i;

	for (i = 0; i < cells->nr; i++) {
		free(cells->cell[i].key);
		free(cells->cell[i].value);
	}
	free(cells->cell);
	memset(cells, 0, sizeof(*cells));
}

/* Print "size_requested" as "size requested", or as "SIZE REQUESTED" at the head of a column. */
static void put_label(struct out *out, const char *key, bool upper)
{
	for (; *key; key++) {
		if (*key == '_')
			out_putc(out, ' ');
		else
			out_putc(out, upper ? toupper((unsigned char)*key) : *key);
	}
}

/**
 * table_labels - print lines "label  value"
 * @out:	the output
 * @color:	print with colours
 * @indent:	blanks before each line
 * @cells:	the labels and values; empty afterwards
 */
void table_labels(struct out *out, bool color, unsigned int indent, struct cells *cells)
{
	size_t width = 0;
	unsigned int i;

	for (i = 0; i < cells->nr; i++)
		if (strlen(cells->cell[i].key) > width)
			width = strlen(cells->cell[i].key);
	for (i = 0; i < cells->nr; i++) {
		const struct cell *cell = &cells->cell[i];

		put_spaces(out, indent);
		put_label(out, cell->key, false);
		put_spaces(out, width - strlen(cell->key) + 2);
		put_styled(out, color, cell->style, cell->value);
		out_putc(out, '\n');
	}
	free_cells(cells);
}

static const struct cell *find_cell(const struct cells *cells, const char *key)
{
	unsigned int i;

	for (i = 0; i < cells->nr; i++)
		if (!strcmp(cells->cell[i].key, key))
			return &cells->cell[i];
	return NULL;
}

static struct column *find_column(struct column **columns, unsigned int *nr, const char *key)
{
	struct column *grown;
	unsigned int i;

	for (i = 0; i < *nr; i++)
		if (!strcmp((*columns)[i].key, key))
			return &(*columns)[i];

	grown = reallocarray(*columns, *nr + 1, sizeof(*grown));
	if (!grown)
		die_no_memory();
	*columns = grown;
	grown[*nr].key = key;
	grown[*nr].width = strlen(key);
	grown[*nr].number = false;
	return &grown[(*nr)++];
}

static struct column *find_columns(const struct cells *rows, unsigned int nr_rows,
				   unsigned int *nr)
{
	struct column *columns = NULL, *column;
	unsigned int i, j;

	*nr = 0;
	for (i = 0; i < nr_rows; i++) {
		for (j = 0; j < rows[i].nr; j++) {
			const struct cell *cell = &rows[i].cell[j];

			column = find_column(&columns, nr, cell->key);
			column->number |= cell->number;
			if (text_width(cell->value) > column->width)
				column->width = text_width(cell->value);
		}
	}
	return columns;
}

/* Print the blanks before and after a cell; after the last one of a line a newline. */
static void fill_before(struct out *out, const struct column *column, size_t width)
{
	if (column->number)
		put_spaces(out, column->width - width);
}

static void fill_after(struct out *out, const struct column *column, size_t width, bool last)
{
	if (last)
		out_putc(out, '\n');
	else
		put_spaces(out, 2 + (column->number ? 0 : column->width - width));
}

/**
 * table_rows - print a table
 * @out:	the output
 * @color:	print with colours
 * @indent:	blanks before each line
 * @rows:	the rows, which are freed; a missing cell is printed as "-"
 * @nr_rows:	number of @rows; nothing is printed if it is 0
 */
void table_rows(struct out *out, bool color, unsigned int indent, struct cells *rows,
		unsigned int nr_rows)
{
	unsigned int nr, i, j;
	struct column *columns = find_columns(rows, nr_rows, &nr);

	for (j = 0; j < nr; j++) {
		size_t width = strlen(columns[j].key);

		put_spaces(out, j ? 0 : indent);
		fill_before(out, &columns[j], width);
		put_label(out, columns[j].key, true);
		fill_after(out, &columns[j], width, j + 1 == nr);
	}
	for (i = 0; i < nr_rows; i++) {
		for (j = 0; j < nr; j++) {
			const struct cell *cell = find_cell(&rows[i], columns[j].key);
			const char *value = cell ? cell->value : "-";

			put_spaces(out, j ? 0 : indent);
			fill_before(out, &columns[j], text_width(value));
			put_styled(out, color, cell ? cell->style : STYLE_PLAIN, value);
			fill_after(out, &columns[j], text_width(value), j + 1 == nr);
		}
	}

	/* not earlier: the columns point to keys of the cells */
	for (i = 0; i < nr_rows; i++)
		free_cells(&rows[i]);
	free(rows);
	free(columns);
}
