/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short forms of the functions of filters, for tests.
 */
#ifndef FILTER_CASE_H
#define FILTER_CASE_H

#include "lib/internal.h"

/* A filter that must fit the event */
static inline struct hyptrace_filter *filter_of(const struct hyptrace_event *event,
						const char *text, size_t *at,
						struct hyptrace_error *err)
{
	return hyptrace_filter_new(&event, 1, NULL, true, text, at, err);
}

/* A filter that must fit one of the events */
static inline struct hyptrace_filter *filter_any(struct hyptrace_event **events, unsigned int nr,
						 const struct hyptrace_formats *formats,
						 const char *text, size_t *at,
						 struct hyptrace_error *err)
{
	return hyptrace_filter_new((const struct hyptrace_event *const *)events, nr, formats, false,
				   text, at, err);
}

static inline bool filter_accepts(const struct hyptrace_filter *filter, const void *payload,
				  unsigned int size)
{
	const struct hyptrace_record rec = { .data = payload, .size = size };

	return hyptrace_filter_match(filter, &rec);
}

#endif /* FILTER_CASE_H */
