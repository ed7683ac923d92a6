// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random ops in random order, from any CPU, with almost any argument. The host also
 * shares, unshares and overwrites its pages. EL2 must account for each page, each call
 * must be bounded, and in the end EL2 must release all pages. Also tests a ring with
 * more than one directory.
 *
 * HYPTRACE_TEST_SEED and HYPTRACE_TEST_ROUNDS change the defaults.
 */
#include "count_pages.h"
#include "filter_terms.h"
#include "hyp_books.h"

#define POOL		900
#define ROUNDS		100000
#define SEED		0x6c6f6164

/* A hypercall may make this many calls into its environment: one per page, and a few more. */
#define MAX_CALLS	12

static u64 seed;

static u64 below(u64 limit)
{
	return env_random(&seed) % limit;
}

static u64 some_pfn(void)
{
	u64 what = env_random(&seed);

	switch (what % 64) {
	case 0:
		return what >> 6;
	case 1:
		return env_pfn((what >> 8) % POOL) + 1;
	case 2:
		return env_pfn((what >> 8) % POOL) | 1ULL << (what >> 6) % 64;
	default:
		return env_pfn((what >> 8) % POOL);
	}
}

/* A table page of the host. Most of the data pages that it lists are valid. */
static u64 some_table(void)
{
	u32 first = below(POOL), index, i;
	struct hyptrace_table_entry entry = { };
	bool all_good = below(4);

	for (i = 0; i < 50; i++) {
		index = below(POOL);
		if (env_owner(index) == ENV_HOST)
			break;
	}
	if (env_owner(index) == ENV_HYP)
		return env_pfn(index);
	for (i = 0; i < HYPTRACE_SLOTS_PER_TABLE; i++) {
		u32 page = (first + i) % POOL;

		if (page == index)
			page = (first + HYPTRACE_SLOTS_PER_TABLE) % POOL;
		if (all_good)
			env_unshare(page);
		entry.pfn = all_good || below(40) ? env_pfn(page) : some_pfn();
		env_host_write(index, i * sizeof(entry), &entry, sizeof(entry));
	}

	return env_pfn(index);
}

/* @is_unfinished: the last table of the ring lists pages that are still to be shared */
static u64 some_argument(u64 op, bool is_unfinished)
{
	u64 what = below(30);

	if (!what)
		return env_random(&seed) >> below(64);
	switch (op) {
	case HYPTRACE_OP_RING_BEGIN:
		return 2 + below(what < 25 ? 6 : 200);
	case HYPTRACE_OP_RING_TABLE:
		return is_unfinished && below(20) ? 0 : some_table();
	case HYPTRACE_OP_COUNT_RESET:
		return below(10);
	case HYPTRACE_OP_ATTACH:
		return what < 20 ? HYPTRACE_ALL_EVENTS : below(HYPTRACE_ALL_EVENTS + 2);
	case HYPTRACE_OP_SWAP:
		return what < 20 ? ~0ULL : below(5000);
	case HYPTRACE_OP_COUNT:
		return what < 20 ? env_random(&seed) & HYPTRACE_COUNTABLE_EVENTS :
				   below(HYPTRACE_ALL_EVENTS);
	default:
		return some_pfn();
	}
}

static bool is_unfinished(const struct hyptrace_ring *ring)
{
	return ring->state == HYPTRACE_RING_BUILDING && ring->nr_loaded < ring->nr_pages &&
	       ring->nr_loaded < ring->nr_tables * HYPTRACE_SLOTS_PER_TABLE;
}

