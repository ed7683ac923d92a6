// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of a CPU: everything that does not happen per event. The writer calls
 * hyptrace_ring_make_room() only; hcall.c, hooks.h, load.c and resize.c call the rest.
 */
#include "ring.h"

static u32 bytes_in_page(struct hyptrace_ring *ring)
{
	return READ_ONCE(ring->pos) - ring->page->data;
}

/**
 * hyptrace_ring_count_complete() - count the sub-buffers that the writer has left
 * @ring:	loaded, its lock held
 * Return: the number, without the reader's.
 */
u32 hyptrace_ring_count_complete(struct hyptrace_ring *ring)
{
	u32 nr = ring->tail - ring->head;

	return ring->tail < ring->head ? nr + ring->nr_pages - 1 : nr;
}

/**
 * hyptrace_ring_tail_has_data() - check whether the ring's youngest sub-buffer holds data
 * @ring:	loaded, its lock held
 * Return: false if the writer is in the reader's sub-buffer.
 */
bool hyptrace_ring_tail_has_data(struct hyptrace_ring *ring)
{
	return !ring->writer_in_reader_page && bytes_in_page(ring);
}

static u32 tail_id(struct hyptrace_ring *ring)
{
	return ring->writer_in_reader_page ? hyptrace_reader_slot(ring)->id :
					     hyptrace_slot_at(ring, ring->tail)->id;
}

/**
 * hyptrace_ring_publish() - publish the ring's state in the page shared with the host
 * @ring:	loaded, its lock held
 */
void hyptrace_ring_publish(struct hyptrace_ring *ring)
{
	struct hyptrace_meta *meta = ring->meta;

	hyptrace_assert_held(&ring->lock);
	WRITE_ONCE(meta->written, READ_ONCE(ring->recorded) + ring->dropped);
	WRITE_ONCE(meta->overrun, ring->overrun);
	WRITE_ONCE(meta->dropped, ring->dropped);
	WRITE_ONCE(meta->filtered, READ_ONCE(ring->filtered));
	WRITE_ONCE(meta->begin, ring->begin);
	WRITE_ONCE(meta->nr_entered, ring->nr_entered);
	WRITE_ONCE(meta->nr_overwritten, ring->nr_overwritten);
	WRITE_ONCE(meta->unread, ring->unread);
	WRITE_ONCE(meta->nr_unread, hyptrace_ring_count_complete(ring));
	WRITE_ONCE(meta->head_lost, hyptrace_slot_at(ring, ring->head)->lost);
	WRITE_ONCE(meta->reader_lost, ring->reader_lost);
	WRITE_ONCE(meta->reader_id, hyptrace_reader_slot(ring)->id);
	WRITE_ONCE(meta->reader_entries, ring->reader_entries);
	WRITE_ONCE(meta->state, ring->state);
	/*
	 * (M) Order unread and nr_unread before tail_id: a waiter that loads the new tail
	 * must see the previous one counted as complete. Pairs with (M) in
	 * driver/core/look.c:hyptrace_reader_look().
	 */
	smp_store_release(&meta->tail_id, tail_id(ring));
	/*
	 * (B) Order reader_entries and the last commit of the reader's page before
	 * writer_in_reader_page: both are final once that is 0. Pairs with (B) in
	 * driver/core/reader.c:reader_fill().
	 */
	smp_store_release(&meta->writer_in_reader_page, ring->writer_in_reader_page);
	/* A ring that is full comes here for each event that it drops. */
	if (ring->kept && ring->pending <= 1)
		hyptrace_clean(meta, sizeof(*meta));
}

static void write_gap(struct hyptrace_ring *ring, u64 lost)
{
	struct hyptrace_gap *gap = (struct hyptrace_gap *)ring->pos;

	gap->header = hyptrace_record_header(HYPTRACE_TYPE_PADDING, HYPTRACE_GAP_DELTA);
	gap->length = HYPTRACE_GAP_LENGTH;
	gap->lost = lost;
	WRITE_ONCE(ring->pos, ring->pos + sizeof(*gap));
}

/**
 * hyptrace_ring_enter() - enter the sub-buffer at the tail
 * @ring:	its lock held; this CPU's, or one that is not attached
 * @now:	time of the next record, ns
 * @lost:	events missing right before it
 *
 * Each sub-buffer gets a later time stamp than the one before. Observers order the
 * sub-buffers by it, and detect one that was entered again while they copied it.
 */
