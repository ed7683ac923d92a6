// SPDX-License-Identifier: GPL-2.0-only
/*
 * The printer: text or JSON from the same calls.
 *
 * In text an object is a heading with aligned lines "label  value" below it. The columns
 * of a table are in the order in which its rows first name them. An object within a row
 * is one cell "key=value key=value".
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "out.h"
#include "printer.h"
#include "table.h"
#include "text.h"

#define MAX_DEPTH	8
#define INDENT		2

/* JSON readers use doubles, in which larger numbers are not exact. */
#define JSON_INT_MAX	(UINT64_C(1) << 53)

enum frame_kind {
	FRAME_OBJECT,
	FRAME_ARRAY,
	FRAME_TABLE,
	FRAME_ROW,
	FRAME_CELL,
	FRAME_LINE,
};

struct frame {
	enum frame_kind	kind;
	unsigned int	nr;		/* values in it so far */
	unsigned int	indent;		/* in text */
	struct cells	cells;		/* OBJECT, ROW: not yet printed */
	struct cells	*rows;		/* TABLE */
	unsigned int	nr_rows;
	struct text	text;		/* CELL */
	char		*key;		/* CELL */
};

struct printer {
	struct out		*out;
	enum printer_format	format;
	bool			color;
	unsigned int		depth;
	struct frame		frames[MAX_DEPTH];
};

/**
 * printer_new - make a printer
 * @out:	the output
 * @format:	text or JSON
 * @color:	print text with colours
 *
 * Return: the printer.
 */
struct printer *printer_new(struct out *out, enum printer_format format, bool color)
{
	struct printer *p = calloc(1, sizeof(*p));

	if (!p)
		die_no_memory();
	p->out = out;
	p->format = format;
	p->color = color;
	return p;
}

/**
 * printer_free - free a printer
 * @p:		the printer, or NULL; everything that was begun must have been ended
 */
void printer_free(struct printer *p)
{
	free(p);
}

/**
 * printer_is_json - does a printer print JSON?
 * @p:		the printer
 *
 * Return: true if it does.
 */
bool printer_is_json(const struct printer *p)
{
	return p->format != PRINTER_TEXT;
}

static struct frame *top(struct printer *p)
{
	return p->depth ? &p->frames[p->depth - 1] : NULL;
}

static struct frame *push(struct printer *p, enum frame_kind kind)
{
	struct frame *outer = top(p), *frame;

	/* verbs nest four deep */
	if (p->depth == MAX_DEPTH)
		abort();
	frame = &p->frames[p->depth++];
	memset(frame, 0, sizeof(*frame));
	frame->kind = kind;
	if (outer)
		frame->indent = outer->indent + (outer->kind == FRAME_OBJECT ? INDENT : 0);
	return frame;
}

/* JSON */

static void json_newline(struct printer *p)
{
	unsigned int i;

	if (p->format != PRINTER_PRETTY)
		return;
	out_putc(p->out, '\n');
	for (i = 0; i < p->depth * INDENT; i++)
		out_putc(p->out, ' ');
}

static void json_string(struct printer *p, const char *s)
{
	struct text text = {};

	text_json(&text, s);
	out_write(p->out, text.s, text.len);
	text_clear(&text);
}

/* Print what precedes a value: a comma, and the key. */
static void json_key(struct printer *p, const char *key)
{
	struct frame *outer = top(p);

	if (!outer)
		return;
	if (outer->nr++)
		out_putc(p->out, ',');
	json_newline(p);
	if (key) {
		json_string(p, key);
		out_puts(p->out, p->format == PRINTER_PRETTY ? ": " : ":");
	}
}

static void json_end(struct printer *p, bool array)
{
	bool empty = !top(p)->nr;

	p->depth--;
	if (!empty)
		json_newline(p);
	out_putc(p->out, array ? ']' : '}');
	if (!p->depth)
		out_putc(p->out, '\n');
}

/* Text */

/* Print the collected lines of an object, aligned. */
static void flush_object(struct printer *p, struct frame *frame)
{
	table_labels(p->out, p->color, frame->indent + INDENT, &frame->cells);
}

static void end_row(struct printer *p, struct frame *row)
{
	struct frame *table = top(p);
	struct cells *rows = reallocarray(table->rows, table->nr_rows + 1, sizeof(*rows));

	if (!rows)
		die_no_memory();
	table->rows = rows;
	rows[table->nr_rows++] = row->cells;
}

