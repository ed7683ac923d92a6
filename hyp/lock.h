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

/**
 * hyptrace_turn_id() - identify a turn to have a lock
 * @lock:	the lock
 * @ticket:	the number of the turn
 *
 * Return: the turn. Addresses of EL2 differ in their low 48 bits.
 */
static inline u64 hyptrace_turn_id(const void *lock, u16 ticket)
{
	return (u64)(uintptr_t)lock << 16 | ticket;
}

#ifdef __KVM_NVHE_HYPERVISOR__
/* The kernel keeps them to one file: the hooks change that. */
extern hyp_spinlock_t vm_table_lock;
extern struct hyp_pool hpool, host_s2_pool;
#endif

/* lock.c */
s32 hyptrace_lock_wait_begin(struct hyptrace_ring *ring, u64 served, u64 own);
void hyptrace_lock_wait_end(struct hyptrace_ring *ring, u8 lock, s32 owner);

#endif /* __HYPTRACE_LOCK_H */
