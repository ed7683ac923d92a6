// SPDX-License-Identifier: GPL-2.0-only
/* The printer: text or JSON from the same calls. */
#include "columns.h"
#include "die.h"
#include "out.h"
#include "printer.h"

#define MAX_DEPTH	8
#define INDENT		TEXT_INDENT

/* JSON readers use doubles, in which larger numbers are not exact. */
#define JSON_INT_MAX	(UINT64_C(1) << 53)

enum frame_kind {
	FRAME_OBJECT,
	FRAME_ARRAY,
	FRAME_TABLE,
	FRAME_ROW,
	FRAME_LINE,
};

/* What was begun and not ended */
struct frame {
	enum frame_kind			kind;
	unsigned int			nr;	/* JSON: number of values in it so far */
	unsigned int			indent;	/* blanks before its lines of text */
	const struct columns		*columns;	/* TABLE, ROW: the columns */
	const struct printer_label	*labels;	/* OBJECT: names of its values in text */
	struct table			*table;	/* OBJECT: its labels and values; TABLE: its rows */
};

struct printer {
	struct out		*out;
	enum printer_format	format;
	bool			color;
	bool			has_heads;	/* CSV: those of a table are printed, once */
	unsigned int		depth;
	struct frame		frames[MAX_DEPTH];
};

struct printer *printer_new(struct out *out, enum printer_format format, bool color)
{
	struct printer *p = xcalloc(1, sizeof(*p));

	p->out = out;
	p->format = format;
	p->color = color;
	return p;
}

void printer_free(struct printer *p)
{
	free(p);
}

enum printer_format printer_format(const struct printer *p)
{
	return p->format;
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
	if (p->format == PRINTER_PRETTY)
		text_new_line(p->out, p->depth);
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
		text_put_json(p->out, key);
		out_puts(p->out, p->format == PRINTER_PRETTY ? ": " : ":");
	}
}

/* Text */

static const char *const colors[] = {
	[STYLE_PLAIN]	= NULL,
	[STYLE_NAME]	= "\033[1m",
	[STYLE_GOOD]	= "\033[32m",
	[STYLE_BAD]	= "\033[31m",
};

static void put_styled(struct printer *p, enum printer_style style, const char *s)
{
	bool color = p->color && style != STYLE_PLAIN;

	if (color)
		out_puts(p->out, colors[style]);
	text_put_plain(p->out, s);
	if (color)
		out_puts(p->out, "\033[0m");
}

/* Print the labels that an object has so far. */
static void flush_object(struct printer *p, struct frame *frame)
{
	table_print(frame->table, p->out, 0, frame->indent + INDENT, p->color);
	frame->table = NULL;
}

static struct frame *begin(struct printer *p, const char *key, enum frame_kind kind, char bracket)
{
	struct frame *outer = top(p);

	if (printer_is_json(p)) {
		json_key(p, key);
		out_putc(p->out, bracket);
	} else if (outer && outer->kind == FRAME_OBJECT) {
		flush_object(p, outer);
	}
	return push(p, kind);
}

/* In text, not within a row or a line */
void printer_object(struct printer *p, const char *key)
{
	begin(p, key, FRAME_OBJECT, '{');
}

void printer_labels(struct printer *p, const struct printer_label *labels)
{
	top(p)->labels = labels;
}

void printer_array(struct printer *p, const char *key)
{
	begin(p, key, FRAME_ARRAY, '[');
}

void printer_table(struct printer *p, const char *key, const struct columns *columns)
{
	struct frame *frame = begin(p, key, FRAME_TABLE, '[');

	frame->columns = columns;
	if (!printer_is_json(p))
		frame->table = table_new(columns, printer_is_csv(p));
}

void printer_row(struct printer *p)
{
	const struct frame *table = top(p);
	struct frame *row = begin(p, NULL, FRAME_ROW, '{');

	if (!printer_is_json(p))
		table_row(table->table);
	row->columns = table->columns;
	row->table = table->table;
}

void printer_line(struct printer *p, enum printer_style style, const char *fmt, ...)
{
	auto_free char *line = NULL;
	va_list ap;

	if (printer_is_json(p)) {
		out_putc(p->out, '{');
	} else {
		va_start(ap, fmt);
		line = xvasprintf(fmt, ap);
		va_end(ap);
		put_styled(p, style, line);
		out_putc(p->out, '\n');
	}
	push(p, FRAME_LINE);
}

void printer_end(struct printer *p)
{
	struct frame *frame = top(p);
	const bool is_array = frame->kind == FRAME_ARRAY || frame->kind == FRAME_TABLE;

	p->depth--;
	if (printer_is_json(p)) {
		if (frame->nr)
			json_newline(p);
		out_putc(p->out, is_array ? ']' : '}');
		if (!p->depth)
			out_putc(p->out, '\n');
	} else if (frame->kind == FRAME_OBJECT) {
		flush_object(p, frame);
	} else if (frame->kind == FRAME_TABLE) {
		table_print(frame->table, p->out, p->has_heads, frame->indent, p->color);
		p->has_heads |= printer_is_csv(p);
	}
}

