// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock: its arithmetic, and the latch that lets CPUs read it while it is set.
 *
 * HYPTRACE_TEST_SEED changes the seed.
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

/* Read the clock as the recording functions do. */
static u64 read_clock(void)
{
	struct hyptrace_clock_copy *copy = &hyptrace_this_ring()->clock;
	u64 now, mult, epoch;

	if (hyptrace_clock_read_copy(copy, hyptrace_read_counter(), &now, &mult, &epoch))
		return now;
	return hyptrace_clock_read(copy);
}

static bool is_quick(void)
{
	struct hyptrace_clock_copy *copy = &hyptrace_this_ring()->clock;
	u64 now, mult, epoch;

	return hyptrace_clock_read_copy(copy, hyptrace_read_counter(), &now, &mult, &epoch);
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

static void refuse_mult_0(void **state)
{
	(void)state;
	env_counter = 1000;
	assert_int_equal(set_clock(2 * ENV_NS_CLOCK, 0, 5), 0);
	assert_int_equal(read_clock(), 2005);
	assert_int_equal(set_clock(0, 0, 0), -EINVAL);
	assert_int_equal(set_clock(0, ~0ULL, ~0ULL), -EINVAL);
	assert_int_equal(read_clock(), 2005);
}

/* The same computation with division in 128 bits, where the clock multiplies and shifts. */
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

/* The counter of this CPU is a little behind that of the CPU that has set the clock. */
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
	/* The time must not become negative. */
	assert_int_equal(set_clock(mult, 1000, 15999), 0);
	env_counter = 0;
	assert_int_equal(read_clock(), 0);
	env_counter = 1;
	assert_int_equal(read_clock(), 15);
}

/* The clock is set close to the end of 64 bits, and then back. */
static void no_wrap(void **state)
{
	u64 before;

	(void)state;
	env_counter = 0;
	assert_int_equal(set_clock(ENV_NS_CLOCK, 0, ~0ULL - 100), 0);
	before = read_clock();
	assert_int_equal(set_clock(ENV_NS_CLOCK, 0, 50), 0);
	/* The writer detects a step back by a negative difference. */
	assert_true((s64)(read_clock() - before) < 0);
}

static void arithmetic(void **state)
{
	/* 1 GHz, 62.5 MHz, 24 MHz, 19.2 MHz, the smallest and the largest mult */
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

/* The last cycle for which 64 bits are enough, and the first for which they are not. */
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

	/* Nor may the quick way be used if the time could exceed HYPTRACE_CLOCK_MASK. */
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

/* An update invalidates the copy of each CPU. */
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

/* CPU numbers may have gaps. The search for copies ends with the last CPU that exists. */
static void gaps_in_cpu_numbers(void **state)
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

/* A year without an update at 1 GHz, for which 64 bits are not enough. */
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

/* Updates during a read: the result must never mix two clocks. */
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
		/*
		 * With two or more updates the copy may mix two clocks: then the read must
		 * return 0.
		 */
		assert_true(time == 107 ? nr_updates < 2 : !time && nr_updates);
		time = read_clock();
		assert_int_equal(time, nr_updates ? 100 * 10 * nr_updates +
				 1000 * nr_updates : 107);
	}
}

/*
 * Clocks with different parameters that all give a multiple of P. A mix of two clocks does
 * not, but for one in a million.
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

		/* mult * (CYCLES - epoch) plus this epoch_ns is mult * P. */
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
	/* Continue until both sides have done enough: on one CPU they take turns. */
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

/* The newest clock whose update is complete. */
static u64 set_until;

static void *setter(void *arg)
{
	u64 i, j, pause, seed = 1;

	(void)arg;
	for (i = 1; i <= UPDATES / 4; i++) {
		set_clock(ENV_NS_CLOCK, CYCLES, i);
		/* Order the update of the clock before @set_until. Pairs with no_old_clock(). */
		smp_store_release(&set_until, i);
		pause = env_random(&seed) % 64;
		for (j = 0; j < pause; j++)
			READ_ONCE(set_until);
	}

	return NULL;
}

/* After an update no CPU may use the clock from before it, whenever the CPU has copied that. */
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
		/* Pairs with setter(). */
		until = smp_load_acquire(&set_until);
		time = read_clock();
		/* 0: an update happened during the read. */
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
		WITH_ENV(refuse_mult_0),
		WITH_ENV(arithmetic),
		WITH_ENV(before_the_epoch),
		WITH_ENV(limit),
		WITH_ENV(every_copy),
		WITH_ENV(gaps_in_cpu_numbers),
		WITH_ENV(no_wrap),
		WITH_ENV(long_without_update),
		WITH_ENV(forwards_and_back),
		WITH_ENV(update_within_read),
		WITH_ENV(threads),
		WITH_ENV(no_old_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
