// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds: a consumer keeps events enabled and tracing on while it is attached. Called by
 * device/chardev.c, attach.c, event.c and state.c.
 *
 * An event is enabled if event-set of the netlink family has enabled it, or if an attachment
 * holds it, unless a socket holds another state of it (event_hold.c). Tracing is on if start was
 * sent, or if an attachment holds it. event-set and stop override holds: no attachment holds any
 * more what they have switched off.
 */
#include <linux/bits.h>
#include <linux/printk.h>

#include "internal.h"

static bool has_events(const struct hyptrace_remote *remote, u64 events)
{
	unsigned int i;

	for (i = 0; i < remote->nr_events; i++)
		events &= ~BIT_ULL(remote->events[i]->id);
	return !events;
}

/**
 * hyptrace_wanted_events - get the events that somebody wants enabled
 * @remote:	control mutex held
 *
 * Return: bit per event id.
 */
u64 hyptrace_wanted_events(const struct hyptrace_remote *remote)
{
	const struct hyptrace_attachment *attachment;
	u64 events = remote->requested.events;

	list_for_each_entry(attachment, &remote->attached, node)
		events |= attachment->held.events;
	return hyptrace_event_holds_apply(remote, events);
}

static bool is_tracing_wanted(const struct hyptrace_remote *remote)
{
	const struct hyptrace_attachment *attachment;
	bool tracing = remote->requested.tracing;

	list_for_each_entry(attachment, &remote->attached, node)
		tracing |= attachment->held.tracing;
	return tracing;
}

static int update_events(struct hyptrace_remote *remote)
{
	return hyptrace_events_replace(remote, hyptrace_wanted_events(remote), NULL);
}

/*
 * Enable the events that are wanted, and start or stop tracing. Stop first: no ring then
 * records a part of the events, and disabling them needs nothing of the writer.
 */
static int update(struct hyptrace_remote *remote)
{
	int err;

	if (!is_tracing_wanted(remote)) {
		err = hyptrace_tracing_stop(remote, NULL);
		return update_events(remote) ?: err;
	}
	err = update_events(remote);
	return err ?: hyptrace_tracing_start(remote, NULL);
}

static int replace_hold(struct hyptrace_remote *remote, struct hyptrace_attachment *attachment,
			const struct hyptrace_wants *held)
{
	const struct hyptrace_wants held_before = attachment->held;
	int err;

	if (!remote->desc)
		return -ENODEV;
	if (!has_events(remote, held->events))
		return -ENOENT;
	attachment->held = *held;
	err = update(remote);
	if (!err)
		return 0;
	attachment->held = held_before;
	if (update(remote))
		pr_err("hyptrace: remote \"%s\" failed to undo a hold\n", remote->name);
	return err;
}

/**
 * hyptrace_remote_hold - replace the hold of an attachment
 * @attachment:	of a consumer; the control mutex of its remote is not held
 * @held:	what it holds from now on
 *
 * Return: 0; -EINTR if the caller was killed, -ENODEV if the remote was unregistered,
 * -ENOENT if it lacks one of the events, or the error of a callback. After an error, nothing
 * has changed.
 */
int hyptrace_remote_hold(struct hyptrace_attachment *attachment,
			 const struct hyptrace_wants *held)
{
	struct hyptrace_remote *remote = hyptrace_attachment_remote(attachment);
	int err;

	err = hyptrace_remote_begin_change(remote);
	if (err)
		return err;
	err = replace_hold(remote, attachment, held);
	hyptrace_remote_end_change(remote);
	return err;
}

/**
 * hyptrace_hold_release - switch off what nobody wants any more
 * @remote:	control mutex held; an attachment was removed from its list
 */
void hyptrace_hold_release(struct hyptrace_remote *remote)
{
	int err = update(remote);

	if (err)
		pr_err("hyptrace: remote \"%s\" failed to switch off what a consumer held (error %d): use \"hyptrace disable\" and \"hyptrace stop\"\n",
		       remote->name, -err);
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
