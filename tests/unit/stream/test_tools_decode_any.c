// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder with random sub-buffers: noise, and valid ones that libtraceevent decodes, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <kbuffer.h>

#include "subbuf_page.h"

/* Whatever a sub-buffer contains, decoding must end, and must not read beyond it. */
static void noise(void **state)
{
	struct page *page = *state;
	unsigned int round, i, steps;
	uint32_t seed = 1;

	for (round = 0; round < 20000; round++) {
		for (i = 0; i < PAGE; i++) {
			seed = seed * 1664525 + 1013904223;
			page->mem[i] = seed >> 24;
		}
		page->used = (seed >> 8) % (PAGE - HYPTRACE_SUBBUF_HEADER + 1) & ~3u;
		page->flags = seed & (HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED);
		assert_int_equal(load(page), 0);
		for (steps = 0; next(page) > 0; steps++) {
			const char *data = page->rec.data;

			assert_true(data >= page->mem + HYPTRACE_SUBBUF_HEADER);
			assert_true(data + page->rec.size <=
				    page->mem + HYPTRACE_SUBBUF_HEADER + page->used);
			assert_in_range(steps, 0, PAGE / 4);
		}
	}
}

static uint32_t random_word(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Put a random record that fits: any kind, any time, any bytes. */
static void put_any(struct page *page, uint32_t *seed)
{
	uint32_t delta = random_word(seed) >> random_word(seed) % 24, i;
	uint32_t words = 1 + random_word(seed) % 6;

	switch (random_word(seed) % 8) {
	case 0:
		put_head(page, 30, delta);
		put(page, random_word(seed));
		return;
	case 1:
		put_head(page, 31, delta);
		put(page, random_word(seed));
		return;
	case 2:
		put_head(page, 29, delta | 1);
		put(page, (words + 1) * 4);
		break;
	case 3:
		put_head(page, 0, delta);
		put(page, (words + 1) * 4);
		break;
	default:
		put_head(page, words, delta);
		break;
	}
	for (i = 0; i < words; i++)
		put(page, random_word(seed));
}

/* Of a valid sub-buffer both decoders must return the same records. */
static void as_kbuffer(void **state)
{
	struct kbuffer *kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_SAME_AS_HOST);
	struct page *page = *state;
	unsigned int round, events = 0;
	unsigned long long ts;
	uint32_t seed = 5;
	void *data;

	for (round = 0; round < 5000; round++) {
		page->used = 0;
		while (page->used + 40 <= PAGE - HYPTRACE_SUBBUF_HEADER)
			put_any(page, &seed);
		/* kbuffer reads beyond the end after a final time record, so end with an event */
		put_short(page, 1, round);
		assert_int_equal(load(page), 0);
		assert_int_equal(kbuffer_load_subbuffer(kbuf, page->mem), 0);
		for (data = kbuffer_read_event(kbuf, &ts); data;
		     data = kbuffer_next_event(kbuf, &ts), events++) {
			assert_int_equal(next(page), 1);
			assert_ptr_equal(page->rec.data, data);
			assert_true(page->rec.ts == ts);
			assert_int_equal(page->rec.size, kbuffer_event_size(kbuf));
		}
		assert_int_equal(next(page), 0);
	}
	assert_true(events > round);
	kbuffer_free(kbuf);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(noise), TEST(as_kbuffer) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
