// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of a CPU: all that does not happen per event. Called by the writer
 * (hyptrace_ring_make_room() only) and by hcall.c.
 */
#include "ring.h"

static u32 bytes_in_page(struct hyptrace_ring *ring)
{
	return READ_ONCE(ring->pos) - ring->page->data;
}

/**
 * hyptrace_ring_nr_complete() - how many sub-buffers the writer is done with
 * @ring:	loaded, its lock held
 *
 * Return: the number, without the reader's.
 */
u32 hyptrace_ring_nr_complete(struct hyptrace_ring *ring)
{
	u32 nr = ring->tail - ring->head;

	return ring->tail < ring->head ? nr + ring->nr_pages - 1 : nr;
}

/**
 * hyptrace_ring_tail_has_data() - whether the ring's youngest sub-buffer holds data
 * @ring:	loaded, its lock held
 *
 * Return: false if the writer is in the reader's.
 */
bool hyptrace_ring_tail_has_data(struct hyptrace_ring *ring)
{
	return !ring->tail_taken && bytes_in_page(ring);
}

static u32 tail_id(struct hyptrace_ring *ring)
{
	return ring->tail_taken ? hyptrace_reader_slot(ring)->id :
				  hyptrace_slot_at(ring, ring->tail)->id;
}

/**
 * hyptrace_ring_publish() - tell the host of the ring's state
 * @ring:	loaded, its lock held
 */
void hyptrace_ring_publish(struct hyptrace_ring *ring)
{
	struct hyptrace_meta *meta = ring->meta;

	hyptrace_assert_held(&ring->lock);
	WRITE_ONCE(meta->written, READ_ONCE(ring->recorded) + ring->dropped);
	WRITE_ONCE(meta->overrun, ring->overrun);
	WRITE_ONCE(meta->dropped, ring->dropped);
	WRITE_ONCE(meta->begin, ring->begin);
	WRITE_ONCE(meta->touched, ring->touched);
	WRITE_ONCE(meta->overwritten, ring->overwritten);
	WRITE_ONCE(meta->unread, ring->unread);
	WRITE_ONCE(meta->nr_unread, hyptrace_ring_nr_complete(ring));
	WRITE_ONCE(meta->head_lost, hyptrace_slot_at(ring, ring->head)->lost);
	WRITE_ONCE(meta->reader_lost, ring->reader_lost);
	WRITE_ONCE(meta->reader_id, hyptrace_reader_slot(ring)->id);
	WRITE_ONCE(meta->reader_entries, ring->reader_entries);
	WRITE_ONCE(meta->state, ring->state);
	/*
	 * (M) Order the complete sub-buffers before the tail, so that a waiter misses
	 * none that it has known as the tail. Pairs with (M) in
	 * driver/core/look.c:hyptrace_reader_look().
	 */
	smp_store_release(&meta->tail_id, tail_id(ring));
	/*
	 * (B) Order what is said of the reader's page before reader_tail: it is final
	 * once that is 0. Pairs with (B) in driver/core/reader.c:reader_fill().
	 */
	smp_store_release(&meta->reader_tail, ring->tail_taken);
}

static void write_gap(struct hyptrace_ring *ring, u64 lost)
{
	u32 *record = (u32 *)ring->pos;

	record[0] = hyptrace_record_header(HYPTRACE_TYPE_PADDING, 1);
	record[1] = HYPTRACE_GAP_SIZE - sizeof(u32);
	*(u64 *)&record[2] = lost;
	WRITE_ONCE(ring->pos, ring->pos + HYPTRACE_GAP_SIZE);
}

/**
 * hyptrace_ring_enter() - begin with the sub-buffer at the tail
 * @ring:	its lock held, its writer not at work
 * @now:	time of the next record, ns
 * @lost:	events missing right before it
 *
 * Each sub-buffer has a later time stamp than the one before: who looks at the
 * ring without taking anything off it knows them apart by that, and sees that
 * one was written anew while it was looked at. A gap takes a delta of 1 ns.
 */
void hyptrace_ring_enter(struct hyptrace_ring *ring, u64 now, u64 lost)
{
	struct hyptrace_slot *slot = hyptrace_slot_at(ring, ring->tail);
	struct hyptrace_subbuf *page = slot->page;
	u64 gap = lost ? 1 : 0;

	hyptrace_assert_held(&ring->lock);
	if (now < ring->page_time + 1 + gap)
		now = ring->page_time + 1 + gap;
	ring->page_time = now - gap;
	ring->last = now;
	ring->page_first = ring->recorded;
	slot->lost = lost;

	WRITE_ONCE(page->commit, 0);
	/*
	 * (H) the new time comes with no commit of before, and before all that
	 * follows: pairs with who looks on, see linux/hyptrace.h
	 */
	smp_store_release(&page->time_stamp, ring->page_time);
	/* (H) likewise */
	smp_wmb();

	ring->page = page;
	ring->commit = &page->commit;
	ring->end = page->data + sizeof(page->data);
	WRITE_ONCE(ring->pos, page->data);
	if (lost)
		write_gap(ring, lost);
}

