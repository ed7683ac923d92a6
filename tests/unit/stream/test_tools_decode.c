// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder with handmade sub-buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include <cmocka.h>

#include "lib/internal.h"
#include "subbuf_page.h"

static void empty(void **state)
{
	struct page *page = *state;

	assert_int_equal(load(page), 0);
	assert_int_equal(next(page), 0);
	assert_int_equal(next(page), 0);
}

static void short_records(void **state)
{
	struct page *page = *state;
	unsigned int i;

	put_short(page, 0, 0x11);
	put_head(page, 28, 5);
	for (i = 0; i < 28; i++)
		put(page, 0x22 + i);
	put_short(page, (1 << 27) - 1, 0x33);
	assert_int_equal(load(page), 0);
	expect(page, START, 4, 0x11);
	expect(page, START + 5, 112, 0x22);
	expect(page, START + 5 + (1 << 27) - 1, 4, 0x33);
	assert_int_equal(next(page), 0);
}

static void long_record(void **state)
{
	struct page *page = *state;
	unsigned int i;

	put_head(page, 0, 7);
	put(page, 4 + 30 * 4);
	for (i = 0; i < 30; i++)
		put(page, i + 1);
	put_short(page, 1, 0x44);
	assert_int_equal(load(page), 0);
	expect(page, START + 7, 120, 1);
	expect(page, START + 8, 4, 0x44);
	assert_int_equal(next(page), 0);
}

static void time_extend(void **state)
{
	struct page *page = *state;

	put_head(page, 30, 3);
	put(page, 2);
	put_short(page, 1, 0x55);
	/* two time-extend records in a row, and one without an event after it */
	put_head(page, 30, 0);
	put(page, 1);
	put_head(page, 30, 0);
	put(page, 1);
	put_short(page, 0, 0x66);
	put_head(page, 30, 0);
	put(page, 1);
	assert_int_equal(load(page), 0);
	expect(page, START + (UINT64_C(2) << 27) + 3 + 1, 4, 0x55);
	expect(page, START + (UINT64_C(4) << 27) + 3 + 1, 4, 0x66);
	assert_int_equal(next(page), 0);
}

static void absolute_time(void **state)
{
	struct page *page = *state;

	put_short(page, 1, 0x77);
	put_head(page, 31, 9);
	put(page, 5);
	put_short(page, 2, 0x88);
	assert_int_equal(load(page), 0);
	expect(page, START + 1, 4, 0x77);
	expect(page, (UINT64_C(5) << 27) + 9 + 2, 4, 0x88);
	assert_int_equal(next(page), 0);
}

/*
 * An absolute time has 59 bits. The higher bits are those of the time before, and time does
 * not go back.
 */
static void absolute_time_high(void **state)
{
	const uint64_t high = UINT64_C(5) << 59, all = (UINT64_C(1) << 59) - 1;
	struct page *page = *state;

	page->start = high | (UINT64_C(7) << 27 | 100);
	/* a later, an equal and an earlier time: the last one means after the next overflow */
	put_head(page, 31, 101);
	put(page, 7);
	put_short(page, 0, 0x11);
	put_head(page, 31, 101);
	put(page, 7);
	put_short(page, 0, 0x22);
	put_head(page, 31, 100);
	put(page, 7);
	put_short(page, 0, 0x33);
	put_head(page, 31, (1 << 27) - 1);
	put(page, 0xffffffff);
	put_short(page, 0, 0x44);
	assert_int_equal(load(page), 0);
	expect(page, page->start + 1, 4, 0x11);
	expect(page, page->start + 1, 4, 0x22);
	expect(page, page->start + all + 1, 4, 0x33);
	expect(page, (UINT64_C(6) << 59) + all, 4, 0x44);
	assert_int_equal(next(page), 0);

	/* without high bits in the time before, an absolute time is taken as it is */
	page->start = (UINT64_C(9) << 27) | 5;
	page->used = 0;
	put_head(page, 31, 4);
	put(page, 9);
	put_short(page, 0, 0x55);
	assert_int_equal(load(page), 0);
	expect(page, page->start - 1, 4, 0x55);
}

