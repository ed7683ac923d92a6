// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of rings that are made by hand and stand still.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include <cmocka.h>

#include "../../tools/lib/hyptrace.h"

#define PAGE	256
#define NR	5
#define ROOM	(PAGE - HYPTRACE_SUBBUF_HEADER)

/* The mapping, of exactly its size on the heap: the sanitizer sees each byte beyond. */
struct ring {
	struct hyptrace_map_meta	*meta;
	char				*data;
	struct hyptrace_reader		reader;
	struct hyptrace_snapshot	*snap;
	struct hyptrace_record		rec;
	struct hyptrace_error		err;
};

static int setup(void **state)
{
	struct ring *ring = calloc(1, sizeof(*ring));

	ring->meta = calloc(1, sizeof(*ring->meta));
	ring->meta->buffer.meta_struct_len = sizeof(*ring->meta);
	ring->data = calloc(NR, PAGE);
	ring->reader = (struct hyptrace_reader){
		.fd = -1,
		.subbuf_size = PAGE,
		.nr_subbufs = NR,
		.meta = &ring->meta->buffer,
		.data = ring->data,
		.data_size = NR * PAGE,
	};
	*state = ring;
	return 0;
}

static int teardown(void **state)
{
	struct ring *ring = *state;

	hyptrace_snapshot_free(ring->snap);
	free(ring->meta);
	free(ring->data);
	free(ring);
	return 0;
}

static void put_u64(struct ring *ring, unsigned int id, unsigned int at, uint64_t value)
{
	memcpy(ring->data + id * PAGE + at, &value, sizeof(value));
}

static void put(struct ring *ring, unsigned int id, unsigned int at, uint32_t word)
{
	assert_in_range(at, 0, ROOM - sizeof(word));
	memcpy(ring->data + id * PAGE + HYPTRACE_SUBBUF_HEADER + at, &word, sizeof(word));
}

static void set_commit(struct ring *ring, unsigned int id, uint64_t commit)
{
	put_u64(ring, id, sizeof(uint64_t), commit);
}

/* So many events of 8 bytes, numbered from a number on, behind what is there. */
static void put_events(struct ring *ring, unsigned int id, unsigned int at, unsigned int first,
		       unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		put(ring, id, at + 8 * i, 1 | 1 << 5);
		put(ring, id, at + 8 * i + 4, first + i);
	}
	set_commit(ring, id, at + 8 * nr);
}

static void fill(struct ring *ring, unsigned int id, uint64_t ts, unsigned int first,
		 unsigned int nr)
{
	put_u64(ring, id, 0, ts);
	put_events(ring, id, 0, first, nr);
}

/* What the writer says where events were dropped. */
static void fill_behind_gap(struct ring *ring, unsigned int id, uint64_t ts, uint64_t lost,
			    unsigned int first, unsigned int nr)
{
	put_u64(ring, id, 0, ts);
	put(ring, id, 0, 29 | 1 << 5);
	put(ring, id, 4, 12);
	put_u64(ring, id, HYPTRACE_SUBBUF_HEADER + 8, lost);
	put_events(ring, id, 16, first, nr);
}

static void consumed(struct ring *ring, unsigned int id, unsigned int read)
{
	uint64_t ts;

	memcpy(&ts, ring->data + id * PAGE, sizeof(ts));
	ring->meta->begin = ts;
	ring->meta->buffer.reader.id = id;
	ring->meta->buffer.reader.read = read;
}

static int take_last(struct ring *ring, uint32_t mode, uint64_t last)
{
	hyptrace_snapshot_free(ring->snap);
	return hyptrace_snapshot_take(&ring->snap, &ring->reader, mode, last, &ring->err);
}

static void take(struct ring *ring)
{
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 0), 0);
}

static int next(struct ring *ring)
{
	return hyptrace_snapshot_next(ring->snap, &ring->rec, &ring->err);
}

/* Events from one number to another, behind a gap. */
static void expect(struct ring *ring, uint64_t lost, uint32_t first, uint32_t last)
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

