/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between the writer (EL2) and the driver (EL1): the ops of the only hypercall,
 * __hyptrace(), and their data. Included by both sides.
 *
 * Every op may be called in any state, from any CPU, with any argument. An op that is not possible
 * returns a negative errno and changes nothing. For page numbers this holds only where pKVM
 * protects EL2. Without protection EL2 trusts the host, which can access EL2's memory anyway.
 *
 *   state of a ring		op that leaves it
 *   EMPTY	no memory	RING_BEGIN		-> BUILDING
 *   BUILDING	loaded or freed	RING_READY		-> DETACHED
 *				RING_FREE, the last	-> EMPTY
 *   DETACHED	nobody writes	ATTACH (by its CPU)	-> ATTACHED
 *				RING_FREE		-> BUILDING
 *   ATTACHED	its CPU writes	DETACH (by its CPU)	-> DETACHED
 *				switching its CPU off	-> PARKED
 *   PARKED	its CPU is off	switching its CPU on	-> ATTACHED
 *				DETACH (by any CPU)	-> DETACHED
 *
 * Each CPU has a second, spare ring, to which no CPU writes. It can be EMPTY, BUILDING
 * and DETACHED as above, and RETIRED, which means that it was the CPU's ring before:
 *
 *   DETACHED	built		EXCHANGE		-> RETIRED
 *   RETIRED	has old events	RING_FREE, when all	-> BUILDING
 *				events have moved
 */
#ifndef __HYPTRACE_ABI_H
#define __HYPTRACE_ABI_H

#include <linux/types.h>

#include "../uapi/linux/hyptrace_record.h"
#include "abi_count.h"
#include "pmu_abi.h"

/* Must change whenever this file or one of *_abi.h and abi_*.h changes its meaning. */
#define HYPTRACE_ABI_VERSION	18

