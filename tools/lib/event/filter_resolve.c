// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resolve the comparisons of a filter: find the fields of an event and the values by their names.
 * And find out whether any event can meet a filter.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "filter.h"
#include "meaning.h"

/* Numbers of errnos are at most this. */
#define ERRNO_MAX	4095

/* Store an error, with a suggestion if there is one. */
static enum filter_fault fail_name(struct hyptrace_error *err, const char *why,
				   const char *near)
{
	if (!near) {
		hyptrace_error_set(err, EINVAL, "%s", why);
		return FILTER_FAULT_VALUE;
	}
	hyptrace_error_set(err, EINVAL, "%s; did you mean \"%s\"?", why, near);
	return FILTER_FAULT_NEAR;
}

const struct hyptrace_field *hyptrace_filter_field(const struct hyptrace_event *event,
						   const struct filter_span *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (hyptrace_filter_is(name, event->fields[i]->name))
			return event->fields[i];
	return NULL;
}

static uint64_t all_bits(const struct hyptrace_field *field)
{
	return UINT64_MAX >> (64 - CHAR_BIT * field->size);
}

static enum filter_fault fail_range(const struct filter_comparison *c,
				    const struct hyptrace_field *field, struct hyptrace_error *err)
{
	const uint64_t max = all_bits(field) >> field->is_signed;
	const int64_t min = field->is_signed ? ~(int64_t)max : 0;

	if (c->op == HYPTRACE_FILTER_OP_AND)
		hyptrace_error_set(err, EINVAL, "a mask of \"%s\" has at most %u bits", field->name,
				   CHAR_BIT * field->size);
	else
		hyptrace_error_set(err, EINVAL,
				   "the values of \"%s\" are from %" PRId64 " to %" PRIu64,
				   field->name, min, max);
	return FILTER_FAULT_RANGE;
}

/* Is a number less than all values of the field, or greater than all? A mask has any bits. */
static bool is_out_of_range(const struct filter_comparison *c, const struct hyptrace_field *field,
			    uint64_t number)
{
	const bool any_bits = !field->is_signed || c->op == HYPTRACE_FILTER_OP_AND;

	if (c->negative && number)
		return !field->is_signed || number - 1 > all_bits(field) >> 1;
	return number > all_bits(field) >> !any_bits;
}

/*
 * Replace a comparison with a number that 64 bits with the field's sign cannot hold. It is always
 * true or always false, and so is a comparison with the least of all numbers.
 */
static void make_constant(struct filter_value *to, bool is_signed, bool is_less)
{
	bool is_true = to->op == HYPTRACE_FILTER_OP_NE;

	if (is_less)
		is_true |= to->op == HYPTRACE_FILTER_OP_GT || to->op == HYPTRACE_FILTER_OP_GE;
	else
		is_true |= to->op == HYPTRACE_FILTER_OP_LT || to->op == HYPTRACE_FILTER_OP_LE;
	to->op = is_true ? HYPTRACE_FILTER_OP_GE : HYPTRACE_FILTER_OP_LT;
	to->value = is_signed ? (uint64_t)INT64_MIN : 0;
}

static enum filter_fault resolve_number(const struct filter_comparison *c, uint64_t number,
					const struct hyptrace_field *field,
					struct filter_value *to, struct hyptrace_error *err)
{
	const bool is_less = c->negative && number;
	const bool fits = field->is_signed ? number <= INT64_MAX : !is_less;

	to->value = c->negative ? -number : number;
	if (!is_out_of_range(c, field, number))
		return FILTER_FAULT_NONE;
	if (!fits && c->op != HYPTRACE_FILTER_OP_AND)
		make_constant(to, field->is_signed, is_less);
	return fail_range(c, field, err);
}

/* Return the number of an errno by its name without a minus; 0 if there is none. */
static uint64_t find_errno(const struct filter_span *span)
{
	/* second names of an errno */
	static const struct {
		const char	*name;
		uint64_t	number;
	} others[] = {
		{ "EWOULDBLOCK", 11 }, { "EDEADLOCK", 35 }, { "ENOTSUP", 95 },
	};
	const char *name;
	uint64_t number;
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (hyptrace_filter_is(span, others[i].name))
			return others[i].number;
	for (number = 1; number <= ERRNO_MAX; number++) {
		name = hyptrace_errno_name(-(int64_t)number);
		if (name && hyptrace_filter_is(span, name + 1))
			return number;
	}
	return 0;
}