static void text_end(struct printer *p)
{
	struct frame *frame = top(p);

	p->depth--;
	switch (frame->kind) {
	case FRAME_OBJECT:
		flush_object(p, frame);
		break;
	case FRAME_TABLE:
		table_rows(p->out, p->color, frame->indent, frame->rows, frame->nr_rows);
		break;
	case FRAME_ROW:
		end_row(p, frame);
		break;
	case FRAME_CELL:
		/* only a row has cells; printer_line() has printed its whole text */
		if (top(p)->kind == FRAME_ROW)
			cells_add(&top(p)->cells, frame->key, frame->text.s ? frame->text.s : "",
				  STYLE_PLAIN, false);
		text_clear(&frame->text);
		free(frame->key);
		break;
	case FRAME_LINE:
	case FRAME_ARRAY:
		break;
	}
}

/**
 * printer_object - begin an object
 * @p:		the printer
 * @key:	its key; NULL in an array or at the top
 */
void printer_object(struct printer *p, const char *key)
{
	struct frame *outer = top(p), *frame;

	if (printer_is_json(p)) {
		json_key(p, key);
		out_putc(p->out, '{');
		push(p, FRAME_OBJECT);
		return;
	}

	if (outer && outer->kind == FRAME_OBJECT)
		flush_object(p, outer);
	if (outer && (outer->kind == FRAME_ROW || outer->kind == FRAME_LINE ||
		      outer->kind == FRAME_CELL)) {
		frame = push(p, FRAME_CELL);
		frame->key = strdup(key ? key : "");
		if (!frame->key)
			die_no_memory();
		return;
	}
	push(p, FRAME_OBJECT);
}

/**
 * printer_array - begin an array of objects; in text they follow one another
 * @p:		the printer
 * @key:	its key; NULL in an array or at the top
 */
void printer_array(struct printer *p, const char *key)
{
	struct frame *outer = top(p);

	if (printer_is_json(p)) {
		json_key(p, key);
		out_putc(p->out, '[');
	} else if (outer && outer->kind == FRAME_OBJECT) {
		flush_object(p, outer);
	}
	push(p, FRAME_ARRAY);
}

/**
 * printer_table - begin an array of rows
 * @p:		the printer
 * @key:	its key; NULL in an array or at the top
 */
void printer_table(struct printer *p, const char *key)
{
	printer_array(p, key);
	top(p)->kind = FRAME_TABLE;
}

/**
 * printer_row - begin an object of a table
 * @p:		the printer
 */
void printer_row(struct printer *p)
{
	if (printer_is_json(p)) {
		json_key(p, NULL);
		out_putc(p->out, '{');
	}
	push(p, FRAME_ROW);
}

/**
 * printer_line - begin an object of a stream, which is one line
 * @p:		the printer
 * @style:	style of the text
 * @fmt:	the whole line of text; only JSON prints the values that follow
 */
void printer_line(struct printer *p, enum printer_style style, const char *fmt, ...)
{
	struct text plain = {};
	char *line;
	va_list ap;
	int len;

	if (printer_is_json(p)) {
		out_putc(p->out, '{');
		push(p, FRAME_LINE);
		return;
	}

	va_start(ap, fmt);
	len = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (len < 0)
		die_no_memory();
	text_puts(&plain, "");
	text_plain(&plain, line);
	put_styled(p->out, p->color, style, plain.s);
	out_putc(p->out, '\n');
	text_clear(&plain);
	free(line);
	push(p, FRAME_LINE);
}

/**
 * printer_end - end what was begun last
 * @p:		the printer
 */
void printer_end(struct printer *p)
{
	enum frame_kind kind = top(p)->kind;

	if (printer_is_json(p))
		json_end(p, kind == FRAME_ARRAY || kind == FRAME_TABLE);
	else
		text_end(p);
}

