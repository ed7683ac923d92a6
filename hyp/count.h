/* SPDX-License-Identifier: GPL-2.0-only */
/* Counting: EL2's own counters. Included by ring.h; trace.c counts, hcall.c and hooks.h set it. */
#ifndef __HYPTRACE_COUNT_H
#define __HYPTRACE_COUNT_H

#include "env.h"
#include "abi.h"
#include "entry.h"
#include "names.h"
#include "pmu.h"

#define HYPTRACE_COUNTABLE_EVENTS				\
	(BIT_ULL(HYPTRACE_EVENT_hyp_enter) |			\
	 BIT_ULL(HYPTRACE_EVENT_host_hcall) |			\
	 BIT_ULL(HYPTRACE_EVENT_guest_exit) |			\
	 BIT_ULL(HYPTRACE_EVENT_mem_transition) |		\
	 BIT_ULL(HYPTRACE_EVENT_lock_wait))

/* Times from here on are not added to a packed word. */
#define HYPTRACE_COUNT_LONG	BIT_ULL(HYPTRACE_COUNT_PACKED_BUCKETS - 1)

/*
 * EL2's own copy of struct hyptrace_count. An event finds it by the address of its end: from there,
 * the packed word of a time is as many words back as the time has leading zeros.
 */
struct hyptrace_private_count {
	u64	packed[HYPTRACE_COUNT_PACKED_BUCKETS];
	u64	nr[HYPTRACE_COUNT_BUCKETS];
	u64	seq;
	u64	max;
	u64	total;
	u64	measured;
	u64	pmu[HYPTRACE_PMU_COUNTERS];
	u64	reserved[4];	/* 0 */
	u64	limit;		/* longest time that changes nothing but a packed word */
	u64	distance;	/* bytes from @packed to the published packed words */
};

static_assert(sizeof(struct hyptrace_private_count) == sizeof(struct hyptrace_count));
static_assert(sizeof(struct hyptrace_private_count) == 64 * sizeof(u64));
/* hyptrace_count() loads both in one instruction. */
static_assert(offsetof(struct hyptrace_private_count, limit) + sizeof(u64) ==
	      offsetof(struct hyptrace_private_count, distance));

/* An event that has begun, and is to be counted when it ends */
struct hyptrace_count_begun {
	u64 counter;				/* when it began; 0: none has begun */
	struct hyptrace_private_count *end;	/* of the counters of its key */
};

/* What a CPU counts */
struct hyptrace_counting {
	struct hyptrace_count_begun enter;	/* hyp_enter */
	struct hyptrace_count_begun hcall;	/* host_hcall */
	u64 left;	/* reason of the last hyp_exit */
	u64 *published;	/* where EL2 publishes @outside; NULL while hyp_enter is not counted */
	u64 outside[HYPTRACE_COUNT_EXITS];
	u64 selected;	/* bit per event id, hyp_exit with hyp_enter; 0 while the CPU is off */
	struct hyptrace_pmu pmu;
	struct hyptrace_private_count *ends[HYPTRACE_COUNT_KEYS];	/* of each key's counters */

	/* count_lock (count.c) protects the fields that follow. */
	u64 events;	/* what @selected is unless the CPU is off */
	bool off;	/* the CPU is switched off: any CPU may change the fields above */
	u32 nr_pages;	/* that EL2 owns */
	struct hyptrace_private_count *pages[HYPTRACE_COUNT_PAGES(PAGE_SIZE)];
	/* the pages in which EL2 publishes them; NULL once EL2 has given it back */
	struct hyptrace_count *shared[HYPTRACE_COUNT_PAGES(PAGE_SIZE)];
};

static __always_inline struct hyptrace_count *
hyptrace_count_published(struct hyptrace_private_count *counter)
{
	void *packed = (void *)counter->packed + counter->distance;

	return packed - offsetof(struct hyptrace_count, packed);
}

/* A reader that sees a change made from now on must read again. */
static __always_inline void hyptrace_count_begin_change(struct hyptrace_private_count *counter)
{
	WRITE_ONCE(hyptrace_count_published(counter)->seq, ++counter->seq);
	/*
	 * (Q) Order the odd seq before the changes. Pairs with (Q) in
	 * driver/remotes/writer_count.c:copy_counter().
	 */
	smp_wmb();
}

static __always_inline void hyptrace_count_end_change(struct hyptrace_private_count *counter)
{
	/*
	 * (Q) Order the changes before the even seq. Pairs with (Q) in
	 * driver/remotes/writer_count.c:copy_counter().
	 */
	smp_store_release(&hyptrace_count_published(counter)->seq, ++counter->seq);
}

/* Publish the counters of a bucket, while they change. */
static __always_inline void
hyptrace_count_publish(struct hyptrace_private_count *counter, u32 bucket)
{
	struct hyptrace_count *to = hyptrace_count_published(counter);

	WRITE_ONCE(to->max, counter->max);
	WRITE_ONCE(to->total, counter->total);
	WRITE_ONCE(to->nr[bucket], counter->nr[bucket]);
	if (bucket < HYPTRACE_COUNT_PACKED_BUCKETS)
		WRITE_ONCE(to->packed[bucket], counter->packed[bucket]);
}

static __always_inline void
hyptrace_count_set_max(struct hyptrace_private_count *counter, u64 max)
{
	counter->max = max;
	counter->limit = max < HYPTRACE_COUNT_LONG ? max : HYPTRACE_COUNT_LONG - 1;
}

