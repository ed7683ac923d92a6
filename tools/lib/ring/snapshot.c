// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy what a ring holds through its mapping: neither the writer nor the consumer is disturbed.
 *
 * A writer that enters a sub-buffer clears its commit, sets a time stamp later than all others of
 * the ring, and then writes records. So the time stamps order the sub-buffers, and a changed one
 * shows that the sub-buffer was overwritten during a copy.
 *
 * Sub-buffers with a time stamp below "begin" of the meta page were consumed or cleared. The one
 * with exactly that time stamp is the reader's. The writer first reuses those below begin, then it
 * overwrites the oldest of the others, but never the reader's.
 *
 * Copying runs from the newest sub-buffer to the oldest. It ends at the first that was overwritten:
 * the older ones were overwritten before it.
 */
#include "internal.h"

/* How often a snapshot is tried while the writer overwrites all of it */
#define TRIES		64

struct subbuf {
	uint64_t	ts;
	uint64_t	events;		/* in the copy, if they were counted */
	uint32_t	id;		/* in the mapping */
	uint32_t	size;		/* bytes of the copy, header included */
	char		*copy;		/* NULL if it was not copied */
};

struct hyptrace_snapshot {
	struct hyptrace_decoder	dec;		/* decodes one copy after the other */
	struct subbuf		*subbufs;	/* the oldest first */
	uint32_t		nr;
	uint32_t		first;		/* index of the oldest that was copied */
	uint32_t		next;		/* index of the next to decode */
	uint64_t		begin;		/* of the meta page before the copying */
	uint64_t		reader_ts;	/* time stamp of what reader.id named then */
	uint32_t		read;		/* reader.read then: consumed bytes of it */
	uint32_t		skip;		/* consumed bytes of the decoded copy */
	const char		*data;		/* of that copy */
	uint64_t		events;		/* in all copies, if they were counted */
};

