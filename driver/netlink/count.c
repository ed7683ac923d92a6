// SPDX-License-Identifier: GPL-2.0-only
/* Netlink requests for counted events. Called through the tables of netlink_gen.c. */
#include <linux/cpumask.h>
#include <net/genetlink.h>

#include "../compat.h"
#include "netlink.h"

static_assert(HYPTRACE_PMU_COUNTER_MAX == HYPTRACE_PMU_COUNTERS);

static int read_pmu(struct genl_info *info, struct hyptrace_pmu_request *request)
{
	struct nlattr *last = info->attrs[HYPTRACE_A_EVENT_PMU], *attr;
	int left;

	if (!last)
		return 0;
	if (!info->attrs[HYPTRACE_A_EVENT_HOLD] ||
	    !nla_get_u8(info->attrs[HYPTRACE_A_EVENT_ENABLED])) {
		NL_SET_ERR_MSG_ATTR(info->extack, last,
				    "the PMU can only be held with events that are counted");
		return -EINVAL;
	}
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, left) {
		if (nla_type(attr) != HYPTRACE_A_EVENT_PMU)
			continue;
		if (request->nr == ARRAY_SIZE(request->events)) {
			NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
						"at most %u counters of the PMU",
						HYPTRACE_PMU_COUNTER_MAX);
			return -E2BIG;
		}
		request->events[request->nr++] = nla_get_u32(attr);
	}
	return 0;
}

int hyptrace_nl_count_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct hyptrace_pmu_request pmu = { };
	u64 events;
	bool on;
	int err;

	err = hyptrace_nl_read_names(info, remote, &events) ?: read_pmu(info, &pmu);
	if (err)
		return err;
	on = nla_get_u8(info->attrs[HYPTRACE_A_EVENT_ENABLED]);
	if (info->attrs[HYPTRACE_A_EVENT_HOLD])
		err = hyptrace_counters_hold(remote, &NETLINK_CB(skb), events, on, &pmu,
					     info->extack);
	else
		err = hyptrace_counters_set(remote, events, on, info->extack);
	return hyptrace_nl_set_bad_attr(info, err, HYPTRACE_A_EVENT_NAMES);
}

int hyptrace_nl_count_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_CONTROL_CPU];
	int err;

	if (attr && !hyptrace_remote_reader(remote, nla_get_u32(attr)))
		return hyptrace_nl_refuse_cpu(attr, info->extack);
	err = hyptrace_counters_reset(remote, attr ? nla_get_u32(attr) : HYPTRACE_CPU_ALL,
				      info->extack);
	return hyptrace_nl_set_bad_attr(info, err, HYPTRACE_A_CONTROL_CPU);
}

/* The counter with which the next part of a dump begins */
struct dump_at {
	unsigned int	cpu;
	unsigned int	number;
};

static_assert(sizeof(struct dump_at) <= sizeof_field(struct netlink_callback, ctx));

static struct nlattr *requested_cpu(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs[HYPTRACE_A_COUNTER_CPU];
}

static int check_count_get(struct netlink_callback *cb, const struct hyptrace_remote *remote)
{
	struct nlattr *cpu = requested_cpu(cb);

	if (!remote->desc || !remote->desc->counting) {
		NL_SET_ERR_MSG_ATTR_FMT(cb->extack, hyptrace_nl_dump_remote(cb),
					"remote \"%s\" cannot count events", remote->name);
		return -EOPNOTSUPP;
	}
	if (cpu && !hyptrace_remote_reader(remote, nla_get_u32(cpu)))
		return hyptrace_nl_refuse_cpu(cpu, cb->extack);
	return 0;
}

static int fill_times(struct sk_buff *skb, const struct hyptrace_remote *remote,
		      const struct hyptrace_event_counter *counter)
{
	const struct hyptrace_remote_desc *desc = remote->desc;

	if (nla_put_u64_64bit(skb, HYPTRACE_A_COUNTER_TOTAL, counter->total,
			      HYPTRACE_A_COUNTER_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_COUNTER_LONGEST, counter->longest,
			      HYPTRACE_A_COUNTER_PAD) ||
	    nla_put_64bit(skb, HYPTRACE_A_COUNTER_BUCKETS, sizeof(counter->buckets),
			  counter->buckets, HYPTRACE_A_COUNTER_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_COUNTER_FREQUENCY,
			      desc->counting->frequency(desc->priv), HYPTRACE_A_COUNTER_PAD))
		return -EMSGSIZE;
	return 0;
}

static int fill_pmu(struct sk_buff *skb, const struct hyptrace_event_counter *counter)
{
	if (nla_put_u64_64bit(skb, HYPTRACE_A_COUNTER_MEASURED, counter->measured,
			      HYPTRACE_A_COUNTER_PAD) ||
	    nla_put_64bit(skb, HYPTRACE_A_COUNTER_PMU, sizeof(counter->pmu), counter->pmu,
			  HYPTRACE_A_COUNTER_PAD))
		return -EMSGSIZE;
	return 0;
}