/* Padding of each length that fits, and of one that does not. */
static void padding_lengths(void **state)
{
	const uint32_t room = PAGE - HYPTRACE_SUBBUF_HEADER;
	struct page *page = *state;
	uint32_t len;

	for (len = 4; len <= room - 12; len += 4) {
		page->used = 0;
		put_short(page, 1, 0x11);
		put_head(page, 29, 3);
		put(page, len);
		if (page->used + len - 4 + 8 <= room) {
			page->used += len - 4;
			put_short(page, 2, 0x22);
			assert_int_equal(load(page), 0);
			expect(page, START + 1, 4, 0x11);
			expect(page, START + 6, 4, 0x22);
		} else {
			page->used += len - 4;
			assert_int_equal(load(page), 0);
			expect(page, START + 1, 4, 0x11);
		}
		assert_int_equal(next(page), 0);
		/* the data ends within the padding */
		page->used = 8 + 4 + len - 4;
		assert_int_equal(load(page), 0);
		expect(page, START + 1, 4, 0x11);
		assert_int_equal(next(page), -EBADMSG);
		assert_int_equal(next(page), 0);
	}
}

/* Long records with a payload of each length from 0. */
static void long_lengths(void **state)
{
	const uint32_t room = PAGE - HYPTRACE_SUBBUF_HEADER;
	struct page *page = *state;
	uint32_t len, i;

	for (len = 0; len <= room - 8; len += 4) {
		page->used = 0;
		put_head(page, 0, 3);
		put(page, len + 4);
		for (i = 0; i < len; i += 4)
			put(page, i + 1);
		assert_int_equal(load(page), 0);
		assert_int_equal(next(page), 1);
		assert_int_equal(page->rec.ts, START + 3);
		assert_int_equal(page->rec.size, len);
		assert_ptr_equal(page->rec.data, page->mem + HYPTRACE_SUBBUF_HEADER + 8);
		assert_int_equal(next(page), 0);
		page->used -= 4;
		assert_int_equal(load(page), 0);
		assert_int_equal(next(page), -EBADMSG);
	}
}

static void padding(void **state)
{
	struct page *page = *state;

	put_head(page, 29, 1);
	put(page, 8);
	put(page, 0);
	put_short(page, 1, 0x99);
	/* padding up to the end of the data, without a length */
	put_head(page, 29, 0);
	put(page, 0xffffffff);
	assert_int_equal(load(page), 0);
	assert_int_equal(next(page), 1);
	assert_int_equal(payload(page), 0x99);
	assert_int_equal(next(page), 0);
	assert_int_equal(next(page), 0);
}

static void full_page(void **state)
{
	struct page *page = *state;
	unsigned int i, nr = (PAGE - HYPTRACE_SUBBUF_HEADER) / 8;

	for (i = 0; i < nr; i++)
		put_short(page, 1, i);
	assert_int_equal(load(page), 0);
	for (i = 0; i < nr; i++)
		expect(page, START + i + 1, 4, i);
	assert_int_equal(next(page), 0);
}

static void missed_with_count(void **state)
{
	struct page *page = *state;
	const uint64_t lost = UINT64_C(0x123456789a);

	put_short(page, 0, 1);
	put_short(page, 0, 2);
	memcpy(page->mem + HYPTRACE_SUBBUF_HEADER + page->used, &lost, sizeof(lost));
	page->flags = HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
	assert_int_equal(load(page), 0);
	expect_lost(page, lost, START, 4, 1);
	expect(page, START, 4, 2);
	assert_int_equal(next(page), 0);
	assert_int_equal(hyptrace_decoder_lost(&page->dec), 0);
}