/* Count an event whose time is a long one, or the longest so far. */
static __always_inline void
hyptrace_count_slowly(struct hyptrace_private_count *counter, u64 ticks)
{
	u32 bucket;

	/* The CPU may have read the counter too early, and so before the event began. */
	if ((s64)ticks < 0)
		ticks = 0;
	bucket = 64 - hyptrace_leading_zeros(ticks);
	if (bucket >= HYPTRACE_COUNT_BUCKETS)
		bucket = HYPTRACE_COUNT_BUCKETS - 1;

	hyptrace_count_begin_change(counter);
	if (ticks > counter->max)
		hyptrace_count_set_max(counter, ticks);
	counter->total += ticks;
	counter->nr[bucket]++;
	hyptrace_count_publish(counter, bucket);
	hyptrace_count_end_change(counter);
}

/* Empty a packed word that is full. @ticks: a time of its bucket */
static __always_inline void
hyptrace_count_unpack(struct hyptrace_private_count *counter, u64 ticks)
{
	u32 bucket = 64 - hyptrace_leading_zeros(ticks);
	u64 word = counter->packed[bucket];

	hyptrace_count_begin_change(counter);
	counter->total += word & (BIT_ULL(HYPTRACE_COUNT_TICK_BITS) - 1);
	counter->nr[bucket] += word >> HYPTRACE_COUNT_TICK_BITS;
	counter->packed[bucket] = 0;
	hyptrace_count_publish(counter, bucket);
	hyptrace_count_end_change(counter);
}

/**
 * hyptrace_count() - count an event that ends
 * @end:	end of the counters of its key
 * @begun:	the counter when it began; 0: it has not begun, and is not counted
 * @now:	the counter
 *
 * It calls no function, so that the functions of events need no stack frame for it.
 *
 * Context: the CPU whose counters they are.
 */
static __always_inline void hyptrace_count(struct hyptrace_private_count *end, u64 begun, u64 now)
{
	u64 ticks = now - begun, limit, distance, sum, *word;

	hyptrace_read_pair(&end[-1].limit, &limit, &distance);
	if (unlikely(ticks > limit)) {
		if (begun)
			hyptrace_count_slowly(end - 1, ticks);
		return;
	}
	word = (u64 *)end - hyptrace_leading_zeros(ticks);
	sum = *word + (ticks | BIT_ULL(HYPTRACE_COUNT_TICK_BITS));
	*word = sum;
	WRITE_ONCE(*(u64 *)((u8 *)word + distance), sum);
	if (unlikely((s64)sum < 0))
		hyptrace_count_unpack(end - 1, ticks);
}

/**
 * hyptrace_count_end() - find the end of the counters of a key
 * @counting:	of the CPU
 * @first:	the first key of the event
 * @number:	number of the key among those of the event
 * Return: the end.
 */
static __always_inline struct hyptrace_private_count *
hyptrace_count_end(const struct hyptrace_counting *counting, u32 first, u64 number)
{
	struct hyptrace_private_count *const *ends = &counting->ends[first];

	/* Else the compiler would add first to number, by one instruction more. */
	OPTIMIZER_HIDE_VAR(ends);

	return ends[number];
}

static __always_inline void
hyptrace_count_add_outside(struct hyptrace_counting *counting, u64 *published, u64 reason,
			   u64 ticks)
{
	u64 sum = counting->outside[reason] + ticks;

	counting->outside[reason] = sum;
	WRITE_ONCE(published[reason], sum);
}

/**
 * hyptrace_count_exit() - count the time outside of EL2 up to the entry before this exit
 * @counting:	of the CPU
 * @reason:	of the exit, below HYPTRACE_COUNT_EXITS
 * @entered:	the counter when the CPU entered EL2; 0: without hyp_enter
 * @now:	the counter
 * Context: the CPU whose counters they are.
 */
static __always_inline void
hyptrace_count_exit(struct hyptrace_counting *counting, u64 reason, u64 entered, u64 now)
{
	u64 *published = counting->published, left = counting->left;

	if (likely(entered && left == reason)) {
		u64 *outside = counting->outside, sum;

		/* Else the compiler would scale the reason first, by one instruction more. */
		OPTIMIZER_HIDE_VAR(outside);
		sum = outside[reason] - (now - entered);
		outside[reason] = sum;
		WRITE_ONCE(published[reason], sum);
		return;
	}
	hyptrace_count_add_outside(counting, published, left, entered ?: now);
	hyptrace_count_add_outside(counting, published, reason, -now);
	counting->left = reason;
}

/* The number of the key of an exit of a guest */
static __always_inline u64 hyptrace_guest_exit_key(u32 code, u32 ec)
{
	if (code == HYPTRACE_EXIT_TRAP)
		return ec & (HYPTRACE_COUNT_CLASSES - 1);

	return HYPTRACE_COUNT_CLASSES + (code & (HYPTRACE_COUNT_CODES - 1));
}

/* count.c */
int hyptrace_count_page(struct hyptrace_ring *ring, u64 pfn, u64 shared_pfn);
int hyptrace_count_free(struct hyptrace_ring *ring);
int hyptrace_count_set(struct hyptrace_ring *ring, u64 events);
int hyptrace_count_reset(struct hyptrace_ring *ring, u64 part);
int hyptrace_count_pmu(struct hyptrace_ring *ring, u64 what);
void hyptrace_count_off(struct hyptrace_ring *ring);
void hyptrace_count_on(struct hyptrace_ring *ring);

#endif /* __HYPTRACE_COUNT_H */
