// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink requests that change a remote. Called through netlink_gen.c, with its control mutex held.
 * Each function checks everything before it changes anything.
 */
#include <linux/cpumask.h>
#include <linux/smp.h>
#include <net/genetlink.h>

#include "netlink.h"

/**
 * hyptrace_nl_read_names - find the events that a request names and enables, disables or counts
 * @info:	the request
 * @remote:	of the events
 * @events:	out: bit per event id
 * Return: 0, or a negative errno and the request must be refused.
 */
int hyptrace_nl_read_names(struct genl_info *info, const struct hyptrace_remote *remote,
			   u64 *events)
{
	const struct hyptrace_event *event;
	unsigned int nr = 0;
	struct nlattr *attr;
	int rem;

	if (hyptrace_nl_is_missing(info, HYPTRACE_A_EVENT_NAMES, "names") ||
	    hyptrace_nl_is_missing(info, HYPTRACE_A_EVENT_ENABLED, "enabled"))
		return -EINVAL;
	*events = 0;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != HYPTRACE_A_EVENT_NAMES)
			continue;
		if (++nr > HYPTRACE_EVENT_LIST_MAX) {
			NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
						"more than %u names: send several requests",
						HYPTRACE_EVENT_LIST_MAX);
			return -E2BIG;
		}
		/* The policy of this repeated attribute checks the length, but not the NUL. */
		if (strnlen(nla_data(attr), nla_len(attr)) == nla_len(attr)) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "the name has no terminating NUL");
			return -EINVAL;
		}
		event = hyptrace_event_find(remote, nla_data(attr));
		if (!event)
			return hyptrace_nl_refuse_event(attr, info->extack);
		*events |= BIT_ULL(event->id);
	}
	return 0;
}

static int read_trigger(const struct genl_info *info, struct hyptrace_event_request *request)
{
	struct nlattr *trigger = info->attrs[HYPTRACE_A_EVENT_TRIGGER];
	struct nlattr *after = info->attrs[HYPTRACE_A_EVENT_AFTER];

	if (trigger)
		request->trigger = nla_get_u32(trigger);
	if (request->trigger && !request->enable) {
		NL_SET_ERR_MSG_ATTR(info->extack, trigger, "a disabled event has no trigger");
		return -EINVAL;
	}
	if (after)
		request->after = nla_get_u32(after);
	if (request->after && request->trigger != HYPTRACE_TRIGGER_STOP) {
		NL_SET_ERR_MSG_ATTR(info->extack, after,
				    "only the trigger stop takes a number of sub-buffers");
		return -EINVAL;
	}
	return 0;
}

int hyptrace_nl_event_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[HYPTRACE_A_EVENT_FILTER];
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct hyptrace_event_request request = {};
	struct hyptrace_filter_request filter;
	int err;

	err = hyptrace_nl_read_names(info, remote, &request.events);
	if (err)
		return err;
	request.enable = nla_get_u8(info->attrs[HYPTRACE_A_EVENT_ENABLED]);
	if (attr) {
		if (!request.enable) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "a disabled event has no filter");
			return -EINVAL;
		}
		err = hyptrace_nl_read_filter(attr, &filter, info->extack);
		if (err)
			return err;
		request.filter = &filter;
	}
	err = read_trigger(info, &request);
	if (err)
		return err;
	if (info->attrs[HYPTRACE_A_EVENT_HOLD])
		err = hyptrace_events_hold(remote, &NETLINK_CB(skb), &request, info->extack);
	else
		err = hyptrace_events_set(remote, &request, info->extack);
	return hyptrace_nl_set_bad_attr(info, err, HYPTRACE_A_EVENT_NAMES);
}

int hyptrace_nl_event_release_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = hyptrace_events_release(info->user_ptr[0], &NETLINK_CB(skb), info->extack);

	return hyptrace_nl_set_bad_attr(info, err, A_REMOTE);
}

static u64 requested_size(const struct genl_info *info, const struct hyptrace_remote *remote)
{
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_SIZE];

	return attr ? nla_get_u64(attr) : remote->size_requested;
}

static enum hyptrace_mode requested_mode(const struct genl_info *info,
					 const struct hyptrace_remote *remote)
{
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_MODE];

	return attr ? nla_get_u32(attr) : remote->mode;
}

int hyptrace_nl_load_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	int err = hyptrace_remote_load(remote, requested_size(info, remote),
				       requested_mode(info, remote), info->extack);

	return hyptrace_nl_set_bad_attr(info, err, err == -EBUSY || err == -EIO ? A_REMOTE :
					err == -EOPNOTSUPP ? HYPTRACE_A_CONTROL_MODE :
					HYPTRACE_A_CONTROL_SIZE);
}

/* A request that has no attributes but the remote */
#define DEFINE_DOIT(action)								\
int hyptrace_nl_##action##_doit(struct sk_buff *skb, struct genl_info *info)		\
{											\
	int err = hyptrace_remote_##action(info->user_ptr[0], info->extack);		\
											\
	return hyptrace_nl_set_bad_attr(info, err, A_REMOTE);				\
}

DEFINE_DOIT(unload)
DEFINE_DOIT(start)
DEFINE_DOIT(stop)
DEFINE_DOIT(reset)

int hyptrace_nl_clear_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_CPU];
	int err;

	if (attr && !hyptrace_remote_reader(remote, nla_get_u32(attr)))
		return hyptrace_nl_refuse_cpu(attr, info->extack);
	err = hyptrace_remote_clear(remote, attr ? nla_get_u32(attr) : HYPTRACE_CPU_ALL,
				    info->extack);
	return hyptrace_nl_set_bad_attr(info, err, HYPTRACE_A_CONTROL_CPU);
}