static void missed_without_count(void **state)
{
	struct page *page = *state;

	put_short(page, 0, 1);
	page->flags = HYPTRACE_COMMIT_MISSED;
	assert_int_equal(load(page), 0);
	expect_lost(page, HYPTRACE_LOST_UNKNOWN, START, 4, 1);
}

/* The flag announces a count of lost events, but there is no room for it. */
static void missed_count_cut_off(void **state)
{
	struct page *page = *state;

	while (page->used + 8 <= PAGE - HYPTRACE_SUBBUF_HEADER)
		put_short(page, 0, 1);
	page->flags = HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
	assert_int_equal(load(page), 0);
	assert_int_equal(next(page), 1);
	assert_true(page->rec.lost == HYPTRACE_LOST_UNKNOWN);
}

/* Losses before a sub-buffer without events are reported with the next one. */
static void missed_of_empty(void **state)
{
	struct page *page = *state;
	uint64_t lost = 3;

	page->flags = HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
	memcpy(page->mem + HYPTRACE_SUBBUF_HEADER, &lost, sizeof(lost));
	assert_int_equal(load(page), 0);
	assert_int_equal(next(page), 0);

	put_short(page, 0, 1);
	lost = 4;
	memcpy(page->mem + HYPTRACE_SUBBUF_HEADER + page->used, &lost, sizeof(lost));
	assert_int_equal(load(page), 0);
	expect_lost(page, 7, START, 4, 1);

	page->used = 0;
	page->flags = HYPTRACE_COMMIT_MISSED;
	assert_int_equal(load(page), 0);
	assert_int_equal(next(page), 0);
	assert_true(hyptrace_decoder_lost(&page->dec) == HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(hyptrace_decoder_lost(&page->dec), 0);
}

static void missed(struct page *page, uint64_t lost)
{
	page->used = 0;
	page->flags = HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
	memcpy(page->mem + HYPTRACE_SUBBUF_HEADER, &lost, sizeof(lost));
	assert_int_equal(load(page), 0);
	assert_int_equal(next(page), 0);
}

/* Losses add up, but never beyond the largest number. */
static void missed_sum(void **state)
{
	struct page *page = *state;

	missed(page, 3);
	missed(page, 4);
	assert_int_equal(hyptrace_decoder_lost(&page->dec), 7);
	missed(page, 10);
	missed(page, UINT64_MAX - 5);
	assert_true(hyptrace_decoder_lost(&page->dec) == HYPTRACE_LOST_UNKNOWN);
	missed(page, 1);
	missed(page, HYPTRACE_LOST_UNKNOWN);
	missed(page, 1);
	put_short(page, 0, 9);
	page->flags = 0;
	assert_int_equal(load(page), 0);
	expect_lost(page, HYPTRACE_LOST_UNKNOWN, START, 4, 9);
}

/* The count of lost events just fits, or misses one byte. */
static void missed_count_at_the_end(void **state)
{
	const uint64_t lost = 0x1234;
	struct page *page = *state;

	while (page->used + 8 < PAGE - HYPTRACE_SUBBUF_HEADER)
		put_short(page, 0, 1);
	assert_int_equal(page->used, PAGE - HYPTRACE_SUBBUF_HEADER - 8);
	page->flags = HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
	memcpy(page->mem + HYPTRACE_SUBBUF_HEADER + page->used, &lost, sizeof(lost));
	assert_int_equal(load(page), 0);
	expect_lost(page, lost, START, 4, 1);
	page->used += 4;
	assert_int_equal(load(page), 0);
	expect_lost(page, HYPTRACE_LOST_UNKNOWN, START, 4, 1);
	/* a count without the flag that announces it */
	page->used -= 4;
	page->flags = HYPTRACE_COMMIT_STORED;
	assert_int_equal(load(page), 0);
	expect(page, START, 4, 1);
}

/* Sub-buffers of each small size: after the header of 16 bytes there may be no data. */
static void small_sub_buffers(void **state)
{
	struct page *page = *state;
	size_t size;
	char *mem;
	int ret;

	for (size = 0; size <= 2 * HYPTRACE_SUBBUF_HEADER; size++) {
		mem = calloc(1, size);
		ret = hyptrace_decoder_load(&page->dec, mem, size, &page->err);
		assert_int_equal(ret, size < HYPTRACE_SUBBUF_HEADER ? -EBADMSG : 0);
		if (ret) {
			assert_int_equal(page->err.errnum, EBADMSG);
			assert_non_null(strstr(page->err.text, "a sub-buffer of "));
		}
		assert_int_equal(next(page), 0);
		free(mem);
	}
}

static void bad_commit(void **state)
{
	struct page *page = *state;
	static const uint64_t commits[] = {
		PAGE - HYPTRACE_SUBBUF_HEADER + 4, HYPTRACE_COMMIT_MASK, 1 << 20, 1 << 29,
		UINT64_C(1) << 32, UINT64_MAX, 2, 7,
	};
	size_t i;

	for (i = 0; i < sizeof(commits) / sizeof(commits[0]); i++) {
		commit_as(page, commits[i]);
		assert_int_equal(hyptrace_decoder_load(&page->dec, page->mem, PAGE, &page->err),
				 -EBADMSG);
		assert_int_equal(page->err.errnum, EBADMSG);
		assert_int_equal(next(page), 0);
	}
	assert_int_equal(hyptrace_decoder_load(&page->dec, page->mem, 15, &page->err), -EBADMSG);
}

/* Sub-buffers whose first record is good, and whose second record is bad. */
static void bad_records(void **state)
{
	static const struct {
		unsigned int	nr;
		uint32_t	words[3];
	} bad[] = {
		{ 1, { 1 } },			/* no payload */
		{ 2, { 2, 0 } },		/* payload too short */
		{ 1, { 0 } },			/* no length word */
		{ 2, { 0, 0 } },		/* a length that does not include itself */
		{ 2, { 0, 3 } },
		{ 3, { 0, 6, 0 } },		/* not aligned */
		{ 3, { 0, 12, 0 } },		/* ends beyond the data */
		{ 3, { 0, 0xfffffffc, 0 } },
		{ 3, { 0, 0x80000000, 0 } },
		{ 1, { 30 } },			/* half a time-extend record */
		{ 1, { 31 } },
		{ 1, { 29 | 1 << 5 } },		/* padding without its length */
		{ 2, { 29 | 1 << 5, 0 } },
		{ 2, { 29 | 1 << 5, 0xfffffff0 } },
	};
	struct page *page = *state;
	size_t i;
	unsigned int j;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		page->used = 0;
		put_short(page, 1, 0xaa);
		for (j = 0; j < bad[i].nr; j++)
			put(page, bad[i].words[j]);
		assert_int_equal(load(page), 0);
		expect(page, START + 1, 4, 0xaa);
		assert_int_equal(next(page), -EBADMSG);
		assert_non_null(strstr(page->err.text, "byte 8"));
		assert_int_equal(next(page), 0);
	}
}

