/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters and triggers that a verb sets at EL2 while it runs.
 */
#ifndef EVENT_HOLD_H
#define EVENT_HOLD_H

#include "lib/hyptrace.h"

int event_hold(struct hyptrace *h, const struct hyptrace_event *event,
	       const struct hyptrace_filter *filter, uint32_t trigger, uint32_t after,
	       struct hyptrace_error *err);
int event_hold_disabled(struct hyptrace *h, const struct hyptrace_event *event,
			struct hyptrace_error *err);
void event_release_all(struct hyptrace *h, const char *remote);

#endif /* EVENT_HOLD_H */
