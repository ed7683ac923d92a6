// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink request for the owners of pages. Called through the tables of netlink_gen.c.
 */
#include <net/genetlink.h>

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

static int get_owners(struct genl_info *info, u64 pfn, unsigned int nr, u8 *owners)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		ret = hyptrace_page_get_owner(info->user_ptr[0], pfn + i, info->extack);
		if (ret < 0)
			return hyptrace_nl_set_bad_attr(info, ret, ret == -EOPNOTSUPP ?
							A_REMOTE : HYPTRACE_A_PAGE_PFN);
		owners[i] = ret;
	}
	return 0;
}

static int reply(struct genl_info *info, u64 pfn, unsigned int nr, const u8 *owners)
{
	const struct hyptrace_remote *remote = info->user_ptr[0];
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *header;

	if (!skb)
		return -ENOMEM;
	header = genlmsg_iput(skb, info);
	if (!header || nla_put_string(skb, HYPTRACE_A_PAGE_REMOTE, remote->name) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_PAGE_PFN, pfn, HYPTRACE_A_PAGE_PAD) ||
	    nla_put(skb, HYPTRACE_A_PAGE_OWNERS, nr, owners)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

int hyptrace_nl_page_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *count = info->attrs[HYPTRACE_A_PAGE_COUNT];
	unsigned int nr = count ? nla_get_u32(count) : 1;
	u8 owners[HYPTRACE_PAGE_COUNT_MAX];
	u64 pfn;
	int err;

	if (hyptrace_nl_is_missing(info, HYPTRACE_A_PAGE_PFN, "pfn"))
		return -EINVAL;
	pfn = nla_get_u64(info->attrs[HYPTRACE_A_PAGE_PFN]);
	if (pfn + nr < pfn) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[HYPTRACE_A_PAGE_PFN],
				    "page numbers this large do not exist");
		return -ERANGE;
	}
	err = get_owners(info, pfn, nr, owners);
	return err ?: reply(info, pfn, nr, owners);
}
