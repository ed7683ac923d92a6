// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control plane: requests of the netlink family that uapi/hyptrace.yaml
 * specifies. Called by main.c; the tables are in netlink_gen.c.
 *
 * A request finds its remote in pre_doit, with the control mutex held until
 * post_doit. Each function checks everything before it changes anything.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <net/genetlink.h>

#include "internal.h"
#include "netlink_gen.h"

/* Room for one event with many names of values */
#define REPLY_SIZE_MAX		SZ_64K

/* A request to write many events can be interrupted after so many. */
#define MARK_BATCH		4096

/* pre_doit finds the remote by the same attribute in all attribute sets. */
#define A_REMOTE		((int)HYPTRACE_A_CONTROL_REMOTE)
static_assert((int)HYPTRACE_A_REMOTE_NAME == A_REMOTE);
static_assert((int)HYPTRACE_A_CPU_REMOTE == A_REMOTE);
static_assert((int)HYPTRACE_A_EVENT_REMOTE == A_REMOTE);

static int check_sender(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (!netlink_capable(skb, CAP_PERFMON) && !netlink_capable(skb, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG(extack, "CAP_PERFMON or CAP_SYS_ADMIN is needed");
		return -EPERM;
	}
	if (security_locked_down(LOCKDOWN_TRACEFS)) {
		NL_SET_ERR_MSG(extack, "kernel lockdown forbids tracing");
		return -EPERM;
	}
	return 0;
}

static bool is_missing(struct genl_info *info, int attr, const char *name)
{
	if (!GENL_REQ_ATTR_CHECK(info, attr))
		return false;
	NL_SET_ERR_MSG_FMT(info->extack, "the attribute \"%s\" is missing", name);
	return true;
}

/* A message of the core's gets the attribute that it is about. */
static int blame(struct genl_info *info, int err, int attr)
{
	if (err)
		NL_SET_BAD_ATTR(info->extack, info->attrs[attr] ?: info->attrs[A_REMOTE]);
	return err;
}

static int no_such_remote(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	char names[NETLINK_MAX_FMTMSG_LEN], message[NETLINK_MAX_FMTMSG_LEN];

	hyptrace_remote_names(names, sizeof(names));
	scnprintf(message, sizeof(message), "no such remote \"%s\"; registered: %s",
		  (const char *)nla_data(attr), names);
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "%s", message);
	return -ENODEV;
}

static int no_such_cpu(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "CPU %u does not exist", nla_get_u32(attr));
	return -ENXIO;
}

static int no_such_event(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "no such event \"%s\"",
				(const char *)nla_data(attr));
	return -ENOENT;
}

/* Hook of all requests but dumps. */
int hyptrace_nl_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			 struct genl_info *info)
{
	struct hyptrace_remote *remote;
	int err;

	err = check_sender(skb, info->extack);
	if (err)
		return err;
	if (is_missing(info, A_REMOTE,
		       ops->cmd == HYPTRACE_CMD_REMOTE_GET ? "name" : "remote"))
		return -EINVAL;
	remote = hyptrace_remote_get(nla_data(info->attrs[A_REMOTE]));
	if (!remote)
		return no_such_remote(info->attrs[A_REMOTE], info->extack);

	mutex_lock(&remote->control);
	if (!remote->desc) {
		mutex_unlock(&remote->control);
		hyptrace_remote_put(remote);
		return no_such_remote(info->attrs[A_REMOTE], info->extack);
	}
	info->user_ptr[0] = remote;
	return 0;
}

/* Hook of all requests but dumps. */
void hyptrace_nl_post_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			   struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];

	mutex_unlock(&remote->control);
	hyptrace_remote_put(remote);
}

/* An item of a remote: the remote itself, a CPU, an event. 0 or -EMSGSIZE. */
typedef int (*fill_fn)(struct sk_buff *skb, const struct hyptrace_remote *remote,
		       unsigned int index);

static int fill_remote(struct sk_buff *skb, const struct hyptrace_remote *remote,
		       unsigned int index)
{
	return hyptrace_fill_remote(skb, remote);
}

static int fill_event(struct sk_buff *skb, const struct hyptrace_remote *remote,
		      unsigned int index)
{
	return hyptrace_fill_event(skb, remote, remote->events[index]);
}

