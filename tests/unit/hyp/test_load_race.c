// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs load, attach, swap, resize, park and free each other's rings at the same time. Built
 * with TSan (hyp.mk): data that CPUs share must be under a lock, or accessed atomically.
 *
 * HYPTRACE_TEST_SEED and HYPTRACE_TEST_ROUNDS change the defaults.
 */
#include <pthread.h>

#include "filter_terms.h"
#include "lock.h"

#define THREADS		3
#define DATA		10	/* at most; a ring also has meta page, directory and table */
#define PER_THREAD	(2 * (DATA + 3))	/* enough for two rings */
#define ROUNDS		5000
#define SEED		0x72616365

static u64 rounds;
static u64 nr_exchanged, nr_moved;

/*
 * Find a page of this thread, from *@from on, that the host owns. No other thread offers it to
 * EL2. If there is none, return a page that EL2 must refuse.
 */
static u32 own_page(u32 first, u32 *from)
{
	while (*from < PER_THREAD) {
		u32 page = first + (*from)++;

		if (env_owner(page) == ENV_HOST)
			return page;
	}

	return first;
}

/* A table page that lists some of the thread's pages, sometimes one of them twice. */
static u64 list_pages(u32 first, u32 from, u64 random)
{
	struct hyptrace_table_entry entries[DATA] = { };
	u32 table = own_page(first, &from), i;

	if (env_owner(table) != ENV_HOST)
		return env_pfn(table);
	for (i = 0; i < DATA; i++)
		entries[i].pfn = env_pfn(own_page(first, &from));
	if (!(random >> 32 & 15))
		entries[3].pfn = entries[1].pfn;
	env_host_write(table, 0, entries, sizeof(entries));

	return env_pfn(table);
}

/* Give selftest a filter with two terms, or take it away. Other threads do the same. */
static void any_filter(u64 cpu, u64 random)
{
	struct hyptrace_term terms[2];
	u32 i;

	for (i = 0; i < ENV_NR(terms); i++) {
		filter_random_term(&terms[i], &random, sizeof(struct hyptrace_entry_selftest));
		terms[i].on_true = HYPTRACE_FILTER_ACCEPT;
		terms[i].on_false = i ? HYPTRACE_FILTER_REJECT : 1;
	}
	if (random & 1)
		filter_set(cpu, HYPTRACE_EVENT_selftest, terms, ENV_NR(terms));
	else
		filter_remove(cpu, HYPTRACE_EVENT_selftest);
}

static void any_op(u32 cpu, u32 first, u64 *seed)
{
	u64 random = env_random(seed), op = HYPTRACE_OP_RING_BEGIN + (random >> 8) % 12;
	u64 ring = random >> 20 & 1, arg = 0;
	u32 from = random >> 36 & 1;
	u16 turn = 0;

	switch (op) {
	case HYPTRACE_OP_RING_BEGIN:
		arg = 3 + (random >> 32) % 8;
		break;
	case HYPTRACE_OP_RING_DIR:
	case HYPTRACE_OP_RING_READY:
		arg = env_pfn(own_page(first, &from));
		break;
	case HYPTRACE_OP_RING_TABLE:
		arg = random >> 32 & 3 ? list_pages(first, from, random) : 0;
		break;
	case HYPTRACE_OP_RING_FREE:
	case HYPTRACE_OP_DETACH:
		/* Free and detach rarely, so that rings are used in between. */
		if (random >> 32 & 15)
			op = HYPTRACE_OP_SYNC;
		break;
	case HYPTRACE_OP_ATTACH:
		ring = cpu;
		arg = HYPTRACE_ALL_EVENTS;
		break;
	case HYPTRACE_OP_SWAP:
		arg = ~0ULL;
		break;
	case HYPTRACE_OP_EXCHANGE:
		ring = random >> 21 & 3 ? cpu : ring;
		break;
	}
	if (op <= HYPTRACE_OP_RING_FREE && random >> 22 & 1)
		ring |= HYPTRACE_SPARE_RING;
	hyptrace_hcall(op, ring, arg, 0);
	if (!(random >> 47 & 7))
		any_filter(random >> 46 & 1 ? cpu : random >> 20 & 1, random);
	hyptrace_hcall(HYPTRACE_OP_PMU, random >> 20 & 1, HYPTRACE_PMU_NONE, 0);

	for (arg = random >> 40 & 127; arg; arg--)
		hyptrace(selftest, arg);
	/* A CPU that begins to wait for a lock looks at the silence of all others. */
	hyptrace_lock_wait_begin(hyptrace_this_ring(), &turn, 0, 1);
	if (!(random >> 50 & 63))
		hyptrace_cpu_off();
	if (!(random >> 56 & 15))
		hyptrace_cpu_on();
}

