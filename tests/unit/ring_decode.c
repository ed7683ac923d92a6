// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoders of sub-buffers; strict, in that they take what hyp/ may write and
 * nothing else. For the tests of the ring.
 */
#include <kbuffer.h>

#include "ring_decode.h"

#define GAP_BYTES	16

static u32 word_at(const struct hyptrace_subbuf *page, u32 offset)
{
	u32 word;

	memcpy(&word, page->data + offset, sizeof(word));

	return word;
}

/* What a gap at the beginning says is missing. */
u64 decode_gap(const struct hyptrace_subbuf *page, u64 commit)
{
	u64 lost = 0;

	if (commit >= GAP_BYTES && (word_at(page, 0) & 31) == 29)
		memcpy(&lost, page->data + 2 * sizeof(u32), sizeof(lost));

	return lost;
}

/* The number of events, or -1 if the page is not well formed. */
int decode_own(const struct hyptrace_subbuf *page, u64 commit,
	       struct decoded *events)
{
	u64 time = READ_ONCE(page->time_stamp);
	bool extended = false;
	u32 pos = 0;
	int nr = 0;

	if (commit > sizeof(page->data) || commit % sizeof(u32))
		return -1;

	while (pos < commit) {
		u32 header = word_at(page, pos);
		u32 type_len = header & 31, size;

		time += header >> 5;
		pos += sizeof(u32);
		if (type_len == 30) {
			if (extended || pos + sizeof(u32) > commit)
				return -1;
			time += (u64)word_at(page, pos) << 27;
			pos += sizeof(u32);
			extended = true;
			continue;
		}
		if (type_len == 29) {
			/* 1 ns, at the beginning, and with an event behind it */
			if (pos > sizeof(u32) || header >> 5 != 1 || commit <= GAP_BYTES ||
			    word_at(page, pos) != GAP_BYTES - sizeof(u32) ||
			    !decode_gap(page, commit))
				return -1;
			pos = GAP_BYTES;
			continue;
		}
		if (type_len > 28)
			return -1;
		size = type_len * sizeof(u32);
		if (!size) {
			if (pos + sizeof(u32) > commit)
				return -1;
			size = word_at(page, pos) - sizeof(u32);
			pos += sizeof(u32);
			/* Short ones have their size in the header. */
			if (size <= 28 * sizeof(u32) || size % sizeof(u32))
				return -1;
		}
		if (size > commit - pos)
			return -1;
		events[nr++] = (struct decoded) { time, pos, size };
		pos += size;
		extended = false;
	}

	return extended ? -1 : nr;
}

/* Likewise, by libtraceevent; the commit is the page's. */
int decode_kbuffer(const struct hyptrace_subbuf *page, struct decoded *events)
{
	unsigned long long time;
	struct kbuffer *kbuf;
	const u8 *data;
	int nr = 0;

	if (!READ_ONCE(page->commit))
		return 0;

	kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_SAME_AS_HOST);
	assert_non_null(kbuf);
	assert_int_equal(kbuffer_load_subbuffer(kbuf, (void *)page), 0);
	assert_int_equal(kbuffer_subbuffer_size(kbuf), page->commit);
	for (data = kbuffer_read_event(kbuf, &time); data;
	     data = kbuffer_next_event(kbuf, &time))
		events[nr++] = (struct decoded) {
			time, data - page->data, kbuffer_event_size(kbuf)
		};
	kbuffer_free(kbuf);

	return nr;
}

/* The events of a page on which both decoders have to agree. */
int decode_both(const struct hyptrace_subbuf *page, struct decoded *events)
{
	struct decoded theirs[DECODE_MAX];
	int nr = decode_own(page, READ_ONCE(page->commit), events), i;

	assert_int_not_equal(nr, -1);
	assert_int_equal(decode_kbuffer(page, theirs), nr);
	for (i = 0; i < nr; i++) {
		assert_int_equal(events[i].time, theirs[i].time);
		assert_int_equal(events[i].offset, theirs[i].offset);
		assert_int_equal(events[i].size, theirs[i].size);
	}

	return nr;
}