/**
 * enum hyptrace_op - first argument of __hyptrace()
 *
 * @HYPTRACE_OP_INFO: (what) what = 0: the contract version; 1: hash of the list of events
 *	(hyptrace_event_list_hash()), never negative; 2: bit per id of an event that no hook
 *	records, since none has a place in this kernel; 3: the same of an event whose hooks do not
 *	all have one, so that only some record it.
 * @HYPTRACE_OP_RING_BEGIN: (cpu, nr_pages, flags) start building a ring of
 *	nr_pages data pages, the reader's spare included. -EBUSY unless EMPTY.
 * @HYPTRACE_OP_RING_DIR: (cpu, pfn) donate a page for pointers to table pages. Each
 *	HYPTRACE_TABLES_PER_DIR tables need one, donated before them.
 * @HYPTRACE_OP_RING_TABLE: (cpu, pfn) donate a table page that lists the next
 *	data pages as struct hyptrace_table_entry. Returns 1. Then, (cpu, 0): share and pin some
 *	of them: 1 while there are more, else 0. The host must own the data pages alone and list
 *	each once; only RING_FREE ends the sharing. (Without protection the host must have mapped
 *	them at EL2.) After an error the host has the table page, or, of (cpu, 0), EL2 has what it
 *	had, and has shared the pages before the one that it could not share.
 * @HYPTRACE_OP_RING_READY: (cpu, meta_pfn) all pages are listed. EL2 shares and pins
 *	the page at meta_pfn, too, and publishes struct hyptrace_meta there.
 * @HYPTRACE_OP_RING_FREE: (cpu) wipe and give back the last directory page, or the last data
 *	pages, and with the first ones of a table its page: 1 while there are more, 0 when EMPTY.
 *	-EBUSY while a CPU is attached or parked, or events are still to be moved. After
 *	the first RING_FREE no other op but RING_FREE is accepted.
 * @HYPTRACE_OP_ATTACH: (cpu, events) on that CPU: start recording the events whose bits are set. If
 *	it is attached already, change the bits only; any CPU may do that while the ring is parked.
 * @HYPTRACE_OP_DETACH: (cpu) stop recording; on that CPU, or on any while the ring is parked.
 * @HYPTRACE_OP_SWAP: (cpu, consumed) give the reader the oldest sub-buffer with data in exchange
 *	for its spare, of which it has consumed that many bytes. Returns the id of the new reader
 *	page; struct hyptrace_meta has the rest. -EAGAIN when no other sub-buffer has data; -ESTALE
 *	when the reader's page has more than consumed; -EBUSY from EXCHANGE until all is moved.
 * @HYPTRACE_OP_RESET: (cpu) throw away all events and counters; on that CPU, or on any while none
 *	is attached. The ring's time continues; but if the clock was set far back, the ring's time
 *	is set back, too. Returns 1 while old time stamps are still to be wiped: call again until 0.
 * @HYPTRACE_OP_SYNC: (cpu) publish the counters in struct hyptrace_meta, and seal the sub-buffer
 *	that the writer is in, if the ring is HYPTRACE_RING_KEPT.
 * @HYPTRACE_OP_EXCHANGE: (cpu) on that CPU, or on any while none is attached: exchange its ring for
 *	the spare one, which becomes RETIRED. The events stay in the retired ring until they are
 *	moved, and the counters continue. The reader keeps its sub-buffer with the data: it changes
 *	places with the reader's of the spare ring. -EBUSY when the spare ring is already retired.
 * @HYPTRACE_OP_MOVE: (cpu) move the youngest sub-buffer of the retired ring to the
 *	CPU's ring, as its oldest. Returns enum hyptrace_move, or -ENODEV when no ring is
 *	retired. struct hyptrace_meta of the CPU's ring says which pages were exchanged.
 * @HYPTRACE_OP_CLOCK: (mult, epoch_cycles, epoch_ns) set the clock: time is
 *	epoch_ns + ((cycles - epoch_cycles) * mult >> HYPTRACE_CLOCK_SHIFT).
 * @HYPTRACE_OP_WRITE: (id, what) write an event on this CPU: enum hyptrace_write. -ENODATA
 *	unless that event is enabled here, or if a trigger keeps it from being recorded. Its
 *	filter applies, too.
 * @HYPTRACE_OP_FILTER: (where, what, value) on that CPU, or on any while none is attached:
 *	give the next term of an event's filter. hyptrace_filter_where() packs the first
 *	argument, hyptrace_pack_term() the second. Terms follow each other from number 0 on;
 *	number 0 begins again. The last one activates the filter, which replaces the one
 *	that the event had. With 0 terms, and all else 0, the event has no filter any more.
 *	-EINVAL if the term is not valid (struct hyptrace_term) or not the next one. A ring
 *	keeps its filters, attached or not, until the first RING_FREE.
 * @HYPTRACE_OP_TRIGGER: (event, what, after) set what happens when a CPU has recorded the
 *	event after its filter accepted it: enum hyptrace_trigger. Without a filter nothing
 *	happens. HYPTRACE_TRIGGER_NOTIFY is armed at once, the others are not armed until ARM.
 *	after: HYPTRACE_TRIGGER_STOP only, else 0; 32 bits. -EINVAL if one of them is not valid.
 * @HYPTRACE_OP_PAUSE: () until ARM, no CPU records any event, but the one that it is recording
 *	already. If that fires, it does so with the number of the last ARM, and does not end
 *	the pause. While COUNT changes what the CPUs count, a CPU may also record an event that
 *	others count and it does not.
 * @HYPTRACE_OP_ARM: (arm) end the pause, and arm all triggers: if there is one to start, the
 *	CPUs record nothing but the events that start. The first trigger to start, and then the
 *	first one to stop, disarms all others of its kind. arm is a number of the host, not 0,
 *	which struct hyptrace_meta repeats. Of a timed event that begins before PAUSE and ends
 *	after ARM, the duration is wrong, unless ATTACH of its CPU is between the two.
 * @HYPTRACE_OP_COUNT_PAGE: (cpu, pfn, shared_pfn) donate a page for the CPU's counters, and share
 *	and pin the page shared_pfn, where EL2 publishes them: the next of HYPTRACE_COUNT_PAGES
 *	pairs. -EBUSY if all are there, or COUNT_FREE has failed half way. After -ENOTRECOVERABLE
 *	EL2 keeps the first page for good; after any other error the host has both.
 * @HYPTRACE_OP_COUNT_FREE: (cpu) wipe and give back the last pair of pages: 1 while there are
 *	more, else 0. -EBUSY while the CPU counts an event.
 * @HYPTRACE_OP_COUNT: (cpu, events) on that CPU, or on any while it is off: count the
 *	events whose bits are set, and no other. -EINVAL if one of them cannot be counted,
 *	-ENODATA if pages are missing, -EBUSY on another CPU. Counting needs no ring.
 * @HYPTRACE_OP_COUNT_RESET: (cpu, part) on that CPU, or on any while it is off or counts no event:
 *	set the counters of HYPTRACE_COUNT_KEYS_PER_RESET keys to 0. Part 0 has the first ones,
 *	and the times of hyp_exit. Returns 1 if there is a part after it, else 0. -EINVAL no such
 *	part; -ENODATA if pages are missing; -EBUSY on another CPU.
 * @HYPTRACE_OP_PAGE: (pfn) enum hyptrace_page_owner of the page. -EOPNOTSUPP without protection.
 * @HYPTRACE_OP_VOID_HCALLS: (first, bits) which of the hypercalls with the numbers first to first +
 *	63 return nothing. For these, and for invalid ones, a comparison of the field ret of
 *	host_hcall is false. -EINVAL unless first is 0 or 64.
 * @HYPTRACE_OP_FUNCTION: (id, on) start (1) or stop (0) tracing a function of EL2. EL2 changes its
 *	own text, and takes the place from its own list. -EINVAL no such function; -EOPNOTSUPP if
 *	it has no list, and without protection, where the host changes the text.
 * @HYPTRACE_OP_PMU: (cpu, what) on that CPU: measure the events that it counts with a counter of
 *	its PMU: hyptrace_pmu_counter(), which takes the next place or one that is taken; or with
 *	none (HYPTRACE_PMU_NONE, on any CPU while it is off), and set what was measured to 0
 *	(HYPTRACE_PMU_RESET, likewise). Switching the CPU off ends it, too. -EOPNOTSUPP without PMU;
 *	-EINVAL no such place or counter, or the host has not programmed it to count that event, or
 *	it does not count; -ENODATA if pages are missing; -EBUSY on another CPU.
 * @HYPTRACE_NR_OPS: number of ops
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
	HYPTRACE_OP_EXCHANGE,
	HYPTRACE_OP_MOVE,
	HYPTRACE_OP_CLOCK,
	HYPTRACE_OP_WRITE,
	HYPTRACE_OP_FILTER,
	HYPTRACE_OP_TRIGGER,
	HYPTRACE_OP_PAUSE,
	HYPTRACE_OP_ARM,
	HYPTRACE_OP_COUNT_PAGE,
	HYPTRACE_OP_COUNT_FREE,
	HYPTRACE_OP_COUNT,
	HYPTRACE_OP_COUNT_RESET,
	HYPTRACE_OP_PAGE,
	HYPTRACE_OP_VOID_HCALLS,
	HYPTRACE_OP_FUNCTION,
	HYPTRACE_OP_PMU,
	HYPTRACE_NR_OPS
};

enum hyptrace_info {
	HYPTRACE_INFO_VERSION,
	HYPTRACE_INFO_EVENTS,
	HYPTRACE_INFO_MISSING,
	HYPTRACE_INFO_INCOMPLETE,
};

/* What HYPTRACE_OP_WRITE writes: the events selftest and hyp_printk, or none */
enum hyptrace_write {
	HYPTRACE_WRITE_SELFTEST,
	HYPTRACE_WRITE_PRINTK,
	/* no event: arm enum hyptrace_fault_point id; -EINVAL without CONFIG_HYPTRACE_FAULTS */
	HYPTRACE_WRITE_FAULT,
};

