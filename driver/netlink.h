/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What netlink.c has for query.c and control.c.
 */
#ifndef __HYPTRACE_NETLINK_H
#define __HYPTRACE_NETLINK_H

#include <linux/build_bug.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

/* pre_doit finds the remote by the same attribute in all attribute sets. */
#define A_REMOTE	((int)HYPTRACE_A_CONTROL_REMOTE)
static_assert((int)HYPTRACE_A_REMOTE_NAME == A_REMOTE);
static_assert((int)HYPTRACE_A_CPU_REMOTE == A_REMOTE);
static_assert((int)HYPTRACE_A_EVENT_REMOTE == A_REMOTE);

bool hyptrace_nl_is_missing(struct genl_info *info, int attr, const char *name);
int hyptrace_nl_blame(struct genl_info *info, int err, int attr);
int hyptrace_nl_no_such_cpu(const struct nlattr *attr, struct netlink_ext_ack *extack);
int hyptrace_nl_no_such_event(const struct nlattr *attr, struct netlink_ext_ack *extack);
struct nlattr *hyptrace_nl_dump_remote(struct netlink_callback *cb);

#endif /* __HYPTRACE_NETLINK_H */
