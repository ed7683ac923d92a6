// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print an event by the steps of its format. For format.c. By hand, for speed: libtraceevent
 * interprets the format anew for each event.
 *
 * The steps of most events are inlined into hyptrace_print_run(). Rare ones are not, to
 * keep it small and fast.
 */
#include <stdlib.h>
#include <string.h>

#include "common/digits.h"
#include "internal.h"
#include "print.h"

#define noinline __attribute__((noinline))

static inline char *put_span(const struct span *span, char *to)
{
	return hyptrace_digits_text(to, span->text, span->len);
}

/* Pad the text from @from to @to on the left, up to @width columns. */
static char *widen(char *from, char *to, ptrdiff_t width, char fill)
{
	ptrdiff_t len = to - from;

	if (len >= width)
		return to;
	memmove(from + width - len, from, len);
	memset(from, fill, width - len);
	return from + width;
}

static char *put_number(const struct step *step, char *to, uint64_t value)
{
	char *from = to, *digits;

	if (step->is_signed && (int64_t)value < 0) {
		*to++ = '-';
		value = -value;
	} else if (step->alternate && value) {
		*to++ = '0';
		*to++ = step->ten + ('x' - 'a');
	}
	digits = to;
	if (step->ten)
		to = hyptrace_digits_hex(to, value, step->ten);
	else
		to = hyptrace_digits_decimal(to, value);
	if (step->fill == '0')
		return widen(digits, to, step->width - (digits - from), '0');
	return widen(from, to, step->width, step->fill);
}

static char *put_unnamed(char *to, uint64_t value)
{
	*to++ = '0';
	*to++ = 'x';
	return hyptrace_digits_hex(to, value, 'a');
}

static noinline char *put_symbol(const struct step *step, char *to, uint64_t value)
{
	uint32_t low = 0, high = step->nr_names;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (step->names[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < step->nr_names && step->names[low].value == value)
		return put_span(&step->names[low].span, to);
	return put_unnamed(to, value);
}

static char *put_flags(const struct step *step, char *to, uint64_t value)
{
	const struct name *name = step->names, *end = name + step->nr_names;
	bool any = false;

	for (; name < end; name++) {
		if ((value & name->value) != name->value)
			continue;
		if (any)
			to = put_span(&step->delim, to);
		to = put_span(&name->span, to);
		value &= ~name->value;
		any = true;
	}
	if (!value)
		return to;
	if (any)
		to = put_span(&step->delim, to);
	return put_unnamed(to, value);
}

static noinline char *put_rarely(const struct step *step, char *to, uint64_t value)
{
	switch (step->kind) {
	case STEP_FLAGS:
		return put_flags(step, to, value);
	case STEP_NUMBER:
		return put_number(step, to, value);
	default:
		return to;
	}
}

static inline uint64_t value_of(const struct step *step, const char *data)
{
	return hyptrace_place_signed(&step->place, data) & step->mask;
}

static inline char *put_value(const struct step *step, char *to, uint64_t value)
{
	if (step->kind == STEP_SYMBOL) {
		uint64_t index = value - step->first;

		if (index < step->nr_dense)
			return put_span(&step->names[index].span, to);
		return put_symbol(step, to, value);
	}
	if (step->kind <= STEP_SIGNED) {
		if (step->kind == STEP_SIGNED && (int64_t)value < 0) {
			*to++ = '-';
			value = -value;
		}
		return hyptrace_digits_decimal(to, value);
	}
	return put_rarely(step, to, value);
}

char *hyptrace_print_run(const struct print *print, const void *data, char *to)
{
	const struct step *step = print->steps;
	uint64_t small = 0;

	if (print->size < PLACE_WORD)
		data = memcpy(&small, data, print->size);
	do {
		to = put_span(&step->span, to);
		to = put_value(step, to, value_of(step, data));
	} while (!step++->last);
	return to;
}

void hyptrace_print_free(struct print *print)
{
	if (!print)
		return;
	free(print->names);
	free(print->pool);
	free(print);
}
