// SPDX-License-Identifier: GPL-2.0-only
/*
 * The read side of a CPU's ring: reader page, swap, exact counts. For device/, netlink/ and core.
 *
 * The writer may run on another CPU at the same time. This orders the two:
 *
 *	writer (hyp/ring.c)			reader
 *
 *	store record				load commit, acquire	(A)
 *	store commit, release			load records
 *
 *	store last commit of the page		load writer_in_reader_page,
 *	store reader_entries			acquire			(B)
 *	store writer_in_reader_page = 0,	load commit
 *	release					load reader_entries
 *
 * So the reader sees each record that commit covers. After it has seen
 * writer_in_reader_page = 0, commit and reader_entries are final.
 *
 * All this memory is shared with the writer. The reader loads each value once and checks
 * it. Where possible, it copies records before it walks over them.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dump.h"
#include "internal.h"
#include "../compat.h"
#include "../../hyp/abi.h"

/*
 * Two rounds are enough: a swap gives a page with events, or fails because the current page
 * has grown. The limit stops a remote that breaks this rule from keeping the reader here.
 */
#define FILL_ROUNDS_MAX	4

static struct hyptrace_subbuf *reader_page(const struct hyptrace_reader *reader)
{
	return page_address(reader->ring->pages[reader->id]);
}

static const struct hyptrace_meta *reader_meta(const struct hyptrace_reader *reader)
{
	return page_address(reader->ring->meta);
}

/**
 * hyptrace_reader_init - create the reader of a CPU, without a ring
 * @remote:	the remote
 * @cpu:	the CPU
 * Return: 0 or -ENOMEM.
 */
int hyptrace_reader_init(struct hyptrace_remote *remote, unsigned int cpu)
{
	struct hyptrace_reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);

	if (!reader)
		return -ENOMEM;
	reader->remote = remote;
	reader->cpu = cpu;
	mutex_init(&reader->map_lock);
	spin_lock_init(&reader->look_lock);
	mutex_init(&reader->lock);
	remote->readers[cpu] = reader;
	return 0;
}

/**
 * hyptrace_reader_destroy - undo hyptrace_reader_init()
 * @reader:	the reader, or NULL
 */
void hyptrace_reader_destroy(struct hyptrace_reader *reader)
{
	if (!reader)
		return;
	mutex_destroy(&reader->lock);
	mutex_destroy(&reader->map_lock);
	kfree(reader);
}

static void reader_reset(struct hyptrace_reader *reader)
{
	WRITE_ONCE(reader->consumed, 0);
	reader->page_events = 0;
	reader->time = 0;
	reader->lost = 0;
	reader->swap_lost = 0;
	reader->next_lost = 0;
	reader->read_left = 0;
	reader->read = 0;
	reader->counts_later = false;
	reader->reported = 0;
	reader->loss_counted = 0;
}

/**
 * hyptrace_reader_load - give the reader its ring
 * @reader:	has no ring
 * @ring:	a ring that the writer has accepted; its last page is the reader page
 * @user_meta:	the meta page of the mappings
 */
void hyptrace_reader_load(struct hyptrace_reader *reader,
			  const struct hyptrace_ring_pages *ring,
			  struct hyptrace_map_meta *user_meta)
{
	guard(mutex)(&reader->lock);
	guard(mutex)(&reader->map_lock);
	reader->user_meta = user_meta;
	reader_reset(reader);
	scoped_guard(hyptrace_spinlock_bh, &reader->look_lock) {
		reader->ring = ring;
		WRITE_ONCE(reader->id, ring->nr_pages - 1);
	}
	hyptrace_user_meta_update(reader);
	hyptrace_dump_ring(reader);
}

static void reader_sync(struct hyptrace_reader *reader)
{
	const struct hyptrace_remote_desc *desc = reader->remote->desc;

	/* After a failure, the counts are those that the writer published last: good enough. */
	if (desc->ops->sync)
		desc->ops->sync(reader->cpu, desc->priv);
	else
		hyptrace_reader_refresh(reader);
}

/**
 * hyptrace_reader_unload - take the ring away from the reader
 * @reader:	after the return, nothing calls swap or sync for it
 */
