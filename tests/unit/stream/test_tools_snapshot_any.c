// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of random rings: noise, concurrent changes by the writer, no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "still_ring.h"

static uint64_t word_of(const struct ring *ring, unsigned int id, unsigned int at)
{
	uint64_t word;

	memcpy(&word, ring->data + id * PAGE + at, sizeof(word));
	return word;
}

/*
 * Whether -EAGAIN is right for a ring that nobody writes to: every sub-buffer that can be
 * copied is dropped.
 */
static bool nothing_is_left(const struct ring *ring, bool overwrites)
{
	const uint64_t begin = ring->meta->begin;
	const uint32_t reader = ring->meta->buffer.reader.id;
	uint64_t now = reader < NR ? word_of(ring, reader, 0) : UINT64_MAX;
	uint64_t ts, commit, oldest = 0, flagged = 0;
	unsigned int id, nr = 0, left = 0;
	bool has_free = false, gap;

	/* nothing is copied from before the newest sub-buffer whose commit has only flags */
	for (id = 0; id < NR; id++) {
		ts = word_of(ring, id, 0);
		commit = word_of(ring, id, sizeof(ts));
		has_free |= ts < begin;
		nr += commit && ts >= begin;
		commit &= ~(uint64_t)(HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED);
		if (!commit && word_of(ring, id, sizeof(ts)) && ts >= begin && ts >= flagged)
			flagged = ts + 1;
	}
	for (id = 0; id < NR; id++) {
		ts = word_of(ring, id, 0);
		if (!word_of(ring, id, sizeof(ts)) || ts < begin || ts < flagged)
			continue;
		if (!left++ || ts < oldest)
			oldest = ts;
	}
	gap = oldest == begin && (ring->meta->next_lost || now > begin);
	if (overwrites)
		gap |= now > begin || (oldest == begin && !has_free);
	return nr && (!left || (left == 1 && gap));
}

/* Whatever the mapping contains, reading must stay inside it, and must end. */
static void noise(void **state)
{
	unsigned int round, i, steps, taken = 0, again = 0;
	struct ring *ring = *state;
	uint32_t seed = 3, mode;
	uint64_t last;
	int ret;

	for (round = 0; round < 8000; round++) {
		for (i = 0; i < NR * PAGE; i++) {
			seed = seed * 1664525 + 1013904223;
			ring->data[i] = seed >> 24;
		}
		for (i = 0; i < NR; i++) {
			seed = seed * 1664525 + 1013904223;
			/* all time stamps are different */
			put_u64(ring, i, 0, (seed >> 29) * NR + i);
			if (seed & 0x300)
				set_commit(ring, i, (seed >> 12) % (ROOM + 8) & ~3u);
			else if (seed & 0xc00)
				set_commit(ring, i, HYPTRACE_COMMIT_MISSED);
		}
		seed = seed * 1664525 + 1013904223;
		ring->meta->begin = (seed >> 8) % (8 * NR);
		ring->meta->next_lost = seed >> 30 == 1;
		ring->meta->buffer.reader.id = (seed >> 16) % (NR + 2);
		ring->meta->buffer.reader.read = seed >> 16;
		mode = round & 1 ? HYPTRACE_MODE_DISCARD : HYPTRACE_MODE_OVERWRITE;
		last = round & 2 ? seed >> 20 & 15 : 0;
		ret = take_last(ring, mode, last);
		if (!last)
			assert_int_equal(ret, nothing_is_left(ring, !(round & 1)) ? -EAGAIN : 0);
		if (ret) {
			assert_int_equal(ret, -EAGAIN);
			assert_int_equal(ring->err.errnum, EAGAIN);
			assert_null(ring->snap);
			again++;
			continue;
		}
		taken++;
		for (steps = 0; next(ring); steps++)
			assert_in_range(steps, 0, NR * PAGE / 4);
	}
	assert_in_range(taken, round / 2, round);
	assert_in_range(again, round / 100, round);
}

/* A writer that changes the ring while a sub-buffer is copied */
static struct ring *written;
static unsigned int writes_left, nr_writes;

static void write_meanwhile(void)
{
	unsigned int id;

	if (!writes_left)
		return;
	writes_left--;
	nr_writes++;
	/* all sub-buffers but the consumer's are newer now */
	for (id = 1; id < NR; id++)
		put_u64(written, id, 0, word_of(written, id, 0) + 1000);
}

static void overwritten_meanwhile(void **state)
{
	struct ring *ring = *state;
	unsigned int times;

	written = ring;
	fill(ring, 1, 100, 0, 10);
	fill(ring, 2, 200, 10, 10);
	fill(ring, 3, 300, 20, 10);
	on_alloc = write_meanwhile;
	for (times = 0; times < 63; times += 31) {
		writes_left = times;
		assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 0), 0);
		assert_int_equal(writes_left, 0);
		expect(ring, 0, 0, 29);
		expect_end(ring, 0);
	}
	/* the library gives up after exactly 64 tries */
	writes_left = UINT32_MAX;
	nr_writes = 0;
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 0), -EAGAIN);
	on_alloc = NULL;
	assert_int_equal(nr_writes, 64);
	assert_null(ring->snap);
	assert_string_equal(ring->err.text, "what is in the ring is overwritten too soon");
}

static void clear_meanwhile(void)
{
	unsigned int id;

	for (id = 0; id < NR; id++) {
		put_u64(written, id, 0, 1000 + id);
		set_commit(written, id, 0);
	}
}

/* The listed sub-buffers are cleared, and there are no new events. */
static void cleared_meanwhile(void **state)
{
	struct ring *ring = *state;

	written = ring;
	fill(ring, 1, 100, 0, 10);
	on_alloc = clear_meanwhile;
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 0), 0);
	on_alloc = NULL;
	expect_end(ring, 0);
}

static void go_on_meanwhile(void)
{
	written->meta->begin = 200;
}

/* The consumer swaps to 1, and the driver has published only the time stamp yet. */
static void swapped_meanwhile(void **state)
{
	struct ring *ring = *state;

	written = ring;
	fill(ring, 0, 100, 0, 10);
	fill(ring, 1, 200, 10, 10);
	fill(ring, 2, 300, 20, 10);
	consumed(ring, 0, 0);
	on_alloc = go_on_meanwhile;
	assert_int_equal(take_last(ring, HYPTRACE_MODE_OVERWRITE, 0), 0);
	on_alloc = NULL;
	expect(ring, 0, 20, 29);
	expect_end(ring, 0);
}

static void no_memory(void **state)
{
	struct ring *ring = *state;
	bool failed = true;
	unsigned int nth;
	int ret;

	fill(ring, 1, 100, 0, 10);
	fill(ring, 2, 200, 10, 10);
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		ret = take_last(ring, HYPTRACE_MODE_OVERWRITE, 0);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
		assert_int_equal(!ring->snap, failed);
		if (failed)
			assert_string_equal(ring->err.text, "no memory for a copy of 1280 bytes");
	}
	/* allocations: the snapshot, the list, two copies */
	assert_int_equal(nth - 2, 4);
	hyptrace_snapshot_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(noise), TEST(overwritten_meanwhile), TEST(cleared_meanwhile),
		TEST(swapped_meanwhile), TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
