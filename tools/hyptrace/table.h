/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print aligned text: labels with values, and tables. For the printer.
 */
#ifndef TABLE_H
#define TABLE_H

#include "out.h"
#include "printer.h"

/**
 * struct cell - a cell of a table, or a label and value of an object
 * @key:	name of the column, or the label
 * @value:	text that is safe to print
 * @style:	style of @value
 * @number:	align it to the right
 */
struct cell {
	char			*key;
	char			*value;
	enum printer_style	style;
	bool			number;
};

struct cells {
	struct cell	*cell;
	unsigned int	nr;
};

void cells_add(struct cells *cells, const char *key, const char *value,
	       enum printer_style style, bool number);
void table_labels(struct out *out, bool color, unsigned int indent, struct cells *cells);
void table_rows(struct out *out, bool color, unsigned int indent, struct cells *rows,
		unsigned int nr_rows);
void put_styled(struct out *out, bool color, enum printer_style style, const char *s);
void put_spaces(struct out *out, size_t nr);

#endif /* TABLE_H */
