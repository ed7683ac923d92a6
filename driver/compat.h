/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between the supported kernels. Included by any file of driver/. */
#ifndef __HYPTRACE_COMPAT_H
#define __HYPTRACE_COMPAT_H

#include <linux/cleanup.h>
#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <net/genetlink.h>

/* The first releases of 6.12.y have no guard for this. */
DEFINE_LOCK_GUARD_1(hyptrace_spinlock_bh, spinlock_t,
		    spin_lock_bh(_T->lock), spin_unlock_bh(_T->lock))

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* The number of a PMU counter. Before 6.12, perf had 0 for cycles, and n + 1 for counter n. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define hyptrace_pmu_number(idx)	(((idx) - 1) & 31)
#else
#define hyptrace_pmu_number(idx)	(idx)
#endif

/* Fields of struct trace_buffer_meta. Kernels before 6.10 use our own: see Kbuild. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define pages_lost	Reserved1
#define pages_touched	Reserved2
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
static inline int reserve_mem_find_by_name(const char *name, phys_addr_t *start, phys_addr_t *size)
{
	return 0;
}
#endif

/* Generic netlink of 6.6 has no filter, another flag, and no bind(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
#define HYPTRACE_MCAST_CAP_SYS_ADMIN	.cap_sys_admin = 1

static inline int
genlmsg_multicast_netns_filtered(const struct genl_family *family, struct net *net,
				 struct sk_buff *skb, u32 portid, unsigned int group, gfp_t flags,
				 int (*filter)(struct sock *sk, struct sk_buff *skb, void *data),
				 void *data)
{
	group += family->mcgrp_offset;
	NETLINK_CB(skb).dst_group = group;
	return netlink_broadcast_filtered(net->genl_sock, skb, portid, group, flags, filter, data);
}
#else
#define HYPTRACE_MCAST_CAP_SYS_ADMIN	.flags = GENL_MCAST_CAP_SYS_ADMIN
#define HYPTRACE_HAS_GENL_BIND
#endif

/**
 * hyptrace_dump_result - what a dump returns to netlink
 * @skb:	the message
 * @err:	0, -EMSGSIZE if something had no room in the message, or another error
 *
 * Only since 6.9 netlink itself sees that a message is not empty.
 *
 * Return: the length of a message that is full, else @err.
 */
static inline int hyptrace_dump_result(const struct sk_buff *skb, int err)
{
	return err == -EMSGSIZE && skb->len ? skb->len : err;
}

#endif /* __HYPTRACE_COMPAT_H */
