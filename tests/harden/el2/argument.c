// SPDX-License-Identifier: GPL-2.0-only
/* Arguments of hypercalls, most of them good: otherwise little would happen. And any hypercall. */
#include "el2.h"
#include "filter_terms.h"

/* No other CPU may touch the rings of the one that has a shadow. */
static u64 spare_shadowed(const struct attack *attack, u64 cpu)
{
	return (u32)cpu == rules.shadowed ? attack->cpu : cpu;
}

u64 some_cpu(struct attack *attack)
{
	u64 random = attack_random(attack), cpu = attack->cpu;

	switch (random & 31) {
	case 0:
		cpu = random >> 8;
		break;
	case 1:
		cpu = ENV_CPUS + (random >> 8 & 7);
		break;
	case 2 ... 11:
		cpu = (random >> 8) % ENV_CPUS;
		break;
	}

	return spare_shadowed(attack, cpu);
}

u32 arena_page(const struct attack *attack, u32 arena, u32 page)
{
	return attack->cpu * PER_CPU + arena * ARENA + page;
}

u32 counter_page(struct attack *attack)
{
	return attack->cpu * PER_CPU + ARENAS * ARENA + attack_below(attack, COUNTERS);
}

static u32 loose_page(struct attack *attack)
{
	return attack->cpu * PER_CPU + ARENAS * ARENA + COUNTERS + attack_below(attack, LOOSE);
}

/* Any page but those of the shadow; or no page at all */
u64 some_pfn(struct attack *attack)
{
	u64 random = attack_random(attack), index = (random >> 8) % SHADOW_FIRST;

	switch (random & 31) {
	case 0:
		return random >> 6;
	case 1:
		return env_pfn(index) | 1ULL << (63 - (random >> 40) % 24);
	case 2:
		return env_pfn(SHADOW_FIRST - 1) + (random >> 8 & 1 ? 1ULL << 40 : POOL);
	case 3 ... 6:
		return env_pfn(OTHERS_FIRST + index % OTHERS);
	case 7 ... 8:
		return env_pfn(index);
	default:
		return env_pfn(loose_page(attack));
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
		entries[at].pfn = env_pfn(table);
		break;
	default:
		entries[at].pfn = some_pfn(attack);
	}
}

static u64 list(struct attack *attack, u32 table, u32 first, u32 nr)
{
	struct hyptrace_table_entry entries[HYPTRACE_SLOTS_PER_TABLE] = { };
	u32 i;

	for (i = 0; i < nr; i++) {
		entries[i].pfn = env_pfn(first + i);
		memset(entries[i].reserved, 0xa5, sizeof(entries[i].reserved));
	}
	if (!attack_below(attack, 10))
		spoil(attack, entries, nr, table);
	env_host_try_write(table, 0, entries, sizeof(entries), false);

	return env_pfn(table);
}

u64 list_arena(struct attack *attack, u32 arena)
{
	return list(attack, arena_page(attack, arena, ARENA_DATA + 2),
		    arena_page(attack, arena, 0), ARENA_DATA);
}

/* The first or the second table of the ring that has two */
u64 list_big(struct attack *attack, u32 table)
{
	u32 first = table * HYPTRACE_SLOTS_PER_TABLE, nr = BIG_DATA - first;

	if (nr > HYPTRACE_SLOTS_PER_TABLE)
		nr = HYPTRACE_SLOTS_PER_TABLE;

	return list(attack, BIG_FIRST + BIG_DATA + 2 + table, BIG_FIRST + first, nr);
}