static void load(u64 ring, u32 first, u64 random)
{
	u32 from = 0;

	hyptrace_hcall(HYPTRACE_OP_RING_BEGIN, ring, 3 + (random >> 12) % 8, random & 1);
	hyptrace_hcall(HYPTRACE_OP_RING_DIR, ring, env_pfn(own_page(first, &from)), 0);
	hyptrace_hcall(HYPTRACE_OP_RING_TABLE, ring, list_pages(first, from, random), 0);
	while (hyptrace_hcall(HYPTRACE_OP_RING_TABLE, ring, 0, 0) > 0)
		;
	hyptrace_hcall(HYPTRACE_OP_RING_READY, ring, env_pfn(own_page(first, &from)), 0);
}

static void unload(u64 ring)
{
	u32 steps = 6;

	while (steps-- && hyptrace_hcall(HYPTRACE_OP_RING_FREE, ring, 0, 0) > 0)
		;
}

/* The ops that load or free a ring, unless another thread interferes. */
static void load_or_free(u32 first, u64 random)
{
	u64 ring = (random >> 8 & 1) | (random >> 20 & 3 ? 0 : HYPTRACE_SPARE_RING);

	if (random >> 9 & 1) {
		hyptrace_hcall(HYPTRACE_OP_DETACH, ring & ~HYPTRACE_SPARE_RING, 0, 0);
		unload(ring);
		return;
	}
	load(ring, first, random);
}

/*
 * The ops that give the CPU another ring, unless another thread interferes. The CPU records
 * events all the time.
 */
static void resize(u32 cpu, u32 first, u64 random)
{
	u32 nr = random >> 24 & 255, moves = 16, i;

	load(cpu, first, random);
	hyptrace_hcall(HYPTRACE_OP_ATTACH, cpu, HYPTRACE_ALL_EVENTS, 0);
	for (i = 0; i < 3 * nr; i++)
		hyptrace(selftest, i);
	load(cpu | HYPTRACE_SPARE_RING, first, random >> 8);
	if (!hyptrace_hcall(HYPTRACE_OP_EXCHANGE, cpu, 0, 0))
		__atomic_fetch_add(&nr_exchanged, 1, __ATOMIC_RELAXED);
	for (i = 0; i < nr; i++)
		hyptrace(selftest, i);
	while (moves--) {
		s64 ret = hyptrace_hcall(HYPTRACE_OP_MOVE, cpu, 0, 0);

		if (ret <= 0)
			break;
		if (ret == HYPTRACE_MOVE_MOVED)
			__atomic_fetch_add(&nr_moved, 1, __ATOMIC_RELAXED);
		hyptrace(selftest, ret);
	}
	unload(cpu | HYPTRACE_SPARE_RING);
}

static void *thread(void *arg)
{
	u32 cpu = (uintptr_t)arg;
	u64 seed = env_seed(SEED) + cpu, i;

	env_cpu(cpu);
	for (i = 0; i < rounds; i++) {
		u64 random = env_random(&seed);

		if (random >> 16 & 3)
			any_op(cpu, cpu * PER_THREAD, &seed);
		else if (random >> 18 & 1)
			resize(cpu, cpu * PER_THREAD, random);
		else
			load_or_free(cpu * PER_THREAD, random);
	}

	return NULL;
}

static void free_ring(u64 which)
{
	s64 ret;
	u32 i;

	for (i = 0; (ret = hyptrace_hcall(HYPTRACE_OP_RING_FREE, which, 0, 0)) > 0; i++)
		assert_true(i < 10);
	assert_int_equal(ret, 0);
}

static void all_at_once(void **state)
{
	pthread_t threads[THREADS];
	u32 i;

	(void)state;
	rounds = env_number("HYPTRACE_TEST_ROUNDS", ROUNDS);
	env_start(THREADS * PER_THREAD);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread,
						(void *)(uintptr_t)i), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	for (i = 0; i < ENV_CPUS; i++) {
		env_cpu(i);
		hyptrace_hcall(HYPTRACE_OP_DETACH, i, 0, 0);
		free_ring(i);
		while (hyptrace_hcall(HYPTRACE_OP_MOVE, i, 0, 0) > 0)
			;
		free_ring(i | HYPTRACE_SPARE_RING);
	}
	print_message("%llu pages shared, %llu taken, %llu rings exchanged, %llu sub-buffers moved\n",
		      (unsigned long long)env_calls.share, (unsigned long long)env_calls.take,
		      (unsigned long long)nr_exchanged, (unsigned long long)nr_moved);
	assert_true(env_calls.share > rounds);
	assert_true(nr_exchanged > rounds / 100 && nr_moved > rounds / 100);
	env_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