static int fill_outside(struct sk_buff *skb, const struct hyptrace_event_counter *counter)
{
	if (nla_put_u64_64bit(skb, HYPTRACE_A_COUNTER_TOTAL, counter->total,
			      HYPTRACE_A_COUNTER_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_COUNTER_NOW, counter->now, HYPTRACE_A_COUNTER_PAD))
		return -EMSGSIZE;
	return 0;
}

static int fill_counter(struct sk_buff *skb, const struct hyptrace_remote *remote,
			const struct dump_at *at, const struct hyptrace_event_counter *counter)
{
	struct hyptrace_counter_name name;

	hyptrace_count_name(remote, at->number, &name);
	if (nla_put_string(skb, HYPTRACE_A_COUNTER_REMOTE, remote->name) ||
	    nla_put_u32(skb, HYPTRACE_A_COUNTER_CPU, at->cpu) ||
	    nla_put_string(skb, HYPTRACE_A_COUNTER_EVENT, name.event->name) ||
	    nla_put_string(skb, HYPTRACE_A_COUNTER_FIELD, name.keys->field))
		return -EMSGSIZE;
	if (!name.is_others && nla_put_u64_64bit(skb, HYPTRACE_A_COUNTER_VALUE, name.value,
						 HYPTRACE_A_COUNTER_PAD))
		return -EMSGSIZE;
	if (name.keys->is_outside)
		return fill_outside(skb, counter);
	if (nla_put_u64_64bit(skb, HYPTRACE_A_COUNTER_COUNT, counter->count,
			      HYPTRACE_A_COUNTER_PAD))
		return -EMSGSIZE;
	if (counter->measured && fill_pmu(skb, counter))
		return -EMSGSIZE;
	return name.keys->has_time ? fill_times(skb, remote, counter) : 0;
}

/* Put a counter unless it is 0. */
static int dump_counter(struct sk_buff *skb, struct netlink_callback *cb,
			const struct hyptrace_remote *remote, const struct dump_at *at)
{
	struct hyptrace_event_counter counter;
	void *header;
	int err;

	err = remote->desc->counting->read(at->cpu, at->number, &counter, remote->desc->priv);
	if (err)
		NL_SET_ERR_MSG_FMT(cb->extack, "the remote does not finish a change on CPU %u",
				   at->cpu);
	if (err || (!counter.count && !counter.now))
		return err;
	header = genlmsg_iput(skb, genl_info_dump(cb));
	if (!header)
		return -EMSGSIZE;
	err = fill_counter(skb, remote, at, &counter);
	if (err) {
		genlmsg_cancel(skb, header);
		return err;
	}
	genlmsg_end(skb, header);
	genl_dump_check_consistent(cb, header);
	return 0;
}

static int dump_counters(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct hyptrace_remote *remote)
{
	struct dump_at *at = (struct dump_at *)cb->ctx;
	unsigned int nr = hyptrace_count_nr(remote);
	int err;

	/*
	 * A reset between two parts changes the number: the dump is then inconsistent. The number
	 * is valid for all counters below: the remote's control mutex is held.
	 */
	cb->seq = hyptrace_notify_changes();
	for (; at->cpu < nr_cpu_ids; at->cpu++, at->number = 0) {
		if (requested_cpu(cb) && nla_get_u32(requested_cpu(cb)) != at->cpu)
			continue;
		for (; cpu_possible(at->cpu) && at->number < nr; at->number++) {
			err = dump_counter(skb, cb, remote, at);
			if (err)
				return err;
		}
	}
	return 0;
}

/* Dump counters, or only check the request if @skb is NULL. */
static int dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct hyptrace_remote *remote = hyptrace_remote_get(nla_data(hyptrace_nl_dump_remote(cb)));
	int err;

	if (!remote)
		return -ENODEV;
	mutex_lock(&remote->control);
	err = check_count_get(cb, remote);
	if (!err && skb)
		err = dump_counters(skb, cb, remote);
	mutex_unlock(&remote->control);
	hyptrace_remote_put(remote);
	return err;
}

/* Hook of the dump of counters. */
int hyptrace_nl_count_start(struct netlink_callback *cb)
{
	int err = hyptrace_nl_dump_start(cb);

	if (err)
		return err;
	if (!hyptrace_nl_dump_remote(cb)) {
		NL_SET_ERR_MSG(cb->extack, "the attribute \"remote\" is missing");
		NL_SET_ERR_ATTR_MISS(cb->extack, NULL, A_REMOTE);
		return -EINVAL;
	}
	return dump(NULL, cb);
}

int hyptrace_nl_count_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return hyptrace_dump_result(skb, dump(skb, cb));
}