static int check_settings(struct genl_info *info, const struct hyptrace_remote *remote)
{
	struct nlattr *size = info->attrs[HYPTRACE_A_CONTROL_SIZE];
	struct nlattr *mode = info->attrs[HYPTRACE_A_CONTROL_MODE];
	struct nlattr *rate = info->attrs[HYPTRACE_A_CONTROL_RATE];
	int err;

	if (!size && !mode && !rate) {
		NL_SET_ERR_MSG(info->extack, "nothing to set: give a size, a mode or a rate");
		return -EINVAL;
	}
	if (mode && remote->state != HYPTRACE_STATE_UNLOADED) {
		NL_SET_ERR_MSG_ATTR(info->extack, mode,
				    "the mode cannot be changed while the rings are loaded: unload them first");
		return -EBUSY;
	}
	err = mode ? hyptrace_remote_check_mode(remote, nla_get_u32(mode), info->extack) : 0;
	if (err)
		return hyptrace_nl_set_bad_attr(info, err, HYPTRACE_A_CONTROL_MODE);
	if (rate && !remote->desc->ops->set_rate) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, rate, "remote \"%s\" has no rate",
					remote->name);
		return -EOPNOTSUPP;
	}
	if (!size)
		return 0;
	err = hyptrace_remote_check_size(remote, nla_get_u64(size), info->extack);
	return hyptrace_nl_set_bad_attr(info, err, HYPTRACE_A_CONTROL_SIZE);
}

int hyptrace_nl_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *rate = info->attrs[HYPTRACE_A_CONTROL_RATE];
	u32 rate_before = remote->rate;
	int err;

	err = check_settings(info, remote);
	if (err)
		return err;
	if (rate) {
		err = hyptrace_remote_set_rate(remote, nla_get_u32(rate), info->extack);
		if (err)
			return hyptrace_nl_set_bad_attr(info, err, HYPTRACE_A_CONTROL_RATE);
	}
	err = hyptrace_remote_resize(remote, requested_size(info, remote), info->extack);
	if (err) {
		if (rate)
			hyptrace_remote_set_rate(remote, rate_before, NULL);
		return hyptrace_nl_set_bad_attr(info, err, HYPTRACE_A_CONTROL_SIZE);
	}
	hyptrace_remote_set_mode(remote, requested_mode(info, remote));
	return 0;
}

/* Check that a selftest event can be written on @cpu. */
static int check_mark(struct genl_info *info, const struct hyptrace_remote *remote,
		      unsigned int cpu)
{
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_CPU];
	const struct hyptrace_event *event = hyptrace_event_find(remote, "selftest");

	if (hyptrace_nl_is_missing(info, HYPTRACE_A_CONTROL_VALUE, "value"))
		return -EINVAL;
	if (attr && !hyptrace_remote_reader(remote, cpu))
		return hyptrace_nl_refuse_cpu(attr, info->extack);
	if (attr && !cpu_online(cpu)) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
					"CPU %u is offline: it cannot record events",
					cpu);
		return -ENXIO;
	}
	if (!event || !remote->desc->ops->write_selftest) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[A_REMOTE],
					"remote \"%s\" cannot write selftest events", remote->name);
		return -EOPNOTSUPP;
	}
	if (remote->state != HYPTRACE_STATE_TRACING) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_REMOTE],
				    "tracing is off: start it first");
		return -ENODATA;
	}
	if (!(remote->enabled & BIT_ULL(event->id))) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_REMOTE],
				    "the event \"selftest\" is not enabled: enable it first");
		return -ENODATA;
	}
	return 0;
}

/* No control mutex: requests can write on several CPUs at once, and no others wait for them. */
static int write_marks(struct genl_info *info, const struct hyptrace_remote_desc *desc,
		       unsigned int cpu, u64 value, u32 count)
{
	int err = desc->ops->write_selftest(cpu, value, count, desc->priv);

	if (err == -ENODATA) {
		NL_SET_ERR_MSG_FMT(info->extack,
				   "CPU %u does not record \"selftest\": a trigger may have stopped recording",
				   cpu);
		return -ENODATA;
	}
	/* The CPU is coming online, and EL2 does not answer there yet. */
	if (err == -ENODEV) {
		NL_SET_ERR_MSG_FMT(info->extack,
				   "CPU %u does not record \"selftest\" at this moment", cpu);
		return -ENODATA;
	}
	if (err == -EINTR) {
		NL_SET_ERR_MSG(info->extack, "a signal came before all events were written");
		return -EINTR;
	}
	if (err)
		NL_SET_ERR_MSG_FMT(info->extack, "the remote failed to write on CPU %u (error %d)",
				   cpu, -err);
	return hyptrace_nl_set_bad_attr(info, err, HYPTRACE_A_CONTROL_CPU);
}

int hyptrace_nl_mark_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_CPU];
	unsigned int cpu = attr ? nla_get_u32(attr) : raw_smp_processor_id();
	const struct hyptrace_remote_desc *desc = remote->desc;
	u32 count = 1;
	u64 value;
	int err;

	err = check_mark(info, remote, cpu);
	if (err)
		return err;
	value = nla_get_u64(info->attrs[HYPTRACE_A_CONTROL_VALUE]);
	if (info->attrs[HYPTRACE_A_CONTROL_COUNT])
		count = nla_get_u32(info->attrs[HYPTRACE_A_CONTROL_COUNT]);

	down_read(&remote->marking);
	mutex_unlock(&remote->control);
	err = write_marks(info, desc, cpu, value, count);
	up_read(&remote->marking);
	mutex_lock(&remote->control);
	return err;
}
