// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time mainline's writer on the host, with the payload of hyp_enter and a time that
 * increases by one per event. Prints nanoseconds per event, the best of several rounds.
 * mainline KIB EVENTS
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/simple_ring_buffer.h>

#include "rounds.h"

/* The id and the fields of mainline's hyp_enter. */
struct entry {
	u16	id;
	u8	reason;
	u32	vcpu;
};

static struct simple_rb_per_cpu ring;

static void *pages(u64 nr)
{
	void *to = aligned_alloc(PAGE_SIZE, nr * PAGE_SIZE);

	if (!to) {
		fprintf(stderr, "mainline: out of memory\n");
		exit(1);
	}
	memset(to, 0, nr * PAGE_SIZE);
	return to;
}

static void load(u64 nr)
{
	struct ring_buffer_desc *desc = calloc(1, sizeof(*desc) + nr * sizeof(desc->page_va[0]));
	struct simple_buffer_page *list = calloc(nr, sizeof(*list));
	u64 i;

	if (!desc || !list)
		exit(1);
	desc->nr_page_va = nr;
	desc->meta_va = (unsigned long)pages(1);
	for (i = 0; i < nr; i++)
		desc->page_va[i] = (unsigned long)pages(1);
	if (simple_ring_buffer_init(&ring, list, desc)) {
		fprintf(stderr, "mainline: the ring refuses %lu pages\n", nr);
		exit(1);
	}
	simple_ring_buffer_enable_tracing(&ring, true);
	free(desc);
}

static void write_events(u64 nr)
{
	static u64 now;
	struct entry *to;

	while (nr--) {
		to = simple_ring_buffer_reserve(&ring, sizeof(*to), ++now);
		to->id = 1;
		to->reason = nr;
		to->vcpu = 0;
		simple_ring_buffer_commit(&ring);
	}
}

int main(int argc, char **argv)
{
	u64 kib = argc == 3 ? strtoull(argv[1], NULL, 0) : 0;
	u64 events = argc == 3 ? strtoull(argv[2], NULL, 0) : 0;
	double best;

	if (!kib || !events) {
		fprintf(stderr, "usage: mainline KIB EVENTS\n");
		return 1;
	}
	load(kib * 1024 / PAGE_SIZE);
	write_events(kib * 1024 / 16 + 1);
	best = best_round(write_events, events);
	if (ring.meta->entries < EVENTS_IN_ALL / events * events) {
		fprintf(stderr, "mainline: the ring has counted only %llu events\n",
			(unsigned long long)ring.meta->entries);
		return 1;
	}
	printf("%.2f\n", best);
	return 0;
}
