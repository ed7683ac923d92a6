/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of netlink/. main.c includes it to register the family. */
#ifndef __HYPTRACE_NETLINK_H
#define __HYPTRACE_NETLINK_H

#include <linux/build_bug.h>
#include <net/genetlink.h>

#include "../core/core.h"
#include "../core/socket.h"
#include "netlink_gen.h"

/* All attribute sets have the remote's name at this number, for request.c. */
#define A_REMOTE	((int)HYPTRACE_A_CONTROL_REMOTE)
static_assert((int)HYPTRACE_A_REMOTE_NAME == A_REMOTE);
static_assert((int)HYPTRACE_A_CPU_REMOTE == A_REMOTE);
static_assert((int)HYPTRACE_A_EVENT_REMOTE == A_REMOTE);
static_assert((int)HYPTRACE_A_HYPERCALL_REMOTE == A_REMOTE);
static_assert((int)HYPTRACE_A_COUNTER_REMOTE == A_REMOTE);
static_assert((int)HYPTRACE_A_PAGE_REMOTE == A_REMOTE);
static_assert((int)HYPTRACE_A_VISIT_REMOTE == A_REMOTE);

/* netlink.c */
int hyptrace_netlink_register(void);
void hyptrace_netlink_unregister(void);
int hyptrace_nl_check_sender(struct sk_buff *skb, struct netlink_ext_ack *extack);
bool hyptrace_nl_is_missing(struct genl_info *info, int attr, const char *name);
int hyptrace_nl_set_bad_attr(struct genl_info *info, int err, int attr);
int hyptrace_nl_refuse_remote(const struct nlattr *attr, struct netlink_ext_ack *extack);
int hyptrace_nl_refuse_cpu(const struct nlattr *attr, struct netlink_ext_ack *extack);
int hyptrace_nl_refuse_event(const struct nlattr *attr, struct netlink_ext_ack *extack);
struct nlattr *hyptrace_nl_dump_remote(struct netlink_callback *cb);

/* control.c: called with the control mutex held */
int hyptrace_nl_read_names(struct genl_info *info, const struct hyptrace_remote *remote,
			   u64 *events);

/*
 * Put an item of a remote, with the control mutex held: one that answers a request, or in
 * message.c a CPU, an event or a hypercall, whose number is @item. Return 0 or -EMSGSIZE.
 */
typedef int (*hyptrace_fill_fn)(struct sk_buff *skb, const struct hyptrace_remote *remote,
				const void *item);

/* message.c: called with the control mutex held */
int hyptrace_fill_fired(struct sk_buff *skb, const struct hyptrace_remote *remote,
			enum hyptrace_trigger trigger);
int hyptrace_fill_remote(struct sk_buff *skb, const struct hyptrace_remote *remote,
			 const void *item);
int hyptrace_fill_cpu(struct sk_buff *skb, const struct hyptrace_remote *remote,
		      const void *item);
int hyptrace_fill_event(struct sk_buff *skb, const struct hyptrace_remote *remote,
			const void *item);
int hyptrace_fill_hypercall(struct sk_buff *skb, const struct hyptrace_remote *remote,
			    const void *item);
int hyptrace_fill_event_state(struct sk_buff *skb, const struct hyptrace_remote *remote,
			      const struct hyptrace_event *event);

/* filter.c */
int hyptrace_nl_read_filter(const struct nlattr *nest, struct hyptrace_filter_request *filter,
			    struct netlink_ext_ack *extack);

/* describe.c */
void hyptrace_describe(void);
void hyptrace_describe_exit(void);

/* notify.c */
extern const struct hyptrace_listener hyptrace_nl_listener;
unsigned int hyptrace_notify_changes(void);

#endif /* __HYPTRACE_NETLINK_H */