static enum filter_fault fail_errno(const struct filter_comparison *c, struct hyptrace_error *err)
{
	const char *near = NULL, *name;
	char why[HYPTRACE_ERROR_TEXT];
	int64_t number;

	for (number = 1; number <= ERRNO_MAX; number++) {
		name = hyptrace_errno_name(-number);
		if (name)
			near = hyptrace_nearest_of(c->value.text, c->value.len, near, name);
	}
	snprintf(why, sizeof(why), "there is no errno \"%.*s\"", filter_quoted(&c->name),
		 c->name.text);
	return fail_name(err, why, near);
}

/* Store why a field does not have the value of a name. */
static enum filter_fault fail_value(const struct filter_comparison *c,
				    const struct hyptrace_field *field, struct hyptrace_error *err)
{
	const char *near = NULL;
	char why[HYPTRACE_ERROR_TEXT];
	unsigned int i;

	if (!field->nr_symbols && !(field->is_signed && find_errno(&c->name))) {
		hyptrace_error_set(err, EINVAL, "the values of \"%s\" have no names: use a number",
				   field->name);
		return FILTER_FAULT_UNNAMED;
	}
	for (i = 0; i < field->nr_symbols; i++)
		near = hyptrace_nearest_of(c->name.text, c->name.len, near,
					   field->symbols[i]->name);
	if (field->nr_symbols)
		snprintf(why, sizeof(why), "the field \"%s\" has no value \"%.*s\"", field->name,
			 filter_quoted(&c->name), c->name.text);
	else
		snprintf(why, sizeof(why), "the name of an errno has a minus: use \"-%.*s\"",
			 filter_quoted(&c->name), c->name.text);
	return fail_name(err, why, near);
}

static enum filter_fault resolve_value(const struct filter_comparison *c,
				       const struct hyptrace_field *field,
				       struct filter_value *to, struct hyptrace_error *err)
{
	uint64_t number;
	unsigned int i;

	if (c->has_unit && strcmp(field->name, FILTER_DURATION)) {
		hyptrace_error_set(err, EINVAL, "\"%s\" is not a time: use a number without a unit",
				   field->name);
		return FILTER_FAULT_VALUE;
	}
	if (!c->name.len)
		return resolve_number(c, c->number, field, to, err);
	if (c->negative) {
		number = find_errno(&c->name);
		return number ? resolve_number(c, number, field, to, err) : fail_errno(c, err);
	}
	for (i = 0; i < field->nr_symbols; i++) {
		if (!hyptrace_filter_is(&c->name, field->symbols[i]->name))
			continue;
		to->value = field->symbols[i]->value;
		return FILTER_FAULT_NONE;
	}
	return fail_value(c, field, err);
}

enum filter_fault hyptrace_filter_resolve(const struct filter_comparison *comparison,
					  const struct hyptrace_event *event,
					  struct filter_value *value, const char **at,
					  struct hyptrace_error *err)
{
	const struct hyptrace_field *field = hyptrace_filter_field(event, &comparison->field);
	enum filter_fault fault;

	*value = (struct filter_value){ .op = comparison->op };
	*at = comparison->field.text;
	if (!field)
		return FILTER_FAULT_FIELD;
	if (!hyptrace_field_is_number(field, event->size)) {
		hyptrace_error_set(err, EINVAL, "the field \"%s\" is not a number", field->name);
		return FILTER_FAULT_VALUE;
	}
	*at = comparison->value.text;
	fault = resolve_value(comparison, field, value, err);
	if (fault > FILTER_FAULT_RANGE)
		return fault;
	value->field = (struct hyptrace_field){
		.offset = field->offset,
		.size = field->size,
		.is_signed = field->is_signed,
	};
	return fault;
}

/*
 * A filter has no negation: if a set of comparisons leads to the acceptance, events for which other
 * comparisons are true, too, are also accepted. So only comparisons that are true matter.
 */

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
