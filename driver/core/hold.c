// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds: a consumer keeps events enabled and tracing on while it is attached. Called by
 * device/chardev.c, attach.c, event.c and state.c.
 *
 * An event is enabled if event-set of the netlink family has enabled it, or if an attachment
 * holds it. Tracing is on if start was sent, or if an attachment holds it. event-set and
 * stop override holds: no attachment holds any more what they have switched off.
 */
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/printk.h>

#include "internal.h"

static bool has_events(const struct hyptrace_remote *remote, u64 events)
{
	unsigned int i;

	for (i = 0; i < remote->nr_events; i++)
		events &= ~BIT_ULL(remote->events[i]->id);
	return !events;
}

static u64 wanted_events(const struct hyptrace_remote *remote)
{
	const struct hyptrace_attachment *attachment;
	u64 events = remote->requested.events;

	list_for_each_entry(attachment, &remote->attached, node)
		events |= attachment->held.events;
	return events;
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
	return hyptrace_events_replace(remote, wanted_events(remote), NULL);
}

static int update_tracing(struct hyptrace_remote *remote)
{
	return is_tracing_wanted(remote) ? hyptrace_tracing_start(remote, NULL) :
					   hyptrace_tracing_stop(remote, NULL);
}

static int replace_hold(struct hyptrace_remote *remote, struct hyptrace_attachment *attachment,
			const struct hyptrace_wants *held)
{
	const struct hyptrace_wants held_before = attachment->held;
	u64 enabled_before = remote->enabled;
	int err;

	attachment->held = *held;
	err = update_events(remote);
	if (err)
		goto err_held;
	err = update_tracing(remote);
	if (err)
		goto err_events;
	return 0;

err_events:
	hyptrace_events_replace(remote, enabled_before, NULL);
err_held:
	attachment->held = held_before;
	return err;
}

/**
 * hyptrace_remote_hold - replace the hold of an attachment
 * @attachment:	of a consumer; the control mutex of its remote is not held
 * @held:	what it holds from now on
 *
 * Return: 0; -ENODEV if the remote was unregistered, -ENOENT if it lacks one of the events,
 * or the error of a callback. After an error, nothing has changed.
 */
int hyptrace_remote_hold(struct hyptrace_attachment *attachment,
			 const struct hyptrace_wants *held)
{
	struct hyptrace_remote *remote = hyptrace_attachment_remote(attachment);

	guard(mutex)(&remote->control);
	if (!remote->desc)
		return -ENODEV;
	if (!has_events(remote, held->events))
		return -ENOENT;
	return replace_hold(remote, attachment, held);
}

/**
 * hyptrace_hold_release - switch off what nobody wants any more
 * @remote:	control mutex held; an attachment was removed from its list
 */
void hyptrace_hold_release(struct hyptrace_remote *remote)
{
	int err = update_events(remote);

	err = update_tracing(remote) ?: err;
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
