// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resolve the comparisons of a filter: find the fields of an event and the values by their names.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "filter.h"
#include "names.h"

/* Numbers of errnos are at most this. */
#define ERRNO_MAX	4095

static bool is_named(const char *name, const struct filter_span *span)
{
	return strlen(name) == span->len && !memcmp(name, span->text, span->len);
}

/* Store an error, with a suggestion if there is one. */
static enum filter_fault fail_name(struct hyptrace_error *err, const char *why,
				   const struct hyptrace_nearest *near)
{
	if (!near->found) {
		hyptrace_error_set(err, EINVAL, "%s", why);
		return FILTER_FAULT_VALUE;
	}
	hyptrace_error_set(err, EINVAL, "%s; did you mean \"%s\"?", why, near->found);
	return FILTER_FAULT_NEAR;
}

static const struct hyptrace_field *find_field(const struct hyptrace_event *event,
					       const struct filter_span *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (is_named(event->fields[i]->name, name))
			return event->fields[i];
	return NULL;
}

static bool is_number(const struct hyptrace_field *field, const struct hyptrace_event *event)
{
	return (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8) &&
	       !strchr(field->type, '[') && field->offset <= event->size &&
	       field->size <= event->size - field->offset;
}

static uint64_t all_bits(const struct hyptrace_field *field)
{
	return UINT64_MAX >> (64 - CHAR_BIT * field->size);
}

static enum filter_fault fail_range(const struct hyptrace_field *field, struct hyptrace_error *err)
{
	const uint64_t max = all_bits(field) >> field->is_signed;
	const int64_t min = field->is_signed ? ~(int64_t)max : 0;

	hyptrace_error_set(err, EINVAL, "the values of \"%s\" are from %" PRId64 " to %" PRIu64,
			   field->name, min, max);
	return FILTER_FAULT_VALUE;
}

/* A mask may have all bits of a signed field. */
static enum filter_fault resolve_number(const struct filter_comparison *c,
					const struct hyptrace_field *field, uint64_t *value,
					struct hyptrace_error *err)
{
	const bool any_bits = !field->is_signed || c->op == HYPTRACE_FILTER_OP_AND;
	const uint64_t max = all_bits(field) >> !any_bits;

	if (c->has_unit && strcmp(field->name, FILTER_DURATION)) {
		hyptrace_error_set(err, EINVAL, "\"%s\" is not a time: use a number without a unit",
				   field->name);
		return FILTER_FAULT_VALUE;
	}
	if (c->negative && c->number) {
		if (!field->is_signed || c->number - 1 > all_bits(field) >> 1)
			return fail_range(field, err);
		*value = -c->number;
	} else {
		if (c->number > max)
			return fail_range(field, err);
		*value = c->number;
	}
	return FILTER_FAULT_NONE;
}

static enum filter_fault resolve_errno(const struct filter_comparison *c,
				       const struct hyptrace_field *field, uint64_t *value,
				       struct hyptrace_error *err)
{
	struct hyptrace_nearest near;
	char why[HYPTRACE_ERROR_TEXT];
	const char *name;
	int64_t number;

	/* an errno fits any signed field but one of 8 bits */
	if (!field->is_signed || field->size == 1)
		return fail_range(field, err);
	hyptrace_nearest_begin(&near, c->value.text, c->value.len);
	for (number = -1; number >= -ERRNO_MAX; number--) {
		name = hyptrace_errno_name(number);
		if (!name)
			continue;
		if (is_named(name, &c->value)) {
			*value = number;
			return FILTER_FAULT_NONE;
		}
		hyptrace_nearest_try(&near, name);
	}
	snprintf(why, sizeof(why), "there is no errno \"%.*s\"", filter_quoted(&c->name),
		 c->name.text);
	return fail_name(err, why, &near);
}

/* Store why a field does not have the value of a name. */
static enum filter_fault fail_value(const struct filter_comparison *c,
				    const struct hyptrace_field *field, struct hyptrace_error *err)
{
	struct hyptrace_nearest near;
	char why[HYPTRACE_ERROR_TEXT];
	unsigned int i;

	hyptrace_nearest_begin(&near, c->name.text, c->name.len);
	for (i = 0; i < field->nr_symbols; i++)
		hyptrace_nearest_try(&near, field->symbols[i]->name);
	if (field->nr_symbols)
		snprintf(why, sizeof(why), "the field \"%s\" has no value \"%.*s\"", field->name,
			 filter_quoted(&c->name), c->name.text);
	else
		snprintf(why, sizeof(why), "the values of \"%s\" have no names: use a number%s",
			 field->name, field->is_signed ? " or an errno such as -EPERM" : "");
	return fail_name(err, why, &near);
}

static enum filter_fault resolve_value(const struct filter_comparison *c,
				       const struct hyptrace_field *field, uint64_t *value,
				       struct hyptrace_error *err)
{
	unsigned int i;

	if (!c->name.len)
		return resolve_number(c, field, value, err);
	if (c->negative)
		return resolve_errno(c, field, value, err);
	for (i = 0; i < field->nr_symbols; i++) {
		if (!is_named(field->symbols[i]->name, &c->name))
			continue;
		*value = field->symbols[i]->value;
		return FILTER_FAULT_NONE;
	}
	return fail_value(c, field, err);
}

/**
 * hyptrace_filter_resolve - resolve a comparison for an event
 * @comparison:	the comparison
 * @event:	the event
 * @value:	out: how to make the comparison; not changed on failure
 * @at:		out: on failure the place in the text of what is wrong
 * @err:	the reason if it fails; not set if the event does not have the field
 *
 * Return: why it cannot be made, or FILTER_FAULT_NONE.
 */
enum filter_fault hyptrace_filter_resolve(const struct filter_comparison *comparison,
					  const struct hyptrace_event *event,
					  struct filter_value *value, const char **at,
					  struct hyptrace_error *err)
{
	const struct hyptrace_field *field = find_field(event, &comparison->field);
	enum filter_fault fault;

	*at = comparison->field.text;
	if (!field)
		return FILTER_FAULT_FIELD;
	if (!is_number(field, event)) {
		hyptrace_error_set(err, EINVAL, "the field \"%s\" is not a number", field->name);
		return FILTER_FAULT_VALUE;
	}
	*at = comparison->value.text;
	fault = resolve_value(comparison, field, &value->value, err);
	if (fault)
		return fault;
	value->offset = field->offset;
	value->size = field->size;
	value->is_signed = field->is_signed;
	return FILTER_FAULT_NONE;
}
