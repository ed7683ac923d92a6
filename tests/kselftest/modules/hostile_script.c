// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls as a driver makes them, one after another, whatever each answers: so rings are complete, in
 * use, resized, counted, filtered and freed, unless another CPU interferes. And storms of calls
 * that change what all CPUs do.
 */
#include <linux/cpumask.h>

#include "hyptrace_hostile.h"

static u64 arena_pfn(const struct attack *attack, u32 arena, u32 page)
{
	return hostile_pfn(arena_page(attack, arena, page));
}

/* Donate a table, and have EL2 share what it lists, mostly to the end. */
static void give_table(struct attack *attack, u64 which, u64 pfn)
{
	if (call(attack, HYPTRACE_OP_RING_TABLE, which, pfn, 0) < 0)
		return;
	while (attack_below(attack, 64) && call(attack, HYPTRACE_OP_RING_TABLE, which, 0, 0) > 0)
		;
}

/* Load a ring from an arena of this CPU, or from the pages for a ring with two tables. */
static void load(struct attack *attack, u64 which)
{
	u64 random = attack_random(attack);
	u32 arena = random & (ARENAS - 1), nr = 3 + (random >> 8) % (ARENA_DATA - 2);
	bool big = !(random >> 16 & 63);
	u64 dir = big ? hostile_pfn(big_page(BIG_DATA)) : arena_pfn(attack, arena, ARENA_DATA);
	u64 meta = big ? hostile_pfn(big_page(BIG_DATA + 1)) :
			 arena_pfn(attack, arena, ARENA_DATA + 1);

	/* Sometimes one page for two purposes */
	if (!(random >> 24 & 15))
		meta = random >> 28 & 1 ? dir : arena_pfn(attack, arena, random >> 29 & 3);
	call(attack, HYPTRACE_OP_RING_BEGIN, which, big ? BIG_DATA : nr,
	     random >> 32 & HYPTRACE_RING_FLAGS);
	call(attack, HYPTRACE_OP_RING_DIR, which, dir, 0);
	if (big) {
		give_table(attack, which, list_big(attack, 0));
		give_table(attack, which, list_big(attack, 1));
	} else {
		give_table(attack, which, list_arena(attack, arena));
	}
	call(attack, HYPTRACE_OP_RING_READY, which, meta, 0);
}

static void unload(struct attack *attack, u64 which)
{
	u32 steps = attack_below(attack, 16) ? 4 + attack_below(attack, 3) : 24;

	for (; steps; steps--)
		call(attack, HYPTRACE_OP_RING_FREE, which, 0, 0);
}

static void attach(struct attack *attack)
{
	u64 random = attack_random(attack);

	call(attack, HYPTRACE_OP_ATTACH, attack->cpu,
	     random & 3 ? ALL_EVENTS : random & ALL_EVENTS, 0);
}

static void write_events(struct attack *attack)
{
	u32 nr;

	for (nr = attack_below(attack, 40); nr; nr--)
		call(attack, HYPTRACE_OP_WRITE, attack_random(attack), nr & 1, 0);
	/* It is refused, unless another CPU could detach this one meanwhile. */
	call(attack, HYPTRACE_OP_RING_FREE, attack->cpu, 0, 0);
}

/* Give the CPU another ring, and move what the old one has. */
static void resize(struct attack *attack)
{
	u32 moves;

	load(attack, attack->cpu | HYPTRACE_SPARE_RING);
	call(attack, HYPTRACE_OP_EXCHANGE, attack->cpu, 0, 0);
	for (moves = attack_below(attack, 20); moves; moves--) {
		call(attack, HYPTRACE_OP_MOVE, attack->cpu, 0, 0);
		call(attack, HYPTRACE_OP_WRITE, moves, 0, 0);
	}
	unload(attack, attack->cpu | HYPTRACE_SPARE_RING);
}

static void read_ring(struct attack *attack)
{
	u64 cpu = some_cpu(attack);
	u32 swaps;

	for (swaps = attack_below(attack, 6); swaps; swaps--)
		call(attack, HYPTRACE_OP_SWAP, cpu, ~0ULL, 0);
	call(attack, HYPTRACE_OP_SYNC, cpu, 0, 0);
}

/* All pairs of counters, in their order; a page that EL2 has is refused. */
static void count(struct attack *attack)
{
	u32 first = attack_below(attack, 8), pair;
	u64 random = attack_random(attack);

	for (pair = 0; pair < COUNT_PAIRS; pair++)
		call(attack, HYPTRACE_OP_COUNT_PAGE, attack->cpu,
		     hostile_pfn(counter_page(attack, first + 2 * pair)),
		     hostile_pfn(counter_page(attack, first + 2 * pair + 1)));
	call(attack, HYPTRACE_OP_COUNT, attack->cpu, random & COUNTABLE, 0);
	call(attack, HYPTRACE_OP_PMU, attack->cpu,
	     hyptrace_pmu_counter(0, HYPTRACE_PMU_CYCLES, HYPTRACE_PMU_CPU_CYCLES), 0);
	call(attack, HYPTRACE_OP_COUNT_FREE, attack->cpu, 0, 0);
	call(attack, HYPTRACE_OP_COUNT_RESET, some_cpu(attack),
	     attack_below(attack, COUNT_PARTS + 1), 0);
}