/* Print or collect a value; in JSON print @json, or @text as a string if that is NULL. */
static void put_value(struct printer *p, const char *key, enum printer_style style, bool number,
		      const char *text, const char *json)
{
	struct frame *frame = top(p);

	if (printer_is_json(p)) {
		json_key(p, key);
		if (json)
			out_puts(p->out, json);
		else
			json_string(p, text);
		return;
	}

	switch (frame->kind) {
	case FRAME_OBJECT:
	case FRAME_ROW:
		cells_add(&frame->cells, key, text, style, number);
		break;
	case FRAME_CELL:
		if (frame->nr++)
			text_puts(&frame->text, " ");
		text_puts(&frame->text, key);
		text_puts(&frame->text, "=");
		text_puts(&frame->text, text);
		break;
	default:
		break;
	}
}

/**
 * printer_heading - print the name of an object, before its other values
 * @p:		the printer
 * @key:	its key
 * @value:	the name, which is the heading in text
 */
void printer_heading(struct printer *p, const char *key, const char *value)
{
	struct text plain = {};

	if (printer_is_json(p)) {
		printer_str(p, key, value);
		return;
	}
	text_puts(&plain, "");
	text_plain(&plain, value);
	put_spaces(p->out, top(p)->indent);
	put_styled(p->out, p->color, STYLE_NAME, plain.s);
	out_putc(p->out, '\n');
	text_clear(&plain);
}

/**
 * printer_str - print a string
 * @p:		the printer
 * @key:	its key
 * @value:	the string
 */
void printer_str(struct printer *p, const char *key, const char *value)
{
	put_value(p, key, STYLE_PLAIN, false, value, NULL);
}

/**
 * printer_styled - print a string in a style
 * @p:		the printer
 * @key:	its key
 * @style:	its style in text
 * @value:	the string
 */
void printer_styled(struct printer *p, const char *key, enum printer_style style,
		    const char *value)
{
	put_value(p, key, style, false, value, NULL);
}

/**
 * printer_bool - print a boolean
 * @p:		the printer
 * @key:	its key
 * @value:	true or false in JSON, "yes" or "no" in text
 */
void printer_bool(struct printer *p, const char *key, bool value)
{
	put_value(p, key, STYLE_PLAIN, false, value ? "yes" : "no", value ? "true" : "false");
}

/**
 * printer_uint - print a number that is usually small, such as a count
 * @p:		the printer
 * @key:	its key
 * @value:	the number; a string in JSON if it exceeds 2^53
 */
void printer_uint(struct printer *p, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_value(p, key, STYLE_PLAIN, true, text, value <= JSON_INT_MAX ? text : NULL);
}

/**
 * printer_int - print a signed number that is usually small
 * @p:		the printer
 * @key:	its key
 * @value:	the number; a string in JSON if it exceeds 2^53
 */
void printer_int(struct printer *p, const char *key, int64_t value)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_value(p, key, STYLE_PLAIN, true, text, size <= JSON_INT_MAX ? text : NULL);
}

/**
 * printer_size - print a size
 * @p:		the printer
 * @key:	its key
 * @bytes:	the size; a number in JSON, with a unit in text
 */
void printer_size(struct printer *p, const char *key, uint64_t bytes)
{
	static const char units[] = " KMGT";
	char text[24], number[24];
	unsigned int unit = 0;
	uint64_t n = bytes;

	while (n && !(n % 1024) && units[unit + 1]) {
		n /= 1024;
		unit++;
	}
	snprintf(text, sizeof(text), "%" PRIu64 "%.*s", n, unit ? 1 : 0, &units[unit]);
	snprintf(number, sizeof(number), "%" PRIu64, bytes);
	if (!printer_is_json(p))
		put_value(p, key, STYLE_PLAIN, true, text, NULL);
	else
		put_value(p, key, STYLE_PLAIN, true, number, bytes <= JSON_INT_MAX ? number : NULL);
}

/**
 * printer_u64 - print a number that may need 64 bits
 * @p:		the printer
 * @key:	its key
 * @value:	the number; always a string in JSON
 */
void printer_u64(struct printer *p, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_value(p, key, STYLE_PLAIN, true, text, NULL);
}

/**
 * printer_s64 - print a signed number that may need 64 bits
 * @p:		the printer
 * @key:	its key
 * @value:	the number; always a string in JSON
 */
void printer_s64(struct printer *p, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_value(p, key, STYLE_PLAIN, true, text, NULL);
}

/**
 * printer_none - print that there is no value
 * @p:		the printer
 * @key:	its key; null in JSON, "-" in text
 */
void printer_none(struct printer *p, const char *key)
{
	put_value(p, key, STYLE_PLAIN, true, "-", "null");
}
