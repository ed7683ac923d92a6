// SPDX-License-Identifier: GPL-2.0-only
/*
 * Look for data and losses without a hypercall and, for data, without a mutex. Called by reader.c,
 * losses.c and device/.
 */
#include <linux/mm.h>
#include <linux/spinlock.h>

#include "internal.h"
#include "../compat.h"
#include "../../hyp/abi.h"

static u32 committed_bytes(const struct hyptrace_ring_pages *ring, u32 id)
{
	const struct hyptrace_subbuf *page = page_address(ring->pages[id]);

	return min_t(u32, READ_ONCE(page->commit) & HYPTRACE_COMMIT_MASK,
		     HYPTRACE_SUBBUF_DATA_SIZE);
}

/**
 * hyptrace_reader_refresh - update struct hyptrace_meta if the writer does not do that itself
 * @reader:	loaded; its lock or its look_lock held
 */
void hyptrace_reader_refresh(const struct hyptrace_reader *reader)
{
	const struct hyptrace_remote_desc *desc = reader->remote->desc;

	lockdep_assert(lockdep_is_held(&reader->lock) || lockdep_is_held(&reader->look_lock));
	if (desc->ops->look)
		desc->ops->look(reader->cpu, desc->priv);
}

/**
 * hyptrace_reader_look_again - hyptrace_reader_look() right after hyptrace_reader_refresh()
 * @reader:	see there
 * @look:	see there
 */
void hyptrace_reader_look_again(const struct hyptrace_reader *reader, struct hyptrace_look *look)
{
	const struct hyptrace_meta *meta = page_address(reader->ring->meta);
	u32 id = READ_ONCE(reader->id), tail, in_tail;

	look->in_page = committed_bytes(reader->ring, id);
	look->in_page -= min(look->in_page, READ_ONCE(reader->consumed));
	/*
	 * (M) Order the tail before the counts of complete sub-buffers. Then a sub-buffer
	 * that the writer leaves is still the tail here, or is in these counts. Pairs with
	 * (M) in hyp/ring.c:hyptrace_ring_publish().
	 */
	tail = smp_load_acquire(&meta->tail_id);
	look->in_ring = READ_ONCE(meta->unread);
	look->nr_subbufs = READ_ONCE(meta->nr_unread);
	if (tail < reader->ring->nr_pages && tail != id) {
		in_tail = committed_bytes(reader->ring, tail);
		look->in_ring += in_tail;
		look->nr_subbufs += !!in_tail;
	}
}

/**
 * hyptrace_reader_look - look at the data in a ring
 * @reader:	loaded; its lock or its look_lock held
 * @look:	out: the data. A concurrent change appears in this look or in the next one.
 */
void hyptrace_reader_look(const struct hyptrace_reader *reader, struct hyptrace_look *look)
{
	hyptrace_reader_refresh(reader);
	hyptrace_reader_look_again(reader, look);
}

/**
 * hyptrace_count_events - count the events of a sub-buffer
 * @ring:	loaded
 * @id:		the sub-buffer, an index in @ring
 * @begin:	bytes of its data to leave out: whole records
 * @end:	where to end, in bytes of its data: at most at its commit
 * Return: their number. It means nothing if the writer writes over them meanwhile. Context: any.
 */
u32 hyptrace_count_events(const struct hyptrace_ring_pages *ring, u32 id, u32 begin, u32 end)
{
	const struct hyptrace_subbuf *page = page_address(ring->pages[id]);
	struct hyptrace_walk walk = {};

	/* (A) Order commit before the records, as in reader.c:reader_fill(). */
	smp_rmb();
	end = min_t(u32, end, HYPTRACE_SUBBUF_DATA_SIZE);
	if (end > begin)
		hyptrace_subbuf_walk(page->data + begin, end - begin, &walk);
	return walk.events;
}
EXPORT_SYMBOL_GPL(hyptrace_count_events);

static bool is_reached(const struct hyptrace_look *look, u32 capacity,
		       const struct hyptrace_watermark *watermark)
{
	if (!look->in_page && !look->nr_subbufs)
		return false;
	/* A full ring reaches any watermark, because it cannot hold more. */
	if ((!watermark->percent && !watermark->bytes) || look->nr_subbufs >= capacity)
		return true;
	if (watermark->bytes)
		return look->in_page + look->in_ring >= watermark->bytes;
	return (look->nr_subbufs + !!look->in_page) * 100ULL >=
	       (u64)capacity * watermark->percent;
}

/**
 * hyptrace_reader_has_data - whether a ring's data reaches a watermark
 * @reader:	the reader; this consumes nothing
 * @watermark:	the watermark
 * Context: any except a hard interrupt.
 * Return: true if it does, or if the ring is unloaded, so that a read fails at once.
 */
bool hyptrace_reader_has_data(struct hyptrace_reader *reader,
			      const struct hyptrace_watermark *watermark)
{
	struct hyptrace_look look;

	guard(hyptrace_spinlock_bh)(&reader->look_lock);
	if (!reader->ring)
		return true;
	if (reader->is_exchanging)
		return false;
	hyptrace_reader_look(reader, &look);
	return is_reached(&look, reader->ring->nr_pages - HYPTRACE_READER_SUBBUFS, watermark);
}

/**
 * hyptrace_meta_notified - get how many events have fired a HYPTRACE_TRIGGER_NOTIFY
 * @meta:	the writer's, loaded
 * Return: their number since the load. The next look at the ring finds these events.
 */
u64 hyptrace_meta_notified(const struct hyptrace_meta *meta)
{
	/*
	 * (V) Order notified before the commit of its events. Pairs with (V) in
	 * hyp/trigger.c:publish_notified().
	 */
	return smp_load_acquire(&meta->notified);
}

/**
 * hyptrace_reader_notified - get how many events have fired a HYPTRACE_TRIGGER_NOTIFY
 * @reader:	the reader of a CPU
 * Return: their number since the load; 0 while unloaded.
 */
u64 hyptrace_reader_notified(struct hyptrace_reader *reader)
{
	guard(hyptrace_spinlock_bh)(&reader->look_lock);
	return reader->ring ? hyptrace_meta_notified(page_address(reader->ring->meta)) : 0;
}

/**
 * hyptrace_reader_save_losses - keep new losses for the next announcement
 * @reader:	loaded; its lock held
 *
 * The writer publishes each at once, or look does.
 */
void hyptrace_reader_save_losses(struct hyptrace_reader *reader)
{
	const struct hyptrace_meta *meta = page_address(reader->ring->meta);
	u64 losses;

	hyptrace_reader_refresh(reader);
	losses = READ_ONCE(meta->overrun) + READ_ONCE(meta->dropped);
	if (losses > reader->loss_counted) {
		reader->loss_pending += losses - reader->loss_counted;
		reader->loss_counted = losses;
	}
}

/**
 * hyptrace_reader_losses - get the events lost since the last call
 * @reader:	the reader of a CPU
 * @count:	out: events lost since the last call, also before a clear or an unload
 * @total:	out: events lost since the load or the last clear
 * Return: true if @count is not 0.
 */
bool hyptrace_reader_losses(struct hyptrace_reader *reader, u64 *count, u64 *total)
{
	guard(mutex)(&reader->lock);
	if (reader->ring)
		hyptrace_reader_save_losses(reader);
	*count = reader->loss_pending;
	*total = reader->loss_counted;
	reader->loss_pending = 0;
	return *count;
}
