// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for spinlocks: what the event says, which owner EL2 knows, and when it must say nothing.
 * The ticket lock itself is in the kernel.
 */
#include "count_pages.h"
#include "lock.h"
#include "ring_decode.h"

#define CPU		1
#define NR_PAGES	8
#define TURNS		65536	/* then the numbers of tickets begin again */

static struct env_ring ring;
/* whose turn it is */
static u16 lock, other_lock;

static int start(void **state)
{
	(void)state;
	env_start(env_ring_pages(NR_PAGES) + 2 * COUNT_PAIRS);
	env_ring_load(&ring, CPU, 0, NR_PAGES, 0);
	env_cpu(CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_CLOCK, ENV_NS_CLOCK, 0, 0), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);
	env_counter = 1000;

	return 0;
}

static int stop(void **state)
{
	(void)state;
	env_cpu(CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&ring);
	env_stop();

	return 0;
}

/* Copy the payload of the last event; return the number of events. */
static int last(struct hyptrace_entry_lock_wait *entry)
{
	struct decoded events[DECODE_MAX];
	int nr = decode_both(env_rings[CPU].page, events);

	if (nr) {
		assert_int_equal(events[nr - 1].size, sizeof(*entry));
		memcpy(entry, env_rings[CPU].page->data + events[nr - 1].offset, sizeof(*entry));
	}

	return nr;
}

static s32 begin_at(u16 *turn, u16 served, u16 own)
{
	*turn = served;
	return hyptrace_lock_wait_begin(hyptrace_this_ring(), turn, served, own);
}

static void end(u8 name, s32 owner)
{
	if (owner != HYPTRACE_LOCK_HIDDEN)
		__hyptrace_lock_wait(hyptrace_this_ring(), name, owner);
}

/* Wait on CPU with the ticket @own while it is the turn of @served; return the owner. */
static s32 wait_for(u16 served, u16 own, u64 ns)
{
	struct hyptrace_entry_lock_wait entry = { };
	int before = last(&entry);
	s32 owner;

	env_cpu(CPU);
	owner = begin_at(&lock, served, own);
	env_counter += ns;
	end(HYPTRACE_LOCK_HOST_MMU, owner);
	assert_int_equal(last(&entry), before + (owner != HYPTRACE_LOCK_HIDDEN));
	if (owner != HYPTRACE_LOCK_HIDDEN) {
		assert_int_equal(entry.common_type, HYPTRACE_EVENT_lock_wait);
		assert_int_equal(entry.lock, HYPTRACE_LOCK_HOST_MMU);
		assert_int_equal(entry.owner, owner);
		assert_int_equal(entry.duration, ns);
	}

	return owner;
}

/* Another CPU begins to wait. */
static void queue_up(u32 cpu, u16 *turn, u16 own)
{
	env_cpu(cpu);
	begin_at(turn, own - 1, own);
	env_cpu(CPU);
}

static void owners(void **state)
{
	(void)state;
	/* A CPU that found the lock free has noted nothing. */
	assert_int_equal(wait_for(7, 8, 100), -1);
	/* CPU 2 has waited, and has the lock now, or is still in the queue. */
	queue_up(2, &lock, 20);
	assert_int_equal(wait_for(20, 21, 200), 2);
	assert_int_equal(wait_for(19, 21, 0), -1);
	/* It waits for another lock with the same ticket. */
	queue_up(2, &other_lock, 30);
	assert_int_equal(wait_for(30, 31, 5), -1);
	/* The CPU's own turn is long over. */
	assert_int_equal(wait_for(31, 32, 5), -1);
	/* All others wait. */
	queue_up(0, &lock, 0xffff);
	queue_up(3, &lock, 0);
	assert_int_equal(wait_for(0xffff, 1, 5), 0);
	assert_int_equal(wait_for(0, 1, 5), 3);
}

/* After 65536 turns the ticket is another CPU's. Each turn takes some ns. */
static void old_turns(void **state)
{
	(void)state;
	env_counter = BIT_ULL(40);
	queue_up(2, &lock, 20);
	env_counter += TURNS;
	assert_int_equal(wait_for(20, 21, 0), 2);
	env_counter += TURNS;
	assert_int_equal(wait_for(20, 21, 0), -1);
	/* Nobody knows how long that was before the clock is set. */
	queue_up(2, &lock, 20);
	env_rings[CPU].clock.mult = 0;
	assert_int_equal(begin_at(&lock, 20, 21), -1);
}

/* With two CPUs, it is the other one. */
static void two_cpus(void **state)
{
	(void)state;
	env_absent = BIT(2) | BIT(3);
	assert_int_equal(wait_for(7, 8, 100), 0);
	env_absent = BIT(0) | BIT(2) | BIT(3);
	assert_int_equal(wait_for(7, 8, 100), -1);
}

