// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader of memory that has outlived a reset. The library is built without its checks of sums:
 * they would find each change. For libFuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/hyptrace_record.h>

#include "fuzz.h"

/* Of one image, in bytes */
#define MEMORY_MAX	((size_t)100 << 20)

/* corpus_image.py makes them so. */
_Static_assert(sizeof(struct hyptrace_seal) == 16, "seal");
_Static_assert(offsetof(struct hyptrace_seal, bytes) == 8, "seal");

/* libtraceevent forgets some memory of formats that it cannot parse. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent.so";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;
	uint64_t sum = 0;
	size_t i;

	if (fd < 0) {
		fd = memfd_create("image", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, size) || pwrite(fd, data, size, 0) != (ssize_t)size) {
		fprintf(stderr, "fuzz: cannot write to memory\n");
		abort();
	}
	for (i = 0; i < size; i += 1 + i / 64)
		sum = sum * 31 + data[i];
	fuzz_memory_begin();
	dump_use(path, sum);
	if (fuzz_memory_peak() >= MEMORY_MAX) {
		fprintf(stderr, "fuzz: it takes too much memory\n");
		abort();
	}
	return 0;
}