void hyptrace_reader_unload(struct hyptrace_reader *reader)
{
	guard(mutex)(&reader->lock);
	if (!reader->ring)
		return;
	hyptrace_reader_save_losses(reader);
	hyptrace_dump_ring_end(reader);
	scoped_guard(mutex, &reader->map_lock) {
		free_page((unsigned long)reader->user_meta);
		reader->user_meta = NULL;
		guard(hyptrace_spinlock_bh)(&reader->look_lock);
		reader->ring = NULL;
	}
}

/**
 * hyptrace_reader_exchange_ring - replace the pages of the ring, and keep its events
 * @reader:	control mutex of its remote held; not mapped, and mapping is forbidden
 * @old:	the current pages of the ring
 * @new:	the new pages; on success, the contents of @old and @new are exchanged
 * Return: 0, or the error of the remote's callback.
 */
int hyptrace_reader_exchange_ring(struct hyptrace_reader *reader, struct hyptrace_ring_pages *old,
				  struct hyptrace_ring_pages *new)
{
	const struct hyptrace_remote_desc *desc = reader->remote->desc;
	int err;

	guard(mutex)(&reader->lock);
	/* The callback exchanges pages, so waiters must not look. resize.c wakes them later. */
	scoped_guard(hyptrace_spinlock_bh, &reader->look_lock)
		reader->is_exchanging = true;
	err = desc->ops->exchange_ring(reader->cpu, old, reader->id, new, desc->priv);
	scoped_guard(hyptrace_spinlock_bh, &reader->look_lock) {
		if (!err) {
			swap(*old, *new);
			WRITE_ONCE(reader->id, old->nr_pages - 1);
		}
		/* for a panic that comes in between */
		barrier();
		WRITE_ONCE(reader->is_exchanging, false);
	}
	if (!err) {
		reader->next_lost = READ_ONCE(reader_meta(reader)->head_lost);
		hyptrace_user_meta_update(reader);
		hyptrace_dump_ring(reader);
	}
	return err;
}

static int reader_swap(struct hyptrace_reader *reader)
{
	const struct hyptrace_remote_desc *desc = reader->remote->desc;
	struct hyptrace_swap swap;
	int err;

	err = desc->ops->swap_reader_page(reader->cpu, reader->consumed, &swap, desc->priv);
	if (err)
		return err;
	if (swap.id >= reader->ring->nr_pages) {
		pr_err_ratelimited("hyptrace: remote \"%s\": CPU %u: the swap gave sub-buffer %u of %u\n",
				   reader->remote->name, reader->cpu, swap.id,
				   reader->ring->nr_pages);
		return -EIO;
	}

	WRITE_ONCE(reader->id, swap.id);
	WRITE_ONCE(reader->consumed, 0);
	reader->page_events = 0;
	reader->next_lost = 0;
	reader->lost += swap.lost;
	reader->swap_lost = swap.lost;
	return 0;
}

/*
 * Whether there is data behind the reader page, which has been consumed. If the writer has left
 * the page, the rest of a read() is behind it, and no look is needed.
 */
static bool has_more(const struct hyptrace_reader *reader, bool final)
{
	struct hyptrace_look look;

	if (final && reader->read_left)
		return true;
	hyptrace_reader_look_again(reader, &look);
	return look.in_page || look.nr_subbufs;
}

/* Swap if needed. @end: where data ends. @final: the writer has left the page, so @end stays. */
static int reader_fill(struct hyptrace_reader *reader, u32 *end, bool *final)
{
	unsigned int round;
	u64 commit;
	int err = -ESTALE;

	for (round = 0; round < FILL_ROUNDS_MAX; round++) {
		/* A swap has published it. */
		if (err)
			hyptrace_reader_refresh(reader);
		/*
		 * (B) Order writer_in_reader_page before commit and reader_entries. Pairs with
		 * (B) in hyp/ring.c:hyptrace_ring_publish().
		 */
		*final = !smp_load_acquire(&reader_meta(reader)->writer_in_reader_page);
		/*
		 * (A) Order commit before the records. Pairs with (A) in
		 * hyp/ring.h:hyptrace_ring_commit().
		 */
		commit = smp_load_acquire(&reader_page(reader)->commit);
		*end = min_t(u32, commit & HYPTRACE_COMMIT_MASK, HYPTRACE_SUBBUF_DATA_SIZE);
		if (*end > reader->consumed)
			return 0;

		/* Avoid a hypercall for a swap that gives no data. */
		if (!has_more(reader, *final))
			return -EAGAIN;
		err = reader_swap(reader);
		if (err && err != -ESTALE)
			return err;
	}
	return -EAGAIN;
}

