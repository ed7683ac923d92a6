/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting for a spinlock of EL2, and recording that. Used by lock.c and by tests only: the kernel's
 * hyp_spin_lock() declares hyptrace_lock_wait() itself.
 */
#ifndef __HYPTRACE_LOCK_H
#define __HYPTRACE_LOCK_H

#include "ring.h"

/* In place of an owner: the wait must not be recorded. */
#define HYPTRACE_LOCK_HIDDEN	-2

#ifdef __KVM_NVHE_HYPERVISOR__
/* The kernel keeps them to one file: the hooks change that. */
extern hyp_spinlock_t vm_table_lock;
extern struct hyp_pool hpool, host_s2_pool;
#endif

/* lock.c */
s32 hyptrace_lock_wait_begin(struct hyptrace_ring *ring, const u16 *turn, u16 served, u16 own);

#endif /* __HYPTRACE_LOCK_H */
