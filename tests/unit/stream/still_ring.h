/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handmade rings that nobody writes to. For the tests of snapshots.
 */
#ifndef STILL_RING_H
#define STILL_RING_H

#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"

#define PAGE	256
#define NR	5
#define ROOM	(PAGE - HYPTRACE_SUBBUF_HEADER)

/* The mapping has exactly its size on the heap, so that ASan reports any access beyond it. */
struct ring {
	struct hyptrace_map_meta	*meta;
	char				*data;
	struct hyptrace_reader		reader;
	struct hyptrace_snapshot	*snap;
	struct hyptrace_record		rec;
	struct hyptrace_error		err;
};

static inline int setup(void **state)
{
	struct ring *ring = calloc(1, sizeof(*ring));

	ring->meta = calloc(1, sizeof(*ring->meta));
	ring->meta->buffer.meta_struct_len = sizeof(*ring->meta);
	ring->data = calloc(NR, PAGE);
	ring->reader = (struct hyptrace_reader){
		.fd = -1,
		.subbuf_size = PAGE,
		.meta = &ring->meta->buffer,
		.data = ring->data,
		.data_size = NR * PAGE,
	};
	*state = ring;
	return 0;
}

static inline int teardown(void **state)
{
	struct ring *ring = *state;

	hyptrace_snapshot_free(ring->snap);
	free(ring->meta);
	free(ring->data);
	free(ring);
	return 0;
}

static inline void put_u64(struct ring *ring, unsigned int id, unsigned int at, uint64_t value)
{
	memcpy(ring->data + id * PAGE + at, &value, sizeof(value));
}

static inline void put(struct ring *ring, unsigned int id, unsigned int at, uint32_t word)
{
	assert_in_range(at, 0, ROOM - sizeof(word));
	memcpy(ring->data + id * PAGE + HYPTRACE_SUBBUF_HEADER + at, &word, sizeof(word));
}

static inline void set_commit(struct ring *ring, unsigned int id, uint64_t commit)
{
	put_u64(ring, id, sizeof(uint64_t), commit);
}

/* Put @nr events of 8 bytes at offset @at. Their numbers start with @first. */
static inline void put_events(struct ring *ring, unsigned int id, unsigned int at,
			      unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		put(ring, id, at + 8 * i, hyptrace_record_header(1, 1));
		put(ring, id, at + 8 * i + 4, first + i);
	}
	set_commit(ring, id, at + 8 * nr);
}

static inline void fill(struct ring *ring, unsigned int id, uint64_t ts, unsigned int first,
			unsigned int nr)
{
	put_u64(ring, id, 0, ts);
	put_events(ring, id, 0, first, nr);
}

/* A sub-buffer with a gap record, as the writer puts it after it has dropped events. */
static inline void fill_behind_gap(struct ring *ring, unsigned int id, uint64_t ts, uint64_t lost,
				   unsigned int first, unsigned int nr)
{
	put_u64(ring, id, 0, ts);
	put(ring, id, 0, hyptrace_record_header(HYPTRACE_TYPE_PADDING, HYPTRACE_GAP_DELTA));
	put(ring, id, 4, HYPTRACE_GAP_LENGTH);
	put_u64(ring, id, HYPTRACE_SUBBUF_HEADER + 8, lost);
	put_events(ring, id, sizeof(struct hyptrace_gap), first, nr);
}

static inline void consumed(struct ring *ring, unsigned int id, unsigned int read)
{
	uint64_t ts;

	memcpy(&ts, ring->data + id * PAGE, sizeof(ts));
	ring->meta->begin = ts;
	ring->meta->buffer.reader.id = id;
	ring->meta->buffer.reader.read = read;
}

static inline int take_last(struct ring *ring, uint32_t mode, uint64_t last)
{
	hyptrace_snapshot_free(ring->snap);
	ring->snap = hyptrace_snapshot_take(&ring->reader, mode, last, &ring->err);
	return ring->snap ? 0 : -ring->err.errnum;
}

static inline void take(struct ring *ring)
{
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 0), 0);
}

static inline int next(struct ring *ring)
{
	return hyptrace_snapshot_next(ring->snap, &ring->rec, &ring->err);
}

/* Expect the events @first to @last, with @lost events missing before the first. */
static inline void expect(struct ring *ring, uint64_t lost, uint32_t first, uint32_t last)
{
	uint32_t number;

	for (; first <= last; first++) {
		assert_int_equal(next(ring), 1);
		memcpy(&number, ring->rec.data, sizeof(number));
		assert_int_equal(number, first);
		assert_true(ring->rec.lost == lost);
		lost = 0;
	}
}

static inline void expect_end(struct ring *ring, uint64_t lost)
{
	assert_int_equal(next(ring), 0);
	assert_int_equal(next(ring), 0);
	assert_true(hyptrace_snapshot_lost(ring->snap) == lost);
	assert_int_equal(hyptrace_snapshot_lost(ring->snap), 0);
}

#endif /* STILL_RING_H */
