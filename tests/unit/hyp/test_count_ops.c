// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ops of counting: in any order, from any CPU, with pages that EL2 must refuse, and with a CPU
 * that is switched off.
 */
#include "count_pages.h"

#define CPU	1
#define OTHER	2
#define EVENTS	BIT_ULL(HYPTRACE_EVENT_host_hcall)
#define KEY	(HYPTRACE_COUNT_KEY_host_hcall + 1)

/* Two pairs more than the CPU needs, with pages for other purposes */
#define POOL	(2 * COUNT_PAIRS + 4)
#define SPARE	(2 * COUNT_PAIRS)

static struct count_pages pages;
static const u64 regs[31];

static int start(void **state)
{
	(void)state;
	env_start(POOL);
	env_cpu(CPU);
	env_counter = 1000;

	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_events_on, 0);
	env_stop();

	return 0;
}

static int start_with_pages(void **state)
{
	start(state);
	count_pages_give(&pages, CPU, 0);

	return 0;
}

static int stop_with_pages(void **state)
{
	env_cpu(CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, 0, 0), 0);
	count_pages_free(&pages);

	return stop(state);
}

static s64 count_on(u64 cpu, u64 events)
{
	return hyptrace_hcall(HYPTRACE_OP_COUNT, cpu, events, 0);
}

static s64 give(u32 page, u32 shared)
{
	return hyptrace_hcall(HYPTRACE_OP_COUNT_PAGE, CPU, env_pfn(page), env_pfn(shared));
}

static s64 free_pair(void)
{
	return hyptrace_hcall(HYPTRACE_OP_COUNT_FREE, CPU, 0, 0);
}

static void hypercalls(u32 nr)
{
	while (nr--) {
		hyptrace_host_call(1, false, regs);
		env_counter += 10;
	}
}

static u64 counted(void)
{
	struct count_sum sum;

	count_read(&pages, KEY, &sum);
	assert_int_equal(sum.total, 10 * sum.nr);
	assert_int_equal(sum.max, sum.nr ? 10 : 0);

	return sum.nr;
}

static void no_such_cpu(void **state)
{
	u64 op;

	(void)state;
	for (op = HYPTRACE_OP_COUNT_PAGE; op <= HYPTRACE_OP_COUNT_RESET; op++) {
		assert_int_equal(hyptrace_hcall(op, ENV_CPUS, env_pfn(0), env_pfn(1)), -ENXIO);
		assert_int_equal(hyptrace_hcall(op, ~0ULL, env_pfn(0), env_pfn(1)), -ENXIO);
	}
}

static void no_pages(void **state)
{
	(void)state;
	assert_int_equal(count_on(CPU, EVENTS), -ENODATA);
	assert_int_equal(count_on(CPU, 0), 0);
	assert_int_equal(count_reset(CPU), -ENODATA);
	assert_int_equal(free_pair(), 0);
}

/* All pairs but one are not enough; they come back in any state. */
static void some_pages(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < COUNT_PAIRS - 1; i++)
		assert_int_equal(give(2 * i, 2 * i + 1), 0);
	assert_int_equal(count_on(CPU, EVENTS), -ENODATA);
	assert_int_equal(count_reset(CPU), -ENODATA);
	assert_int_equal(env_count(ENV_HYP), COUNT_PAIRS - 1);
	assert_int_equal(env_count(ENV_PINNED), COUNT_PAIRS - 1);
	for (i = COUNT_PAIRS - 1; i; i--)
		assert_int_equal(free_pair(), i > 1);
	assert_int_equal(free_pair(), 0);
}

static void bad_pages(void **state)
{
	(void)state;
	assert_int_equal(give(0, 0), -EPERM);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT_PAGE, CPU, 1, env_pfn(1)), -EINVAL);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT_PAGE, CPU, env_pfn(0), ~0ULL), -EINVAL);
	env_share(2);
	assert_int_equal(give(2, 1), -EPERM);
	assert_int_equal(give(0, 2), -EPERM);
	env_unshare(2);
	env_fail_take = 1;
	assert_int_equal(give(0, 1), -ENOMEM);
	env_fail_share = 1;
	assert_int_equal(give(0, 1), -ENOMEM);
	assert_true(env_is_wiped(0));
	assert_int_equal(env_count(ENV_HOST), POOL);
	assert_int_equal(give(0, 1), 0);
	assert_int_equal(give(0, 3), -EPERM);
	assert_int_equal(give(2, 1), -EPERM);
	assert_int_equal(free_pair(), 0);
}

/* EL2 cannot give back the donated page when it cannot share the other. */
static void lost_page(void **state)
{
	(void)state;
	env_fail_share = 1;
	env_fail_release = 1;
	assert_int_equal(give(0, 1), -ENOTRECOVERABLE);
	assert_int_equal(env_owner(0), ENV_HYP);
	assert_int_equal(env_owner(1), ENV_HOST);
	assert_int_equal(hyptrace_release_page(env_page(0)), 0);
	assert_int_equal(give(0, 1), 0);
	assert_int_equal(free_pair(), 0);
}