static int put_item(struct sk_buff *skb, const struct genl_info *info, fill_fn fill,
		    const struct hyptrace_remote *remote, unsigned int index)
{
	void *header = genlmsg_iput(skb, info);

	if (!header)
		return -EMSGSIZE;
	if (fill(skb, remote, index)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

static int reply(struct genl_info *info, fill_fn fill, unsigned int index)
{
	size_t size = GENLMSG_DEFAULT_SIZE;
	struct sk_buff *skb;
	int err;

	do {
		skb = genlmsg_new(size, GFP_KERNEL);
		if (!skb)
			return -ENOMEM;
		err = put_item(skb, info, fill, info->user_ptr[0], index);
		if (!err)
			return genlmsg_reply(skb, info);
		nlmsg_free(skb);
		size *= 2;
	} while (size <= REPLY_SIZE_MAX);
	NL_SET_ERR_MSG(info->extack, "the answer is too long");
	return err;
}

int hyptrace_nl_remote_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply(info, fill_remote, 0);
}

int hyptrace_nl_cpu_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_CPU_ID];

	if (is_missing(info, HYPTRACE_A_CPU_ID, "id"))
		return -EINVAL;
	if (!hyptrace_remote_reader(remote, nla_get_u32(attr)))
		return no_such_cpu(attr, info->extack);
	return reply(info, hyptrace_fill_cpu, nla_get_u32(attr));
}

int hyptrace_nl_event_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_EVENT_NAME];
	unsigned int i;

	if (is_missing(info, HYPTRACE_A_EVENT_NAME, "name"))
		return -EINVAL;
	for (i = 0; i < remote->nr_events; i++) {
		if (!strcmp(remote->events[i]->name, nla_data(attr)))
			return reply(info, fill_event, i);
	}
	return no_such_event(attr, info->extack);
}

/*
 * Where a dump goes on: remotes may come and go meanwhile, so by a serial, and
 * items of a remote never do.
 */
struct dump_at {
	unsigned long	serial;
	unsigned int	index;
};

static_assert(sizeof(struct dump_at) <= sizeof_field(struct netlink_callback, ctx));

static struct dump_at *dump_at(struct netlink_callback *cb)
{
	return (struct dump_at *)cb->ctx;
}

static struct nlattr *dump_remote_attr(struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);

	return info->attrs ? info->attrs[A_REMOTE] : NULL;
}

/* Hook of all dumps. */
int hyptrace_nl_dump_start(struct netlink_callback *cb)
{
	struct nlattr *name = dump_remote_attr(cb);
	struct hyptrace_remote *remote;
	int err;

	err = check_sender(cb->skb, cb->extack);
	if (err)
		return err;
	/* without a policy nobody has looked at attributes so far */
	if (!genl_info_dump(cb)->attrs && nlmsg_attrlen(cb->nlh, GENL_HDRLEN)) {
		NL_SET_ERR_MSG_ATTR(cb->extack, nlmsg_attrdata(cb->nlh, GENL_HDRLEN),
				    "a dump of this kind takes no attributes");
		return -EINVAL;
	}
	if (!name)
		return 0;
	remote = hyptrace_remote_get(nla_data(name));
	if (!remote)
		return no_such_remote(name, cb->extack);
	hyptrace_remote_put(remote);
	return 0;
}

static unsigned int one(const struct hyptrace_remote *remote)
{
	return 1;
}

static unsigned int nr_cpus(const struct hyptrace_remote *remote)
{
	return nr_cpu_ids;
}

static unsigned int nr_events(const struct hyptrace_remote *remote)
{
	return remote->nr_events;
}

static int fill_possible_cpu(struct sk_buff *skb, const struct hyptrace_remote *remote,
			     unsigned int cpu)
{
	return cpu_possible(cpu) ? hyptrace_fill_cpu(skb, remote, cpu) : 0;
}

static int dump_items(struct sk_buff *skb, struct netlink_callback *cb,
		      const struct hyptrace_remote *remote, unsigned int nr, fill_fn fill)
{
	struct dump_at *at = dump_at(cb);

	for (; at->index < nr; at->index++) {
		if (fill == fill_possible_cpu && !cpu_possible(at->index))
			continue;
		if (put_item(skb, genl_info_dump(cb), fill, remote, at->index))
			return -EMSGSIZE;
	}
	return 0;
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb,
		unsigned int (*nr)(const struct hyptrace_remote *remote), fill_fn fill)
{
	struct nlattr *name = dump_remote_attr(cb);
	struct dump_at *at = dump_at(cb);
	struct hyptrace_remote *remote;
	int err;

	guard(mutex)(&hyptrace_remotes_lock);
	while ((remote = hyptrace_remote_from(at->serial))) {
		if (remote->serial != at->serial) {
			at->serial = remote->serial;
			at->index = 0;
		}
		if (!name || !nla_strcmp(name, remote->name)) {
			guard(mutex)(&remote->control);
			err = dump_items(skb, cb, remote, nr(remote), fill);
			if (err)
				return err;
		}
		at->serial = remote->serial + 1;
		at->index = 0;
	}
	return 0;
}