/* Where a kernel for tests has EL2 panic, or wait */
enum hyptrace_fault_point {
	HYPTRACE_FAULT_NONE,
	HYPTRACE_FAULT_RESERVE,	/* reserving room for an event: its header is written */
	HYPTRACE_FAULT_COMMIT,	/* before it commits an event that is written */
	HYPTRACE_FAULT_SWAP,	/* swapping the reader page, before it publishes that */
	HYPTRACE_FAULT_USER,	/* returning to user space of the host, as after an abort */
	HYPTRACE_FAULT_TLBI,	/* TLB entries are invalidated: it waits for 1/16 s there */
};

/* The owner of a page, and with whom it shares the page */
enum hyptrace_page_owner {
	HYPTRACE_PAGE_NO_MEMORY,
	HYPTRACE_PAGE_HOST,			/* alone */
	HYPTRACE_PAGE_HOST_SHARED_HYP,
	HYPTRACE_PAGE_HOST_SHARED_GUEST,	/* with guests, which are not protected then */
	HYPTRACE_PAGE_HOST_SHARED_FFA,		/* with the secure world */
	HYPTRACE_PAGE_HYP,			/* alone */
	HYPTRACE_PAGE_HYP_SHARED_HOST,
	/* a protected one: EL2 does not say which one, nor whether it shares the page */
	HYPTRACE_PAGE_GUEST,
	HYPTRACE_NR_PAGE_OWNERS
};

