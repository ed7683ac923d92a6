/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring of a CPU and its writer. Used by hyp/ only. The writer uses the format of the
 * kernel's ring buffer (Documentation/trace/ring-buffer-map.rst and the header of
 * include/linux/ring_buffer.h), as defined in uapi/linux/hyptrace_record.h. EL2 shares the
 * sub-buffers with the host: it writes them and must never read them back, but for the sum of a
 * seal, which decides nothing at EL2.
 *
 * Lock order. A lock may be taken inside those above it, whether or not all of them are
 * held. It may not be taken inside those below it.
 *
 *	hyptrace_load_lock	load.c: building, freeing and resizing of all rings
 *	count_lock		count.c: counters of all CPUs; never with hyptrace_load_lock
 *	host_buffers.lock,	pKVM: ffa.c calls the firmware inside them
 *	version_lock
 *	vm_table_lock		pKVM: pages of guests are reclaimed inside it
 *	host_mmu.lock		pKVM: taken by the functions of env.h that donate, share or
 *				pin a page. Linux 7.3 calls the firmware inside it
 *	pkvm_pgd_lock		pKVM: likewise
 *	vm->lock		pKVM: the stage 2 of a VM
 *	pool->lock		pKVM: the lock of a page pool
 *	ring->lock		a CPU's ring: see struct hyptrace_ring
 *	spare->lock		its spare ring; only resize.c takes both
 *	trigger_lock		trigger.c: triggers, and whether they are armed
 *	users_lock		select.c: which events are on, on any CPU
 *
 *	clock.lock		clock.c: updates of the clock; never nested
 *	text_lock		function/function.c: changes of EL2's text; never nested
 *
 * The order of pKVM's locks among themselves is pKVM's own. EL2 records calls of the firmware,
 * changes of owners, TLB invalidations, pages of pools and waits for locks inside them, and
 * recording takes ring->lock. So no lock of pKVM may be taken inside ring->lock.
 *
 * While a ring is attached, only its CPU writes the fields of the writer. It needs no lock for
 * that, since nothing preempts it at EL2; other CPUs only read these fields. While the ring is not
 * attached, any CPU may write them under ring->lock. Some fields differ: only the CPU itself writes
 * @silent, @vcpu, @clock, @begun, @spans, @enabled, @aside and @to_count, attached or not. Any CPU
 * may clear @clock.valid_cycles and, while the ring is parked, @begun and @spans.
 */
#ifndef __HYPTRACE_RING_H
#define __HYPTRACE_RING_H

#include "env.h"
#include "abi.h"
#include "count.h"
#include "entry.h"
#include "fault.h"
#include "filter.h"
#include "hcall.h"
#include "trigger.h"

/* hyptrace_ring_commit() finds @data from the address of @commit. */
static_assert(offsetof(struct hyptrace_subbuf, data) ==
	      offsetofend(struct hyptrace_subbuf, commit));

/* The largest payload whose size fits in the record's header: see hyptrace_record.h. */
#define HYPTRACE_MAX_SHORT_BYTES	(HYPTRACE_TYPE_MAX_WORDS * sizeof(u32))
#define HYPTRACE_EXTEND_SIZE		(2 * sizeof(u32))
/* The largest delta of a time-extend record: 27 bits and a word. */
#define HYPTRACE_MAX_DELTA_NS		(BIT_ULL(HYPTRACE_DELTA_BITS + 32) - 1)

/*
 * How far the time of a ring may be ahead of the clock, in ns. Some lead is normal, since
 * each sub-buffer gets a time stamp of its own. A larger lead means that the clock was
 * set wrong, and a reset sets the ring's time back.
 */
#define HYPTRACE_MAX_LEAD_NS		BIT_ULL(HYPTRACE_DELTA_BITS)

/* The largest payload: alone in a sub-buffer without seal, after a gap, header and length word. */
#define HYPTRACE_MAX_PAYLOAD_BYTES \
	(HYPTRACE_SUBBUF_DATA_SIZE - sizeof(struct hyptrace_gap) - 2 * sizeof(u32))

