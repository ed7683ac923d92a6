// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds of counting: a remote counts events while the socket that has asked for it is open. Called
 * by netlink/, count.c and remote.c.
 *
 * An event is counted if count-set has switched it on, or if a socket holds it. If count-set
 * switches it off, no socket holds it any more.
 *
 * Netlink releases the port of a socket shortly before it notifies the driver of the end. If
 * another socket binds to the same port and holds events meanwhile, it loses them.
 */
#include <linux/printk.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * struct count_hold - what a socket holds of a remote
 * @node:	in the list of all holds
 * @remote:	the remote; it outlives the hold
 * @net:	the network namespace of the socket, for comparisons only
 * @port:	its port there
 * @closed:	the socket was closed
 * @events:	bit per id of an event, protected by the remote's control mutex. A request may have
 *		switched off all of them
 */
struct count_hold {
	struct list_head	node;
	struct hyptrace_remote	*remote;
	const struct net	*net;
	u32			port;
	bool			closed;
	u64			events;
};

/* Protects the list and @closed. */
static DEFINE_MUTEX(holds_lock);
static LIST_HEAD(holds);

static struct count_hold *find_hold(const struct hyptrace_remote *remote, const struct net *net,
				    u32 port)
{
	struct count_hold *hold;

	guard(mutex)(&holds_lock);
	list_for_each_entry(hold, &holds, node) {
		if (hold->remote == remote && hold->net == net && hold->port == port &&
		    !hold->closed)
			return hold;
	}
	return NULL;
}

static struct count_hold *add_hold(struct hyptrace_remote *remote, const struct net *net, u32 port)
{
	struct count_hold *hold = kzalloc(sizeof(*hold), GFP_KERNEL_ACCOUNT);

	if (!hold)
		return NULL;
	hold->remote = remote;
	hold->net = net;
	hold->port = port;
	guard(mutex)(&holds_lock);
	list_add(&hold->node, &holds);
	return hold;
}

static void remove_hold(struct count_hold *hold)
{
	scoped_guard(mutex, &holds_lock)
		list_del(&hold->node);
	kfree(hold);
}

/**
 * hyptrace_count_held - get the events that any socket holds
 * @remote:	control mutex held
 *
 * Return: a bit per event id.
 */
u64 hyptrace_count_held(const struct hyptrace_remote *remote)
{
	struct count_hold *hold;
	u64 events = 0;

	guard(mutex)(&holds_lock);
	list_for_each_entry(hold, &holds, node) {
		if (hold->remote == remote)
			events |= hold->events;
	}
	return events;
}

/**
 * hyptrace_count_has_holds - whether a socket may still need the counters
 * @remote:	control mutex held
 *
 * Return: true if a socket has held events, and neither released them nor was closed. A request
 * may have switched them off.
 */
bool hyptrace_count_has_holds(const struct hyptrace_remote *remote)
{
	struct count_hold *hold;

	guard(mutex)(&holds_lock);
	list_for_each_entry(hold, &holds, node) {
		if (hold->remote == remote)
			return true;
	}
	return false;
}

/**
 * hyptrace_count_override_holds - let no socket hold these events any more
 * @remote:	control mutex held
 * @off:	bit per id of an event that a request has switched off
 */
void hyptrace_count_override_holds(const struct hyptrace_remote *remote, u64 off)
{
	struct count_hold *hold;

	guard(mutex)(&holds_lock);
	list_for_each_entry(hold, &holds, node) {
		if (hold->remote == remote)
			hold->events &= ~off;
	}
}

/**
 * hyptrace_count_remove_holds - remove all holds of a remote
 * @remote:	no longer registered
 */
void hyptrace_count_remove_holds(struct hyptrace_remote *remote)
{
	struct count_hold *hold, *next;

	scoped_guard(mutex, &holds_lock) {
		list_for_each_entry_safe(hold, next, &holds, node) {
			if (hold->remote != remote)
				continue;
			list_del(&hold->node);
			kfree(hold);
		}
	}
	cancel_work_sync(&remote->count_work);
}

/**
 * hyptrace_counters_hold - have a socket hold events, or release them
 * @remote:	control mutex held
 * @net:	the network namespace of the socket
 * @port:	its port there. When it is closed, call hyptrace_counters_close().
 * @mask:	bit per event id
 * @on:		true to hold these, too; false to release them
 * @extack:	out: the reason if it fails; may be NULL
 *
 * The last release frees the counters, unless count-set has requested some.
 *
 * Return: 0; -EOPNOTSUPP if @remote cannot count one of the events, -ENOMEM, or the error of
 * the remote's callback. After an error nothing has changed.
 */
int hyptrace_counters_hold(struct hyptrace_remote *remote, const struct net *net, u32 port,
			   u64 mask, bool on, struct netlink_ext_ack *extack)
{
	int err = hyptrace_count_check(remote, mask, extack);
	struct count_hold *hold;
	bool is_new;
	u64 before;

	if (err)
		return err;
	hold = find_hold(remote, net, port);
	is_new = !hold;
	if (!hold && !on)
		return 0;
	if (!hold)
		hold = add_hold(remote, net, port);
	if (!hold) {
		NL_SET_ERR_MSG(extack, "not enough free memory to hold the events");
		return -ENOMEM;
	}
	before = hold->events;
	hold->events = on ? before | mask : before & ~mask;
	err = hyptrace_count_update(remote, extack);
	if (err) {
		hold->events = before;
		if (is_new)
			remove_hold(hold);
		return err;
	}
	if (!hold->events)
		remove_hold(hold);
	hyptrace_count_free_unused(remote);
	return 0;
}

static struct count_hold *find_closed(const struct hyptrace_remote *remote)
{
	struct count_hold *hold;

	guard(mutex)(&holds_lock);
	list_for_each_entry(hold, &holds, node) {
		if (hold->remote == remote && hold->closed)
			return hold;
	}
	return NULL;
}

/* End the holds of sockets that were closed. */
static void count_work(struct work_struct *work)
{
	struct hyptrace_remote *remote = container_of(work, struct hyptrace_remote, count_work);
	struct count_hold *hold;
	int err;

	guard(mutex)(&remote->control);
	if (!remote->desc)
		return;
	while ((hold = find_closed(remote)))
		remove_hold(hold);
	err = hyptrace_count_update(remote, NULL);
	if (err)
		pr_err("hyptrace: remote \"%s\" failed to switch off what was counted (error %d): use \"hyptrace count --off all\"\n",
		       remote->name, -err);
	hyptrace_count_free_unused(remote);
}

/**
 * hyptrace_counters_close - a socket was closed: end its holds soon
 * @net:	its network namespace
 * @port:	its port there
 *
 * Context: may sleep; does not wait for a request, which may take long.
 */
void hyptrace_counters_close(const struct net *net, u32 port)
{
	struct count_hold *hold;

	guard(mutex)(&holds_lock);
	list_for_each_entry(hold, &holds, node) {
		if (hold->net != net || hold->port != port)
			continue;
		hold->closed = true;
		queue_work(hyptrace_wq, &hold->remote->count_work);
	}
}

/**
 * hyptrace_count_init - prepare a new remote for holds
 * @remote:	not registered yet
 */
void hyptrace_count_init(struct hyptrace_remote *remote)
{
	INIT_WORK(&remote->count_work, count_work);
}