static void add_label(struct frame *frame, const char *key, const char *text, const char *color)
{
	const struct printer_label *label = frame->labels;
	auto_free char *plain = NULL;
	char *c;

	if (!frame->table)
		frame->table = table_new(NULL, false);
	while (label && label->key && strcmp(label->key, key))
		label++;
	plain = text_copy_plain(key);
	for (c = plain; *c; c++)
		if (*c == '_')
			*c = ' ';
	table_label(frame->table, label && label->key ? label->label : plain, text, color);
}

/* Print or collect a value; in JSON print @json, or @text as a string if that is NULL. */
static void put_value(struct printer *p, const char *key, enum printer_style style,
		      const char *text, const char *json)
{
	struct frame *frame = top(p);

	if (printer_is_json(p)) {
		if (frame->kind == FRAME_ROW && !columns_has(frame->columns, key))
			return;
		json_key(p, key);
		if (json)
			out_puts(p->out, json);
		else
			text_put_json(p->out, text);
		return;
	}
	/* CSV has the values of JSON, and nothing for none */
	if (printer_is_csv(p) && json)
		text = strcmp(json, "null") ? json : "";
	if (frame->kind == FRAME_OBJECT)
		add_label(frame, key, text, colors[style]);
	else if (frame->kind == FRAME_ROW)
		table_cell(frame->table, key, text, colors[style]);
}

void printer_heading(struct printer *p, const char *key, const char *value)
{
	if (printer_is_json(p)) {
		printer_str(p, key, value);
		return;
	}
	out_spaces(p->out, top(p)->indent);
	put_styled(p, STYLE_NAME, value);
	out_putc(p->out, '\n');
}

void printer_str(struct printer *p, const char *key, const char *value)
{
	if (value)
		put_value(p, key, STYLE_PLAIN, value, NULL);
	else
		printer_none(p, key);
}

void printer_styled(struct printer *p, const char *key, enum printer_style style,
		    const char *value)
{
	put_value(p, key, style, value, NULL);
}

void printer_bool(struct printer *p, const char *key, bool value)
{
	put_value(p, key, STYLE_PLAIN, value ? "yes" : "no", value ? "true" : "false");
}

void printer_integer(struct printer *p, const char *key, uint64_t value, bool is_signed,
		     bool is_large)
{
	const bool is_negative = is_signed && (int64_t)value < 0;
	char text[24];

	value = is_negative ? -value : value;
	snprintf(text, sizeof(text), "%s%" PRIu64, is_negative ? "-" : "", value);
	put_value(p, key, STYLE_PLAIN, text, is_large || value > JSON_INT_MAX ? NULL : text);
}

void printer_uint_if(struct printer *p, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		printer_uint(p, key, value);
	else
		printer_none(p, key);
}

void printer_number(struct printer *p, const char *key, const char *text)
{
	put_value(p, key, STYLE_PLAIN, text, text);
}

void printer_size(struct printer *p, const char *key, uint64_t bytes)
{
	static const char units[] = " KMGT";
	unsigned int unit = 0;
	uint64_t n = bytes;
	char text[24];

	if (!printer_is_text(p)) {
		printer_uint(p, key, bytes);
		return;
	}
	while (n && !(n % 1024) && units[unit + 1]) {
		n /= 1024;
		unit++;
	}
	snprintf(text, sizeof(text), "%" PRIu64 "%.*s", n, unit ? 1 : 0, &units[unit]);
	put_value(p, key, STYLE_PLAIN, text, NULL);
}

void printer_none(struct printer *p, const char *key)
{
	put_value(p, key, STYLE_PLAIN, "-", "null");
}

void printer_json(struct printer *p, const char *key, const char *json, size_t len)
{
	json_key(p, key);
	if (p->format == PRINTER_PRETTY)
		text_indent_json(p->out, json, len, p->depth);
	else
		out_write(p->out, json, len);
}

/* Rows of objects */

void column_print(const struct column *column, struct printer *p, const void *row)
{
	const void *at = (const char *)row + (column->flags >> COLUMN_OFFSET_SHIFT);
	const unsigned int type = column->flags & COLUMN_TYPES;
	uint64_t value;

	if (column->print) {
		column->print(p, column->key, row);
	} else if (type == COLUMN_BOOL) {
		printer_bool(p, column->key, *(const bool *)at);
	} else if (type == COLUMN_STRING || type == COLUMN_CHARS) {
		printer_str(p, column->key, type == COLUMN_CHARS ? at : *(const char *const *)at);
	} else if (type) {
		value = type == COLUMN_U32 ? *(const uint32_t *)at : *(const uint64_t *)at;
		if (!value && column->flags & COLUMN_NOT_0)
			printer_none(p, column->key);
		else
			printer_integer(p, column->key, value, type == COLUMN_S64,
					type == COLUMN_BITS64);
	}
}

void columns_print_values(const struct columns *columns, struct printer *p, const void *row)
{
	const struct column *column, *end = columns->all + columns->nr;

	for (column = columns->all; column < end; column++)
		if (printer_is_csv(p) || !(column->flags & COLUMN_CSV))
			column_print(column, p, row);
}

void columns_print(const struct columns *columns, struct printer *p, const void *row)
{
	printer_row(p);
	columns_print_values(columns, p, row);
	printer_end(p);
}

void columns_print_all(const struct columns *columns, struct printer *p, const char *key,
		       const void *rows, unsigned int nr)
{
	const void *const *row = rows;

	printer_table(p, key, columns);
	for (; nr--; row++)
		columns_print(columns, p, *row);
	printer_end(p);
}
