// SPDX-License-Identifier: GPL-2.0-only
/*
 * Announcing what happens to remotes to the rooms of the driver that listen: see struct
 * hyptrace_listener. Called by the other files of core; main.c makes the rooms listen.
 */
#include <linux/bug.h>

#include "internal.h"

/* device/ and netlink/. Changes only while no remote is registered. */
static const struct hyptrace_listener *listeners[2];

/**
 * hyptrace_listener_add - announce to one more room
 * @listener:	of the room, until hyptrace_listener_remove()
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
 * @listener:	of the room
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
 * hyptrace_announce_remote - a remote was registered or has changed
 * @remote:	control mutex held
 */
void hyptrace_announce_remote(const struct hyptrace_remote *remote)
{
	announce(remote_changed, remote);
}

/**
 * hyptrace_announce_remote_gone - a remote is being unregistered
 * @remote:	control mutex held
 */
void hyptrace_announce_remote_gone(const struct hyptrace_remote *remote)
{
	announce(remote_gone, remote);
}

/**
 * hyptrace_announce_event - an event was enabled or disabled
 * @remote:	control mutex held
 * @event:	which one
 */
void hyptrace_announce_event(const struct hyptrace_remote *remote,
			     const struct hyptrace_event *event)
{
	announce(event_changed, remote, event);
}

/**
 * hyptrace_announce_consumer - a process began or ceased to consume
 * @remote:	control mutex held
 * @cpu:	whose ring, or HYPTRACE_CPU_ALL
 * @change:	which of the two
 * @pid:	the process
 */
void hyptrace_announce_consumer(const struct hyptrace_remote *remote, int cpu,
				enum hyptrace_reader_change change, pid_t pid)
{
	announce(consumer_changed, remote, cpu, change, pid);
}

/**
 * hyptrace_losses_wanted - whether it is of use to announce losses
 *
 * Return: true if so.
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
 * hyptrace_announce_loss - events were lost
 * @remote:	no lock needed
 * @cpu:	where
 * @count:	how many since this was announced last
 * @total:	how many since the load or the last clear
 */
void hyptrace_announce_loss(const struct hyptrace_remote *remote, unsigned int cpu,
			    u64 count, u64 total)
{
	announce(lost, remote, cpu, count, total);
}

/**
 * hyptrace_announce_look - who waits for events has to look again
 * @remote:	control mutex held
 */
void hyptrace_announce_look(const struct hyptrace_remote *remote)
{
	struct hyptrace_attachment *attachment;

	list_for_each_entry(attachment, &remote->attached, node)
		announce(look_again, attachment);
}
