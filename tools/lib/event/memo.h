/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remember lines of events by their payloads. For format.c.
 *
 * The payloads of the most frequent events are two or three words with a reason and a virtual
 * CPU. Few of them differ, so most of their lines are copies of lines that were printed before.
 */
#ifndef HYPTRACE_MEMO_H
#define HYPTRACE_MEMO_H

#include <stdint.h>
#include <string.h>

/* Bytes of the payloads */
#define MEMO_PAYLOAD_MIN	8
#define MEMO_PAYLOAD_MAX	12
/* Bytes of a line at most; all of them are copied, and that many must be readable after a line */
#define MEMO_TEXT		64
#define MEMO_BITS		8

/* A line, without the CPU and the time */
struct memo_line {
	uint64_t	first;	/* first eight bytes of the payload */
	uint64_t	last;	/* its last eight bytes */
	uint32_t	size;	/* its bytes; 0 if there is no line */
	uint32_t	len;	/* bytes of text */
	char		text[MEMO_TEXT];
};

/* All lines; the place of one depends on its payload. */
struct memo {
	struct memo_line	lines[1 << MEMO_BITS];
};

static inline uint64_t memo_word(const void *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Find the place of a payload. */
static inline struct memo_line *memo_place(struct memo *memo, const char *data, uint32_t size)
{
	uint64_t key = memo_word(data) ^ memo_word(data + size - sizeof(uint64_t)) << 17;

	return &memo->lines[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MEMO_BITS)];
}

/* Is it the line of that payload? */
static inline bool memo_is(const struct memo_line *line, const char *data, uint32_t size)
{
	return line->first == memo_word(data) && line->size == size &&
	       line->last == memo_word(data + size - sizeof(uint64_t));
}

/* Remember the line from @text to @end. */
static inline void memo_set(struct memo_line *line, const char *data, uint32_t size,
			    const char *text, const char *end)
{
	if (end - text > MEMO_TEXT)
		return;
	line->first = memo_word(data);
	line->last = memo_word(data + size - sizeof(uint64_t));
	line->size = size;
	line->len = end - text;
	memcpy(line->text, text, MEMO_TEXT);
}

#endif /* HYPTRACE_MEMO_H */
