// SPDX-License-Identifier: GPL-2.0-only
/* Compile the values of an event to the steps of a row, and write rows: by hand, for speed. */
#include <sys/param.h>

#include "output/die.h"
#include "row.h"

/* Bytes of a name at most that is not among the symbols of a field */
#define ASKED_NAME_MAX		64
/* Bytes of a field that has no size of its own at most */
#define ANY_SIZE_MAX	1024
/* Bytes of a row that has room in the buffer as a whole */
#define ROW_MAX		(16 << 10)
/* Bytes that put_string() writes besides TEXT_FACTOR for each byte of the text */
#define STRING_MORE	(TEXT_MORE + DIGITS_SLACK)

static char *put_string(enum row_style style, char *to, const char *text, size_t len)
{
	return style == ROW_JSON ? text_json(to, text, len) : text_csv(to, text, len);
}

/* A copy of a text, with room behind it */
static struct row_text *new_text(const char *text, size_t len)
{
	struct row_text *to = xcalloc(1, sizeof(*to) + len + DIGITS_SLACK);

	memcpy(to->text, text, len);
	to->len = len;
	return to;
}

static struct row_text *new_string(enum row_style style, const char *text)
{
	auto_free char *string = xmalloc(strlen(text) * TEXT_FACTOR + STRING_MORE);

	return new_text(string, put_string(style, string, text, strlen(text)) - string);
}

void row_init(struct row *row, enum row_style style, const struct hyptrace_formats *formats,
	      const struct hyptrace_event *event)
{
	memset(row, 0, sizeof(*row));
	row->style = style;
	row->formats = formats;
	row->event = event;
	row->steps = xcalloc(1, sizeof(*row->steps));
	row->steps->before = new_text("", 0);
	row->steps->room = DIGITS_SLACK;
	row->room = DIGITS_SLACK;
}

void row_free(struct row *row)
{
	unsigned int i;

	if (!row)
		return;
	for (i = 0; row->steps && i <= row->nr; i++) {
		map_free_values(&row->steps[i].names);
		free(row->steps[i].before);
	}
	free(row->steps);
	row->steps = NULL;
}

static void add(struct row *row, const char *text, size_t len)
{
	struct row_text **before = &row->steps[row->nr].before;
	const size_t old = (*before)->len;

	*before = xreallocarray(*before, 1, sizeof(**before) + old + len + DIGITS_SLACK);
	memcpy((*before)->text + old, text, len);
	(*before)->len += len;
	row->steps[row->nr].room += len;
	row->room += len;
}

void row_add_text(struct row *row, const char *text)
{
	add(row, text, strlen(text));
}

void row_add_string(struct row *row, const char *text)
{
	auto_free struct row_text *string = new_string(row->style, text);

	add(row, string->text, string->len);
}

/* End the step that is being made: its value takes up to @room bytes. */
static void next_step(struct row *row, size_t room)
{
	row->room += room;
	row->steps[row->nr].room += room;
	row->nr++;
	row->steps = xreallocarray(row->steps, row->nr + 1, sizeof(*row->steps));
	memset(&row->steps[row->nr], 0, sizeof(*row->steps));
	row->steps[row->nr].before = new_text("", 0);
	row->steps[row->nr].room = DIGITS_SLACK;
}

static void add_number(struct row *row, const struct hyptrace_field *field, enum row_kind kind)
{
	struct row_step *step = &row->steps[row->nr];

	step->kind = kind;
	step->place = hyptrace_place_of(field->offset, field->size, field->is_signed,
					row->event->size);
	next_step(row, 1 + DIGITS_MAX);
}

/* A field of the kernel may refer to bytes of any number: not more of them are printed. */
static uint32_t max_bytes(const struct hyptrace_field *field)
{
	return strstr(field->type, "_loc ") || !field->size ? ANY_SIZE_MAX : field->size;
}

void row_add_value(struct row *row, const struct hyptrace_field *field)
{
	struct row_step *step = &row->steps[row->nr];

	step->field = field;
	if (hyptrace_field_is_number(field, row->event->size)) {
		add_number(row, field, field->is_signed ? ROW_SIGNED : ROW_UNSIGNED);
		return;
	}
	step->kind = ROW_BYTES;
	next_step(row, max_bytes(field) * (size_t)TEXT_FACTOR + STRING_MORE);
}

/* Add the value of a field as a hexadecimal string: "0x1f". */
void row_add_hex(struct row *row, const struct hyptrace_field *field)
{
	add_number(row, field, ROW_HEX);
}

bool row_has_names(const struct row *row, const struct hyptrace_field *field)
{
	return hyptrace_field_is_number(field, row->event->size) &&
	       (field->nr_symbols ||
		hyptrace_formats_name_depends(row->formats, row->event, field));
}

/* Add the name of a field's value, or nothing if it has none. */
void row_add_name(struct row *row, const struct hyptrace_field *field)
{
	struct row_step *step = &row->steps[row->nr];
	struct map_entry *name;
	struct row_text *text;
	size_t longest = 0;
	unsigned int i;

	step->field = field;
	if (hyptrace_formats_name_depends(row->formats, row->event, field)) {
		step->kind = ROW_ASK_NAME;
		next_step(row, ASKED_NAME_MAX * TEXT_FACTOR + STRING_MORE);
		return;
	}
	step->kind = ROW_NAME;
	step->place = hyptrace_place_of(field->offset, field->size, field->is_signed,
					row->event->size);
	for (i = 0; i < field->nr_symbols; i++) {
		name = map_add(&step->names, field->symbols[i]->value, 0);
		/* if a value has two names, the first one counts */
		if (name->ptr)
			continue;
		text = new_string(row->style, field->symbols[i]->name);
		name->ptr = text;
		longest = MAX(longest, text->len);
	}
	next_step(row, longest);
}

