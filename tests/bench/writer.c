// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time the writer of hyp/ on the host. Prints nanoseconds per hyp_enter event, the best
 * of several rounds. writer ring|whole|floor|record KIB EVENTS [THREADS] [cold]
 *
 *	ring	call the ring's functions, with a time that increases by one per event
 *	whole	call the recording function with its clock, which reads the time stamp counter.
 *		(The read is ordered: a plain rdtsc would overlap with the writer and hide it.)
 *	floor	only make the same stores to a ring and its state as the writer
 *	record	of these only make the stores to the ring: the record and the commit
 *	cold	write other memory before each batch of events, and time only the batches
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../hyp/hooks.h"
#include "rounds.h"

#define PER_TABLE	HYPTRACE_ENTRIES_PER_TABLE(PAGE_SIZE)
#define MAX_THREADS	8
#define MIN_ROUNDS	5
#define COLD_BATCH	64
#define COLD_BYTES	(64UL << 20)

static struct hyptrace_ring rings[MAX_THREADS];

__thread struct hyptrace_ring *hyptrace_host_ring;

static u64 events, kib;
static void (*write_events)(u64 nr);
static bool cold;
static pthread_barrier_t start_line;

u64 hyptrace_read_counter(void)
{
	u32 low, high;

	asm volatile("lfence; rdtsc" : "=a" (low), "=d" (high) : : "memory");

	return (u64)high << 32 | low;
}

struct hyptrace_ring *hyptrace_ring_of(u64 cpu)
{
	return cpu < MAX_THREADS ? &rings[cpu] : NULL;
}

u32 hyptrace_nr_cpus(void)
{
	return MAX_THREADS;
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
	(void)nr;
	(void)va;
}

static void *pages(u64 nr)
{
	void *to = aligned_alloc(PAGE_SIZE, nr * PAGE_SIZE);

	if (!to) {
		fprintf(stderr, "writer: out of memory for %llu KiB\n", nr * PAGE_SIZE / 1024);
		exit(1);
	}
	/* Avoid page faults later: they must not be measured. */
	memset(to, 0, nr * PAGE_SIZE);

	return to;
}

static s64 call(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	s64 ret = hyptrace_hcall(op, arg1, arg2, arg3);

	if (ret < 0) {
		fprintf(stderr, "writer: hypercall op %llu failed: %lld\n", op, ret);
		exit(1);
	}

	return ret;
}

static void give_table(u64 cpu, u64 pfn)
{
	while (call(HYPTRACE_OP_RING_TABLE, cpu, pfn, 0))
		pfn = 0;
}

static u64 pfn_of(const void *page)
{
	return (u64)page >> PAGE_SHIFT;
}

static void load(u64 cpu)
{
	u64 nr = kib * 1024 / PAGE_SIZE, i;
	struct hyptrace_table_entry *table = NULL;
	u8 *data = pages(nr);

	call(HYPTRACE_OP_RING_BEGIN, cpu, nr, 0);
	for (i = 0; i < nr; i++) {
		if (i % (HYPTRACE_TABLES_PER_DIR(PAGE_SIZE) * PER_TABLE) == 0)
			call(HYPTRACE_OP_RING_DIR, cpu, pfn_of(pages(1)), 0);
		if (i % PER_TABLE == 0)
			table = pages(1);
		table[i % PER_TABLE].pfn = pfn_of(data + i * PAGE_SIZE);
		if ((i + 1) % PER_TABLE == 0 || i + 1 == nr)
			give_table(cpu, pfn_of(table));
	}
	call(HYPTRACE_OP_RING_READY, cpu, pfn_of(pages(1)), 0);
	call(HYPTRACE_OP_ATTACH, cpu, HYPTRACE_ALL_EVENTS, 0);
}

struct entry {
	u16 common_type;
	u8 reason;
	pid_t vcpu;
} __aligned(4);

/* The same as the recording function, but without the clock. */
static void write_ring(u64 nr)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	u64 now = ring->last_time, delta;
	struct entry *to;

	while (nr--) {
		delta = ++now - ring->last_time;
		if (likely(hyptrace_ring_fits(ring->pos, ring->end, delta, sizeof(*to))))
			to = hyptrace_ring_put(ring->pos, delta, sizeof(*to));
		else
			to = hyptrace_ring_reserve(ring, &now, sizeof(*to));
		/* the id, a 0 for the reason and a 0 for the padding byte */
		*(u32 *)to = HYPTRACE_EVENT_hyp_enter;
		to->reason = nr;
		to->vcpu = ring->vcpu;
		hyptrace_ring_commit(ring, ring->commit, ring->recorded, to, now, sizeof(*to));
	}
}

