/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of hyp/ together with its model: each step is done to both, then they are compared.
 * For test_ring_*.c.
 */
#ifndef RING_RUN_H
#define RING_RUN_H

#include "ring_model.h"

#define RUN_CPU		1	/* the ring's CPU */
#define RUN_OTHER_CPU	2

struct run {
	struct env_ring host;
	struct hyptrace_ring *ring;
	struct model *model;
	enum hyptrace_ring_state state;
	u64 enabled;		/* expected bits of the ring */
	u64 events;
	u64 next;		/* number of the next event */
	bool hostile;		/* the host overwrites the shared pages: do not check them */

	/* the reader */
	u64 expect;		/* number of the event to read next */
	u64 read;
	u64 lost;		/* as reported to the reader */
	u32 seen;		/* events read of the reader's page */
	bool stable;
	u64 reader_sum;		/* checksum of the reader's page, if stable */
	u64 seed;
};

void run_start(struct run *run, u32 nr_pages, bool discard);
void run_stop(struct run *run);

bool run_write(struct run *run, enum model_kind kind, u32 payload, u64 now);
int run_swap(struct run *run, u64 consumed);
void run_look(struct run *run);
void run_drain(struct run *run);
void run_reset(struct run *run, u32 cpu);
void run_attach(struct run *run, u32 cpu, u64 events);
void run_detach(struct run *run, u32 cpu);
void run_power(struct run *run, bool on);
void run_sync(struct run *run);

void run_check(struct run *run);
void run_check_pages(struct run *run);

static inline u32 run_consumed(struct run *run)
{
	return run->model->reader->used;
}

#endif /* RING_RUN_H */
