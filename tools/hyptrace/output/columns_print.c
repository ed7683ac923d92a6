// SPDX-License-Identifier: GPL-2.0-only
/* Print rows of objects by their columns, in each format of the printer. */
#include "columns.h"
#include "printer.h"

static void print_uint(const struct column *column, struct printer *p, uint64_t value)
{
	if (!value && column->flags & COLUMN_NOT_0)
		printer_none(p, column->key);
	else
		printer_uint(p, column->key, value);
}

void column_print(const struct column *column, struct printer *p, const void *row)
{
	const void *at = (const char *)row + (column->flags >> COLUMN_OFFSET_SHIFT);

	if (column->print) {
		column->print(p, column->key, row);
		return;
	}
	switch (column->flags & COLUMN_TYPES) {
	case COLUMN_BOOL:
		printer_bool(p, column->key, *(const bool *)at);
		break;
	case COLUMN_U32:
		print_uint(column, p, *(const uint32_t *)at);
		break;
	case COLUMN_U64:
		print_uint(column, p, *(const uint64_t *)at);
		break;
	case COLUMN_S64:
		printer_int(p, column->key, *(const int64_t *)at);
		break;
	case COLUMN_BITS64:
		printer_u64(p, column->key, *(const uint64_t *)at);
		break;
	case COLUMN_STRING:
		printer_str(p, column->key, *(const char *const *)at);
		break;
	case COLUMN_CHARS:
		printer_str(p, column->key, at);
		break;
	}
}

void columns_print_values(const struct columns *columns, struct printer *p, const void *row)
{
	const struct column *column, *end = columns->all + columns->nr;

	for (column = columns->all; column < end; column++)
		if (printer_is_csv(p) || !(column->flags & COLUMN_CSV))
			column_print(column, p, row);
}

void columns_print(const struct columns *columns, struct printer *p, const void *row)
{
	printer_row(p);
	columns_print_values(columns, p, row);
	printer_end(p);
}