/* The data of a full page ends in a head whose word is missing. */
static void ends_in_a_head(void **state)
{
	static const uint32_t heads[] = { 0, 29 | 1 << 5, 30, 31 };
	struct page *page = *state;
	unsigned int i;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		page->used = 0;
		put_short(page, 1, 0xaa);
		put_head(page, 28, 0);
		page->used += 28 * 4;
		put_head(page, 25, 0);
		page->used = PAGE - HYPTRACE_SUBBUF_HEADER - 4;
		put(page, heads[i]);
		assert_int_equal(load(page), 0);
		expect(page, START + 1, 4, 0xaa);
		assert_int_equal(next(page), 1);
		assert_int_equal(next(page), 1);
		assert_int_equal(next(page), -EBADMSG);
		assert_non_null(strstr(page->err.text, "byte 236"));
		assert_int_equal(next(page), 0);
	}
}

/* A time that is later than any can be is damage. */
static void late(void **state)
{
	struct page *page = *state;

	page->dec.latest = START + 16;
	put_head(page, 30, 16);
	put(page, 0);
	put_short(page, 0, 0x11);
	assert_int_equal(load(page), 0);
	expect(page, START + 16, 4, 0x11);
	assert_int_equal(next(page), 0);
	page->used = 0;
	put_head(page, 30, 17);
	put(page, 0);
	put_short(page, 0, 0x11);
	assert_int_equal(load(page), 0);
	assert_int_equal(next(page), -EBADMSG);
	assert_int_equal(next(page), 0);
	/* of the sub-buffer; what was known is kept */
	page->start = START + 16;
	assert_int_equal(load(page), 0);
	page->start = START + 17;
	assert_int_equal(load(page), -EBADMSG);
	assert_non_null(strstr(page->err.text, "the time 1017 ns, which is too late"));
	assert_int_equal(next(page), 0);
	assert_int_equal(page->dec.ts, START + 16);
}