static void write_whole(u64 nr)
{
	while (nr--)
		hyptrace(hyp_enter, nr);
}

/*
 * Make the writer's stores, with values that are at hand. @state is only stored to, never
 * read.
 */
static __always_inline void store(u64 nr, struct hyptrace_ring *state)
{
	static __thread u8 *ring, *next;
	u8 *begin, *end, *pos;

	if (!ring) {
		ring = pages(kib * 1024 / PAGE_SIZE);
		next = ring + sizeof(u64);
	}
	begin = ring;
	end = begin + kib * 1024 - 12;
	pos = next;
	while (nr--) {
		*(volatile u32 *)pos = 2;
		*(volatile u32 *)(pos + 4) = HYPTRACE_EVENT_hyp_enter;
		*(volatile u8 *)(pos + 6) = nr;
		*(volatile u32 *)(pos + 8) = 0;
		if (state) {
			hyptrace_write_pair(&state->last_time, nr, (u64)pos);
			WRITE_ONCE(state->recorded, nr);
		}
		*(volatile u64 *)begin = pos - begin;
		pos += 12;
		if (pos > end)
			pos = begin + sizeof(u64);
	}
	next = pos;
}

static void store_events(u64 nr)
{
	static __thread struct hyptrace_ring state;

	store(nr, &state);
}

static void store_records(u64 nr)
{
	store(nr, NULL);
}

static u64 timed(u64 nr)
{
	u64 start = now_ns();

	write_events(nr);

	return now_ns() - start;
}

static u64 timed_cold(void)
{
	static __thread u64 *other;
	u64 ns = 0, nr, i;

	if (!other)
		other = pages(COLD_BYTES / PAGE_SIZE);
	for (nr = 0; nr < events; nr += COLD_BATCH) {
		for (i = 0; i < COLD_BYTES / sizeof(*other); i += 8)
			(*(volatile u64 *)&other[i])++;
		ns += timed(COLD_BATCH);
	}

	return ns;
}

static double results[MAX_THREADS];

static void *run(void *arg)
{
	u64 cpu = (uintptr_t)arg, rounds = cold ? 0 : EVENTS_IN_ALL / events;
	u64 round, ns, best = ~0ULL;

	if (rounds < MIN_ROUNDS)
		rounds = MIN_ROUNDS;

	hyptrace_host_ring = &rings[cpu];
	load(cpu);
	timed(kib * 1024 / 12 + 1);
	for (round = 0; round < rounds; round++) {
		pthread_barrier_wait(&start_line);
		ns = cold ? timed_cold() : timed(events);
		if (ns < best)
			best = ns;
	}
	results[cpu] = (double)best / events;

	return NULL;
}

int main(int argc, char **argv)
{
	u64 nr_threads = argc > 4 ? strtoull(argv[4], NULL, 0) : 1, i;
	pthread_t threads[MAX_THREADS];
	double sum = 0;

	if (argc < 4 || !nr_threads || nr_threads > MAX_THREADS) {
		fprintf(stderr, "usage: writer ring|whole|floor|record KIB EVENTS [THREADS] [cold]\n");
		return 1;
	}
	write_events = !strcmp(argv[1], "floor") ? store_events :
		       !strcmp(argv[1], "record") ? store_records :
		       !strcmp(argv[1], "whole") ? write_whole : write_ring;
	kib = strtoull(argv[2], NULL, 0);
	events = strtoull(argv[3], NULL, 0);
	cold = argc > 5;
	pthread_barrier_init(&start_line, NULL, nr_threads);
	call(HYPTRACE_OP_CLOCK, 1ULL << HYPTRACE_CLOCK_SHIFT, 0, 0);

	for (i = 0; i < nr_threads; i++)
		pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i);
	for (i = 0; i < nr_threads; i++) {
		pthread_join(threads[i], NULL);
		sum += results[i];
	}
	printf("%.2f\n", sum / nr_threads);

	return 0;
}