/* A pair that EL2 can only give back half is gone for all ops but the next COUNT_FREE. */
static void half_freed(void **state)
{
	(void)state;
	env_fail_release = 1;
	assert_int_equal(free_pair(), -ENOMEM);
	assert_int_equal(env_count(ENV_HYP), COUNT_PAIRS);
	assert_int_equal(env_count(ENV_PINNED), COUNT_PAIRS - 1);
	assert_int_equal(count_on(CPU, EVENTS), -ENODATA);
	assert_int_equal(give(SPARE, SPARE + 1), -EBUSY);
	assert_int_equal(free_pair(), 1);
	assert_int_equal(give(SPARE, SPARE + 1), 0);
	assert_int_equal(count_on(CPU, EVENTS), 0);
	assert_int_equal(count_on(CPU, 0), 0);
	assert_int_equal(free_pair(), 1);
	assert_int_equal(give(2 * COUNT_PAIRS - 2, 2 * COUNT_PAIRS - 1), 0);

	/* a pair in the middle of the row */
	assert_int_equal(free_pair(), 1);
	env_fail_release = 1;
	assert_int_equal(free_pair(), -ENOMEM);
	assert_int_equal(give(SPARE, SPARE + 1), -EBUSY);
	assert_int_equal(free_pair(), 1);
	assert_int_equal(give(2 * COUNT_PAIRS - 4, 2 * COUNT_PAIRS - 3), 0);
	assert_int_equal(give(2 * COUNT_PAIRS - 2, 2 * COUNT_PAIRS - 1), 0);
}

static void all_pages(void **state)
{
	(void)state;
	assert_int_equal(give(SPARE, SPARE + 1), -EBUSY);
	assert_int_equal(env_owner(SPARE), ENV_HOST);
}

static void bad_events(void **state)
{
	u32 id;

	(void)state;
	assert_int_equal(count_on(CPU, EVENTS), 0);
	for (id = 0; id < 64; id++) {
		if (HYPTRACE_COUNTABLE_EVENTS & BIT_ULL(id))
			continue;
		assert_int_equal(count_on(CPU, EVENTS | BIT_ULL(id)), -EINVAL);
	}
	hypercalls(3);
	assert_int_equal(counted(), 3);
}

static void free_while_counting(void **state)
{
	(void)state;
	assert_int_equal(count_on(CPU, EVENTS), 0);
	assert_int_equal(free_pair(), -EBUSY);
	hyptrace_cpu_off();
	assert_int_equal(free_pair(), -EBUSY);
	hyptrace_cpu_on();
	hypercalls(1);
	assert_int_equal(counted(), 1);
}

/* Counters stay when other events are selected, or none, until they are reset. */
static void reset(void **state)
{
	struct count_sum sum;
	u64 seq, part;
	u32 key;

	(void)state;
	assert_int_equal(count_on(CPU, HYPTRACE_COUNTABLE_EVENTS), 0);
	hypercalls(5);
	env_counter += 1ULL << 40;
	hypercalls(5);
	hyptrace(mem_transition, 1, 0, 1, 2, 3, 4, 5, -1);
	hyptrace(hyp_enter, 0);
	hyptrace(hyp_exit, 0);
	assert_int_equal(count_on(CPU, 0), 0);
	assert_int_equal(counted(), 10);
	seq = count_published(&pages, KEY)->seq;
	assert_int_equal(count_reset(CPU), 0);
	assert_true(count_published(&pages, KEY)->seq > seq);
	for (part = COUNT_PARTS; part; part <<= 1)
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT_RESET, CPU, part, 0), -EINVAL);
	for (key = 0; key < HYPTRACE_COUNT_KEYS; key++) {
		static const struct count_sum none;

		count_read(&pages, key, &sum);
		assert_memory_equal(&sum, &none, sizeof(sum));
	}
	assert_int_equal(count_on(CPU, EVENTS), 0);
	/* The longest one so far is counted as that, even if it takes one tick. */
	{
		hyptrace_host_call(1, false, regs);
		env_counter++;
	}
	count_read(&pages, KEY, &sum);
	assert_int_equal(sum.max, 1);
	assert_int_equal(count_on(CPU, 0), 0);
	assert_int_equal(count_reset(CPU), 0);
	assert_int_equal(count_on(CPU, EVENTS), 0);
	hypercalls(2);
	assert_int_equal(counted(), 2);
}

/* Each part changes its own counters once, and no others. Those of hyp_exit are of no part. */
static void parts_of_a_reset(void **state)
{
	u64 before[HYPTRACE_COUNT_KEYS], part;
	u32 key;

	(void)state;
	for (part = 0; part < COUNT_PARTS; part++) {
		for (key = 0; key < HYPTRACE_COUNT_KEYS; key++)
			before[key] = count_published(&pages, key)->seq;
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT_RESET, CPU, part, 0),
				 part + 1 < COUNT_PARTS);
		for (key = 0; key < HYPTRACE_COUNT_KEYS; key++)
			assert_int_equal(count_published(&pages, key)->seq - before[key],
					 key / HYPTRACE_COUNT_KEYS_PER_RESET == part &&
					 key < HYPTRACE_COUNT_KEY_hyp_exit ? 2 : 0);
	}
}

