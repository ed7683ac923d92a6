// SPDX-License-Identifier: GPL-2.0-only
/*
 * Say why events are missing although none was lost: somebody else has stopped the recording, or
 * has disabled or filtered an event. For stat, top, strace and record.
 */
#include "cmd.h"

#define RESUME_HINT	" (use \"hyptrace start\" to resume it)"

static void note_stop(const struct hyptrace_remote *remote)
{
	unsigned int i;

	if (remote->state != HYPTRACE_STATE_TRACING) {
		cmd_note("tracing was switched off: later events are missing" RESUME_HINT);
		return;
	}
	for (i = 0; i < remote->nr_fired; i++)
		if (remote->fired[i].action == HYPTRACE_TRIGGER_ACTION_STOP)
			cmd_note("a trigger has stopped the recording: later events are missing"
				 RESUME_HINT);
}

/**
 * cmd_note_gaps - say why events of a verb are missing although none was lost
 * @ctx:	the context, connected
 * @name:	name of the remote, which the verb still holds tracing
 * @events:	events of which the verb needs each one
 * @nr:		number of @events; may be 0
 *
 * If a request fails, the verb's next one fails, too, and says why.
 */
void cmd_note_gaps(struct context *ctx, const char *name, const char *const *events,
		   unsigned int nr)
{
	struct hyptrace_remote *remote;
	struct hyptrace_event *event;
	unsigned int i;

	if (hyptrace_get_remote(ctx->h, name, &remote, NULL))
		return;
	note_stop(remote);
	hyptrace_free_remote(remote);
	for (i = 0; i < nr; i++) {
		if (hyptrace_get_event(ctx->h, name, events[i], &event, NULL))
			return;
		if (!event->enabled)
			cmd_note("\"%s\" was disabled: later ones are missing", event->name);
		else if (event->filter)
			cmd_note("\"%s\" has the filter \"%s\" at EL2: the other ones are missing",
				 event->name, event->filter);
		hyptrace_free_event(event);
	}
}