/* Terms of a filter at most */
#define HYPTRACE_FILTER_MAX_TERMS	8

/* In place of the next term: record the event, or do not */
#define HYPTRACE_FILTER_ACCEPT		0xff
#define HYPTRACE_FILTER_REJECT		0xfe
/* ... or record the event without firing its trigger */
#define HYPTRACE_FILTER_RECORD		0xfd

/* Hypercalls that HYPTRACE_OP_VOID_HCALLS can name; none with a greater number is void. */
#define HYPTRACE_FILTER_HCALLS		128

/* Where the first argument of HYPTRACE_OP_FILTER has what; the CPU is in the bits below. */
#define HYPTRACE_FILTER_EVENT_SHIFT	32
#define HYPTRACE_FILTER_NUMBER_SHIFT	48
#define HYPTRACE_FILTER_NR_TERMS_SHIFT	56

/* Operator of a term */
enum hyptrace_term_op {
	HYPTRACE_TERM_EQ,	/* field == value */
	HYPTRACE_TERM_NE,	/* field != value */
	HYPTRACE_TERM_LT,	/* field < value */
	HYPTRACE_TERM_LE,	/* field <= value */
	HYPTRACE_TERM_GT,	/* field > value */
	HYPTRACE_TERM_GE,	/* field >= value */
	HYPTRACE_TERM_AND,	/* (field & value) != 0 */
	HYPTRACE_TERM_NR_OPS
};

/* A term of a filter: compares a field with a value. The evaluation begins with term 0. */
struct hyptrace_term {
	__u64 value;	/* in two's complement; the field is extended to 64 bits */
	__u16 offset;	/* of the field in the payload, behind the event id */
	__u8 width;	/* bytes of the field: 1, 2, 4 or 8, inside the payload */
	__u8 op;	/* enum hyptrace_term_op */
	__u8 is_signed;	/* 1: the field is signed, and the comparison, too; else 0 */
	__u8 on_true;	/* number of a later term; or HYPTRACE_FILTER_ACCEPT, _REJECT or _RECORD */
	__u8 on_false;	/* the same if the comparison is false */
	__u8 reserved;	/* 0 */
};

/**
 * hyptrace_filter_where() - pack the first argument of HYPTRACE_OP_FILTER
 * @cpu:	the CPU
 * @event:	event id
 * @number:	number of the term
 * @nr_terms:	number of terms of the filter
 * Return: the argument.
 */
static inline __u64 hyptrace_filter_where(__u32 cpu, __u16 event, __u8 number, __u8 nr_terms)
{
	return cpu | (__u64)event << HYPTRACE_FILTER_EVENT_SHIFT |
	       (__u64)number << HYPTRACE_FILTER_NUMBER_SHIFT |
	       (__u64)nr_terms << HYPTRACE_FILTER_NR_TERMS_SHIFT;
}