static void expect_end(struct ring *ring, uint64_t lost)
{
	assert_int_equal(next(ring), 0);
	assert_int_equal(next(ring), 0);
	assert_true(hyptrace_snapshot_lost(ring->snap) == lost);
	assert_int_equal(hyptrace_snapshot_lost(ring->snap), 0);
}

static void empty(void **state)
{
	struct ring *ring = *state;

	take(ring);
	expect_end(ring, 0);
	/* the writer has come to a sub-buffer, and to no more */
	put_u64(ring, 1, 0, 77);
	take(ring);
	expect_end(ring, 0);
}

static void one(void **state)
{
	struct ring *ring = *state;

	fill(ring, 1, 1000, 1, 4);
	take(ring);
	expect(ring, 0, 1, 3);
	assert_int_equal(ring->rec.ts, 1003);
	expect(ring, 0, 4, 4);
	expect_end(ring, 0);
}

/* The order is that of the time stamps, wherever they lie; the last is the consumer's. */
static void order(void **state)
{
	static const unsigned int orders[][NR] = {
		{ 1, 2, 3, 4, 0 }, { 3, 4, 1, 2, 0 }, { 4, 3, 2, 1, 0 }, { 2, 0, 4, 1, 3 },
	};
	struct ring *ring = *state;
	unsigned int i, j;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		memset(ring->data, 0, NR * PAGE);
		for (j = 0; j < NR - 1; j++)
			fill(ring, orders[i][j], 1000 + 100 * j, 10 * j, 10);
		ring->meta->buffer.reader.id = orders[i][NR - 1];
		take(ring);
		expect(ring, 0, 0, 39);
		expect_end(ring, 0);
	}
}

/* The oldest go first, and the newest is not yet begun. */
static void full_sub_buffers(void **state)
{
	struct ring *ring = *state;

	fill(ring, 1, 100, 0, ROOM / 8);
	fill(ring, 2, 200, ROOM / 8, ROOM / 8);
	fill(ring, 3, 300, 0, 0);
	take(ring);
	expect(ring, 0, 0, 2 * (ROOM / 8) - 1);
	expect_end(ring, 0);
}

static void what_was_consumed_is_left_out(void **state)
{
	struct ring *ring = *state;

	fill(ring, 3, 100, 0, 10);
	fill(ring, 1, 200, 10, 10);
	fill(ring, 0, 300, 20, 10);
	fill(ring, 2, 400, 30, 10);
	/* all of the sub-buffer, half of it, nothing */
	consumed(ring, 0, 80);
	take(ring);
	expect(ring, 0, 30, 39);
	expect_end(ring, 0);
	consumed(ring, 0, 40);
	take(ring);
	expect(ring, 0, 25, 39);
	expect_end(ring, 0);
	consumed(ring, 0, 0);
	take(ring);
	expect(ring, 0, 20, 39);
	expect_end(ring, 0);
	/* the consumer follows the writer */
	consumed(ring, 2, 72);
	take(ring);
	expect(ring, 0, 39, 39);
	expect_end(ring, 0);
	consumed(ring, 2, 80);
	take(ring);
	expect_end(ring, 0);
}

static void what_was_cleared_is_left_out(void **state)
{
	struct ring *ring = *state;

	fill(ring, 3, 100, 0, 10);
	fill(ring, 0, 200, 10, 10);
	fill(ring, 1, 300, 20, 5);
	ring->meta->begin = 300;
	take(ring);
	expect(ring, 0, 20, 24);
	expect_end(ring, 0);
	/* and while a clear is under way there is nothing */
	ring->meta->begin = UINT64_MAX;
	take(ring);
	expect_end(ring, 0);
}

/* The writer has gone round behind the consumer's back. */
static void gap_behind_the_consumer(void **state)
{
	struct ring *ring = *state;
	unsigned int id;

	fill(ring, 0, 100, 0, 10);
	for (id = 1; id < NR; id++)
		fill(ring, id, 1000 + id, 490 + id * 10, 10);
	consumed(ring, 0, 16);
	take(ring);
	expect(ring, 0, 500, 539);
	expect_end(ring, 0);
	/* what does not overwrite cannot have done so */
	for (id = 1; id < NR; id++)
		fill(ring, id, 1000 + id, id * 10, 10);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_DISCARD, 0), 0);
	expect(ring, 0, 2, 49);
	expect_end(ring, 0);
	/* nor where it has yet to come to a free one */
	fill(ring, 1, 50, 0, 10);
	take(ring);
	expect(ring, 0, 2, 9);
	expect(ring, 0, 20, 49);
	expect_end(ring, 0);
}

