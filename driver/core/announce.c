// SPDX-License-Identifier: GPL-2.0-only
/*
 * The listeners to changes: see struct hyptrace_listener. The other files of core announce these by
 * hyptrace_announce(). device/chardev.c and netlink/notify.c add the listeners.
 */
#include <linux/bug.h>

#include "internal.h"

const struct hyptrace_listener *hyptrace_listeners[HYPTRACE_MAX_LISTENERS];

/**
 * hyptrace_listener_add - add a listener
 * @listener:	must remain valid until hyptrace_listener_remove()
 *
 * Context: no remote is registered.
 */
void hyptrace_listener_add(const struct hyptrace_listener *listener)
{
	unsigned int i;

	for (i = 0; i < HYPTRACE_MAX_LISTENERS; i++) {
		if (!hyptrace_listeners[i]) {
			hyptrace_listeners[i] = listener;
			return;
		}
	}
	WARN_ON(1);
}

/**
 * hyptrace_listener_remove - undo hyptrace_listener_add()
 * @listener:	the listener
 *
 * Context: no remote is registered.
 */
void hyptrace_listener_remove(const struct hyptrace_listener *listener)
{
	unsigned int i;

	for (i = 0; i < HYPTRACE_MAX_LISTENERS; i++) {
		if (hyptrace_listeners[i] == listener)
			hyptrace_listeners[i] = NULL;
	}
}

/**
 * hyptrace_losses_wanted - whether any listener currently needs losses
 *
 * Return: true if one does.
 */
bool hyptrace_losses_wanted(void)
{
	const struct hyptrace_listener *listener;
	unsigned int i;

	for (i = 0; i < HYPTRACE_MAX_LISTENERS; i++) {
		listener = hyptrace_listeners[i];
		if (listener && listener->wants_losses && listener->wants_losses())
			return true;
	}
	return false;
}

/**
 * hyptrace_wake_waiters - wake the waiters of all attachments, so that they look again
 * @remote:	control mutex held
 */
void hyptrace_wake_waiters(const struct hyptrace_remote *remote)
{
	struct hyptrace_attachment *attachment;

	list_for_each_entry(attachment, &remote->attached, node)
		hyptrace_announce(wake_waiters, attachment);
}
