/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/hyptrace.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#ifndef _LINUX_HYPTRACE_GEN_H
#define _LINUX_HYPTRACE_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/hyptrace_netlink.h>

/* Common nested types */
extern const struct nla_policy hyptrace_filter_nl_policy[HYPTRACE_A_FILTER_TERM + 1];
extern const struct nla_policy hyptrace_term_nl_policy[HYPTRACE_A_TERM_ON_FALSE + 1];

int hyptrace_nl_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			 struct genl_info *info);
int hyptrace_nl_dump_start(struct netlink_callback *cb);
int hyptrace_nl_count_start(struct netlink_callback *cb);

int hyptrace_nl_remote_get_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_remote_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int hyptrace_nl_cpu_get_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_cpu_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int hyptrace_nl_event_get_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_event_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int hyptrace_nl_event_set_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_load_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_unload_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_start_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_stop_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_clear_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_reset_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_set_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_mark_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_hypercall_get_dumpit(struct sk_buff *skb,
				     struct netlink_callback *cb);
int hyptrace_nl_count_set_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_count_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int hyptrace_nl_count_reset_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_page_get_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_visit_get_doit(struct sk_buff *skb, struct genl_info *info);
int hyptrace_nl_event_release_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	HYPTRACE_NLGRP_NOTIFY,
};

extern struct genl_family hyptrace_nl_family;

#endif /* _LINUX_HYPTRACE_GEN_H */
