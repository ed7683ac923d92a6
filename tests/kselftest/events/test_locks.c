// SPDX-License-Identifier: GPL-2.0-only
/*
 * lock_wait against hypercalls that two CPUs make at the same time, through the module
 * hyptrace_calls: each shares pages of its own with EL2 and takes them back, for which EL2 takes
 * the locks of the host's and of its own page table. The waits are a part of the time of these
 * calls, the other CPU had the lock, and EL2 counts what it records. One CPU alone does not wait.
 * Since Linux 7, two CPUs can also wait for the lock of a VM alone.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "calls.h"
#include "control.h"
#include "counters.h"
#include "cpus.h"
#include "events.h"

#define REMOTE		"hypervisor"
#define CPUS		2
#define RING_SIZE	(8 << 20)
#define MAX_EVENTS	100000
#define MAX_COUNTERS	1024
#define LOCKS		8

/* EL2's number of the first VM, and how many there can be */
#define FIRST_VM	0x1000
#define MAX_VMS		256

/* Hypercalls of a CPU in a round, and rounds until there must have been so many waits */
#define BATCHES		10
#define ROUNDS		200
#define WAITS		20
/* Waits that an abort of the host can cause: for two locks, on each of the two CPUs */
#define WAITS_PER_ABORT	4

enum { WAIT, CALL, ABORT, NR_TYPES };

static const char *const names[NR_TYPES] = { "lock_wait", "host_hcall", "host_mem_abort" };

/* The waits of a lock on a CPU */
struct waits {
	uint64_t	nr;
	uint64_t	ns;
	uint64_t	longest;
};

FIXTURE(locks) {
	struct nl nl;
	struct calls calls;
	struct event_type types[NR_TYPES];
	struct event *events;
	struct counter *counters;
	struct waits waits[CPUS][LOCKS];
	unsigned int nr_waits;
	unsigned int nr_aborts;
};

FIXTURE_SETUP(locks)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, calls_open(&self->calls));
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	self->counters = calloc(MAX_COUNTERS, sizeof(*self->counters));
	ASSERT_TRUE(self->events && self->counters);
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, RING_SIZE, HYPTRACE_MODE_DISCARD));
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, self->types, NR_TYPES));
}

