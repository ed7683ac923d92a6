// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compile the values of an event to the steps of a row, and write rows. By hand, for speed:
 * exports write many millions of rows.
 */
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/map.h"
#include "output/out.h"
#include "row.h"

#define noinline		__attribute__((noinline))
/* For what each value needs: a call would save and restore many registers. */
#define always_inline		__attribute__((always_inline))

/* Bytes of a name at most that is not among the symbols of a field */
#define ASKED_NAME_MAX		64
/* Bytes of a field that has no size of its own at most */
#define ANY_SIZE_MAX	1024

char *row_put_string(enum row_style style, char *to, const char *text, size_t len)
{
	return style == ROW_JSON ? text_json(to, text, len) : text_csv(to, text, len);
}

/* Copy a text into memory with room behind it. */
static void make_text(struct row_text *to, const char *text, size_t len)
{
	to->text = xcalloc(1, len + DIGITS_SLACK);
	memcpy(to->text, text, len);
	to->len = len;
}

static int compare(const void *a, const void *b)
{
	const struct row_name *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static void make_name(struct row_name *name, enum row_style style,
		      const struct hyptrace_symbol *symbol)
{
	size_t len = strlen(symbol->name);
	char *text = xmalloc(len * ROW_STRING_FACTOR + ROW_STRING_MORE);

	name->value = symbol->value;
	make_text(&name->text, text, row_put_string(style, text, symbol->name, len) - text);
	free(text);
}

static struct row_names *names_new(enum row_style style, const struct hyptrace_field *field)
{
	struct row_names *names = xcalloc(1, sizeof(*names) +
					  field->nr_symbols * sizeof(names->names[0]));
	unsigned int i;

	for (i = 0; i < field->nr_symbols; i++) {
		const struct hyptrace_symbol *symbol = field->symbols[i];

		/* if a value has two names, the first one counts */
		if (hyptrace_symbol_name(field, symbol->value) != symbol->name)
			continue;
		make_name(&names->names[names->nr], style, symbol);
		if (names->names[names->nr].text.len > names->longest)
			names->longest = names->names[names->nr].text.len;
		names->nr++;
	}
	qsort(names->names, names->nr, sizeof(names->names[0]), compare);
	if (names->nr && names->names[names->nr - 1].value - names->names[0].value == names->nr - 1)
		names->nr_dense = names->nr;
	return names;
}

static void names_free(struct row_names *names)
{
	unsigned int i;

	for (i = 0; names && i < names->nr; i++)
		free(names->names[i].text.text);
	free(names);
}

/* Find the name of a value. Return the name as a string; NULL if it has none. */
static const struct row_text *names_find(const struct row_names *names, uint64_t value)
{
	unsigned int low = 0, high = names->nr;

	if (names->nr_dense) {
		value -= names->names[0].value;
		return value < names->nr_dense ? &names->names[value].text : NULL;
	}
	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (names->names[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < names->nr && names->names[low].value == value ? &names->names[low].text : NULL;
}

void row_init(struct row *row, enum row_style style, const struct hyptrace_formats *formats,
	      const struct hyptrace_event *event)
{
	memset(row, 0, sizeof(*row));
	row->style = style;
	row->formats = formats;
	row->event = event;
	row->steps = xcalloc(1, sizeof(*row->steps));
	make_text(&row->steps->before, "", 0);
	row->room = DIGITS_SLACK;
}

void row_free(struct row *row)
{
	unsigned int i;

	for (i = 0; row->steps && i <= row->nr; i++) {
		free(row->steps[i].before.text);
		names_free(row->steps[i].names);
	}
	free(row->steps);
	row->steps = NULL;
}

static void add(struct row *row, const char *text, size_t len)
{
	struct row_text *before = &row->steps[row->nr].before, old = *before;

	before->text = xcalloc(1, old.len + len + DIGITS_SLACK);
	memcpy(before->text, old.text, old.len);
	memcpy(before->text + old.len, text, len);
	before->len = old.len + len;
	row->room += len;
	free(old.text);
}

void row_add_text(struct row *row, const char *text)
{
	add(row, text, strlen(text));
}

void row_add_string(struct row *row, const char *text)
{
	size_t len = strlen(text);
	char *string = xmalloc(len * ROW_STRING_FACTOR + ROW_STRING_MORE);

	add(row, string, row_put_string(row->style, string, text, len) - string);
	free(string);
}

/* End the step that is being made: its value takes up to @room bytes. */
static void next_step(struct row *row, size_t room)
{
	row->room += room;
	row->nr++;
	row->steps = xreallocarray(row->steps, row->nr + 1, sizeof(*row->steps));
	memset(&row->steps[row->nr], 0, sizeof(*row->steps));
	make_text(&row->steps[row->nr].before, "", 0);
}

static void add_number(struct row *row, const struct hyptrace_field *field, enum row_kind kind)
{
	struct row_step *step = &row->steps[row->nr];

	step->kind = kind;
	step->place = hyptrace_place_of(field->offset, field->size, row->event->size);
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
	next_step(row, max_bytes(field) * (size_t)ROW_STRING_FACTOR + ROW_STRING_MORE);
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

	step->field = field;
	if (hyptrace_formats_name_depends(row->formats, row->event, field)) {
		step->kind = ROW_ASK_NAME;
		next_step(row, ASKED_NAME_MAX * ROW_STRING_FACTOR + ROW_STRING_MORE);
		return;
	}
	step->kind = ROW_NAME;
	step->place = hyptrace_place_of(field->offset, field->size, row->event->size);
	step->names = names_new(row->style, field);
	next_step(row, step->names->longest);
}

/* Leave out the next steps if the value that was added last is written. */
void row_skip_after(struct row *row, unsigned int nr)
{
	row->steps[row->nr - 1].skip = nr;
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

	if (!at)
		size = 0;
	if (size > max_bytes(field))
		size = max_bytes(field);
	if (strstr(field->type, "char"))
		return row_put_string(row->style, to, (const char *)at,
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

	return name ? row_put_string(row->style, to, name, strnlen(name, ASKED_NAME_MAX)) : to;
}

/* Return the end of the name; @to if there is none. */
static inline always_inline char *put_name(const struct row *row, const struct row_step *step,
					   const struct hyptrace_record *rec,
					   const char *data, char *to)
{
	const struct row_text *name;

	if (step->kind == ROW_ASK_NAME)
		return put_asked_name(row, step, rec, to);
	name = names_find(step->names, step->field->is_signed ?
			      (uint64_t)hyptrace_place_signed(&step->place, data) :
			      hyptrace_place_unsigned(&step->place, data));
	return name ? put_text(name, to) : to;
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
		to = hyptrace_digits_hex(to + 3, hyptrace_place_unsigned(&step->place, data), 'a');
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

char *row_put(const struct row *row, const struct hyptrace_record *rec, char *to)
{
	const struct row_step *step = row->steps;
	uint64_t small = 0;
	const char *data = payload_of(row, rec, &small);

	for (;; step++) {
		char *from = put_text(&step->before, to);

		if (step->kind == ROW_END)
			return from;
		to = put_value(row, step, rec, data, from);
		if (to != from)
			step += step->skip;
	}
}

/*
 * Write those steps of a row whose values have names. Return the end of the text: @to if no value
 * has a name.
 */
char *row_put_names(const struct row *row, const struct hyptrace_record *rec, char *to)
{
	const struct row_step *step = row->steps;
	uint64_t small = 0;
	const char *data = payload_of(row, rec, &small);

	for (; step->kind != ROW_END; step++) {
		char *from = put_text(&step->before, to), *end;

		end = put_name(row, step, rec, data, from);
		if (end != from)
			to = end;
	}
	return to;
}

/* Print a row that may not have room in the buffer as a whole. */
static noinline void print_slowly(const struct row *row, const struct hyptrace_record *rec,
				  struct out *out)
{
	const struct row_step *step = row->steps;
	uint64_t small = 0;
	const char *data = payload_of(row, rec, &small);

	for (;; step++) {
		size_t room = ROW_STRING_FACTOR * (DIGITS_MAX + ASKED_NAME_MAX) + ROW_STRING_MORE;
		char *text, *end;

		out_write(out, step->before.text, step->before.len);
		if (step->kind == ROW_END)
			return;
		if (step->kind == ROW_BYTES)
			room += max_bytes(step->field) * (size_t)ROW_STRING_FACTOR;
		if (step->kind == ROW_NAME)
			room += step->names->longest;
		text = xmalloc(room);
		end = put_value(row, step, rec, data, text);
		out_write(out, text, end - text);
		if (end != text)
			step += step->skip;
		free(text);
	}
}

void row_print(const struct row *row, const struct hyptrace_record *rec, struct out *out)
{
	if (row->room > ROW_MAX)
		print_slowly(row, rec, out);
	else
		out_put_to(out, row_put(row, rec, out_room(out, ROW_MAX)));
}

/* Print the sentence of an event as the member "text" of an object of JSON. */
void row_print_text(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		    const struct hyptrace_record *rec, struct out *out)
{
	size_t len;
	const char *text = hyptrace_formats_text(formats, event, rec, &len);
	static const char key[] = ",\"text\":";
	char *to = out_room(out, strlen(key) + len * ROW_STRING_FACTOR + ROW_STRING_MORE);

	out_put_to(out, row_put_string(ROW_JSON, stpcpy(to, key), text, len));
}

/* The row of a hypercall's event; the caller compiles it if it has no steps yet. */
struct row *row_calls_get(struct map *calls, const struct hyptrace_event *event,
			  const struct hyptrace_hypercall *of)
{
	struct map_entry *entry = map_add(calls, of->id, event->id);

	if (!entry->ptr)
		entry->ptr = xcalloc(1, sizeof(struct row));
	return entry->ptr;
}

void row_calls_free(struct map *calls)
{
	struct map_entry *entry;

	for (entry = NULL; (entry = map_next(calls, entry)); free(entry->ptr))
		row_free(entry->ptr);
	map_free(calls);
}