/* The oldest sub-buffer goes; what is missing with it is told by the next. */
static void overwrite_head(struct hyptrace_ring *ring)
{
	struct hyptrace_slot *old = hyptrace_slot_at(ring, ring->head);
	struct hyptrace_slot *new;

	ring->head = hyptrace_next_position(ring, ring->head);
	new = hyptrace_slot_at(ring, ring->head);
	new->lost += old->lost + old->entries;
	ring->overrun += old->entries;
	ring->overwritten++;
	ring->unread -= old->commit;
}

/* On to the next sub-buffer; false if there is none: the event is dropped. */
static bool advance(struct hyptrace_ring *ring, u64 now)
{
	u32 entries = ring->recorded - ring->page_first;
	u32 commit = bytes_in_page(ring);
	struct hyptrace_slot *slot;
	bool ok = true;
	u32 next;

	hyptrace_lock(&ring->lock);

	if (ring->tail_taken) {
		ring->tail_taken = false;
		ring->reader_entries = entries;
		ring->reader_final = commit;
	} else {
		next = hyptrace_next_position(ring, ring->tail);
		if (next == ring->head && ring->discard) {
			ring->dropped++;
			ring->pending++;
			/* A smaller one must not slip in before the gap is told. */
			ring->end = ring->pos;
			ok = false;
			goto out;
		}
		slot = hyptrace_slot_at(ring, ring->tail);
		slot->entries = entries;
		slot->commit = commit;
		ring->unread += commit;
		if (next == ring->head)
			overwrite_head(ring);
		ring->tail = next;
		/* All positions have new time stamps. */
		if (!next)
			ring->unwiped = 0;
	}
	ring->touched++;
	hyptrace_ring_enter(ring, now, ring->pending);
	ring->pending = 0;
out:
	hyptrace_ring_publish(ring);
	hyptrace_unlock(&ring->lock);

	return ok;
}

/* In a sub-buffer that was entered before the first event after a loss. */
static void begin_with_gap(struct hyptrace_ring *ring, u64 now)
{
	hyptrace_lock(&ring->lock);
	hyptrace_ring_enter(ring, now, ring->pending);
	ring->pending = 0;
	hyptrace_ring_publish(ring);
	hyptrace_unlock(&ring->lock);
}

/**
 * hyptrace_ring_make_room() - the rare part of a reservation
 * @ring:	this CPU's, attached
 * @now:	the time, ns; earlier than the last record counts as equal to it
 * @size:	bytes of the record, header included, at most a sub-buffer's data
 *
 * Context: the CPU whose ring it is; takes the lock.
 * Return: the delta for the record to be put at @ring->pos, or -ENOSPC if the
 * event was dropped.
 */
s64 hyptrace_ring_make_room(struct hyptrace_ring *ring, u64 now, u32 size)
{
	u32 room = ring->end - ring->pos;
	u64 delta = 0, extend;
	u32 *record;

	if (now > ring->last)
		delta = now - ring->last;
	if (delta > HYPTRACE_MAX_DELTA)
		delta = HYPTRACE_MAX_DELTA;
	now = ring->last + delta;

	extend = delta >> HYPTRACE_DELTA_BITS;
	if (ring->pos == ring->page->data && ring->pending) {
		begin_with_gap(ring, now);
		return 0;
	} else if (ring->pos == ring->page->data) {
		/* Nothing is committed here: the time of the page will do. */
		ring->page_time = now;
		WRITE_ONCE(ring->page->time_stamp, now);
		delta = 0;
	} else if (size + (extend ? HYPTRACE_EXTEND_SIZE : 0) > room) {
		if (!advance(ring, now))
			return -ENOSPC;
		return 0;
	} else if (extend) {
		record = (u32 *)ring->pos;
		record[0] = hyptrace_record_header(HYPTRACE_TYPE_TIME_EXTEND,
						   delta & (BIT(HYPTRACE_DELTA_BITS) - 1));
		record[1] = extend;
		WRITE_ONCE(ring->pos, ring->pos + HYPTRACE_EXTEND_SIZE);
		delta = 0;
	}
	ring->last = now;

	return delta;
}

/* The next sub-buffer may have any time stamp from @now on. */
static void restart_time(struct hyptrace_ring *ring, u64 now)
{
	ring->last = now;
	/* The one after it, which is what ring_enter() asks for, is 0. */
	ring->page_time = ~0ULL;
}

