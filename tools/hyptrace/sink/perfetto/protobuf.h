/* SPDX-License-Identifier: GPL-2.0-only */
/* Append messages of protobuf to a buffer with enough room. All functions return its new end. */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stdint.h>
#include <string.h>

/* Bytes of a number at most */
#define PROTOBUF_VARINT_MAX	10

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_LEN = 2,
};

static inline uint8_t *protobuf_varint(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = value | 0x80;
		value >>= 7;
	}
	*to++ = value;
	return to;
}

static inline uint8_t *protobuf_tag(uint8_t *to, unsigned int field, enum protobuf_wire wire)
{
	return protobuf_varint(to, field << 3 | wire);
}

static inline uint8_t *protobuf_uint(uint8_t *to, unsigned int field, uint64_t value)
{
	return protobuf_varint(protobuf_tag(to, field, PROTOBUF_VARINT), value);
}

static inline uint8_t *protobuf_fixed64(uint8_t *to, unsigned int field, uint64_t value)
{
	unsigned int i;

	to = protobuf_tag(to, field, PROTOBUF_FIXED64);
	for (i = 0; i < sizeof(value); i++)
		*to++ = value >> 8 * i;
	return to;
}

static inline uint8_t *protobuf_bytes(uint8_t *to, unsigned int field, const void *data,
				      size_t len)
{
	to = protobuf_varint(protobuf_tag(to, field, PROTOBUF_LEN), len);
	memcpy(to, data, len);
	return to + len;
}

/* Append a string as valid UTF-8: other characters than printable ASCII become "?". */
static inline uint8_t *protobuf_text(uint8_t *to, unsigned int field, const char *text, size_t max)
{
	size_t len = strnlen(text, max), i;

	to = protobuf_varint(protobuf_tag(to, field, PROTOBUF_LEN), len);
	for (i = 0; i < len; i++)
		*to++ = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	return to;
}

static inline uint8_t *protobuf_open(uint8_t *to, unsigned int field)
{
	/* most messages are short: one byte for the length */
	return protobuf_tag(to, field, PROTOBUF_LEN) + 1;
}

static inline uint8_t *protobuf_close(uint8_t *start, uint8_t *end)
{
	const size_t len = end - start;
	uint8_t head[PROTOBUF_VARINT_MAX];
	size_t size;

	if (__builtin_expect(len < 0x80, 1)) {
		start[-1] = len;
		return end;
	}
	size = protobuf_varint(head, len) - head;
	memmove(start - 1 + size, start, len);
	memcpy(start - 1, head, size);
	return end - 1 + size;
}

#endif /* PROTOBUF_H */