/* EL2's private record of a sub-buffer: replaces the host's entry in a table page that EL2 owns. */
struct hyptrace_slot {
	struct hyptrace_subbuf	*page;
	u64			lost;		/* events missing right before it */
	u32			id;		/* its index in the order of the tables */
	u32			entries;	/* events in it, once the writer has left it */
	u64			commit;		/* bytes of data in it, likewise */
};

static_assert(sizeof(struct hyptrace_slot) ==
	      sizeof(struct hyptrace_table_entry));
#define HYPTRACE_SLOTS_PER_TABLE	HYPTRACE_ENTRIES_PER_TABLE(PAGE_SIZE)

static_assert(HYPTRACE_SLOTS_PER_TABLE * sizeof(struct hyptrace_slot) <= PAGE_SIZE);
#define HYPTRACE_TABLE_PTRS_PER_DIR	HYPTRACE_TABLES_PER_DIR(PAGE_SIZE)

/* A CPU's copy of the parameters of the clock: see HYPTRACE_OP_CLOCK */
struct hyptrace_clock_copy {
	/* how many cycles after the epoch 64 bits are enough; an update, by any CPU, clears it */
	u64	valid_cycles;
	u64	mult;
	u64	epoch_cycles;
	u64	epoch_ns;
};

/* A turn to have a spinlock, for which a CPU waits or has waited */
struct hyptrace_turn {
	u64	id;	/* the lock and the CPU's ticket: see lock.c */
	u64	since;	/* the counter when it began to wait, at @id or later */
};

/* The ring of a CPU. The fields that its writer uses together are neighbours. */
struct hyptrace_ring {
	/* bit per event id: counted, not recorded, not measured (pmu.h), @silent lets it pass */
	u64			to_count;
	/* bit per event id: of @selected, without filter, not counted, and @silent lets it pass */
	u64			enabled;
	/* the counter when the CPU began timed events that save nothing, or 0; as @begun */
	struct hyptrace_spans	spans;
	struct hyptrace_clock_copy clock;
	u64			last_time;	/* of the last record */
	u8			*pos;		/* where the writer puts the next record */
	u8			*end;		/* of the present sub-buffer */
	u64			*commit;	/* of the present sub-buffer */
	u64			recorded;	/* events written */
	u64			vcpu;		/* thread of the vCPU that the CPU runs, or 0 */
	u32			silent;		/* enum hyptrace_silence */
	u64			selected;	/* bit per event id: recorded; 0 unless attached */
	/* bit per event id: the others of @selected that @silent lets pass, and those measured */
	u64			aside;
	u64			page_first;	/* @recorded when the writer entered @page */
	u64			page_time;	/* time stamp of @page */
	struct hyptrace_subbuf	*page;		/* the present sub-buffer */
	u64			filtered;	/* events that their filter rejected */
	struct hyptrace_begun	begun;		/* the other timed events that the CPU has begun */
	struct hyptrace_counting counting;
	struct hyptrace_turn	waits;		/* for which the CPU waits, or has waited last */
	/* of an event that is not in the ring yet */
	u64			payload[HYPTRACE_MAX_ENTRY_BYTES / sizeof(u64)];
	bool			panicked;	/* EL2 has panicked on this CPU */
	/* a filter has accepted an event since the CPU has returned to the host, if func is on */
	bool			accepted;

