// SPDX-License-Identifier: GPL-2.0-only
/* Netlink requests that read state. Called through the tables of netlink_gen.c. */
#include <linux/cpumask.h>
#include <linux/sizes.h>
#include <net/genetlink.h>

#include "../compat.h"
#include "netlink.h"

/* User space gets the numbers of the contract with the writer. */
static_assert((int)HYPTRACE_OWNERSHIP_NO_MEMORY == (int)HYPTRACE_PAGE_NO_MEMORY);
static_assert((int)HYPTRACE_OWNERSHIP_HOST == (int)HYPTRACE_PAGE_HOST);
static_assert((int)HYPTRACE_OWNERSHIP_HOST_SHARED_HYP == (int)HYPTRACE_PAGE_HOST_SHARED_HYP);
static_assert((int)HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST == (int)HYPTRACE_PAGE_HOST_SHARED_GUEST);
static_assert((int)HYPTRACE_OWNERSHIP_HOST_SHARED_FFA == (int)HYPTRACE_PAGE_HOST_SHARED_FFA);
static_assert((int)HYPTRACE_OWNERSHIP_HYP == (int)HYPTRACE_PAGE_HYP);
static_assert((int)HYPTRACE_OWNERSHIP_HYP_SHARED_HOST == (int)HYPTRACE_PAGE_HYP_SHARED_HOST);
static_assert((int)HYPTRACE_OWNERSHIP_GUEST == (int)HYPTRACE_PAGE_GUEST);

#define REPLY_BYTES_MAX		SZ_64K	/* enough for an event whose fields have many symbols */

/* Return the header of the item's message, or NULL if there is no room. */
static void *put_item(struct sk_buff *skb, const struct genl_info *info, hyptrace_fill_fn fill,
		      const struct hyptrace_remote *remote, const void *item)
{
	void *header = genlmsg_iput(skb, info);

	if (!header)
		return NULL;
	if (fill(skb, remote, item)) {
		genlmsg_cancel(skb, header);
		return NULL;
	}
	genlmsg_end(skb, header);
	return header;
}

static int reply(struct genl_info *info, hyptrace_fill_fn fill, const void *item)
{
	size_t size = GENLMSG_DEFAULT_SIZE;
	struct sk_buff *skb;

	do {
		skb = genlmsg_new(size, GFP_KERNEL);
		if (!skb)
			return -ENOMEM;
		if (put_item(skb, info, fill, info->user_ptr[0], item))
			return genlmsg_reply(skb, info);
		nlmsg_free(skb);
		size *= 2;
	} while (size <= REPLY_BYTES_MAX);
	NL_SET_ERR_MSG(info->extack, "the description is too long for a message");
	return -EMSGSIZE;
}

int hyptrace_nl_remote_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	hyptrace_triggers_look(info->user_ptr[0]);
	return reply(info, hyptrace_fill_remote, NULL);
}

int hyptrace_nl_cpu_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_CPU_ID];
	unsigned int cpu;

	if (hyptrace_nl_is_missing(info, HYPTRACE_A_CPU_ID, "id"))
		return -EINVAL;
	cpu = nla_get_u32(attr);
	if (!hyptrace_remote_reader(remote, cpu))
		return hyptrace_nl_refuse_cpu(attr, info->extack);
	return reply(info, hyptrace_fill_cpu, &cpu);
}

int hyptrace_nl_event_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hyptrace_remote *remote = info->user_ptr[0];
	struct nlattr *attr = info->attrs[HYPTRACE_A_EVENT_NAME];
	unsigned int i;

	if (hyptrace_nl_is_missing(info, HYPTRACE_A_EVENT_NAME, "name"))
		return -EINVAL;
	for (i = 0; i < remote->nr_events; i++) {
		if (!strcmp(remote->events[i]->name, nla_data(attr)))
			return reply(info, hyptrace_fill_event, &i);
	}
	return hyptrace_nl_refuse_event(attr, info->extack);
}

struct owners {
	u64		pfn;
	unsigned int	nr;
	u8		owners[HYPTRACE_PAGE_COUNT_MAX];
};

static int fill_owners(struct sk_buff *skb, const struct hyptrace_remote *remote, const void *item)
{
	const struct owners *pages = item;

	return nla_put_string(skb, HYPTRACE_A_PAGE_REMOTE, remote->name) ||
	       nla_put_u64_64bit(skb, HYPTRACE_A_PAGE_PFN, pages->pfn, HYPTRACE_A_PAGE_PAD) ||
	       nla_put(skb, HYPTRACE_A_PAGE_OWNERS, pages->nr, pages->owners) ? -EMSGSIZE : 0;
}

/* Return enum hyptrace_page_owner or a negative errno. */
static int get_owner(struct genl_info *info, u64 pfn)
{
	const struct hyptrace_remote *remote = info->user_ptr[0];
	const struct hyptrace_remote_desc *desc = remote->desc;
	int ret = -EOPNOTSUPP;

	if (desc->ops->get_page_owner)
		ret = desc->ops->get_page_owner(pfn, desc->priv);
	if (ret >= 0)
		return ret;
	if (ret == -EOPNOTSUPP) {
		NL_SET_ERR_MSG_FMT(info->extack,
				   "\"%s\" protects no memory: the host owns all pages",
				   remote->name);
		return hyptrace_nl_set_bad_attr(info, ret, A_REMOTE);
	}
	NL_SET_ERR_MSG_FMT(info->extack, "the remote does not say who owns page 0x%llx: %d", pfn,
			   ret);
	return hyptrace_nl_set_bad_attr(info, ret, HYPTRACE_A_PAGE_PFN);
}

