/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fuzzers: libFuzzer has mutate.c change files, and gives them to target.c or to images.c.
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

/* memory.c: memory since fuzz_memory_begin(), in bytes at most */
void fuzz_memory_begin(void);
size_t fuzz_memory_peak(void);

/* dump_use.c */
unsigned int dump_use(const char *path, uint64_t seed);

#endif /* FUZZ_H */
