// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each event in each way in which EL2 can record it: at once, after a filter, with a trigger, with
 * a counter, and with no room in the ring. The same calls, guest and switching of a CPU cause the
 * events each time, so EL2 must record, reject or drop the same kinds of events.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../../../hyp/abi.h"
#include "calls.h"
#include "control.h"
#include "counters.h"
#include "cpus.h"
#include "events.h"
#include "filter.h"
#include "page.h"

#define REMOTE		"hypervisor"
#define CPUS		2
#define RING_SIZE	(8 << 20)
#define MAX_EVENTS	200000
#define MAX_COUNTERS	1024
#define FRESH_MEMORY	(64 << 20)
#define SPIN		"3000000"
#define BATCHES		4	/* of pages that each CPU shares */
/* The default of 30 s is too short on a busy machine. */
#define LIMIT_S		300

/* Function ids of the SMC calling convention */
#define PSCI_VERSION	0x84000000
#define FFA_MEM_DONATE	0x84000071
#define SIP_UNKNOWN	0xc2001234

/* All that a host can cause; the load below is sure to cause the first ones. */
static const char *const names[] = {
	"hyp_enter", "hyp_exit", "selftest", "hyp_printk", "host_hcall", "host_smc", "psci_call",
	"host_ffa_call", "guest_exit", "guest_fixup", "mem_transition", "tlbi",
	"host_mem_abort", "lock_wait", "guest_enter", "vcpu_load", "vcpu_put", "hyp_pool",
	"vcpu_illegal_trap",
};

#define NR_NAMES	ARRAY_SIZE(names)
#define NR_SURE		12

static const char *const countable[] = {
	"hyp_enter", "host_hcall", "guest_exit", "mem_transition", "lock_wait",
};

static struct nl_answer answer;
static struct nl_msg msg;

FIXTURE(ways) {
	struct nl nl;
	struct calls calls;
	struct event_type types[NR_NAMES];
	struct event *events;
	uint64_t seen[NR_NAMES];
};

FIXTURE_SETUP(ways)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, calls_open(&self->calls));
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, self->types, NR_NAMES));
}

FIXTURE_TEARDOWN(ways)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(countable); i++)
		counters_set(&self->nl, countable[i], false);
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

static int run_guest(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		/* It spins long enough for an interrupt of the host. */
		execlp("workload", "workload", "--mmio", "20", "--psci", "20", "--fp", "5",
		       "--spin", SPIN, NULL);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child ? status : -1;
}

/* The host has most of its memory mapped only when it uses it. */
static int use_memory(void)
{
	char *memory = mmap(NULL, FRESH_MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? -1 : munmap(memory, FRESH_MEMORY);
}

static int make_calls(const struct calls *calls)
{
	uint64_t pfn = calls->info.fresh_pfn;
	struct calls_one list[] = {
		{ .how = CALLS_SMC, .x = { PSCI_VERSION } },
		{ .how = CALLS_SMC, .x = { FFA_MEM_DONATE, 1, 2, 3 } },
		{ .how = CALLS_SMC, .x = { SIP_UNKNOWN, 4 } },
		calls_hvc(calls, "__hyptrace", HYPTRACE_OP_WRITE, 77, HYPTRACE_WRITE_PRINTK),
		calls_hvc(calls, "__hyptrace", HYPTRACE_OP_WRITE, 77, HYPTRACE_WRITE_SELFTEST),
		calls_hvc(calls, "__pkvm_host_share_hyp", pfn, 0, 0),
		calls_hvc(calls, "__pkvm_host_unshare_hyp", pfn, 0, 0),
		{ .x = { calls->info.base + 1000 } },
	};

	return calls_make(calls, list, ARRAY_SIZE(list));
}

/* Cause events of all kinds. */
static void cause(struct __test_metadata *_metadata, struct _test_data_ways *self)
{
	ASSERT_EQ(0, pin_to(0));
	ASSERT_EQ(0, make_calls(&self->calls));
	ASSERT_EQ(0, use_memory());
	ASSERT_EQ(0, run_guest());
	/* They wait for locks of EL2. */
	ASSERT_EQ(0, calls_share_on(&self->calls, CPUS, BATCHES));
	ASSERT_EQ(0, cpu_set_online(1, false));
	ASSERT_EQ(0, cpu_set_online(1, true));
}

/* ... while the remote traces */
static void cause_events(struct __test_metadata *_metadata, struct _test_data_ways *self)
{
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	cause(_metadata, self);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
}

static void load(struct __test_metadata *_metadata, struct _test_data_ways *self, uint64_t size)
{
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, size, HYPTRACE_MODE_DISCARD));
}

