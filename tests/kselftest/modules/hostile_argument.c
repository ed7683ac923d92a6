// SPDX-License-Identifier: GPL-2.0-only
/* Arguments of hypercalls, most of them good: otherwise little would happen. And any hypercall. */
#include <linux/cpumask.h>
#include <linux/string.h>

#include "hyptrace_hostile.h"

/* Bits of random numbers of clocks */
#define CLOCK_BITS	0xffff

/* No other thread may touch the rings of SOLE_CPU. */
static u64 spare_sole(const struct attack *attack, u64 cpu)
{
	return (u32)cpu == SOLE_CPU ? attack->cpu : cpu;
}

u64 some_cpu(struct attack *attack)
{
	u64 random = attack_random(attack), cpu = attack->cpu;

	switch (random & 31) {
	case 0:
		cpu = random >> 8;
		break;
	case 1:
		cpu = nr_cpu_ids + (random >> 8 & 7);
		break;
	case 2 ... 11:
		cpu = (random >> 8) % nr_cpu_ids;
		break;
	}

	return spare_sole(attack, cpu);
}

u32 arena_page(const struct attack *attack, u32 arena, u32 page)
{
	return attack->cpu * PER_CPU + arena * ARENA + page;
}

u32 counter_page(const struct attack *attack, u32 number)
{
	return attack->cpu * PER_CPU + ARENAS * ARENA + number % COUNTERS;
}

u32 big_page(u32 page)
{
	return nr_cpu_ids * PER_CPU + page;
}

static u32 loose_page(struct attack *attack)
{
	return attack->cpu * PER_CPU + ARENAS * ARENA + COUNTERS + attack_below(attack, LOOSE);
}

/* Any page but those of SOLE_CPU; or no page at all */
u64 some_pfn(struct attack *attack)
{
	u64 random = attack_random(attack);
	u32 nr = hostile_nr_pages() - PER_CPU, page = PER_CPU + (random >> 8) % nr;

	switch (random & 31) {
	case 0:
		/* Not a number of a page of memory */
		return random | 1ULL << 62;
	case 1:
		return hostile_pfn(page) | 1ULL << (63 - (random >> 40) % 24);
	case 2:
		return random >> 8 & 1 ? DEVICE_PFN : 1ULL << 40;
	case 3 ... 6:
		return hostile_bad_pfn(random >> 8);
	case 7 ... 8:
		return hostile_pfn(page);
	default:
		return hostile_pfn(loose_page(attack));
	}
}

/* Spoil an entry of a table: out of range, of another owner, listed twice, or the table itself */
static void spoil(struct attack *attack, struct hyptrace_table_entry *entries, u32 nr, u32 table)
{
	u32 at = attack_below(attack, nr);

	switch (attack_below(attack, 4)) {
	case 0:
		entries[at].pfn = entries[(at + 1) % nr].pfn;
		break;
	case 1:
		entries[at].pfn = hostile_pfn(table);
		break;
	default:
		entries[at].pfn = some_pfn(attack);
	}
}

static u64 list(struct attack *attack, u32 table, u32 first, u32 nr)
{
	struct hyptrace_table_entry entries[ARENA_DATA];
	u32 done = 0, some, i;
	bool spoiled = !attack_below(attack, 10);

	/* Not all at once, for the sake of the stack */
	for (; done < nr; done += some) {
		some = min_t(u32, nr - done, ARENA_DATA);
		memset(entries, 0xa5, sizeof(entries));
		for (i = 0; i < some; i++)
			entries[i].pfn = hostile_pfn(first + done + i);
		if (spoiled && done + some == nr)
			spoil(attack, entries, some, table);
		hostile_write(table, done * sizeof(entries[0]), entries,
			      some * sizeof(entries[0]));
	}

	return hostile_pfn(table);
}

u64 list_arena(struct attack *attack, u32 arena)
{
	return list(attack, arena_page(attack, arena, ARENA_DATA + 2),
		    arena_page(attack, arena, 0), ARENA_DATA);
}

/* The first or the second table of the ring that has two */
u64 list_big(struct attack *attack, u32 table)
{
	u32 first = table * TABLE_SLOTS, nr = min_t(u32, BIG_DATA - first, TABLE_SLOTS);

	return list(attack, big_page(BIG_DATA + 2 + table), big_page(first), nr);
}

/* A term of a filter: mostly valid, if the field is in the payload of the event */
static struct hyptrace_term some_term(u64 random)
{
	return (struct hyptrace_term) {
		.value = random >> (random & 63),
		.offset = 2 + (random >> 6 & 14),
		.width = 1 << (random >> 10 & 3),
		.op = (random >> 12) % HYPTRACE_TERM_NR_OPS,
		.is_signed = random >> 16 & 1,
		.on_true = HYPTRACE_FILTER_RECORD + (random >> 17 & 1),
		.on_false = HYPTRACE_FILTER_ACCEPT,
	};
}

static void set_filter_arguments(struct attack *attack, u64 args[3])
{
	struct hyptrace_term term = some_term(attack_random(attack));
	u32 event = 1 + attack_below(attack, HYPTRACE_NR_EVENTS - 1);
	u32 nr = attack_below(attack, 3), number = attack_below(attack, 16) ? 0 : 1;

	if (number + 1 < nr)
		term.on_false = number + 1;
	args[0] = hyptrace_filter_where(args[0], event, number, nr);
	args[1] = nr ? hyptrace_pack_term(&term) : 0;
	args[2] = nr ? term.value : 0;
	if (!attack_below(attack, 8)) {
		args[attack_below(attack, 3)] ^= 1ULL << attack_below(attack, 64);
		args[0] = (args[0] & ~(u64)~0U) | (u32)spare_sole(attack, args[0]);
	}
}

