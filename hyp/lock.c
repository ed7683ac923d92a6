// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for a spinlock of EL2: hyp_spin_lock() calls it if the lock is held (see files.hooks). So
 * a lock that is free costs what it costs without hyptrace.
 */
#include "hooks.h"
#include "lock.h"

/*
 * A lock has had 65536 other turns before it has one with the same number again. That takes longer
 * than this, in ns: 5 ns a turn are less than what two atomic operations on one word take.
 */
#define MAX_AGE_NS	250000

/* Is it this CPU's turn? It notes all turns for which it has to wait, while waits are traced. */
static bool has_turn(struct hyptrace_ring *ring, u64 id, u64 now, u64 mult)
{
	/*
	 * (T) Order the time before the turn, which is then not older. Pairs with (T) in
	 * hyptrace_lock_wait_begin().
	 */
	u64 since = smp_load_acquire(&ring->waits.since);

	return READ_ONCE(ring->waits.id) == id && mult &&
	       hyptrace_cycles_to_ns(now > since ? now - since : 0, mult) < MAX_AGE_NS;
}

/**
 * hyptrace_lock_wait_begin() - begin to wait for a lock
 * @ring:	this CPU's
 * @served:	whose turn it is: hyptrace_turn_id()
 * @own:	the turn of this CPU
 *
 * The CPUs that have the lock before this one have asked for it before. So one that serves a
 * protected guest is silent already.
 *
 * Return: the CPU that holds the lock; -1: not known; HYPTRACE_LOCK_HIDDEN
 */
s32 hyptrace_lock_wait_begin(struct hyptrace_ring *ring, u64 served, u64 own)
{
	u64 now = hyptrace_read_counter();
	u32 cpu, nr_others = 0;
	s32 owner = -1, other = -1;

	ring->spans.lock_wait = now;
	WRITE_ONCE(ring->waits.id, own);
	/* (T) Order the turn before its time. Pairs with (T) in has_turn(). */
	smp_store_release(&ring->waits.since, now);

	for (cpu = 0; cpu < hyptrace_nr_cpus(); cpu++) {
		struct hyptrace_ring *of = hyptrace_ring_of(cpu);

		if (!of || of == ring)
			continue;
		if (READ_ONCE(of->silent) & HYPTRACE_SILENT_GUEST)
			return HYPTRACE_LOCK_HIDDEN;
		if (has_turn(of, served, now, ring->clock.mult))
			owner = cpu;
		other = cpu;
		nr_others++;
	}

	return nr_others == 1 ? other : owner;
}

/**
 * hyptrace_lock_wait_end() - record that this CPU has waited for a lock, which it has now
 * @ring:	this CPU's
 * @lock:	HYPTRACE_LOCK_*
 * @owner:	from hyptrace_lock_wait_begin()
 */
void hyptrace_lock_wait_end(struct hyptrace_ring *ring, u8 lock, s32 owner)
{
	if (owner != HYPTRACE_LOCK_HIDDEN)
		__hyptrace_lock_wait(ring, lock, owner);
}

#ifdef HYPTRACE_HOOK_lock_wait

#include <asm/cmpxchg.h>
#include <asm/sections.h>

#include <nvhe/pkvm.h>

/* EL2's own locks have no initial value but 0: they are in .bss. */
static bool is_in_image(u64 lock)
{
	return lock >= (u64)__hyp_bss_start && lock < (u64)__hyp_bss_end;
}

static u8 lock_of_vm(u64 lock)
{
	/* The host donates whole pages for the struct of a VM, at whose begin it is. */
	u64 offset = lock & (PAGE_SIZE - 1);

#ifdef HYPTRACE_TREE_VM_LOCK
	if (offset == (offsetof(struct pkvm_hyp_vm, lock) & (PAGE_SIZE - 1)))
		return HYPTRACE_LOCK_VM;
#endif
#ifdef HYPTRACE_TREE_VM_POOL
	if (offset == (offsetof(struct pkvm_hyp_vm, pool.lock) & (PAGE_SIZE - 1)))
		return HYPTRACE_LOCK_VM_POOL;
#endif
	return HYPTRACE_LOCK_OTHER;
}

static u8 number_of(const hyp_spinlock_t *lock)
{
	if (!is_in_image((u64)lock))
		return lock_of_vm((u64)lock);
	if (lock == &host_mmu.lock)
		return HYPTRACE_LOCK_HOST_MMU;
	if (lock == &pkvm_pgd_lock)
		return HYPTRACE_LOCK_PKVM_PGD;
#ifdef HYPTRACE_TREE_VM_TABLE_LOCK
	if (lock == &vm_table_lock)
		return HYPTRACE_LOCK_VM_TABLE;
#endif
#ifdef HYPTRACE_TREE_HYP_POOL
	if (lock == &hpool.lock)
		return HYPTRACE_LOCK_HYP_POOL;
#endif
#ifdef HYPTRACE_TREE_HOST_POOL
	if (lock == &host_s2_pool.lock)
		return HYPTRACE_LOCK_HOST_POOL;
#endif
	return HYPTRACE_LOCK_OTHER;
}

/**
 * hyptrace_lock_wait() - wait for a lock, and record that
 * @lock:	the lock
 * @ticket:	what the lock was before this CPU has taken a ticket: @next is that ticket
 * @is_own:	a lock of hyptrace itself: record nothing
 *
 * The event is recorded once the CPU has the lock. No kernel function is called meanwhile, and the
 * locks that are taken inside are hyptrace's own, so this does not call itself.
 */
void hyptrace_lock_wait(hyp_spinlock_t *lock, hyp_spinlock_t ticket, bool is_own)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	bool is_on = !is_own && hyptrace_is_on(lock_wait);
	s32 owner = -1;

	if (is_on)
		owner = hyptrace_lock_wait_begin(ring, hyptrace_turn_id(lock, ticket.owner),
						 hyptrace_turn_id(lock, ticket.next));
	smp_cond_load_acquire(&lock->owner, VAL == ticket.next);
	if (is_on)
		hyptrace_lock_wait_end(ring, number_of(lock), owner);
}

#endif
