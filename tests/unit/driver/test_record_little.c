// SPDX-License-Identifier: GPL-2.0-only
/*
 * The record codec: hyp/ writes records, the driver and libhyptrace read them. This file is
 * built for both byte orders. __BYTE_ORDER__ selects only the place of the bits in a header:
 * each word keeps the byte order of the host.
 */
#include "hyp_env.h"

#include "lib/internal.h"

#include "driver_walk.h"

#define CPU		1
#define NR_PAGES	3
#define NR_EVENTS	100
#define LONG_PAYLOAD	130	/* too long for a type_len */
#define FAR_NS		(1ULL << 40)	/* too far for a delta */

static struct env_ring host;
static struct hyptrace_ring *ring;

static int start(void **state)
{
	(void)state;
	env_start(env_ring_pages(NR_PAGES));
	env_cpu(CPU);
	ring = &env_rings[CPU];
	env_ring_load(&host, CPU, 0, NR_PAGES, HYPTRACE_RING_DISCARD);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&host);
	env_stop();

	return 0;
}

static void write_long(void)
{
	u64 now = env_counter;
	void *to = hyptrace_ring_reserve(ring, &now, LONG_PAYLOAD);

	assert_non_null(to);
	memset(to, 0, LONG_PAYLOAD);
	hyptrace_ring_commit(ring, ring->commit, ring->recorded, to, now, LONG_PAYLOAD);
}

/* Both decoders must find @expected events, the last one at @expected_time. */
static void check_readers(const void *subbuf, u32 expected, u64 expected_time)
{
	struct hyptrace_decoder dec = {};
	const struct hyptrace_subbuf *page = subbuf;
	uint64_t time = page->time_stamp;
	struct hyptrace_record rec;
	struct hyptrace_error err;
	u32 events, nr = 0;

	assert_true(driver_walk(page->data, page->commit, &time, &events));
	assert_int_equal(events, expected);
	assert_int_equal(time, expected_time);

	assert_int_equal(hyptrace_decoder_load(&dec, subbuf, PAGE_SIZE, &err), 0);
	while (hyptrace_decoder_next(&dec, &rec, &err) > 0) {
		nr++;
		time = rec.ts;
	}
	assert_int_equal(nr, expected);
	assert_int_equal(time, expected_time);
}

/*
 * Check the bits against constants: a codec that is wrong in both directions would pass the
 * other tests.
 */
static void bits(void **state)
{
	const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const u32 header = hyptrace_record_header(0x15, 0x5a5a5a5);

	(void)state;
	assert_int_equal(header, big ? 0xada5a5a5 : 0xb4b4b4b5);
	assert_int_equal(hyptrace_record_type_len(header), 0x15);
	assert_int_equal(hyptrace_record_delta(header), 0x5a5a5a5);
	assert_true(hyptrace_record_long_time(header, 0x87654321) ==
		    0x87654321ULL * 0x8000000 + 0x5a5a5a5);
}

/* Short and long records, and deltas that need a time-extend record. */
static void events(void **state)
{
	const struct hyptrace_subbuf *page = ring->page;
	u32 i;

	(void)state;
	for (i = 0; i < NR_EVENTS; i++) {
		env_counter += i % 20 == 10 ? FAR_NS : 10;
		if (i % 10 == 9)
			write_long();
		else
			hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	}
	assert_ptr_equal(ring->page, page);
	check_readers(page, NR_EVENTS, env_counter);
}

/* A sub-buffer that begins with a gap record. */
static void gap(void **state)
{
	(void)state;
	do {
		env_counter += 10;
		hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	} while (!ring->dropped);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SWAP, CPU, 0, 0), 0);
	env_counter += 10;
	hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	assert_int_equal(ring->page->commit, sizeof(struct hyptrace_gap) + 12);
	check_readers(ring->page, 1, env_counter);
}

/* Absolute times, which only the kernel's own writer records. */
static void absolute_time(void **state)
{
	const u64 time = 0x123456789abcdef;
	struct {
		u64 time_stamp;
		u64 commit;
		u32 words[PAGE_SIZE / sizeof(u32) - 4];
	} page = { .time_stamp = 1000, .commit = 4 * sizeof(u32) };

	(void)state;
	page.words[0] = hyptrace_record_header(HYPTRACE_TYPE_TIME_ABSOLUTE,
					       time & (BIT(HYPTRACE_DELTA_BITS) - 1));
	page.words[1] = time >> HYPTRACE_DELTA_BITS;
	page.words[2] = hyptrace_record_header(1, 7);
	check_readers(&page, 1, time + 7);
}

