// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of handmade rings that nobody writes to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include <cmocka.h>

#include "still_ring.h"

static void empty(void **state)
{
	struct ring *ring = *state;

	take(ring);
	expect_end(ring, 0);
	/* the writer has entered a sub-buffer, but has recorded nothing */
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

/* The time stamp 0 is valid. */
static void at_the_beginning(void **state)
{
	struct ring *ring = *state;

	fill(ring, 0, 0, 1, 4);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_DISCARD, 0), 0);
	expect(ring, 0, 1, 4);
	expect_end(ring, 0);
}

/*
 * Events come in the order of the time stamps, wherever the sub-buffers are. The last id is
 * the consumer's.
 */
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

/* The writer overwrites the oldest sub-buffers first. The newest one is still empty. */
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
	/* consumed: all of the sub-buffer, half of it, nothing */
	consumed(ring, 0, 80);
	take(ring);
	expect(ring, 0, 30, 39);
	expect_end(ring, 0);
	consumed(ring, 0, 40);
	take(ring);
	expect(ring, 0, 25, 39);
	expect_end(ring, 0);
	/* an event of which only the header was consumed */
	consumed(ring, 0, 44);
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
	/* while a clear is in progress, there are no events */
	ring->meta->begin = UINT64_MAX;
	take(ring);
	expect_end(ring, 0);
}

/* The writer has overwritten the sub-buffers after the consumer's. */
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
	/* in discard mode the writer cannot have overwritten anything */
	for (id = 1; id < NR; id++)
		fill(ring, id, 1000 + id, id * 10, 10);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_DISCARD, 0), 0);
	expect(ring, 0, 2, 49);
	expect_end(ring, 0);
	/* nor while the ring still has a free sub-buffer */
	fill(ring, 1, 50, 0, 10);
	take(ring);
	expect(ring, 0, 2, 9);
	expect(ring, 0, 20, 49);
	expect_end(ring, 0);
	/* wherever the free sub-buffer is */
	fill(ring, 1, 100, 0, 10);
	fill(ring, 0, 50, 0, 10);
	consumed(ring, 1, 16);
	take(ring);
	expect(ring, 0, 2, 9);
	expect(ring, 0, 20, 49);
	expect_end(ring, 0);
}

/*
 * The consumer has swapped to 1, and the writer has reused 0 and overwritten 2. The driver has
 * not published the swap yet.
 */
/* Nobody consumes an image: what it has is all there is, whatever its numbers say. */
static void no_gap_in_an_image(void **state)
{
	struct ring *ring = *state;
	unsigned int i;

	for (i = 0; i < NR; i++)
		fill(ring, i, 100 + i, 10 * i, 10);
	consumed(ring, 0, 0);
	ring->meta->next_lost = 1;
	ring->reader.is_image = true;
	take(ring);
	expect(ring, 0, 0, 10 * NR - 1);
	expect_end(ring, 0);
}

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
	/* half of the swap is published */
	ring->meta->buffer.reader.id = 1;
	take(ring);
	expect(ring, 0, 30, 69);
	expect_end(ring, 0);
}

/* How much of the next sub-buffer was consumed must not be applied to the one before it. */
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
	/* the whole swap is published */
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
	/* a gap record that the consumer has read is not reported again */
	consumed(ring, 2, 24);
	take(ring);
	expect(ring, 0, 1011, 1014);
	consumed(ring, 2, 16);
	take(ring);
	expect(ring, 0, 1010, 1014);
	/* two gap records without events after them */
	fill_behind_gap(ring, 2, 200, 30, 0, 0);
	fill_behind_gap(ring, 3, 300, 40, 0, 0);
	consumed(ring, 1, 0);
	take(ring);
	expect(ring, 0, 0, 9);
	expect_end(ring, 70);
	fill_behind_gap(ring, 3, 300, UINT64_MAX - 1, 0, 0);
	take(ring);
	expect(ring, 0, 0, 9);
	expect_end(ring, HYPTRACE_LOST_UNKNOWN);
}