int hyptrace_nl_page_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *count = info->attrs[HYPTRACE_A_PAGE_COUNT];
	struct owners pages = { .nr = count ? nla_get_u32(count) : 1 };
	unsigned int i;
	int ret;

	if (hyptrace_nl_is_missing(info, HYPTRACE_A_PAGE_PFN, "pfn"))
		return -EINVAL;
	pages.pfn = nla_get_u64(info->attrs[HYPTRACE_A_PAGE_PFN]);
	if (pages.pfn + pages.nr < pages.pfn) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[HYPTRACE_A_PAGE_PFN],
				    "page numbers this large do not exist");
		return -ERANGE;
	}
	for (i = 0; i < pages.nr; i++) {
		ret = get_owner(info, pages.pfn + i);
		if (ret < 0)
			return ret;
		pages.owners[i] = ret;
	}
	return reply(info, fill_owners, &pages);
}

static int fill_visits(struct sk_buff *skb, const struct hyptrace_remote *remote, const void *item)
{
	const s64 *ns = item;

	return nla_put_string(skb, HYPTRACE_A_VISIT_REMOTE, remote->name) ||
	       nla_put_u64_64bit(skb, HYPTRACE_A_VISIT_TIME, *ns, HYPTRACE_A_VISIT_PAD) ?
	       -EMSGSIZE : 0;
}

int hyptrace_nl_visit_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct hyptrace_remote *remote = info->user_ptr[0];
	const struct hyptrace_remote_desc *desc = remote->desc;
	struct nlattr *count = info->attrs[HYPTRACE_A_VISIT_COUNT];
	s64 ns;

	if (!desc->ops->time_visits) {
		NL_SET_ERR_MSG_FMT(info->extack, "remote \"%s\" is no hypervisor: it has no visits",
				   remote->name);
		return hyptrace_nl_set_bad_attr(info, -EOPNOTSUPP, A_REMOTE);
	}
	ns = desc->ops->time_visits(count ? nla_get_u32(count) : 1, desc->priv);
	if (ns < 0) {
		NL_SET_ERR_MSG_FMT(info->extack, "remote \"%s\" failed to time visits (error %d)",
				   remote->name, (int)-ns);
		return (int)ns;
	}
	return reply(info, fill_visits, &ns);
}

/* The next part of a dump. Remotes come and go in between: a serial identifies them. */
struct dump_at {
	unsigned long	serial;
	unsigned int	index;
};

static_assert(sizeof(struct dump_at) <= sizeof_field(struct netlink_callback, ctx));

static struct dump_at *dump_at(struct netlink_callback *cb)
{
	return (struct dump_at *)cb->ctx;
}

static unsigned int count_items(const struct hyptrace_remote *remote, hyptrace_fill_fn fill)
{
	if (fill == hyptrace_fill_cpu)
		return nr_cpu_ids;
	if (fill == hyptrace_fill_event)
		return remote->nr_events;
	if (fill == hyptrace_fill_hypercall)
		return remote->desc->nr_hypercalls;
	return 1;
}

static int dump_items(struct sk_buff *skb, struct netlink_callback *cb,
		      const struct hyptrace_remote *remote, hyptrace_fill_fn fill)
{
	const unsigned int nr = count_items(remote, fill);
	struct dump_at *at = dump_at(cb);
	void *header;

	/* The number is valid for all items below: the remote's control mutex is held. */
	cb->seq = hyptrace_notify_changes();
	for (; at->index < nr; at->index++) {
		if (fill == hyptrace_fill_cpu && !cpu_possible(at->index))
			continue;
		header = put_item(skb, genl_info_dump(cb), fill, remote, &at->index);
		if (!header)
			return -EMSGSIZE;
		genl_dump_check_consistent(cb, header);
	}
	return 0;
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb, hyptrace_fill_fn fill)
{
	struct nlattr *name = hyptrace_nl_dump_remote(cb);
	struct dump_at *at = dump_at(cb);
	struct hyptrace_remote *remote;
	int err;

	guard(mutex)(&hyptrace_remotes_lock);
	/* Set it here, too: if the remote of the last part is gone, there may be no items left. */
	cb->seq = hyptrace_notify_changes();
	while ((remote = hyptrace_remote_find_from(at->serial))) {
		if (remote->serial != at->serial) {
			at->serial = remote->serial;
			at->index = 0;
		}
		if (!name || !nla_strcmp(name, remote->name)) {
			guard(mutex)(&remote->control);
			if (fill == hyptrace_fill_remote)
				hyptrace_triggers_look(remote);
			err = dump_items(skb, cb, remote, fill);
			if (err)
				return hyptrace_dump_result(skb, err);
		}
		at->serial = remote->serial + 1;
		at->index = 0;
	}
	return 0;
}

int hyptrace_nl_remote_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, hyptrace_fill_remote);
}

int hyptrace_nl_cpu_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, hyptrace_fill_cpu);
}

int hyptrace_nl_event_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, hyptrace_fill_event);
}

int hyptrace_nl_hypercall_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, hyptrace_fill_hypercall);
}