/**
 * hyptrace_pack_term() - pack the second argument of HYPTRACE_OP_FILTER
 * @term:	the term; its value is the third argument
 * Return: the argument.
 */
static inline __u64 hyptrace_pack_term(const struct hyptrace_term *term)
{
	return term->offset | (__u64)term->width << 16 | (__u64)term->op << 24 |
	       (__u64)term->is_signed << 32 | (__u64)term->on_true << 40 |
	       (__u64)term->on_false << 48 | (__u64)term->reserved << 56;
}

/**
 * hyptrace_unpack_term() - unpack the second and the third argument of HYPTRACE_OP_FILTER
 * @what:	second argument
 * @value:	third
 * Return: the term.
 */
static inline struct hyptrace_term hyptrace_unpack_term(__u64 what, __u64 value)
{
	return (struct hyptrace_term) {
		.value = value, .offset = what, .width = what >> 16, .op = what >> 24,
		.is_signed = what >> 32, .on_true = what >> 40, .on_false = what >> 48,
		.reserved = what >> 56,
	};
}

/**
 * enum hyptrace_trigger - what an event does when it is recorded
 * @HYPTRACE_TRIGGER_NONE: nothing
 * @HYPTRACE_TRIGGER_START: all CPUs begin to record
 * @HYPTRACE_TRIGGER_STOP: all CPUs cease to record: at once, or when the first of them has
 *	moved on to the next sub-buffer so many times, or so often that the next time would
 *	overwrite the event. An event that a CPU is recording at that moment is still recorded
 * @HYPTRACE_TRIGGER_NOTIFY: EL2 counts it in @notified of struct hyptrace_meta. It fires each
 *	time, and the recording continues
 * @HYPTRACE_TRIGGER_FOLLOW: only of func: a CPU records functions only when it returns to the host
 *	after an event that a filter or trigger of another event has accepted
 * @HYPTRACE_NR_TRIGGERS: number of the above
 */
enum hyptrace_trigger {
	HYPTRACE_TRIGGER_NONE,
	HYPTRACE_TRIGGER_START,
	HYPTRACE_TRIGGER_STOP,
	HYPTRACE_TRIGGER_NOTIFY,
	HYPTRACE_TRIGGER_FOLLOW,
	HYPTRACE_NR_TRIGGERS
};

/* The event that has started or stopped the recording */
struct hyptrace_fired {
	__u64 time;	/* ns */
	__u32 event;	/* its id */
	__u32 reserved;	/* 0 */
	__u64 arm;	/* number of ARM, once the event has happened on this CPU; published last */
};

/* Flags of HYPTRACE_OP_RING_BEGIN */
#define HYPTRACE_RING_DISCARD	(1U << 0)	/* if full, drop the newest events */
/*
 * The memory of the ring outlives a reset of the machine. EL2 ends each sub-buffer with struct
 * hyptrace_seal when the writer leaves it, when EL2 panics on its CPU, and when the host resets the
 * machine by PSCI. It cleans them, and struct hyptrace_meta, to the point of coherency.
 */
#define HYPTRACE_RING_KEPT	(1U << 1)
#define HYPTRACE_RING_FLAGS	(HYPTRACE_RING_DISCARD | HYPTRACE_RING_KEPT)

/* Flag in the cpu argument of the RING ops: the CPU's spare ring */
#define HYPTRACE_SPARE_RING	(1ULL << 32)

/* What HYPTRACE_OP_MOVE has done */
enum hyptrace_move {
	HYPTRACE_MOVE_NONE_LEFT,	/* the retired ring has no sub-buffer to move */
	/*
	 * A sub-buffer. If the CPU's ring was full, it counts as overwritten. If that ring was
	 * reset or loaded again since EXCHANGE, it does not count.
	 */
	HYPTRACE_MOVE_DROPPED,
	HYPTRACE_MOVE_MOVED,		/* a sub-buffer: see struct hyptrace_moved */
};

