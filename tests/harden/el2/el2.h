/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The attack on EL2 as a host program: four CPUs, each a thread, make any calls at the same time,
 * while a fifth thread scribbles over each page that the host can write. el2.c has the whole.
 *
 * What a thread does follows from its seed alone, and not from any answer: the same seed gives the
 * same sequence of calls on each CPU.
 */
#ifndef EL2_H
#define EL2_H

#include "count_pages.h"

#define NOBODY		ENV_CPUS	/* no CPU */

/* The pool: each CPU has pages for rings, for counters, and some for any purpose */
#define ARENAS		8
#define ARENA_DATA	16		/* data pages; others are directory, meta page and table */
#define ARENA		(ARENA_DATA + 4)
#define COUNTERS	160
#define LOOSE		24
#define PER_CPU		(ARENAS * ARENA + COUNTERS + LOOSE)
#define BIG_FIRST	(ENV_CPUS * PER_CPU)	/* a ring with two tables, for all CPUs */
#define BIG_DATA	140
#define BIG		(BIG_DATA + 4)
#define OTHERS_FIRST	(BIG_FIRST + BIG)	/* pages that EL2 must refuse */
#define OTHERS		12
#define SHADOW_FIRST	(OTHERS_FIRST + OTHERS)	/* the ring that has a shadow: see shadow.c */
#define SHADOW		16
#define POOL		(SHADOW_FIRST + SHADOW)

/* What a CPU knows of its own silence, enum hyptrace_silence; EL2 must come to the same. */
struct attack {
	u64 seed;
	u32 cpu;
	u32 silent;
	u64 op;			/* the present one, for messages */
	u64 answers;		/* a sum of all answers so far */
	u64 recorded_inside;	/* events recorded inside the present call */
	bool in_call;		/* between hyptrace_host_call() and its end */
	bool attached;		/* no other CPU can change that */

	u64 nr_ops, nr_accepted, nr_runs, nr_protected, nr_events, nr_silent;
	u64 nr_exact, nr_waits, nr_hidden, nr_off, nr_shadow, nr_kept;
	u64 accepted[HYPTRACE_NR_OPS];
};

/* For all threads. It changes only while none of them runs. */
struct rules {
	bool calm;	/* no CPU sets triggers, arms or pauses: what is selected is recorded */
	u32 shadowed;	/* no other CPU touches this one's rings; or NOBODY */
	bool may_lose;	/* EL2 may fail to give back a page */
};

extern struct rules rules;
extern __thread struct attack *self;

/* cmocka can end a test from its own thread only. */
#define require(cond)							\
	do {								\
		if (!(cond))						\
			attack_failed(__FILE__, __LINE__, #cond);	\
	} while (0)

void attack_failed(const char *file, int line, const char *what) __attribute__((__noreturn__));

static inline u64 attack_random(struct attack *attack)
{
	return env_random(&attack->seed);
}

static inline u64 attack_below(struct attack *attack, u64 limit)
{
	return env_random(&attack->seed) % limit;
}

/* call.c */
s64 call(struct attack *attack, u64 op, u64 arg1, u64 arg2, u64 arg3);
void call_pages_hook(void);

/* argument.c */
u64 some_cpu(struct attack *attack);
u64 some_pfn(struct attack *attack);
u64 list_arena(struct attack *attack, u32 arena);
u64 list_big(struct attack *attack, u32 table);
u32 arena_page(const struct attack *attack, u32 arena, u32 page);
u32 counter_page(struct attack *attack);
void any_call(struct attack *attack);

/* script.c */
void start_ring(struct attack *attack);
void some_script(struct attack *attack);

/* event.c */
struct seen {
	bool attached;
	u32 silent;
	u64 recorded, filtered, dropped;
};

struct seen look(void);
u64 seen_since(struct seen before);
void expect_event(struct attack *attack, u32 event, struct seen before);
void do_event(u32 event, u64 random);
void some_event(struct attack *attack, u32 event);
u32 any_event(struct attack *attack);
bool is_exact(const struct attack *attack, u32 event, struct seen before);

/* turn.c */
void some_turn(struct attack *attack);

/* visit.c */
void some_visit(struct attack *attack);

/* shadow.c */
void shadow_run(struct attack *attack, u32 steps);

#endif /* EL2_H */
