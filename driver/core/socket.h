/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a netlink socket holds of remotes until it is closed: counters, and states of events.
 * netlink/ includes this header; core includes it through internal.h.
 */
#ifndef __HYPTRACE_SOCKET_H
#define __HYPTRACE_SOCKET_H

#include "core.h"

/**
 * struct hyptrace_socket - a netlink socket that may hold something of remotes
 * @holds:	list of struct hyptrace_socket_hold, protected by sockets_lock
 */
struct hyptrace_socket {
	struct list_head	holds;
};

/* socket.c */
void hyptrace_socket_close(struct hyptrace_socket *socket);

/* count.c: the control mutex held */
int hyptrace_counters_hold(struct hyptrace_remote *remote, struct hyptrace_socket *socket,
			   u64 mask, bool on, struct netlink_ext_ack *extack);

/* event_hold.c: both mutexes held */
int hyptrace_events_hold(struct hyptrace_remote *remote, struct hyptrace_socket *socket,
			 const struct hyptrace_event_request *request,
			 struct netlink_ext_ack *extack);
int hyptrace_events_release(struct hyptrace_remote *remote, struct hyptrace_socket *socket,
			    struct netlink_ext_ack *extack);

/* wants.c: the control mutex held */
pid_t hyptrace_event_holder(const struct hyptrace_remote *remote,
			    const struct hyptrace_event *event);

#endif /* __HYPTRACE_SOCKET_H */
