/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event as JSON by the printer, value by value, as hyptrace-json(7) says.
 */
#ifndef JSON_CASE_H
#define JSON_CASE_H

#include <string.h>

#include "hyptrace_model.h"
#include "../../tools/hyptrace/output/die.h"
#include "../../tools/hyptrace/output/printer.h"
#include "../../tools/hyptrace/sink/lines.h"
#include "../../tools/hyptrace/sink/row.h"

/* Print a field that is not a number: a char array as a string, others as hex bytes. */
static void print_array_field(struct printer *p, const struct hyptrace_field *field,
			      const struct hyptrace_record *rec)
{
	auto_free char *text = NULL;
	uint32_t size, i;
	const unsigned char *at = hyptrace_field_bytes(field, rec, &size);

	if (!at)
		return;
	text = xcalloc(2, size + 1);
	if (strstr(field->type, "char"))
		memcpy(text, at, strnlen((const char *)at, size));
	else
		for (i = 0; i < size; i++)
			sprintf(text + 2 * i, "%02x", at[i]);
	printer_str(p, field->name, text);
}

static void print_field(struct printer *p, const struct hyptrace_field *field,
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

static void print_symbols(struct printer *p, struct hyptrace_formats *formats,
			  const struct hyptrace_event *event, const struct hyptrace_record *rec)
{
	bool begun = false;
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++) {
		const char *name = hyptrace_formats_name(formats, event, event->fields[i], rec);

		if (!name)
			continue;
		if (!begun)
			printer_object(p, "symbols");
		begun = true;
		printer_str(p, event->fields[i]->name, name);
	}
	if (begun)
		printer_end(p);
}

static void print_args(struct printer *p, struct hyptrace_formats *formats,
		       const struct hyptrace_event *event, const struct hyptrace_record *rec)
{
	struct hyptrace_model *model = hyptrace_model_new(formats, NULL);
	const struct hyptrace_meaning *meaning = model->by_id[event->id];
	const struct hyptrace_hypercall *call = hyptrace_meaning_hypercall(meaning,
		hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ID, rec));
	unsigned int i, nr = 0;
	uint64_t value;

	hyptrace_model_free(model);
	if (!call || !call->known_args)
		return;
	printer_object(p, "args");
	for (i = 0; i < event->nr_fields && nr < call->nr_args; i++)
		if (!strncmp(event->fields[i]->name, "arg", 3) &&
		    !hyptrace_field_value(event->fields[i], rec, &value))
			printer_u64(p, call->args[nr++]->name, value);
	printer_end(p);
}

static void print_slowly(struct printer *p, struct hyptrace_formats *formats,
			 const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_formats_event(formats, rec);
	const struct hyptrace_field *result;
	unsigned int i;
	size_t len;

	printer_line(p, STYLE_PLAIN, "%s", "");
	printer_uint(p, "cpu", 3);
	printer_u64(p, "ts", rec->ts);
	if (!event) {
		printer_none(p, "event");
		printer_uint(p, "id", row_record_id(rec));
		printer_uint(p, "size", rec->size);
		printer_end(p);
		return;
	}
	printer_str(p, "event", event->name);
	printer_object(p, "fields");
	result = hyptrace_formats_missing(formats, event, rec);
	for (i = 0; i < event->nr_fields; i++)
		if (event->fields[i] != result)
			print_field(p, event->fields[i], rec);
	printer_end(p);
	print_symbols(p, formats, event, rec);
	print_args(p, formats, event, rec);
	if (hyptrace_formats_has_sentence(formats, event))
		printer_str(p, "text", hyptrace_formats_text(formats, event, rec, &len));
	printer_end(p);
}

#endif /* JSON_CASE_H */