/* Several events at once: as many as there is room for, before a time, and while that is simple. */
static void several(void **state)
{
	const struct hyptrace_stream_event like = { .cpu = 3, .is_host = true };
	struct hyptrace_stream_event events[8];
	struct page *page = *state;
	unsigned int i;

	for (i = 0; i < 4; i++)
		put_short(page, 5, i);
	put_head(page, 30, 1);
	put(page, 0);
	put_short(page, 0, 9);
	assert_int_equal(load(page), 0);
	assert_int_equal(hyptrace_decoder_run(&page->dec, &like, UINT64_MAX, events, 0), 0);
	assert_int_equal(hyptrace_decoder_run(&page->dec, &like, START + 10, events, 8), 1);
	assert_int_equal(events[0].record.ts, START + 5);
	assert_int_equal(hyptrace_decoder_run(&page->dec, &like, UINT64_MAX, events, 2), 2);
	assert_int_equal(events[1].record.ts, START + 15);
	assert_int_equal(events[1].record.size, 4);
	assert_int_equal(events[1].cpu, 3);
	assert_true(events[1].is_host);
	assert_int_equal(hyptrace_decoder_run(&page->dec, &like, UINT64_MAX, events, 8), 1);
	assert_int_equal(*(const uint32_t *)events[0].record.data, 3);
	/* a long time */
	assert_int_equal(hyptrace_decoder_run(&page->dec, &like, UINT64_MAX, events, 8), 0);
	expect(page, START + 21, 4, 9);
	assert_int_equal(hyptrace_decoder_run(&page->dec, &like, UINT64_MAX, events, 8), 0);
	/* up to the end of a full page, and with losses */
	page->used = 0;
	while (page->used < PAGE - HYPTRACE_SUBBUF_HEADER)
		put_short(page, 1, 7);
	assert_int_equal(load(page), 0);
	for (i = 0; hyptrace_decoder_run(&page->dec, &like, UINT64_MAX, events, 1); i++)
		;
	assert_int_equal(i, 30);
	assert_int_equal(next(page), 0);
	assert_int_equal(load(page), 0);
	hyptrace_decoder_lose(&page->dec, 1);
	assert_int_equal(hyptrace_decoder_run(&page->dec, &like, UINT64_MAX, events, 8), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(empty), TEST(short_records), TEST(long_record), TEST(time_extend),
		TEST(absolute_time), TEST(absolute_time_high), TEST(padding),
		TEST(padding_lengths), TEST(long_lengths), TEST(full_page), TEST(missed_with_count),
		TEST(missed_without_count), TEST(missed_count_cut_off), TEST(missed_of_empty),
		TEST(missed_sum), TEST(missed_count_at_the_end), TEST(small_sub_buffers),
		TEST(bad_commit), TEST(bad_records), TEST(ends_in_a_head), TEST(late),
		TEST(several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