/* One that runs a protected guest may have the lock for it: on no account may the host see that. */
static void protected_guests(void **state)
{
	(void)state;
	queue_up(2, &lock, 20);
	hyptrace_set_silent(&env_rings[3], HYPTRACE_SILENT_GUEST);
	assert_int_equal(wait_for(20, 21, 10), HYPTRACE_LOCK_HIDDEN);
	hyptrace_set_silent(&env_rings[3], HYPTRACE_SILENT_GUEST | HYPTRACE_SILENT_CALL);
	assert_int_equal(wait_for(20, 21, 10), HYPTRACE_LOCK_HIDDEN);
	hyptrace_set_silent(&env_rings[3], HYPTRACE_SILENT_LOAD);
	assert_int_equal(wait_for(20, 21, 10), HYPTRACE_LOCK_HIDDEN);
	hyptrace_set_silent(&env_rings[3], HYPTRACE_SILENT_CALL);
	assert_int_equal(wait_for(20, 21, 10), 2);
	hyptrace_set_silent(&env_rings[3], 0);
	assert_int_equal(wait_for(20, 21, 10), 2);
	/* A CPU that had the lock may have been silent then. */
	lock = 21;
	assert_int_equal(hyptrace_lock_wait_begin(hyptrace_this_ring(), &lock, 20, 22),
			 HYPTRACE_LOCK_HIDDEN);
}

static u32 looks;

/* The last look at how many CPUs there are is after that at each of them. */
static void next_turn(void)
{
	if (++looks == ENV_CPUS + 1)
		lock++;
}

/* The CPU that had the lock may have been silent until its turn was over, a moment ago. */
static void turn_over_meanwhile(void **state)
{
	(void)state;
	queue_up(2, &lock, 20);
	assert_int_equal(wait_for(20, 21, 10), 2);
	looks = 0;
	env_cpus_hook = next_turn;
	assert_int_equal(wait_for(20, 21, 10), HYPTRACE_LOCK_HIDDEN);
}

/* Nor may the name of a CPU show later that it had to wait for such a guest. */
static void hidden_turns(void **state)
{
	(void)state;
	hyptrace_set_silent(&env_rings[3], HYPTRACE_SILENT_GUEST);
	queue_up(2, &lock, 20);
	hyptrace_set_silent(&env_rings[3], 0);
	assert_int_equal(wait_for(20, 21, 10), -1);
}

/* A CPU that is silent itself records no wait. */
static void silent(void **state)
{
	static const u32 why[] = {
		HYPTRACE_SILENT_CALL, HYPTRACE_SILENT_GUEST, HYPTRACE_SILENT_LOAD,
	};
	struct hyptrace_entry_lock_wait entry;
	u32 i;

	(void)state;
	for (i = 0; i < ENV_NR(why); i++) {
		hyptrace_set_silent(&env_rings[CPU], why[i]);
		end(HYPTRACE_LOCK_VM, begin_at(&lock, 1, 2));
	}
	assert_int_equal(last(&entry), 0);
	hyptrace_set_silent(&env_rings[CPU], 0);
	wait_for(1, 2, 3);
}

static void wait_as(u8 name, u64 ns)
{
	struct hyptrace_ring *this = hyptrace_this_ring();

	hyptrace_begin_span(this, lock_wait);
	env_counter += ns;
	hyptrace_end_span(this, lock_wait, name, -1);
}

/* Each lock has its counters, whether its waits are recorded, too, or not. */
static void counted(void **state)
{
	struct count_pages pages;
	struct count_sum sum;
	u32 name, i;

	(void)state;
	count_pages_give(&pages, CPU, env_ring_pages(NR_PAGES));
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, HYPTRACE_COUNTABLE_EVENTS, 0), 0);
	for (i = 0; i < 2; i++) {
		for (name = 0; name < HYPTRACE_COUNT_LOCKS; name++)
			wait_as(name, 10 * name + i);
		assert_int_equal(env_rings[CPU].recorded, HYPTRACE_COUNT_LOCKS);
		hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, 0, 0);
	}
	for (name = 0; name < HYPTRACE_COUNT_LOCKS; name++) {
		count_read(&pages, HYPTRACE_COUNT_KEY_lock_wait + name, &sum);
		assert_int_equal(sum.nr, 2);
		assert_int_equal(sum.total, 20 * name + 1);
		assert_int_equal(sum.max, 10 * name + 1);
	}
	/* hidden: neither recorded nor counted */
	hyptrace_set_silent(&env_rings[3], HYPTRACE_SILENT_GUEST);
	end(HYPTRACE_LOCK_VM, begin_at(&lock, 1, 2));
	count_read(&pages, HYPTRACE_COUNT_KEY_lock_wait + HYPTRACE_LOCK_VM, &sum);
	assert_int_equal(sum.nr, 2);
	hyptrace_set_silent(&env_rings[3], 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT, CPU, 0, 0), 0);
	count_pages_free(&pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(owners, start, stop),
		cmocka_unit_test_setup_teardown(old_turns, start, stop),
		cmocka_unit_test_setup_teardown(two_cpus, start, stop),
		cmocka_unit_test_setup_teardown(protected_guests, start, stop),
		cmocka_unit_test_setup_teardown(turn_over_meanwhile, start, stop),
		cmocka_unit_test_setup_teardown(hidden_turns, start, stop),
		cmocka_unit_test_setup_teardown(silent, start, stop),
		cmocka_unit_test_setup_teardown(counted, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