static u64 some_pmu_counter(u64 random)
{
	switch (random & 3) {
	case 0:
		return HYPTRACE_PMU_NONE - (random >> 2 & 1);
	case 1:
		return hyptrace_pmu_counter(random >> 2 & 3, HYPTRACE_PMU_CYCLES,
					    HYPTRACE_PMU_CPU_CYCLES);
	case 2:
		return random >> 2;
	default:
		return hyptrace_pmu_counter(random >> 2 & 7, random >> 5 & 63,
					    HYPTRACE_PMU_INST_RETIRED);
	}
}

static void set_arguments(struct attack *attack, u64 op, u64 args[3])
{
	u64 random = attack_random(attack);

	switch (op) {
	case HYPTRACE_OP_INFO:
		args[0] = random >> 8 & 7;
		break;
	case HYPTRACE_OP_RING_BEGIN:
		args[1] = random >> (random & 63);
		args[2] = random >> 8 & 7 ? random & 3 : random;
		break;
	case HYPTRACE_OP_RING_TABLE:
		if (random & 6)
			args[1] = random & 1 ? list_arena(attack, random >> 8 & (ARENAS - 1)) :
					       some_pfn(attack);
		break;
	case HYPTRACE_OP_ATTACH:
		args[1] = random & 7 ? random & ALL_EVENTS : random;
		break;
	case HYPTRACE_OP_SWAP:
		args[1] = random & 3 ? ~0ULL : random >> 40 & 8191;
		break;
	case HYPTRACE_OP_CLOCK:
		args[0] = random & 31 ? (10ULL << 32) + (random >> 20 & CLOCK_BITS) :
					random & 0x100;
		args[1] = random >> 8 & 7 ? random >> 32 & CLOCK_BITS : random;
		args[2] = random >> 11 & 7 ? args[1] : random;
		break;
	case HYPTRACE_OP_WRITE:
		/* Not HYPTRACE_WRITE_FAULT: EL2 would panic, in a kernel for tests of that. */
		args[0] = random;
		args[1] = random >> 8 & 7 ? random >> 8 & 1 : 3 + (random >> 11);
		break;
	case HYPTRACE_OP_FILTER:
		set_filter_arguments(attack, args);
		break;
	case HYPTRACE_OP_TRIGGER:
		args[0] = (random >> 8) % (HYPTRACE_NR_EVENTS + 1);
		args[1] = (random >> 16) % (HYPTRACE_NR_TRIGGERS + 1);
		args[2] = args[1] == HYPTRACE_TRIGGER_STOP ? random >> 32 & 3 : 0;
		break;
	case HYPTRACE_OP_ARM:
		args[0] = random >> 8 & 31;
		break;
	case HYPTRACE_OP_COUNT:
		args[1] = random & 7 ? random & COUNTABLE : random;
		break;
	case HYPTRACE_OP_COUNT_RESET:
		args[1] = random & 63 ? (random >> 8) % (COUNT_PARTS + 1) : random;
		break;
	case HYPTRACE_OP_PAGE:
		args[0] = some_pfn(attack);
		break;
	case HYPTRACE_OP_VOID_HCALLS:
		args[0] = random & 192;
		args[1] = random;
		break;
	case HYPTRACE_OP_FUNCTION:
		args[0] = random >> 8 & 15 ? random >> 12 & 511 : random >> 12;
		args[1] = random & 15 ? random >> 4 & 1 : random;
		break;
	case HYPTRACE_OP_PMU:
		args[1] = some_pmu_counter(random);
		break;
	case HYPTRACE_OP_COUNT_PAGE:
		args[1] = some_pfn(attack);
		args[2] = some_pfn(attack);
		break;
	default:
		args[1] = some_pfn(attack);
	}
}

/* Rings would not be in use for long. */
static bool is_rare(u64 op)
{
	return op == HYPTRACE_OP_DETACH || op == HYPTRACE_OP_RING_FREE ||
	       op == HYPTRACE_OP_COUNT_FREE || op == HYPTRACE_OP_PAUSE;
}

/* Not where a random number could be that of a page that the module does not own */
static bool has_pages(u64 op)
{
	return (op >= HYPTRACE_OP_RING_DIR && op <= HYPTRACE_OP_RING_READY) ||
	       op == HYPTRACE_OP_COUNT_PAGE;
}

/**
 * any_call() - make a call with any op and arguments
 * @attack:	the thread of this CPU
 */
void any_call(struct attack *attack)
{
	u64 random = attack_random(attack), op = (random >> 8) % (HYPTRACE_NR_OPS + 1);
	u64 args[3] = { some_cpu(attack), 0, 0 };

	if (op == HYPTRACE_NR_OPS && random & 1)
		op = HYPTRACE_NR_OPS + (random >> (1 + (random >> 1 & 31)));
	if (is_rare(op) && random & 14)
		op = HYPTRACE_OP_SYNC;
	if (random >> 40 & 1 && op <= HYPTRACE_OP_RING_FREE)
		args[0] |= HYPTRACE_SPARE_RING;
	set_arguments(attack, op, args);
	if (!(random >> 48 & 63) && !has_pages(op) && op != HYPTRACE_OP_WRITE)
		args[1 + (random >> 47 & 1)] = attack_random(attack);
	call(attack, op, args[0], args[1], args[2]);
	/* Arm again soon: otherwise little would be recorded. */
	if (op == HYPTRACE_OP_PAUSE || random >> 62 == 0)
		call(attack, HYPTRACE_OP_ARM, 1 + (random >> 8 & 0xff), 0, 0);
}