	/*
	 * Protects the fields that follow. It must be held for a few instructions only; while a
	 * kept sub-buffer is sealed, for as many as its bytes. While @state is empty, @discard,
	 * @kept and @nr_pages are under hyptrace_load_lock. Other CPUs take it: keep it out of the
	 * cache lines that the writer uses per event.
	 */
	hyptrace_lock_t		lock __aligned(L1_CACHE_BYTES);
	u64			events;		/* what @selected is while attached */
	u64			begin;		/* a reset threw away earlier sub-buffers */
	u64			nr_entered;	/* how often the writer has moved on */
	u64			nr_overwritten;	/* sub-buffers overwritten unread */
	u64			unread;		/* bytes in the complete sub-buffers */
	u64			overrun;	/* events overwritten unread */
	u64			dropped;	/* events dropped because the ring was full */
	u64			pending;	/* likewise since the last record */
	u64			reader_lost;	/* events missing before the reader's sub-buffer */
	u32			reader_commit;	/* bytes in it, unless @writer_in_reader_page */
	u32			reader_entries;	/* events in it, unless @writer_in_reader_page */
	u32			head;		/* position of the oldest sub-buffer with data */
	/* position of the writer's sub-buffer; if @writer_in_reader_page, of the next one */
	u32			tail;
	/* the writer is still in the sub-buffer that the reader was given */
	bool			writer_in_reader_page;
	bool			discard;	/* when full, drop the newest event */
	bool			kept;		/* the sub-buffers are sealed: HYPTRACE_RING_KEPT */
	bool			moves_pending;	/* the retired ring may have older events */
	/* the first positions, which may have time stamps from before a reset that set time back */
	u32			nr_unwiped;
	enum hyptrace_ring_state state;		/* see abi.h */
	u32			nr_pages;	/* sub-buffers, the reader's included */

	/* The CPU reads it without @lock, and while the ring is attached, @filters, too. */
	u64			has_filter;	/* bit per event id */
	/* by event id: the filter, if there is one; and HYPTRACE_FILTER_NO_RESULT */
	struct hyptrace_ring_filter filters[HYPTRACE_NR_EVENTS];
	struct hyptrace_filter_draft draft;	/* what the host has begun to give */
	struct hyptrace_fired	started;	/* on this CPU since RING_READY */
	struct hyptrace_fired	stopped;	/* likewise; or will stop the recording */
	u64			ended;		/* ARM after which this CPU ended the recording */
	u64			after_arm;	/* the ARM to which @nr_after belongs */
	u32			nr_after;	/* sub-buffers entered since an event that stops */
	u64			notified;	/* events that fired a NOTIFY since RING_READY */

	/* hyptrace_load_lock protects the fields below. A change of @state needs @lock too. */
	u32			nr_loaded;	/* sub-buffers that EL2 has shared and pinned */
	u32			nr_tables;	/* that EL2 owns */
	u32			nr_dirs;	/* that EL2 owns */
	bool			freeing;	/* EL2 takes no more pages */
	u32			nr_unmoved;	/* if retired: sub-buffers from @head on to move */
	struct hyptrace_meta	*meta;		/* in which EL2 publishes the ring's state */
	/* tables of slots: positions 0 to nr_pages - 2 are the ring, the last is the reader's */
	struct hyptrace_slot	**dir[HYPTRACE_MAX_DIRS];
} __aligned(L1_CACHE_BYTES);

static_assert(offsetofend(struct hyptrace_ring, silent) <= 2 * L1_CACHE_BYTES);
/* trace.c loads both in one instruction. */
static_assert(offsetofend(struct hyptrace_ring, to_count) ==
	      offsetof(struct hyptrace_ring, enabled));
static_assert(offsetofend(struct hyptrace_ring, enabled) ==
	      offsetof(struct hyptrace_ring, spans.guest_exit));
/* One instruction loads or stores both. */
static_assert(offsetofend(struct hyptrace_ring, last_time) == offsetof(struct hyptrace_ring, pos));
static_assert(offsetofend(struct hyptrace_ring, end) == offsetof(struct hyptrace_ring, commit));
static_assert(offsetofend(struct hyptrace_ring, recorded) == offsetof(struct hyptrace_ring, vcpu));

/* Why a CPU does not record and count all events at present, as bits */
enum hyptrace_silence {
	/* it serves __hyptrace(), which must leave no events */
	HYPTRACE_SILENT_CALL	= 1 << 0,
	/* a protected guest runs: exits that EL2 handles itself must stay hidden from the host */
	HYPTRACE_SILENT_GUEST	= 1 << 1,
	/*
	 * Instead of CALL, while __hyptrace() takes pages or gives them back, or instead of GUEST,
	 * while a guest gives a page up: HYPTRACE_MEMORY_EVENTS only.
	 */
	HYPTRACE_SILENT_LOAD	= 1 << 2,
};

