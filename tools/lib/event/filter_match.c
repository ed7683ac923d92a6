// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: check whether an event meets one.
 */
#include <string.h>

#include "filter.h"

static bool holds(const struct filter_value *value, const void *payload)
{
	const uint64_t is = hyptrace_field_read(&value->field, payload), than = value->value;
	const bool less = value->field.is_signed ? (int64_t)is < (int64_t)than : is < than;

	switch (value->op) {
	case HYPTRACE_FILTER_OP_EQ:
		return is == than;
	case HYPTRACE_FILTER_OP_NE:
		return is != than;
	case HYPTRACE_FILTER_OP_LT:
		return less;
	case HYPTRACE_FILTER_OP_LE:
		return less || is == than;
	case HYPTRACE_FILTER_OP_GT:
		return !less && is != than;
	case HYPTRACE_FILTER_OP_GE:
		return !less;
	default:
		return is & than;
	}
}

/* Is the field the result of a hypercall that has none? */
static bool lacks_value(const struct hyptrace_filter *filter, const struct hyptrace_field *field,
			const void *payload, size_t size)
{
	const struct hyptrace_record rec = { .data = payload, .size = size };
	const struct hyptrace_formats *fmts = filter->formats;
	const struct hyptrace_event *event = fmts ? hyptrace_formats_event(fmts, &rec) : NULL;
	const struct hyptrace_field *result = event ? hyptrace_formats_result(fmts, event) : NULL;

	return result && result->offset == field->offset &&
	       !hyptrace_formats_has_result(fmts, event, &rec);
}

/**
 * hyptrace_filter_set_formats - set the formats that say which hypercalls return nothing
 * @filter:	the filter
 * @fmts:	the formats of the events; must stay valid
 *
 * From then on, a comparison of the result of a hypercall is false if it has none.
 */
void hyptrace_filter_set_formats(struct hyptrace_filter *filter,
				 const struct hyptrace_formats *fmts)
{
	filter->formats = fmts;
}

/**
 * hyptrace_filter_match - check whether an event meets a filter
 * @filter:	the filter
 * @payload:	the event's payload, which starts with the event id
 * @size:	bytes of @payload
 *
 * Return: true if it does; false for another event, or if @payload is too short.
 */
bool hyptrace_filter_match(const struct hyptrace_filter *filter, const void *payload, size_t size)
{
	const struct hyptrace_filter_term *term;
	const struct filter_value *value;
	uint32_t next = 0;
	uint16_t id;

	if (size < sizeof(id) || size < filter->size)
		return false;
	memcpy(&id, payload, sizeof(id));
	if (id != filter->id)
		return false;
	while (next < filter->nr) {
		term = &filter->terms[next];
		value = &filter->values[next];
		if (value->field.size && holds(value, payload) &&
		    !lacks_value(filter, &value->field, payload, size))
			next = term->on_true;
		else
			next = term->on_false;
	}
	return next == HYPTRACE_FILTER_ACCEPT;
}

/**
 * hyptrace_filters_set_formats - hyptrace_filter_set_formats() for the filters of all events
 * @filters:	the filters
 * @fmts:	the formats of the events; must stay valid
 */
void hyptrace_filters_set_formats(struct hyptrace_filters *filters,
				  const struct hyptrace_formats *fmts)
{
	unsigned int i;

	for (i = 0; i < filters->nr; i++)
		if (filters->by_id[i])
			hyptrace_filter_set_formats(filters->by_id[i], fmts);
}

/**
 * hyptrace_filters_match - check whether an event meets the filter of its kind
 * @filters:	the filters
 * @rec:	the event's record
 *
 * Return: true if it does; false for an unknown event.
 */
bool hyptrace_filters_match(const struct hyptrace_filters *filters,
			    const struct hyptrace_record *rec)
{
	uint16_t id;

	if (rec->size < sizeof(id))
		return false;
	memcpy(&id, rec->data, sizeof(id));
	return id < filters->nr && filters->by_id[id] &&
	       hyptrace_filter_match(filters->by_id[id], rec->data, rec->size);
}
