/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that is read from its begin on, and must have certain bytes */
#ifndef FILE_BYTES_H
#define FILE_BYTES_H

#include "file_remote.h"

static char *file;
static size_t file_size, at;

static inline void expect_bytes(const void *bytes, size_t size)
{
	assert_true(file_size - at >= size);
	assert_memory_equal(file + at, bytes, size);
	at += size;
}

static inline void want_string(const char *text)
{
	expect_bytes(text, strlen(text) + 1);
}

static inline uint64_t take(size_t size)
{
	uint64_t value = 0;

	assert_true(file_size - at >= size);
	/* the tests run on little-endian machines, too: the file has the order of the machine */
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		memcpy((char *)&value + sizeof(value) - size, file + at, size);
	else
		memcpy(&value, file + at, size);
	at += size;
	return value;
}

static inline void skip_text(const char *has)
{
	const uint64_t size = take(8);

	assert_non_null(memmem(file + at, size, has, strlen(has)));
	at += size;
}

static inline void read_back(const char *path)
{
	file = slurp(path, &file_size);
	assert_non_null(file);
	at = 0;
}

#endif /* FILE_BYTES_H */
