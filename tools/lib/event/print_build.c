// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compile print formats to short lists of steps, each a text and the value after it.
 * For format.c.
 *
 * By hand because libtraceevent can print any format, but interprets it anew for each
 * event. This file takes the format that libtraceevent has parsed, and supports the few
 * constructs of nearly all formats. libtraceevent itself prints all other formats.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "common/digits.h"
#include "internal.h"
#include "print.h"

#define WIDTH_MAX	32
/* Characters of a number: the sign or 0x, and the digits */
#define NUMBER_MAX	(2 + DIGITS_MAX)

/* A struct print that is being built */
struct builder {
	struct tep_event	*event;
	struct print		*print;
	struct step		*step;
	char			*pool;		/* where to store the next text */
	struct name		*name;		/* where to store the next name */
	uint32_t		room;		/* bytes of the printed text at most */
};

/* Return the text between two names, which a format may omit. */
static const char *delim_of(const struct tep_print_arg *arg)
{
	return arg->flags.delim ? arg->flags.delim : "";
}

/* Only printable ASCII, and no backslash: this file does not interpret escapes. */
static bool is_plain(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '\\')
			return false;
	return true;
}

static void add_text(struct builder *b, struct span *span, const char *text, size_t len)
{
	if (!span->len)
		span->text = b->pool;
	memcpy(b->pool, text, len);
	b->pool += len;
	span->len += len;
}

static bool add_name(struct builder *b, const struct tep_print_flag_sym *sym)
{
	bool sorted = b->step->kind == STEP_SYMBOL;
	struct name name = {}, *at = b->name;
	char *end;

	/* anything but a plain number is a name, which libtraceevent may know */
	if (!isdigit((unsigned char)sym->value[0]) || !is_plain(sym->str, strlen(sym->str)))
		return false;
	name.value = strtoull(sym->value, &end, 0);
	if (end[strspn(end, "uUlL")] || name.value > INT64_MAX)
		return false;
	/* a flag of value 0 is never printed */
	if (!sorted && !name.value)
		return true;
	add_text(b, &name.span, sym->str, strlen(sym->str));

	while (sorted && at > b->step->names && at[-1].value > name.value)
		at--;
	/* if a value has two names, use the first */
	if (sorted && at > b->step->names && at[-1].value == name.value)
		return true;
	memmove(at + 1, at, (b->name - at) * sizeof(*at));
	*at = name;
	b->name++;
	b->step->nr_names++;
	return true;
}

static bool add_names(struct builder *b, const struct tep_print_flag_sym *sym)
{
	struct step *step = b->step;
	uint32_t longest = NUMBER_MAX, sum = NUMBER_MAX, i;
	const struct name *names = b->name;

	for (step->names = b->name; sym; sym = sym->next)
		if (!add_name(b, sym))
			return false;
	if (step->nr_names)
		step->first = names->value;
	if (step->nr_names && names[step->nr_names - 1].value - names->value == step->nr_names - 1)
		step->nr_dense = step->nr_names;

	for (i = 0; i < step->nr_names; i++) {
		sum += names[i].span.len + step->delim.len;
		if (names[i].span.len > longest)
			longest = names[i].span.len;
	}
	b->room += step->kind == STEP_SYMBOL ? longest : sum;
	return true;
}

/*
 * Add the field to print, of at most @bytes. A field of exactly @bytes has the sign of
 * the conversion, a smaller one its own.
 */
static bool add_field(struct builder *b, const struct tep_print_arg *arg, uint32_t bytes,
		      bool is_signed)
{
	const struct tep_format_field *field;
	uint32_t size, payload = b->print->size;

	if (!arg || arg->type != TEP_PRINT_FIELD)
		return false;
	field = tep_find_any_field(b->event, arg->field.name);
	if (!field ||
	    field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC))
		return false;
	size = field->size;
	if ((size != 1 && size != 2 && size != 4 && size != 8) || size > bytes || size > payload ||
	    (uint32_t)field->offset > payload - size)
		return false;

	b->step->place = hyptrace_place_of(field->offset, size, payload);
	if (size < bytes)
		is_signed = field->flags & TEP_FIELD_IS_SIGNED;
	b->step->mask &= is_signed ? UINT64_MAX : UINT64_MAX >> b->step->place.right;
	return true;
}

static bool add_number(struct builder *b, char conversion, bool is_long,
		       const struct tep_print_arg *arg)
{
	uint32_t bytes = is_long ? sizeof(uint64_t) : sizeof(uint32_t);
	struct step *step = b->step;

	step->is_signed = conversion == 'd' || conversion == 'i';
	if (conversion == 'x')
		step->ten = 'a';
	else if (conversion == 'X')
		step->ten = 'A';
	if (step->ten || step->width)
		step->kind = STEP_NUMBER;
	else
		step->kind = step->is_signed ? STEP_SIGNED : STEP_UNSIGNED;
	step->mask = is_long || step->is_signed ? UINT64_MAX : UINT32_MAX;
	b->room += NUMBER_MAX + step->width;
	/* C does not define # for a decimal number */
	return (step->ten || !step->alternate) && add_field(b, arg, bytes, step->is_signed);
}

