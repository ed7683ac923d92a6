// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock: CLOCK_BOOTTIME nanoseconds, computed from a counter by parameters that the
 * host keeps in step. Called by the recording functions, by ring.c and by hcall.c.
 */
#include "ring.h"

/*
 * An update writes the set that is not in use, then increments seq: it disturbs a reader only if
 * two updates happen during one read. It invalidates the copies of the CPUs: their valid_cycles.
 */
static struct {
	hyptrace_lock_t			lock;	/* serializes updates */
	u32				seq;	/* its lowest bit is the index of the set in use */
	struct hyptrace_clock_copy	sets[2];
} clock = {
	.lock = HYPTRACE_LOCK_INIT,
};

/* Return at most HYPTRACE_CLOCK_MASK: the sum of two times must not wrap. */
static u64 compute_time(const struct hyptrace_clock_copy *set, u64 counter)
{
	s64 cycles = counter - set->epoch_cycles;
	__uint128_t passed;

	if (cycles >= 0) {
		passed = (__uint128_t)cycles * set->mult >> HYPTRACE_CLOCK_SHIFT;
		return (set->epoch_ns + (u64)passed) & HYPTRACE_CLOCK_MASK;
	}
	/* The counters of CPUs may differ by some cycles: this one may be before the epoch. */
	passed = (__uint128_t)(-(u64)cycles) * set->mult >> HYPTRACE_CLOCK_SHIFT;

	return passed < set->epoch_ns ? set->epoch_ns - (u64)passed : 0;
}

/**
 * hyptrace_clock_read() - read the time, and update this CPU's copy of the clock
 * @copy:	this CPU's, or one that no other CPU uses
 *
 * It never waits. Time may step back here when the host sets the clock back; within a
 * ring it does not.
 *
 * Return: ns, at most HYPTRACE_CLOCK_MASK; 0 before the clock was set, and in the rare
 * case that an update interferes: the record then gets the time of the one before it.
 */
u64 hyptrace_clock_read(struct hyptrace_clock_copy *copy)
{
	/*
	 * (C) Order seq before the set that it names. Pairs with (C) in
	 * clock.c:hyptrace_clock_set().
	 */
	u32 seq = smp_load_acquire(&clock.seq);
	const struct hyptrace_clock_copy *set = &clock.sets[seq & 1];
	struct hyptrace_clock_copy new = {
		.mult		= READ_ONCE(set->mult),
		.epoch_cycles	= READ_ONCE(set->epoch_cycles),
		.epoch_ns	= READ_ONCE(set->epoch_ns),
		.valid_cycles	= READ_ONCE(set->valid_cycles),
	};
	u64 counter = hyptrace_read_counter();

	/*
	 * (D) Order the parameters before the second load of seq. Pairs with (E) in
	 * clock.c:hyptrace_clock_set().
	 */
	smp_rmb();
	if (READ_ONCE(clock.seq) != seq)
		return 0;

	copy->mult = new.mult;
	copy->epoch_cycles = new.epoch_cycles;
	copy->epoch_ns = new.epoch_ns;
	WRITE_ONCE(copy->valid_cycles, new.valid_cycles);
	/*
	 * (I) Order the copy before the second load of seq: either this CPU sees an update, or the
	 * update invalidates the copy. Pairs with (J) in clock.c:hyptrace_clock_set().
	 */
	smp_mb();
	if (READ_ONCE(clock.seq) != seq)
		WRITE_ONCE(copy->valid_cycles, 0);

	return compute_time(&new, counter);
}

static void invalidate_copies(void)
{
	u32 left = hyptrace_nr_cpus();
	struct hyptrace_ring *ring;
	u32 cpu;

	/* Stop at the last CPU that exists: HYPTRACE_NR_CPUS may be thousands. */
	for (cpu = 0; left && cpu < HYPTRACE_NR_CPUS; cpu++) {
		ring = hyptrace_ring_of(cpu);
		if (!ring)
			continue;
		WRITE_ONCE(ring->clock.valid_cycles, 0);
		left--;
	}
}

/*
 * For how many cycles after the epoch 64-bit arithmetic is enough. At most
 * HYPTRACE_CLOCK_MASK, since a larger difference is a counter before the epoch. 0 if the
 * time could exceed HYPTRACE_CLOCK_MASK: hyptrace_clock_read_copy() does not mask it.
 */
static u64 compute_valid_cycles(u64 mult, u64 epoch_ns)
{
	u64 cycles = ~0ULL / mult;

	if (epoch_ns > HYPTRACE_CLOCK_MASK / 2)
		return 0;

	return cycles < HYPTRACE_CLOCK_MASK ? cycles : HYPTRACE_CLOCK_MASK;
}

/**
 * hyptrace_clock_set() - set the clock
 * @mult:		ns per cycle, times 2^HYPTRACE_CLOCK_SHIFT; not 0
 * @epoch_cycles:	counter at a moment
 * @epoch_ns:		time at that moment
 * Return: 0, or -EINVAL if @mult is 0: the clock would stand still.
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
	/*
	 * (E) Order the last update of seq before this update overwrites the set that was
	 * in use before it. Pairs with (D) in clock.c:hyptrace_clock_read().
	 */
	smp_wmb();
	WRITE_ONCE(set->mult, mult);
	WRITE_ONCE(set->epoch_cycles, epoch_cycles);
	WRITE_ONCE(set->epoch_ns, epoch_ns);
	WRITE_ONCE(set->valid_cycles, compute_valid_cycles(mult, epoch_ns));
	/*
	 * (C) Order the set before seq, which names it. Pairs with (C) in
	 * clock.c:hyptrace_clock_read().
	 */
	smp_store_release(&clock.seq, next);
	hyptrace_unlock(&clock.lock);

	/*
	 * (J) Order the update before the invalidation. Pairs with (I) in
	 * clock.c:hyptrace_clock_read().
	 */
	smp_mb();
	invalidate_copies();

	return 0;
}
