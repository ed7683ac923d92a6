/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of text, cut to the width of the terminal, and labels with values; rows as CSV.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

struct columns;
struct out;
struct table;

/*
 * As CSV the heads are the columns' keys, and a table without rows is printed, too. Without columns
 * it has labels and values.
 */
struct table *table_new(const struct columns *columns, bool csv);
void table_row(struct table *table);
/* Set a cell of the last row; nothing happens if the column is not printed. */
void table_cell(struct table *table, const char *key, const char *value, const char *color);
void table_label(struct table *table, const char *label, const char *value, const char *color);
void table_free(struct table *table);
/* Print the rows from @first on: 1 leaves out the heads. Also frees the table; it may be NULL. */
void table_print(struct table *table, struct out *out, unsigned int first, unsigned int indent,
		 bool color);

#endif /* TABLE_H */
