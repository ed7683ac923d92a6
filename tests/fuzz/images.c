// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader of memory that has outlived a reset. The library is built without its checks of sums:
 * they would find each change. For libFuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/hyptrace_dump.h>
#include <linux/hyptrace_record.h>

#include "fuzz.h"

/* Of one image, in bytes */
#define MEMORY_MAX	((size_t)100 << 20)

/* corpus_image.py makes them so. */
_Static_assert(sizeof(struct hyptrace_seal) == 16, "seal");
_Static_assert(offsetof(struct hyptrace_seal, bytes) == 8, "seal");

const size_t fuzz_tail;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	uint64_t sum = 0;
	size_t i;

	/* libkdumpfile would read another file: it may crash, and verbs.c has a process for it */
	if (size < sizeof(HYPTRACE_DUMP_MAGIC) ||
	    memcmp(data, HYPTRACE_DUMP_MAGIC, sizeof(HYPTRACE_DUMP_MAGIC)))
		return 0;
	fuzz_write("image", data, size);
	snprintf(path, sizeof(path), "%s/image", fuzz_folder());
	for (i = 0; i < size; i += 1 + i / 64)
		sum = sum * 31 + data[i];
	fuzz_memory_begin();
	dump_use(path, sum);
	fuzz_check(fuzz_memory_peak() < MEMORY_MAX, "it takes too much memory");
	fuzz_check(fuzz_seconds() < FUZZ_SECONDS_MAX, "it takes too long");
	return 0;
}
