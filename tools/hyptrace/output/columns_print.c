// SPDX-License-Identifier: GPL-2.0-only
/* Print rows of objects by their columns, in each format of the printer. */
#include "columns.h"
#include "printer.h"

void columns_print_values(const struct columns *columns, struct printer *p, const void *row)
{
	const struct column *column, *end = columns->all + columns->nr;

	for (column = columns->all; column < end; column++)
		if (printer_is_csv(p) || !(column->flags & COLUMN_CSV))
			column->print(p, column->key, row);
}

void columns_print(const struct columns *columns, struct printer *p, const void *row)
{
	printer_row(p);
	columns_print_values(columns, p, row);
	printer_end(p);
}
