/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of pointers to events and fields that a test has in arrays.
 */
#ifndef EVENT_LISTS_H
#define EVENT_LISTS_H

#include "lib/hyptrace.h"

#define LISTS_ROOM	8192

static void *lists[LISTS_ROOM];
static unsigned int lists_used;

/* Forget all lists. */
static inline void lists_begin(void)
{
	lists_used = 0;
}

static inline void **list_of(void *items, size_t item_size, unsigned int nr)
{
	void **list = &lists[lists_used];
	unsigned int i;

	assert_in_range(nr, 0, LISTS_ROOM - lists_used);
	for (i = 0; i < nr; i++)
		list[i] = (char *)items + i * item_size;
	lists_used += nr;
	return list;
}

static inline struct hyptrace_field **field_list(struct hyptrace_field *fields, unsigned int nr)
{
	return (struct hyptrace_field **)list_of(fields, sizeof(*fields), nr);
}

static inline struct hyptrace_event **event_list(struct hyptrace_event *events, unsigned int nr)
{
	return (struct hyptrace_event **)list_of(events, sizeof(*events), nr);
}

#endif /* EVENT_LISTS_H */
