// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink family of uapi/hyptrace.yaml: its registration, the check of the sender, and what all
 * requests share. Called by main.c and netlink/; the tables are in netlink_gen.c.
 */
#include <linux/capability.h>
#include <linux/notifier.h>
#include <linux/security.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "../compat.h"
#include "netlink.h"

static void watch_losses(struct work_struct *work)
{
	hyptrace_remotes_watch_losses();
}

static DECLARE_DELAYED_WORK(watch_work, watch_losses);

/*
 * Netlink adds the socket to the group only after this: look for listeners later. Kernels that do
 * not call it lead here by each request, as a listener sends one.
 */
static int bind(int group)
{
	hyptrace_remotes_forget_losses();
	queue_delayed_work(hyptrace_wq, &watch_work, msecs_to_jiffies(HYPTRACE_LOSS_PERIOD_MS));
	return 0;
}

static int notice_close(struct notifier_block *block, unsigned long event, void *data)
{
	const struct netlink_notify *closed = data;

	if (event == NETLINK_URELEASE && closed->protocol == NETLINK_GENERIC)
		hyptrace_socket_close(closed->net, closed->portid);
	return NOTIFY_DONE;
}

static struct notifier_block close_notifier = { .notifier_call = notice_close };

/**
 * hyptrace_nl_check_sender - check that the sender of a request may trace
 * @skb:	the request
 * @extack:	of the request
 * Return: 0 or -EPERM.
 */
int hyptrace_nl_check_sender(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (!netlink_capable(skb, CAP_PERFMON) && !netlink_capable(skb, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG(extack, "CAP_PERFMON or CAP_SYS_ADMIN is needed");
		return -EPERM;
	}
	if (security_locked_down(LOCKDOWN_TRACEFS)) {
		NL_SET_ERR_MSG(extack, "kernel lockdown (confidentiality) forbids tracing");
		return -EPERM;
	}
#ifndef HYPTRACE_HAS_GENL_BIND
	bind(HYPTRACE_NLGRP_NOTIFY);
#endif
	return 0;
}

/**
 * hyptrace_nl_is_missing - whether a request lacks a required attribute
 * @info:	the request
 * @attr:	type of the attribute
 * @name:	its name, for the message
 * Return: true if so: the caller must refuse the request with -EINVAL.
 */
bool hyptrace_nl_is_missing(struct genl_info *info, int attr, const char *name)
{
	if (!GENL_REQ_ATTR_CHECK(info, attr))
		return false;
	NL_SET_ERR_MSG_FMT(info->extack, "the attribute \"%s\" is missing", name);
	return true;
}

/**
 * hyptrace_nl_set_bad_attr - report the attribute of an error, unless core has done so
 * @info:	the request
 * @err:	0 or the errno of core
 * @attr:	type of the attribute. If the request lacks it, the remote's is reported.
 * Return: @err.
 */
int hyptrace_nl_set_bad_attr(struct genl_info *info, int err, int attr)
{
	if (err && !info->extack->bad_attr)
		NL_SET_BAD_ATTR(info->extack, info->attrs[attr] ?: info->attrs[A_REMOTE]);
	return err;
}

/**
 * hyptrace_nl_refuse_remote - refuse an unknown remote
 * @attr:	its name
 * @extack:	of the request
 * Return: -ENODEV.
 */
int hyptrace_nl_refuse_remote(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	char names[NETLINK_MAX_FMTMSG_LEN], message[NETLINK_MAX_FMTMSG_LEN];

	hyptrace_remote_names(names, sizeof(names));
	scnprintf(message, sizeof(message), "no such remote \"%s\"; registered: %s",
		  (const char *)nla_data(attr), names);
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "%s", message);
	return -ENODEV;
}

/**
 * hyptrace_nl_refuse_cpu - refuse a CPU that has no ring
 * @attr:	its number
 * @extack:	of the request
 * Return: -ENXIO.
 */
int hyptrace_nl_refuse_cpu(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
				"the remote has no ring for CPU %u",
				nla_get_u32(attr));
	return -ENXIO;
}

/**
 * hyptrace_nl_refuse_event - refuse an unknown event
 * @attr:	its name
 * @extack:	of the request
 * Return: -ENOENT.
 */
int hyptrace_nl_refuse_event(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "no such event \"%s\"",
				(const char *)nla_data(attr));
	return -ENOENT;
}

/**
 * hyptrace_nl_dump_remote - get the remote to which a dump is limited
 * @cb:		the dump
 * Return: the attribute with its name, or NULL for a dump of all remotes.
 */
