// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owners of pages, which only a remote in protected mode knows. Called by netlink/.
 */
#include "internal.h"

/**
 * hyptrace_page_get_owner - get the owner of a page
 * @remote:	control mutex held, and not unregistered
 * @pfn:	its number
 * @extack:	gets the reason of an error; may be NULL
 *
 * Return: enum hyptrace_page_owner; -EOPNOTSUPP if @remote protects no memory, or the error of its
 * callback.
 */
int hyptrace_page_get_owner(const struct hyptrace_remote *remote, u64 pfn,
			    struct netlink_ext_ack *extack)
{
	const struct hyptrace_remote_desc *desc = remote->desc;
	int ret = -EOPNOTSUPP;

	if (desc->ops->get_page_owner)
		ret = desc->ops->get_page_owner(pfn, desc->priv);
	if (ret == -EOPNOTSUPP)
		NL_SET_ERR_MSG_FMT(extack, "\"%s\" protects no memory: the host owns all pages",
				   remote->name);
	else if (ret < 0)
		NL_SET_ERR_MSG_FMT(extack, "the remote does not say who owns page 0x%llx: %d",
				   pfn, ret);
	return ret;
}