void hyptrace_ring_enter(struct hyptrace_ring *ring, u64 now, u64 lost)
{
	struct hyptrace_slot *slot = hyptrace_slot_at(ring, ring->tail);
	struct hyptrace_subbuf *page = slot->page;
	u64 gap = lost ? HYPTRACE_GAP_DELTA : 0;

	hyptrace_assert_held(&ring->lock);
	if (now < ring->page_time + 1 + gap)
		now = ring->page_time + 1 + gap;
	ring->page_time = now - gap;
	ring->last_time = now;
	ring->page_first = ring->recorded;
	slot->lost = lost;

	WRITE_ONCE(page->commit, 0);
	/*
	 * (H) Order commit = 0 before the new time stamp. Pairs with (H) in
	 * tools/lib/ring/snapshot.c:load().
	 */
	smp_store_release(&page->time_stamp, ring->page_time);
	/*
	 * (H) Order the new time stamp before the records. Pairs with (H) in
	 * tools/lib/ring/snapshot.c:copy().
	 */
	smp_wmb();

	ring->page = page;
	ring->commit = &page->commit;
	ring->end = page->data + HYPTRACE_SUBBUF_DATA_SIZE -
		    (ring->kept ? sizeof(struct hyptrace_seal) : 0);
	WRITE_ONCE(ring->pos, page->data);
	if (lost)
		write_gap(ring, lost);
}

/* Overwrite the oldest sub-buffer. The next one carries the count of its events. */
static void overwrite_head(struct hyptrace_ring *ring)
{
	struct hyptrace_slot *old = hyptrace_slot_at(ring, ring->head);
	struct hyptrace_slot *new;

	ring->head = hyptrace_next_position(ring, ring->head);
	new = hyptrace_slot_at(ring, ring->head);
	new->lost += old->lost + old->entries;
	ring->overrun += old->entries;
	ring->nr_overwritten++;
	ring->unread -= old->commit;
}

/**
 * hyptrace_ring_leave() - end the sub-buffer that the writer writes
 * @ring:	its lock held, its writer not at work
 */
void hyptrace_ring_leave(struct hyptrace_ring *ring)
{
	struct hyptrace_slot *slot = hyptrace_slot_at(ring, ring->tail);
	u32 entries = ring->recorded - ring->page_first;
	u32 commit = bytes_in_page(ring);

	hyptrace_assert_held(&ring->lock);
	hyptrace_ring_seal(ring);
	if (ring->writer_in_reader_page) {
		ring->writer_in_reader_page = false;
		ring->reader_entries = entries;
		ring->reader_commit = commit;
	} else {
		slot->entries = entries;
		slot->commit = commit;
	}
}

/* The sub-buffer at the tail is complete. */
static void advance_tail(struct hyptrace_ring *ring)
{
	u32 next = hyptrace_next_position(ring, ring->tail);

	ring->unread += hyptrace_slot_at(ring, ring->tail)->commit;
	if (next == ring->head)
		overwrite_head(ring);
	ring->tail = next;
	/* The writer has given all positions new time stamps. */
	if (!next)
		ring->nr_unwiped = 0;
}

static void enter_next_subbuf(struct hyptrace_ring *ring, u64 now)
{
	bool in_reader_page = ring->writer_in_reader_page;

	hyptrace_ring_leave(ring);
	if (!in_reader_page)
		advance_tail(ring);
	ring->nr_entered++;
	hyptrace_ring_enter(ring, now, ring->pending);
	ring->pending = 0;
	hyptrace_trigger_count_subbuf(ring);
}

static bool must_drop(struct hyptrace_ring *ring)
{
	return ring->discard && !ring->writer_in_reader_page &&
	       hyptrace_next_position(ring, ring->tail) == ring->head;
}

static void drop_event(struct hyptrace_ring *ring)
{
	/* No record follows before the next sub-buffer. */
	if (!ring->pending)
		hyptrace_ring_seal(ring);
	ring->dropped++;
	ring->pending++;
	/*
	 * Close the sub-buffer: a smaller event that still fits must not be recorded before
	 * the gap record.
	 */
	ring->end = ring->pos;
}

/* Enter the next sub-buffer. Returns false if there is none: the event is dropped. */
static bool advance(struct hyptrace_ring *ring, u64 now)
{
	bool dropped;

	hyptrace_guard(&ring->lock);
	dropped = must_drop(ring);
	if (dropped)
		drop_event(ring);
	else
		enter_next_subbuf(ring, now);
	hyptrace_ring_publish(ring);

	return !dropped;
}