static bool add_symbolic(struct builder *b, const struct tep_print_arg *arg)
{
	struct step *step = b->step;

	step->mask = UINT64_MAX;
	if (!arg || step->width || step->alternate)
		return false;
	if (arg->type == TEP_PRINT_SYMBOL) {
		step->kind = STEP_SYMBOL;
		return add_field(b, arg->symbol.field, sizeof(uint64_t), false) &&
		       add_names(b, arg->symbol.symbols);
	}
	if (arg->type == TEP_PRINT_FLAGS) {
		const char *delim = delim_of(arg);

		step->kind = STEP_FLAGS;
		add_text(b, &step->delim, delim, strlen(delim));
		return is_plain(delim, strlen(delim)) &&
		       add_field(b, arg->flags.field, sizeof(uint64_t), false) &&
		       add_names(b, arg->flags.flags);
	}
	return false;
}

/* Add the conversion that starts after its %. Return its end, NULL if it is not supported. */
static const char *add_conversion(struct builder *b, const char *at,
				  const struct tep_print_arg *arg)
{
	struct step *step = b->step;
	unsigned long width = 0;
	bool is_long;
	char *end;

	step->fill = ' ';
	for (; *at == '#' || *at == '0'; at++) {
		if (*at == '#')
			step->alternate = true;
		else
			step->fill = '0';
	}
	if (isdigit((unsigned char)*at)) {
		width = strtoul(at, &end, 10);
		at = end;
	}
	if (width > WIDTH_MAX)
		return NULL;
	step->width = width;
	is_long = *at == 'l';
	at += strspn(at, "l");

	if (*at == 's' && !is_long)
		return add_symbolic(b, arg) ? at + 1 : NULL;
	if (*at && strchr("diuxX", *at))
		return add_number(b, *at, is_long, arg) ? at + 1 : NULL;
	return NULL;
}

static bool add_format(struct builder *b, const char *format, const struct tep_print_arg *arg)
{
	while (*format) {
		size_t len = strcspn(format, "%");

		/* "%%" prints one %: the second is text */
		if (!len && format[1] == '%') {
			format++;
			len = 1;
		}
		if (len) {
			if (!is_plain(format, len))
				return false;
			add_text(b, &b->step->span, format, len);
			b->room += len;
			format += len;
			continue;
		}
		format = add_conversion(b, format + 1, arg);
		if (!format)
			return false;
		arg = arg->next;
		b->step->last = !*format;
		b->step++;
		b->step->span.text = b->pool;
	}
	/* the text after the last value, or a format without values */
	b->step->kind = STEP_TEXT;
	b->step->last = true;
	return true;
}

static const struct tep_print_flag_sym *names_of(const struct tep_print_arg *arg)
{
	switch (arg->type) {
	case TEP_PRINT_SYMBOL:
		return arg->symbol.symbols;
	case TEP_PRINT_FLAGS:
		return arg->flags.flags;
	default:
		return NULL;
	}
}

/* Allocate memory for the texts and names; the sizes are upper limits. */
static bool allocate(struct print *print, const struct tep_print_fmt *fmt, const char *lead)
{
	const struct tep_print_flag_sym *sym;
	const struct tep_print_arg *arg;
	size_t pool = strlen(lead) + strlen(fmt->format) + DIGITS_SLACK, names = 0;

	for (arg = fmt->args; arg; arg = arg->next) {
		if (arg->type == TEP_PRINT_FLAGS)
			pool += strlen(delim_of(arg));
		for (sym = names_of(arg); sym; sym = sym->next, names++)
			pool += strlen(sym->str);
	}
	print->pool = calloc(1, pool);
	print->names = calloc(names + 1, sizeof(*print->names));
	return print->pool && print->names;
}

static unsigned int count(const char *text, char c)
{
	unsigned int nr = 0;

	for (; *text; text++)
		nr += *text == c;
	return nr;
}

/*
 * Compile a print format to steps. Return the steps; NULL if only libtraceevent can print the
 * format, or if there is no memory.
 */
struct print *hyptrace_print_new(struct tep_event *event, uint32_t size, const char *lead)
{
	const struct tep_print_fmt *fmt = &event->print_fmt;
	struct builder b = { .event = event, .room = strlen(lead) + DIGITS_SLACK };
	struct print *print;

	if (!fmt->format || event->flags & TEP_EVENT_FL_FAILED)
		return NULL;
	print = calloc(1, sizeof(*print) + (count(fmt->format, '%') + 1) * sizeof(struct step));
	if (!print)
		return NULL;
	print->size = size;
	if (!allocate(print, fmt, lead))
		goto fail;

	b.print = print;
	b.step = print->steps;
	b.pool = print->pool;
	b.name = print->names;
	add_text(&b, &b.step->span, lead, strlen(lead));
	if (add_format(&b, fmt->format, fmt->args) && b.room <= HYPTRACE_LINE_MAX)
		return print;
fail:
	hyptrace_print_free(print);
	return NULL;
}
