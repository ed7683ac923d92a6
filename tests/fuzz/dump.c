// SPDX-License-Identifier: GPL-2.0-only
/*
 * Give a dump whose memory is changed to the reader of dumps:
 *
 *	dump [-s SEED] [-n RUNS] VMCORE
 *
 * What the reader reads of the dump is changed at random, or is missing. The library is built
 * without its checks of sums: they would find each change. Run number N has the random numbers of
 * SEED + N.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../tools/lib/dump/dump.h"
#include "fuzz.h"

/* A run takes some ms. */
#define SECONDS_MAX	20

/* Pages of the dump, as they are: each is read from the file once. */
#define PAGES		4096

/* libtraceevent forgets some memory of formats that it cannot parse. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent.so\nleak:libkdumpfile.so";
}

static struct page {
	uint64_t	address;
	uint32_t	size;
	bool		is_there;
	void		*data;
} pages[PAGES];

static struct dump_memory *mem;
static struct hyptrace_dump *described;
static uint64_t seed, state;
static unsigned int changes;	/* one of so many reads is changed; 0: none */

/* The linker has the library's calls come here (--wrap). */
struct dump_memory *__real_hyptrace_memory_open(const char *path, struct hyptrace_error *err);
bool __real_hyptrace_memory_read(struct dump_memory *from, uint64_t address, void *to, size_t size);
int __real_hyptrace_memory_find(struct dump_memory *from, struct hyptrace_dump **page);
struct dump_memory *__wrap_hyptrace_memory_open(const char *path, struct hyptrace_error *err);
bool __wrap_hyptrace_memory_read(struct dump_memory *from, uint64_t address, void *to, size_t size);
int __wrap_hyptrace_memory_find(struct dump_memory *from, struct hyptrace_dump **page);
void __wrap_hyptrace_memory_close(struct dump_memory *from);

static uint32_t below(uint32_t limit)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (state >> 33) % limit;
}

static void change(uint8_t *data, size_t size)
{
	static const uint64_t numbers[] = {
		0, 1, 7, 8, 15, 16, 29, 31, 32, 0xff, 0x1000, 0xffff, 0xfffff, 0x7fffffff,
		0x80000000, 0xffffffff, UINT64_C(0x100000000), INT64_MAX, UINT64_MAX,
	};
	unsigned int nr = 1 + below(4);
	size_t width, at;
	uint64_t value;

	while (nr--) {
		width = (size_t)1 << below(4);
		if (width > size)
			continue;
		/* the beginning says more than the rest */
		at = below(below(2) ? size : MIN(size, 64)) / width * width;
		value = below(2) ? numbers[below(COUNT(numbers))] : below(UINT32_MAX);
		if (at + width <= size)
			memcpy(data + at, &value, width);
	}
}

struct dump_memory *__wrap_hyptrace_memory_open(const char *path, struct hyptrace_error *err)
{
	(void)path;
	(void)err;
	return mem;
}

void __wrap_hyptrace_memory_close(struct dump_memory *from)
{
	(void)from;
}

bool __wrap_hyptrace_memory_read(struct dump_memory *from, uint64_t address, void *to, size_t size)
{
	struct page *page = &pages[(address / 512 + size) % PAGES];

	if (page->address != address || page->size != size || !page->data) {
		free(page->data);
		*page = (struct page){ .address = address, .size = size, .data = malloc(size) };
		page->is_there = page->data &&
				 __real_hyptrace_memory_read(from, address, page->data, size);
	}
	if (!page->is_there)
		return false;
	memcpy(to, page->data, size);
	if (changes && !below(changes)) {
		if (!below(16))
			return false;
		change(to, size);
	}
	return true;
}

int __wrap_hyptrace_memory_find(struct dump_memory *from, struct hyptrace_dump **page)
{
	(void)from;
	*page = malloc(described->page_size);
	if (!*page)
		return -ENOENT;
	memcpy(*page, described, described->page_size);
	if (changes && !below(4)) {
		change((uint8_t *)*page + offsetof(struct hyptrace_dump, real_offset),
		       sizeof(**page) - offsetof(struct hyptrace_dump, real_offset));
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long runs = 1000, run;
	struct hyptrace_error err;
	unsigned int events;
	int option;

	while ((option = getopt(argc, argv, "s:n:")) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (option == 'n')
			runs = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (optind + 1 != argc)
		return 2;
	mem = __real_hyptrace_memory_open(argv[optind], &err);
	if (!mem || __real_hyptrace_memory_find(mem, &described)) {
		fprintf(stderr, "dump: %s: no dump, or without hyptrace\n", argv[optind]);
		return 2;
	}
	events = dump_use(argv[optind], seed);
	if (!events) {
		fprintf(stderr, "dump: %s: it has no events\n", argv[optind]);
		return 2;
	}
	for (run = 0; run < runs; run++, seed++) {
		static const unsigned int often[] = { 2, 8, 32, 128 };

		state = seed;
		changes = often[seed % COUNT(often)];
		alarm(SECONDS_MAX);
		dump_use(argv[optind], seed);
	}
	printf("%lu runs, each of %u events\n", runs, events);
	return 0;
}
