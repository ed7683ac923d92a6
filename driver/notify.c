// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notifications: the multicast group of the netlink family. Each is sent after
 * the change that it tells of, in the order of the changes: all but losses with
 * the control mutex of the remote held. Called by state.c, event.c, remote.c and
 * control.c.
 *
 * One that cannot be sent for want of memory is not: listeners see that by
 * ENOBUFS, as with all of netlink.
 */
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "internal.h"
#include "netlink_gen.h"

/* What a dump may tell has changed so often: see hyptrace_notify_changes(). */
static atomic_t changes = ATOMIC_INIT(1);

/**
 * hyptrace_notify_changes - count the changes that are notified, but for losses
 *
 * A dump that finds another number than at its beginning is not of one moment. A change
 * of a remote is counted before its control mutex is released.
 *
 * Return: the number.
 */
unsigned int hyptrace_notify_changes(void)
{
	return atomic_read(&changes);
}

/**
 * hyptrace_notify_wanted - whether anybody listens
 *
 * Return: true if so.
 */
bool hyptrace_notify_wanted(void)
{
	return genl_has_listeners(&hyptrace_nl_family, &init_net, HYPTRACE_NLGRP_NOTIFY);
}

static struct sk_buff *begin(u8 cmd, void **header)
{
	struct sk_buff *skb;

	if (!hyptrace_notify_wanted())
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

static struct sk_buff *begin_change(u8 cmd, void **header)
{
	atomic_inc(&changes);
	return begin(cmd, header);
}

static void end(struct sk_buff *skb, void *header, int err)
{
	if (err) {
		nlmsg_free(skb);
		genl_set_err(&hyptrace_nl_family, &init_net, 0, HYPTRACE_NLGRP_NOTIFY, -ENOBUFS);
		return;
	}
	genlmsg_end(skb, header);
	genlmsg_multicast(&hyptrace_nl_family, skb, 0, HYPTRACE_NLGRP_NOTIFY, GFP_KERNEL);
}

/**
 * hyptrace_notify_remote - a remote came or changed in state or settings
 * @remote:	control mutex held
 */
void hyptrace_notify_remote(const struct hyptrace_remote *remote)
{
	void *header;
	struct sk_buff *skb = begin_change(HYPTRACE_CMD_REMOTE_NTF, &header);

	if (skb)
		end(skb, header, hyptrace_fill_remote(skb, remote));
}

/**
 * hyptrace_notify_remote_gone - a remote is not there any more
 * @remote:	control mutex held
 */
void hyptrace_notify_remote_gone(const struct hyptrace_remote *remote)
{
	void *header;
	struct sk_buff *skb = begin_change(HYPTRACE_CMD_REMOTE_DEL_NTF, &header);

	if (skb)
		end(skb, header, nla_put_string(skb, HYPTRACE_A_REMOTE_NAME, remote->name));
}

/**
 * hyptrace_notify_event - an event was enabled or disabled
 * @remote:	control mutex held
 * @event:	which one
 */
void hyptrace_notify_event(const struct hyptrace_remote *remote,
			   const struct hyptrace_event *event)
{
	void *header;
	struct sk_buff *skb = begin_change(HYPTRACE_CMD_EVENT_NTF, &header);

	if (skb)
		end(skb, header,
		    nla_put_string(skb, HYPTRACE_A_EVENT_REMOTE, remote->name) ||
		    nla_put_u32(skb, HYPTRACE_A_EVENT_ID, event->id) ||
		    nla_put_string(skb, HYPTRACE_A_EVENT_NAME, event->name) ||
		    nla_put_u8(skb, HYPTRACE_A_EVENT_ENABLED,
			       !!(remote->enabled & BIT_ULL(event->id))));
}

/**
 * hyptrace_notify_reader - a consumer came or left
 * @remote:	control mutex held
 * @cpu:	of whose ring, or HYPTRACE_CPU_ALL: of all possible CPUs
 * @change:	what it did
 * @pid:	its process
 */
void hyptrace_notify_reader(const struct hyptrace_remote *remote, int cpu,
			    enum hyptrace_reader_change change, pid_t pid)
{
	void *header;
	struct sk_buff *skb = begin_change(HYPTRACE_CMD_READER_NTF, &header);

	if (skb)
		end(skb, header,
		    nla_put_string(skb, HYPTRACE_A_READER_REMOTE, remote->name) ||
		    (cpu != HYPTRACE_CPU_ALL &&
		     nla_put_u32(skb, HYPTRACE_A_READER_CPU, cpu)) ||
		    nla_put_u32(skb, HYPTRACE_A_READER_CHANGE, change) ||
		    nla_put_u32(skb, HYPTRACE_A_READER_PID, pid));
}

/**
 * hyptrace_notify_loss - events were lost
 * @remote:	no lock needed
 * @cpu:	which could not write them
 * @count:	how many since the last such notification
 * @total:	how many since the load or the last clear
 */
void hyptrace_notify_loss(const struct hyptrace_remote *remote, unsigned int cpu,
			  u64 count, u64 total)
{
	void *header;
	struct sk_buff *skb = begin(HYPTRACE_CMD_LOSS_NTF, &header);

	if (skb)
		end(skb, header,
		    nla_put_string(skb, HYPTRACE_A_LOSS_REMOTE, remote->name) ||
		    nla_put_u32(skb, HYPTRACE_A_LOSS_CPU, cpu) ||
		    nla_put_u64_64bit(skb, HYPTRACE_A_LOSS_COUNT, count,
				      HYPTRACE_A_LOSS_PAD) ||
		    nla_put_u64_64bit(skb, HYPTRACE_A_LOSS_TOTAL, total,
				      HYPTRACE_A_LOSS_PAD));
}
