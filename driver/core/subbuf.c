// SPDX-License-Identifier: GPL-2.0-only
/*
 * A walk over the records of a sub-buffer. Called by reader.c, look.c and panic.c. The writer
 * shares this memory, so the walk trusts nothing in it: each record advances it by at least one
 * word, and never beyond the end.
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

/* A loop of few instructions: mainline's writer gives events a length word, and no count. */
static void walk_long_events(const u8 *data, u32 end, struct hyptrace_walk *walk)
{
	u32 pos = walk->pos, events = 0;
	u64 time = walk->time;

	while (end - pos >= 2 * WORD) {
		u32 header = word_at(data, pos);
		u32 length = word_at(data, pos + WORD);

		if (hyptrace_record_type_len(header) | (length % WORD) ||
		    length - WORD > end - pos - 2 * WORD)
			break;
		time += hyptrace_record_delta(header);
		pos += WORD + length;
		events++;
	}
	walk->pos = pos;
	walk->time = time;
	walk->events += events;
}

/* Walk over one record; *@type is its type_len. False if it is malformed. */
static __always_inline bool step(const u8 *data, u32 end, struct hyptrace_walk *walk, u32 *type)
{
	u32 header = word_at(data, walk->pos);
	u32 room = end - walk->pos - WORD;
	u32 delta = hyptrace_record_delta(header);
	u64 time = walk->time + delta;
	u32 length;

	*type = hyptrace_record_type_len(header);
	switch (*type) {
	case HYPTRACE_TYPE_PADDING:
		/* Padding without a delta fills the rest of the sub-buffer. */
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
		/* The length includes the length word itself. */
		if (room < WORD)
			return false;
		length = word_at(data, walk->pos + WORD);
		if (length < WORD)
			return false;
		break;
	default:
		length = *type * WORD;
		break;
	}
	if (length > room)
		return false;
	length = round_up(length, WORD);
	/* The rounded length must not exceed the data either. */
	if (length > room)
		return false;

	walk->pos += WORD + length;
	walk->time = time;
	if (*type < HYPTRACE_TYPE_PADDING)
		walk->events++;
	return true;
}

static bool has_header(const struct hyptrace_walk *walk, u32 end)
{
	return walk->pos < end && end - walk->pos >= WORD;
}

/**
 * hyptrace_subbuf_walk - walk over the records up to an end
 * @data:	the records, aligned to a word
 * @end:	end of the walk, in bytes of @data: at most the committed bytes
 * @walk:	in: the start; out: the position at which the walk stopped
 * Return: false if a record is malformed; the walk stops before it.
 */
bool hyptrace_subbuf_walk(const u8 *data, u32 end, struct hyptrace_walk *walk)
{
	u32 type;

	while (has_header(walk, end) && step(data, end, walk, &type)) {
		if (type == HYPTRACE_TYPE_LENGTH_WORD)
			walk_long_events(data, end, walk);
	}
	return walk->pos == end;
}

/**
 * hyptrace_subbuf_next - walk to the end of the next event
 * @data:	as for hyptrace_subbuf_walk()
 * @end:	the same
 * @walk:	in, out: the position
 * @size:	out: bytes of the event's payload, a multiple of 4, or 0
 * Return: the payload; NULL at the end, or at a malformed record: then @walk->pos is not @end.
 */
const void *hyptrace_subbuf_next(const u8 *data, u32 end, struct hyptrace_walk *walk, u32 *size)
{
	u32 type, begin;

	while (has_header(walk, end)) {
		begin = walk->pos + WORD;
		if (!step(data, end, walk, &type))
			break;
		if (type >= HYPTRACE_TYPE_PADDING)
			continue;
		if (type == HYPTRACE_TYPE_LENGTH_WORD)
			begin += WORD;
		*size = walk->pos - begin;
		return data + begin;
	}
	return NULL;
}
