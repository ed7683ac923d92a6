/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting: EL2's own counters, and how an event is counted. Included by ring.h; trace.c counts,
 * hcall.c and hooks.h call the functions.
 */
#ifndef __HYPTRACE_COUNT_H
#define __HYPTRACE_COUNT_H

#include "env.h"
#include "abi.h"
#include "entry.h"

#define HYPTRACE_COUNTABLE_EVENTS				\
	(BIT_ULL(HYPTRACE_EVENT_hyp_enter) |			\
	 BIT_ULL(HYPTRACE_EVENT_host_hcall) |			\
	 BIT_ULL(HYPTRACE_EVENT_guest_exit) |			\
	 BIT_ULL(HYPTRACE_EVENT_mem_transition))

/* Times from here on are not added to a packed word. */
#define HYPTRACE_COUNT_LONG	BIT_ULL(HYPTRACE_COUNT_PACKED_BUCKETS - 1)

/**
 * struct hyptrace_counter - the counters of a key: EL2's own copy of struct hyptrace_count
 * @packed:	as published
 * @nr:		as published
 * @seq:	as published
 * @max:	as published
 * @total:	as published
 * @reserved:	0
 * @limit:	longest time that changes nothing but a packed word
 * @distance:	bytes from @packed to the published packed words
 *
 * An event finds it by the address of its end: from there, the packed word of a time is as many
 * words back as the time has leading zeros.
 */
struct hyptrace_counter {
	u64	packed[HYPTRACE_COUNT_PACKED_BUCKETS];
	u64	nr[HYPTRACE_COUNT_BUCKETS];
	u64	seq;
	u64	max;
	u64	total;
	u64	reserved[9];
	u64	limit;
	u64	distance;
};

static_assert(sizeof(struct hyptrace_counter) == sizeof(struct hyptrace_count));
static_assert(sizeof(struct hyptrace_counter) == 64 * sizeof(u64));

/**
 * struct hyptrace_count_begun - an event that has begun, and is to be counted when it ends
 * @counter:	the counter when it began; 0: none has begun
 * @end:	end of the counters of its key
 */
struct hyptrace_count_begun {
	u64			counter;
	struct hyptrace_counter	*end;
};

/**
 * struct hyptrace_counting - what a CPU counts
 * @enter:	hyp_enter
 * @hcall:	host_hcall
 * @guest_begun: guest_exit: the counter when the guest's run began, or 0
 * @selected:	bit per event id: what the CPU counts, hyp_exit with hyp_enter; 0 while it is off
 * @ends:	by key: the end of its counters
 *
 * hyptrace_count_lock protects the fields that follow.
 * @events:	what @selected is unless the CPU is off
 * @off:	the CPU is switched off, so that any CPU may change the fields above
 * @nr_pages:	pages of counters that EL2 owns
 * @pages:	these pages
 * @shared:	the pages in which EL2 publishes them; NULL once EL2 has given it back
 */
struct hyptrace_counting {
	struct hyptrace_count_begun enter;
	struct hyptrace_count_begun hcall;
	u64			guest_begun;
	u64			selected;
	struct hyptrace_counter	*ends[HYPTRACE_COUNT_KEYS];

	u64			events;
	bool			off;
	u32			nr_pages;
	struct hyptrace_counter	*pages[HYPTRACE_COUNT_PAGES(PAGE_SIZE)];
	struct hyptrace_count	*shared[HYPTRACE_COUNT_PAGES(PAGE_SIZE)];
};

/* count.c */
void hyptrace_count_slowly(struct hyptrace_counter *end, u64 ticks);
void hyptrace_count_fold(struct hyptrace_counter *end, u64 ticks);

static __always_inline u32 hyptrace_leading_zeros(u64 x)
{
	return x ? __builtin_clzll(x) : 64;
}

/**
 * hyptrace_count_short() - count an event whose time is at most the limit of its counters
 * @end:	end of the counters of its key
 * @ticks:	its time
 *
 * Context: the CPU whose counters they are.
 */
static __always_inline void hyptrace_count_short(struct hyptrace_counter *end, u64 ticks)
{
	u64 *word = (u64 *)end - hyptrace_leading_zeros(ticks);
	u64 sum = *word + (ticks | BIT_ULL(HYPTRACE_COUNT_TICK_BITS));

	*word = sum;
	WRITE_ONCE(*(u64 *)((u8 *)word + end[-1].distance), sum);
	if (unlikely((s64)sum < 0))
		hyptrace_count_fold(end, ticks);
}

/**
 * hyptrace_count() - count an event that ends
 * @end:	end of the counters of its key
 * @begun:	the counter when it began; 0: it has not begun, and is not counted
 * @now:	the counter
 *
 * Context: the CPU whose counters they are.
 */
static __always_inline void hyptrace_count(struct hyptrace_counter *end, u64 begun, u64 now)
{
	u64 ticks = now - begun;

	if (likely(ticks <= end[-1].limit))
		hyptrace_count_short(end, ticks);
	else if (begun)
		hyptrace_count_slowly(end, ticks);
}

int hyptrace_count_page(struct hyptrace_ring *ring, u64 pfn, u64 shared_pfn);
int hyptrace_count_free(struct hyptrace_ring *ring);
int hyptrace_count_set(struct hyptrace_ring *ring, u64 events);
int hyptrace_count_reset(struct hyptrace_ring *ring);
void hyptrace_count_off(struct hyptrace_ring *ring);
void hyptrace_count_on(struct hyptrace_ring *ring);

#endif /* __HYPTRACE_COUNT_H */
