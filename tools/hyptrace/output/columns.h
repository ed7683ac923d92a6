/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns of a table, and those of them that --output selects. For the printer, list
 * and status.
 */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#define COLUMNS_MAX	16
#define COLUMN_NONE	-1
/* If the terminal is too narrow, columns are left out: those of the highest rank from 1 on first */
#define COLUMN_RANK(rank)	((rank) << 8)

enum column_flags {
	COLUMN_NUMBER	= 1 << 0,	/* align it to the right */
	COLUMN_TRUNC	= 1 << 1,	/* cut its text if the terminal is too narrow */
	COLUMN_JSON	= 1 << 2,	/* in text, print it only if it is selected */
	COLUMN_EXTRA	= 1 << 3,	/* print it only if it is selected */
};

/**
 * struct column - a column of a table
 * @key:	its key in JSON
 * @head:	its name, which is its head in text
 * @flags:	enum column_flags
 */
struct column {
	const char	*key;
	const char	*head;
	unsigned int	flags;
};

/**
 * struct columns - the columns of a table
 * @all:	all columns
 * @nr:		number of @all
 * @chosen:	indexes of the columns that --output selects, in its order
 * @nr_chosen:	number of @chosen; 0 without --output
 */
struct columns {
	const struct column	*all;
	unsigned int		nr;
	unsigned int		chosen[COLUMNS_MAX];
	unsigned int		nr_chosen;
};

bool columns_parse(struct columns *columns, const char *list, const char **bad, size_t *len);
bool columns_has(const struct columns *columns, const char *key);
void columns_tell_apart(struct columns *columns, unsigned int nr);
void columns_default(struct columns *columns);
char *columns_names(const struct columns *columns, const char *before);
char *columns_help(const struct columns *columns);

#endif /* COLUMNS_H */
