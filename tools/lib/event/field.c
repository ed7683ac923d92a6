// SPDX-License-Identifier: GPL-2.0-only
/* The fields of an event: the numbers in a payload, their names, and a format file of tracefs. */
#include <endian.h>
#include <limits.h>

#include "internal.h"

/**
 * hyptrace_field_read - read a field that is known to be a number
 * @field:	the field; hyptrace_field_is_number() says yes
 * @data:	the payload of a record that is not shorter than the event
 * Return: the value, sign-extended if the field is signed.
 */
uint64_t hyptrace_field_read(const struct hyptrace_field *field, const void *data)
{
	const unsigned int unused = CHAR_BIT * (sizeof(uint64_t) - field->size);
	uint64_t value = 0;

	memcpy(&value, (const char *)data + field->offset, field->size);
	/* the number to the high end, and back with its sign */
	if (htole16(1) == 1)
		value <<= unused;
	return field->is_signed ? (uint64_t)((int64_t)value >> unused) : value >> unused;
}

/**
 * hyptrace_field_is_number - check whether a field is a number
 * @field:	the field
 * @size:	bytes of the payload
 * Return: true if it is a number of 1, 2, 4 or 8 bytes inside the payload.
 */
bool hyptrace_field_is_number(const struct hyptrace_field *field, uint32_t size)
{
	if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8)
		return false;
	return field->size <= size && field->offset <= size - field->size &&
	       !strchr(field->type, '[');
}

/* The kernel's fields of any length: where the bytes are and, in the high half, their number */
#define DATA_LOC	"__data_loc "
#define REL_LOC		"__rel_loc "

/**
 * hyptrace_field_bytes - get the bytes of a field that is not a number
 * @field:	the field
 * @rec:	a record of its event
 * @size:	out: number of bytes
 * Return: the bytes of an array, or those that a field of the kernel refers to; NULL if they are
 * not inside the record.
 */
const void *hyptrace_field_bytes(const struct hyptrace_field *field,
				 const struct hyptrace_record *rec, uint32_t *size)
{
	bool is_relative = !strncmp(field->type, REL_LOC, strlen(REL_LOC));
	uint32_t offset = field->offset, where;

	*size = field->size;
	if (is_relative || !strncmp(field->type, DATA_LOC, strlen(DATA_LOC))) {
		if (field->size != sizeof(where) || rec->size < sizeof(where) ||
		    offset > rec->size - sizeof(where))
			return NULL;
		memcpy(&where, (const char *)rec->data + offset, sizeof(where));
		offset = (where & UINT16_MAX) + (is_relative ? offset + sizeof(where) : 0);
		*size = where >> 16;
	} else if (offset <= rec->size && strchr(field->type, '[') &&
		   (!*size || *size > rec->size - offset)) {
		/* an array to the end of the record, or its first elements */
		*size = rec->size - offset;
	}
	if (offset > rec->size || *size > rec->size - offset)
		return NULL;
	return (const char *)rec->data + offset;
}

/**
 * hyptrace_field_value - get the value of a field
 * @field:	the field
 * @rec:	a record of its event
 * @value:	out: the value, sign-extended if the field is signed
 * Return: 0, or -EINVAL if the field is not a number or not inside the record.
 */
int hyptrace_field_value(const struct hyptrace_field *field, const struct hyptrace_record *rec,
			 uint64_t *value)
{
	if (!hyptrace_field_is_number(field, rec->size))
		return -EINVAL;
	*value = hyptrace_field_read(field, rec->data);
	return 0;
}

/**
 * hyptrace_event_field - find a field of an event
 * @event:	the event
 * @name:	name of the field, or NULL
 * Return: the field; NULL if the event has none of that name.
 */
const struct hyptrace_field *hyptrace_event_field(const struct hyptrace_event *event,
						  const char *name)
{
	unsigned int i;

	for (i = 0; name && i < event->nr_fields; i++)
		if (!strcmp(event->fields[i]->name, name))
			return event->fields[i];
	return NULL;
}

/**
 * hyptrace_symbol_name - get the name of a field's value
 * @field:	the field
 * @value:	its value
 * Return: the name, NULL if it has none.
 */
const char *hyptrace_symbol_name(const struct hyptrace_field *field, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < field->nr_symbols; i++)
		if (field->symbols[i]->value == value)
			return field->symbols[i]->name;
	return NULL;
}

/* Describe an event in the syntax of a tracefs format file. The caller frees the text. */
char *hyptrace_format_file(const struct hyptrace_event *event)
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
	return hyptrace_end_text(f, &text);
}
