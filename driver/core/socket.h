/* SPDX-License-Identifier: GPL-2.0-only */
/* What a netlink socket holds of remotes. Included by netlink/, and by core through internal.h. */
#ifndef __HYPTRACE_SOCKET_H
#define __HYPTRACE_SOCKET_H

#include <linux/netlink.h>

#include "core.h"

/* socket.c */
void hyptrace_socket_close(const struct net *net, u32 portid);

/* count.c: the control mutex held */
int hyptrace_counters_hold(struct hyptrace_remote *remote, const struct netlink_skb_parms *sender,
			   u64 mask, bool on, const struct hyptrace_pmu_request *pmu,
			   struct netlink_ext_ack *extack);

/* event_hold.c: both mutexes held */
int hyptrace_events_hold(struct hyptrace_remote *remote, const struct netlink_skb_parms *sender,
			 const struct hyptrace_event_request *request,
			 struct netlink_ext_ack *extack);
int hyptrace_events_release(struct hyptrace_remote *remote, const struct netlink_skb_parms *sender,
			    struct netlink_ext_ack *extack);

/* wants.c: the control mutex held */
pid_t hyptrace_event_holder(const struct hyptrace_remote *remote,
			    const struct hyptrace_event *event);

#endif /* __HYPTRACE_SOCKET_H */