static void end_counting(struct attack *attack)
{
	u64 cpu = some_cpu(attack);
	u32 pages;

	call(attack, HYPTRACE_OP_COUNT, cpu, 0, 0);
	call(attack, HYPTRACE_OP_COUNT_RESET, cpu, attack_below(attack, COUNT_PARTS + 1), 0);
	for (pages = attack_below(attack, COUNT_PAIRS); pages; pages--)
		call(attack, HYPTRACE_OP_COUNT_FREE, cpu, 0, 0);
}

/* A filter of some terms, each after the one before */
static void filter(struct attack *attack)
{
	u32 event = 1 + attack_below(attack, HYPTRACE_NR_EVENTS - 1);
	u32 nr = 1 + attack_below(attack, HYPTRACE_FILTER_MAX_TERMS), number;
	struct hyptrace_term term = {
		.offset = 2, .width = 2, .on_true = HYPTRACE_FILTER_RECORD,
	};
	u64 random = attack_random(attack);

	for (number = 0; number < nr; number++) {
		term.value = random >> number & 0xffff;
		term.op = (random >> number & 0xff) % HYPTRACE_TERM_NR_OPS;
		term.on_false = number + 1 < nr ? number + 1 : HYPTRACE_FILTER_ACCEPT;
		call(attack, HYPTRACE_OP_FILTER,
		     hyptrace_filter_where(attack->cpu, event, number, nr),
		     hyptrace_pack_term(&term), term.value);
	}
	write_events(attack);
	if (random >> 60 & 1)
		call(attack, HYPTRACE_OP_FILTER,
		     hyptrace_filter_where(attack->cpu, event, 0, 0), 0, 0);
}

/* Triggers, pauses and arms, as fast as possible */
static void storm(struct attack *attack)
{
	u64 random = attack_random(attack);
	u32 nr;

	for (nr = 4 + (random & 15); nr; nr--) {
		random = attack_random(attack);
		call(attack, HYPTRACE_OP_TRIGGER, 1 + (random >> 8) % (HYPTRACE_NR_EVENTS - 1),
		     (random >> 16) % HYPTRACE_NR_TRIGGERS, 0);
		if (random & 1)
			call(attack, HYPTRACE_OP_PAUSE, 0, 0, 0);
		call(attack, HYPTRACE_OP_ARM, nr, 0, 0);
	}
}

/* Trace functions while all CPUs execute them. */
static void functions(struct attack *attack)
{
	u64 random = attack_random(attack);
	u32 nr;

	for (nr = random & 15; nr; nr--)
		call(attack, HYPTRACE_OP_FUNCTION, ((random >> 8) + nr) & 511, random >> 4 & 1, 0);
}

/*
 * Take back the pages of a ring while EL2 may be sharing them, and has not pinned them. Not those
 * of SOLE_CPU.
 */
static void unshare(struct attack *attack)
{
	u64 random = attack_random(attack);
	u32 cpu, first, i;

	if (nr_cpu_ids == 1)
		return;
	cpu = SOLE_CPU + 1 + random % (nr_cpu_ids - 1);
	first = cpu * PER_CPU + (random >> 8) % ARENAS * ARENA;
	for (i = 0; i < ARENA; i++)
		unshare_page(attack, first + i);
}

/**
 * some_script() - make a sequence of calls that belong together
 * @attack:	the thread of this CPU
 */
void some_script(struct attack *attack)
{
	u64 random = attack_random(attack);

	switch (random & 31) {
	case 0 ... 7:
		load(attack, random >> 8 & 7 ? attack->cpu : some_cpu(attack));
		attach(attack);
		write_events(attack);
		break;
	case 8 ... 9:
		call(attack, HYPTRACE_OP_DETACH, some_cpu(attack), 0, 0);
		unload(attack, attack->cpu);
		break;
	case 10 ... 11:
		unload(attack, some_cpu(attack) | (random >> 8 & HYPTRACE_SPARE_RING));
		break;
	case 12 ... 16:
		resize(attack);
		break;
	case 17:
		count(attack);
		break;
	case 18:
		end_counting(attack);
		break;
	case 19 ... 22:
		filter(attack);
		break;
	case 23:
		storm(attack);
		break;
	case 24:
		functions(attack);
		break;
	case 25 ... 26:
		unshare(attack);
		break;
	default:
		read_ring(attack);
		attach(attack);
	}
}
