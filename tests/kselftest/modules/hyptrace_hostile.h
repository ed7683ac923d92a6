/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module hyptrace_hostile: a hostile host. A thread per CPU makes hypercalls __hyptrace() of
 * any kind, while another one scribbles over each page that the host can write.
 *
 * What a thread does follows from its seed alone, and not from any answer: the same seed gives the
 * same sequence of calls on each CPU. Only the addresses of pages differ from boot to boot.
 */
#ifndef __HYPTRACE_HOSTILE_H
#define __HYPTRACE_HOSTILE_H

#include <linux/bits.h>
#include <linux/types.h>

#include <asm/page.h>

#include "../../hyp/abi.h"

#define HYP_EVENT(name, ...)	HYPTRACE_EVENT_##name,
enum {
	HYPTRACE_EVENT_NONE,
#include "../../hyp/events.h"
	HYPTRACE_NR_EVENTS
};

#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT

/* No other thread touches the rings and counters of this CPU. It must stay on. */
#define SOLE_CPU	0

/* The pool: each CPU has pages for rings, for counters, and some for any purpose */
#define ARENAS		4
#define ARENA_DATA	16	/* data pages; others are directory, meta page and table */
#define ARENA		(ARENA_DATA + 4)
#define COUNT_PAIRS	HYPTRACE_COUNT_PAGES(PAGE_SIZE)
#define COUNT_PARTS	DIV_ROUND_UP(HYPTRACE_COUNT_KEY_hyp_exit, HYPTRACE_COUNT_KEYS_PER_RESET)
#define COUNTERS	(2 * COUNT_PAIRS + 8)
#define LOOSE		16
#define PER_CPU		(ARENAS * ARENA + COUNTERS + LOOSE)
#define TABLE_SLOTS	HYPTRACE_ENTRIES_PER_TABLE(PAGE_SIZE)
#define BIG_DATA	(TABLE_SLOTS + 12)	/* a ring with two tables, for all CPUs */
#define BIG		(BIG_DATA + 4)

#define ALL_EVENTS	(BIT_ULL(HYPTRACE_NR_EVENTS) - 2)
#define COUNTABLE	(BIT_ULL(HYPTRACE_EVENT_hyp_enter) |		\
			 BIT_ULL(HYPTRACE_EVENT_host_hcall) |		\
			 BIT_ULL(HYPTRACE_EVENT_guest_exit) |		\
			 BIT_ULL(HYPTRACE_EVENT_mem_transition) |	\
			 BIT_ULL(HYPTRACE_EVENT_lock_wait))

enum known { UNKNOWN, NO, YES };

/**
 * struct ring_model - what a ring at EL2 must be
 * @state:	enum hyptrace_ring_state
 * @nr_pages:	data pages that it is to have
 * @nr_tables:	table pages, before any is freed
 * @nr_dirs:	directories
 * @nr_freed:	RING_FREE that have freed other pages than the meta page
 * @unfinished:	the last table lists pages that are not shared yet
 * @freeing:	a RING_FREE has begun
 * @has_meta:	READY, and its page was not given back
 */
struct ring_model {
	u32 state;
	u64 nr_pages;
	u32 nr_tables;
	u32 nr_dirs;
	u64 nr_freed;
	bool unfinished;
	bool freeing;
	bool has_meta;
};

/**
 * struct model - what EL2 must have of SOLE_CPU: model.c
 * @ring:	its ring
 * @spare:	its spare ring
 * @moves_pending: EXCHANGE without RESET or the last MOVE
 * @none_unmoved: MOVE has said that none is left
 * @nr_counters: pairs of pages of counters
 */
struct model {
	struct ring_model ring, spare;
	bool moves_pending;
	bool none_unmoved;
	u32 nr_counters;
};

/**
 * struct attack - the thread of a CPU, and what it knows of it
 * @seed:	of its next random number
 * @cpu:	its number
 * @left:	calls that it is to make
 * @attached:	whether the CPU is attached to its ring
 * @events:	if so, the events that it records
 * @counting:	whether the CPU counts an event
 * @model:	SOLE_CPU only
 * @made:	calls that were made
 * @accepted:	those that were accepted, by op
 * @unshared:	pages that were taken back from EL2
 * @kept:	pages that EL2 has said it keeps
 * @worst_ns:	how long the longest call took, by op
 */
struct attack {
	u64 seed;
	u32 cpu;
	s64 left;
	enum known attached;
	u64 events;
	enum known counting;
	struct model model;
	u64 made;
	u64 accepted[HYPTRACE_NR_OPS];
	u64 unshared;
	u64 kept;
	u64 worst_ns[HYPTRACE_NR_OPS];
};

/* A call, as it was made */
struct asked {
	u64 op;
	u64 args[3];
	s64 ret;
};

static inline u64 hostile_next(u64 *seed)
{
	u64 x = *seed += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;

	return x ^ x >> 31;
}

static inline u64 attack_random(struct attack *attack)
{
	return hostile_next(&attack->seed);
}

static inline u64 attack_below(struct attack *attack, u64 limit)
{
	return attack_random(attack) % limit;
}

/* hostile_main.c */
extern unsigned long hostile_limit_ms;
void hostile_failed(const struct attack *attack, const struct asked *asked, const char *what);

/* hostile_call.c */
s64 call(struct attack *attack, u64 op, u64 arg1, u64 arg2, u64 arg3);
void unshare_page(struct attack *attack, u32 page);

/* hostile_check.c */
void hostile_check(struct attack *attack, const struct asked *asked);

/* hostile_model.c */
void hostile_model(struct attack *attack, const struct asked *asked);

/* hostile_pages.c */
int hostile_pages_init(void);
void hostile_pages_look(bool boot);
void hostile_pages_check(u64 unshared, u64 kept);
void hostile_pages_exit(void);
void hostile_scribble(u64 *seed);
s64 hostile_hvc(u64 number, u64 arg);
u32 hostile_nr_pages(void);
u64 hostile_pfn(u32 page);
u64 hostile_bad_pfn(u64 random);
bool hostile_is_shared(u64 pfn);
bool hostile_write(u32 page, u32 offset, const void *from, u32 size);
void hostile_lock_page(u64 pfn);
void hostile_unlock_page(u64 pfn);

/* The UART of the emulated machine: no memory */
#define DEVICE_PFN	(0x09000000 >> PAGE_SHIFT)

/* hostile_argument.c */
u64 some_cpu(struct attack *attack);
u64 some_pfn(struct attack *attack);
u32 arena_page(const struct attack *attack, u32 arena, u32 page);
u32 counter_page(const struct attack *attack, u32 number);
u32 big_page(u32 page);
u64 list_arena(struct attack *attack, u32 arena);
u64 list_big(struct attack *attack, u32 table);
void any_call(struct attack *attack);

/* hostile_script.c */
void some_script(struct attack *attack);

#endif /* __HYPTRACE_HOSTILE_H */
