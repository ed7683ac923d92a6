// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock: its arithmetic, and the latch by which it is read while it is set.
 *
 * HYPTRACE_TEST_SEED says otherwise.
 */
#include <pthread.h>
#include <sched.h>

#include "hyp_env.h"

#define SEED		0x636c6f636b
#ifndef UPDATES
#define READS		1000000
#define UPDATES		1000000
#endif

static s64 set_clock(u64 mult, u64 cycles, u64 ns)
{
	return hyptrace_hcall(HYPTRACE_OP_CLOCK, mult, cycles, ns);
}

/* As the recording functions take it. */
static u64 read_clock(void)
{
	struct hyptrace_clock_copy *copy = &hyptrace_this_ring()->clock;
	u64 now;

	if (hyptrace_clock_read_copy(copy, hyptrace_read_counter(), &now))
		return now;
	return hyptrace_clock_read(copy);
}

static bool is_quick(void)
{
	struct hyptrace_clock_copy *copy = &hyptrace_this_ring()->clock;
	u64 now;

	return hyptrace_clock_read_copy(copy, hyptrace_read_counter(), &now);
}

static int start(void **state)
{
	(void)state;
	env_start(8);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	env_stop();

	return 0;
}

static void stands_still(void **state)
{
	(void)state;
	env_counter = 1000;
	assert_int_equal(set_clock(2 * ENV_NS_CLOCK, 0, 5), 0);
	assert_int_equal(read_clock(), 2005);
	assert_int_equal(set_clock(0, 0, 0), -EINVAL);
	assert_int_equal(set_clock(0, ~0ULL, ~0ULL), -EINVAL);
	assert_int_equal(read_clock(), 2005);
}

/* Long division of what the clock does by a multiplication of 128 bits. */
static u64 expected(u64 counter, u64 mult, u64 cycles, u64 ns)
{
	s64 difference = counter - cycles;
	u64 magnitude = difference < 0 ? -(u64)difference : (u64)difference;
	__uint128_t passed = (__uint128_t)magnitude * mult / ((__uint128_t)1 << 32);

	ns &= HYPTRACE_CLOCK_MASK;
	if (difference >= 0)
		return (ns + (u64)passed) & HYPTRACE_CLOCK_MASK;

	return passed < ns ? ns - (u64)passed : 0;
}

/* A CPU whose counter is a little behind that of the CPU that set the clock. */
static void before_the_epoch(void **state)
{
	const u64 mult = 16 * ENV_NS_CLOCK;

	(void)state;
	assert_int_equal(set_clock(mult, 1000, 1000000), 0);
	env_counter = 999;
	assert_int_equal(read_clock(), 1000000 - 16);
	env_counter = 0;
	assert_int_equal(read_clock(), 1000000 - 16000);
	env_counter = 1000;
	assert_int_equal(read_clock(), 1000000);
	/* and not before time began */
	assert_int_equal(set_clock(mult, 1000, 15999), 0);
	env_counter = 0;
	assert_int_equal(read_clock(), 0);
	env_counter = 1;
	assert_int_equal(read_clock(), 15);
}

/* Times of a clock that is set near the end of 64 bits, and then back. */
static void no_wrap(void **state)
{
	u64 before;

	(void)state;
	env_counter = 0;
	assert_int_equal(set_clock(ENV_NS_CLOCK, 0, ~0ULL - 100), 0);
	before = read_clock();
	assert_int_equal(set_clock(ENV_NS_CLOCK, 0, 50), 0);
	/* What the writer looks at: a step back is a negative difference. */
	assert_true((s64)(read_clock() - before) < 0);
}

static void arithmetic(void **state)
{
	/* 1 GHz, 62.5 MHz, 24 MHz, 19.2 MHz, the slowest and the fastest there is */
	static const u64 mults[] = {
		ENV_NS_CLOCK, 16 * ENV_NS_CLOCK, 178956970666, 223696213333, 1, ~0ULL,
	};
	static const u64 counters[] = {
		0, 1, 2, 1000, ~0ULL, ~0ULL - 1, 1ULL << 63, 1ULL << 32, (1ULL << 32) - 1,
	};
	u64 seed = env_seed(SEED);
	u32 i, j, k, quick = 0;

	(void)state;
	for (i = 0; i < ENV_NR(mults); i++) {
		for (j = 0; j < ENV_NR(counters); j++) {
			for (k = 0; k < 1000; k++) {
				u64 cycles = k ? env_random(&seed) >> k % 64 : 0;
				u64 ns = env_random(&seed) >> k % 60;
				u64 mult = k % 2 ? mults[i] :
					   env_random(&seed) >> k % 60 | 1;

				env_counter = counters[j] + k;
				assert_int_equal(set_clock(mult, cycles, ns), 0);
				assert_false(is_quick());
				assert_int_equal(read_clock(),
						 expected(env_counter, mult, cycles, ns));
				quick += is_quick();
				assert_int_equal(read_clock(),
						 expected(env_counter, mult, cycles, ns));
			}
		}
	}
	assert_in_range(quick, 1, ENV_NR(mults) * ENV_NR(counters) * 1000 - 1);
}

