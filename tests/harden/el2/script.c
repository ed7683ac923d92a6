// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls as a driver makes them, one after another, whatever each answers: so rings are complete, in
 * use, resized and freed, unless another CPU interferes.
 */
#include "el2.h"
#include "filter_terms.h"

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

	call(attack, HYPTRACE_OP_RING_BEGIN, which, big ? BIG_DATA : nr,
	     random >> 32 & HYPTRACE_RING_FLAGS);
	call(attack, HYPTRACE_OP_RING_DIR, which,
	     env_pfn(big ? BIG_FIRST + BIG_DATA : arena_page(attack, arena, ARENA_DATA)), 0);
	if (big) {
		give_table(attack, which, list_big(attack, 0));
		give_table(attack, which, list_big(attack, 1));
	} else {
		give_table(attack, which, list_arena(attack, arena));
	}
	call(attack, HYPTRACE_OP_RING_READY, which,
	     env_pfn(big ? BIG_FIRST + BIG_DATA + 1 : arena_page(attack, arena, ARENA_DATA + 1)),
	     0);
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
	     random & 3 ? HYPTRACE_ALL_EVENTS : random & HYPTRACE_ALL_EVENTS, 0);
}

void start_ring(struct attack *attack)
{
	load(attack, attack->cpu);
	attach(attack);
}

/* Give the CPU another ring, and move what the old one has. */
static void resize(struct attack *attack)
{
	u32 moves;

	load(attack, attack->cpu | HYPTRACE_SPARE_RING);
	call(attack, HYPTRACE_OP_EXCHANGE, attack->cpu, 0, 0);
	for (moves = attack_below(attack, 20); moves; moves--) {
		call(attack, HYPTRACE_OP_MOVE, attack->cpu, 0, 0);
		some_event(attack, HYPTRACE_EVENT_selftest);
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

static void count(struct attack *attack)
{
	u64 cpu = attack_below(attack, 4) ? attack->cpu : some_cpu(attack);
	u32 pages;

	for (pages = attack_below(attack, 2 * COUNT_PAIRS); pages; pages--) {
		u64 pfn = env_pfn(counter_page(attack));

		call(attack, HYPTRACE_OP_COUNT_PAGE, cpu, pfn, env_pfn(counter_page(attack)));
	}
	call(attack, HYPTRACE_OP_COUNT, cpu,
	     attack_random(attack) & HYPTRACE_COUNTABLE_EVENTS, 0);
	call(attack, HYPTRACE_OP_PMU, cpu, hyptrace_pmu_counter(0, 1, 0), 0);
}

static void end_counting(struct attack *attack)
{
	u64 cpu = some_cpu(attack);
	u32 pages;

	call(attack, HYPTRACE_OP_COUNT, cpu, 0, 0);
	call(attack, HYPTRACE_OP_COUNT_RESET, cpu, attack_below(attack, COUNT_PARTS + 1), 0);
	for (pages = attack_below(attack, 8); pages; pages--)
		call(attack, HYPTRACE_OP_COUNT_FREE, cpu, 0, 0);
}

/* With a filter of this CPU's own, it is known which events pass. */
static void filter(struct attack *attack)
{
	u64 limit = attack_random(attack), events = attack_below(attack, 16), id;
	struct hyptrace_term term = {
		.value = limit, .offset = offsetof(struct hyptrace_entry_selftest, id), .width = 8,
		.op = HYPTRACE_TERM_LT, .on_true = HYPTRACE_FILTER_RECORD,
		.on_false = HYPTRACE_FILTER_REJECT,
	};
	u64 where = hyptrace_filter_where(attack->cpu, HYPTRACE_EVENT_selftest, 0, 1);
	s64 ret = call(attack, HYPTRACE_OP_FILTER, where, hyptrace_pack_term(&term), limit);
	struct seen before, after;

	for (; events; events--) {
		id = attack_random(attack);
		before = look();
		hyptrace(selftest, id);
		after = look();
		expect_event(attack, HYPTRACE_EVENT_selftest, before);
		if (ret || !before.attached)
			continue;
		if (id < limit)
			require(after.filtered == before.filtered);
		else
			require(after.recorded == before.recorded &&
				after.dropped == before.dropped);
		if (is_exact(attack, HYPTRACE_EVENT_selftest, before))
			require(id < limit ? after.recorded + after.dropped ==
				before.recorded + before.dropped + 1 :
				after.filtered == before.filtered + 1);
	}
	if (limit & 1)
		call(attack, HYPTRACE_OP_FILTER,
		     hyptrace_filter_where(attack->cpu, HYPTRACE_EVENT_selftest, 0, 0), 0, 0);
}

void some_script(struct attack *attack)
{
	u64 random = attack_random(attack);

	switch (random & 15) {
	case 0 ... 3:
		load(attack, random >> 8 & 7 ? attack->cpu : some_cpu(attack));
		attach(attack);
		break;
	case 4:
		call(attack, HYPTRACE_OP_DETACH, some_cpu(attack), 0, 0);
		unload(attack, attack->cpu);
		break;
	case 5:
		unload(attack, some_cpu(attack) | (random >> 8 & HYPTRACE_SPARE_RING));
		break;
	case 6 ... 8:
		resize(attack);
		break;
	case 9:
		if (random >> 4 & 3)
			count(attack);
		else
			end_counting(attack);
		break;
	case 10 ... 12:
		filter(attack);
		break;
	default:
		read_ring(attack);
		attach(attack);
	}
}
