// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the family keeps for each netlink socket that has sent a request, until it is closed.
 * Called by netlink.c, control.c and count.c.
 *
 * Generic netlink keeps data by socket since 6.9, but modules cannot call genl_sk_priv_get(). So
 * the sockets are in a list, for all kernels.
 */
#include <linux/notifier.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "../compat.h"
#include "netlink.h"

struct known_socket {
	struct list_head	of_all;
	struct sock		*sk;	/* with a reference */
	u32			portid;
	struct hyptrace_socket	socket;
};

static LIST_HEAD(known_sockets);

/* Protects the list. Taken inside remote->control; sockets_lock is taken inside it. */
static DEFINE_MUTEX(known_lock);

static void forget_socket(struct known_socket *known)
{
	list_del(&known->of_all);
	hyptrace_socket_close(&known->socket);
	sock_put(known->sk);
	kfree(known);
}

/*
 * A socket is being closed, of which the notice has the namespace and the port. Another socket may
 * have the port by now, but that one is not dead.
 */
static int notice_close(struct notifier_block *block, unsigned long event, void *data)
{
	const struct netlink_notify *closed = data;
	struct known_socket *known;

	if (event != NETLINK_URELEASE || closed->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	guard(mutex)(&known_lock);
	list_for_each_entry(known, &known_sockets, of_all) {
		if (known->portid != closed->portid || !net_eq(sock_net(known->sk), closed->net) ||
		    !sock_flag(known->sk, SOCK_DEAD))
			continue;
		forget_socket(known);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block close_notifier = { .notifier_call = notice_close };

/**
 * hyptrace_nl_init_sockets - begin to notice that sockets are closed
 *
 * Return: 0 or a negative errno.
 */
int __init hyptrace_nl_init_sockets(void)
{
	return netlink_register_notifier(&close_notifier);
}

/**
 * hyptrace_nl_exit_sockets - undo hyptrace_nl_init_sockets(), after the family was unregistered
 */
void hyptrace_nl_exit_sockets(void)
{
	struct known_socket *known, *next;

	netlink_unregister_notifier(&close_notifier);
	guard(mutex)(&known_lock);
	list_for_each_entry_safe(known, next, &known_sockets, of_all)
		forget_socket(known);
}

/**
 * hyptrace_nl_get_socket - get the private data of the socket that has sent a request
 * @skb:	the request
 * @extack:	of the request
 *
 * Return: the data, which exists as long as the socket; NULL if there is no memory.
 */
struct hyptrace_socket *hyptrace_nl_get_socket(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	struct sock *sk = NETLINK_CB(skb).sk;
	struct known_socket *known;

	guard(mutex)(&known_lock);
	list_for_each_entry(known, &known_sockets, of_all) {
		if (known->sk == sk)
			return &known->socket;
	}
	known = kzalloc(sizeof(*known), GFP_KERNEL_ACCOUNT);
	if (!known) {
		NL_SET_ERR_MSG(extack, "not enough free memory to hold the events");
		return NULL;
	}
	INIT_LIST_HEAD(&known->socket.holds);
	sock_hold(sk);
	known->sk = sk;
	known->portid = NETLINK_CB(skb).portid;
	list_add(&known->of_all, &known_sockets);
	return &known->socket;
}
