/* SPDX-License-Identifier: GPL-2.0-only */
/* A filter whose text is parsed, but not yet resolved for an event. For the files filter*.c. */
#ifndef HYPTRACE_FILTER_H
#define HYPTRACE_FILTER_H

#include "internal.h"

/* Characters that a message quotes at most */
#define FILTER_QUOTED_MAX	40

/* A part of a filter's text */
struct filter_span {
	const char	*text;	/* its start */
	size_t		len;
};

/* Return how many characters of a span a message quotes, for the conversion %.*s. */
static inline int filter_quoted(const struct filter_span *span)
{
	return span->len < FILTER_QUOTED_MAX ? (int)span->len : FILTER_QUOTED_MAX;
}

static inline bool hyptrace_filter_is(const struct filter_span *span, const char *name)
{
	return hyptrace_is(span->text, span->len, name);
}

/* A comparison as it was written */
struct filter_comparison {
	struct filter_span	field;	/* the name of the field */
	struct filter_span	value;	/* the value, with its sign and unit */
	struct filter_span	name;	/* the value without its sign if it is a name; else empty */
	uint64_t		number;	/* the value without its sign, if it is a number */
	bool			negative;	/* the value has a minus */
	bool			has_unit;	/* the value has a unit of time */
	uint32_t		op;	/* enum hyptrace_filter_op */
	uint32_t		on_true;	/* as in struct hyptrace_filter_term */
	uint32_t		on_false;
};

/* The comparisons of a filter; the first is evaluated first */
struct filter_program {
	struct filter_comparison	comparisons[HYPTRACE_FILTER_TERMS_MAX];
	unsigned int			nr;	/* at least 1 */
};

/* How to compare a field of a payload */
struct filter_value {
	struct hyptrace_field	field;	/* size 0: the comparison is always false */
	uint32_t		op;	/* enum hyptrace_filter_op */
	uint64_t		value;	/* to compare with, extended to 64 bits as the field */
};

/* What is wrong with a comparison for an event; the last is the most useful. */
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
const struct hyptrace_field *hyptrace_filter_field(const struct hyptrace_event *event,
						   const struct filter_span *name);
enum filter_fault hyptrace_filter_resolve(const struct filter_comparison *comparison,
					  const struct hyptrace_event *event,
					  struct filter_value *value, const char **at,
					  struct hyptrace_error *err);

#endif /* HYPTRACE_FILTER_H */
