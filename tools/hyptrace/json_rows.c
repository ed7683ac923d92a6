// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of events as JSON, written by the steps of rows. lines_json.c has the printer for
 * the events that this cannot print, for losses, and for indented JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "../lib/internal.h"
#include "../lib/sentence.h"
#include "die.h"
#include "json_rows.h"
#include "out.h"
#include "row.h"
#include "stamp.h"

/* Bytes of an event's line at most: larger ones are printed by lines_json.c */
#define JSON_LINE_MAX		(32 << 10)
/* Bytes before the fields at most: the CPU and the time */
#define HEAD_MAX		128
/* Bytes of a sentence as a string at most */
#define TEXT_MAX		(SENTENCE_MAX * ROW_STRING_FACTOR + ROW_STRING_MORE + DIGITS_SLACK)

#define NR_IDS			(UINT16_MAX + 1)

/**
 * struct json_event - how to print an event
 * @fields:	the line up to the fields
 * @names:	the names of the values: each step is a comma, the key and the name
 * @has_names:	@names is not empty
 * @has_text:	the event has a sentence
 * @is_large:	it must be printed by lines_json.c
 */
struct json_event {
	struct row	fields;
	struct row	names;
	bool		has_names;
	bool		has_text;
	bool		is_large;
};

/* The arguments of a hypercall by their names */
struct json_call {
	const struct hyptrace_hypercall	*call;
	const struct hyptrace_event	*event;
	struct row			args;
	struct json_call		*next;
};

/* A text of up to DIGITS_SLACK bytes with readable bytes behind it */
#define SLACK(text)	(text "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")

/* Calls are found by the low bits of their ids */
#define NR_CALL_LISTS	256

struct json_rows {
	struct hyptrace_formats	*formats;
	struct stamp		stamp;
	struct json_call	*calls[NR_CALL_LISTS];
	struct json_event	*events[NR_IDS];
};

/**
 * json_rows_new - prepare to print
 * @formats:	formats of the events
 *
 * Return: the rows, which are compiled when events need them.
 */
struct json_rows *json_rows_new(struct hyptrace_formats *formats)
{
	struct json_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		die_no_memory();
	rows->formats = formats;
	return rows;
}

/**
 * json_rows_free - free the rows
 * @rows:	the rows, or NULL
 */
void json_rows_free(struct json_rows *rows)
{
	struct json_call *call, *next;
	unsigned int i;

	if (!rows)
		return;
	for (i = 0; i < NR_CALL_LISTS; i++) {
		for (call = rows->calls[i]; call; call = next) {
			next = call->next;
			row_free(&call->args);
			free(call);
		}
	}
	for (i = 0; i < NR_IDS; i++) {
		if (!rows->events[i])
			continue;
		row_free(&rows->events[i]->fields);
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

static struct json_event *compile(struct json_rows *rows, const struct hyptrace_event *event)
{
	struct json_event *json = calloc(1, sizeof(*json));
	struct row *fields, *names;
	const char *before = "";
	unsigned int i;

	if (!json)
		die_no_memory();
	fields = &json->fields;
	names = &json->names;
	row_init(fields, ROW_JSON, rows->formats, event);
	row_init(names, ROW_JSON, rows->formats, event);
	row_add_text(fields, "\",\"event\":");
	row_add_string(fields, event->name);
	row_add_text(fields, ",\"fields\":{");
	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];

		if (!is_inside(fields, field))
			continue;
		add_field(fields, field, before);
		before = ",";
		if (!row_has_names(names, field))
			continue;
		row_add_text(names, ",");
		row_add_string(names, field->name);
		row_add_text(names, ":");
		row_add_name(names, field);
		json->has_names = true;
	}
	row_add_text(fields, "}");
	json->has_text = hyptrace_formats_has_sentence(rows->formats, event);
	json->is_large = fields->room + names->room > JSON_LINE_MAX - HEAD_MAX;
	return json;
}

/* The arguments are in the fields from "arg1" on. */
static struct json_call *compile_call(struct json_rows *rows, const struct hyptrace_event *event,
				      const struct hyptrace_hypercall *of)
{
	struct json_call *call = calloc(1, sizeof(*call));
	const char *before = ",\"args\":{";
	unsigned int i, nr = 0;

	if (!call)
		die_no_memory();
	call->call = of;
	call->event = event;
	row_init(&call->args, ROW_JSON, rows->formats, event);
	for (i = 0; i < event->nr_fields && nr < of->nr_args; i++) {
		const struct hyptrace_field *field = event->fields[i];

		if (strncmp(field->name, "arg", 3) || !is_number(&call->args, field))
			continue;
		row_add_text(&call->args, before);
		row_add_string(&call->args, of->args[nr++]->name);
		row_add_text(&call->args, ":\"");
		row_add_value(&call->args, field);
		before = "\",";
	}
	row_add_text(&call->args, nr ? "\"}" : ",\"args\":{}");
	return call;
}

static const struct row *args_of(struct json_rows *rows, const struct hyptrace_event *event,
				 const struct hyptrace_hypercall *of)
{
	struct json_call **list = &rows->calls[of->id % NR_CALL_LISTS], *call;

	for (call = *list; call; call = call->next)
		if (call->call == of && call->event == event)
			return &call->args;
	call = compile_call(rows, event, of);
	call->next = *list;
	*list = call;
	return &call->args;
}

static void print_args(struct json_rows *rows, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec, struct out *out)
{
	const struct hyptrace_hypercall *call;

	call = hyptrace_formats_hypercall(rows->formats, event, rec);
	if (call && call->known_args)
		row_print(args_of(rows, event, call), rec, out);
}

static void print_text(struct json_rows *rows, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec, struct out *out)
{
	size_t len;
	const char *text = hyptrace_formats_text(rows->formats, event, rec, &len);
	char *to = out_room(out, TEXT_MAX);

	to = hyptrace_digits_text(to, SLACK(",\"text\":"), 8);
	out_put_to(out, row_put_string(ROW_JSON, to, text, len));
}

static void print_line(struct json_rows *rows, const struct json_event *json, unsigned int cpu,
		       const struct hyptrace_record *rec, struct out *out)
{
	char *to = out_room(out, JSON_LINE_MAX), *names;

	to = hyptrace_digits_text(to, SLACK("{\"cpu\":"), 7);
	to = hyptrace_digits_decimal(to, cpu);
	to = hyptrace_digits_text(to, SLACK(",\"ts\":\""), 7);
	to = stamp_put(&rows->stamp, to, rec->ts);
	to = row_put(&json->fields, rec, to);
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
		print_text(rows, json->fields.event, rec, out);
	}
	to = out_room(out, 2);
	*to++ = '}';
	*to++ = '\n';
	out_put_to(out, to);
}

/**
 * json_rows_print - print the line of an event
 * @rows:	the rows
 * @cpu:	its CPU
 * @rec:	the event
 * @out:	the output
 *
 * Return: false if nothing was printed: the event is unknown, or its line is too long.
 */
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