static void set_filter_arguments(struct attack *attack, u64 args[3])
{
	u32 event = 1 + attack_below(attack, HYPTRACE_NR_EVENTS - 1);
	u32 nr = attack_below(attack, 3), number = attack_below(attack, 16) ? 0 : 1;
	struct hyptrace_term term;

	filter_random_term(&term, &attack->seed, filter_payload_size(event));
	term.on_true = HYPTRACE_FILTER_RECORD + attack_below(attack, 3);
	term.on_false = number + 1 < nr ? number + 1 : HYPTRACE_FILTER_ACCEPT;
	args[0] = hyptrace_filter_where(args[0], event, number, nr);
	args[1] = nr ? hyptrace_pack_term(&term) : 0;
	args[2] = nr ? term.value : 0;
	if (!attack_below(attack, 8)) {
		args[attack_below(attack, 3)] ^= 1ULL << attack_below(attack, 64);
		args[0] = (args[0] & ~(u64)~0U) | (u32)spare_shadowed(attack, args[0]);
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
		args[1] = random & 7 ? random & HYPTRACE_ALL_EVENTS : random;
		break;
	case HYPTRACE_OP_SWAP:
		args[1] = random & 3 ? ~0ULL : random >> 40 & 8191;
		break;
	case HYPTRACE_OP_CLOCK:
		args[0] = random & 31 ? ENV_NS_CLOCK + (random >> 20 & 0xffff) : random & 0x100;
		args[1] = READ_ONCE(env_counter) - (random >> 32 & 0xffff);
		args[2] = random >> 8 & 63 ? args[1] : random;
		break;
	case HYPTRACE_OP_WRITE:
		args[0] = random;
		args[1] = random >> 8 & 3;
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
		args[1] = random & 7 ? random & HYPTRACE_COUNTABLE_EVENTS : random;
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
	case HYPTRACE_OP_PMU:
		args[1] = random & 7 ? hyptrace_pmu_counter(random >> 8 & 3, random >> 10 & 3,
							    random >> 12 & 7) :
				       HYPTRACE_PMU_NONE - (random >> 16 & 1);
		break;
	case HYPTRACE_OP_COUNT_PAGE:
		args[1] = some_pfn(attack);
		args[2] = some_pfn(attack);
		break;
	default:
		args[1] = some_pfn(attack);
	}
}

/* Check whether the op would spoil what the rules promise. */
static bool is_barred(u64 op)
{
	return rules.calm && (op == HYPTRACE_OP_TRIGGER || op == HYPTRACE_OP_PAUSE ||
			      op == HYPTRACE_OP_ARM);
}

/* Rings would not be in use for long. */
static bool is_rare(u64 op)
{
	return op == HYPTRACE_OP_DETACH || op == HYPTRACE_OP_RING_FREE ||
	       op == HYPTRACE_OP_COUNT_FREE || op == HYPTRACE_OP_PAUSE;
}

void any_call(struct attack *attack)
{
	u64 random = attack_random(attack), op = (random >> 8) % (HYPTRACE_NR_OPS + 1);
	u64 args[3] = { some_cpu(attack), 0, 0 };

	if (op == HYPTRACE_NR_OPS && random & 1)
		op = random >> 1;
	if (is_rare(op) && random & 14)
		op = HYPTRACE_OP_SYNC;
	if (random >> 40 & 1 && op <= HYPTRACE_OP_RING_FREE)
		args[0] |= HYPTRACE_SPARE_RING;
	set_arguments(attack, op, args);
	if (!(random >> 48 & 63))
		args[1 + (random >> 47 & 1)] = attack_random(attack);
	env_fail_take = !(random >> 54 & 31);
	env_fail_share = random >> 54 & 31 ? 0 : 1 + (random >> 20 & 15);
	if (op == HYPTRACE_OP_RING_FREE || op == HYPTRACE_OP_COUNT_FREE || rules.may_lose)
		env_fail_release = !(random >> 59 & 15);
	if (!is_barred(op))
		call(attack, op, args[0], args[1], args[2]);
	env_fail_take = 0;
	env_fail_share = 0;
	env_fail_release = 0;
	/* Arm again soon: otherwise little would be recorded. */
	if (!rules.calm && (op == HYPTRACE_OP_PAUSE || random >> 62 == 0))
		call(attack, HYPTRACE_OP_ARM, 1 + (random >> 8 & 0xff), 0, 0);
}
