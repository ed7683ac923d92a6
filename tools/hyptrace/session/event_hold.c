// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters and triggers that a verb sets at EL2 while it runs. The kernel undoes them at the end,
 * even if the verb is killed.
 */
#include <errno.h>

#include "lib/hyptrace.h"
#include "output/die.h"
#include "event_hold.h"

/* Enable an event while the verb runs, or until event_release_all(). */
int event_hold(struct hyptrace *h, const struct hyptrace_event *event,
	       const struct hyptrace_filter *filter, uint32_t trigger, uint32_t after,
	       struct hyptrace_error *err)
{
	const struct hyptrace_event_options options = {
		.filter = filter,
		.trigger = trigger,
		.after = after,
		.flags = HYPTRACE_EVENT_HOLD,
	};
	const char *name = event->name;

	return hyptrace_set_events(h, event->remote, &name, 1, true, &options, err);
}

/* Disable an event while the verb runs, or until event_release_all(). */
int event_hold_disabled(struct hyptrace *h, const struct hyptrace_event *event,
			struct hyptrace_error *err)
{
	const struct hyptrace_event_options options = { .flags = HYPTRACE_EVENT_HOLD };
	const char *name = event->name;

	return hyptrace_set_events(h, event->remote, &name, 1, false, &options, err);
}

/* Let the kernel restore the events that the verb has held. */
void event_release_all(struct hyptrace *h, const char *remote)
{
	struct hyptrace_error err;

	/* if the remote is gone, its events are, too */
	if (hyptrace_release_events(h, remote, &err) && err.errnum != ENODEV)
		cmd_note("cannot restore the events of \"%s\": %s", remote, err.text);
}
