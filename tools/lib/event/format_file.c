// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describe an event as a format file of tracefs does. For format.c, and for the writer of files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/**
 * hyptrace_format_file - describe an event in the syntax of a tracefs format file
 * @event:	the event
 * @len:	out: length of the text; may be NULL
 *
 * Return: the text, which the caller frees; NULL if there is no memory.
 */
char *hyptrace_format_file(const struct hyptrace_event *event, size_t *len)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	unsigned int i;

	if (!f)
		return NULL;

	fprintf(f, "name: %s\nID: %u\nformat:\n", event->name, event->id);
	fprintf(f, "\tfield:unsigned short common_type;\toffset:0;\tsize:%zu;\tsigned:0;\n\n",
		sizeof(uint16_t));
	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];
		const char *array = strchr(field->type, '[');
		int base = array ? (int)(array - field->type) : (int)strlen(field->type);

		/* "char[16]" is declared as "char name[16]" */
		fprintf(f, "\tfield:%.*s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", base,
			field->type, field->name, array ? array : "", field->offset, field->size,
			field->is_signed);
	}
	fprintf(f, "\nprint fmt: %s\n", event->print_fmt);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	if (len)
		*len = size;
	return text;
}