/* The arguments of op FILTER: mostly the next term of a filter, for an event of any size */
static void some_filter(u64 cpu, const struct hyptrace_filter_draft *draft, u64 args[3])
{
	u32 event = 1 + below(HYPTRACE_NR_EVENTS - 1), nr = below(HYPTRACE_FILTER_MAX_TERMS + 1);
	struct hyptrace_term term;
	u32 number = 0;

	if (draft->nr_given && draft->nr_given < draft->nr_terms && below(8)) {
		event = draft->event;
		nr = draft->nr_terms;
		number = draft->nr_given;
	}
	filter_random_term(&term, &seed, 10 + below(60));
	term.on_true = HYPTRACE_FILTER_RECORD + below(3);
	term.on_false = number + 1 < nr ? number + 1 : HYPTRACE_FILTER_ACCEPT;
	args[0] = hyptrace_filter_where(cpu, event, number, nr);
	args[1] = nr ? hyptrace_pack_term(&term) : 0;
	args[2] = nr ? term.value : 0;
	if (!below(4))
		args[below(3)] ^= 1ULL << below(64);
}

/* The arguments of op TRIGGER, and of ops that ignore them */
static void some_trigger(u64 args[3])
{
	args[0] = below(HYPTRACE_NR_EVENTS + 1);
	args[1] = below(HYPTRACE_NR_TRIGGERS + 1);
	args[2] = args[1] == HYPTRACE_TRIGGER_STOP || !below(8) ? below(4) : 0;
	if (!below(8))
		args[below(3)] ^= 1ULL << below(64);
}

/* Arm again soon: otherwise little would be recorded. */
static void some_arm(void)
{
	if (!below(8))
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ARM, 1 + below(~0U), 0, 0), 0);
}

static u64 some_op(struct hyptrace_ring *ring, struct hyptrace_ring *spare)
{
	const struct hyptrace_counting *counting = &ring->counting;
	u64 what = env_random(&seed);

	/* Most CPUs get all pairs of pages, and then count. */
	if ((what >> 46) % 3 == 0 && counting->nr_pages < COUNT_PAIRS)
		return HYPTRACE_OP_COUNT_PAGE;
	if ((what >> 42) % 16 == 0)
		return HYPTRACE_OP_COUNT;
	if (what >> 40 & 1 && spare->state >= HYPTRACE_RING_DETACHED)
		return spare->state == HYPTRACE_RING_DETACHED ? HYPTRACE_OP_EXCHANGE :
		       spare->nr_unmoved ? HYPTRACE_OP_MOVE : HYPTRACE_OP_RING_FREE;

	/* Mostly choose the next valid op: otherwise few rings would be complete. */
	if (what % 4 && ring->state == HYPTRACE_RING_EMPTY)
		return HYPTRACE_OP_RING_BEGIN;
	if (what % 4 && ring->state == HYPTRACE_RING_BUILDING && !ring->freeing)
		return !ring->nr_dirs ? HYPTRACE_OP_RING_DIR :
		       ring->nr_loaded < ring->nr_pages ? HYPTRACE_OP_RING_TABLE :
							  HYPTRACE_OP_RING_READY;
	if (what % 4 == 1 && ring->state >= HYPTRACE_RING_DETACHED)
		return what >> 8 & 1 ? HYPTRACE_OP_ATTACH : HYPTRACE_OP_SWAP;
	if (what % 8 == 2 && ring->state >= HYPTRACE_RING_DETACHED)
		return HYPTRACE_OP_FILTER;
	what >>= 8;

	return what % 200 ? what % HYPTRACE_NR_OPS : what;
}

/* Events of several sizes, timed or not */
static void some_events(void)
{
	struct hyptrace_vcpu vcpu = {
		.fault.esr_el2 = (u64)below(300) << HYPTRACE_EXIT_EC_SHIFT,
	};
	u64 regs[31] = { below(3), below(3) };
	u32 i;

	for (i = below(100); i; i--)
		hyptrace(hyp_enter, i);
	hyptrace(selftest, below(3));
	hyptrace(hyp_printk, below(3), below(3), env_random(&seed), 0, 0);
	hyptrace_begin(host_hcall, below(3), regs);
	env_counter += below(3);
	hyptrace(host_hcall, regs);
	hyptrace(mem_transition, below(6), 0, 0, 0, 0, 0, 0, 0);
	hyptrace_begin_span(hyptrace_this_ring(), guest_exit);
	vcpu.protected = below(2);
	hyptrace_end_span(hyptrace_this_ring(), guest_exit, &vcpu, below(300));
	hyptrace_begin_span(hyptrace_this_ring(), lock_wait);
	hyptrace_end_span(hyptrace_this_ring(), lock_wait, below(8), below(4));
	hyptrace(hyp_exit, 0);
}

