/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of events and of losses as JSON.
 */
#ifndef JSON_ROWS_H
#define JSON_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hyptrace_formats;
struct hyptrace_meaning;
struct hyptrace_model;
struct hyptrace_record;
struct json_rows;
struct out;

enum json_rows_flags {
	JSON_ROWS_PRETTY	= 1 << 0,	/* indent lines */
	JSON_ROWS_HOST		= 1 << 1,	/* events of the host: each says so */
};

/* The model may be NULL for events of the host. */
struct json_rows *json_rows_new(struct hyptrace_formats *formats,
				const struct hyptrace_model *model, unsigned int flags);
/* End each line with these members of an object, which must stay valid; "" for none. */
void json_rows_set_tail(struct json_rows *rows, const char *members);
void json_rows_free(struct json_rows *rows);
void json_rows_print(struct json_rows *rows, unsigned int cpu, const struct hyptrace_record *rec,
		     struct out *out);
void json_rows_lost(struct json_rows *rows, unsigned int cpu, uint64_t ts, uint64_t lost,
		    struct out *out);
/* The arguments of a call as an object, likewise: those that are known, or else fields */
const char *json_rows_args(struct json_rows *rows, const struct hyptrace_meaning *meaning,
			   const struct hyptrace_record *rec, size_t *len);
/* An event as an object, never indented, with the member "lost"; valid until the next call */
const char *json_rows_object(struct json_rows *rows, unsigned int cpu,
			     const struct hyptrace_record *rec, size_t *len);

#endif /* JSON_ROWS_H */
