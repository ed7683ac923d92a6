// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of events as JSON, written by the steps of rows. lines_json.c has the printer for
 * the events that this cannot print, for losses, and for indented JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace_model.h"
#include "lib/internal.h"
#include "output/die.h"
#include "output/out.h"
#include "output/stamp.h"
#include "json_rows.h"
#include "row.h"

/* Bytes of an event's line at most: larger ones are printed by lines_json.c */
#define JSON_LINE_MAX		(32 << 10)
/* Bytes before the fields at most: the CPU and the time */
#define HEAD_MAX		128
#define NR_IDS			(UINT16_MAX + 1)

/* How to print an event */
struct json_event {
	struct row	fields;	/* the line up to the fields */
	/* the same for a hypercall without a result; its steps are NULL for other events */
	struct row	no_result;
	/* the names of the values: each step is a comma, the key and the name */
	struct row	names;
	bool		has_names;	/* names is not empty */
	bool		has_text;	/* the event has a sentence */
	bool		is_large;	/* it must be printed by lines_json.c */
};

/* A text of up to DIGITS_SLACK bytes with readable bytes behind it */
#define SLACK(text)	(text "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")

struct json_rows {
	struct hyptrace_formats	*formats;
	const struct hyptrace_model *model;
	struct stamp		stamp;
	struct row_calls	calls;	/* their arguments */
	struct json_event	*events[NR_IDS];
};

struct json_rows *json_rows_new(struct hyptrace_formats *formats,
				const struct hyptrace_model *model)
{
	struct json_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		die_no_memory();
	rows->formats = formats;
	rows->model = model;
	return rows;
}

void json_rows_free(struct json_rows *rows)
{
	unsigned int i;

	if (!rows)
		return;
	row_calls_free(&rows->calls);
	for (i = 0; i < NR_IDS; i++) {
		if (!rows->events[i])
			continue;
		row_free(&rows->events[i]->fields);
		row_free(&rows->events[i]->no_result);
		row_free(&rows->events[i]->names);
		free(rows->events[i]);
	}
	free(rows);
}

static bool is_number(const struct row *row, const struct hyptrace_field *field)
{
	return hyptrace_field_is_number(field, row->event->size);
}

static bool is_inside(const struct row *row, const struct hyptrace_field *field)
{
	return field->offset <= row->event->size && field->size <= row->event->size - field->offset;
}

static void add_field(struct row *row, const struct hyptrace_field *field, const char *before)
{
	/* JSON readers use doubles: numbers of 64 bits are strings */
	const char *quote = is_number(row, field) && field->size == sizeof(uint64_t) ? "\"" : "";

	row_add_text(row, before);
	row_add_string(row, field->name);
	row_add_text(row, ":");
	row_add_text(row, quote);
	row_add_value(row, field);
	row_add_text(row, quote);
}

/* Compile the line up to the fields, without the field @but, which may be NULL. */
static void compile_fields(struct row *row, const struct json_rows *rows,
			   const struct hyptrace_event *event, const struct hyptrace_field *but)
{
	const char *before = "";
	unsigned int i;

	row_init(row, ROW_JSON, rows->formats, event);
	row_add_text(row, "\",\"event\":");
	row_add_string(row, event->name);
	row_add_text(row, ",\"fields\":{");
	for (i = 0; i < event->nr_fields; i++) {
		if (event->fields[i] == but || !is_inside(row, event->fields[i]))
			continue;
		add_field(row, event->fields[i], before);
		before = ",";
	}
	row_add_text(row, "}");
}

static struct json_event *compile(struct json_rows *rows, const struct hyptrace_event *event)
{
	const struct hyptrace_field *result = hyptrace_formats_result(rows->formats, event);
	struct json_event *json = calloc(1, sizeof(*json));
	struct row *names;
	unsigned int i;

	if (!json)
		die_no_memory();
	compile_fields(&json->fields, rows, event, NULL);
	if (result)
		compile_fields(&json->no_result, rows, event, result);
	names = &json->names;
	row_init(names, ROW_JSON, rows->formats, event);
	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];

		if (!is_inside(names, field) || !row_has_names(names, field))
			continue;
		row_add_text(names, ",");
		row_add_string(names, field->name);
		row_add_text(names, ":");
		row_add_name(names, field);
		json->has_names = true;
	}
	json->has_text = hyptrace_formats_has_sentence(rows->formats, event);
	json->is_large = json->fields.room + names->room > JSON_LINE_MAX - HEAD_MAX;
	return json;
}

static void compile_call(struct row *args, const struct json_rows *rows,
			 const struct hyptrace_event *event, const struct hyptrace_hypercall *of)
{
	const struct hyptrace_meaning *meaning = rows->model->by_id[event->id];
	const unsigned int nr = hyptrace_meaning_named_args(meaning, of);
	unsigned int i;

	row_init(args, ROW_JSON, rows->formats, event);
	for (i = 0; i < nr; i++) {
		row_add_text(args, i ? "\"," : ",\"args\":{");
		row_add_string(args, of->args[i]->name);
		row_add_text(args, ":\"");
		row_add_value(args, meaning->places[HYPTRACE_ROLE_ARG1 + i].field);
	}
	row_add_text(args, nr ? "\"}" : ",\"args\":{}");
}

static void print_args(struct json_rows *rows, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec, struct out *out)
{
	const struct hyptrace_hypercall *call;
	struct row *args;

	call = hyptrace_formats_hypercall(rows->formats, event, rec);
	if (!call || !call->known_args)
		return;
	args = row_calls_get(&rows->calls, event, call);
	if (!args->steps)
		compile_call(args, rows, event, call);
	row_print(args, rec, out);
}

static void print_line(struct json_rows *rows, const struct json_event *json, unsigned int cpu,
		       const struct hyptrace_record *rec, struct out *out)
{
	char *to = out_room(out, JSON_LINE_MAX), *names;
	const struct row *fields = &json->fields;

	if (json->no_result.steps &&
	    !hyptrace_formats_has_result(rows->formats, fields->event, rec))
		fields = &json->no_result;
	to = hyptrace_digits_text(to, SLACK("{\"cpu\":"), 7);
	to = hyptrace_digits_decimal(to, cpu);
	to = hyptrace_digits_text(to, SLACK(",\"ts\":\""), 7);
	to = stamp_put(&rows->stamp, to, rec->ts);
	to = row_put(fields, rec, to);
	if (json->has_names) {
		names = hyptrace_digits_text(to, SLACK(",\"symbols\":"), 11);
		/* a brace takes the place of the first comma */
		to = row_put_names(&json->names, rec, names);
		*names = '{';
		if (to == names)
			to = names - 11;
		else
			*to++ = '}';
	}
	out_put_to(out, to);
	if (json->has_text) {
		print_args(rows, json->fields.event, rec, out);
		row_print_text(rows->formats, json->fields.event, rec, out);
	}
	to = out_room(out, 2);
	*to++ = '}';
	*to++ = '\n';
	out_put_to(out, to);
}

bool json_rows_print(struct json_rows *rows, unsigned int cpu, const struct hyptrace_record *rec,
		     struct out *out)
{
	const struct hyptrace_event *event = hyptrace_formats_event(rows->formats, rec);
	struct json_event *json;

	if (!event)
		return false;
	json = rows->events[event->id];
	if (__builtin_expect(!json, 0)) {
		json = compile(rows, event);
		rows->events[event->id] = json;
	}
	if (json->is_large)
		return false;
	print_line(rows, json, cpu, rec, out);
	return true;
}
