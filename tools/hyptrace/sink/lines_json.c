// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the lines of events and of losses as JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace_model.h"
#include "lib/internal.h"
#include "output/printer.h"
#include "output/text.h"
#include "json_rows.h"
#include "lines.h"

/* Print a field that is not a number: a char array as a string, others as hex bytes. */
static void print_array_field(struct printer *p, const struct hyptrace_field *field,
			      const struct hyptrace_record *rec)
{
	const unsigned char *at;
	uint32_t size, i;
	char *text;
	size_t len;
	FILE *f;

	at = hyptrace_field_bytes(field, rec, &size);
	if (!at)
		return;
	f = text_open(&text, &len);
	if (strstr(field->type, "char")) {
		fwrite(at, strnlen((const char *)at, size), 1, f);
	} else {
		for (i = 0; i < size; i++)
			fprintf(f, "%02x", at[i]);
	}
	text_close(f);
	printer_str(p, field->name, text);
	free(text);
}

/**
 * lines_field_json - print a field of an event as JSON
 * @p:		the printer
 * @field:	the field
 * @rec:	the event
 */
void lines_field_json(struct printer *p, const struct hyptrace_field *field,
		      const struct hyptrace_record *rec)
{
	uint64_t value;

	if (hyptrace_field_value(field, rec, &value))
		print_array_field(p, field, rec);
	else if (field->size == sizeof(value) && field->is_signed)
		printer_s64(p, field->name, value);
	else if (field->size == sizeof(value))
		printer_u64(p, field->name, value);
	else if (field->is_signed)
		printer_int(p, field->name, value);
	else
		printer_uint(p, field->name, value);
}

static void print_symbols(const struct lines *lines, const struct hyptrace_event *event,
			  const struct hyptrace_record *rec)
{
	struct printer *p = lines->p;
	bool begun = false;
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];
		const char *name = hyptrace_formats_name(lines->formats, event, field, rec);

		if (!name)
			continue;
		if (!begun)
			printer_object(p, "symbols");
		begun = true;
		printer_str(p, field->name, name);
	}
	if (begun)
		printer_end(p);
}

/* Print the arguments of a hypercall by their names. */
static void print_args(const struct lines *lines, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec)
{
	const struct hyptrace_hypercall *call;
	const struct hyptrace_meaning *meaning;
	unsigned int i;

	call = hyptrace_formats_hypercall(lines->formats, event, rec);
	if (!call || !call->known_args || !lines->model)
		return;
	meaning = lines->model->by_id[event->id];
	printer_object(lines->p, "args");
	for (i = 0; i < hyptrace_meaning_named_args(meaning, call); i++)
		printer_u64(lines->p, call->args[i]->name,
			    hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ARG1 + i, rec));
	printer_end(lines->p);
}

/**
 * lines_record_id - get the event id of a record
 * @rec:	the record
 *
 * Return: the id, 0 if the record is too short.
 */
unsigned int lines_record_id(const struct hyptrace_record *rec)
{
	uint16_t id = 0;

	if (rec->size >= sizeof(id))
		memcpy(&id, rec->data, sizeof(id));
	return id;
}

static void put_host(const struct lines *lines)
{
	if (lines->is_host)
		printer_bool(lines->p, "host", true);
}

/**
 * lines_event_keys - print an event into an object of JSON
 * @lines:	the line printer
 * @cpu:	its CPU
 * @rec:	the event
 */
void lines_event_keys(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_formats_event(lines->formats, rec);
	struct printer *p = lines->p;
	const struct hyptrace_field *result = NULL;
	unsigned int i;
	size_t len;

	printer_uint(p, "cpu", cpu);
	printer_u64(p, "ts", rec->ts);
	put_host(lines);
	if (event) {
		printer_str(p, "event", event->name);
		printer_object(p, "fields");
		if (!hyptrace_formats_has_result(lines->formats, event, rec))
			result = hyptrace_formats_result(lines->formats, event);
		for (i = 0; i < event->nr_fields; i++)
			if (event->fields[i] != result)
				lines_field_json(p, event->fields[i], rec);
		printer_end(p);
		print_symbols(lines, event, rec);
		print_args(lines, event, rec);
		if (hyptrace_formats_has_sentence(lines->formats, event))
			printer_str(p, "text",
				    hyptrace_formats_text(lines->formats, event, rec, &len));
	} else {
		printer_none(p, "event");
		printer_uint(p, "id", lines_record_id(rec));
		printer_uint(p, "size", rec->size);
	}
}

/* Print an event as indented JSON, or one that json_rows.c cannot print. */
static void print_event(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec)
{
	printer_line(lines->p, STYLE_PLAIN, "%s", "");
	lines_event_keys(lines, cpu, rec);
	printer_end(lines->p);
}

/**
 * lines_event_json - print an event as JSON
 * @lines:	the line printer
 * @cpu:	its CPU
 * @rec:	the event
 */
void lines_event_json(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec)
{
	if (!lines->rows || !json_rows_print(lines->rows, cpu, rec, lines->out))
		print_event(lines, cpu, rec);
}

/**
 * lines_lost_json - print as JSON that events were lost
 * @lines:	the line printer
 * @cpu:	the CPU
 * @ts:		the time
 * @lost:	number of lost events, or HYPTRACE_LOST_UNKNOWN
 */
void lines_lost_json(struct lines *lines, unsigned int cpu, uint64_t ts, uint64_t lost)
{
	struct printer *p = lines->p;

	printer_line(p, STYLE_PLAIN, "%s", "");
	printer_uint(p, "cpu", cpu);
	printer_u64(p, "ts", ts);
	put_host(lines);
	if (lost == HYPTRACE_LOST_UNKNOWN)
		printer_none(p, "lost");
	else
		printer_uint(p, "lost", lost);
	printer_end(p);
}
