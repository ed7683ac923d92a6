// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock: CLOCK_BOOTTIME nanoseconds out of a counter, by parameters that the
 * host keeps in step. Called by the recording functions and by hcall.c.
 */
#include "ring.h"

/*
 * Two copies and a sequence number: the copy that readers use is never the one
 * that is written, unless two updates come while one reader is at it.
 */
static struct {
	hyptrace_lock_t	lock;	/* among updates */
	u32		seq;	/* its lowest bit is the copy in use */
	struct {
		u64	mult;
		u64	epoch_cycles;
		u64	epoch_ns;
	} params[2];
} clock = {
	.lock = HYPTRACE_LOCK_INIT,
};

/**
 * hyptrace_clock() - the time
 *
 * Context: any; waits for nobody. Time may step back here when the host sets the
 * clock so; within a ring it does not.
 *
 * Return: ns, never so large that a step of the clock could wrap; 0 before the
 * clock was set, and in the rare case that an update came in between: the record
 * then gets the time of the one before it.
 */
u64 hyptrace_clock(void)
{
	/* (C) pairs with the release in hyptrace_clock_set() */
	u32 seq = smp_load_acquire(&clock.seq);
	u64 mult = READ_ONCE(clock.params[seq & 1].mult);
	u64 cycles = READ_ONCE(clock.params[seq & 1].epoch_cycles);
	u64 ns = READ_ONCE(clock.params[seq & 1].epoch_ns);

	cycles = hyptrace_counter() - cycles;
	ns += (u64)(((__uint128_t)cycles * mult) >> HYPTRACE_CLOCK_SHIFT);
	ns &= HYPTRACE_CLOCK_MASK;

	/* (D) the parameters were read before: pairs with the barrier (E) */
	smp_rmb();

	return likely(READ_ONCE(clock.seq) == seq) ? ns : 0;
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
	u32 next;

	if (!mult)
		return -EINVAL;

	hyptrace_lock(&clock.lock);
	next = clock.seq + 1;
	/* (E) the last update is seen before this one overwrites its elder */
	smp_wmb();
	WRITE_ONCE(clock.params[next & 1].mult, mult);
	WRITE_ONCE(clock.params[next & 1].epoch_cycles, epoch_cycles);
	WRITE_ONCE(clock.params[next & 1].epoch_ns, epoch_ns);
	/* (C) pairs with the acquire in hyptrace_clock() */
	smp_store_release(&clock.seq, next);
	hyptrace_unlock(&clock.lock);

	return 0;
}