static inline char *put_text(const struct row_text *text, char *to)
{
	return hyptrace_digits_text(to, text->text, text->len);
}

static noinline char *put_bytes(const struct row *row, const struct row_step *step,
				const struct hyptrace_record *rec, char *to)
{
	const struct hyptrace_field *field = step->field;
	uint32_t size, i;
	const unsigned char *at = hyptrace_field_bytes(field, rec, &size);

	size = at ? MIN(size, max_bytes(field)) : 0;
	if (strstr(field->type, "char"))
		return put_string(row->style, to, (const char *)at,
				  size ? strnlen((const char *)at, size) : 0);
	if (row->style == ROW_JSON)
		*to++ = '"';
	for (i = 0; i < size; i++) {
		*to++ = "0123456789abcdef"[at[i] >> 4];
		*to++ = "0123456789abcdef"[at[i] & 0xf];
	}
	if (row->style == ROW_JSON)
		*to++ = '"';
	return to;
}

static noinline char *put_asked_name(const struct row *row, const struct row_step *step,
				     const struct hyptrace_record *rec, char *to)
{
	const char *name = hyptrace_formats_name(row->formats, row->event, step->field, rec);

	return name ? put_string(row->style, to, name, strnlen(name, ASKED_NAME_MAX)) : to;
}

/* Return the end of the name; @to if there is none. */
static inline always_inline char *put_name(const struct row *row, const struct row_step *step,
					   const struct hyptrace_record *rec,
					   const char *data, char *to)
{
	const struct map_entry *name;

	if (step->kind == ROW_ASK_NAME)
		return put_asked_name(row, step, rec, to);
	name = map_find(&step->names, hyptrace_place_value(&step->place, data), 0);
	return name ? put_text(name->ptr, to) : to;
}

static inline always_inline char *put_value(const struct row *row, const struct row_step *step,
					    const struct hyptrace_record *rec,
					    const char *data, char *to)
{
	int64_t number;

	switch (step->kind) {
	case ROW_UNSIGNED:
		return hyptrace_digits_decimal(to, hyptrace_place_unsigned(&step->place, data));
	case ROW_SIGNED:
		number = hyptrace_place_signed(&step->place, data);
		if (number >= 0)
			return hyptrace_digits_decimal(to, number);
		*to++ = '-';
		return hyptrace_digits_decimal(to, -(uint64_t)number);
	case ROW_HEX:
		memcpy(to, "\"0x", 3);
		to = hyptrace_digits_hex(to + 3, hyptrace_place_unsigned(&step->place, data));
		*to++ = '"';
		return to;
	case ROW_BYTES:
		return put_bytes(row, step, rec, to);
	case ROW_END:
		return to;
	default:
		return put_name(row, step, rec, data, to);
	}
}

/* Places read whole words: copy a payload that is shorter. */
static inline const char *payload_of(const struct row *row, const struct hyptrace_record *rec,
				     uint64_t *small)
{
	return row->event->size < PLACE_WORD ? memcpy(small, rec->data, row->event->size) :
					       rec->data;
}

/* Write those steps of a row whose values have names. Return the end: @to without any. */
char *row_put_names(const struct row *row, const struct hyptrace_record *rec, char *to)
{
	const struct row_step *step = row->steps;
	uint64_t small = 0;
	const char *data = payload_of(row, rec, &small);

	for (; step->kind != ROW_END; step++) {
		char *from = put_text(step->before, to);
		char *end = put_name(row, step, rec, data, from);

		to = end == from ? to : end;
	}
	return to;
}

void row_print(const struct row *row, const struct hyptrace_record *rec, struct out *out)
{
	/* fields that overlap can make a row much larger than its event: then step by step */
	const bool is_small = row->room <= ROW_MAX;
	const struct row_step *step = row->steps;
	uint64_t small = 0;
	const char *data = payload_of(row, rec, &small);
	char *to = out_room(out, is_small ? row->room : 1);

	for (;; step++) {
		char *from;

		if (__builtin_expect(!is_small, 0)) {
			out_put_to(out, to);
			to = out_room(out, step->room);
		}
		from = put_text(step->before, to);
		if (step->kind == ROW_END) {
			out_put_to(out, from);
			return;
		}
		to = put_value(row, step, rec, data, from);
		if (to != from)
			step += step->skip;
	}
}

/* Print the sentence of an event as the member "text" of an object of JSON. */
void row_print_text(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		    const struct hyptrace_record *rec, struct out *out)
{
	size_t len;
	const char *text = hyptrace_formats_text(formats, event, rec, &len);
	static const char key[] = ",\"text\":";
	char *to = out_room(out, strlen(key) + len * TEXT_FACTOR + STRING_MORE);

	out_put_to(out, put_string(ROW_JSON, stpcpy(to, key), text, len));
}
