/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handmade sub-buffers and the decoder that reads them. For the tests of the decoder.
 */
#ifndef SUBBUF_PAGE_H
#define SUBBUF_PAGE_H

#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"

#define PAGE	256
#define START	UINT64_C(1000)

/* The sub-buffer has exactly its size on the heap, so that ASan reports any access beyond it. */
struct page {
	char			*mem;
	uint64_t		start;
	uint32_t		used;
	uint64_t		flags;
	struct hyptrace_decoder	dec;
	struct hyptrace_record	rec;
	struct hyptrace_error	err;
};

static inline int setup(void **state)
{
	struct page *page = calloc(1, sizeof(*page));

	page->mem = malloc(PAGE);
	page->start = START;
	memset(page->mem, 0xff, PAGE);
	*state = page;
	return 0;
}

static inline int teardown(void **state)
{
	struct page *page = *state;

	free(page->mem);
	free(page);
	return 0;
}

static inline void put(struct page *page, uint32_t word)
{
	assert_in_range(page->used, 0, PAGE - HYPTRACE_SUBBUF_HEADER - sizeof(word));
	memcpy(page->mem + HYPTRACE_SUBBUF_HEADER + page->used, &word, sizeof(word));
	page->used += sizeof(word);
}

static inline void put_head(struct page *page, uint32_t type, uint32_t delta)
{
	put(page, hyptrace_record_header(type, delta));
}

static inline void put_short(struct page *page, uint32_t delta, uint32_t payload)
{
	put_head(page, 1, delta);
	put(page, payload);
}

static inline void commit_as(struct page *page, uint64_t commit)
{
	memcpy(page->mem, &page->start, sizeof(page->start));
	memcpy(page->mem + sizeof(page->start), &commit, sizeof(commit));
}

static inline int load(struct page *page)
{
	commit_as(page, page->used | page->flags);
	return hyptrace_decoder_load(&page->dec, page->mem, PAGE, &page->err);
}

static inline int next(struct page *page)
{
	return hyptrace_decoder_next(&page->dec, &page->rec, &page->err);
}

static inline uint32_t payload(const struct page *page)
{
	uint32_t word;

	memcpy(&word, page->rec.data, sizeof(word));
	return word;
}

/* Expect an event before which @lost events are missing. */
static inline void expect_lost(struct page *page, uint64_t lost, uint64_t ts, unsigned int size,
			       uint32_t word)
{
	assert_int_equal(next(page), 1);
	assert_true(page->rec.ts == ts);
	assert_int_equal(page->rec.size, size);
	assert_int_equal(payload(page), word);
	assert_true(page->rec.lost == lost);
}

static inline void expect(struct page *page, uint64_t ts, unsigned int size, uint32_t word)
{
	expect_lost(page, 0, ts, size, word);
}

#endif /* SUBBUF_PAGE_H */
