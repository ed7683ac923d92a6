// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resizing the ring of a CPU while it traces, without losing an event that fits. The writer
 * continues in the spare ring, which the host has built. Then each call moves one sub-buffer from
 * the old ring to the new one. Called by hcall.c; for the locks see ring.h.
 */
#include "ring.h"

/* Exchange the memory of the two rings. All other state stays with the CPU's ring. */
static void swap_memory(struct hyptrace_ring *ring, struct hyptrace_ring *spare)
{
	u32 i;

	for (i = 0; i < HYPTRACE_MAX_DIRS; i++)
		swap(ring->dir[i], spare->dir[i]);
	swap(ring->meta, spare->meta);
	swap(ring->nr_pages, spare->nr_pages);
	swap(ring->nr_loaded, spare->nr_loaded);
	swap(ring->nr_tables, spare->nr_tables);
	swap(ring->nr_dirs, spare->nr_dirs);
	swap(ring->discard, spare->discard);
	swap(ring->kept, spare->kept);
}

static void exchange(struct hyptrace_ring *ring, struct hyptrace_ring *spare)
{
	u32 nr_unread = hyptrace_ring_count_complete(ring) + hyptrace_ring_tail_has_data(ring);

	hyptrace_ring_leave(ring);
	spare->head = ring->head;
	spare->nr_unmoved = nr_unread;
	hyptrace_ring_set_state(spare, HYPTRACE_RING_RETIRED);

	swap_memory(ring, spare);
	swap(hyptrace_reader_slot(ring)->page, hyptrace_reader_slot(spare)->page);
	ring->head = 0;
	ring->tail = 0;
	ring->unread = 0;
	ring->nr_unwiped = 0;
	ring->moves_pending = true;
	hyptrace_ring_enter(ring, ring->last_time, 0);
	hyptrace_trigger_count_subbuf(ring);
	/* Close the sub-buffer: the next event must follow a gap record. */
	if (ring->pending)
		ring->end = ring->pos;
	hyptrace_ring_publish(ring);
	hyptrace_trigger_publish(ring);
}

/**
 * hyptrace_ring_exchange() - exchange a CPU's ring for its spare ring
 * @ring:	this CPU's, or one that is not attached
 * @spare:	the spare ring of the same CPU: built, and not exchanged so far
 * Return: 0; -ENODEV one of them is not loaded; -EBUSY another CPU writes to @ring, or
 * @spare is already retired.
 */
int hyptrace_ring_exchange(struct hyptrace_ring *ring, struct hyptrace_ring *spare)
{
	hyptrace_guard(&hyptrace_load_lock);
	hyptrace_guard(&ring->lock);
	hyptrace_guard(&spare->lock);
	if (!hyptrace_ring_is_loaded(ring) || !hyptrace_ring_is_loaded(spare))
		return -ENODEV;
	if (spare->state == HYPTRACE_RING_RETIRED ||
	    (ring->state == HYPTRACE_RING_ATTACHED && !hyptrace_ring_is_local(ring)))
		return -EBUSY;
	exchange(ring, spare);

	return 0;
}

static enum hyptrace_move move(struct hyptrace_ring *ring, struct hyptrace_ring *spare)
{
	u32 last = (spare->head + spare->nr_unmoved - 1) % (spare->nr_pages - 1);
	u32 before = hyptrace_previous_position(ring, ring->head);
	struct hyptrace_slot *from = hyptrace_slot_at(spare, last), *to;

	hyptrace_assert_held(&hyptrace_load_lock);
	hyptrace_assert_held(&spare->lock);
	spare->nr_unmoved--;
	if (!hyptrace_ring_is_loaded(ring) || !ring->moves_pending)
		return HYPTRACE_MOVE_DROPPED;
	if (before == ring->tail) {
		ring->overrun += from->entries;
		ring->nr_overwritten++;
		hyptrace_slot_at(ring, ring->head)->lost += from->entries + from->lost;
		return HYPTRACE_MOVE_DROPPED;
	}

	to = hyptrace_slot_at(ring, before);
	swap(to->page, from->page);
	to->lost = from->lost;
	to->entries = from->entries;
	to->commit = from->commit;
	ring->unread += from->commit;
	ring->head = before;

	WRITE_ONCE(ring->meta->moved.retired_id, from->id);
	WRITE_ONCE(ring->meta->moved.ring_id, to->id);

	return HYPTRACE_MOVE_MOVED;
}

/**
 * hyptrace_ring_move() - move a sub-buffer from the retired ring to the CPU's ring
 * @ring:	the CPU's
 * @spare:	the spare ring of the same CPU
 * Return: enum hyptrace_move; -ENODEV @spare is not retired.
 */
int hyptrace_ring_move(struct hyptrace_ring *ring, struct hyptrace_ring *spare)
{
	int ret = HYPTRACE_MOVE_NONE_LEFT;

	hyptrace_guard(&hyptrace_load_lock);
	hyptrace_guard(&ring->lock);
	hyptrace_guard(&spare->lock);
	if (spare->state != HYPTRACE_RING_RETIRED)
		ret = -ENODEV;
	else if (spare->nr_unmoved)
		ret = move(ring, spare);
	if (hyptrace_ring_is_loaded(ring)) {
		if (ret == HYPTRACE_MOVE_NONE_LEFT)
			ring->moves_pending = false;
		hyptrace_ring_publish(ring);
	}

	return ret;
}