/* Use the writer's count of events in the page only if it is plausible. */
static bool entries_of_page(const struct hyptrace_reader *reader, u32 end, u32 *events)
{
	/* far too many if the page has fewer than before */
	*events = READ_ONCE(reader_meta(reader)->reader_entries) - reader->page_events;
	return *events <= (end - reader->consumed) / HYPTRACE_RECORD_MIN;
}

/* Account for the delivery of the page up to @end. @data points to the delivered records. */
static void reader_consume(struct hyptrace_reader *reader, const u8 *data, u32 end,
			   bool final, u64 time)
{
	struct hyptrace_walk walk = { .time = time };
	u32 events = 0;

	if (final && reader->remote->desc->ops->count_read && !READ_ONCE(reader->mappings)) {
		reader->counts_later = true;
	} else if (!final || !entries_of_page(reader, end, &events)) {
		if (!hyptrace_subbuf_walk(data, end - reader->consumed, &walk))
			pr_warn_ratelimited("hyptrace: remote \"%s\": CPU %u: malformed record at byte %u of sub-buffer %u\n",
					    reader->remote->name, reader->cpu,
					    reader->consumed + walk.pos, reader->id);
		events = walk.events;
	}
	reader->time = walk.time;
	WRITE_ONCE(reader->consumed, end);
	reader->page_events += events;
	reader->read += events;
	reader->reported += reader->lost;
	reader->lost = 0;
}

/* Like the kernel's ring buffer: set the flags, and append the count if it fits in @room bytes. */
static u64 commit_with_lost(u8 *data, u32 size, u32 room, u64 lost)
{
	u64 commit = size;

	if (!lost)
		return commit;
	commit |= HYPTRACE_COMMIT_MISSED;
	if (room - size >= sizeof(lost)) {
		memcpy(data + size, &lost, sizeof(lost));
		commit |= HYPTRACE_COMMIT_STORED;
	}
	return commit;
}

/*
 * Leave room for the lost count: a full page is delivered in two parts. Otherwise, as in the
 * kernel's ring buffer, readers sometimes see that events were lost, but not how many.
 */
static u32 find_end_with_room(const u8 *data, u32 size)
{
	struct hyptrace_walk walk = {};

	if (HYPTRACE_SUBBUF_DATA_SIZE - size >= sizeof(u64))
		return size;
	hyptrace_subbuf_walk(data, HYPTRACE_SUBBUF_DATA_SIZE - sizeof(u64), &walk);
	return walk.pos ?: size;
}

static bool begins_with_gap(const struct hyptrace_subbuf *page, u32 end)
{
	const struct hyptrace_gap *gap = (const struct hyptrace_gap *)page->data;

	return end > sizeof(*gap) &&
	       READ_ONCE(gap->header) == hyptrace_record_header(HYPTRACE_TYPE_PADDING,
								HYPTRACE_GAP_DELTA) &&
	       READ_ONCE(gap->length) == HYPTRACE_GAP_LENGTH;
}

/*
 * Do not deliver a gap record at the beginning: the swap has given its number, too. kbuffer of
 * libtraceevent reports missed events only if the first record of a sub-buffer is an event.
 */
static void reader_skip_gap(struct hyptrace_reader *reader, u32 end)
{
	const struct hyptrace_subbuf *page = reader_page(reader);
	const u32 size = sizeof(struct hyptrace_gap);

	if (reader->consumed || !reader->lost || !begins_with_gap(page, end))
		return;
	reader->time = READ_ONCE(page->time_stamp) + HYPTRACE_GAP_DELTA;
	WRITE_ONCE(reader->consumed, size);
	reader->read_left -= min_t(u64, reader->read_left, size);
}

