// SPDX-License-Identifier: GPL-2.0-only
/*
 * The columns of hyptrace top: their cells, and the order of rows by one of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/time_text.h"
#include "top_view.h"

#define NSEC_PER_SEC	1e9

static double time_of_rows(const struct top_view *view)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < view->nr_rows; i++)
		sum += view->rows[i].now_total;
	return sum;
}

static double rate(const struct top_view *view, const struct top_row *row)
{
	return view->interval ? row->now * NSEC_PER_SEC / view->interval : 0;
}

static double now_total(const struct top_view *view, const struct top_row *row)
{
	(void)view;
	return row->now_total;
}

static double mean(const struct top_view *view, const struct top_row *row)
{
	(void)view;
	return row->now_timed ? (double)row->now_total / row->now_timed : 0;
}

static double longest(const struct top_view *view, const struct top_row *row)
{
	(void)view;
	return row->longest;
}

static double p99(const struct top_view *view, const struct top_row *row)
{
	(void)view;
	return row->p99;
}

static double samples(const struct top_view *view, const struct top_row *row)
{
	(void)view;
	return row->samples;
}

static double total(const struct top_view *view, const struct top_row *row)
{
	(void)view;
	return row->total;
}

static double guest(const struct top_view *view, const struct top_row *row)
{
	(void)view;
	return row->guest;
}

enum cell {
	CELL_NUMBER,
	CELL_SHARE,	/* of the time of all rows */
	CELL_TIME,
};

static const struct {
	const char	*key;
	const char	*head;
	unsigned int	width;
	enum cell	cell;
	double		(*value)(const struct top_view *view, const struct top_row *row);
} columns[NR_TOP_COLUMNS] = {
	[TOP_NAME]	= { "name", "NAME", 0, CELL_NUMBER, NULL },
	[TOP_RATE]	= { "rate", "SAMPLES/S", 10, CELL_NUMBER, rate },
	[TOP_TIME]	= { "time", "TIME%", 6, CELL_SHARE, now_total },
	[TOP_MEAN]	= { "mean", "MEAN", 10, CELL_TIME, mean },
	[TOP_MAX]	= { "max", "MAX", 10, CELL_TIME, longest },
	[TOP_P99]	= { "p99", "P99", 10, CELL_TIME, p99 },
	[TOP_SAMPLES]	= { "samples", "SAMPLES", 10, CELL_NUMBER, samples },
	[TOP_TOTAL]	= { "total", "TOTAL", 10, CELL_TIME, total },
	[TOP_GUEST]	= { "guest", "GUEST", 10, CELL_TIME, guest },
};

/**
 * top_column_key - get the name of a column for --key
 * @column:	the column
 *
 * Return: the name.
 */
const char *top_column_key(enum top_column column)
{
	return columns[column].key;
}

/**
 * top_column_head - get the head of a column
 * @column:	the column
 *
 * Return: the head.
 */
const char *top_column_head(enum top_column column)
{
	return columns[column].head;
}

/**
 * top_column_width - get the width of the cells of a column
 * @column:	the column; not TOP_NAME, which has no width of its own
 *
 * Return: the width.
 */
unsigned int top_column_width(enum top_column column)
{
	return columns[column].width;
}

/**
 * top_column_find - parse the argument of --key
 * @key:	the argument
 * @column:	out: the column
 *
 * Return: false if there is none of that name.
 */
bool top_column_find(const char *key, enum top_column *column)
{
	for (*column = 0; *column < NR_TOP_COLUMNS; ++*column)
		if (!strcmp(key, columns[*column].key))
			return true;
	return false;
}

/**
 * top_column_is_shown - do the rows have values of a column?
 * @view:	the rows
 * @column:	the column
 *
 * Return: true if they do.
 */
bool top_column_is_shown(const struct top_view *view, enum top_column column)
{
	switch (column) {
	case TOP_P99:
		return view->has_time && !view->is_counted;
	case TOP_TIME:
	case TOP_MEAN:
	case TOP_MAX:
	case TOP_TOTAL:
		return view->has_time;
	case TOP_GUEST:
		return view->is_exit;
	default:
		return true;
	}
}

/**
 * top_column_next - get the column to the right or to the left
 * @view:	the rows
 * @column:	a column
 * @step:	1 for the right, -1 for the left
 *
 * Return: the next column that is shown; beyond the last one, the first one follows.
 */
enum top_column top_column_next(const struct top_view *view, enum top_column column, int step)
{
	do {
		column = (column + NR_TOP_COLUMNS + step) % NR_TOP_COLUMNS;
	} while (!top_column_is_shown(view, column));
	return column;
}

/**
 * top_column_cell - write a cell
 * @view:	the rows
 * @row:	the row
 * @column:	the column; not TOP_NAME
 * @cell:	out: the text
 */
void top_column_cell(const struct top_view *view, const struct top_row *row,
		     enum top_column column, char cell[TOP_CELL_SIZE])
{
	double value;

	value = columns[column].value(view, row);
	if (columns[column].cell == CELL_NUMBER)
		snprintf(cell, TOP_CELL_SIZE, "%.0f", value);
	else if (!value)
		snprintf(cell, TOP_CELL_SIZE, "-");
	else if (columns[column].cell == CELL_SHARE)
		percent_text(cell, value, time_of_rows(view));
	else
		time_text(cell, value);
}

struct sorted {
	struct top_row	row;
	double		value;
};

static int compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return strcmp(x->row.name, y->row.name);
}

/**
 * top_sort - sort the rows by a column: the largest first, or by name
 * @view:	the rows
 * @column:	the column
 */
void top_sort(struct top_view *view, enum top_column column)
{
	struct sorted *sorted = calloc(view->nr_rows + 1, sizeof(*sorted));
	unsigned int i;

	if (!sorted)
		die_no_memory();
	for (i = 0; i < view->nr_rows; i++) {
		sorted[i].row = view->rows[i];
		if (columns[column].value)
			sorted[i].value = columns[column].value(view, &view->rows[i]);
	}
	qsort(sorted, view->nr_rows, sizeof(*sorted), compare);
	for (i = 0; i < view->nr_rows; i++)
		view->rows[i] = sorted[i].row;
	free(sorted);
}