int hyptrace_nl_remote_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, one, fill_remote);
}

int hyptrace_nl_cpu_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, nr_cpus, fill_possible_cpu);
}

int hyptrace_nl_event_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, nr_events, fill_event);
}

int hyptrace_nl_event_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	const struct hyptrace_event *event;
	unsigned int nr = 0;
	struct nlattr *attr;
	u64 mask = 0;
	int rem, err;

	if (is_missing(info, HYPTRACE_A_EVENT_NAMES, "names") ||
	    is_missing(info, HYPTRACE_A_EVENT_ENABLED, "enabled"))
		return -EINVAL;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != HYPTRACE_A_EVENT_NAMES)
			continue;
		if (++nr > HYPTRACE_EVENT_LIST_MAX) {
			NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr, "more than %u names",
						HYPTRACE_EVENT_LIST_MAX);
			return -E2BIG;
		}
		event = hyptrace_event_find(remote, nla_data(attr));
		if (!event)
			return no_such_event(attr, info->extack);
		mask |= BIT_ULL(event->id);
	}
	err = hyptrace_events_set(remote, mask,
				  nla_get_u8(info->attrs[HYPTRACE_A_EVENT_ENABLED]),
				  info->extack);
	return blame(info, err, HYPTRACE_A_EVENT_NAMES);
}

/* What the request says, or else the setting. */
static u64 asked_size(const struct genl_info *info, const struct hyptrace_remote *remote)
{
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_SIZE];

	return attr ? nla_get_u64(attr) : remote->size_asked;
}

static enum hyptrace_mode asked_mode(const struct genl_info *info,
				     const struct hyptrace_remote *remote)
{
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_MODE];

	return attr ? nla_get_u32(attr) : remote->mode;
}

int hyptrace_nl_load_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	int err = hyptrace_remote_load(remote, asked_size(info, remote),
				       asked_mode(info, remote), info->extack);

	return blame(info, err, err == -EBUSY || err == -EIO ? A_REMOTE :
						       HYPTRACE_A_CONTROL_SIZE);
}

int hyptrace_nl_unload_doit(struct sk_buff *skb, struct genl_info *info)
{
	return blame(info, hyptrace_remote_unload(info->user_ptr[0], info->extack), A_REMOTE);
}

int hyptrace_nl_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	return blame(info, hyptrace_remote_start(info->user_ptr[0], info->extack), A_REMOTE);
}

int hyptrace_nl_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return blame(info, hyptrace_remote_stop(info->user_ptr[0], info->extack), A_REMOTE);
}

int hyptrace_nl_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	return blame(info, hyptrace_remote_reset(info->user_ptr[0], info->extack), A_REMOTE);
}

int hyptrace_nl_clear_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_CPU];

	if (attr && !hyptrace_remote_reader(remote, nla_get_u32(attr)))
		return no_such_cpu(attr, info->extack);
	return blame(info,
		     hyptrace_remote_clear(remote, attr ? nla_get_u32(attr) : HYPTRACE_CPU_ALL,
					   info->extack),
		     HYPTRACE_A_CONTROL_CPU);
}

static int check_settings(struct genl_info *info, const struct hyptrace_remote *remote)
{
	struct nlattr *size = info->attrs[HYPTRACE_A_CONTROL_SIZE];
	struct nlattr *mode = info->attrs[HYPTRACE_A_CONTROL_MODE];
	struct nlattr *rate = info->attrs[HYPTRACE_A_CONTROL_RATE];

	if (!size && !mode && !rate) {
		NL_SET_ERR_MSG(info->extack, "nothing to set: size, mode or rate");
		return -EINVAL;
	}
	if ((size || mode) && remote->state != HYPTRACE_STATE_UNLOADED) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, size ?: mode,
					"the %s cannot be changed while the rings are loaded",
					size ? "size" : "mode");
		return -EBUSY;
	}
	if (rate && !remote->desc->ops->set_rate) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, rate, "remote \"%s\" has no rate",
					remote->name);
		return -EOPNOTSUPP;
	}
	if (!size)
		return 0;
	return blame(info, hyptrace_remote_check_size(nla_get_u64(size), info->extack),
		     HYPTRACE_A_CONTROL_SIZE);
}