static int reader_take(struct hyptrace_reader *reader, struct hyptrace_subbuf *to, u64 *lost)
{
	struct hyptrace_subbuf *from;
	u32 end, size, id;
	bool final;
	int err;

	if (!reader->ring)
		return -ENODEV;
	if (!reader->read_left)
		return -EAGAIN;
	id = reader->id;
	err = reader_fill(reader, &end, &final);
	if (err) {
		/* A swap may give a page whose first event is not committed yet. */
		if (reader->id != id)
			hyptrace_user_meta_update(reader);
		return err;
	}

	reader_skip_gap(reader, end);
	from = reader_page(reader);
	size = end - reader->consumed;
	to->time_stamp = reader->consumed ? reader->time : READ_ONCE(from->time_stamp);
	memcpy(to->data, from->data + reader->consumed, size);
	*lost = reader->lost;
	if (*lost && find_end_with_room(to->data, size) != size) {
		size = find_end_with_room(to->data, size);
		end = reader->consumed + size;
		final = false;
	}
	memset(to->data + size, 0, HYPTRACE_SUBBUF_DATA_SIZE - size);
	to->commit = commit_with_lost(to->data, size, HYPTRACE_SUBBUF_DATA_SIZE, *lost);

	reader_consume(reader, to->data, end, final, to->time_stamp);
	reader->read_left -= min_t(u64, reader->read_left, size);
	hyptrace_user_meta_update(reader);
	return 0;
}

/**
 * hyptrace_reader_begin_read - begin a read, and limit it to the data that is in the ring now
 * @reader:	the caller is its consumer
 * @present:	in, out: adds the bytes of data in the ring
 * @capacity:	in, out: adds the bytes of data that the ring can hold
 *
 * Without the limit, one read() would never end if the writer is faster than the consumer.
 *
 * Return: 0, or -ERESTARTSYS after a signal.
 */
int hyptrace_reader_begin_read(struct hyptrace_reader *reader, u64 *present, u64 *capacity)
{
	struct hyptrace_look look;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	if (reader->ring) {
		hyptrace_reader_look(reader, &look);
		reader->read_left = look.in_page + look.in_ring;
		*present += reader->read_left;
		*capacity += (u64)(reader->ring->nr_pages - HYPTRACE_READER_SUBBUFS) *
			     HYPTRACE_SUBBUF_DATA_SIZE;
	}
	mutex_unlock(&reader->lock);
	return 0;
}

/**
 * hyptrace_reader_take - consume the rest of the reader page, or the next page
 * @reader:	the caller is its consumer
 * @to:		out: a whole sub-buffer, zeroed after its data
 * @lost:	out: events lost right before it
 *
 * A page can be delivered in parts, because the writer still fills it or because a full
 * page needs room for the lost count. Each later part becomes a sub-buffer of its own. Its
 * time stamp is the time of the last record that was delivered before.
 *
 * Return: 0; -EAGAIN if there is no data, or only data newer than hyptrace_reader_begin_read();
 * -ENODEV if unloaded, -ERESTARTSYS after a signal, -EIO or another errno if the remote failed.
 */
int hyptrace_reader_take(struct hyptrace_reader *reader,
			 struct hyptrace_subbuf *to, u64 *lost)
{
	int err;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	err = reader_take(reader, to, lost);
	mutex_unlock(&reader->lock);
	return err;
}

static int reader_advance(struct hyptrace_reader *reader)
{
	/* a seal is at the end of a sub-buffer that outlives a reset */
	const u32 room = HYPTRACE_SUBBUF_DATA_SIZE -
			 (reader->remote->buf.kept ? sizeof(struct hyptrace_seal) : 0);
	struct hyptrace_subbuf *page;
	u32 end, id;
	bool final;
	int err;

	if (!reader->ring)
		return -ENODEV;
	id = reader->id;
	/* has_more() must not take the rest of an earlier read() for data. */
	reader->read_left = 0;
	err = reader_fill(reader, &end, &final);
	/* A swap updates the counts, and without new data they are current. */
	if (!err && reader->id == id)
		reader_sync(reader);
	if (!err) {
		page = reader_page(reader);
		/* Only the writer may store commit while it writes to the page. */
		if (reader->swap_lost && final)
			WRITE_ONCE(page->commit,
				   commit_with_lost(page->data, end, room, reader->swap_lost));
		reader_consume(reader, page->data + reader->consumed, end, final,
			       reader->consumed ? reader->time : READ_ONCE(page->time_stamp));
	}
	hyptrace_user_meta_update(reader);
	return err == -EAGAIN ? 0 : err;
}