/* An absolute time has 59 bits. The others are those of the time before, or of one more. */
static void absolute_time_of_a_late_sub_buffer(void **state)
{
	const u64 in_delta = BIT(HYPTRACE_DELTA_BITS) - 1, high = 3ULL << 59;
	const u64 low = 0x7fffffffffffff0;
	static const u64 absolute[] = { 0x7fffffffffffffd, 5, 5, 0x7ffffffffffffff, 0 };
	static const u64 carries[] = { 0, 1, 1, 1, 2 };
	struct {
		u64 time_stamp;
		u64 commit;
		u32 words[PAGE_SIZE / sizeof(u32) - 4];
	} page = { .time_stamp = high + low, .commit = 16 };
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++) {
		page.words[4 * i] = hyptrace_record_header(HYPTRACE_TYPE_TIME_ABSOLUTE,
							   absolute[i] & in_delta);
		page.words[4 * i + 1] = absolute[i] >> HYPTRACE_DELTA_BITS;
		page.words[4 * i + 2] = hyptrace_record_header(1, 0);
		page.commit = 16 * (i + 1);
		check_readers(&page, i + 1, high + (carries[i] << 59) + absolute[i]);
	}
	/* A time without them is what it says, also if it is before. */
	page.time_stamp = low;
	page.words[0] = hyptrace_record_header(HYPTRACE_TYPE_TIME_ABSOLUTE, 7);
	page.words[1] = 0;
	page.commit = 16;
	check_readers(&page, 1, 7);
}

/* Put an event with a length word, as mainline's writer does. Return the index behind it. */
static u32 put_long(u32 *words, u32 at, u32 delta, u32 payload)
{
	words[at] = hyptrace_record_header(HYPTRACE_TYPE_LENGTH_WORD, delta);
	words[at + 1] = sizeof(u32) + payload;
	memset(words + at + 2, 0xff, payload);

	return at + 2 + payload / sizeof(u32);
}

/* Events with a length word that follow each other, and what ends a row of them. */
static void long_events(void **state)
{
	struct {
		u64 time_stamp;
		u64 commit;
		u32 words[PAGE_SIZE / sizeof(u32) - 4];
	} page = { .time_stamp = 1000 };
	static const struct { u32 length, found; } cases[] = {
		{ 0, 0 }, { 3, 0 }, { 25, 0 }, { 28, 0 }, { 1U << 31, 0 }, { UINT32_MAX, 0 },
		{ UINT32_MAX - 3, 0 }, { 13, 2 }, { 16, 2 }, { 21, 1 }, { 24, 1 },
	};
	u32 last, at = 0, events;
	unsigned int i;
	uint64_t time;

	(void)state;
	at = put_long(page.words, at, 5, 8);
	at = put_long(page.words, at, 0, 120);
	at = put_long(page.words, at, 7, 4);
	page.words[at++] = hyptrace_record_header(HYPTRACE_TYPE_TIME_EXTEND, 3);
	page.words[at++] = 1;
	at = put_long(page.words, at, 9, 16);
	page.words[at++] = hyptrace_record_header(1, 11);
	page.words[at++] = 8;	/* would be a length */
	at = put_long(page.words, at, 0, 4);
	last = at;
	at = put_long(page.words, at, 13, 12);
	at = put_long(page.words, at, 17, 0);
	page.commit = at * sizeof(u32);
	/* what is behind the end looks like one more */
	put_long(page.words, at, 1, 4);
	check_readers(&page, 8, 1000 + (1U << HYPTRACE_DELTA_BITS) + 5 + 7 + 3 + 9 + 11 + 13 + 17);

	/* The length of the last event but one: 0 events are found there if it is malformed. */
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		page.words[last + 1] = cases[i].length;
		time = 1000;
		assert_int_equal(driver_walk(page.words, page.commit, &time, &events),
				 !!cases[i].found);
		assert_int_equal(events, 6 + cases[i].found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits),
		cmocka_unit_test_setup_teardown(events, start, stop),
		cmocka_unit_test_setup_teardown(gap, start, stop),
		cmocka_unit_test(absolute_time),
		cmocka_unit_test(absolute_time_of_a_late_sub_buffer),
		cmocka_unit_test(long_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
