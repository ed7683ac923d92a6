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

/* Return the number of events. */
static unsigned int read_ring(struct hyptrace *h, const char *remote, unsigned int cpu,
			      struct hyptrace_formats *fmts)
{
	struct hyptrace_reader *reader = hyptrace_reader_open_snapshot_on(h, remote, cpu, NULL);
	struct hyptrace_snapshot *snap;
	const struct hyptrace_event *event;
	struct hyptrace_record rec;
	unsigned int nr = 0;
	size_t len;
	int ret;

	if (!reader)
		return 0;
	snap = hyptrace_snapshot_take(reader, seed % 2, seed % 3 ? 0 : 10, NULL);
	hyptrace_reader_close(reader);
	while (snap && (ret = hyptrace_snapshot_next(snap, &rec, NULL))) {
		if (ret < 0)
			continue;
		nr++;
		/* the texts of some are enough: they take most of the time */
		event = fmts && nr % 16 == seed % 16 ? hyptrace_formats_event(fmts, &rec) : NULL;
		if (event)
			hyptrace_formats_text(fmts, event, &rec, &len);
	}
	if (snap)
		hyptrace_snapshot_free(snap);
	return nr;
}

/* Do what "record --snapshot" and "show" do. Return the number of events. */
static unsigned int read_dump(const char *path)
{
	struct hyptrace *h = hyptrace_open_dump(path, NULL, NULL, NULL, NULL);
	struct hyptrace_remote **remotes = NULL;
	struct hyptrace_event **events = NULL;
	struct hyptrace_hypercall **calls = NULL;
	struct hyptrace_formats *fmts;
	struct hyptrace_cpu **cpus = NULL;
	unsigned int nr_remotes = 0, nr_events = 0, nr_calls = 0, nr_cpus = 0, i, nr = 0;

	if (!h)
		return 0;
	if (!hyptrace_get_remotes(h, &remotes, &nr_remotes, NULL) && nr_remotes &&
	    !hyptrace_get_events(h, remotes[0]->name, &events, &nr_events, NULL) &&
	    !hyptrace_get_cpus(h, remotes[0]->name, &cpus, &nr_cpus, NULL)) {
		/* most of the time is that of the parser of libtraceevent */
		fmts = seed % 16 ? NULL : hyptrace_formats_new(events, nr_events, NULL);
		if (fmts && !hyptrace_get_hypercalls(h, remotes[0]->name, &calls, &nr_calls, NULL))
			hyptrace_formats_set_hypercalls(fmts, calls, nr_calls, NULL);
		for (i = 0; i < nr_cpus; i++)
			nr += read_ring(h, remotes[0]->name, cpus[i]->id, fmts);
		hyptrace_formats_free(fmts);
	}
	hyptrace_free_hypercalls(calls);
	hyptrace_free_cpus(cpus);
	hyptrace_free_events(events);
	hyptrace_free_remotes(remotes);
	hyptrace_close(h);
	return nr;
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
	events = read_dump(argv[optind]);
	if (!events) {
		fprintf(stderr, "dump: %s: it has no events\n", argv[optind]);
		return 2;
	}
	for (run = 0; run < runs; run++, seed++) {
		static const unsigned int often[] = { 2, 8, 32, 128 };

		state = seed;
		changes = often[seed % COUNT(often)];
		alarm(SECONDS_MAX);
		read_dump(argv[optind]);
	}
	printf("%lu runs, each of %u events\n", runs, events);
	return 0;
}