static void disturb(void)
{
	u32 index = below(POOL), i;
	u64 junk[8];

	if (below(2))
		env_share(index);
	else
		env_unshare(index);
	for (i = 0; i < 8; i++)
		junk[i] = below(2) ? env_random(&seed) : ~0ULL;
	if (env_owner(index) != ENV_HYP)
		env_host_write(index, below(2) ? 0 : below(PAGE_SIZE - sizeof(junk)),
			       junk, sizeof(junk));
	some_events();
	if (!below(40))
		hyptrace_cpu_off();
	if (!below(10))
		hyptrace_cpu_on();
	env_counter += below(1000);
}

static s64 bounded(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	struct env_calls before = env_calls;
	s64 ret = hyptrace_hcall(op, arg1, arg2, arg3);

	assert_true(env_calls.take - before.take + env_calls.release - before.release +
		    env_calls.share - before.share + env_calls.unshare - before.unshare <=
		    MAX_CALLS);

	return ret;
}

static void free_ring(u64 which)
{
	u32 steps = 0;
	s64 ret;

	do {
		ret = bounded(HYPTRACE_OP_RING_FREE, which, 0, 0);
		assert_true(steps++ < POOL);
	} while (ret == 1);
	assert_int_equal(ret, 0);
}

static void free_counters(u64 cpu)
{
	s64 ret;

	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, cpu, 0, 0), 0);
	do {
		ret = bounded(HYPTRACE_OP_COUNT_FREE, cpu, 0, 0);
	} while (ret == 1);
	assert_int_equal(ret, 0);
}

static void free_all(void)
{
	u32 cpu;

	for (cpu = 0; cpu < ENV_CPUS; cpu++) {
		env_cpu(cpu);
		hyptrace_hcall(HYPTRACE_OP_DETACH, cpu, 0, 0);
		free_ring(cpu);
		while (bounded(HYPTRACE_OP_MOVE, cpu, 0, 0) > 0)
			;
		free_ring(cpu | HYPTRACE_SPARE_RING);
		free_counters(cpu);
	}
	books_check(0);
}