/**
 * hyptrace_reader_advance - consume for a mapped ring: TRACE_MMAP_IOCTL_GET_READER
 * @reader:	the caller is its consumer, and has the ring mapped
 *
 * As hyptrace_reader_take(), but without a copy: user space reads the data in its mapping.
 *
 * Return: as hyptrace_reader_take(), but 0 also if there is no data, which the meta page shows.
 */
int hyptrace_reader_advance(struct hyptrace_reader *reader)
{
	int err;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	err = reader_advance(reader);
	mutex_unlock(&reader->lock);
	return err;
}

/*
 * Some writers do not say how many events a sub-buffer has. To count these takes longer than to
 * read them, so the unread ones are counted, and only when somebody asks. If the writer is too
 * fast for that, too few stay counted as read until the next call.
 */
static void count_read(struct hyptrace_reader *reader)
{
	const struct hyptrace_remote_desc *desc = reader->remote->desc;

	if (reader->counts_later && !desc->ops->count_read(reader->cpu, reader->consumed,
							   &reader->read, desc->priv))
		reader->counts_later = false;
}

static void reader_counts(struct hyptrace_reader *reader, struct hyptrace_counts *counts)
{
	const struct hyptrace_meta *meta = reader_meta(reader);
	struct hyptrace_look look;
	u64 lost, read_or_lost;

	/* What was counted as read is in what this publishes. */
	count_read(reader);
	reader_sync(reader);
	counts->overrun = READ_ONCE(meta->overrun);
	counts->dropped = READ_ONCE(meta->dropped);
	counts->written = READ_ONCE(meta->written);
	counts->filtered = READ_ONCE(meta->filtered);
	counts->notified = hyptrace_meta_notified(meta);
	counts->read = reader->read;
	counts->clears = reader->clears;
	lost = counts->overrun + counts->dropped;
	read_or_lost = counts->read + lost;
	counts->unread = counts->written > read_or_lost ? counts->written - read_or_lost : 0;
	counts->unreported = lost > reader->reported ? lost - reader->reported : 0;
	counts->nr_subbufs = reader->ring->nr_pages;
	/* The look counts a sub-buffer twice if the writer leaves it at this moment. */
	hyptrace_reader_look(reader, &look);
	counts->used_subbufs = min(look.nr_subbufs + !!look.in_page, counts->nr_subbufs);

	switch (READ_ONCE(meta->state)) {
	case HYPTRACE_RING_ATTACHED:
		counts->state = HYPTRACE_CPU_STATE_ATTACHED;
		break;
	case HYPTRACE_RING_PARKED:
		counts->state = HYPTRACE_CPU_STATE_PARKED;
		break;
	default:
		counts->state = HYPTRACE_CPU_STATE_DETACHED;
		break;
	}
	hyptrace_user_meta_update(reader);
}

/**
 * hyptrace_reader_counts - get the counters and the state of a CPU's ring
 * @reader:	the reader of the CPU
 * @counts:	out: all 0 while unloaded. Exact while the writer is idle. Otherwise each
 *		counter is exact for some moment during the call; for @read see count_read().
 * Return: 0, or -ENODEV while unloaded.
 */
int hyptrace_reader_counts(struct hyptrace_reader *reader,
			   struct hyptrace_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	guard(mutex)(&reader->lock);
	if (!reader->ring)
		return -ENODEV;
	reader_counts(reader, counts);
	return 0;
}

/**
 * hyptrace_reader_clear - clear the events and counters of a CPU's ring
 * @reader:	control mutex of its remote held
 * Return: 0, -ENODEV while unloaded, or the error of the remote's callback.
 */
int hyptrace_reader_clear(struct hyptrace_reader *reader)
{
	const struct hyptrace_remote_desc *desc = reader->remote->desc;
	int err;

	guard(mutex)(&reader->lock);
	if (!reader->ring)
		return -ENODEV;
	hyptrace_reader_save_losses(reader);
	hyptrace_user_meta_hide(reader);
	err = desc->ops->reset(reader->cpu, desc->priv);
	if (!err) {
		reader_reset(reader);
		WRITE_ONCE(reader->id, min(READ_ONCE(reader_meta(reader)->reader_id),
					   reader->ring->nr_pages - 1));
		reader->clears++;
	}
	hyptrace_user_meta_update(reader);
	return err;
}
