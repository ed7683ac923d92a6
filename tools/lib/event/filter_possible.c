// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find out whether any event can meet a filter. For filter.c.
 *
 * A filter has no negation: if a set of comparisons leads to the acceptance, events for which other
 * comparisons are true, too, are also accepted. So only comparisons that are true matter.
 */
#include <limits.h>

#include "filter.h"

/* A value as an unsigned number with the same order */
static uint64_t key_of(const struct filter_value *value)
{
	return value->field.is_signed ? value->value ^ (uint64_t)INT64_MIN : value->value;
}

/* Narrow a range of keys. Return false if nothing is left. */
static bool narrow(const struct filter_value *value, uint64_t *first, uint64_t *last)
{
	const uint64_t key = key_of(value);
	uint64_t from = 0, to = UINT64_MAX;

	switch (value->op) {
	case HYPTRACE_FILTER_OP_EQ:
		from = key;
		to = key;
		break;
	case HYPTRACE_FILTER_OP_LT:
		if (!key)
			return false;
		to = key - 1;
		break;
	case HYPTRACE_FILTER_OP_LE:
		to = key;
		break;
	case HYPTRACE_FILTER_OP_GT:
		if (key == UINT64_MAX)
			return false;
		from = key + 1;
		break;
	case HYPTRACE_FILTER_OP_GE:
		from = key;
		break;
	case HYPTRACE_FILTER_OP_NE:
		if (key == *first && key == *last)
			return false;
		*first += key == *first;
		*last -= key == *last;
		return true;
	}
	*first = from > *first ? from : *first;
	*last = to < *last ? to : *last;
	return *first <= *last;
}

/* Can the comparisons of @set be true that are about the field of comparison @of? */
static bool is_possible(const struct filter_value *values, unsigned int set, unsigned int of)
{
	const struct hyptrace_field *field = &values[of].field;
	const uint64_t bits = UINT64_MAX >> (64 - CHAR_BIT * field->size);
	const uint64_t middle = field->is_signed ? (uint64_t)INT64_MIN : 0;
	uint64_t first = field->is_signed ? middle - bits / 2 - 1 : 0, last = first + bits;
	unsigned int round, i;

	/* what one excludes at an end of the range can be due to another one: go round again */
	for (round = 0; round < HYPTRACE_FILTER_TERMS_MAX; round++)
		for (i = 0; set >> i; i++)
			if ((set >> i & 1) && values[i].field.offset == field->offset &&
			    !narrow(&values[i], &first, &last))
				return false;
	for (i = 0; set >> i; i++)
		if ((set >> i & 1) && values[i].field.offset == field->offset &&
		    values[i].op == HYPTRACE_FILTER_OP_AND &&
		    !(values[i].value & (first == last ? first ^ middle : bits)))
			return false;
	return true;
}

/* Continue at comparison @next after those of @set were true. */
static bool reaches_end(const struct hyptrace_filter_term *terms,
			const struct filter_value *values, uint32_t next, unsigned int set,
			unsigned int *stuck)
{
	if (next == HYPTRACE_FILTER_ACCEPT || next == HYPTRACE_FILTER_REJECT)
		return next == HYPTRACE_FILTER_ACCEPT;
	if (values[next].field.size && is_possible(values, set | 1U << next, next)) {
		if (reaches_end(terms, values, terms[next].on_true, set | 1U << next, stuck))
			return true;
	} else if (next > *stuck) {
		*stuck = next;
	}
	return reaches_end(terms, values, terms[next].on_false, set, stuck);
}

/* Find out whether an event can meet a filter. */
bool hyptrace_filter_is_possible(const struct hyptrace_filter_term *terms,
				 const struct filter_value *values, unsigned int *stuck)
{
	*stuck = 0;
	return reaches_end(terms, values, 0, 0, stuck);
}
