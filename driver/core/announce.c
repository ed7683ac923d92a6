// SPDX-License-Identifier: GPL-2.0-only
/*
 * Announcements of changes to the listeners: see struct hyptrace_listener. Called by the
 * other files of core. device/chardev.c and netlink/notify.c add the listeners.
 */
#include <linux/bug.h>

#include "internal.h"

/* One of device/, one of netlink/. Changes only while no remote is registered. */
static const struct hyptrace_listener *listeners[2];

/**
 * hyptrace_listener_add - add a listener
 * @listener:	must remain valid until hyptrace_listener_remove()
 *
 * Context: no remote is registered.
 */
void hyptrace_listener_add(const struct hyptrace_listener *listener)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(listeners); i++) {
		if (!listeners[i]) {
			listeners[i] = listener;
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

	for (i = 0; i < ARRAY_SIZE(listeners); i++) {
		if (listeners[i] == listener)
			listeners[i] = NULL;
	}
}

#define announce(what, ...)						\
	do {								\
		unsigned int _i;					\
									\
		for (_i = 0; _i < ARRAY_SIZE(listeners); _i++) {	\
			if (listeners[_i] && listeners[_i]->what)	\
				listeners[_i]->what(__VA_ARGS__);	\
		}							\
	} while (0)

/**
 * hyptrace_announce_remote - announce that a remote was registered or has changed
 * @remote:	control mutex held
 */
void hyptrace_announce_remote(const struct hyptrace_remote *remote)
{
	announce(remote_changed, remote);
}

/**
 * hyptrace_announce_remote_removed - announce that a remote is being unregistered
 * @remote:	control mutex held
 */
void hyptrace_announce_remote_removed(const struct hyptrace_remote *remote)
{
	announce(remote_removed, remote);
}

/**
 * hyptrace_announce_event - announce that an event or its options have changed
 * @remote:	control mutex held
 * @event:	the event
 */
void hyptrace_announce_event(const struct hyptrace_remote *remote,
			     const struct hyptrace_event *event)
{
	announce(event_changed, remote, event);
}

/**
 * hyptrace_announce_trigger - announce that an event has fired a trigger
 * @remote:	control mutex held
 * @trigger:	which one
 */
void hyptrace_announce_trigger(const struct hyptrace_remote *remote,
			       enum hyptrace_trigger trigger)
{
	announce(trigger_fired, remote, trigger);
}

/**
 * hyptrace_announce_consumer - announce that a process started or stopped consuming
 * @remote:	control mutex held
 * @cpu:	the CPU of the ring, or HYPTRACE_CPU_ALL
 * @change:	started or stopped
 * @pid:	the process
 */
void hyptrace_announce_consumer(const struct hyptrace_remote *remote, int cpu,
				enum hyptrace_reader_change change, pid_t pid)
{
	announce(consumer_changed, remote, cpu, change, pid);
}

/**
 * hyptrace_losses_wanted - whether any listener currently needs losses
 *
 * Return: true if one does.
 */
bool hyptrace_losses_wanted(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(listeners); i++) {
		if (listeners[i] && listeners[i]->wants_losses && listeners[i]->wants_losses())
			return true;
	}
	return false;
}

/**
 * hyptrace_announce_loss - announce that events were lost
 * @remote:	no lock needed
 * @cpu:	the CPU of the ring
 * @count:	events lost since the last announcement
 * @total:	events lost since the load or the last clear
 */
void hyptrace_announce_loss(const struct hyptrace_remote *remote, unsigned int cpu,
			    u64 count, u64 total)
{
	announce(lost, remote, cpu, count, total);
}

/**
 * hyptrace_wake_waiters - wake the waiters of all attachments, so that they look again
 * @remote:	control mutex held
 */
void hyptrace_wake_waiters(const struct hyptrace_remote *remote)
{
	struct hyptrace_attachment *attachment;

	list_for_each_entry(attachment, &remote->attached, node)
		announce(wake_waiters, attachment);
}
