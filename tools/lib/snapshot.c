// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in a ring, looked at through its mapping: nothing is taken, and
 * neither the writer nor the consumer is disturbed.
 *
 * A writer that enters a sub-buffer sets its commit to 0, then its time stamp to
 * one that is later than all others, and then puts records into it. So the time
 * stamps tell the order of the sub-buffers, and whether one was written anew while
 * it was copied. Those earlier than "begin" of the meta page were consumed or
 * thrown away, the one of just that time stamp is the consumer's. The writer takes
 * the former first and then the oldest of the others, but for the consumer's.
 * Copying goes from the newest to the oldest and ends at the first that is not
 * there any more: those that are older are not, either.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hyptrace.h"

/* A snapshot of which nothing was left at the end is begun again so often. */
#define TRIES		64

/*
 * A gap, as the writer tells of it at the beginning of a sub-buffer: a padding
 * record (type 29 in 5 bits, a time of 1) of 12 bytes after its header: that
 * length, and a u64 with the number of events.
 */
#define GAP_HEADER	(29 | 1 << 5)
#define GAP_LENGTH	12
#define GAP_COUNT_AT	8
#define GAP_SIZE	16

struct header {
	uint64_t	ts;
	uint64_t	commit;
};

_Static_assert(sizeof(struct header) == HYPTRACE_SUBBUF_HEADER, "two words");

/**
 * struct subbuf - a sub-buffer that belongs to the snapshot
 * @ts:		its time stamp
 * @events:	in the copy, if they were counted
 * @id:		where it is in the ring
 * @size:	bytes of the copy, header included
 * @copy:	NULL as long as there is none
 */
struct subbuf {
	uint64_t	ts;
	uint64_t	events;
	uint32_t	id;
	uint32_t	size;
	char		*copy;
};

/**
 * struct hyptrace_snapshot - copies of sub-buffers
 * @dec:	decodes one of them
 * @subbufs:	oldest first
 * @nr:		how many
 * @first:	the oldest that was copied
 * @next:	the next to be decoded
 * @begin:	time stamp of the consumer's sub-buffer when it was taken
 * @reader_ts:	time stamp of the sub-buffer that was then told to be the consumer's
 * @read:	bytes of that one that were consumed
 * @skip:	bytes of the one being decoded that were
 * @data:	of the one being decoded
 * @lost:	gap before the next record
 * @events:	in the copies, if they were counted
 */
struct hyptrace_snapshot {
	struct hyptrace_decoder	*dec;
	struct subbuf		*subbufs;
	uint32_t		nr;
	uint32_t		first;
	uint32_t		next;
	uint64_t		begin;
	uint64_t		reader_ts;
	uint32_t		read;
	uint32_t		skip;
	const char		*data;
	uint64_t		lost;
	uint64_t		events;
};