/* The last cycle that 64 bits will do for, and the first that they will not. */
static void limit(void **state)
{
	const u64 mult = 16 * ENV_NS_CLOCK, cycles = ~0ULL / mult;

	(void)state;
	assert_int_equal(set_clock(mult, 1000, 5), 0);
	env_counter = 1000;
	assert_int_equal(read_clock(), 5);
	env_counter = 1000 + cycles - 1;
	assert_true(is_quick());
	assert_int_equal(read_clock(), 5 + 16 * (cycles - 1));
	env_counter++;
	assert_false(is_quick());
	assert_int_equal(read_clock(), 5 + 16 * cycles);
	env_counter++;
	assert_int_equal(read_clock(), 5 + 16 * (cycles + 1));
	env_counter = 999;
	assert_false(is_quick());
	env_counter = 1000;
	assert_true(is_quick());

	/* nor for what the mask must be put to, from there on */
	assert_int_equal(set_clock(mult, 1000, HYPTRACE_CLOCK_MASK / 2), 0);
	read_clock();
	assert_true(is_quick());
	assert_int_equal(set_clock(mult, 1000, HYPTRACE_CLOCK_MASK / 2 + 1), 0);
	read_clock();
	assert_false(is_quick());
	assert_int_equal(set_clock(mult, 1000, HYPTRACE_CLOCK_MASK - 7), 0);
	assert_int_equal(read_clock(), HYPTRACE_CLOCK_MASK - 7);
	assert_false(is_quick());
	env_counter++;
	assert_int_equal(read_clock(), 8);
}

/* An update reaches the copy of every CPU. */
static void every_copy(void **state)
{
	u32 cpu, round;

	(void)state;
	for (round = 1; round < 4; round++) {
		for (cpu = 0; cpu < ENV_CPUS; cpu++) {
			env_cpu(cpu);
			env_counter = 100 * round + cpu;
			assert_int_equal(read_clock(), env_counter * (round - 1 ?: 1));
			assert_true(is_quick());
		}
		assert_int_equal(set_clock(ENV_NS_CLOCK * round, 0, 0), 0);
		for (cpu = 0; cpu < ENV_CPUS; cpu++) {
			env_cpu(cpu);
			assert_false(is_quick());
		}
	}
	env_cpu(0);
}

/* CPUs need not be numbered one after the other; where the last is, the search ends. */
static void numbers_left_out(void **state)
{
	(void)state;
	env_absent = BIT(1) | BIT(2);
	env_cpu(3);
	read_clock();
	assert_true(is_quick());
	env_asked_cpu = 0;
	assert_int_equal(set_clock(2 * ENV_NS_CLOCK, 0, 0), 0);
	assert_int_equal(env_asked_cpu, 3);
	assert_false(is_quick());
	env_cpu(0);
	read_clock();

	env_absent = BIT(3);
	env_asked_cpu = 0;
	assert_int_equal(set_clock(ENV_NS_CLOCK, 0, 0), 0);
	assert_int_equal(env_asked_cpu, 2);
	assert_false(is_quick());
}

/* A year without an update at 1 GHz, where 64 bits would not do. */
static void long_without_update(void **state)
{
	const u64 year = 31536000000000000ULL;

	(void)state;
	assert_int_equal(set_clock(ENV_NS_CLOCK, 77, 1000), 0);
	env_counter = 77 + year;
	assert_int_equal(read_clock(), 1000 + year);
	env_counter = 77 + 20000000000ULL;	/* 20 s */
	assert_int_equal(read_clock(), 1000 + 20000000000ULL);
}

static void forwards_and_back(void **state)
{
	(void)state;
	env_counter = 5000;
	assert_int_equal(set_clock(ENV_NS_CLOCK, 5000, 1000000), 0);
	assert_int_equal(read_clock(), 1000000);
	assert_int_equal(set_clock(ENV_NS_CLOCK, 5000, 999), 0);
	assert_int_equal(read_clock(), 999);
	assert_int_equal(set_clock(ENV_NS_CLOCK, 4000, 1ULL << 60), 0);
	assert_int_equal(read_clock(), (1ULL << 60) + 1000);
}

static u32 nr_updates;

