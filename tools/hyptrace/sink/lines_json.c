// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print a field of an event by the printer, for verbs with JSON of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "output/printer.h"
#include "output/text.h"
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

/* 0 if the record is too short */
unsigned int lines_record_id(const struct hyptrace_record *rec)
{
	uint16_t id = 0;

	if (rec->size >= sizeof(id))
		memcpy(&id, rec->data, sizeof(id));
	return id;
}