/**
 * hyptrace_ring_drop() - count events as dropped that nobody has tried to record
 * @ring:	this CPU's, attached
 * @nr:		how many, not 0
 * Context: the CPU whose ring it is; takes the lock.
 */
void hyptrace_ring_drop(struct hyptrace_ring *ring, u64 nr)
{
	hyptrace_guard(&ring->lock);
	drop_event(ring);
	ring->dropped += nr - 1;
	ring->pending += nr - 1;
	hyptrace_ring_publish(ring);
	if (ring->kept)
		hyptrace_clean(ring->meta, sizeof(*ring->meta));
}

/* Events were missing when EXCHANGE entered this empty sub-buffer: it needs a gap record. */
static void reenter_with_gap(struct hyptrace_ring *ring, u64 now)
{
	hyptrace_guard(&ring->lock);
	hyptrace_ring_enter(ring, now, ring->pending);
	ring->pending = 0;
	hyptrace_ring_publish(ring);
}

/* The sub-buffer is empty: a new time stamp makes a time-extend unnecessary. */
static void update_time_stamp(struct hyptrace_ring *ring, u64 now)
{
	ring->page_time = now;
	WRITE_ONCE(ring->page->time_stamp, now);
	ring->last_time = now;
}

static void put_time_extend(struct hyptrace_ring *ring, u64 delta)
{
	u32 *record = (u32 *)ring->pos;

	record[0] = hyptrace_record_header(HYPTRACE_TYPE_TIME_EXTEND,
					   delta & (BIT(HYPTRACE_DELTA_BITS) - 1));
	record[1] = delta >> HYPTRACE_DELTA_BITS;
	WRITE_ONCE(ring->pos, ring->pos + HYPTRACE_EXTEND_SIZE);
}

/**
 * hyptrace_ring_make_room() - make room for a record that does not fit at once
 * @ring:	this CPU's, attached
 * @now:	the time, ns; earlier than the last record counts as equal to it
 * @size:	bytes of the record, header included, at most a sub-buffer's data
 * Context: the CPU whose ring it is; takes the lock.
 * Return: the delta for the record to be put at @ring->pos, or -ENOSPC if the event was dropped.
 */
s64 hyptrace_ring_make_room(struct hyptrace_ring *ring, u64 now, u32 size)
{
	u32 room = ring->end - ring->pos;
	u64 delta = 0;
	bool extend;

	if (now > ring->last_time)
		delta = now - ring->last_time;
	if (delta > HYPTRACE_MAX_DELTA_NS)
		delta = HYPTRACE_MAX_DELTA_NS;
	now = ring->last_time + delta;

	if (ring->pos == ring->page->data) {
		if (ring->pending)
			reenter_with_gap(ring, now);
		else
			update_time_stamp(ring, now);
		return 0;
	}
	extend = delta >> HYPTRACE_DELTA_BITS;
	if (size + (extend ? HYPTRACE_EXTEND_SIZE : 0) > room)
		return advance(ring, now) ? 0 : -ENOSPC;

	ring->last_time = now;
	if (!extend)
		return delta;
	put_time_extend(ring, delta);

	return 0;
}

/* Let the next sub-buffer have any time stamp from @now on. */
static void restart_time(struct hyptrace_ring *ring, u64 now)
{
	ring->last_time = now;
	/* hyptrace_ring_enter() requires a time stamp of at least @page_time + 1, which is 0. */
	ring->page_time = ~0ULL;
}

static void clear_ring(struct hyptrace_ring *ring)
{
	struct hyptrace_slot *slot = hyptrace_reader_slot(ring);

	WRITE_ONCE(slot->page->commit, 0);
	ring->writer_in_reader_page = false;
	ring->moves_pending = false;
	ring->reader_lost = 0;
	ring->reader_commit = 0;
	ring->reader_entries = 0;
	ring->head = 0;
	ring->tail = 0;
	ring->unread = 0;
	ring->nr_entered = 0;
	ring->nr_overwritten = 0;
	ring->overrun = 0;
	ring->dropped = 0;
	ring->pending = 0;
	WRITE_ONCE(ring->recorded, 0);
	WRITE_ONCE(ring->filtered, 0);
	hyptrace_ring_enter(ring, ring->last_time, 0);
	ring->begin = ring->page_time;
}

