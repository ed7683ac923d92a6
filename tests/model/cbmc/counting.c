// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting, hyp/count.h: the counters of a key before an event and after it.
 */
#include "ring.h"
#include "proof.h"

#define LOW_BITS	(BIT_ULL(HYPTRACE_COUNT_TICK_BITS) - 1)
#define FULL		BIT_ULL(63 - HYPTRACE_COUNT_TICK_BITS)

/* In one object: EL2 finds the published ones by the address of its own. */
static struct {
	struct hyptrace_private_count own;
	struct hyptrace_count published;
} keys;

#define own		keys.own
#define published	keys.published

/* A packed word of a bucket: its times are below 2^bucket, and it is not full. */
static bool is_possible(u32 bucket)
{
	u64 word = own.packed[bucket], nr = word >> HYPTRACE_COUNT_TICK_BITS;

	return nr < FULL && (word & LOW_BITS) <= (nr << bucket) - nr;
}

static bool is_published(u32 bucket)
{
	return published.seq == own.seq && published.max == own.max &&
	       published.total == own.total && published.nr[bucket] == own.nr[bucket] &&
	       (bucket >= HYPTRACE_COUNT_PACKED_BUCKETS ||
		published.packed[bucket] == own.packed[bucket]);
}

static u64 count(u32 bucket)
{
	return own.nr[bucket] + (bucket < HYPTRACE_COUNT_PACKED_BUCKETS ?
				 own.packed[bucket] >> HYPTRACE_COUNT_TICK_BITS : 0);
}

static u64 low_bits(u32 bucket)
{
	return bucket < HYPTRACE_COUNT_PACKED_BUCKETS ? own.packed[bucket] & LOW_BITS : 0;
}

static u32 bucket_of(u64 ticks)
{
	u32 bucket = 64 - hyptrace_leading_zeros(ticks);

	return bucket < HYPTRACE_COUNT_BUCKETS ? bucket : HYPTRACE_COUNT_BUCKETS - 1;
}

/*
 * An event counts once, with its time, in its bucket, and what is published is what EL2 has. What
 * is claimed of one bucket and one other holds for all.
 */
void one_event(void)
{
	u64 begun = nondet_u64(), now = nondet_u64(), ticks = now - begun;
	u64 nr, other_nr, low, other_low, total, max;
	u32 bucket, other = nondet_u32();
	bool counts;

	any(keys);
	own.distance = (u8 *)published.packed - (u8 *)own.packed;
	own.limit = own.max < HYPTRACE_COUNT_LONG ? own.max : HYPTRACE_COUNT_LONG - 1;
	counts = begun || ticks <= own.limit;
	if ((s64)ticks < 0)
		ticks = 0;
	bucket = bucket_of(ticks);
	assume(other < HYPTRACE_COUNT_BUCKETS && other != bucket);
	assume(bucket >= HYPTRACE_COUNT_PACKED_BUCKETS || is_possible(bucket));
	assume(is_published(bucket) && is_published(other) && !(own.seq & 1));
	nr = count(bucket);
	other_nr = count(other);
	low = low_bits(bucket);
	other_low = low_bits(other);
	total = own.total;
	max = own.max;

	hyptrace_count(&own + 1, begun, now);

	claim(bucket >= HYPTRACE_COUNT_PACKED_BUCKETS || is_possible(bucket));
	claim(is_published(bucket) && is_published(other) && !(own.seq & 1));
	claim(own.limit == (own.max < HYPTRACE_COUNT_LONG ? own.max : HYPTRACE_COUNT_LONG - 1));
	claim(count(bucket) == nr + counts);
	claim(count(other) == other_nr);
	claim(own.total + low_bits(bucket) == total + low + (counts ? ticks : 0));
	claim(low_bits(other) == other_low);
	claim(own.max == (counts && ticks > max ? ticks : max));
}