/* Without these, the owners of pages and what pools have left would not follow from the events. */
#define HYPTRACE_MEMORY_EVENTS						\
	(BIT_ULL(HYPTRACE_EVENT_mem_transition) | BIT_ULL(HYPTRACE_EVENT_tlbi) | \
	 BIT_ULL(HYPTRACE_EVENT_hyp_pool))

/* The events that a CPU may record, as bits */
static __always_inline u64 hyptrace_audible(u32 silent)
{
	if (!silent)
		return HYPTRACE_ALL_EVENTS;

	return silent == HYPTRACE_SILENT_LOAD ? HYPTRACE_MEMORY_EVENTS : 0;
}

/**
 * hyptrace_set_silent() - silence a CPU, or let it record again
 * @ring:	this CPU's
 * @silent:	enum hyptrace_silence; 0: the CPU records and counts what is selected
 * Context: the CPU whose ring it is.
 */
static __always_inline void hyptrace_set_silent(struct hyptrace_ring *ring, u32 silent)
{
	u64 audible = hyptrace_audible(silent);
	u64 selected = ring->selected & audible;
	u64 counted = ring->counting.selected & audible;
	u64 measured = counted & ring->counting.pmu.measured;
	u64 aside = (selected & (READ_ONCE(ring->has_filter) | counted)) | measured;

	WRITE_ONCE(ring->silent, silent);
	WRITE_ONCE(ring->enabled, selected & ~aside);
	ring->aside = aside;
	WRITE_ONCE(ring->to_count, counted & ~selected & ~measured);
}

/* Check whether this CPU measures an event that it counts. */
static __always_inline bool hyptrace_is_measured(const struct hyptrace_ring *ring, u32 event)
{
	return ring->aside & ring->counting.selected & ring->counting.pmu.measured &
	       BIT_ULL(event);
}

/**
 * hyptrace_clock_read_copy() - compute the time from this CPU's copy of the clock
 * @copy:	this CPU's
 * @counter:	as it was just read
 * @now:	out: the time, ns
 * @mult:	out: as in HYPTRACE_OP_CLOCK
 * @epoch:	out: epoch_cycles of HYPTRACE_OP_CLOCK
 * Context: the CPU whose copy it is.
 * Return: whether the copy, and with it @now, is valid; if not, call hyptrace_clock_read().
 */
static __always_inline bool
hyptrace_clock_read_copy(const struct hyptrace_clock_copy *copy, u64 counter, u64 *now, u64 *mult,
			 u64 *epoch)
{
	u64 valid_cycles, epoch_ns, cycles;

	hyptrace_read_pair(&copy->valid_cycles, &valid_cycles, mult);
	hyptrace_read_pair(&copy->epoch_cycles, epoch, &epoch_ns);
	/* A counter before the epoch wraps to a number that is never valid. */
	cycles = counter - *epoch;
	*now = epoch_ns + (cycles * *mult >> HYPTRACE_CLOCK_SHIFT);

	return cycles < valid_cycles;
}

/* Convert a difference of counters to ns. It is wide: a guest may run for a long time. */
static __always_inline u64 hyptrace_cycles_to_ns(u64 cycles, u64 mult)
{
	return (__uint128_t)cycles * mult >> HYPTRACE_CLOCK_SHIFT;
}

/**
 * hyptrace_slot_at() - find the slot at a position
 * @ring:	the ring, not empty
 * @pos:	one that a table has
 * Context: the ring's lock or hyptrace_load_lock held.
 * Return: the slot.
 */
static inline struct hyptrace_slot *hyptrace_slot_at(struct hyptrace_ring *ring,
						     u32 pos)
{
	u32 table = pos / HYPTRACE_SLOTS_PER_TABLE;

	return &ring->dir[table / HYPTRACE_TABLE_PTRS_PER_DIR]
			 [table % HYPTRACE_TABLE_PTRS_PER_DIR]
			 [pos % HYPTRACE_SLOTS_PER_TABLE];
}

static inline struct hyptrace_slot *hyptrace_reader_slot(struct hyptrace_ring *ring)
{
	return hyptrace_slot_at(ring, ring->nr_pages - 1);
}