/* Enable each event with a filter of one term, which accepts or rejects all, and a trigger. */
static void enable_all(struct __test_metadata *_metadata, struct _test_data_ways *self,
		       uint8_t decision, uint32_t action)
{
	unsigned int i;

	for (i = 0; i < NR_NAMES; i++) {
		const struct filter_term term = {
			.field = self->types[i].fields[0].name, .op = HYPTRACE_FILTER_OP_EQ,
			.on_true = decision, .on_false = decision,
		};

		nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
		nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
		nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, names[i]);
		nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
		filter_put(&msg, "all or none", &term, 1, NULL);
		if (action)
			nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, action);
		ASSERT_EQ(0, nl_do(&self->nl, &msg, &answer)) TH_LOG("%s", names[i]);
	}
}

static void count_all(struct __test_metadata *_metadata, struct _test_data_ways *self)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(countable); i++)
		ASSERT_EQ(0, counters_set(&self->nl, countable[i], true));
}

/* The sums of both CPUs */
static struct counts sums(struct __test_metadata *_metadata, struct _test_data_ways *self)
{
	struct counts sum = { }, counts;
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_EQ(0, control_counts(&self->nl, REMOTE, cpu, &counts));
		EXPECT_EQ(counts.written, counts.read + counts.overrun + counts.dropped +
			  counts.unread) TH_LOG("CPU %u", cpu);
		sum.written += counts.written;
		sum.dropped += counts.dropped;
		sum.filtered += counts.filtered;
		sum.notified += counts.notified;
	}
	return sum;
}

/* All events that the load is sure to cause are in the rings, none is missing. Return how many. */
static ssize_t expect_recorded(struct __test_metadata *_metadata, struct _test_data_ways *self)
{
	struct counts sum = sums(_metadata, self);
	unsigned int i;
	ssize_t nr;

	nr = events_read_all(REMOTE, CPUS, self->types, NR_NAMES, self->events, MAX_EVENTS);
	ASSERT_LT(0, nr);
	EXPECT_EQ(sum.written, (uint64_t)nr);
	EXPECT_EQ(0, sum.filtered);
	memset(self->seen, 0, sizeof(self->seen));
	for (i = 0; i < nr; i++)
		self->seen[self->events[i].type - self->types]++;
	for (i = 0; i < NR_SURE; i++)
		EXPECT_NE(0, self->seen[i]) TH_LOG("%s", names[i]);
	return nr;
}

/* Empty rings are unloaded once tracing stops, and their counts are gone. */
static void expect_rejected(struct __test_metadata *_metadata, struct _test_data_ways *self)
{
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	cause(_metadata, self);
	EXPECT_EQ(0, sums(_metadata, self).written);
	EXPECT_LT(NR_SURE, sums(_metadata, self).filtered);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
}

TEST_F_TIMEOUT(ways, at_once, LIMIT_S)
{
	load(_metadata, self, RING_SIZE);
	cause_events(_metadata, self);
	expect_recorded(_metadata, self);
}

TEST_F_TIMEOUT(ways, after_a_filter_that_accepts, LIMIT_S)
{
	load(_metadata, self, RING_SIZE);
	enable_all(_metadata, self, FILTER_ACCEPT, 0);
	cause_events(_metadata, self);
	expect_recorded(_metadata, self);
}

