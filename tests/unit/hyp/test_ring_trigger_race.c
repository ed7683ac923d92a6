// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs record the event that stops the recording at the same time, while another one arms it
 * again and again. Each time exactly one CPU must have stopped it. Built with TSan (hyp.mk).
 *
 * HYPTRACE_TEST_SEED and HYPTRACE_TEST_ROUNDS change the defaults.
 */
#include <pthread.h>
#include <sched.h>

#include "filter_terms.h"

#define NR_PAGES	4
#define ROUNDS		3000
#define SEED		0x66697265
#define ID		7

static struct env_ring hosts[ENV_CPUS];
static bool over;

/* Only the main thread may call cmocka. */
static void *writer(void *arg)
{
	u32 cpu = (uintptr_t)arg;
	u64 seed = env_seed(SEED + cpu);

	env_cpu(cpu);
	while (!READ_ONCE(over)) {
		u64 what = env_random(&seed);

		WRITE_ONCE(env_counter, READ_ONCE(env_counter) + 1 + (what & 15));
		if (what >> 32 & 63)
			hyptrace(hyp_enter, 0);
		else
			hyptrace(selftest, ID);
		if (!(what >> 40 & 255))
			sched_yield();
	}

	return NULL;
}

static void set_up(u32 cpu)
{
	struct hyptrace_term term = {
		.offset = offsetof(struct hyptrace_entry_selftest, id), .width = 8,
		.op = HYPTRACE_TERM_EQ, .value = ID,
		.on_true = HYPTRACE_FILTER_ACCEPT, .on_false = HYPTRACE_FILTER_REJECT,
	};

	env_ring_load(&hosts[cpu], cpu, cpu * env_ring_pages(NR_PAGES), NR_PAGES, 0);
	env_cpu(cpu);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, cpu, HYPTRACE_ALL_EVENTS, 0), 0);
	assert_int_equal(filter_set(cpu, HYPTRACE_EVENT_selftest, &term, 1), 0);
}

/* How many CPUs have stopped the recording, as the host sees it without a call */
static u32 count_stopped(u64 arm)
{
	u32 cpu, nr = 0;

	for (cpu = 0; cpu < ENV_CPUS; cpu++) {
		struct hyptrace_fired *stopped = &env_ring_meta(&hosts[cpu])->stopped;

		/* Pairs with (T) in hyp/trigger.c:publish(). */
		if (smp_load_acquire(&stopped->arm) != arm)
			continue;
		assert_int_equal(READ_ONCE(stopped->event), HYPTRACE_EVENT_selftest);
		assert_int_not_equal(READ_ONCE(stopped->time), 0);
		nr++;
	}

	return nr;
}

static void one_stops(void **state)
{
	u64 rounds = env_number("HYPTRACE_TEST_ROUNDS", ROUNDS), arm;
	pthread_t threads[ENV_CPUS];
	uintptr_t cpu;

	(void)state;
	env_start(ENV_CPUS * env_ring_pages(NR_PAGES));
	for (cpu = 0; cpu < ENV_CPUS; cpu++)
		set_up(cpu);
	for (cpu = 0; cpu < ENV_CPUS; cpu++)
		assert_int_equal(pthread_create(&threads[cpu], NULL, writer, (void *)cpu), 0);
	for (arm = 2; arm < rounds + 2; arm++) {
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_PAUSE, 0, 0, 0), 0);
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_TRIGGER, HYPTRACE_EVENT_selftest,
						HYPTRACE_TRIGGER_STOP, arm % 4), 0);
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ARM, arm, 0, 0), 0);
		/* Meanwhile another event, which does not occur, gets a trigger. */
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_TRIGGER, HYPTRACE_EVENT_hyp_exit,
						HYPTRACE_TRIGGER_STOP, arm % 4), 0);
		while (READ_ONCE(hyptrace_events_on) != BIT_ULL(HYPTRACE_EVENT_NONE))
			sched_yield();
		/* The CPU publishes it right after that, except for a later stop. */
		while (!count_stopped(arm))
			sched_yield();
		assert_int_equal(count_stopped(arm), 1);
	}
	WRITE_ONCE(over, true);
	for (cpu = 0; cpu < ENV_CPUS; cpu++)
		pthread_join(threads[cpu], NULL);
	for (cpu = 0; cpu < ENV_CPUS; cpu++) {
		env_cpu(cpu);
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, cpu, 0, 0), 0);
		env_ring_free(&hosts[cpu]);
	}
	env_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
