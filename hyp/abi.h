/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between the writer (EL2) and the driver (EL1): the ops of the
 * one hypercall __hyptrace() and what they carry. Included by both sides.
 *
 * Every op may be called in any state, from any CPU, with any argument; what
 * does not fit is answered with a negative errno and changes nothing. That is
 * so of page numbers only where EL2 is protected: a host that is not kept from
 * EL2's memory is trusted with them.
 *
 *   state of a ring		op that leaves it
 *   EMPTY	no memory	RING_BEGIN		-> BUILDING
 *   BUILDING	loaded or freed	RING_READY		-> DETACHED
 *				RING_FREE, the last	-> EMPTY
 *   DETACHED	nobody writes	ATTACH (by its CPU)	-> ATTACHED
 *				RING_FREE		-> BUILDING
 *   ATTACHED	its CPU writes	DETACH (by its CPU)	-> DETACHED
 *				its CPU goes off	-> PARKED
 *   PARKED	its CPU is off	its CPU comes back	-> ATTACHED
 *				DETACH (by any CPU)	-> DETACHED
 *
 * Each CPU has a second, spare ring, which is never written to: EMPTY, BUILDING and
 * DETACHED as above, and
 *
 *   DETACHED	built		RENEW			-> RETIRED
 *   RETIRED	what was the	RING_FREE, when all was	-> BUILDING
 *		CPU's ring	moved
 */
#ifndef __HYPTRACE_ABI_H
#define __HYPTRACE_ABI_H

#include <linux/types.h>

/* Changes whenever anything in this file changes its meaning. */
#define HYPTRACE_ABI_VERSION	3

/**
 * enum hyptrace_op - first argument of __hyptrace()
 *
 * @HYPTRACE_OP_INFO: (what) what = 0: the contract version; 1: hash of the list
 *	of events (hyptrace_event_list_hash()), never negative.
 * @HYPTRACE_OP_RING_BEGIN: (cpu, nr_pages, flags) start building a ring of
 *	nr_pages data pages, the reader's spare included. -EBUSY unless EMPTY.
 * @HYPTRACE_OP_RING_DIR: (cpu, pfn) donate a page that will hold pointers to
 *	table pages; one for every HYPTRACE_TABLES_PER_DIR tables, before them.
 * @HYPTRACE_OP_RING_TABLE: (cpu, pfn) donate a table page that lists the next
 *	data pages as struct hyptrace_table_entry. The data pages must be the
 *	host's alone and listed once. EL2 shares and pins them: only RING_FREE
 *	ends that. (Without protection the host must have mapped them at EL2.)
 *	After -ENOTRECOVERABLE the table page is EL2's for good, after other errors
 *	it is the host's.
 * @HYPTRACE_OP_RING_READY: (cpu, meta_pfn) all pages were listed; the page at
 *	meta_pfn (shared and pinned likewise) is where EL2 publishes struct
 *	hyptrace_meta.
 * @HYPTRACE_OP_RING_FREE: (cpu) wipe and give back the last table or directory page
 *	with the data pages of the table: 1 while there is more to do, 0 when EMPTY.
 *	-EBUSY while a CPU is attached or parked, or events are to be moved. Once
 *	begun, only RING_FREE is accepted.
 * @HYPTRACE_OP_ATTACH: (cpu, events) on that CPU: write events whose bits are
 *	set. Again while attached: just sets the bits; so does any other CPU
 *	while the ring is parked.
 * @HYPTRACE_OP_DETACH: (cpu) on that CPU, or on any while it is parked.
 * @HYPTRACE_OP_SWAP: (cpu, consumed) give the reader the oldest sub-buffer with
 *	data for its spare, of which it has consumed that many bytes. The id of
 *	the new reader page, the rest in struct hyptrace_meta. -EAGAIN when there
 *	is nothing more; -ESTALE when the reader's page has more than consumed;
 *	-EBUSY from RENEW until all is moved.
 * @HYPTRACE_OP_RESET: (cpu) throw away all events and counters; on that CPU, or
 *	on any while none is attached. Time goes on, but where the clock was set back
 *	far it goes back here: then 1 while old time stamps are still to be wiped, to be
 *	called again until 0.
 * @HYPTRACE_OP_SYNC: (cpu) publish the counters in struct hyptrace_meta.
 * @HYPTRACE_OP_RENEW: (cpu) on that CPU, or on any while none is attached: exchange
 *	its ring for the spare one. The events stay where they are until they are
 *	moved, the counters go on, and the reader's sub-buffer with its data
 *	changes places with the spare ring's. -EBUSY when the spare ring is retired.
 * @HYPTRACE_OP_MOVE: (cpu) take the youngest sub-buffer out of the retired ring and
 *	make it the oldest of the CPU's: HYPTRACE_MOVED. When that is full, count it
 *	as overwritten: HYPTRACE_GONE. That is also the answer, and nothing is
 *	counted, when the CPU's ring was reset or loaded anew since. 0 when none
 *	is left, -ENODEV when no ring is retired.
 * @HYPTRACE_OP_CLOCK: (mult, epoch_cycles, epoch_ns) set the clock: time is
 *	epoch_ns + ((cycles - epoch_cycles) * mult >> HYPTRACE_CLOCK_SHIFT).
 * @HYPTRACE_OP_WRITE: (id) write a selftest event on this CPU. -ENODATA unless it
 *	is enabled here.
 * @HYPTRACE_NR_OPS: how many there are
 */