static void update_meanwhile(void)
{
	u32 i;

	for (i = 1; i <= nr_updates; i++)
		set_clock(ENV_NS_CLOCK * 10 * i, 0, 1000 * i);
}

/* Updates between the parameters and the end: never a mix of two clocks. */
static void update_within_read(void **state)
{
	u64 time;

	(void)state;
	for (nr_updates = 0; nr_updates < 5; nr_updates++) {
		env_counter = 100;
		assert_int_equal(set_clock(ENV_NS_CLOCK, 0, 7), 0);
		env_counter_hook = update_meanwhile;
		time = read_clock();
		env_counter_hook = NULL;
		/* After the second, what was read may have been half of each. */
		assert_true(time == 107 ? nr_updates < 2 : !time && nr_updates);
		time = read_clock();
		assert_int_equal(time, nr_updates ? 100 * 10 * nr_updates +
				 1000 * nr_updates : 107);
	}
}

/*
 * Clocks that all give a multiple of P, though from unlike parameters; what a mix
 * of two of them gives is none, but for one in a million.
 */
#define CYCLES	1000000ULL
#define P	1000003ULL

static u64 nr_updates_done;
static bool reading;

static void *updater(void *arg)
{
	u64 seed = (uintptr_t)arg;

	while (READ_ONCE(reading)) {
		u64 mult = 1 + env_random(&seed) % 1000;
		u64 epoch = env_random(&seed) % CYCLES;

		/* mult * (CYCLES - epoch) and this make mult * P */
		set_clock(mult * ENV_NS_CLOCK, epoch,
			  mult * epoch + mult * (P - CYCLES));
		__atomic_fetch_add(&nr_updates_done, 1, __ATOMIC_RELAXED);
	}

	return NULL;
}

static void threads(void **state)
{
	u64 reads = 0, unknown = 0, i;
	pthread_t updaters[2];
	bool ok = true;

	(void)state;
	env_counter = CYCLES;
	assert_int_equal(set_clock(ENV_NS_CLOCK, 0, P - CYCLES), 0);
	WRITE_ONCE(reading, true);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&updaters[i], NULL, updater,
						(void *)(uintptr_t)(i + 1)), 0);
	/* Until each has done its share, which on one CPU takes turns. */
	while (reads < READS || READ_ONCE(nr_updates_done) < UPDATES) {
		u64 time = read_clock();

		ok &= time % P == 0 && time / P <= 1000;
		unknown += !time;
		if (reads++ >= READS)
			sched_yield();
	}
	WRITE_ONCE(reading, false);
	pthread_join(updaters[0], NULL);
	pthread_join(updaters[1], NULL);
	print_message("%llu reads, %llu of them met an update\n",
		      (unsigned long long)reads, (unsigned long long)unknown);
	assert_true(ok);
	assert_true(unknown < reads);
}

/* How far the clock was set, when that is over. */
static u64 set_until;

static void *setter(void *arg)
{
	u64 i, j, pause, seed = 1;

	(void)arg;
	for (i = 1; i <= UPDATES / 4; i++) {
		set_clock(ENV_NS_CLOCK, CYCLES, i);
		/* pairs with the acquire in no_old_clock() */
		smp_store_release(&set_until, i);
		pause = env_random(&seed) % 64;
		for (j = 0; j < pause; j++)
			READ_ONCE(set_until);
	}

	return NULL;
}

/* Once the clock is set no CPU goes by the one of before, whenever it has copied that. */
static void no_old_clock(void **state)
{
	u64 until, time, reads = 0;
	pthread_t thread;
	bool ok = true;

	(void)state;
	env_counter = CYCLES;
	set_until = 0;
	assert_int_equal(set_clock(ENV_NS_CLOCK, CYCLES, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, setter, NULL), 0);
	do {
		/* pairs with the release in setter() */
		until = smp_load_acquire(&set_until);
		time = read_clock();
		/* 0: it was set meanwhile */
		ok &= !time || time >= until;
		if (reads++ >= READS)
			sched_yield();
	} while (until < UPDATES / 4);
	pthread_join(thread, NULL);
	print_message("%llu reads\n", (unsigned long long)reads);
	assert_true(ok);
	assert_int_equal(read_clock(), UPDATES / 4);
}

#define WITH_ENV(test)	cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ENV(stands_still),
		WITH_ENV(arithmetic),
		WITH_ENV(before_the_epoch),
		WITH_ENV(limit),
		WITH_ENV(every_copy),
		WITH_ENV(numbers_left_out),
		WITH_ENV(no_wrap),
		WITH_ENV(long_without_update),
		WITH_ENV(forwards_and_back),
		WITH_ENV(update_within_read),
		WITH_ENV(threads),
		WITH_ENV(no_old_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