/* The pages that a MOVE has exchanged: the one with one id has the other from now on. */
struct hyptrace_moved {
	__u32 retired_id;	/* in the retired ring */
	__u32 ring_id;		/* in the CPU's ring */
};

#define HYPTRACE_CLOCK_SHIFT	32
/* Valid bits of a time: enough for 292 years, and the sum of two never wraps. */
#define HYPTRACE_CLOCK_MASK	((1ULL << 63) - 1)

/* Bytes of records in a sub-buffer, which is a page */
#define HYPTRACE_SUBBUF_DATA_SIZE	(PAGE_SIZE - sizeof(struct hyptrace_subbuf))

/* Two sub-buffers in the ring, and the reader's spare. */
#define HYPTRACE_RING_MIN_PAGES	3

/* A data page, as a table page lists it */
struct hyptrace_table_entry {
	__u64 pfn;
	__u64 reserved[3];	/* for EL2, which keeps its own record here once it owns the page */
};

/* Bytes of the data pages that a table lists */
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

/*
 * What EL2 publishes of a CPU's ring, never of the spare one, in a page shared with the host; EL2
 * writes it and never reads it. EL2 updates it with every successful SWAP, RESET, SYNC, ATTACH,
 * DETACH, EXCHANGE and MOVE. The writer updates it when it moves to the next sub-buffer, when it
 * drops an event, and when a trigger fires. Between updates only @written and @filtered become
 * stale. So the host sees without a call whether there is something to read. It must load @tail_id
 * first, then @nr_unread and the commit of the sub-buffer @tail_id.
 */
struct hyptrace_meta {
	__u64 written;			/* events that happened while enabled, with the lost ones */
	__u64 overrun;			/* events overwritten before they were read */
	__u64 dropped;			/* events dropped because the ring was full */
	__u64 filtered;			/* rejected by their filter; @written does not count them */
	__u64 begin;			/* a reset threw away sub-buffers with an earlier time */
	__u64 nr_entered;		/* how often the writer has moved to the next sub-buffer */
	__u64 nr_overwritten;		/* sub-buffers overwritten before they were read */
	/* bytes in the complete sub-buffers: without the reader's page, and without the writer's */
	__u64 unread;
	__u64 head_lost;		/* events missing right before the oldest sub-buffer */
	__u64 reader_lost;		/* events missing right before the reader's page */
	__u32 nr_unread;		/* complete sub-buffers */
	__u32 reader_id;		/* the reader's page, an index in the order of the tables */
	__u32 writer_in_reader_page;	/* 1: the writer still commits into the reader's page */
	__u32 reader_entries;		/* events in it, once @writer_in_reader_page is 0 */
	__u32 tail_id;			/* where the writer is, also if that is the reader's page */
	__u32 state;			/* enum hyptrace_ring_state */
	struct hyptrace_moved moved;	/* by the last MOVE that returned HYPTRACE_MOVE_MOVED */
	struct hyptrace_fired started;	/* what has started the recording, if on this CPU */
	struct hyptrace_fired stopped;	/* likewise what has stopped it, or will */
	/* HYPTRACE_TRIGGER_NOTIFYs fired since RING_READY; RESET and EXCHANGE do not change it */
	__u64 notified;
	/* number of ARM, if this CPU has ended the recording: @stopped of some CPU says why */
	__u64 ended;
	__u64 unfinished;		/* events being recorded when EL2 panicked: 0 or 1, lost */
};

/**
 * hyptrace_event_list_hash() - hash a list of events, to compare two lists
 * @list:	name and struct of each, as text
 * Return: FNV-1a without the sign bit, since HYPTRACE_OP_INFO can also return errnos.
 */
static inline __s64 hyptrace_event_list_hash(const char *list)
{
	__u64 hash = 0xcbf29ce484222325;

	for (; *list; list++)
		hash = (hash ^ (__u8)*list) * 0x100000001b3;

	return hash >> 1;
}

#endif /* __HYPTRACE_ABI_H */
