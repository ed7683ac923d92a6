/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A filter whose text is parsed, but not yet resolved for an event. For the files filter*.c.
 */
#ifndef HYPTRACE_FILTER_H
#define HYPTRACE_FILTER_H

#include "internal.h"

/* Parentheses inside parentheses, at most */
#define FILTER_DEPTH_MAX	16

/* Characters that a message quotes at most */
#define FILTER_QUOTED_MAX	40

/* The field whose values are times in nanoseconds */
#define FILTER_DURATION		"duration"

/**
 * struct filter_span - a part of a filter's text
 * @text:	its start
 * @len:	its length
 */
struct filter_span {
	const char	*text;
	size_t		len;
};

/* Return how many characters of a span a message quotes, for the conversion %.*s. */
static inline int filter_quoted(const struct filter_span *span)
{
	return span->len < FILTER_QUOTED_MAX ? (int)span->len : FILTER_QUOTED_MAX;
}

/**
 * struct filter_comparison - a comparison as it was written
 * @field:	the name of the field
 * @value:	the value, with its sign and unit
 * @name:	the value without its sign, if it is a name; else empty
 * @number:	the value without its sign, if it is a number
 * @negative:	the value has a minus
 * @has_unit:	the value has a unit of time
 * @op:		enum hyptrace_filter_op
 * @on_true:	where to continue, as in struct hyptrace_filter_term
 * @on_false:	where to continue, as in struct hyptrace_filter_term
 */
struct filter_comparison {
	struct filter_span	field;
	struct filter_span	value;
	struct filter_span	name;
	uint64_t		number;
	bool			negative;
	bool			has_unit;
	uint32_t		op;
	uint32_t		on_true;
	uint32_t		on_false;
};

/**
 * struct filter_program - the comparisons of a filter; the first is evaluated first
 * @comparisons: the comparisons, in the order of the text
 * @nr:		number of @comparisons, at least 1
 */
struct filter_program {
	struct filter_comparison	comparisons[HYPTRACE_FILTER_TERMS_MAX];
	unsigned int			nr;
};

/**
 * struct filter_value - how to compare a field of a payload
 * @field:	where the field is, and its sign; its size is 0 if the comparison is always false
 * @op:		enum hyptrace_filter_op
 * @value:	the value to compare with, extended to 64 bits as the field
 */
struct filter_value {
	struct hyptrace_field	field;
	uint32_t		op;
	uint64_t		value;
};

/**
 * struct hyptrace_filter - a filter of an event
 * @text:	its text
 * @id:		the event's id
 * @size:	bytes of the event's payload
 * @nr:		number of @terms and @values
 * @terms:	its comparisons
 * @values:	how to make them
 * @formats:	formats that know which hypercalls return nothing, or NULL
 */
struct hyptrace_filter {
	char				*text;
	uint16_t			id;
	uint32_t			size;
	unsigned int			nr;
	struct hyptrace_filter_term	terms[HYPTRACE_FILTER_TERMS_MAX];
	struct filter_value		values[HYPTRACE_FILTER_TERMS_MAX];
	const struct hyptrace_formats	*formats;
};

/**
 * struct hyptrace_filters - the filters of the events of a remote
 * @nr:		number of @by_id
 * @by_id:	each event's filter; NULL for an event that never matches
 */
struct hyptrace_filters {
	unsigned int		nr;
	struct hyptrace_filter	*by_id[];
};

/**
 * enum filter_fault - what is wrong with a comparison for an event; the last is the most useful
 * @FILTER_FAULT_NONE:	nothing
 * @FILTER_FAULT_FIELD:	the event does not have the field
 * @FILTER_FAULT_RANGE:	the number is out of the field's range. The comparison can be made, but
 *			its result is the same for each event.
 * @FILTER_FAULT_UNNAMED: the values of the field have no names
 * @FILTER_FAULT_VALUE:	the field cannot have the value
 * @FILTER_FAULT_NEAR:	the field does not have the value, but one with a similar name
 */
enum filter_fault {
	FILTER_FAULT_NONE,
	FILTER_FAULT_FIELD,
	FILTER_FAULT_RANGE,
	FILTER_FAULT_UNNAMED,
	FILTER_FAULT_VALUE,
	FILTER_FAULT_NEAR,
};

/* filter_parse.c */
int hyptrace_filter_compile(struct filter_program *program, const char *text, size_t *at,
			    struct hyptrace_error *err);

/* filter_resolve.c */
enum filter_fault hyptrace_filter_resolve(const struct filter_comparison *comparison,
					  const struct hyptrace_event *event,
					  struct filter_value *value, const char **at,
					  struct hyptrace_error *err);

/* filter_possible.c */
bool hyptrace_filter_is_possible(const struct hyptrace_filter_term *terms,
				 const struct filter_value *values, unsigned int *stuck);

#endif /* HYPTRACE_FILTER_H */