FIXTURE_TEARDOWN(locks)
{
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

/* Record while the first CPUs share pages at the same time. */
static void share_on(struct __test_metadata *_metadata, struct _test_data_locks *self,
		     unsigned int nr_cpus)
{
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	EXPECT_EQ(0, calls_share_on(&self->calls, nr_cpus, BATCHES));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
}

static void check_wait(struct __test_metadata *_metadata, struct _test_data_locks *self,
		       const struct event *event)
{
	int64_t owner = event_field(event, "owner"), lock = event_field(event, "lock");
	uint64_t ns = event_field(event, "duration");
	struct waits *waits;

	ASSERT_GT(LOCKS, (uint64_t)lock);
	if (sysconf(_SC_NPROCESSORS_CONF) == CPUS)
		EXPECT_EQ(!event->cpu, owner);
	EXPECT_LE(-1, owner);
	EXPECT_GT(sysconf(_SC_NPROCESSORS_CONF), owner);
	EXPECT_NE((int64_t)event->cpu, owner);
	waits = &self->waits[event->cpu][lock];
	waits->nr++;
	waits->ns += ns;
	if (ns > waits->longest)
		waits->longest = ns;
	self->nr_waits++;
}

/* Read the events of all CPUs. The waits before a call are inside it, so they took no longer. */
static void check_events(struct __test_metadata *_metadata, struct _test_data_locks *self)
{
	unsigned int cpu;
	ssize_t nr, i;

	for (cpu = 0; cpu < CPUS; cpu++) {
		uint64_t inside = 0, duration;

		nr = events_read(REMOTE, cpu, self->types, NR_TYPES, self->events, MAX_EVENTS);
		ASSERT_LE(0, nr);
		ASSERT_GT(MAX_EVENTS, nr);
		for (i = 0; i < nr; i++) {
			const struct event *event = &self->events[i];

			duration = event_field(event, "duration");
			if (event->type == &self->types[WAIT]) {
				check_wait(_metadata, self, event);
				inside += duration;
				continue;
			}
			self->nr_aborts += event->type == &self->types[ABORT];
			/* the clock's rate may change meanwhile, by 500 ppm */
			ASSERT_GE(duration + duration / 1000 + 1, inside)
				TH_LOG("CPU %u: %s", cpu, event->type->name);
			inside = 0;
		}
		EXPECT_EQ(0, inside) TH_LOG("CPU %u: a wait in no call", cpu);
	}
}

TEST_F_TIMEOUT(locks, a_wait_is_a_part_of_a_call, 300)
{
	int host_mmu = control_symbol(&self->nl, REMOTE, "lock_wait", "lock", "host_mmu");
	unsigned int round, cpu, lock, nr = 0;
	uint64_t tick = 1 + 1000000000 / self->calls.info.rate;
	const struct counter *counter;
	ssize_t nr_counters;

	ASSERT_LT(0, host_mmu);
	ASSERT_EQ(0, counters_set(&self->nl, "lock_wait", true));
	for (round = 0; round < ROUNDS && self->nr_waits < WAITS; round++) {
		share_on(_metadata, self, CPUS);
		check_events(_metadata, self);
	}
	ASSERT_EQ(0, counters_set(&self->nl, "lock_wait", false));
	TH_LOG("%u waits, %u aborts in %u rounds", self->nr_waits, self->nr_aborts, round);
	EXPECT_LE(WAITS, self->nr_waits);
	EXPECT_LT(0, self->waits[0][host_mmu].nr + self->waits[1][host_mmu].nr);

	nr_counters = counters_get(&self->nl, CPU_ALL, self->counters, MAX_COUNTERS);
	ASSERT_LE(0, nr_counters);
	for (cpu = 0; cpu < CPUS; cpu++) {
		for (lock = 0; lock < LOCKS; lock++) {
			const struct waits *waits = &self->waits[cpu][lock];

			counter = counters_find(self->counters, nr_counters, cpu, "lock_wait", "lock",
						lock);
			if (!waits->nr)
				continue;
			ASSERT_NE(NULL, counter);
			EXPECT_TRUE(counter_is_plausible(counter));
			/* between the rounds, an abort of the host may have waited */
			EXPECT_LE(waits->nr, counter->count);
			EXPECT_GE(waits->nr + WAITS_PER_ABORT, counter->count);
			EXPECT_LE(waits->longest, counter->longest + tick + waits->longest / 1000);
			EXPECT_LE(waits->ns, counter->total + counter->total / 1000 +
				  tick * waits->nr);
			nr++;
		}
	}
	EXPECT_LT(0, nr);
}

TEST_F(locks, a_cpu_alone_does_not_wait)
{
	/* the first accesses of the host to its memory are over */
	share_on(_metadata, self, 1);
	check_events(_metadata, self);
	memset(self->waits, 0, sizeof(self->waits));
	self->nr_waits = 0;
	self->nr_aborts = 0;
	share_on(_metadata, self, 1);
	check_events(_metadata, self);
	EXPECT_GE(WAITS_PER_ABORT * self->nr_aborts, self->nr_waits)
		TH_LOG("%u waits, %u aborts", self->nr_waits, self->nr_aborts);
}

/* The number of the VM that the module keeps, the only one at EL2 */
static bool find_vm(const struct calls *calls, struct calls_one *call)
{
	const uint64_t end = call->x[1] + MAX_VMS;

	for (; call->x[1] < end; call->x[1]++)
		if (!calls_make(calls, call, 1) && !call->ret[0] && !call->ret[1])
			return true;
	return false;
}

TEST_F_TIMEOUT(locks, a_wait_for_the_lock_of_a_vm_names_it, 300)
{
	int vm = control_symbol(&self->nl, REMOTE, "lock_wait", "lock", "vm");
	struct calls_one call;
	unsigned int round;

	ASSERT_LT(0, vm);
	if (!calls_find(&self->calls, "__pkvm_host_wrprotect_guest"))
		SKIP(return, "EL2 takes the lock of a VM only with the host's before Linux 7");
	/* Its first page, which is not mapped */
	call = calls_hvc(&self->calls, "__pkvm_host_wrprotect_guest", FIRST_VM, 0, 1);
	ASSERT_TRUE(find_vm(&self->calls, &call));
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
		EXPECT_EQ(0, calls_repeat_on(&self->calls, CPUS, BATCHES, call));
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
		check_events(_metadata, self);
		if (self->waits[0][vm].nr + self->waits[1][vm].nr >= WAITS)
			break;
	}
	TH_LOG("%u waits in %u rounds", self->nr_waits, round);
	EXPECT_GT(ROUNDS, round);
}

TEST_HARNESS_MAIN