/**
 * hyptrace_ring_init() - make an empty ring of the pages that were loaded
 * @ring:	all its pages are loaded
 * Context: the ring's lock held, no CPU attached.
 */
void hyptrace_ring_init(struct hyptrace_ring *ring)
{
	hyptrace_select_events(ring, 0);
	ring->events = 0;
	restart_time(ring, 0);
	ring->nr_unwiped = 0;
	clear_ring(ring);
	hyptrace_ring_set_state(ring, HYPTRACE_RING_DETACHED);
	hyptrace_ring_publish(ring);
	hyptrace_trigger_forget(ring);
}

/**
 * hyptrace_ring_attach() - let this CPU write to its ring
 * @ring:	this CPU's; or that of a parked CPU, to change its events only
 * @events:	bit per event id
 * Return: 0; -ENODEV not loaded; -EBUSY another CPU's ring.
 */
int hyptrace_ring_attach(struct hyptrace_ring *ring, u64 events)
{
	hyptrace_guard(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring))
		return -ENODEV;
	if (!hyptrace_ring_is_local(ring) && ring->state != HYPTRACE_RING_PARKED)
		return -EBUSY;

	/* What the CPU has begun may be from before a pause, or before it was switched off. */
	hyptrace_ring_forget_begun(ring);
	ring->events = events;
	if (!hyptrace_ring_is_local(ring))
		return 0;
	hyptrace_ring_set_state(ring, HYPTRACE_RING_ATTACHED);
	/* Timed events need the rate of the clock. */
	hyptrace_clock_read(&ring->clock);
	hyptrace_select_events(ring, events);
	hyptrace_ring_publish(ring);

	return 0;
}

/**
 * hyptrace_ring_detach() - stop writing to a ring
 * @ring:	this CPU's, or that of a parked CPU
 * Return: 0, also when no CPU is attached; -ENODEV not loaded; -EBUSY another CPU's ring.
 */
int hyptrace_ring_detach(struct hyptrace_ring *ring)
{
	hyptrace_guard(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring))
		return -ENODEV;
	if (ring->state == HYPTRACE_RING_ATTACHED && !hyptrace_ring_is_local(ring))
		return -EBUSY;
	hyptrace_ring_set_state(ring, HYPTRACE_RING_DETACHED);
	hyptrace_select_events(ring, 0);
	hyptrace_ring_publish(ring);

	return 0;
}

/**
 * hyptrace_ring_park() - park this CPU's ring before the CPU is off: hyptrace_cpu_off()
 * @ring:	this CPU's
 */
void hyptrace_ring_park(struct hyptrace_ring *ring)
{
	hyptrace_guard(&ring->lock);
	if (ring->state != HYPTRACE_RING_ATTACHED)
		return;
	hyptrace_ring_set_state(ring, HYPTRACE_RING_PARKED);
	hyptrace_select_events(ring, 0);
	hyptrace_ring_publish(ring);
}

/**
 * hyptrace_ring_unpark() - attach this CPU to its parked ring again
 * @ring:	this CPU's
 *
 * The CPU was switched on again, or could not be switched off. In the latter case it ends the
 * events that it began before, such as the call that has failed.
 */
void hyptrace_ring_unpark(struct hyptrace_ring *ring)
{
	hyptrace_guard(&ring->lock);
	if (ring->state != HYPTRACE_RING_PARKED)
		return;
	hyptrace_ring_set_state(ring, HYPTRACE_RING_ATTACHED);
	/* Left from a time when no CPU recorded any event: a silent CPU is not switched off. */
	WRITE_ONCE(ring->silent, 0);
	hyptrace_select_events(ring, ring->events);
	hyptrace_ring_publish(ring);
}

/*
 * Give the reader the oldest sub-buffer in exchange for its spare. If the writer is in the
 * oldest, it continues there, and the spare becomes the sub-buffer that it enters next.
 */