/*
 * The consumer has gone on to 1, the writer has written 0 anew and then overwritten 2,
 * and the driver has told nothing of it yet.
 */
static void gap_behind_a_swap_that_is_not_told(void **state)
{
	struct ring *ring = *state;

	fill(ring, 1, 200, 10, 10);
	fill(ring, 3, 400, 30, 10);
	fill(ring, 4, 500, 40, 10);
	fill(ring, 0, 600, 50, 10);
	fill(ring, 2, 700, 60, 10);
	ring->meta->begin = 100;
	ring->meta->buffer.reader.id = 0;
	take(ring);
	expect(ring, 0, 30, 69);
	expect_end(ring, 0);
	/* a half of it is told */
	ring->meta->buffer.reader.id = 1;
	take(ring);
	expect(ring, 0, 30, 69);
	expect_end(ring, 0);
}

/* What was consumed of the next says nothing of the one before. */
static void a_swap_of_which_half_is_told(void **state)
{
	struct ring *ring = *state;

	fill(ring, 0, 100, 0, 10);
	fill(ring, 1, 200, 10, 10);
	fill(ring, 3, 400, 30, 10);
	consumed(ring, 0, 80);
	ring->meta->buffer.reader.id = 1;
	ring->meta->buffer.reader.read = 16;
	assert_int_equal(take_last(ring, HYPTRACE_MODE_DISCARD, 0), 0);
	expect(ring, 0, 10, 19);
	expect(ring, 0, 30, 39);
	expect_end(ring, 0);
	/* told whole */
	consumed(ring, 1, 16);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_DISCARD, 0), 0);
	expect(ring, 0, 12, 19);
	expect(ring, 0, 30, 39);
	expect_end(ring, 0);
}

static void gaps_are_told(void **state)
{
	struct ring *ring = *state;

	fill(ring, 1, 100, 0, 10);
	fill_behind_gap(ring, 2, 200, 1000, 1010, 5);
	fill_behind_gap(ring, 3, 300, 0x123456789aull, 7, 1);
	take(ring);
	expect(ring, 0, 0, 9);
	expect(ring, 1000, 1010, 1014);
	expect(ring, 0x123456789aull, 7, 7);
	expect_end(ring, 0);
	/* one that was told to the consumer is not told again */
	consumed(ring, 2, 24);
	take(ring);
	expect(ring, 0, 1011, 1014);
	/* two of them, and no event behind */
	fill_behind_gap(ring, 2, 200, 30, 0, 0);
	fill_behind_gap(ring, 3, 300, 4, 0, 0);
	consumed(ring, 1, 0);
	take(ring);
	expect(ring, 0, 0, 9);
	expect_end(ring, 34);
	fill_behind_gap(ring, 3, 300, UINT64_MAX - 1, 0, 0);
	take(ring);
	expect(ring, 0, 0, 9);
	expect_end(ring, HYPTRACE_LOST_UNKNOWN);
}

/* What the driver says in commit is for the consumer: the gap is before all that is there. */
static void flags_of_the_consumer(void **state)
{
	struct ring *ring = *state;

	fill(ring, 0, 100, 0, 10);
	set_commit(ring, 0, 80 | HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED);
	put_u64(ring, 0, HYPTRACE_SUBBUF_HEADER + 80, 5);
	consumed(ring, 0, 0);
	take(ring);
	expect(ring, 0, 0, 9);
	expect_end(ring, 0);
}