/* Records that only resemble a gap record. */
static void no_gaps(void **state)
{
	struct ring *ring = *state;

	/* an event whose number is a gap's length; one alone; other padding */
	fill(ring, 1, 100, 12, 4);
	fill(ring, 2, 200, 16, 1);
	fill_behind_gap(ring, 3, 300, 77, 17, 2);
	put(ring, 3, 4, 8);
	put(ring, 3, 12, 29);
	put_u64(ring, 4, 0, 400);
	put(ring, 4, 0, 29 | 1 << 5);
	put(ring, 4, 4, 8);
	put(ring, 4, 8, 0);
	set_commit(ring, 4, 12);
	take(ring);
	expect(ring, 0, 12, 16);
	expect_end(ring, 0);
	/* a gap record that is cut off before its count */
	put(ring, 4, 4, 12);
	take(ring);
	expect(ring, 0, 12, 16);
	assert_int_equal(next(ring), -EBADMSG);
}

/* An empty sub-buffer at any place. */
static void nothing_in_between(void **state)
{
	struct ring *ring = *state;

	fill(ring, 1, 100, 0, 10);
	fill(ring, 2, 200, 0, 0);
	fill(ring, 3, 300, 10, 10);
	take(ring);
	expect(ring, 0, 0, 19);
	expect_end(ring, 0);
}

/*
 * The driver's flags in commit are for the consumer: the losses are before all events of the
 * sub-buffer.
 */
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
	/* without a limit the library does not count the events */
	take(ring);
	assert_int_equal(hyptrace_snapshot_events(ring->snap), 0);
	/* consumed events do not count */
	consumed(ring, 2, 32);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 13), 0);
	assert_int_equal(hyptrace_snapshot_events(ring->snap), 18);
	expect(ring, 0, 14, 31);
	expect_end(ring, 0);
}

/* A corrupt sub-buffer counts as a gap, and all other sub-buffers are still there. */
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
	/* corrupt in the middle of the last sub-buffer */
	fill(ring, 2, 200, 10, 10);
	put(ring, 3, 16, 0);
	take(ring);
	expect(ring, 0, 0, 21);
	assert_int_equal(next(ring), -EBADMSG);
	expect_end(ring, HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 3), 0);
	assert_int_equal(hyptrace_snapshot_events(ring->snap), 12);
}

/* A snapshot can be read again, with the same events, gaps and errors. */
static void rewound(void **state)
{
	struct ring *ring = *state;
	unsigned int pass;

	fill(ring, 1, 100, 0, 10);
	fill_behind_gap(ring, 2, 200, 1000, 1010, 5);
	fill(ring, 3, 300, 20, 10);
	/* corrupt after two events; the driver's flags and count of losses are not the library's */
	put(ring, 3, 16, 0);
	set_commit(ring, 1, 80 | HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED);
	put_u64(ring, 1, HYPTRACE_SUBBUF_HEADER + 80, 5);
	consumed(ring, 1, 8);
	take(ring);
	for (pass = 0; pass < 3; pass++) {
		expect(ring, 0, 1, 9);
		expect(ring, 1000, 1010, 1014);
		expect(ring, 0, 20, 21);
		assert_int_equal(next(ring), -EBADMSG);
		/* the gap at the end is not taken */
		assert_int_equal(next(ring), 0);
		hyptrace_snapshot_rewind(ring->snap);
	}
	expect(ring, 0, 1, 9);
}

/* A gap after the last event is not one before the first. */
static void rewound_after_a_gap(void **state)
{
	struct ring *ring = *state;

	fill(ring, 1, 100, 0, 10);
	fill_behind_gap(ring, 2, 200, 7, 0, 0);
	take(ring);
	expect(ring, 0, 0, 9);
	assert_int_equal(next(ring), 0);
	hyptrace_snapshot_rewind(ring->snap);
	expect(ring, 0, 0, 9);
	expect_end(ring, 7);
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
		TEST(empty), TEST(one), TEST(at_the_beginning), TEST(order), TEST(full_sub_buffers),
		TEST(what_was_consumed_is_left_out), TEST(what_was_cleared_is_left_out),
		TEST(gap_behind_the_consumer), TEST(no_gap_in_an_image),
		TEST(gap_behind_a_swap_that_is_not_told),
		TEST(a_swap_of_which_half_is_told),
		TEST(gaps_are_told), TEST(no_gaps), TEST(nothing_in_between),
		TEST(flags_of_the_consumer), TEST(last_events), TEST(corrupt), TEST(rewound),
		TEST(rewound_after_a_gap),
		TEST(old_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
