// SPDX-License-Identifier: GPL-2.0-only
/*
 * What requests, consumers and sockets want on. The callers in hold.c, event_set.c, event_hold.c,
 * socket.c and state.c make the remote do what is wanted.
 *
 * An event is enabled if event-set has enabled it, or an attachment holds it, unless a socket holds
 * another state of it. Tracing is on if start was sent, or an attachment holds it. event-set and
 * stop override holds: nobody holds any more what they have set or switched off.
 */
#include <linux/bits.h>
#include <linux/slab.h>

#include "internal.h"

/* Replace the state of the events that sockets hold. */
static u64 apply_holds(const struct hyptrace_remote *remote, u64 enabled)
{
	const struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote)
		enabled = (enabled & ~hold->events) | hold->enabled;
	return enabled;
}

/**
 * hyptrace_wanted_events - get the events that somebody wants enabled
 * @remote:	control mutex held
 * Return: bit per event id.
 */
u64 hyptrace_wanted_events(const struct hyptrace_remote *remote)
{
	const struct hyptrace_attachment *attachment;
	u64 events = remote->requested.events;

	list_for_each_entry(attachment, &remote->attached, node)
		events |= attachment->held.events;
	return apply_holds(remote, events);
}

/**
 * hyptrace_hold_override - a request has switched off what attachments hold
 * @remote:	control mutex held
 * @off:	what is off
 */
void hyptrace_hold_override(struct hyptrace_remote *remote, const struct hyptrace_wants *off)
{
	struct hyptrace_attachment *attachment;

	list_for_each_entry(attachment, &remote->attached, node) {
		attachment->held.events &= ~off->events;
		attachment->held.tracing &= !off->tracing;
	}
}

/**
 * hyptrace_event_find_hold - find the socket that holds one of some events
 * @remote:	control mutex held
 * @events:	bit per event id
 * Return: its hold, or NULL if there is none.
 */
const struct hyptrace_socket_hold *
hyptrace_event_find_hold(const struct hyptrace_remote *remote, u64 events)
{
	const struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote) {
		if (hold->events & events)
			return hold;
	}
	return NULL;
}

/**
 * hyptrace_event_holder - get the process whose socket holds an event
 * @remote:	control mutex held
 * @event:	of the remote
 * Return: the process, 0 if no socket holds the event.
 */
pid_t hyptrace_event_holder(const struct hyptrace_remote *remote,
			    const struct hyptrace_event *event)
{
	const struct hyptrace_socket_hold *hold;

	hold = hyptrace_event_find_hold(remote, BIT_ULL(event->id));
	return hold ? hold->pid : 0;
}

/**
 * hyptrace_event_hold_forget - hold events no more, and leave them as they are
 * @hold:	control mutex of its remote held
 * @events:	bit per event id
 */
void hyptrace_event_hold_forget(struct hyptrace_socket_hold *hold, u64 events)
{
	unsigned int id;

	events &= hold->events;
	hold->events &= ~events;
	hold->enabled &= ~events;
	for (id = 0; id < HYPTRACE_MAX_EVENT_ID; id++) {
		if (!(events & BIT_ULL(id)))
			continue;
		kfree(hold->before[id].filter);
		hold->before[id] = (struct hyptrace_event_options){};
	}
}
