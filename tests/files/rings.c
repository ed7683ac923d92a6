// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of hyp/ on the host. The consumer takes sub-buffers as the driver does.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../hyp/hooks.h"
#include "rings.h"

/* The driver's walk over records, from driver/core/subbuf.h, whose types are the kernel's */
struct walk {
	u32	pos;
	u32	events;
	u64	time;
};

bool hyptrace_subbuf_walk(const u8 *data, u32 end, struct walk *walk);

#define PER_TABLE	HYPTRACE_ENTRIES_PER_TABLE(PAGE_SIZE)

/**
 * struct reader - the consumer of a ring
 * @pages:	the pages of the ring
 * @nr:		number of @pages
 * @meta:	its meta page
 * @id:		the reader's sub-buffer
 * @consumed:	bytes of it that were taken
 * @time:	time of the last record that was taken
 * @lost:	losses that the next sub-buffer must report
 * @reported:	losses that were reported
 * @read:	events that were taken
 * @cleared:	events that the CPU tried to record before the last clear
 */
struct reader {
	u8			*pages;
	u32			nr;
	struct hyptrace_meta	*meta;
	u32			id;
	u32			consumed;
	u64			time;
	u64			lost;
	u64			reported;
	u64			read;
	u64			cleared;
};

static struct hyptrace_ring rings[RINGS_MAX];
static struct reader readers[RINGS_MAX];
/* Each CPU has a counter of its own, so that the CPUs record at the same times. */
static u64 counters[RINGS_MAX];

__thread struct hyptrace_ring *hyptrace_host_ring = &rings[0];

u64 hyptrace_read_counter(void)
{
	return counters[hyptrace_host_ring - rings];
}

struct hyptrace_ring *hyptrace_ring_of(u64 cpu)
{
	return cpu < RINGS_MAX ? &rings[cpu] : NULL;
}

u32 hyptrace_nr_cpus(void)
{
	return RINGS_MAX;
}

struct hyptrace_ring *hyptrace_spare_ring_of(u64 cpu)
{
	(void)cpu;
	return NULL;
}

int hyptrace_take_page(u64 pfn, void **va)
{
	*va = (void *)(pfn << PAGE_SHIFT);
	return 0;
}

int hyptrace_release_page(void *va)
{
	(void)va;
	return 0;
}

int hyptrace_share_pages(u64 pfn, u32 nr, void **va)
{
	(void)nr;
	return hyptrace_take_page(pfn, va);
}

int hyptrace_get_page_states(u64 pfn, struct hyptrace_page_states *states)
{
	(void)pfn;
	(void)states;
	return -EOPNOTSUPP;
}

void hyptrace_unshare_pages(void *va, u32 nr)
{
	(void)va;
	(void)nr;
}

static void *new_pages(u64 nr)
{
	void *pages = aligned_alloc(PAGE_SIZE, nr * PAGE_SIZE);

	if (!pages) {
		fputs("make_file: out of memory\n", stderr);
		exit(2);
	}
	memset(pages, 0, nr * PAGE_SIZE);
	return pages;
}

static s64 call(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	s64 ret = hyptrace_hcall(op, arg1, arg2, arg3);

	if (ret < 0 && ret != -EAGAIN && ret != -ESTALE) {
		fprintf(stderr, "make_file: hypercall %llu failed: %lld\n", op, ret);
		exit(2);
	}
	return ret;
}

static void give_table(unsigned int cpu, u64 pfn)
{
	while (call(HYPTRACE_OP_RING_TABLE, cpu, pfn, 0))
		pfn = 0;
}

static u64 pfn_of(const void *page)
{
	return (u64)page >> PAGE_SHIFT;
}

static void load(unsigned int cpu, u64 nr, bool discard)
{
	struct hyptrace_table_entry *table = NULL;
	struct reader *reader = &readers[cpu];
	u64 i;

	reader->pages = new_pages(nr);
	reader->nr = nr;
	reader->meta = new_pages(1);
	call(HYPTRACE_OP_RING_BEGIN, cpu, nr, discard ? HYPTRACE_RING_DISCARD : 0);
	for (i = 0; i < nr; i++) {
		if (i % (HYPTRACE_TABLES_PER_DIR(PAGE_SIZE) * PER_TABLE) == 0)
			call(HYPTRACE_OP_RING_DIR, cpu, pfn_of(new_pages(1)), 0);
		if (i % PER_TABLE == 0)
			table = new_pages(1);
		table[i % PER_TABLE].pfn = pfn_of(reader->pages + i * PAGE_SIZE);
		if ((i + 1) % PER_TABLE == 0 || i + 1 == nr)
			give_table(cpu, pfn_of(table));
	}
	call(HYPTRACE_OP_RING_READY, cpu, pfn_of(reader->meta), 0);
	call(HYPTRACE_OP_ATTACH, cpu, HYPTRACE_ALL_EVENTS, 0);
	reader->id = reader->meta->reader_id;
}

/* Load a ring of @pages for each of @cpus CPUs. The clock is at @time. */
void rings_begin(unsigned int cpus, unsigned int pages, bool discard, uint64_t time)
{
	unsigned int cpu;

	call(HYPTRACE_OP_CLOCK, 1ULL << HYPTRACE_CLOCK_SHIFT, 0, time);
	for (cpu = 0; cpu < cpus; cpu++) {
		rings_use(cpu);
		load(cpu, pages, discard);
	}
	rings_use(0);
}