static void clear_ring(struct hyptrace_ring *ring)
{
	struct hyptrace_slot *slot = hyptrace_reader_slot(ring);

	WRITE_ONCE(slot->page->commit, 0);
	ring->tail_taken = false;
	ring->moving = false;
	ring->reader_lost = 0;
	ring->reader_final = 0;
	ring->reader_entries = 0;
	ring->head = 0;
	ring->tail = 0;
	ring->unread = 0;
	ring->touched = 0;
	ring->overwritten = 0;
	ring->overrun = 0;
	ring->dropped = 0;
	ring->pending = 0;
	WRITE_ONCE(ring->recorded, 0);
	hyptrace_ring_enter(ring, ring->last, 0);
	ring->begin = ring->page_time;
}

/**
 * hyptrace_ring_init() - make an empty ring of the pages that were loaded
 * @ring:	all its pages are there
 *
 * Context: the ring's lock held, nobody attached.
 */
void hyptrace_ring_init(struct hyptrace_ring *ring)
{
	hyptrace_trace_set(ring, 0);
	ring->events = 0;
	restart_time(ring, 0);
	ring->unwiped = 0;
	clear_ring(ring);
	hyptrace_ring_set_state(ring, HYPTRACE_RING_DETACHED);
	hyptrace_ring_publish(ring);
}

/**
 * hyptrace_ring_attach() - let this CPU write to its ring
 * @ring:	this CPU's; any CPU's that is parked, to change its events
 * @events:	bit per event id
 *
 * Return: 0; -ENODEV not loaded; -EBUSY another CPU's ring.
 */
int hyptrace_ring_attach(struct hyptrace_ring *ring, u64 events)
{
	int ret = 0;

	hyptrace_lock(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring)) {
		ret = -ENODEV;
	} else if (hyptrace_ring_is_mine(ring)) {
		hyptrace_ring_set_state(ring, HYPTRACE_RING_ATTACHED);
		ring->events = events;
		hyptrace_trace_set(ring, events);
		hyptrace_ring_publish(ring);
	} else if (ring->state == HYPTRACE_RING_PARKED) {
		ring->events = events;
	} else {
		ret = -EBUSY;
	}
	hyptrace_unlock(&ring->lock);

	return ret;
}

/**
 * hyptrace_ring_detach() - cease to write to a ring
 * @ring:	this CPU's, or any CPU's that is parked
 *
 * Return: 0, also when nobody is attached; -ENODEV not loaded; -EBUSY another
 * CPU's ring.
 */
int hyptrace_ring_detach(struct hyptrace_ring *ring)
{
	int ret = 0;

	hyptrace_lock(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring)) {
		ret = -ENODEV;
	} else if (ring->state == HYPTRACE_RING_ATTACHED && !hyptrace_ring_is_mine(ring)) {
		ret = -EBUSY;
	} else {
		hyptrace_ring_set_state(ring, HYPTRACE_RING_DETACHED);
		hyptrace_trace_set(ring, 0);
		hyptrace_ring_publish(ring);
	}
	hyptrace_unlock(&ring->lock);

	return ret;
}

/**
 * hyptrace_ring_park() - this CPU goes off
 * @ring:	this CPU's
 *
 * From here on the ring can be detached without the CPU.
 */
void hyptrace_ring_park(struct hyptrace_ring *ring)
{
	hyptrace_lock(&ring->lock);
	if (ring->state == HYPTRACE_RING_ATTACHED) {
		hyptrace_ring_set_state(ring, HYPTRACE_RING_PARKED);
		hyptrace_trace_set(ring, 0);
		hyptrace_ring_publish(ring);
	}
	hyptrace_unlock(&ring->lock);
}

/**
 * hyptrace_ring_unpark() - this CPU is back, or did not go after all
 * @ring:	this CPU's
 */
void hyptrace_ring_unpark(struct hyptrace_ring *ring)
{
	hyptrace_lock(&ring->lock);
	if (ring->state == HYPTRACE_RING_PARKED) {
		hyptrace_ring_set_state(ring, HYPTRACE_RING_ATTACHED);
		/* The CPU cannot have gone off in a call of ours, nor in a guest. */
		ring->silent = 0;
		hyptrace_trace_set(ring, ring->events);
		hyptrace_ring_publish(ring);
	}
	hyptrace_unlock(&ring->lock);
}

/*
 * The reader gets the oldest sub-buffer. If that is the one being written, the
 * writer goes on in it, and the spare takes its place to be written next.
 */
