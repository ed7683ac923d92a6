/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filters that a verb sets at EL2 while it runs. For record, strace and catch.
 */
#ifndef EVENT_FILTERS_H
#define EVENT_FILTERS_H

#include "../lib/hyptrace.h"

/**
 * struct event_filters - the events whose filters were changed; all 0 if there is none
 * @h:		the connection
 * @remote:	name of the remote
 * @changed:	the events, as they were before
 * @nr:		number of @changed
 */
struct event_filters {
	struct hyptrace			*h;
	const char			*remote;
	const struct hyptrace_event	**changed;
	unsigned int			nr;
};

void event_filters_begin(struct event_filters *filters, struct hyptrace *h, const char *remote);
int event_filters_set(struct event_filters *filters, const struct hyptrace_event *event,
		      const struct hyptrace_filter *filter, struct hyptrace_error *err);
int event_filters_notify(struct event_filters *filters, const struct hyptrace_event *event,
			 const struct hyptrace_filter *filter, struct hyptrace_error *err);
int event_filters_disable(struct event_filters *filters, const struct hyptrace_event *event,
			  struct hyptrace_error *err);
void event_filters_forget(struct event_filters *filters);
void event_filters_restore(struct event_filters *filters);

#endif /* EVENT_FILTERS_H */