enum hyptrace_op {
	HYPTRACE_OP_INFO,
	HYPTRACE_OP_RING_BEGIN,
	HYPTRACE_OP_RING_DIR,
	HYPTRACE_OP_RING_TABLE,
	HYPTRACE_OP_RING_READY,
	HYPTRACE_OP_RING_FREE,
	HYPTRACE_OP_ATTACH,
	HYPTRACE_OP_DETACH,
	HYPTRACE_OP_SWAP,
	HYPTRACE_OP_RESET,
	HYPTRACE_OP_SYNC,
	HYPTRACE_OP_RENEW,
	HYPTRACE_OP_MOVE,
	HYPTRACE_OP_CLOCK,
	HYPTRACE_OP_WRITE,
	HYPTRACE_NR_OPS
};

enum hyptrace_info {
	HYPTRACE_INFO_VERSION,
	HYPTRACE_INFO_EVENTS,
};

/* Flags of HYPTRACE_OP_RING_BEGIN */
#define HYPTRACE_RING_DISCARD	(1U << 0)	/* full: drop the new, not the old */

/* In the number of a CPU, for the RING ops: its spare ring */
#define HYPTRACE_SPARE_RING	(1ULL << 32)

/*
 * What MOVE answers: a page of the retired ring and one of the new have changed places,
 * each page having the id of the other from then on.
 */
#define HYPTRACE_GONE		1LL
#define HYPTRACE_MOVED		(1LL << 62)
#define HYPTRACE_MOVED_BITS	31
#define HYPTRACE_MOVED_MASK	((1ULL << HYPTRACE_MOVED_BITS) - 1)
#define HYPTRACE_MOVED_IDS(from, to) \
	(HYPTRACE_MOVED | (__s64)(from) << HYPTRACE_MOVED_BITS | (to))
#define HYPTRACE_MOVED_FROM(ret) \
	((ret) >> HYPTRACE_MOVED_BITS & HYPTRACE_MOVED_MASK)
#define HYPTRACE_MOVED_TO(ret)		((ret) & HYPTRACE_MOVED_MASK)

#define HYPTRACE_CLOCK_SHIFT	32
/* Bits of a time that count: for 292 years, and no sum of two of them wraps. */
#define HYPTRACE_CLOCK_MASK	((1ULL << 63) - 1)