/* From now on @cpu records. */
void rings_use(unsigned int cpu)
{
	hyptrace_host_ring = &rings[cpu];
}

/* Let time pass for the CPU that records. */
void rings_pass(uint64_t ns)
{
	counters[hyptrace_host_ring - rings] += ns;
}

/* How many events a CPU has tried to record */
uint64_t rings_recorded(unsigned int cpu)
{
	return readers[cpu].cleared + rings[cpu].recorded + rings[cpu].dropped;
}

static struct hyptrace_subbuf *page_of(const struct reader *reader)
{
	return (void *)(reader->pages + reader->id * PAGE_SIZE);
}

/* Get data into the reader's sub-buffer. Return false if there is none. */
static bool fill(unsigned int cpu, struct reader *reader, u32 *end)
{
	s64 id;

	for (;;) {
		*end = page_of(reader)->commit;
		if (*end > reader->consumed)
			return true;
		id = call(HYPTRACE_OP_SWAP, cpu, reader->consumed, 0);
		if (id == -ESTALE)
			continue;
		if (id < 0)
			return false;
		reader->id = id;
		reader->consumed = 0;
		reader->lost += reader->meta->reader_lost;
	}
}

static bool begins_with_gap(const struct hyptrace_subbuf *page, u32 end)
{
	const struct hyptrace_gap *gap = (const struct hyptrace_gap *)page->data;

	return end > sizeof(*gap) &&
	       hyptrace_record_type_len(gap->header) == HYPTRACE_TYPE_PADDING;
}

/* Find an end of the data that leaves room for the number of lost events. */
static u32 end_with_room(const u8 *data, u32 size)
{
	struct walk walk = {};

	if (HYPTRACE_SUBBUF_DATA_SIZE - size >= sizeof(u64))
		return size;
	hyptrace_subbuf_walk(data, HYPTRACE_SUBBUF_DATA_SIZE - sizeof(u64), &walk);
	return walk.pos ? walk.pos : size;
}

/* Take the next sub-buffer, as read() of the driver delivers it. Return false if there is none. */
bool rings_take(unsigned int cpu, void *subbuf)
{
	struct reader *reader = &readers[cpu];
	struct hyptrace_subbuf *from, *to = subbuf;
	struct walk walk = {};
	u32 end, size;

	rings_use(cpu);
	if (!fill(cpu, reader, &end))
		return false;
	from = page_of(reader);
	if (!reader->consumed && begins_with_gap(from, end)) {
		reader->time = from->time_stamp + HYPTRACE_GAP_DELTA;
		reader->consumed = sizeof(struct hyptrace_gap);
	}
	size = end - reader->consumed;
	to->time_stamp = reader->consumed ? reader->time : from->time_stamp;
	memcpy(to->data, from->data + reader->consumed, size);
	if (reader->lost)
		size = end_with_room(to->data, size);
	memset(to->data + size, 0, HYPTRACE_SUBBUF_DATA_SIZE - size);
	to->commit = size;
	if (reader->lost) {
		to->commit |= HYPTRACE_COMMIT_MISSED;
		if (HYPTRACE_SUBBUF_DATA_SIZE - size >= sizeof(u64)) {
			memcpy(to->data + size, &reader->lost, sizeof(u64));
			to->commit |= HYPTRACE_COMMIT_STORED;
		}
	}
	walk.time = to->time_stamp;
	hyptrace_subbuf_walk(to->data, size, &walk);
	reader->time = walk.time;
	reader->consumed += size;
	reader->read += walk.events;
	reader->reported += reader->lost;
	reader->lost = 0;
	return true;
}

/* Read the counters of a ring. */
void rings_count(unsigned int cpu, struct ring_counts *counts)
{
	struct reader *reader = &readers[cpu];

	call(HYPTRACE_OP_SYNC, cpu, 0, 0);
	counts->read = reader->read;
	counts->lost = reader->meta->overrun + reader->meta->dropped;
	counts->unreported = counts->lost - reader->reported;
	counts->unread = reader->meta->written - counts->lost - reader->read;
}

/* Throw away all events of a ring. */
void rings_clear(unsigned int cpu)
{
	struct reader *reader = &readers[cpu];

	rings_use(cpu);
	reader->cleared = rings_recorded(cpu);
	while (call(HYPTRACE_OP_RESET, cpu, 0, 0) > 0)
		;
	reader->id = reader->meta->reader_id;
	reader->consumed = 0;
	reader->lost = 0;
	reader->reported = 0;
	reader->read = 0;
}

/* Let an observer see a ring. */
void rings_look(unsigned int cpu, struct ring_map *map)
{
	const struct reader *reader = &readers[cpu];
	const u64 time = page_of(reader)->time_stamp;

	map->pages = reader->pages;
	map->nr = reader->nr;
	map->id = reader->id;
	map->consumed = reader->consumed;
	map->begin = reader->meta->begin > time ? reader->meta->begin : time;
	map->used = reader->meta->nr_unread;
}
