// SPDX-License-Identifier: GPL-2.0-only
/*
 * Strict decoders of sub-buffers: they accept what hyp/ may write and nothing else. For the
 * tests of the ring.
 */
#include <kbuffer.h>

#include "ring_decode.h"

static u32 word_at(const struct hyptrace_subbuf *page, u32 offset)
{
	u32 word;

	memcpy(&word, page->data + offset, sizeof(word));

	return word;
}

/* How many lost events a gap record at the beginning counts; 0 without one. */
u64 decode_gap(const struct hyptrace_subbuf *page, u64 commit)
{
	struct hyptrace_gap gap = { .lost = 0 };

	if (commit >= sizeof(gap) &&
	    hyptrace_record_type_len(word_at(page, 0)) == HYPTRACE_TYPE_PADDING)
		memcpy(&gap, page->data, sizeof(gap));

	return gap.lost;
}

/* Return the number of events, or -1 if the page is malformed. */
int decode_own(const struct hyptrace_subbuf *page, u64 commit,
	       struct decoded *events)
{
	u64 time = READ_ONCE(page->time_stamp);
	bool extended = false;
	u32 pos = 0;
	int nr = 0;

	if (commit > HYPTRACE_SUBBUF_DATA_SIZE || commit % sizeof(u32))
		return -1;

	while (pos < commit) {
		u32 header = word_at(page, pos);
		u32 type_len = hyptrace_record_type_len(header), size;

		time += hyptrace_record_delta(header);
		pos += sizeof(u32);
		if (type_len == HYPTRACE_TYPE_TIME_EXTEND) {
			if (extended || pos + sizeof(u32) > commit)
				return -1;
			time += (u64)word_at(page, pos) << HYPTRACE_DELTA_BITS;
			pos += sizeof(u32);
			extended = true;
			continue;
		}
		if (type_len == HYPTRACE_TYPE_PADDING) {
			/* A gap record takes 1 ns, comes first, and an event follows it. */
			if (pos > sizeof(u32) || commit <= sizeof(struct hyptrace_gap) ||
			    hyptrace_record_delta(header) != HYPTRACE_GAP_DELTA ||
			    word_at(page, pos) != HYPTRACE_GAP_LENGTH ||
			    !decode_gap(page, commit))
				return -1;
			pos = sizeof(struct hyptrace_gap);
			continue;
		}
		if (type_len > HYPTRACE_TYPE_MAX_WORDS)
			return -1;
		size = type_len * sizeof(u32);
		if (!size) {
			if (pos + sizeof(u32) > commit)
				return -1;
			size = word_at(page, pos) - sizeof(u32);
			pos += sizeof(u32);
			/* A short payload must have its size in the header. */
			if (size <= HYPTRACE_MAX_SHORT_BYTES || size % sizeof(u32))
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

/* The same with libtraceevent, which takes the commit from the page. */
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

/* Decode a page with both decoders, which must agree. */
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
