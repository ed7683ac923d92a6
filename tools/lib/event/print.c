// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compile print formats that libtraceevent has parsed to lists of steps, for speed: it interprets a
 * format anew for each event. This file knows what the formats of EL2 use: %d, %u, %x and
 * __print_symbolic(). libtraceevent itself prints all other formats.
 */
#include "format.h"

/* Characters of a number: the sign or 0x, and the digits */
#define NUMBER_MAX	(2 + DIGITS_MAX)

enum step_kind {
	STEP_SYMBOL,
	STEP_UNSIGNED,	/* decimal, not padded */
	STEP_SIGNED,
	STEP_HEX,
	STEP_TEXT,	/* no value */
};

/* A text; DIGITS_SLACK bytes after it are readable */
struct span {
	const char	*text;
	size_t		len;
};

/* A text, and the value that follows it */
struct step {
	struct span	span;
	uint8_t		kind;	/* enum step_kind */
	bool		last;	/* this is the last step */
	struct place	place;	/* of the field in the payload */
	uint64_t	mask;	/* bits of the field that are printed */
	struct sentence_symbols	*names;	/* SYMBOL: names of the values */
};

struct print {
	uint32_t	size;
	unsigned int	nr;	/* of steps */
	char		*pool;	/* memory of the texts */
	struct step	steps[];	/* at least one */
};

struct builder {
	struct tep_event	*event;
	struct print		*print;
	struct step		*step;
	char			*pool;		/* where to store the next text */
	uint32_t		room;		/* bytes of the printed text at most */
};

static void add_text(struct builder *b, struct span *span, const char *text, size_t len)
{
	if (!span->len)
		span->text = b->pool;
	memcpy(b->pool, text, len);
	b->pool += len;
	span->len += len;
}

static bool add_names(struct builder *b, const struct tep_print_flag_sym *from)
{
	const struct tep_print_flag_sym *sym;
	size_t longest = NUMBER_MAX, len;
	unsigned int nr = 0;
	uint64_t value;
	char *end;

	for (sym = from; sym; sym = sym->next)
		nr++;
	b->step->names = hyptrace_symbols_alloc(nr);
	if (!b->step->names)
		return false;
	for (sym = from; sym; sym = sym->next) {
		/* anything but a plain number is a name, which libtraceevent may know */
		len = strlen(sym->str);
		if (!isdigit((unsigned char)sym->value[0]) || !hyptrace_is_plain(sym->str, len))
			return false;
		value = strtoull(sym->value, &end, 0);
		if (end[strspn(end, "uUlL")] || value > INT64_MAX ||
		    !hyptrace_symbols_add(b->step->names, value, sym->str))
			return false;
		longest = MAX(longest, len);
	}
	b->room += longest;
	return true;
}

/* Add a field of at most @bytes. A smaller one has its own sign, else it has the conversion's. */
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

	b->step->place = hyptrace_place_of(field->offset, size, false, payload);
	if (size < bytes)
		is_signed = field->flags & TEP_FIELD_IS_SIGNED;
	b->step->mask &= is_signed ? UINT64_MAX : UINT64_MAX >> b->step->place.right;
	return true;
}

/* Add the conversion that starts after its %. Return its end, NULL if it is not supported. */
static const char *add_conversion(struct builder *b, const char *at,
				  const struct tep_print_arg *arg)
{
	const bool is_long = *at == 'l';
	struct step *step = b->step;
	bool is_signed;

	at += strspn(at, "l");
	is_signed = *at == 'd' || *at == 'i';
	step->mask = UINT64_MAX;
	if (*at == 's' && !is_long) {
		step->kind = STEP_SYMBOL;
		return arg && arg->type == TEP_PRINT_SYMBOL &&
		       add_field(b, arg->symbol.field, sizeof(uint64_t), false) &&
		       add_names(b, arg->symbol.symbols) ? at + 1 : NULL;
	}
	if (!*at || !strchr("diux", *at))
		return NULL;
	step->kind = *at == 'x' ? STEP_HEX : is_signed ? STEP_SIGNED : STEP_UNSIGNED;
	if (!is_long && !is_signed)
		step->mask = UINT32_MAX;
	b->room += NUMBER_MAX;
	return add_field(b, arg, is_long ? sizeof(uint64_t) : sizeof(uint32_t), is_signed) ?
	       at + 1 : NULL;
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
			if (!hyptrace_is_plain(format, len))
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

void hyptrace_print_free(struct print *print)
{
	unsigned int i;

	if (!print)
		return;
	for (i = 0; i < print->nr; i++)
		hyptrace_symbols_free(print->steps[i].names);
	free(print->pool);
	free(print);
}

/* Compile a print format; NULL if only libtraceevent can print it, or if there is no memory. */
struct print *hyptrace_print_new(struct tep_event *event, uint32_t size, const char *lead)
{
	const struct tep_print_fmt *fmt = &event->print_fmt;
	struct builder b = { .event = event, .room = strlen(lead) + DIGITS_SLACK };
	struct print *print;
	unsigned int nr = 1;
	const char *at;

	if (!fmt->format)
		return NULL;
	for (at = fmt->format; *at; at++)
		nr += *at == '%';
	print = calloc(1, sizeof(*print) + nr * sizeof(struct step));
	if (!print)
		return NULL;
	print->size = size;
	print->nr = nr;
	print->pool = calloc(1, strlen(lead) + strlen(fmt->format) + DIGITS_SLACK);
	if (!print->pool)
		goto fail;

	b.print = print;
	b.step = print->steps;
	b.pool = print->pool;
	add_text(&b, &b.step->span, lead, strlen(lead));
	if (add_format(&b, fmt->format, fmt->args) && b.room <= HYPTRACE_LINE_MAX)
		return print;
fail:
	hyptrace_print_free(print);
	return NULL;
}

static inline char *put_value(const struct step *step, char *to, uint64_t value)
{
	if (step->kind == STEP_SYMBOL) {
		const struct sentence_symbol *symbol = sentence_find_symbol(step->names, value);

		return symbol->text ? hyptrace_digits_text(to, symbol->text, symbol->len) :
				      put_hex(to, value);
	}
	if (step->kind <= STEP_SIGNED) {
		if (step->kind == STEP_SIGNED && (int64_t)value < 0) {
			*to++ = '-';
			value = -value;
		}
		return hyptrace_digits_decimal(to, value);
	}
	return step->kind == STEP_HEX ? hyptrace_digits_hex(to, value) : to;
}

/* Return the end of the text; NULL if the record is too short. */
char *hyptrace_print_run(const struct print *print, const struct hyptrace_record *rec, char *to)
{
	const struct step *step = print->steps;
	const void *data = rec->data;
	uint64_t small = 0;

	if (rec->size < print->size)
		return NULL;
	if (print->size < PLACE_WORD)
		data = memcpy(&small, data, print->size);
	do {
		to = hyptrace_digits_text(to, step->span.text, step->span.len);
		to = put_value(step, to, hyptrace_place_signed(&step->place, data) & step->mask);
	} while (!step++->last);
	return to;
}
