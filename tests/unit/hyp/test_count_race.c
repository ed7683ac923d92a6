// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU counts while another one reads its counters, and it is switched off and on while another
 * one changes what it counts. Built with TSan (hyp.mk): data that CPUs share must be under a lock,
 * or accessed atomically.
 *
 * HYPTRACE_TEST_ROUNDS changes the default.
 */
#include <pthread.h>

#include "count_pages.h"

#define CPU	1
#define OTHER	2
#define EVENTS	BIT_ULL(HYPTRACE_EVENT_host_hcall)
#define KEY	(HYPTRACE_COUNT_KEY_host_hcall + 1)
#define ROUNDS	100000
#define FREED	100

/* The only times: of a packed word, and a long one */
#define SHORT_TIME	5
#define LONG_TIME	(5 * HYPTRACE_COUNT_LONG)
#define LONG_BUCKET	(HYPTRACE_COUNT_PACKED_BUCKETS + 2)

static struct count_pages pages;
static const u64 regs[31];
static u64 rounds;
static int over;

static void hypercall(u64 ticks)
{
	hyptrace_host_call(1, false, regs);

	__atomic_store_n(&env_counter, env_counter + ticks, __ATOMIC_RELAXED);
}

/* Put in as many events as leave room for a few more in the packed word. */
static void nearly_fill(void)
{
	struct hyptrace_private_count *counter = env_rings[CPU].counting.ends[KEY] - 1;
	u64 *shared = (u64 *)&count_published(&pages, KEY)->packed[3];
	u64 word = counter->packed[3], nr;

	nr = (1ULL << (63 - HYPTRACE_COUNT_TICK_BITS)) - 10 - (word >> HYPTRACE_COUNT_TICK_BITS);
	if (nr >> 62)
		return;
	word += nr << HYPTRACE_COUNT_TICK_BITS | nr * SHORT_TIME;
	counter->packed[3] = word;
	WRITE_ONCE(*shared, word);
}

static void *count_many(void *arg)
{
	u64 i;

	(void)arg;
	env_cpu(CPU);
	for (i = 0; i < rounds; i++) {
		hypercall(i % 3 ? SHORT_TIME : LONG_TIME);
		if (i % 30 == 0)
			nearly_fill();
		if (i % 5000 == 0)
			count_reset(CPU);
	}
	WRITE_ONCE(over, 1);

	return NULL;
}

/* A reader never sees a count without its time. */
static void reader(void **state)
{
	u64 good = 0, folded = 0;
	struct count_sum sum;
	pthread_t thread;
	bool last;

	(void)state;
	env_start(2 * COUNT_PAIRS);
	count_pages_give(&pages, CPU, 0);
	env_cpu(CPU);
	env_counter = 1000;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, EVENTS, 0), 0);
	over = 0;
	assert_int_equal(pthread_create(&thread, NULL, count_many, NULL), 0);
	do {
		/* On a busy machine, the last reading may be the only one. */
		last = READ_ONCE(over);
		if (!count_try_read(count_published(&pages, KEY), &sum))
			continue;
		good++;
		folded += sum.nr >> 23;
		assert_int_equal(sum.nr, sum.buckets[3] + sum.buckets[LONG_BUCKET]);
		assert_int_equal(sum.total, SHORT_TIME * sum.buckets[3] +
				 LONG_TIME * (sum.nr - sum.buckets[3]));
	} while (!last);
	pthread_join(thread, NULL);
	assert_true(good && folded);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, 0, 0), 0);
	count_pages_free(&pages);
	env_stop();
}

/* Until the other CPU has done enough */
static void *switch_off_and_on(void *arg)
{
	(void)arg;
	env_cpu(CPU);
	while (!READ_ONCE(over)) {
		hypercall(SHORT_TIME);
		hyptrace_cpu_off();
		hypercall(SHORT_TIME);
		hyptrace_cpu_on();
		hypercall(SHORT_TIME);
	}
	hyptrace_cpu_off();

	return NULL;
}

/* Another CPU resets, changes and frees what this CPU may be about to use again. */
static void off_and_on(void **state)
{
	u64 done = 0, freed = 0;
	pthread_t thread;
	u32 last = 2 * COUNT_PAIRS - 2;

	(void)state;
	env_start(2 * COUNT_PAIRS);
	count_pages_give(&pages, CPU, 0);
	env_cpu(CPU);
	env_counter = 1000;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, EVENTS, 0), 0);
	over = 0;
	assert_int_equal(pthread_create(&thread, NULL, switch_off_and_on, NULL), 0);
	env_cpu(OTHER);
	do {
		done += !count_reset(CPU);
		if (hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, 0, 0))
			continue;
		/* Even if the CPU is on again, it counts nothing. */
		if (hyptrace_hcall(HYPTRACE_OP_COUNT_FREE, CPU, 0, 0) == 1) {
			freed++;
			assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT_PAGE, CPU, env_pfn(last),
							env_pfn(last + 1)), 0);
		}
		while (hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, EVENTS, 0))
			;
	} while (freed < FREED || !done);
	WRITE_ONCE(over, 1);
	pthread_join(thread, NULL);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, 0, 0), 0);
	count_pages_free(&pages);
	env_cpu(CPU);
	hyptrace_cpu_on();
	env_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader),
		cmocka_unit_test(off_and_on),
	};

	rounds = env_number("HYPTRACE_TEST_ROUNDS", ROUNDS);

	return cmocka_run_group_tests(tests, NULL, NULL);
}
