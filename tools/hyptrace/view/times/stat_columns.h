/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns of rows, for stat and top: how each is named, computed, sorted and printed.
 */
#ifndef STAT_COLUMNS_H
#define STAT_COLUMNS_H

#include "output/columns.h"
#include "output/time_text.h"
#include "stat.h"

enum stat_needs {
	NEEDS_TIME	= 1 << 0,	/* samples have times */
	NEEDS_SAMPLES	= 1 << 1,	/* the time of each sample; counters do not have it */
	NEEDS_EXIT	= 1 << 2,	/* rows by exit */
};

#define COLUMN(key_, head_, flags_) { .key = (key_), .head = (head_), .flags = (flags_) }
#define NUMBER(rank)	(COLUMN_NUMBER | COLUMN_RANK(rank))

enum stat_cell_kind {
	CELL_NUMBER,
	CELL_TIME,
	CELL_PERCENT,
	CELL_DEVIATION,
};

struct stat_column_info {
	struct column		column;	/* for the printer */
	const char		*sort;	/* its name in --key; NULL if rows cannot be sorted by it */
	enum stat_cell_kind	kind;
	unsigned int		needs;	/* enum stat_needs */
};

extern const struct stat_column_info stat_columns[NR_STAT_COLUMNS];

struct stat_cell {
	bool		is_known;
	uint64_t	n;
	double		x;	/* the value to sort by; of a percentage or a deviation the value */
};

/* A row as it is printed */
struct stat_line {
	struct stat_key		key;
	const struct stat_row	*row;	/* valid while its samples are kept */
	char			name[STAT_NAME_SIZE];
	double			error;	/* standard deviation of the mean, as a part of it */
	struct stat_cell	cells[NR_STAT_COLUMNS];
};

/* The columns that rows of stat can be sorted by */
extern const enum stat_column stat_keys[];

/* Find a column of a list, which NR_STAT_COLUMNS ends, by the argument of --key. */
bool stat_column_find(const enum stat_column *list, const char *key, enum stat_column *column);
/* A text and the names of the columns of a list, for free() */
char *stat_column_names(const enum stat_column *list, const char *before);
bool stat_column_has(enum stat_column column, enum stat_by by, bool is_counted);

void stat_cell_set(struct stat_line *line, enum stat_column column, bool is_known, uint64_t n);
void stat_cell_percent(struct stat_line *line, enum stat_column column, double part, double whole);
/* "-" if it is not known */
void stat_cell_text(const struct stat_line *line, enum stat_column column,
		    char text[TIME_TEXT_SIZE]);

/* All cells but the name, the CPU and the percentages */
void stat_line_set(struct stat_line *line, const struct stat_row *row, bool is_counted);
/* Sort elements of a size that begin with a struct stat_line: the largest first, or by name. */
void stat_lines_sort(void *lines, unsigned int nr, size_t size, enum stat_column column);

/* stat_raw.c: the counters of EL2 as they are, as a table or with their histograms */
extern const struct column stat_raw_columns[];
extern const unsigned int stat_nr_raw_columns;
int stat_raw(struct context *ctx, const struct columns *columns, bool histogram);

#endif /* STAT_COLUMNS_H */
