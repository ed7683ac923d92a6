/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of abi.h about the counters of events: their keys, and how EL2 publishes them. */
#ifndef __HYPTRACE_ABI_COUNT_H
#define __HYPTRACE_ABI_COUNT_H

#include <linux/types.h>

#include "pmu_abi.h"

/*
 * Counting. Each event that can be counted has keys, and each key has counters:
 *
 *	event		keys, in this order		time
 *	hyp_enter	reason				until hyp_exit
 *	host_hcall	id; the last key: all others	field duration
 *	guest_exit	ec of a trap; then the code	field duration
 *			of an exit that is no trap
 *	mem_transition	op				0
 *	lock_wait	lock				field duration
 *	hyp_exit	one, whose @outside is by	until hyp_enter
 *			reason
 */
#define HYPTRACE_COUNT_REASONS		16
#define HYPTRACE_COUNT_EXITS		8
#define HYPTRACE_COUNT_HCALLS		129
#define HYPTRACE_COUNT_CLASSES		64
#define HYPTRACE_COUNT_CODES		8
#define HYPTRACE_COUNT_MEM_OPS		4
#define HYPTRACE_COUNT_LOCKS		8

/* The first key of each event */
#define HYPTRACE_COUNT_KEY_hyp_enter	0
#define HYPTRACE_COUNT_KEY_host_hcall	(HYPTRACE_COUNT_KEY_hyp_enter + HYPTRACE_COUNT_REASONS)
#define HYPTRACE_COUNT_KEY_guest_exit	(HYPTRACE_COUNT_KEY_host_hcall + HYPTRACE_COUNT_HCALLS)
#define HYPTRACE_COUNT_KEY_mem_transition \
	(HYPTRACE_COUNT_KEY_guest_exit + HYPTRACE_COUNT_CLASSES + HYPTRACE_COUNT_CODES)
#define HYPTRACE_COUNT_KEY_lock_wait \
	(HYPTRACE_COUNT_KEY_mem_transition + HYPTRACE_COUNT_MEM_OPS)
#define HYPTRACE_COUNT_KEY_hyp_exit \
	(HYPTRACE_COUNT_KEY_lock_wait + HYPTRACE_COUNT_LOCKS)
#define HYPTRACE_COUNT_KEYS		(HYPTRACE_COUNT_KEY_hyp_exit + 1)
/* Keys of a part of HYPTRACE_OP_COUNT_RESET */
#define HYPTRACE_COUNT_KEYS_PER_RESET	32

/* Bucket 0: 0 ticks; bucket b: 2^(b-1) to 2^b - 1 ticks; the last one has all longer times, too. */
#define HYPTRACE_COUNT_BUCKETS		32
/* Times of these buckets are first added up in one word per bucket. */
#define HYPTRACE_COUNT_PACKED_BUCKETS	18
/* In such a word, the number of events is above these bits, which have the sum of the times. */
#define HYPTRACE_COUNT_TICK_BITS	40

/**
 * struct hyptrace_count - the counters of a key, as EL2 publishes them
 * @seq:	odd while EL2 changes more than one word of @packed. The host must read it before
 *		and after, and read all again if it was odd or has changed
 * @max:	longest time, in ticks of the counter
 * @total:	sum of the times, ticks, without those in @packed
 * @outside:	of hyp_exit, by its reason: ticks that the CPU was outside of EL2 after such exits,
 *		less the counter as it was at the last one. So the one that is negative is that of
 *		the last exit: add the counter as it is now, or as it was when the CPU entered EL2,
 *		if it is there. EL2 changes them at hyp_exit, not at hyp_enter, and @seq does not
 *		protect them. When EL2 begins to count hyp_enter, the last exit is one with
 *		HYPTRACE_REASON_ERET_HOST; when it ceases to, none of them is negative.
 * @measured:	of all other keys: events that were measured with the PMU
 * @pmu:	the sums of what each counter has counted during them, by its place
 * @reserved:	0
 * @nr:		events by bucket, without those in @packed
 * @packed:	events and times that were not added to @nr and @total so far. So one store
 *		counts an event, and no reader sees an event without its time
 *
 * A page has as many keys as fit. EL2 keeps its own copy, and never reads this one.
 */
struct hyptrace_count {
	__u64 seq;
	__u64 max;
	__u64 total;
	union {
		__u64 outside[HYPTRACE_COUNT_EXITS];
		struct {
			__u64 measured;
			__u64 pmu[HYPTRACE_PMU_COUNTERS];
		};
	};
	__u64 reserved[3];
	__u64 nr[HYPTRACE_COUNT_BUCKETS];
	__u64 packed[HYPTRACE_COUNT_PACKED_BUCKETS];
};

#define HYPTRACE_COUNT_KEYS_PER_PAGE(page_size)	((page_size) / sizeof(struct hyptrace_count))
/* Pairs of pages that a CPU needs */
#define HYPTRACE_COUNT_PAGES(page_size)					\
	((HYPTRACE_COUNT_KEYS + HYPTRACE_COUNT_KEYS_PER_PAGE(page_size) - 1) / \
	 HYPTRACE_COUNT_KEYS_PER_PAGE(page_size))

#endif /* __HYPTRACE_ABI_COUNT_H */
