// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of pKVM, for which CPUs wait, and page pools that they protect. A wait is hidden if the CPU
 * for which another one waited ran a protected guest; and it names the right CPU, if any.
 */
#include <sched.h>

#include "el2.h"
#include "lock.h"

#define LOCKS		3
#define TICKETS		256	/* the last ones that are remembered: more than there are CPUs */
#define PROTECTED	BIT(8)	/* beside the number of a CPU */

static struct turn_lock {
	union {
		u32 word;
		struct {
			u16 owner;	/* whose turn it is */
			u16 next;
		};
	};
	u32 left;	/* free pages of its pool */
	u32 tickets[TICKETS];	/* who has taken each */
} __aligned(L1_CACHE_BYTES) locks[LOCKS];

/* Wait for the turn, as hyptrace_lock_wait() does. */
static void wait_for_turn(struct attack *attack, struct turn_lock *lock, u16 served, u16 own)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	s32 owner = HYPTRACE_LOCK_HIDDEN;
	struct seen before;
	u32 who;

	if (hyptrace_is_on(lock_wait))
		owner = hyptrace_lock_wait_begin(ring, &lock->owner, served, own);
	/* Pairs with end_turn(). */
	while (smp_load_acquire(&lock->owner) != own)
		sched_yield();
	attack->nr_waits++;
	who = READ_ONCE(lock->tickets[served % TICKETS]);
	attack->nr_hidden += !!(who & PROTECTED);
	if (owner == HYPTRACE_LOCK_HIDDEN)
		return;
	require(!(who & PROTECTED));
	require(owner == -1 || owner == (s32)who);
	before = look();
	__hyptrace_lock_wait(ring, HYPTRACE_LOCK_HYP_POOL, owner);
	require(seen_since(before) <= !attack->silent);
}

static void take_turn(struct attack *attack, struct turn_lock *lock)
{
	u32 old = __atomic_fetch_add(&lock->word, 1U << 16, __ATOMIC_ACQUIRE);
	u16 served = old, own = old >> 16;

	WRITE_ONCE(lock->tickets[own % TICKETS],
		   attack->cpu | (attack->silent & HYPTRACE_SILENT_GUEST ? PROTECTED : 0));
	if (own != served)
		wait_for_turn(attack, lock, served, own);
}

static void end_turn(struct turn_lock *lock)
{
	/* Pairs with wait_for_turn(), and with the next take_turn(). */
	smp_store_release(&lock->owner, READ_ONCE(lock->owner) + 1);
}

/* Allocate or free pages of a pool. What a protected guest causes must not show. */
void some_turn(struct attack *attack)
{
	u64 random = attack_random(attack);
	struct turn_lock *lock = &locks[random % LOCKS];
	u8 op = random >> 8 & 1, order = random >> 9 & 3;
	struct seen before;
	u32 left;

	take_turn(attack, lock);
	left = lock->left;
	before = look();
	hyptrace_pool_change(&lock->left, op, order, random % LOCKS);
	expect_event(attack, HYPTRACE_EVENT_hyp_pool, before);
	if (attack->silent & HYPTRACE_SILENT_GUEST)
		require(lock->left == left);
	else
		require(lock->left - left == (op ? 1U << order : -(1U << order)));
	/* Let others come to wait. */
	if (random >> 12 & 1)
		sched_yield();
	end_turn(lock);
}