/* Two sub-buffers in the ring and the reader's spare. */
#define HYPTRACE_RING_MIN_PAGES	3

/**
 * struct hyptrace_table_entry - a data page, as listed in a table page
 * @pfn:	its page frame number
 * @reserved:	for EL2, which keeps its own record of the page here once the
 *		table page is its own
 */
struct hyptrace_table_entry {
	__u64 pfn;
	__u64 reserved[3];
};

/* What one call shares, or wipes and gives back, is no more than that. */
#define HYPTRACE_TABLE_BYTES	(512U << 10)
#define HYPTRACE_ENTRIES_PER_TABLE(page_size)	(HYPTRACE_TABLE_BYTES / (page_size))
#define HYPTRACE_TABLES_PER_DIR(page_size)	((page_size) / sizeof(__u64))
#define HYPTRACE_MAX_DIRS	64
#define HYPTRACE_RING_MAX_PAGES(page_size) \
	(HYPTRACE_MAX_DIRS * HYPTRACE_TABLES_PER_DIR(page_size) * \
	 HYPTRACE_ENTRIES_PER_TABLE(page_size))

enum hyptrace_ring_state {
	HYPTRACE_RING_EMPTY,
	HYPTRACE_RING_BUILDING,
	HYPTRACE_RING_DETACHED,
	HYPTRACE_RING_ATTACHED,
	HYPTRACE_RING_PARKED,
	HYPTRACE_RING_RETIRED,
};

/**
 * struct hyptrace_meta - what EL2 publishes of a ring in a page shared with the
 * host; EL2 writes it and never reads it
 * @written:	events that happened while enabled, the lost ones included
 * @overrun:	events overwritten before they were read
 * @dropped:	events dropped because the ring was full (discard mode)
 * @begin:	sub-buffers with an earlier time stamp hold what was thrown away
 * @touched:	sub-buffers that the writer went on to
 * @overwritten: sub-buffers overwritten before they were read
 * @unread:	bytes of data in the complete sub-buffers of the ring: without the
 *		reader's page, and without the one that is written
 * @nr_unread:	how many these are
 * @head_lost:	events missing right before the oldest sub-buffer of the ring
 * @reader_lost: events missing right before the reader's page
 * @reader_id:	the reader's page, an index in the order of the tables
 * @reader_tail: 1 while the writer still commits into the reader's page
 * @reader_entries: events in the reader's page, once @reader_tail is 0
 * @tail_id:	the sub-buffer that is written; the reader's page if @reader_tail
 * @state:	enum hyptrace_ring_state
 *
 * Of a CPU's ring, not of its spare one. Current after every successful SWAP,
 * RESET, SYNC, ATTACH, DETACH, RENEW and MOVE, whenever the writer goes on to the
 * next sub-buffer and whenever it drops an event. In between only @written changes.
 * So the host sees without a call whether there is something to read: what
 * @nr_unread and the commit of the sub-buffer @tail_id say, @tail_id read first.
 */
struct hyptrace_meta {
	__u64 written;
	__u64 overrun;
	__u64 dropped;
	__u64 begin;
	__u64 touched;
	__u64 overwritten;
	__u64 unread;
	__u64 head_lost;
	__u64 reader_lost;
	__u32 nr_unread;
	__u32 reader_id;
	__u32 reader_tail;
	__u32 reader_entries;
	__u32 tail_id;
	__u32 state;
};

/**
 * hyptrace_event_list_hash() - what tells two lists of events apart
 * @list:	name and struct of each, as text
 *
 * FNV-1a, without the sign bit, since HYPTRACE_OP_INFO answers errnos too.
 *
 * Return: the hash.
 */
static inline __s64 hyptrace_event_list_hash(const char *list)
{
	__u64 hash = 0xcbf29ce484222325;

	for (; *list; list++)
		hash = (hash ^ (__u8)*list) * 0x100000001b3;

	return hash >> 1;
}

#endif /* __HYPTRACE_ABI_H */
