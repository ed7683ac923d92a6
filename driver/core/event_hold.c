// SPDX-License-Identifier: GPL-2.0-only
/*
 * While a socket holds an event, the event is enabled or disabled as the socket has requested, with
 * its filter and trigger. Then it gets back the state of before. This also ends the holds of a
 * closed socket, of events and of counting. Called by netlink/ and register.c.
 *
 * Only one socket can hold an event. A request without hold overrides that.
 */
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "internal.h"

static int check_holders(const struct hyptrace_remote *remote, u64 events,
			 struct netlink_ext_ack *extack)
{
	const struct hyptrace_socket_hold *hold = hyptrace_event_find_hold(remote, events);
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

/* On success it holds no event any more, after an error of the callback nothing has changed. */
static int end_hold(struct hyptrace_remote *remote, struct hyptrace_socket_hold *hold,
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

static void end_closed(struct hyptrace_remote *remote)
{
	struct hyptrace_socket_hold *hold, *next;
	int err;

	list_for_each_entry_safe(hold, next, &remote->holds, of_remote) {
		if (READ_ONCE(hold->sk))
			continue;
		err = end_hold(remote, hold, NULL);
		if (err)
			pr_err("hyptrace: remote \"%s\" failed to restore events that process %d (%s) held (error %d): use \"hyptrace disable\"\n",
			       remote->name, hold->pid, hold->comm, -err);
		hyptrace_socket_remove_hold(hold);
	}
	err = hyptrace_count_update(remote, NULL);
	if (err) {
		hyptrace_count_end_pmu(remote);
		pr_err("hyptrace: remote \"%s\" failed to switch off what was counted (error %d): use \"hyptrace count --off all\"\n",
		       remote->name, -err);
	}
	hyptrace_count_free_unused(remote);
}

/* Work of a remote */
void hyptrace_holds_work(struct work_struct *work)
{
	struct hyptrace_remote *remote = container_of(work, struct hyptrace_remote, holds_work);

	guard(mutex)(&remote->change);
	guard(mutex)(&remote->control);
	if (remote->desc)
		end_closed(remote);
}

/**
 * hyptrace_events_hold - set the state of events until a socket is closed or releases them
 * @remote:	both mutexes held
 * @sender:	of the request. It may hold some of the events already
 * @request:	which events, and how
 * @extack:	names the event that failed; may be NULL
 * Return: as hyptrace_events_set(), or -EBUSY if another socket holds one of the events.
 */
int hyptrace_events_hold(struct hyptrace_remote *remote, const struct netlink_skb_parms *sender,
			 const struct hyptrace_event_request *request,
			 struct netlink_ext_ack *extack)
{
	struct hyptrace_event_options *options;
	struct hyptrace_socket_hold *hold;
	int err;

	/* The process that has held an event may have just been killed. */
	end_closed(remote);
	hold = hyptrace_socket_get_hold(remote, sender, extack);
	if (!hold)
		return -ENOMEM;
	err = check_holders(remote, request->events & ~hold->events, extack);
	if (err)
		goto out_put;
	options = hyptrace_events_alloc_options(extack);
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
 * hyptrace_events_release - release all events that a socket holds
 * @remote:	both mutexes held
 * @sender:	of the request
 * @extack:	names the event that failed; may be NULL
 * Return: 0, or the error of the remote's callback: then nothing has changed.
 */
int hyptrace_events_release(struct hyptrace_remote *remote, const struct netlink_skb_parms *sender,
			    struct netlink_ext_ack *extack)
{
	struct hyptrace_socket_hold *hold = hyptrace_socket_find_hold(remote, sender);
	int err;

	if (!hold)
		return 0;
	err = end_hold(remote, hold, extack);
	hyptrace_socket_put_hold(hold);
	return err;
}
