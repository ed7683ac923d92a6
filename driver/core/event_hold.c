// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds of the states of events: while a socket holds an event, the event is enabled or disabled as
 * the socket has requested, with its filter and trigger. At the end, the event gets back the state
 * that it had before. Called by netlink/, hold.c, event_set.c and socket.c.
 *
 * Only one socket can hold an event. A request without hold overrides it: no socket holds the
 * event any more, and it keeps the state that was requested.
 */
#include <linux/bits.h>
#include <linux/slab.h>

#include "internal.h"

static const struct hyptrace_socket_hold *find_holder(const struct hyptrace_remote *remote,
						      u64 events)
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
 *
 * Return: the process, 0 if no socket holds the event.
 */
pid_t hyptrace_event_holder(const struct hyptrace_remote *remote,
			    const struct hyptrace_event *event)
{
	const struct hyptrace_socket_hold *hold = find_holder(remote, BIT_ULL(event->id));

	return hold ? hold->pid : 0;
}

/**
 * hyptrace_event_holds_apply - apply the holds of sockets to a set of events
 * @remote:	control mutex held
 * @enabled:	bit per id of an event that is to be enabled without them
 *
 * Return: bit per id of an event that is to be enabled.
 */
u64 hyptrace_event_holds_apply(const struct hyptrace_remote *remote, u64 enabled)
{
	const struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote)
		enabled = (enabled & ~hold->events) | hold->enabled;
	return enabled;
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

/**
 * hyptrace_event_holds_override - let no socket hold these events any more
 * @remote:	control mutex held
 * @events:	bit per id of an event whose state a request has set
 */
void hyptrace_event_holds_override(struct hyptrace_remote *remote, u64 events)
{
	struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote)
		hyptrace_event_hold_forget(hold, events);
}

/* Refuse events that another socket holds. */
static int check_holders(const struct hyptrace_remote *remote, u64 events,
			 struct netlink_ext_ack *extack)
{
	const struct hyptrace_socket_hold *hold = find_holder(remote, events);
	unsigned int i;

	for (i = 0; hold && i < remote->nr_events; i++) {
		if (!(hold->events & events & BIT_ULL(remote->events[i]->id)))
			continue;
		NL_SET_ERR_MSG_FMT(extack, "process %d (%s) holds \"%.20s\": end it first",
				   hold->pid, hold->comm, remote->events[i]->name);
		return -EBUSY;
	}
	return 0;
}

/* Hold what a request has changed. @options has the options of before. */
static void keep(struct hyptrace_socket_hold *hold, const struct hyptrace_event_request *request,
		 struct hyptrace_event_options *options)
{
	u64 added = request->events & ~hold->events;
	unsigned int id;

	for (id = 0; id < HYPTRACE_MAX_EVENT_ID; id++) {
		if (added & BIT_ULL(id))
			swap(hold->before[id], options[id]);
	}
	hold->events |= request->events;
	hold->enabled &= ~request->events;
	if (request->enable)
		hold->enabled |= request->events;
}

/**
 * hyptrace_events_hold - set the state of events until a socket is closed or releases them
 * @remote:	both mutexes held
 * @socket:	open. It may hold some of the events already
 * @request:	which events, and how
 * @extack:	names the event that failed; may be NULL
 *
 * Return: as hyptrace_events_set(), or -EBUSY if another socket holds one of the events. After an
 * error, no event has changed.
 */
int hyptrace_events_hold(struct hyptrace_remote *remote, struct hyptrace_socket *socket,
			 const struct hyptrace_event_request *request,
			 struct netlink_ext_ack *extack)
{
	struct hyptrace_event_options *options;
	struct hyptrace_socket_hold *hold;
	int err;

	/* The process that has held an event may have just been killed. */
	hyptrace_sockets_end_closed(remote);
	hold = hyptrace_socket_get_hold(remote, socket, extack);
	if (!hold)
		return -ENOMEM;
	err = check_holders(remote, request->events & ~hold->events, extack);
	if (err)
		goto out_put;
	options = kcalloc(HYPTRACE_MAX_EVENT_ID, sizeof(*options), GFP_KERNEL);
	if (!options) {
		err = -ENOMEM;
		goto out_put;
	}
	err = hyptrace_events_change(remote, request, options, extack);
	if (!err)
		keep(hold, request, options);
	hyptrace_events_free_options(options);
	kfree(options);
out_put:
	hyptrace_socket_put_hold(hold);
	return err;
}

/**
 * hyptrace_event_hold_end - give all events back the state that they had before a hold
 * @remote:	both mutexes held
 * @hold:	of the remote; on success it holds no event any more
 * @extack:	names the event that failed; may be NULL
 *
 * Return: 0, or the error of the remote's callback: then nothing has changed.
 */
int hyptrace_event_hold_end(struct hyptrace_remote *remote, struct hyptrace_socket_hold *hold,
			    struct netlink_ext_ack *extack)
{
	const u64 events = hold->events, enabled = hold->enabled;
	int err;

	if (!events)
		return 0;
	hold->events = 0;
	hold->enabled = 0;
	err = hyptrace_events_exchange(remote, events, hyptrace_wanted_events(remote),
				       hold->before, true, extack);
	hold->events = events;
	hold->enabled = enabled;
	if (!err)
		hyptrace_event_hold_forget(hold, events);
	return err;
}

/**
 * hyptrace_events_release - release all events that a socket holds
 * @remote:	both mutexes held
 * @socket:	open
 * @extack:	names the event that failed; may be NULL
 *
 * Return: as hyptrace_event_hold_end().
 */
int hyptrace_events_release(struct hyptrace_remote *remote, struct hyptrace_socket *socket,
			    struct netlink_ext_ack *extack)
{
	struct hyptrace_socket_hold *hold = hyptrace_socket_find_hold(remote, socket);
	int err;

	if (!hold)
		return 0;
	err = hyptrace_event_hold_end(remote, hold, extack);
	hyptrace_socket_put_hold(hold);
	return err;
}