static void last_events(void **state)
{
	struct ring *ring = *state;

	fill(ring, 1, 100, 0, 10);
	fill(ring, 2, 200, 10, 10);
	fill(ring, 3, 300, 20, 10);
	fill(ring, 4, 400, 30, 2);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 2), 0);
	assert_int_equal(hyptrace_snapshot_events(ring->snap), 2);
	expect(ring, 0, 30, 31);
	expect_end(ring, 0);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 3), 0);
	assert_int_equal(hyptrace_snapshot_events(ring->snap), 12);
	expect(ring, 0, 20, 31);
	expect_end(ring, 0);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, UINT64_MAX), 0);
	assert_int_equal(hyptrace_snapshot_events(ring->snap), 32);
	expect(ring, 0, 0, 31);
	expect_end(ring, 0);
	/* those that were consumed do not count */
	consumed(ring, 2, 32);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 13), 0);
	assert_int_equal(hyptrace_snapshot_events(ring->snap), 18);
	expect(ring, 0, 14, 31);
	expect_end(ring, 0);
}

/* A sub-buffer that makes no sense is a gap, and the others are there all the same. */
static void corrupt(void **state)
{
	static const uint64_t commits[] = {
		ROOM + 4, HYPTRACE_COMMIT_MASK, 1 << 20, UINT64_C(1) << 32, UINT64_MAX, 7,
	};
	struct ring *ring = *state;
	size_t i;

	fill(ring, 1, 100, 0, 10);
	fill(ring, 2, 200, 10, 10);
	fill(ring, 3, 300, 20, 10);
	for (i = 0; i < sizeof(commits) / sizeof(commits[0]); i++) {
		set_commit(ring, 2, commits[i]);
		take(ring);
		expect(ring, 0, 0, 9);
		assert_int_equal(next(ring), -EBADMSG);
		assert_int_equal(ring->err.errnum, EBADMSG);
		expect(ring, HYPTRACE_LOST_UNKNOWN, 20, 29);
		expect_end(ring, 0);
	}
	/* in the middle of a sub-buffer, the last one */
	fill(ring, 2, 200, 10, 10);
	put(ring, 3, 16, 0);
	take(ring);
	expect(ring, 0, 0, 21);
	assert_int_equal(next(ring), -EBADMSG);
	expect_end(ring, HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 3), 0);
	assert_int_equal(hyptrace_snapshot_events(ring->snap), 12);
}

/* Whatever the mapping says, what is read is in it, and there is an end. */
static void noise(void **state)
{
	unsigned int round, i, steps, taken = 0;
	struct ring *ring = *state;
	uint32_t seed = 3;
	int ret;

	for (round = 0; round < 5000; round++) {
		for (i = 0; i < NR * PAGE; i++) {
			seed = seed * 1664525 + 1013904223;
			ring->data[i] = seed >> 24;
		}
		for (i = 0; i < NR; i++) {
			seed = seed * 1664525 + 1013904223;
			put_u64(ring, i, 0, seed >> 29);
			if (seed & 0x300)
				set_commit(ring, i, (seed >> 12) % (ROOM + 8) & ~3u);
		}
		ring->meta->begin = seed >> 8 & 7;
		ring->meta->buffer.reader.id = seed % (NR + 2);
		ring->meta->buffer.reader.read = seed >> 16;
		ret = take_last(ring, round & 1 ? HYPTRACE_MODE_DISCARD :
				HYPTRACE_MODE_OVERWRITE, seed >> 20 & 15);
		if (ret) {
			assert_int_equal(ret, -EAGAIN);
			continue;
		}
		taken++;
		for (steps = 0; next(ring); steps++)
			assert_in_range(steps, 0, NR * PAGE / 4);
	}
	assert_in_range(taken, round / 2, round);
}

static void old_driver(void **state)
{
	struct ring *ring = *state;

	ring->meta->buffer.meta_struct_len = sizeof(struct trace_buffer_meta);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 0), -EOPNOTSUPP);
	assert_null(ring->snap);
	assert_true(strlen(ring->err.text) > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(empty), TEST(one), TEST(order), TEST(full_sub_buffers),
		TEST(what_was_consumed_is_left_out), TEST(what_was_cleared_is_left_out),
		TEST(gap_behind_the_consumer), TEST(gap_behind_a_swap_that_is_not_told),
		TEST(a_swap_of_which_half_is_told),
		TEST(gaps_are_told), TEST(flags_of_the_consumer), TEST(last_events),
		TEST(corrupt), TEST(noise), TEST(old_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