static uint64_t load(const __u64 *at)
{
	/*
	 * (A) (H) Order the load before what follows. Pairs with (A) in
	 * hyp/ring.h:hyptrace_ring_commit(), (H) in hyp/ring.c:hyptrace_ring_enter().
	 */
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static uint64_t begin_of(const struct hyptrace_reader *reader)
{
	const struct hyptrace_map_meta *meta = (const void *)reader->meta;

	/*
	 * (K) Order begin before reader.read. Pairs with (K) in
	 * driver/core/user_meta.c:hyptrace_user_meta_update().
	 */
	return __atomic_load_n(&meta->begin, __ATOMIC_ACQUIRE);
}

/* Load a time stamp and its commit; return false if the writer entered meanwhile. */
static bool look(const struct hyptrace_subbuf *head, uint64_t *ts, uint64_t *commit)
{
	*ts = load(&head->time_stamp);
	*commit = load(&head->commit);
	return load(&head->time_stamp) == *ts;
}

/* Find the latest time stamp of a sub-buffer with data, from @from on; false if there is none. */
static bool find_newest(const struct hyptrace_reader *reader, uint64_t from, uint64_t *newest)
{
	const struct hyptrace_subbuf *head;
	uint64_t ts, commit;
	bool found = false;
	uint32_t id;

	*newest = 0;
	for (id = 0; (head = hyptrace_reader_subbuf(reader, id)); id++) {
		/* this ends: the writer rarely enters a sub-buffer between two loads */
		while (!look(head, &ts, &commit))
			;
		if (!commit || ts < from || ts < *newest)
			continue;
		*newest = ts;
		found = true;
	}
	return found;
}

static int older_first(const void *a, const void *b)
{
	const struct subbuf *x = a, *y = b;

	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

/* This second look misses none from @from to @to: the writer has only entered later ones since. */
static int list(struct hyptrace_snapshot *snap, const struct hyptrace_reader *reader,
		uint64_t from, uint64_t to)
{
	const struct hyptrace_subbuf *head;
	uint64_t ts, commit;
	uint32_t id;

	snap->subbufs = calloc(reader->data_size / reader->subbuf_size, sizeof(*snap->subbufs));
	if (!snap->subbufs)
		return -ENOMEM;
	for (id = 0; (head = hyptrace_reader_subbuf(reader, id)); id++) {
		if (!look(head, &ts, &commit) || !commit || ts < from || ts > to)
			continue;
		snap->subbufs[snap->nr++] = (struct subbuf){ .ts = ts, .id = id };
	}
	qsort(snap->subbufs, snap->nr, sizeof(*snap->subbufs), older_first);
	return 0;
}

/* The writer may write the same words meanwhile: the caller checks that afterwards. */
__attribute__((no_sanitize("thread")))
static void copy_words(uint32_t *to, const uint32_t *from, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/* Return 1, 0 if the sub-buffer was overwritten, or -ENOMEM. */
static int copy(struct subbuf *sb, const struct hyptrace_reader *reader)
{
	const struct hyptrace_subbuf *from = hyptrace_reader_subbuf(reader, sb->id);
	size_t room = reader->subbuf_size - sizeof(*from), used;
	struct hyptrace_subbuf head = { .time_stamp = sb->ts };

	/* the driver sets the flags of lost events for the consumer only */
	head.commit = load(&from->commit);
	head.commit &= ~(uint64_t)(HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED);
	if (!head.commit)
		return 0;
	/* the decoder rejects a commit beyond the sub-buffer */
	used = head.commit < room ? head.commit : room;

	sb->size = sizeof(head) + used;
	sb->copy = malloc(sb->size);
	if (!sb->copy)
		return -ENOMEM;
	memcpy(sb->copy, &head, sizeof(head));
	copy_words((uint32_t *)(sb->copy + sizeof(head)), (const uint32_t *)from->data,
		   used / sizeof(uint32_t));

	/*
	 * (H) Order the copy before the time stamp. Pairs with (H) in
	 * hyp/ring.c:hyptrace_ring_enter().
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&from->time_stamp, __ATOMIC_RELAXED) == sb->ts)
		return 1;
	free(sb->copy);
	sb->copy = NULL;
	return 0;
}

/* Return the lost events of the gap record that a copy starts with, 0 without one. */
static uint64_t gap_of(const struct subbuf *sb)
{
	struct hyptrace_gap gap;

	if (sb->size < HYPTRACE_SUBBUF_HEADER + sizeof(gap))
		return 0;
	memcpy(&gap, sb->copy + HYPTRACE_SUBBUF_HEADER, sizeof(gap));
	if (hyptrace_record_type_len(gap.header) != HYPTRACE_TYPE_PADDING ||
	    hyptrace_record_delta(gap.header) != HYPTRACE_GAP_DELTA ||
	    gap.length != HYPTRACE_GAP_LENGTH)
		return 0;
	return gap.lost;
}

static int decode(struct hyptrace_snapshot *snap, const struct subbuf *sb,
		  struct hyptrace_error *err)
{
	snap->data = sb->copy + HYPTRACE_SUBBUF_HEADER;
	snap->skip = sb->ts == snap->begin ? snap->read : 0;
	return hyptrace_decoder_load(&snap->dec, sb->copy, sb->size, err);
}

/* Decode the next record that was not consumed. Return 0 at the end of the copy. */
static int next_record(struct hyptrace_snapshot *snap, struct hyptrace_record *rec,
		       struct hyptrace_error *err)
{
	int ret;

	do {
		ret = hyptrace_decoder_next(&snap->dec, rec, err);
	} while (ret > 0 && (const char *)rec->data < snap->data + snap->skip);
	return ret;
}

/* Copy from the newest on, until one was overwritten or @last events are copied. */
static int copy_all(struct hyptrace_snapshot *snap, const struct hyptrace_reader *reader,
		    uint64_t last)
{
	struct hyptrace_record rec;
	struct subbuf *sb;
	int ret;

	snap->first = snap->nr;
	while (snap->first && (!last || snap->events < last)) {
		sb = &snap->subbufs[snap->first - 1];
		ret = copy(sb, reader);
		if (ret <= 0)
			return ret;
		/* a copy that cannot be decoded has no events */
		if (last)
			decode(snap, sb, NULL);
		while (last && next_record(snap, &rec, NULL) > 0)
			sb->events++;
		snap->events += sb->events;
		snap->first--;
	}
	return 0;
}

static void drop_oldest(struct hyptrace_snapshot *snap)
{
	snap->events -= snap->subbufs[snap->first++].events;
}

/* Is there a sub-buffer that the writer reuses before it overwrites unread ones? */
static bool has_free(const struct hyptrace_reader *reader, uint64_t begin)
{
	const struct hyptrace_subbuf *head;
	uint32_t id;

	for (id = 0; (head = hyptrace_reader_subbuf(reader, id)); id++)
		if (load(&head->time_stamp) < begin)
			return true;
	return false;
}

static uint64_t reader_ts(const struct hyptrace_reader *reader)
{
	uint32_t id = __atomic_load_n(&reader->meta->reader.id, __ATOMIC_RELAXED);
	const struct hyptrace_subbuf *head = hyptrace_reader_subbuf(reader, id);

	return head ? load(&head->time_stamp) : UINT64_MAX;
}

/*
 * Drop the sub-buffers that were consumed meanwhile: any of them may be missing. Then drop the
 * oldest that is left if events may be missing right after it:
 *
 * - It is the reader's, and a resize lost the events after it (next_lost).
 * - It is the reader's, and the driver has begun to replace it: reader.id is later than begin.
 * - The ring overwrites, and the writer may have overwritten what followed the oldest: if that is
 *   the reader's and no sub-buffer is free, or if the consumer has moved on, even if begin does not
 *   say so yet.
 */
static void trim(struct hyptrace_snapshot *snap, const struct hyptrace_reader *reader,
		 bool overwrites)
{
	const struct hyptrace_map_meta *meta = (const void *)reader->meta;
	/*
	 * (L) Order next_lost before reader.id. Pairs with (L) in
	 * driver/core/user_meta.c:hyptrace_user_meta_update().
	 */
	uint64_t next_lost = __atomic_load_n(&meta->next_lost, __ATOMIC_ACQUIRE);
	uint64_t now = reader_ts(reader);
	uint64_t begin = begin_of(reader);
	bool gone_on = begin != snap->begin || now != snap->reader_ts || now > begin;
	bool consumers, gap;

	if (reader->is_image)
		return;
	while (snap->first < snap->nr && snap->subbufs[snap->first].ts < begin)
		drop_oldest(snap);
	if (snap->first == snap->nr)
		return;
	consumers = snap->subbufs[snap->first].ts == begin;
	gap = consumers && (next_lost || now > begin);
	if (overwrites)
		gap |= gone_on || (consumers && !has_free(reader, begin));
	if (gap)
		drop_oldest(snap);
}

/* Free all copies. After a try that left none, @snap->events is 0 already. */
static void forget(struct hyptrace_snapshot *snap)
{
	uint32_t i;

	for (i = 0; i < snap->nr; i++)
		free(snap->subbufs[i].copy);
	free(snap->subbufs);
	snap->subbufs = NULL;
	snap->nr = 0;
	snap->first = 0;
}

/* Return 1, 0 if the caller must try again, or -ENOMEM. */
static int try_to_take(struct hyptrace_snapshot *snap, const struct hyptrace_reader *reader,
		       bool overwrites, uint64_t last)
{
	uint64_t newest;
	int ret;

	snap->begin = begin_of(reader);
	/*
	 * (L) Order reader.read before reader.id. Pairs with (L) in
	 * driver/core/user_meta.c:hyptrace_user_meta_update().
	 */
	snap->read = __atomic_load_n(&reader->meta->reader.read, __ATOMIC_ACQUIRE);
	snap->reader_ts = reader_ts(reader);
	if (!find_newest(reader, snap->begin, &newest))
		return 1;

	ret = list(snap, reader, snap->begin, newest);
	if (!ret)
		ret = copy_all(snap, reader, last);
	if (ret)
		return ret;
	trim(snap, reader, overwrites);
	return snap->first < snap->nr;
}

/**
 * hyptrace_snapshot_take - copy what a ring holds
 * @reader:	a mapped reader, a consumer or an observer
 * @mode:	enum hyptrace_mode of the ring
 * @last:	stop after so many events; 0 for all
 * @err:	the reason if it fails; may be NULL
 *
 * The snapshot holds the unconsumed events up to the newest one at the beginning of the
 * call, or to a later one. Its records report all its gaps. With @last it starts at the
 * beginning of a sub-buffer, so it may hold some more events. It holds fewer if the
 * writer overwrote the oldest meanwhile.
 *
 * Return: the snapshot, for hyptrace_snapshot_free(), or NULL. The errno is EOPNOTSUPP if the
 * driver has no snapshots, EAGAIN if the writer overwrote the copied sub-buffers in every try.
 */
struct hyptrace_snapshot *hyptrace_snapshot_take(const struct hyptrace_reader *reader,
						 uint32_t mode, uint64_t last,
						 struct hyptrace_error *err)
{
	struct hyptrace_snapshot *snap = calloc(1, sizeof(*snap));
	int tries, ret = -ENOMEM;

	if (!snap)
		goto fail;
	if (reader->meta->meta_struct_len < sizeof(struct hyptrace_map_meta)) {
		hyptrace_snapshot_free(snap);
		hyptrace_error_set(err, EOPNOTSUPP, "the driver knows no snapshots");
		return NULL;
	}
	for (tries = 0, ret = 0; tries < TRIES && !ret; tries++) {
		forget(snap);
		ret = try_to_take(snap, reader, mode != HYPTRACE_MODE_DISCARD, last);
	}
	if (ret <= 0)
		goto fail;
	snap->next = snap->first;
	return snap;

fail:
	hyptrace_snapshot_free(snap);
	if (ret)
		hyptrace_error_set(err, ENOMEM, "no memory for a copy of %zu bytes",
				   reader->data_size);
	else
		hyptrace_error_set(err, EAGAIN, "what is in the ring is overwritten too soon");
	return NULL;
}

/**
 * hyptrace_snapshot_next - get the next event of a snapshot
 * @snap:	the snapshot
 * @rec:	filled in; valid as long as the snapshot
 * @err:	the reason if it fails; may be NULL
 * Return: 1; 0 at the end; -EBADMSG if a sub-buffer cannot be decoded. The rest of it
 * is then skipped, and counts as a gap of unknown size.
 */
int hyptrace_snapshot_next(struct hyptrace_snapshot *snap, struct hyptrace_record *rec,
			   struct hyptrace_error *err)
{
	const struct subbuf *sb;
	int ret = next_record(snap, rec, err);

	while (!ret && snap->next < snap->nr) {
		sb = &snap->subbufs[snap->next++];
		ret = decode(snap, sb, err);
		if (ret)
			break;
		if (snap->skip < sizeof(struct hyptrace_gap))
			hyptrace_decoder_lose(&snap->dec, gap_of(sb));
		ret = next_record(snap, rec, err);
	}
	if (ret < 0)
		hyptrace_decoder_lose(&snap->dec, HYPTRACE_LOST_UNKNOWN);
	return ret;
}

/**
 * hyptrace_snapshot_rewind - begin again with the first event
 * @snap:	the snapshot, whose hyptrace_snapshot_next() has returned 0
 */
void hyptrace_snapshot_rewind(struct hyptrace_snapshot *snap)
{
	/* forget what the last copies have reported */
	hyptrace_decoder_lost(&snap->dec);
	snap->next = snap->first;
}

/**
 * hyptrace_snapshot_lost - take the lost events that no record has reported
 * @snap:	the snapshot
 * Return: their number, or HYPTRACE_LOST_UNKNOWN. The snapshot forgets them.
 */
uint64_t hyptrace_snapshot_lost(struct hyptrace_snapshot *snap)
{
	return hyptrace_decoder_lost(&snap->dec);
}

/**
 * hyptrace_snapshot_events - get the number of events in a snapshot
 * @snap:	the snapshot, taken with a number of last events
 * Return: the number; 0 for a snapshot of all events, which are not counted.
 */
uint64_t hyptrace_snapshot_events(const struct hyptrace_snapshot *snap)
{
	return snap->events;
}

/**
 * hyptrace_snapshot_free - free a snapshot
 * @snap:	the snapshot, or NULL
 */
void hyptrace_snapshot_free(struct hyptrace_snapshot *snap)
{
	if (!snap)
		return;
	forget(snap);
	free(snap);
}
