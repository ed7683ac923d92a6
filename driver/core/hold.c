// SPDX-License-Identifier: GPL-2.0-only
/* A consumer keeps events enabled and tracing on while attached. Called by attach.c, device/. */
#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/printk.h>

#include "internal.h"

static bool has_events(const struct hyptrace_remote *remote, u64 events)
{
	unsigned int i;

	for (i = 0; i < remote->nr_events; i++)
		events &= ~BIT_ULL(remote->events[i]->id);
	return !events;
}

static bool wants_tracing(const struct hyptrace_remote *remote)
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

/* Stop first: then no ring records a part of the events, and disabling needs no writer. */
static int update(struct hyptrace_remote *remote)
{
	int err;

	if (!wants_tracing(remote)) {
		err = hyptrace_tracing_stop(remote, NULL);
		return update_events(remote) ?: err;
	}
	err = update_events(remote);
	return err ?: hyptrace_tracing_start(remote, NULL);
}

/*
 * In the trace of another user only what a request has switched on may be held, which changes
 * nothing of it: what others hold would stay on when they have ended, and without their filters.
 */
static bool may_hold(const struct hyptrace_remote *remote, const struct hyptrace_wants *held)
{
	if (!(held->events & ~remote->requested.events) &&
	    (!held->tracing || remote->requested.tracing))
		return true;
	return hyptrace_remote_is_own(remote) || capable(CAP_SYS_ADMIN);
}

static int replace(struct hyptrace_remote *remote, struct hyptrace_attachment *attachment,
		   const struct hyptrace_wants *held)
{
	const struct hyptrace_wants held_before = attachment->held;
	int err;

	if (!remote->desc)
		return -ENODEV;
	if (!has_events(remote, held->events))
		return -ENOENT;
	if (!may_hold(remote, held))
		return -EPERM;
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
 * @remote:	control mutex not held
 * @attachment:	of a consumer of it
 * @held:	what it holds from now on
 * Return: 0; -EINTR if the caller was killed, -ENODEV if the remote was unregistered, -ENOENT or
 * -EOPNOTSUPP if it or its writer lacks an event, -EPERM if that changes the trace of another user,
 * or a callback's error: then nothing changed.
 */
int hyptrace_remote_hold(struct hyptrace_remote *remote, struct hyptrace_attachment *attachment,
			 const struct hyptrace_wants *held)
{
	int err = hyptrace_remote_begin_change(remote);

	if (err)
		return err;
	err = replace(remote, attachment, held);
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
