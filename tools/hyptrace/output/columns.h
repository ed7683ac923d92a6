/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns of a table, described once for text, JSON and CSV, and those of them that --columns
 * selects. columns_print() prints a row after printer_table(); verbs/cmd_status.c is an example.
 */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;
struct printer;

#define COLUMNS_MAX	26
/* If the terminal is too narrow, columns are left out: those of the highest rank from 1 on first */
#define COLUMN_RANK_SHIFT	8
#define COLUMN_RANK_MASK	(0x1f << COLUMN_RANK_SHIFT)
#define COLUMN_RANK(rank)	((rank) << COLUMN_RANK_SHIFT)

/* The value is a member of the row, of a type such as COLUMN_U32, in place of print() */
#define COLUMN_OF(type, row, member) \
	((type) | (unsigned int)offsetof(row, member) << COLUMN_OFFSET_SHIFT)
#define COLUMN_OFFSET_SHIFT	16
#define COLUMN_TYPES		(7 << 13)

enum column_flags {
	COLUMN_NUMBER	= 1 << 0,	/* align it to the right */
	COLUMN_TRUNC	= 1 << 1,	/* cut its text if the terminal is too narrow */
	COLUMN_JSON	= 1 << 2,	/* in text, print it only if it is selected */
	COLUMN_EXTRA	= 1 << 3,	/* print it only if it is selected */
	COLUMN_CSV	= 1 << 4,	/* print it only in CSV, or if it is selected */
	COLUMN_TEXT	= 1 << 5,	/* print it only in text, or if it is selected */
	COLUMN_NOT_0	= 1 << 6,	/* a number: 0 is none */
	/* of COLUMN_OF(): the type of the member */
	COLUMN_BOOL	= 1 << 13,
	COLUMN_U32	= 2 << 13,
	COLUMN_U64	= 3 << 13,
	COLUMN_STRING	= 4 << 13,	/* NULL is none */
	COLUMN_CHARS	= 5 << 13,
	COLUMN_S64	= 6 << 13,
	COLUMN_BITS64	= 7 << 13,	/* a number that is always a string in JSON */
};

struct column {
	const char	*key;		/* in JSON and CSV */
	const char	*head;		/* in text; also its name for --columns */
	unsigned int	flags;		/* enum column_flags, COLUMN_RANK(), COLUMN_OF() */
	/* print the value of a row: NULL with COLUMN_OF(), or if the verb prints its rows itself */
	void		(*print)(struct printer *p, const char *key, const void *row);
};

struct columns {
	const struct column	*all;
	unsigned int		nr;
	unsigned int		chosen[COLUMNS_MAX];	/* indexes, in the order of --columns */
	unsigned int		nr_chosen;		/* 0 without --columns */
};

/* All columns of an array, none of them selected */
#define COLUMNS(array)	{ .all = (array), .nr = sizeof(array) / sizeof((array)[0]) }

/* If a name is unknown, @bad is set to the first one, which is not terminated. */
bool columns_parse(struct columns *columns, const char *list, const char **bad, size_t *len);
bool columns_has(const struct columns *columns, const char *key);
/* Choose the first column, REMOTE, too, if there are several remotes. */
void columns_tell_apart(struct columns *columns, unsigned int nr);
/* @before and the names of all columns, for free() */
char *columns_names(const struct columns *columns, const char *before);
/* By key or name; NULL if there is none */
const struct column *columns_find(const struct columns *columns, const char *name);

/*
 * Tables of text, cut to the width of the terminal; without columns, labels with values. As CSV the
 * heads are the columns' keys, and a table without rows is printed, too.
 */
struct table *table_new(const struct columns *columns, bool csv);
void table_row(struct table *table);
/* Set a cell of the last row; nothing happens if the column is not printed. */
void table_cell(struct table *table, const char *key, const char *value, const char *color);
void table_label(struct table *table, const char *label, const char *value, const char *color);
/* Print the rows from @first on: 1 leaves out the heads. Also frees the table; it may be NULL. */
void table_print(struct table *table, struct out *out, unsigned int first, unsigned int indent,
		 bool color);

#endif /* COLUMNS_H */
