/* SPDX-License-Identifier: GPL-2.0-only */
/* hyptrace_kernel.ko: drives mainline's tracer at EL2. Included by kernel.c and kernel_*.c. */
#ifndef __HYPTRACE_KERNEL_H
#define __HYPTRACE_KERNEL_H

#include <linux/arm-smccc.h>
#include <linux/errno.h>
#include <linux/spinlock_types.h>

#include <asm/kvm_asm.h>

#include "../core/remote.h"

struct trace_buffer_meta;

/*
 * Call EL2. kvm_call_hyp_nvhe() warns if the call fails. The result is undefined if the hypercall
 * returns nothing; -ENODEV if EL2 does not know it.
 */
#define kernel_call(name, ...)								\
({											\
	struct arm_smccc_res __res = { };						\
											\
	arm_smccc_1_1_hvc(KVM_HOST_SMCCC_FUNC(name), ##__VA_ARGS__, &__res);		\
	__res.a0 == SMCCC_RET_SUCCESS ? (long)__res.a1 : -ENODEV;			\
})

/* A CPU's ring */
struct kernel_ring {
	const struct hyptrace_ring_pages	*pages;	/* of core; only while loaded */
	const struct trace_buffer_meta		*el2;	/* what EL2 publishes */

	/* protects all that follows. No other lock is taken inside it. */
	spinlock_t				lock;
	u32					*order;		/* by slot: an index in @pages */
	u32					nr_slots;
	u32					reader;		/* an index in @pages */
	u32					first;		/* slot 0 since load or reset */
	u64					swaps;		/* since then */
	/* does not have the order that its counters mean */
	bool					is_dead;
};

/* By CPU number */
extern struct kernel_ring *kernel_rings;

/* kernel_load.c */
int kernel_rings_init(void);
void kernel_rings_exit(void);
unsigned int kernel_rings_max_pages(void);
int kernel_rings_load(struct hyptrace_buffer *buf, void *priv);
int kernel_rings_unload(struct hyptrace_buffer *buf, void *priv);

/* kernel_ring.c: callbacks of struct hyptrace_remote_ops, but for the last one */
int kernel_ring_swap(unsigned int cpu, u32 consumed, struct hyptrace_swap *swap, void *priv);
void kernel_ring_look(unsigned int cpu, void *priv);
int kernel_ring_count_read(unsigned int cpu, u32 consumed, u64 *read, void *priv);
int kernel_ring_reset(unsigned int cpu, void *priv);
void kernel_rings_set_tracing(bool tracing);

#endif /* __HYPTRACE_KERNEL_H */
