/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of events as JSON, written fast. For lines_json.c and export_jsonl.c.
 */
#ifndef JSON_ROWS_H
#define JSON_ROWS_H

#include <stdbool.h>

struct hyptrace_formats;
struct hyptrace_model;
struct hyptrace_record;
struct json_rows;
struct out;

struct json_rows *json_rows_new(struct hyptrace_formats *formats,
				const struct hyptrace_model *model);
void json_rows_free(struct json_rows *rows);
bool json_rows_print(struct json_rows *rows, unsigned int cpu, const struct hyptrace_record *rec,
		     struct out *out);

#endif /* JSON_ROWS_H */
