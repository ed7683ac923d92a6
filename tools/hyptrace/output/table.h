/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of text, and labels with values, by libsmartcols. For the printer.
 */
#ifndef TABLE_H
#define TABLE_H

#include "out.h"
#include "printer.h"

struct columns;
struct table;

struct table *table_new(const struct columns *columns);
struct table *table_new_labels(void);
void table_row(struct table *table);
const struct columns *table_columns(const struct table *table);
void table_set_cell(struct table *table, unsigned int index, const char *value, const char *color);
void table_free(struct table *table);
void table_print(struct table *table, struct out *out, unsigned int indent, bool color);

/* table_cell.c */
void table_cell(struct table *table, const char *key, const char *value, const char *color);
void table_label(struct table *table, const char *label, const char *value, const char *color);

#endif /* TABLE_H */
