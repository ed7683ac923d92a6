/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events that -e and -F choose, for the verbs that show or write events.
 */
#ifndef CHOICE_H
#define CHOICE_H

#include "lib/hyptrace.h"
#include "events.h"

/* Event ids have 16 bits. */
#define CHOICE_IDS	(UINT16_MAX + 1)

struct choice {
	struct words		words;		/* arguments of -e */
	const char		*filter;	/* argument of -F, or NULL */
	bool			*wanted;	/* by id, what -e names; NULL: all events */
	struct hyptrace_filters	*filters;	/* the condition of -F; or NULL */
};

int choice_make(struct choice *choice, const char *verb, struct hyptrace_event *const *events,
		unsigned int nr, const struct hyptrace_formats *formats);
void choice_free(struct choice *choice);
bool choice_accept_event(const struct hyptrace_stream_event *event, void *choice);
struct hyptrace_event **choice_list(const bool *wanted, struct hyptrace_event *const *events,
				    unsigned int *nr);

/* Are not all events chosen? */
static inline bool choice_is_made(const struct choice *choice)
{
	return choice->filters || choice->wanted;
}

#endif /* CHOICE_H */