static inline u32 hyptrace_next_position(struct hyptrace_ring *ring, u32 pos)
{
	return pos + 1 < ring->nr_pages - 1 ? pos + 1 : 0;
}

static inline u32 hyptrace_previous_position(struct hyptrace_ring *ring, u32 pos)
{
	return pos ? pos - 1 : ring->nr_pages - 2;
}

static inline void hyptrace_ring_set_state(struct hyptrace_ring *ring,
					   enum hyptrace_ring_state state)
{
	hyptrace_assert_held(&ring->lock);
	WRITE_ONCE(ring->state, state);
}

/* What the CPU has begun is not recorded. */
static inline void hyptrace_ring_forget_begun(struct hyptrace_ring *ring)
{
	memset(&ring->begun, 0, sizeof(ring->begun));
	memset(&ring->spans, 0, sizeof(ring->spans));
}

static inline bool hyptrace_ring_is_loaded(struct hyptrace_ring *ring)
{
	return ring->state >= HYPTRACE_RING_DETACHED;
}

static inline bool hyptrace_ring_is_local(struct hyptrace_ring *ring)
{
	return ring == hyptrace_this_ring();
}

s64 hyptrace_ring_make_room(struct hyptrace_ring *ring, u64 now, u32 size);

/* Bytes of a record: the header, and the payload rounded up to 4 bytes. */
static __always_inline u32 hyptrace_record_size(u32 payload)
{
	const u32 data = ALIGN(payload, sizeof(u32));

	return data + (data <= HYPTRACE_MAX_SHORT_BYTES ? 1 : 2) * sizeof(u32);
}

/**
 * hyptrace_ring_fits() - check whether an event fits without further work
 * @pos:	where the next record begins
 * @end:	end of the sub-buffer
 * @delta:	ns since the last record
 * @payload:	bytes
 * Context: the CPU whose ring it is.
 * Return: whether hyptrace_ring_put() may be called; if not, hyptrace_ring_reserve() makes room.
 */
static __always_inline bool hyptrace_ring_fits(const u8 *pos, const u8 *end, u64 delta,
					       u32 payload)
{
	/* Unsigned: a step backwards is a delta that is too large. */
	return !(delta >> HYPTRACE_DELTA_BITS) &
	       (pos + hyptrace_record_size(payload) <= end);
}

/**
 * hyptrace_ring_put() - write the header of an event
 * @pos:	where the record begins, with room for it
 * @delta:	ns since the last record
 * @payload:	bytes
 * Context: the CPU whose ring it is.
 * Return: where to write the payload; hyptrace_ring_commit() must follow.
 */
static __always_inline void *hyptrace_ring_put(u8 *pos, u32 delta, u32 payload)
{
	const u32 data = ALIGN(payload, sizeof(u32));
	u32 *record = (u32 *)pos;

	if (data <= HYPTRACE_MAX_SHORT_BYTES) {
		*record++ = hyptrace_record_header(data / sizeof(u32), delta);
	} else {
		*record++ = hyptrace_record_header(HYPTRACE_TYPE_LENGTH_WORD, delta);
		*record++ = data + sizeof(u32);
	}
	hyptrace_may_fault(HYPTRACE_FAULT_RESERVE);

	return record;
}

/**
 * hyptrace_ring_reserve() - reserve room for an event and write its header
 * @ring:	this CPU's, attached
 * @now:	the time, ns; becomes that of the record
 * @payload:	bytes
 * Context: the CPU whose ring it is; takes the lock once per sub-buffer.
 * Return: where to write the payload, then hyptrace_ring_commit(); NULL: dropped (and counted).
 */
static __always_inline void *hyptrace_ring_reserve(struct hyptrace_ring *ring,
						   u64 *now, u32 payload)
{
	s64 delta = *now - ring->last_time;

	if (unlikely(!hyptrace_ring_fits(ring->pos, ring->end, delta, payload))) {
		delta = hyptrace_ring_make_room(ring, *now,
						hyptrace_record_size(payload));
		if (delta < 0)
			return NULL;
		*now = ring->last_time;
	}

	return hyptrace_ring_put(ring->pos, delta, payload);
}