static uint64_t load(const uint64_t *at)
{
	/*
	 * (A) (H) Order the load before what follows. Pairs with the writer's releases in
	 * hyp/ring.[ch].
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

/* Time stamp and commit that belong together; false if they do not. */
static bool look(const struct header *head, uint64_t *ts, uint64_t *commit)
{
	*ts = load(&head->ts);
	*commit = load(&head->commit);
	return load(&head->ts) == *ts;
}

/* The latest time stamp of a sub-buffer with data, from a time on; false: there is none. */
static bool find_newest(const struct hyptrace_reader *reader, uint64_t from, uint64_t *newest)
{
	const struct header *head;
	uint64_t ts, commit;
	bool found = false;
	uint32_t id;

	*newest = 0;
	for (id = 0; (head = hyptrace_reader_subbuf(reader, id)); id++) {
		/* the writer is faster than this only once in a while */
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

/*
 * A second look, which finds all that there is up to the newest: what the writer
 * has entered since the first is newer.
 */
static int list(struct hyptrace_snapshot *snap, const struct hyptrace_reader *reader,
		uint64_t from, uint64_t to)
{
	const struct header *head;
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

/* The writer may be at work on the same words, which is found out afterwards. */
__attribute__((no_sanitize("thread")))
static void copy_words(uint32_t *to, const uint32_t *from, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/* Return 1, or 0 if the sub-buffer is not there any more. */
static int copy(struct subbuf *sb, const struct hyptrace_reader *reader)
{
	const struct header *from = hyptrace_reader_subbuf(reader, sb->id);
	size_t room = reader->subbuf_size - sizeof(*from), used;
	struct header head = { .ts = sb->ts };

	/* what went missing before, the flags tell to the consumer, and only for it */
	head.commit = load(&from->commit);
	head.commit &= ~(uint64_t)(HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED);
	if (!head.commit)
		return 0;
	/* one that is beyond the sub-buffer is for the decoder to refuse */
	used = head.commit < room ? head.commit : room;

	sb->size = sizeof(head) + used;
	sb->copy = malloc(sb->size);
	if (!sb->copy)
		return -ENOMEM;
	memcpy(sb->copy, &head, sizeof(head));
	copy_words((uint32_t *)(sb->copy + sizeof(head)), (const uint32_t *)(from + 1),
		   used / sizeof(uint32_t));

	/* (H) Order the copy before the time stamp. Pairs with hyp/ring.c:hyptrace_ring_enter(). */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&from->ts, __ATOMIC_RELAXED) == sb->ts)
		return 1;
	free(sb->copy);
	sb->copy = NULL;
	return 0;
}

/* The gap that a copy begins with. */
static uint64_t gap_of(const struct subbuf *sb)
{
	const char *data = sb->copy + sizeof(struct header);
	uint32_t words[2];
	uint64_t lost;

	if (sb->size < sizeof(struct header) + GAP_SIZE)
		return 0;
	memcpy(words, data, sizeof(words));
	if (words[0] != GAP_HEADER || words[1] != GAP_LENGTH)
		return 0;
	memcpy(&lost, data + GAP_COUNT_AT, sizeof(lost));
	return lost;
}

static void add_lost(struct hyptrace_snapshot *snap, uint64_t lost)
{
	if (lost > HYPTRACE_LOST_UNKNOWN - snap->lost)
		snap->lost = HYPTRACE_LOST_UNKNOWN;
	else
		snap->lost += lost;
}

/* Begin to decode a copy. */
static int decode(struct hyptrace_snapshot *snap, const struct subbuf *sb,
		  struct hyptrace_error *err)
{
	snap->data = sb->copy + sizeof(struct header);
	snap->skip = sb->ts == snap->begin ? snap->read : 0;
	return hyptrace_decoder_load(snap->dec, sb->copy, sb->size, err);
}

/* The next record of the copy that was not consumed: 0 if there is none. */
static int next_record(struct hyptrace_snapshot *snap, struct hyptrace_record *rec,
		       struct hyptrace_error *err)
{
	int ret;

	do {
		ret = hyptrace_decoder_next(snap->dec, rec, err);
	} while (ret > 0 && (const char *)rec->data < snap->data + snap->skip);
	return ret;
}

static void count(struct hyptrace_snapshot *snap, struct subbuf *sb)
{
	struct hyptrace_record rec;

	/* one that makes no sense has no records */
	decode(snap, sb, NULL);
	while (next_record(snap, &rec, NULL) > 0)
		sb->events++;
	snap->events += sb->events;
}

/* Copy backwards until one is gone, or enough is there. */
static int copy_all(struct hyptrace_snapshot *snap, const struct hyptrace_reader *reader,
		    uint64_t last)
{
	struct subbuf *sb;
	int ret;

	snap->first = snap->nr;
	while (snap->first && (!last || snap->events < last)) {
		sb = &snap->subbufs[snap->first - 1];
		ret = copy(sb, reader);
		if (ret <= 0)
			return ret;
		if (last)
			count(snap, sb);
		snap->first--;
	}
	return 0;
}

static void drop_oldest(struct hyptrace_snapshot *snap)
{
	snap->events -= snap->subbufs[snap->first++].events;
}

/* Is there a sub-buffer that the writer takes before it overwrites what is unread? */
static bool has_free(const struct hyptrace_reader *reader, uint64_t begin)
{
	const struct header *head;
	uint32_t id;

	for (id = 0; (head = hyptrace_reader_subbuf(reader, id)); id++)
		if (load(&head->ts) < begin)
			return true;
	return false;
}

/* Time stamp of the sub-buffer that the driver tells to be the consumer's. */
static uint64_t reader_ts(const struct hyptrace_reader *reader)
{
	uint32_t id = __atomic_load_n(&reader->meta->reader.id, __ATOMIC_RELAXED);
	const struct header *head = hyptrace_reader_subbuf(reader, id);

	return head ? load(&head->ts) : UINT64_MAX;
}

/*
 * Of what was consumed meanwhile, any part may be missing. Where the ring overwrites, the
 * writer may have gone round and overwritten what comes behind the oldest that is left: if
 * that is the consumer's, or the consumer has gone on, which need not have been told yet.
 * And behind the consumer's a resize may have had no room, or the driver has begun to
 * tell that it is not the consumer's any more. Then the snapshot begins behind it.
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

/* After a try that left nothing: then no events are counted any more, either. */
static void forget(struct hyptrace_snapshot *snap)
{
	uint32_t i;

	for (i = 0; i < snap->nr; i++)
		free(snap->subbufs[i].copy);
	free(snap->subbufs);
	snap->subbufs = NULL;
	snap->nr = 0;
}

/* Return 1, or 0 if it is to be tried again. */
static int try_to_take(struct hyptrace_snapshot *snap, const struct hyptrace_reader *reader,
		       bool overwrites, uint64_t last)
{
	uint64_t newest;
	int ret;

	snap->begin = begin_of(reader);
	/* (L) Order reader.read before reader.id. Pairs with driver/core/user_meta.c likewise. */
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
 * hyptrace_snapshot_take - copy what is in a ring
 * @snap:	the snapshot, for hyptrace_snapshot_free(); NULL after an error
 * @reader:	a mapped one, of any kind
 * @mode:	enum hyptrace_mode of the ring
 * @last:	enough if there are so many events in it; 0: all
 * @err:	why not
 *
 * The snapshot ends with the newest event that there was at the beginning of the
 * call, or a later one, and has what was not consumed before that: without a gap,
 * or the records say where one is. With @last it begins with a sub-buffer that may hold
 * some more events, or has fewer if what they began with was overwritten meanwhile.
 *
 * Return: 0; -ENOMEM; -EOPNOTSUPP; -EAGAIN if all that was copied was overwritten meanwhile,
 * again and again.
 */
int hyptrace_snapshot_take(struct hyptrace_snapshot **snap, const struct hyptrace_reader *reader,
			   uint32_t mode, uint64_t last, struct hyptrace_error *err)
{
	struct hyptrace_snapshot *new = calloc(1, sizeof(*new));
	int tries, ret = -ENOMEM;

	*snap = NULL;
	if (new)
		new->dec = hyptrace_decoder_new();
	if (!new || !new->dec)
		goto fail;
	if (reader->meta->meta_struct_len < sizeof(struct hyptrace_map_meta)) {
		hyptrace_snapshot_free(new);
		return hyptrace_error_set(err, EOPNOTSUPP, "the driver knows no snapshots");
	}
	for (tries = 0, ret = 0; tries < TRIES && !ret; tries++) {
		forget(new);
		ret = try_to_take(new, reader, mode != HYPTRACE_MODE_DISCARD, last);
	}
	if (ret <= 0)
		goto fail;
	new->next = new->first;
	*snap = new;
	return 0;

fail:
	hyptrace_snapshot_free(new);
	if (ret)
		return hyptrace_error_set(err, ENOMEM, "no memory for a copy of %zu bytes",
					  reader->data_size);
	return hyptrace_error_set(err, EAGAIN, "what is in the ring is overwritten too soon");
}

/**
 * hyptrace_snapshot_next - the next event of a snapshot
 * @snap:	the snapshot
 * @rec:	filled in; valid as long as the snapshot
 * @err:	why not
 *
 * Return: 1, 0 at the end, -EBADMSG where a sub-buffer makes no sense; the rest
 * of it is then passed over, and counts as a gap of unknown size.
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
		if (snap->skip < GAP_SIZE)
			add_lost(snap, gap_of(sb));
		ret = next_record(snap, rec, err);
	}
	if (ret < 0)
		snap->lost = HYPTRACE_LOST_UNKNOWN;
	if (ret > 0)
		rec->lost = hyptrace_snapshot_lost(snap);
	return ret;
}

/**
 * hyptrace_snapshot_lost - losses that no record has told of yet
 * @snap:	the snapshot
 *
 * Return: how many, HYPTRACE_LOST_UNKNOWN if nobody knows; 0 from then on.
 */
uint64_t hyptrace_snapshot_lost(struct hyptrace_snapshot *snap)
{
	uint64_t lost = snap->lost;

	snap->lost = 0;
	return lost;
}

/**
 * hyptrace_snapshot_events - how many events a snapshot has
 * @snap:	one that was taken of the last so many events
 *
 * Return: the number; 0 if all were taken, which are not counted.
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
	hyptrace_decoder_free(snap->dec);
	free(snap);
}
