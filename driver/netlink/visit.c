// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink request that measures visits of EL2. Called through the tables of netlink_gen.c.
 */
#include <net/genetlink.h>

#include "netlink.h"

static int reply(struct genl_info *info, u64 ns)
{
	const struct hyptrace_remote *remote = info->user_ptr[0];
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *header;

	if (!skb)
		return -ENOMEM;
	header = genlmsg_iput(skb, info);
	if (!header || nla_put_string(skb, HYPTRACE_A_VISIT_REMOTE, remote->name) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_VISIT_TIME, ns, HYPTRACE_A_VISIT_PAD)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
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
	return reply(info, ns);
}
