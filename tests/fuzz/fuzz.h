/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fuzzer of the reader of trace files: main.c gives the files that mutate.c has changed to
 * target.c.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a file at most */
#define FUZZ_SIZE_MAX	(512 << 10)

/* mutate.c */

/**
 * struct fuzz_input - a file that is changed
 * @data:	its bytes, with room for FUZZ_SIZE_MAX
 * @size:	number of bytes
 * @random:	state of the random numbers
 */
struct fuzz_input {
	uint8_t		*data;
	size_t		size;
	uint64_t	random;
};

void fuzz_mutate(struct fuzz_input *in, const uint8_t *other, size_t other_size);

/* target.c */
void fuzz_use(const uint8_t *data, size_t size);

#endif /* FUZZ_H */