int hyptrace_nl_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_RATE];
	int err;

	err = check_settings(info, remote);
	if (err)
		return err;
	if (attr) {
		err = remote->desc->ops->set_rate(nla_get_u32(attr), remote->desc->priv);
		if (err) {
			NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
						"the remote refuses the rate (error %d)", -err);
			return err;
		}
		remote->rate = nla_get_u32(attr);
	}
	remote->size_asked = asked_size(info, remote);
	remote->mode = asked_mode(info, remote);
	hyptrace_notify_remote(remote);
	return 0;
}

/* Whether a selftest event would be written, and where. */
static int check_mark(struct genl_info *info, const struct hyptrace_remote *remote,
		      unsigned int cpu)
{
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_CPU];
	const struct hyptrace_event *event = hyptrace_event_find(remote, "selftest");

	if (is_missing(info, HYPTRACE_A_CONTROL_VALUE, "value"))
		return -EINVAL;
	if (attr && !hyptrace_remote_reader(remote, cpu))
		return no_such_cpu(attr, info->extack);
	if (attr && !cpu_online(cpu)) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr, "CPU %u is off", cpu);
		return -ENXIO;
	}
	if (!event || !remote->desc->ops->write_selftest) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[A_REMOTE],
					"remote \"%s\" has no selftest event", remote->name);
		return -EOPNOTSUPP;
	}
	if (remote->state != HYPTRACE_STATE_TRACING) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_REMOTE], "tracing is off");
		return -ENODATA;
	}
	if (!(remote->enabled & BIT_ULL(event->id))) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_REMOTE],
				    "the event \"selftest\" is not enabled");
		return -ENODATA;
	}
	return 0;
}

int hyptrace_nl_mark_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_CPU];
	unsigned int cpu = attr ? nla_get_u32(attr) : raw_smp_processor_id();
	u32 count = 1, batch;
	u64 value;
	int err;

	err = check_mark(info, remote, cpu);
	if (err)
		return err;
	value = nla_get_u64(info->attrs[HYPTRACE_A_CONTROL_VALUE]);
	if (info->attrs[HYPTRACE_A_CONTROL_COUNT])
		count = nla_get_u32(info->attrs[HYPTRACE_A_CONTROL_COUNT]);

	for (; count; count -= batch, value += batch) {
		batch = min_t(u32, count, MARK_BATCH);
		err = remote->desc->ops->write_selftest(cpu, value, batch, remote->desc->priv);
		if (err) {
			NL_SET_ERR_MSG_FMT(info->extack, "writing failed (error %d)", -err);
			return blame(info, err, HYPTRACE_A_CONTROL_CPU);
		}
		if (count > batch && signal_pending(current)) {
			NL_SET_ERR_MSG_FMT(info->extack, "interrupted: %u events not written",
					   count - batch);
			return -EINTR;
		}
		cond_resched();
	}
	return 0;
}

static void listen(struct work_struct *work)
{
	hyptrace_remotes_listen();
}

static DECLARE_DELAYED_WORK(listen_work, listen);

/* The socket is not in the group yet, hence the delay. */
static int bind(int group)
{
	queue_delayed_work(hyptrace_wq, &listen_work, msecs_to_jiffies(HYPTRACE_LOSS_PERIOD_MS));
	return 0;
}

/* Generic netlink has no flag for CAP_PERFMON. */
static const struct genl_multicast_group groups[] = {
	[HYPTRACE_NLGRP_NOTIFY] = {
		.name	= HYPTRACE_MCGRP_NOTIFY,
		.flags	= GENL_MCAST_CAP_SYS_ADMIN,
	},
};

/**
 * hyptrace_netlink_register - register the netlink family
 *
 * Return: 0 or a negative errno.
 */
int __init hyptrace_netlink_register(void)
{
	hyptrace_nl_family.mcgrps = groups;
	hyptrace_nl_family.n_mcgrps = ARRAY_SIZE(groups);
	hyptrace_nl_family.bind = bind;
	return genl_register_family(&hyptrace_nl_family);
}

/**
 * hyptrace_netlink_unregister - undo hyptrace_netlink_register()
 */
void hyptrace_netlink_unregister(void)
{
	genl_unregister_family(&hyptrace_nl_family);
	cancel_delayed_work_sync(&listen_work);
}