/* Another CPU may not change what this CPU counts, or reset it, unless this one is off. */
static void from_another_cpu(void **state)
{
	(void)state;
	env_cpu(OTHER);
	assert_int_equal(count_on(CPU, EVENTS), -EBUSY);
	env_cpu(CPU);
	assert_int_equal(count_on(CPU, EVENTS), 0);
	hypercalls(4);
	env_cpu(OTHER);
	assert_int_equal(count_on(CPU, 0), -EBUSY);
	assert_int_equal(count_reset(CPU), -EBUSY);
	assert_int_equal(free_pair(), -EBUSY);
	assert_int_equal(counted(), 4);

	/* Another CPU may reset the counters of one that counts nothing. */
	env_cpu(CPU);
	assert_int_equal(count_on(CPU, 0), 0);
	env_cpu(OTHER);
	assert_int_equal(counted(), 4);
	assert_int_equal(count_reset(CPU), 0);
	assert_int_equal(counted(), 0);
}

static void cpu_off(void **state)
{
	(void)state;
	assert_int_equal(count_on(CPU, EVENTS), 0);
	hypercalls(4);
	hyptrace_begin(host_hcall, 1, regs);
	hyptrace_cpu_off();
	assert_int_equal(hyptrace_events_on, 0);
	hypercalls(1);
	__hyptrace_host_hcall(regs);
	assert_int_equal(counted(), 4);

	env_cpu(OTHER);
	assert_int_equal(count_reset(CPU), 0);
	assert_int_equal(counted(), 0);
	assert_int_equal(count_on(CPU, 0), 0);
	assert_int_equal(free_pair(), 1);
	assert_int_equal(count_on(CPU, EVENTS), -ENODATA);
	assert_int_equal(give(2 * COUNT_PAIRS - 2, 2 * COUNT_PAIRS - 1), 0);
	assert_int_equal(count_on(CPU, EVENTS), 0);
	assert_int_equal(hyptrace_events_on, 0);

	/* Silence that is left from before ends. An event that had begun does not count. */
	env_cpu(CPU);
	env_rings[CPU].silent = HYPTRACE_SILENT_CALL;
	hyptrace_cpu_on();
	assert_int_equal(hyptrace_events_on, EVENTS);
	hyptrace(host_hcall, regs);
	hypercalls(3);
	assert_int_equal(counted(), 3);
	env_cpu(OTHER);
	assert_int_equal(count_on(CPU, 0), -EBUSY);
}

/* A CPU that was never off may be switched on: nothing changes. */
static void cpu_on_again(void **state)
{
	(void)state;
	assert_int_equal(count_on(CPU, EVENTS), 0);
	hyptrace_cpu_on();
	hypercalls(1);
	assert_int_equal(counted(), 1);
}

/* ... and it waits for no lock: another CPU holds both. */
static void resume(void)
{
	hyptrace_lock(&env_rings[CPU].lock);
	hyptrace_cpu_on();
	hyptrace_unlock(&env_rings[CPU].lock);
}

static void cpu_on_again_while_locked(void **state)
{
	(void)state;
	env_pages_hook = resume;
	assert_int_equal(free_pair(), 1);
	env_pages_hook = NULL;
	assert_int_equal(give(2 * COUNT_PAIRS - 2, 2 * COUNT_PAIRS - 1), 0);
}

/* What the host writes to the published counters does not matter. */
static void hostile_counters(void **state)
{
	u8 junk[PAGE_SIZE];
	u32 i;

	(void)state;
	assert_int_equal(count_on(CPU, EVENTS), 0);
	hypercalls(2);
	memset(junk, 0xff, sizeof(junk));
	for (i = 1; i < 2 * COUNT_PAIRS; i += 2)
		env_host_write(i, 0, junk, sizeof(junk));
	hypercalls(2);
	assert_int_equal(count_reset(CPU), 0);
	assert_int_equal(counted(), 0);
	hypercalls(2);
	assert_int_equal(counted(), 2);
}

#define TEST(test)	cmocka_unit_test_setup_teardown(test, start, stop)
#define WITH_PAGES(test)	\
	cmocka_unit_test_setup_teardown(test, start_with_pages, stop_with_pages)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_such_cpu),
		TEST(no_pages),
		TEST(some_pages),
		TEST(bad_pages),
		TEST(lost_page),
		WITH_PAGES(half_freed),
		WITH_PAGES(all_pages),
		WITH_PAGES(bad_events),
		WITH_PAGES(free_while_counting),
		WITH_PAGES(reset),
		WITH_PAGES(parts_of_a_reset),
		WITH_PAGES(from_another_cpu),
		WITH_PAGES(cpu_off),
		WITH_PAGES(cpu_on_again),
		WITH_PAGES(cpu_on_again_while_locked),
		WITH_PAGES(hostile_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