TEST_F_TIMEOUT(ways, a_filter_that_rejects, LIMIT_S)
{
	load(_metadata, self, RING_SIZE);
	enable_all(_metadata, self, FILTER_REJECT, 0);
	expect_rejected(_metadata, self);
}

TEST_F_TIMEOUT(ways, with_a_trigger_that_notifies, LIMIT_S)
{
	uint64_t notified;

	load(_metadata, self, RING_SIZE);
	enable_all(_metadata, self, FILTER_ACCEPT, HYPTRACE_TRIGGER_ACTION_NOTIFY);
	cause_events(_metadata, self);
	notified = sums(_metadata, self).notified;
	EXPECT_EQ(notified, (uint64_t)expect_recorded(_metadata, self));
}

/* EL2 has counted events of each kind that the load is sure to cause: all but waits for a lock. */
static void expect_counted(struct __test_metadata *_metadata, struct _test_data_ways *self)
{
	static struct counter counters[MAX_COUNTERS];
	bool counted[ARRAY_SIZE(countable)] = { };
	unsigned int i;
	ssize_t nr;

	nr = counters_get(&self->nl, CPU_ALL, counters, MAX_COUNTERS);
	ASSERT_LT(0, nr);
	while (nr--) {
		EXPECT_TRUE(counter_is_plausible(&counters[nr]));
		for (i = 0; i < ARRAY_SIZE(countable); i++)
			counted[i] |= !strcmp(counters[nr].event, countable[i]) &&
				      counters[nr].count;
	}
	for (i = 0; i < ARRAY_SIZE(countable) - 1; i++)
		EXPECT_TRUE(counted[i]) TH_LOG("%s", countable[i]);
}

TEST_F_TIMEOUT(ways, only_counted, LIMIT_S)
{
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	count_all(_metadata, self);
	cause(_metadata, self);
	expect_counted(_metadata, self);
}

TEST_F_TIMEOUT(ways, with_a_counter, LIMIT_S)
{
	load(_metadata, self, RING_SIZE);
	count_all(_metadata, self);
	cause_events(_metadata, self);
	expect_recorded(_metadata, self);
	expect_counted(_metadata, self);
}

TEST_F_TIMEOUT(ways, with_a_counter_after_a_filter, LIMIT_S)
{
	load(_metadata, self, RING_SIZE);
	count_all(_metadata, self);
	enable_all(_metadata, self, FILTER_ACCEPT, 0);
	cause_events(_metadata, self);
	expect_recorded(_metadata, self);
	expect_counted(_metadata, self);
}

TEST_F_TIMEOUT(ways, with_a_counter_and_a_filter_that_rejects, LIMIT_S)
{
	load(_metadata, self, RING_SIZE);
	count_all(_metadata, self);
	enable_all(_metadata, self, FILTER_REJECT, 0);
	expect_rejected(_metadata, self);
	expect_counted(_metadata, self);
}

/* Fill the rings. Then each event is dropped, whatever its size. */
static void fill(struct __test_metadata *_metadata, struct _test_data_ways *self)
{
	unsigned int cpu;

	load(_metadata, self, 2 * PAGE);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	for (cpu = 0; cpu < CPUS; cpu++)
		ASSERT_EQ(0, control_mark(&self->nl, REMOTE, cpu, 1, 4 * PER_SUBBUF));
}

TEST_F_TIMEOUT(ways, without_room, LIMIT_S)
{
	uint64_t dropped;

	fill(_metadata, self);
	dropped = sums(_metadata, self).dropped;
	cause_events(_metadata, self);
	EXPECT_LT(dropped + NR_SURE, sums(_metadata, self).dropped);
}

TEST_F_TIMEOUT(ways, with_a_counter_without_room, LIMIT_S)
{
	uint64_t dropped;

	count_all(_metadata, self);
	fill(_metadata, self);
	dropped = sums(_metadata, self).dropped;
	cause_events(_metadata, self);
	EXPECT_LT(dropped + NR_SURE, sums(_metadata, self).dropped);
	expect_counted(_metadata, self);
}

TEST_HARNESS_MAIN