static void swap_reader_page(struct hyptrace_ring *ring)
{
	struct hyptrace_slot *oldest = hyptrace_slot_at(ring, ring->head);
	struct hyptrace_slot *reader = hyptrace_reader_slot(ring);
	struct hyptrace_subbuf *page = oldest->page;
	u32 id = oldest->id;

	ring->reader_lost = oldest->lost;
	if (ring->head == ring->tail) {
		ring->writer_in_reader_page = true;
		ring->reader_entries = 0;
		ring->reader_commit = 0;
	} else {
		ring->reader_entries = oldest->entries;
		ring->reader_commit = oldest->commit;
		ring->unread -= oldest->commit;
		ring->head = hyptrace_next_position(ring, ring->head);
	}
	oldest->page = reader->page;
	oldest->id = reader->id;
	hyptrace_may_fault(HYPTRACE_FAULT_SWAP);
	reader->page = page;
	reader->id = id;
}

/**
 * hyptrace_ring_swap() - give the reader the oldest sub-buffer in exchange for its spare
 * @ring:	any CPU's
 * @consumed:	bytes of data that the reader has consumed of its sub-buffer
 *
 * A reader may follow the writer in its sub-buffer. @consumed keeps it from giving that
 * back before it has read the last records.
 *
 * Return: id of the reader's new sub-buffer; -EAGAIN no other sub-buffer has data; -ESTALE the
 * reader's has more than @consumed; -EBUSY older ones are still to be moved; -ENODEV not loaded.
 */
int hyptrace_ring_swap(struct hyptrace_ring *ring, u64 consumed)
{
	hyptrace_guard(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring))
		return -ENODEV;
	if (ring->moves_pending)
		return -EBUSY;
	if (!ring->writer_in_reader_page && consumed < ring->reader_commit)
		return -ESTALE;
	if (ring->writer_in_reader_page || (ring->head == ring->tail && !bytes_in_page(ring)))
		return -EAGAIN;
	swap_reader_page(ring);
	hyptrace_ring_publish(ring);

	return hyptrace_reader_slot(ring)->id;
}

/* Wipe time stamps from before the reset: they are later than those that follow it. */
static void wipe_old_times(struct hyptrace_ring *ring)
{
	u32 left = HYPTRACE_SLOTS_PER_TABLE;
	struct hyptrace_subbuf *page;

	/* The writer has given the positions up to the tail new ones. */
	while (left-- && ring->nr_unwiped > ring->tail + 1) {
		page = hyptrace_slot_at(ring, --ring->nr_unwiped)->page;
		WRITE_ONCE(page->commit, 0);
		WRITE_ONCE(page->time_stamp, 0);
		if (ring->kept)
			hyptrace_clean(page, sizeof(*page));
	}
	if (ring->nr_unwiped <= ring->tail + 1)
		ring->nr_unwiped = 0;
}

static int reset_ring(struct hyptrace_ring *ring)
{
	/* The ring's own copy belongs to its CPU, which may read it now, attached or not. */
	struct hyptrace_clock_copy copy;
	u64 now;

	if (!ring->nr_unwiped) {
		/* The next boot takes a sub-buffer without a seal for a damaged one. */
		hyptrace_ring_seal(ring);
		now = hyptrace_clock_read(&copy);
		/* 0: the clock is not set, or was updated during the call */
		if (now && now < ring->last_time && ring->last_time - now > HYPTRACE_MAX_LEAD_NS) {
			restart_time(ring, now);
			ring->nr_unwiped = ring->nr_pages - 1;
			clear_ring(ring);
			WRITE_ONCE(hyptrace_reader_slot(ring)->page->time_stamp, 0);
			if (ring->kept)
				hyptrace_clean(hyptrace_reader_slot(ring)->page, PAGE_SIZE);
		} else {
			clear_ring(ring);
		}
	}
	wipe_old_times(ring);
	hyptrace_ring_publish(ring);

	return ring->nr_unwiped ? 1 : 0;
}

/**
 * hyptrace_ring_reset() - throw away all events and counters
 * @ring:	this CPU's, or one that is not attached
 *
 * The reader keeps its sub-buffer, which becomes empty. The ring's time continues; but if it is too
 * far ahead of the clock (HYPTRACE_MAX_LEAD_NS), it is set back to the clock. Until all older time
 * stamps are wiped, an observer may take events that were thrown away for present ones.
 *
 * Return: 0; 1 older time stamps are left: call again; -ENODEV not loaded; -EBUSY
 * another CPU writes to the ring.
 */
int hyptrace_ring_reset(struct hyptrace_ring *ring)
{
	hyptrace_guard(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring))
		return -ENODEV;
	if (ring->state == HYPTRACE_RING_ATTACHED && !hyptrace_ring_is_local(ring))
		return -EBUSY;

	return reset_ring(ring);
}
