// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for a spinlock of EL2: hyp_spin_lock() calls it if the lock is held (see files.hooks). A
 * lock that is free needs no instruction more than without hyptrace.
 */
#include "hooks.h"
#include "lock.h"

/*
 * ns. A ticket has the same number again after 65536 turns, which take longer: each turn has two
 * atomic operations on one word, and these take more than 1.6 ns.
 */
#define MAX_AGE_NS	100000

/* Identify a turn to have a lock. Addresses of EL2 differ in their low 48 bits. */
static u64 turn_id(const u16 *turn, u16 ticket)
{
	return (u64)(uintptr_t)turn << 16 | ticket;
}

/*
 * While waits are traced, a CPU notes each turn for which it has to wait, unless that wait is
 * hidden: another CPU could find its name only because a protected guest had the lock.
 */
static void note_turn(struct hyptrace_ring *ring, u64 id, u64 now)
{
	WRITE_ONCE(ring->waits.id, id);
	/* (X) Order the turn before its time. Pairs with (X) in has_turn(). */
	smp_store_release(&ring->waits.since, now);
}

/* Check whether it is the turn that the CPU has noted. */
static bool has_turn(struct hyptrace_ring *ring, u64 id, u64 now, u64 mult)
{
	/*
	 * (X) Order the time before the turn, which is then not older. Pairs with (X) in
	 * note_turn().
	 */
	u64 since = smp_load_acquire(&ring->waits.since);

	return READ_ONCE(ring->waits.id) == id && mult &&
	       hyptrace_cycles_to_ns(now > since ? now - since : 0, mult) < MAX_AGE_NS;
}

/**
 * hyptrace_lock_wait_begin() - begin to wait for a lock
 * @ring:	this CPU's
 * @turn:	of the lock: the ticket whose turn it is
 * @served:	what that was when this CPU took its ticket
 * @own:	its ticket
 *
 * The CPUs before this one took their tickets earlier. If one serves a protected guest, it was
 * silent then, and it stays silent until its turn is over. So the wait has nothing of a protected
 * guest if no CPU is silent, and it is still the same turn after that.
 *
 * Return: the CPU that has the lock; -1: not known; HYPTRACE_LOCK_HIDDEN
 */
s32 hyptrace_lock_wait_begin(struct hyptrace_ring *ring, const u16 *turn, u16 served, u16 own)
{
	u64 now = hyptrace_read_counter();
	u32 cpu, nr_others = 0;
	s32 owner = -1, other = -1;

	ring->spans.lock_wait = now;
	for (cpu = 0; cpu < hyptrace_nr_cpus(); cpu++) {
		struct hyptrace_ring *of = hyptrace_ring_of(cpu);

		/* It would be hidden after all: do not delay the lock. */
		if (READ_ONCE(*turn) != served)
			return HYPTRACE_LOCK_HIDDEN;
		if (!of || of == ring)
			continue;
		if (READ_ONCE(of->silent) & (HYPTRACE_SILENT_GUEST | HYPTRACE_SILENT_LOAD))
			return HYPTRACE_LOCK_HIDDEN;
		if (has_turn(of, turn_id(turn, served), now, ring->clock.mult))
			owner = cpu;
		other = cpu;
		nr_others++;
	}
	/*
	 * (Z) Order the silence of the other CPUs before the turn. Pairs with (Z) in
	 * hyp/hooks.h:hyptrace_guest_end().
	 */
	smp_rmb();
	if (READ_ONCE(*turn) != served)
		return HYPTRACE_LOCK_HIDDEN;
	note_turn(ring, turn_id(turn, own), now);

	return nr_others == 1 ? other : owner;
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
	s32 owner = HYPTRACE_LOCK_HIDDEN;

	if (!is_own && hyptrace_is_on(lock_wait))
		owner = hyptrace_lock_wait_begin(ring, &lock->owner, ticket.owner, ticket.next);
	smp_cond_load_acquire(&lock->owner, VAL == ticket.next);
	if (owner != HYPTRACE_LOCK_HIDDEN)
		__hyptrace_lock_wait(ring, number_of(lock), owner);
}

#endif