static void any_op(void **state)
{
	u64 rounds = env_number("HYPTRACE_TEST_ROUNDS", ROUNDS), i;
	u64 ready = 0, swapped = 0, exchanged = 0, moved = 0, refused = 0;
	u64 filters = 0, filtered = 0, fired = 0, counting = 0;

	(void)state;
	seed = env_seed(SEED);
	print_message("seed %#llx, %llu rounds\n", (unsigned long long)seed,
		      (unsigned long long)rounds);
	env_start(POOL);
	for (i = 0; i < rounds; i++) {
		u64 cpu = below(ENV_CPUS), spare = below(4) ? 0 : HYPTRACE_SPARE_RING;
		struct hyptrace_ring *ring = spare ? &env_spare_rings[cpu] : &env_rings[cpu];
		u64 op = some_op(ring, &env_spare_rings[cpu]);
		u64 args[3] = {
			cpu, some_argument(op, is_unfinished(ring)),
			below(20) ? below(2) : env_random(&seed)
		};
		u64 before, had, armed;
		s64 ret;

		env_cpu(below(3) ? cpu : below(ENV_CPUS));
		/* Sometimes let the environment fail. */
		env_fail_take = !below(50);
		env_fail_share = below(50) ? 0 : 1 + below(200);
		if (op == HYPTRACE_OP_RING_FREE || op == HYPTRACE_OP_COUNT_FREE)
			env_fail_release = !below(20);
		if (op == HYPTRACE_OP_COUNT_PAGE && below(50))
			args[2] = some_pfn();
		if (op == HYPTRACE_OP_RING_FREE &&
		    env_spare_rings[cpu].state == HYPTRACE_RING_RETIRED)
			spare = HYPTRACE_SPARE_RING;
		else if (op > HYPTRACE_OP_RING_FREE)
			spare = 0;
		args[0] |= spare;
		if (op == HYPTRACE_OP_FILTER)
			some_filter(cpu, &env_rings[cpu].draft, args);
		else if (op == HYPTRACE_OP_TRIGGER)
			some_trigger(args);
		else if (!below(100))
			args[0] = env_random(&seed);
		had = env_rings[cpu].has_filter;
		ret = bounded(op, args[0], args[1], args[2]);
		filters += env_rings[cpu].has_filter & ~had ? 1 : 0;
		assert_true(op != HYPTRACE_OP_FILTER || ret >= 0 ||
			    env_rings[cpu].has_filter == had);
		env_fail_take = env_fail_share = env_fail_release = 0;
		ready += op == HYPTRACE_OP_RING_READY && !ret;
		swapped += op == HYPTRACE_OP_SWAP && ret >= 0;
		exchanged += op == HYPTRACE_OP_EXCHANGE && !ret;
		moved += op == HYPTRACE_OP_MOVE && ret > 0;
		counting += !!hyptrace_this_ring()->counting.selected;
		refused += ret < 0;
		books_check(0);
		some_arm();
		before = hyptrace_this_ring()->filtered;
		armed = hyptrace_armed;
		disturb();
		fired += hyptrace_armed != armed;
		filtered += hyptrace_this_ring()->filtered - before;
		if (!below(5000))
			free_all();
	}
	free_all();
	env_stop();
	print_message("%llu rings loaded, %llu swaps, %llu rings exchanged, %llu moves, %llu filters, %llu events filtered, %llu triggers fired, %llu rounds with counting, %llu refusals\n",
		      (unsigned long long)ready, (unsigned long long)swapped,
		      (unsigned long long)exchanged, (unsigned long long)moved,
		      (unsigned long long)filters, (unsigned long long)filtered,
		      (unsigned long long)fired, (unsigned long long)counting,
		      (unsigned long long)refused);
	assert_true(ready > rounds / 1000 && swapped > rounds / 300);
	assert_true(exchanged > rounds / 10000 && moved > rounds / 20000);
	assert_true(filters > rounds / 1000 && filtered > rounds / 1000);
	assert_true(fired > rounds / 10000);
	assert_true(counting > rounds / 100);
}

/* Two directories, the second with one table that is not full. */
static void two_directories(void **state)
{
	const u32 nr = HYPTRACE_SLOTS_PER_TABLE * HYPTRACE_TABLE_PTRS_PER_DIR + 5;
	struct env_ring ring;
	u32 i;

	(void)state;
	env_start(env_ring_pages(nr));
	env_ring_load(&ring, 1, 0, nr, HYPTRACE_RING_DISCARD);
	assert_int_equal(ring.nr_dirs, 2);
	env_cpu(1);
	for (i = 0; i < nr; i++)
		assert_ptr_equal(hyptrace_slot_at(&env_rings[1], i)->page, env_page(i));
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, 1, HYPTRACE_ALL_EVENTS, 0),
			 0);
	for (i = 0; i < (nr - 1) * 340 + 9; i++)
		hyptrace(hyp_enter, 0);
	assert_int_equal(env_rings[1].dropped, 9);
	assert_int_equal(env_rings[1].recorded, (nr - 1) * 340);
	for (i = 0; i < nr - 1; i++)
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SWAP, 1, 4080, 0), i);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, 1, 0, 0), 0);
	env_ring_free(&ring);
	env_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_op),
		cmocka_unit_test(two_directories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
