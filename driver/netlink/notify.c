// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends each announcement of core to the multicast group. A notification follows its change, in the
 * order of the changes of a remote: core holds its control mutex, except for losses. Without memory
 * for one, listeners get ENOBUFS, as usual with netlink.
 *
 * Generic netlink lets root of another user namespace join the group in a network namespace of its
 * own, and anybody join a number that no family has yet. So each notification is filtered: only a
 * socket that was opened with CAP_SYS_ADMIN in the initial user namespace is a listener.
 */
#include <linux/capability.h>
#include <linux/net.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "../compat.h"
#include "netlink.h"

/* See hyptrace_notify_changes(). Begins with 1: for netlink, 0 is no number. */
static atomic_t changes = ATOMIC_INIT(1);

/**
 * hyptrace_notify_changes - get the number of changes notified so far, without losses and counts
 *
 * A dump during which it changes is inconsistent. It grows before the control mutex is released.
 *
 * Return: the number.
 */
unsigned int hyptrace_notify_changes(void)
{
	return atomic_read(&changes);
}

/* Netlink calls this for each socket of the group. Return whether to skip it. */
static int skip_foreign(struct sock *sock, struct sk_buff *skb, void *found)
{
	const struct file *file = sock->sk_socket->file;
	bool is_listener = file && file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);

	if (!found)
		return !is_listener;
	*(bool *)found |= is_listener;
	return true;
}

static void send_filtered(struct sk_buff *skb, void *found)
{
	genlmsg_multicast_netns_filtered(&hyptrace_nl_family, &init_net, skb, 0,
					 HYPTRACE_NLGRP_NOTIFY, GFP_KERNEL, skip_foreign, found);
}

/* Foreign sockets do not count: so look at each, with a message that none of them gets. */
static bool has_listeners(void)
{
	struct sk_buff *skb;
	bool found = false;

	if (!genl_has_listeners(&hyptrace_nl_family, &init_net, HYPTRACE_NLGRP_NOTIFY))
		return false;
	skb = nlmsg_new(0, GFP_KERNEL);
	if (!skb)
		return true;
	send_filtered(skb, &found);
	return found;
}

static struct sk_buff *begin_message(u8 cmd, void **header)
{
	struct sk_buff *skb;

	if (!has_listeners())
		return NULL;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		goto err_lost;
	*header = genlmsg_put(skb, 0, 0, &hyptrace_nl_family, 0, cmd);
	if (!*header)
		goto err_free;
	return skb;

err_free:
	nlmsg_free(skb);
err_lost:
	genl_set_err(&hyptrace_nl_family, &init_net, 0, HYPTRACE_NLGRP_NOTIFY, -ENOBUFS);
	return NULL;
}

static struct sk_buff *begin_change_message(u8 cmd, void **header)
{
	atomic_inc(&changes);
	hyptrace_describe();
	return begin_message(cmd, header);
}

static void send_message(struct sk_buff *skb, void *header, int err)
{
	if (err) {
		nlmsg_free(skb);
		genl_set_err(&hyptrace_nl_family, &init_net, 0, HYPTRACE_NLGRP_NOTIFY, -ENOBUFS);
		return;
	}
	genlmsg_end(skb, header);
	send_filtered(skb, NULL);
}

static void notify_remote(const struct hyptrace_remote *remote)
{
	void *header;
	struct sk_buff *skb = begin_change_message(HYPTRACE_CMD_REMOTE_NTF, &header);

	if (skb)
		send_message(skb, header, hyptrace_fill_remote(skb, remote, NULL));
}

static void notify_remote_removed(const struct hyptrace_remote *remote)
{
	void *header;
	struct sk_buff *skb = begin_change_message(HYPTRACE_CMD_REMOTE_DEL_NTF, &header);

	if (skb)
		send_message(skb, header,
			     nla_put_string(skb, HYPTRACE_A_REMOTE_NAME, remote->name));
}

static void notify_event(const struct hyptrace_remote *remote,
			 const struct hyptrace_event *event)
{
	void *header;
	struct sk_buff *skb = begin_change_message(HYPTRACE_CMD_EVENT_NTF, &header);

	if (skb)
		send_message(skb, header, hyptrace_fill_event_state(skb, remote, event));
}

static void notify_trigger(const struct hyptrace_remote *remote, enum hyptrace_trigger trigger)
{
	const bool is_count = trigger == HYPTRACE_TRIGGER_NOTIFY;
	struct sk_buff *skb;
	void *header;

	/* No answer has the count: it changes often, and makes no dump inconsistent. */
	skb = is_count ? begin_message(HYPTRACE_CMD_TRIGGER_NTF, &header) :
			 begin_change_message(HYPTRACE_CMD_TRIGGER_NTF, &header);
	if (skb)
		send_message(skb, header,
			     nla_put_string(skb, HYPTRACE_A_REMOTE_NAME, remote->name) ||
			     (is_count ? nla_put_u64_64bit(skb, HYPTRACE_A_REMOTE_NOTIFIED,
						   remote->notified,
						   HYPTRACE_A_REMOTE_PAD) :
					 nla_put_u8(skb, HYPTRACE_A_REMOTE_ENDED, remote->ended) ||
					 hyptrace_fill_fired(skb, remote, trigger)));
}

static void notify_reader(const struct hyptrace_remote *remote, int cpu,
			  enum hyptrace_reader_change change, pid_t pid)
{
	void *header;
	struct sk_buff *skb = begin_change_message(HYPTRACE_CMD_READER_NTF, &header);

	if (skb)
		send_message(skb, header,
			     nla_put_string(skb, HYPTRACE_A_READER_REMOTE, remote->name) ||
			     (cpu != HYPTRACE_CPU_ALL &&
			      nla_put_u32(skb, HYPTRACE_A_READER_CPU, cpu)) ||
			     nla_put_u32(skb, HYPTRACE_A_READER_CHANGE, change) ||
			     nla_put_u32(skb, HYPTRACE_A_READER_PID, pid));
}

static void notify_loss(const struct hyptrace_remote *remote, unsigned int cpu,
			u64 count, u64 total)
{
	void *header;
	struct sk_buff *skb = begin_message(HYPTRACE_CMD_LOSS_NTF, &header);

	if (skb)
		send_message(skb, header,
			     nla_put_string(skb, HYPTRACE_A_LOSS_REMOTE, remote->name) ||
			     nla_put_u32(skb, HYPTRACE_A_LOSS_CPU, cpu) ||
			     nla_put_u64_64bit(skb, HYPTRACE_A_LOSS_COUNT, count,
					       HYPTRACE_A_LOSS_PAD) ||
			     nla_put_u64_64bit(skb, HYPTRACE_A_LOSS_TOTAL, total,
					       HYPTRACE_A_LOSS_PAD));
}

/* netlink.c makes it the listener of core while the family is registered. */
const struct hyptrace_listener hyptrace_nl_listener = {
	.remote_changed		= notify_remote,
	.remote_removed		= notify_remote_removed,
	.event_changed		= notify_event,
	.trigger_fired		= notify_trigger,
	.consumer_changed	= notify_reader,
	.wants_losses		= has_listeners,
	.lost			= notify_loss,
};
