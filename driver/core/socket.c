// SPDX-License-Identifier: GPL-2.0-only
/*
 * What netlink sockets hold of remotes, until the socket is closed in whatever way. Called by
 * netlink/, count.c, event_hold.c and register.c.
 *
 * Modules cannot call genl_sk_priv_get() (since 6.9). So the holds are in a list, for all kernels.
 * A socket is open while its request runs. Closing it only marks its holds, since somebody may have
 * the control mutex for long; work of the remote ends them: see event_hold.c.
 */
#include <linux/cleanup.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "internal.h"

static LIST_HEAD(open_holds);

/* Protects the list, and @sk of the holds. Taken inside remote->control. */
static DEFINE_SPINLOCK(sockets_lock);

static void close_hold(struct hyptrace_socket_hold *hold)
{
	list_del_init(&hold->of_all);
	sock_put(hold->sk);
	WRITE_ONCE(hold->sk, NULL);
}

/**
 * hyptrace_socket_close - end the holds of a socket soon
 * @net:	its namespace
 * @portid:	its port. Another socket may have it by now, but that one is not dead.
 * Context: does not wait for requests.
 */
void hyptrace_socket_close(const struct net *net, u32 portid)
{
	struct hyptrace_socket_hold *hold, *next;

	guard(spinlock)(&sockets_lock);
	list_for_each_entry_safe(hold, next, &open_holds, of_all) {
		if (hold->portid != portid || !net_eq(sock_net(hold->sk), net) ||
		    !sock_flag(hold->sk, SOCK_DEAD))
			continue;
		close_hold(hold);
		queue_work(hyptrace_wq, &hold->remote->holds_work);
	}
}

/**
 * hyptrace_socket_find_hold - get what a socket holds of a remote
 * @remote:	control mutex held
 * @sender:	of a request through the socket
 * Return: the hold, or NULL if there is none.
 */
struct hyptrace_socket_hold *hyptrace_socket_find_hold(const struct hyptrace_remote *remote,
						       const struct netlink_skb_parms *sender)
{
	struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote) {
		if (READ_ONCE(hold->sk) == sender->sk)
			return hold;
	}
	return NULL;
}

/**
 * hyptrace_socket_get_hold - get what a socket holds of a remote, or make an empty hold
 * @remote:	control mutex held
 * @sender:	of a request through the socket
 * @extack:	out: the reason if it fails; may be NULL
 *
 * The caller calls hyptrace_socket_put_hold() when it has changed it.
 *
 * Return: the hold, or NULL if there is no memory.
 */
struct hyptrace_socket_hold *hyptrace_socket_get_hold(struct hyptrace_remote *remote,
						      const struct netlink_skb_parms *sender,
						      struct netlink_ext_ack *extack)
{
	struct hyptrace_socket_hold *hold = hyptrace_socket_find_hold(remote, sender);

	if (hold)
		return hold;
	hold = kzalloc(sizeof(*hold), GFP_KERNEL_ACCOUNT);
	if (!hold) {
		NL_SET_ERR_MSG(extack, "not enough free memory to hold the events");
		return NULL;
	}
	hold->remote = remote;
	sock_hold(sender->sk);
	hold->sk = sender->sk;
	hold->portid = sender->portid;
	hold->pid = task_tgid_nr(current);
	get_task_comm(hold->comm, current->group_leader);
	list_add_tail(&hold->of_remote, &remote->holds);
	guard(spinlock)(&sockets_lock);
	list_add(&hold->of_all, &open_holds);
	return hold;
}

/**
 * hyptrace_socket_remove_hold - remove a hold, and leave what it holds as it is
 * @hold:	control mutex of its remote held; it is freed
 */
void hyptrace_socket_remove_hold(struct hyptrace_socket_hold *hold)
{
	list_del(&hold->of_remote);
	scoped_guard(spinlock, &sockets_lock) {
		if (hold->sk)
			close_hold(hold);
	}
	hyptrace_event_hold_forget(hold, ~0ULL);
	kfree(hold);
}

/**
 * hyptrace_socket_put_hold - remove a hold if it is empty
 * @hold:	control mutex of its remote held
 */
void hyptrace_socket_put_hold(struct hyptrace_socket_hold *hold)
{
	if (!hold->counts && !hold->events)
		hyptrace_socket_remove_hold(hold);
}

/**
 * hyptrace_sockets_remove_holds - remove all holds of a remote that is being unregistered
 * @remote:	control mutex held
 *
 * No socket can reach it any more. The caller cancels its work.
 */
void hyptrace_sockets_remove_holds(struct hyptrace_remote *remote)
{
	struct hyptrace_socket_hold *hold, *next;

	list_for_each_entry_safe(hold, next, &remote->holds, of_remote)
		hyptrace_socket_remove_hold(hold);
}
