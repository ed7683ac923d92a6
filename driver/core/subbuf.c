// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walking over the records of a sub-buffer. Called by reader.c.
 *
 * The memory is shared with the writer: nothing in it is believed. Every record
 * takes the walk on by at least one word, none past the end.
 */
#include <linux/compiler.h>
#include <linux/hyptrace_record.h>
#include <linux/math.h>

#include "subbuf.h"

#define ABSOLUTE_MASK		((1ULL << HYPTRACE_ABSOLUTE_BITS) - 1)

#define WORD			sizeof(u32)

static u32 word_at(const u8 *data, u32 pos)
{
	return READ_ONCE(*(const u32 *)(data + pos));
}

/**
 * hyptrace_subbuf_walk - walk over the records up to an end
 * @data:	the records, aligned to a word
 * @end:	where the walk ends: the bytes of @data that were committed
 * @walk:	where it starts, and where it has come to
 *
 * Return: false if a record is malformed; the walk ends before it.
 */
bool hyptrace_subbuf_walk(const u8 *data, u32 end, struct hyptrace_walk *walk)
{
	while (walk->pos < end && end - walk->pos >= WORD) {
		u32 header = word_at(data, walk->pos);
		u32 room = end - walk->pos - WORD;
		u32 delta = hyptrace_record_delta(header);
		u32 type = hyptrace_record_type_len(header);
		u64 time = walk->time + delta;
		u32 length;

		switch (type) {
		case HYPTRACE_TYPE_PADDING:
			/* without a delta it fills all that is left */
			if (!delta) {
				walk->pos = end;
				return true;
			}
			if (room < WORD)
				return false;
			length = word_at(data, walk->pos + WORD);
			break;
		case HYPTRACE_TYPE_TIME_EXTEND:
			if (room < WORD)
				return false;
			length = WORD;
			time = walk->time +
			       hyptrace_record_long_time(header, word_at(data, walk->pos + WORD));
			break;
		case HYPTRACE_TYPE_TIME_ABSOLUTE:
			if (room < WORD)
				return false;
			length = WORD;
			time = hyptrace_record_long_time(header, word_at(data, walk->pos + WORD));
			time &= ABSOLUTE_MASK;
			if (walk->time & ~ABSOLUTE_MASK) {
				time |= walk->time & ~ABSOLUTE_MASK;
				if (time < walk->time)
					time += ABSOLUTE_MASK + 1;
			}
			break;
		case HYPTRACE_TYPE_LENGTH_WORD:
			/* the length word counts itself */
			if (room < WORD)
				return false;
			length = word_at(data, walk->pos + WORD);
			if (length < WORD)
				return false;
			break;
		default:
			length = type * WORD;
			break;
		}
		if (length > room)
			return false;
		length = round_up(length, WORD);
		/* rounded up it may only end where the data ends, not behind */
		if (length > room)
			return false;

		walk->pos += WORD + length;
		walk->time = time;
		if (type < HYPTRACE_TYPE_PADDING)
			walk->events++;
	}
	return walk->pos == end;
}
