/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read the numbers of payloads without a branch for their sizes: the eight bytes around a number
 * are read as a word, and two shifts leave the number.
 */
#ifndef HYPTRACE_PLACE_H
#define HYPTRACE_PLACE_H

#include <endian.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of a payload that hyptrace_place_*() read: copy shorter payloads to such a room */
#define PLACE_WORD	sizeof(uint64_t)

/* Where a number is in a payload */
struct place {
	uint32_t	offset;	/* of the eight bytes that are read */
	uint8_t		left;	/* bits to shift them to the left, ... */
	uint8_t		right;	/* ... and then back to the right */
	bool		is_signed;
};

static inline struct place hyptrace_place_of(uint32_t offset, uint32_t size, bool is_signed,
					     uint32_t payload)
{
	uint32_t last = payload > PLACE_WORD ? payload - PLACE_WORD : 0, before;
	struct place place;

	place.offset = offset < last ? offset : last;
	before = offset - place.offset;
	place.left = CHAR_BIT * (htole16(1) == 1 ? PLACE_WORD - before - size : before);
	place.right = CHAR_BIT * (PLACE_WORD - size);
	place.is_signed = is_signed;
	return place;
}

static inline uint64_t hyptrace_place_word(const struct place *place, const char *data)
{
	uint64_t word;

	memcpy(&word, data + place->offset, sizeof(word));
	return word << place->left;
}

static inline int64_t hyptrace_place_signed(const struct place *place, const char *data)
{
	return (int64_t)hyptrace_place_word(place, data) >> place->right;
}

static inline uint64_t hyptrace_place_unsigned(const struct place *place, const char *data)
{
	return hyptrace_place_word(place, data) >> place->right;
}

static inline uint64_t hyptrace_place_value(const struct place *place, const char *data)
{
	return place->is_signed ? (uint64_t)hyptrace_place_signed(place, data) :
				  hyptrace_place_unsigned(place, data);
}

#endif /* HYPTRACE_PLACE_H */