struct nlattr *hyptrace_nl_dump_remote(struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);

	return info->attrs ? info->attrs[A_REMOTE] : NULL;
}

/* Hook of all dumps. */
int hyptrace_nl_dump_start(struct netlink_callback *cb)
{
	struct nlattr *name = hyptrace_nl_dump_remote(cb);
	struct hyptrace_remote *remote;
	int err;

	err = hyptrace_nl_check_sender(cb->skb, cb->extack);
	if (err)
		return err;
	/*
	 * The first part of a dump may have only a page. Clients have room for 16 KB: see
	 * netlink_dump(). Each event must fit, with its print format, and each name in it once more
	 * in a nest. All parts of a dump have this room: a longer event that comes later ends it.
	 */
	if (genl_info_dump(cb)->genlhdr->cmd == HYPTRACE_CMD_EVENT_GET)
		cb->min_dump_alloc = max_t(u32, SZ_16K, 3 * hyptrace_longest_print_fmt());
	/* For a dump without a policy, generic netlink has not checked the attributes. */
	if (!genl_info_dump(cb)->attrs && nlmsg_attrlen(cb->nlh, GENL_HDRLEN)) {
		NL_SET_ERR_MSG_ATTR(cb->extack, nlmsg_attrdata(cb->nlh, GENL_HDRLEN),
				    "a dump of all remotes takes no attributes");
		return -EINVAL;
	}
	if (!name)
		return 0;
	remote = hyptrace_remote_get(nla_data(name));
	if (!remote)
		return hyptrace_nl_refuse_remote(name, cb->extack);
	hyptrace_remote_put(remote);
	return 0;
}

/*
 * Generic netlink has no flag for CAP_PERFMON, so listeners need CAP_SYS_ADMIN. notify.c checks it
 * again, for the initial user namespace.
 */
static const struct genl_multicast_group groups[] = {
	[HYPTRACE_NLGRP_NOTIFY] = {
		.name	= HYPTRACE_MCGRP_NOTIFY,
		HYPTRACE_MCAST_CAP_SYS_ADMIN,
	},
};

#ifndef HYPTRACE_HAS_GENL_BIND
static struct genl_split_ops all_ops[2 * (HYPTRACE_CMD_MAX + 1)];

static int refuse_do(struct sk_buff *skb, struct genl_info *info)
{
	return -EOPNOTSUPP;
}

/*
 * Generic netlink of 6.6 takes a command that is only dumped for the dump of the command before it,
 * and refuses the family: each of them gets what answers a request as if it were missing.
 */
static void complete_ops(struct genl_family *family)
{
	const struct genl_split_ops *op = family->split_ops, *end = op + family->n_split_ops;
	struct genl_split_ops *to = all_ops;

	for (; op < end; op++) {
		if (op->flags & GENL_CMD_CAP_DUMP && (to == all_ops || to[-1].cmd != op->cmd))
			*to++ = (struct genl_split_ops){ .cmd = op->cmd, .doit = refuse_do,
				.flags = (op->flags & ~GENL_CMD_CAP_DUMP) | GENL_CMD_CAP_DO };
		*to++ = *op;
	}
	family->split_ops = all_ops;
	family->n_split_ops = to - all_ops;
}
#else
static void complete_ops(struct genl_family *family) { }
#endif

/**
 * hyptrace_netlink_register - register the netlink family
 *
 * Return: 0 or a negative errno.
 */
int __init hyptrace_netlink_register(void)
{
	int err;

	hyptrace_nl_family.mcgrps = groups;
	hyptrace_nl_family.n_mcgrps = ARRAY_SIZE(groups);
#ifdef HYPTRACE_HAS_GENL_BIND
	hyptrace_nl_family.bind = bind;
#endif
	err = netlink_register_notifier(&close_notifier);
	if (err)
		return err;
	complete_ops(&hyptrace_nl_family);
	err = genl_register_family(&hyptrace_nl_family);
	if (err)
		netlink_unregister_notifier(&close_notifier);
	else
		hyptrace_listener = &hyptrace_nl_listener;
	/* For modprobe, a module whose init fails with -EEXIST is loaded already. */
	return err == -EEXIST ? -EBUSY : err;
}

/**
 * hyptrace_netlink_unregister - undo hyptrace_netlink_register()
 */
void hyptrace_netlink_unregister(void)
{
	genl_unregister_family(&hyptrace_nl_family);
	/* No socket can join the group any more. */
	hyptrace_listener = NULL;
	hyptrace_describe_exit();
	netlink_unregister_notifier(&close_notifier);
	cancel_delayed_work_sync(&watch_work);
}