/**
 * hyptrace_ring_commit() - publish the event that was written
 * @ring:	this CPU's
 * @commit:	of the present sub-buffer
 * @recorded:	events written before it
 * @to:		where its payload is
 * @now:	its time, ns
 * @payload:	bytes, as before
 * Context: the CPU whose ring it is.
 */
static __always_inline void hyptrace_ring_commit(struct hyptrace_ring *ring, u64 *commit,
						 u64 recorded, void *to, u64 now, u32 payload)
{
	u8 *pos = to + ALIGN(payload, sizeof(u32));

	hyptrace_write_pair(&ring->last_time, now, (u64)pos);
	WRITE_ONCE(ring->recorded, recorded + 1);
	hyptrace_may_fault(HYPTRACE_FAULT_COMMIT);
	/*
	 * (A) Order the record before commit. Pairs with (A) in
	 * driver/core/reader.c:reader_fill() and in tools/lib/ring/snapshot.c:load().
	 */
	smp_store_release(commit, (u64)(pos - (u8 *)(commit + 1)));
}

/* ring.c */
void hyptrace_ring_init(struct hyptrace_ring *ring);
int hyptrace_ring_attach(struct hyptrace_ring *ring, u64 events);
int hyptrace_ring_detach(struct hyptrace_ring *ring);
int hyptrace_ring_swap(struct hyptrace_ring *ring, u64 consumed);
int hyptrace_ring_reset(struct hyptrace_ring *ring);
void hyptrace_ring_park(struct hyptrace_ring *ring);
void hyptrace_ring_unpark(struct hyptrace_ring *ring);
void hyptrace_ring_publish(struct hyptrace_ring *ring);
void hyptrace_ring_enter(struct hyptrace_ring *ring, u64 now, u64 lost);
void hyptrace_ring_leave(struct hyptrace_ring *ring);
void hyptrace_ring_drop(struct hyptrace_ring *ring, u64 nr);
u32 hyptrace_ring_count_complete(struct hyptrace_ring *ring);
bool hyptrace_ring_tail_has_data(struct hyptrace_ring *ring);

/* seal.c */
void hyptrace_ring_seal(const struct hyptrace_ring *ring);

/**
 * hyptrace_ring_sync() - publish the counters, and seal the sub-buffer that the writer is in
 * @ring:	any CPU's
 * Return: 0; -ENODEV not loaded.
 */
static inline int hyptrace_ring_sync(struct hyptrace_ring *ring)
{
	hyptrace_guard(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring))
		return -ENODEV;
	hyptrace_ring_seal(ring);
	hyptrace_ring_publish(ring);
	if (ring->kept)
		hyptrace_clean(ring->meta, sizeof(*ring->meta));

	return 0;
}

/* resize.c */
int hyptrace_ring_exchange(struct hyptrace_ring *ring, struct hyptrace_ring *spare);
int hyptrace_ring_move(struct hyptrace_ring *ring, struct hyptrace_ring *spare);

/* select.c */
void hyptrace_select_events(struct hyptrace_ring *ring, u64 events);
void hyptrace_select_counted(struct hyptrace_ring *ring, u64 events);
void hyptrace_select_measured(bool begins);
void hyptrace_allow_events(u64 events);

/* clock.c */
u64 hyptrace_clock_read(struct hyptrace_clock_copy *copy);
int hyptrace_clock_set(u64 mult, u64 epoch_cycles, u64 epoch_ns);

/* load.c */
extern hyptrace_lock_t hyptrace_load_lock;
int hyptrace_load_begin(struct hyptrace_ring *ring, u64 nr_pages, u64 flags);
int hyptrace_load_dir(struct hyptrace_ring *ring, u64 pfn);
int hyptrace_load_table(struct hyptrace_ring *ring, u64 pfn);
int hyptrace_load_ready(struct hyptrace_ring *ring, u64 meta_pfn);
int hyptrace_load_free(struct hyptrace_ring *ring);

/* owner.c */
s64 hyptrace_page_owner(u64 pfn);

#endif /* __HYPTRACE_RING_H */
