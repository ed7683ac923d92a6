// SPDX-License-Identifier: GPL-2.0-only
/* Print triggers and what has fired. */
#include "output/clock.h"
#include "output/die.h"
#include "output/printer.h"
#include "select.h"

/* While a stop is armed, a start may have fired already: the remote is armed, the start is not. */
bool trigger_is_armed(const struct hyptrace_remote *remote, const struct hyptrace_event *event)
{
	unsigned int i;

	if (event->trigger == HYPTRACE_TRIGGER_ACTION_NOTIFY ||
	    event->trigger == HYPTRACE_TRIGGER_ACTION_FOLLOW)
		return remote->state == HYPTRACE_STATE_TRACING;
	for (i = 0; i < remote->nr_fired; i++)
		if (remote->fired[i].action == event->trigger)
			return false;
	return remote->is_armed;
}

char *trigger_text(const struct hyptrace_event *event)
{
	const char *name = hyptrace_trigger_name(event->trigger);

	return event->after ? xasprintf("%s after %u sub-buffer%s", name, event->after,
					event->after == 1 ? "" : "s") : xstrdup(name);
}

void trigger_print_keys(struct printer *p, const struct hyptrace_event *event)
{
	printer_str(p, "trigger", event->trigger ? hyptrace_trigger_name(event->trigger) : NULL);
	printer_uint(p, "after", event->after);
}

static char *describe(const struct hyptrace_firing *firing, const char *more)
{
	return xasprintf("%s on CPU %u at %" PRIu64 ".%06" PRIu64 ": %s%s", firing->event,
			 firing->cpu, firing->time / NSEC_PER_SEC,
			 firing->time % NSEC_PER_SEC / NSEC_PER_USEC,
			 hyptrace_trigger_name(firing->action), more);
}

/* Check whether the recording has still to end that an event stops. */
bool firing_goes_on(const struct hyptrace_remote *remote, unsigned int which)
{
	return remote->fired[which].action == HYPTRACE_TRIGGER_ACTION_STOP && !remote->has_ended;
}

char *firing_text(const struct hyptrace_remote *remote, unsigned int which)
{
	return describe(&remote->fired[which],
			firing_goes_on(remote, which) ? " (still recording)" : "");
}

void firing_note(const struct hyptrace_remote *remote, unsigned int which, uint32_t after)
{
	auto_free char *text = describe(&remote->fired[which], "");
	const struct hyptrace_firing *firing = &remote->fired[which];

	if (firing_goes_on(remote, which))
		cmd_note("%s: the recording stops after %u sub-buffer%s (use \"hyptrace start\" to resume it)",
			 text, after, after == 1 ? "" : "s");
	else if (firing->action == HYPTRACE_TRIGGER_ACTION_STOP)
		cmd_note("%s: the recording has stopped (use \"hyptrace start\" to resume it)",
			 text);
	else
		cmd_note("%s: the recording has started", text);
}

void firing_print_keys(struct printer *p, const struct hyptrace_remote *remote,
		       unsigned int which)
{
	const struct hyptrace_firing *firing = &remote->fired[which];

	printer_str(p, "trigger", hyptrace_trigger_name(firing->action));
	printer_str(p, "event", firing->event);
	printer_uint(p, "cpu", firing->cpu);
	printer_u64(p, "ts", firing->time);
	printer_bool(p, "ended", !firing_goes_on(remote, which));
}
