// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock: CLOCK_BOOTTIME nanoseconds out of a counter, by parameters that the
 * host keeps in step. Called by the recording functions and by hcall.c.
 */
#include "ring.h"

/*
 * Two sets and a sequence number: the set that readers use is never the one that
 * is written, unless two updates come while one reader is at it. A CPU reads it
 * into a copy of its own, which it uses until the next update takes the limit
 * from it.
 */
static struct {
	hyptrace_lock_t			lock;	/* among updates */
	u32				seq;	/* its lowest bit is the set in use */
	struct hyptrace_clock_copy	sets[2];
} clock = {
	.lock = HYPTRACE_LOCK_INIT,
};

/**
 * hyptrace_clock() - the time, and a new copy of the clock
 * @copy:	this CPU's
 *
 * Context: the CPU whose copy it is; waits for nobody. Time may step back here
 * when the host sets the clock so; within a ring it does not.
 *
 * Return: ns, never so large that a step of the clock could wrap; 0 before the
 * clock was set, and in the rare case that an update came in between: the record
 * then gets the time of the one before it.
 */
u64 hyptrace_clock(struct hyptrace_clock_copy *copy)
{
	/* (C) pairs with the release in hyptrace_clock_set() */
	u32 seq = smp_load_acquire(&clock.seq);
	const struct hyptrace_clock_copy *set = &clock.sets[seq & 1];
	struct hyptrace_clock_copy new = {
		.mult		= READ_ONCE(set->mult),
		.epoch_cycles	= READ_ONCE(set->epoch_cycles),
		.epoch_ns	= READ_ONCE(set->epoch_ns),
		.limit		= READ_ONCE(set->limit),
	};
	u64 cycles = hyptrace_counter() - new.epoch_cycles;

	/* (D) the parameters were read before: pairs with the barrier (E) */
	smp_rmb();
	if (READ_ONCE(clock.seq) != seq)
		return 0;

	copy->mult = new.mult;
	copy->epoch_cycles = new.epoch_cycles;
	copy->epoch_ns = new.epoch_ns;
	WRITE_ONCE(copy->limit, new.limit);
	/* (I) either we see an update, or it takes the limit: pairs with (J) */
	smp_mb();
	if (READ_ONCE(clock.seq) != seq)
		WRITE_ONCE(copy->limit, 0);

	return (new.epoch_ns + (u64)(((__uint128_t)cycles * new.mult) >>
				     HYPTRACE_CLOCK_SHIFT)) & HYPTRACE_CLOCK_MASK;
}

static void take_limits(void)
{
	struct hyptrace_ring *ring;
	u32 cpu;

	for (cpu = 0; cpu < HYPTRACE_NR_CPUS; cpu++) {
		ring = hyptrace_ring_of(cpu);
		if (ring)
			WRITE_ONCE(ring->clock.limit, 0);
	}
}

/**
 * hyptrace_clock_set() - set the clock
 * @mult:		ns per cycle, times 2^HYPTRACE_CLOCK_SHIFT; not 0
 * @epoch_cycles:	counter at a moment
 * @epoch_ns:		time at that moment
 *
 * Return: 0, or -EINVAL for a clock that stands still.
 */
int hyptrace_clock_set(u64 mult, u64 epoch_cycles, u64 epoch_ns)
{
	struct hyptrace_clock_copy *set;
	u32 next;

	if (!mult)
		return -EINVAL;

	epoch_ns &= HYPTRACE_CLOCK_MASK;

	hyptrace_lock(&clock.lock);
	next = clock.seq + 1;
	set = &clock.sets[next & 1];
	/* (E) the last update is seen before this one overwrites its elder */
	smp_wmb();
	WRITE_ONCE(set->mult, mult);
	WRITE_ONCE(set->epoch_cycles, epoch_cycles);
	WRITE_ONCE(set->epoch_ns, epoch_ns);
	/* No copy is to need the mask: a time that far ahead is never quick. */
	WRITE_ONCE(set->limit,
		   epoch_ns > HYPTRACE_CLOCK_MASK / 2 ? 0 : ~0ULL / mult);
	/* (C) pairs with the acquire in hyptrace_clock() */
	smp_store_release(&clock.seq, next);
	hyptrace_unlock(&clock.lock);

	/* (J) the update, then the limits: pairs with (I) */
	smp_mb();
	take_limits();

	return 0;
}