static void exchange(struct hyptrace_ring *ring)
{
	struct hyptrace_slot *oldest = hyptrace_slot_at(ring, ring->head);
	struct hyptrace_slot *reader = hyptrace_reader_slot(ring);
	struct hyptrace_subbuf *page = oldest->page;
	u32 id = oldest->id;

	ring->reader_lost = oldest->lost;
	if (ring->head == ring->tail) {
		ring->tail_taken = true;
		ring->reader_entries = 0;
		ring->reader_final = 0;
	} else {
		ring->reader_entries = oldest->entries;
		ring->reader_final = oldest->commit;
		ring->unread -= oldest->commit;
		ring->head = hyptrace_next_position(ring, ring->head);
	}
	oldest->page = reader->page;
	oldest->id = reader->id;
	reader->page = page;
	reader->id = id;
}

/**
 * hyptrace_ring_swap() - give the reader the oldest sub-buffer for its spare
 * @ring:	any CPU's
 * @consumed:	bytes of data that the reader has taken from its sub-buffer
 *
 * @consumed guards a reader that followed the writer in its sub-buffer from
 * giving it back with a last bit unread.
 *
 * Return: id of the reader's new sub-buffer; -EAGAIN there is no other with data;
 * -ESTALE there is more in the reader's; -EBUSY older ones are to be moved; -ENODEV
 * not loaded.
 */
int hyptrace_ring_swap(struct hyptrace_ring *ring, u64 consumed)
{
	int ret;

	hyptrace_lock(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring)) {
		ret = -ENODEV;
	} else if (ring->moving) {
		ret = -EBUSY;
	} else if (!ring->tail_taken && consumed < ring->reader_final) {
		ret = -ESTALE;
	} else if (ring->tail_taken ||
		   (ring->head == ring->tail &&
		    !bytes_in_page(ring))) {
		ret = -EAGAIN;
	} else {
		exchange(ring);
		hyptrace_ring_publish(ring);
		ret = hyptrace_reader_slot(ring)->id;
	}
	hyptrace_unlock(&ring->lock);

	return ret;
}

/* Time stamps of before the reset are later than those that follow: take them away. */
static void wipe_old_times(struct hyptrace_ring *ring)
{
	u32 left = HYPTRACE_SLOTS_PER_TABLE;
	struct hyptrace_subbuf *page;

	/* Up to the tail, the writer has given new ones already. */
	while (left-- && ring->unwiped > ring->tail + 1) {
		page = hyptrace_slot_at(ring, --ring->unwiped)->page;
		WRITE_ONCE(page->commit, 0);
		WRITE_ONCE(page->time_stamp, 0);
	}
	if (ring->unwiped <= ring->tail + 1)
		ring->unwiped = 0;
}

static int reset(struct hyptrace_ring *ring)
{
	u64 now;

	if (!ring->unwiped) {
		now = hyptrace_clock(&ring->clock);
		/* 0: not set, or set at this moment */
		if (now && now < ring->last && ring->last - now > HYPTRACE_AHEAD_MAX) {
			restart_time(ring, now);
			ring->unwiped = ring->nr_pages - 1;
			clear_ring(ring);
			WRITE_ONCE(hyptrace_reader_slot(ring)->page->time_stamp, 0);
		} else {
			clear_ring(ring);
		}
	}
	wipe_old_times(ring);
	hyptrace_ring_publish(ring);

	return ring->unwiped ? 1 : 0;
}

/**
 * hyptrace_ring_reset() - throw away all events and counters
 * @ring:	this CPU's, or any CPU's that is not attached
 *
 * The reader keeps its sub-buffer, which is empty then. Time goes on, but where it
 * is far ahead of the clock it goes back. Until the old time stamps are wiped, an
 * observer cannot tell what was thrown away.
 *
 * Return: 0; 1 there are more old time stamps: call again; -ENODEV not loaded; -EBUSY
 * another CPU writes to it.
 */
int hyptrace_ring_reset(struct hyptrace_ring *ring)
{
	int ret;

	hyptrace_lock(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring))
		ret = -ENODEV;
	else if (ring->state == HYPTRACE_RING_ATTACHED && !hyptrace_ring_is_mine(ring))
		ret = -EBUSY;
	else
		ret = reset(ring);
	hyptrace_unlock(&ring->lock);

	return ret;
}

/**
 * hyptrace_ring_sync() - publish the counters
 * @ring:	any CPU's
 *
 * Return: 0; -ENODEV not loaded.
 */
int hyptrace_ring_sync(struct hyptrace_ring *ring)
{
	int ret = 0;

	hyptrace_lock(&ring->lock);
	if (hyptrace_ring_is_loaded(ring))
		hyptrace_ring_publish(ring);
	else
		ret = -ENODEV;
	hyptrace_unlock(&ring->lock);

	return ret;
}
