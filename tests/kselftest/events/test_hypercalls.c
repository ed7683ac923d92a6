// SPDX-License-Identifier: GPL-2.0-only
/*
 * host_hcall against hypercalls that the test makes itself, through the module
 * hyptrace_calls: every one of this kernel, and many random ones. No guest runs, so KVM makes
 * no hypercall meanwhile, and those of hyptrace leave no events: the events must be exactly
 * the calls of the test.
 *
 * HYPTRACE_TEST_SEED: seed of the random calls; HYPTRACE_TEST_CALLS: their number
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "calls_random.h"
#include "control.h"
#include "cpus.h"
#include "events.h"

#define REMOTE		"hypervisor"
#define CPUS		2
#define RANDOM_CALLS	100000

/* Room in a ring for as many records as there are calls: 60 bytes, and those of a time stamp */
#define RECORD_BYTES	72

FIXTURE(hypercalls) {
	struct nl nl;
	struct calls calls;
	struct event_type type;
	struct calls_log *logs[CPUS];
	struct event *events;
	size_t room;
};

FIXTURE_SETUP(hypercalls)
{
	static const char *const names[] = { "host_hcall" };
	const char *number = getenv("HYPTRACE_TEST_CALLS");
	unsigned int cpu;

	/* After a reserving call comes another one. */
	self->room = 2 * (number ? strtoul(number, NULL, 0) : RANDOM_CALLS) / CPUS + CALLS_BATCH;
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, calls_open(&self->calls));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, self->room * RECORD_BYTES,
				  HYPTRACE_MODE_DISCARD));
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, &self->type, 1));
	self->events = calloc(self->room, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
	for (cpu = 0; cpu < CPUS; cpu++) {
		self->logs[cpu] = mmap(NULL, sizeof(struct calls_log) +
				       self->room * sizeof(struct calls_one),
				       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, self->logs[cpu]);
	}
}

FIXTURE_TEARDOWN(hypercalls)
{
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

/* Make each hypercall of this kernel once, as the module says. */
static void make_all(const struct calls *calls, struct calls_log *log)
{
	const struct calls_known *known;
	size_t from = log->nr;
	unsigned int i;

	for (i = 0; i < calls->info.nr_known; i++) {
		struct calls_one *call = &log->list[log->nr];

		known = &calls->info.known[i];
		if (known->flags & CALLS_UNSAFE)
			continue;
		memcpy(call->x, known->x, sizeof(call->x));
		call->x[0] = calls->info.base + known->number;
		log->nr++;
		calls_flush(calls, log, &from);
		if (known->flags & CALLS_RESERVES)
			calls_unreserve(calls, log, &from);
	}
}

/* Run a function on each CPU at once: it makes calls and stores them in the CPU's log. */
static void on_each_cpu(struct __test_metadata *_metadata, struct _test_data_hypercalls *self,
			void (*make)(const struct calls *calls,
				     struct calls_log *log, unsigned int cpu))
{
	unsigned int cpu;
	int status;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	for (cpu = 0; cpu < CPUS; cpu++) {
		if (!fork()) {
			if (!pin_to(cpu))
				make(&self->calls, self->logs[cpu], cpu);
			_exit(self->logs[cpu]->failed || !self->logs[cpu]->nr);
		}
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_LT(0, wait(&status));
		EXPECT_EQ(0, status);
	}
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
}

/* Compare an event with a call, field by field. */
static void check_call(struct __test_metadata *_metadata, const struct calls_info *info,
		       const struct event *event, const struct calls_one *call)
{
	uint64_t number = (call->x[0] & ~info->hints) - info->base;
	uint64_t ns = (__uint128_t)call->cycles * 1000000000 / info->rate;

	EXPECT_EQ((uint32_t)(number < CALLS_NUMBERS ? number : call->x[0]),
		  event_field(event, "id"));
	EXPECT_EQ(!!call->ret[0], event_field(event, "invalid"));
	EXPECT_EQ(call->x[1], (uint64_t)event_field(event, "arg1"));
	EXPECT_EQ(call->x[2], (uint64_t)event_field(event, "arg2"));
	EXPECT_EQ(call->x[3], (uint64_t)event_field(event, "arg3"));
	EXPECT_EQ(call->x[4], (uint64_t)event_field(event, "arg4"));
	EXPECT_EQ((int64_t)call->ret[1], event_field(event, "ret"));
	/* The clock's rate follows that of the kernel, which may differ by 500 ppm. */
	EXPECT_GE(ns + ns / 1000 + 1, (uint64_t)event_field(event, "duration"));
}

/* The events of each CPU are its calls, in their order. Return how many were compared. */
static size_t check_logs(struct __test_metadata *_metadata, struct _test_data_hypercalls *self)
{
	size_t i, compared = 0, handled = 0, took_time = 0;
	unsigned int cpu;
	ssize_t nr;

	for (cpu = 0; cpu < CPUS; cpu++) {
		const struct calls_log *log = self->logs[cpu];
		const struct event *event = self->events;

		nr = events_read(REMOTE, cpu, &self->type, 1, self->events, self->room);
		ASSERT_LE(0, nr);
		for (i = 0; i < log->nr; i++) {
			EXPECT_EQ(cpu, log->list[i].cpu);
			if (calls_is_own(&self->calls, &log->list[i]))
				continue;
			ASSERT_LT(event - self->events, nr) TH_LOG("CPU %u: call %zu", cpu, i);
			check_call(_metadata, &self->calls.info, event, &log->list[i]);
			if (!event_field(event, "invalid")) {
				handled++;
				took_time += event_field(event, "duration") > 0;
			}
			event++;
			/* One message is enough. */
			ASSERT_FALSE(has_failed(_metadata))
				TH_LOG("CPU %u: call %zu, id 0x%llx", cpu, i, log->list[i].x[0]);
		}
		EXPECT_EQ(nr, event - self->events) TH_LOG("CPU %u: more events than calls", cpu);
		compared += nr;
	}
	/* A short one may begin and end in one tick of the counter. */
	EXPECT_LE(handled / 2, took_time);
	return compared;
}

static void make_all_on(const struct calls *calls, struct calls_log *log, unsigned int cpu)
{
	make_all(calls, log);
	make_all(calls, log);
}

TEST_F(hypercalls, every_hypercall_is_recorded_as_it_was_made)
{
	const struct calls_info *info = &self->calls.info;
	size_t i, unsafe = 0;

	/* The module knows all numbers from 0 on, and how to call each. */
	for (i = 0; i < info->nr_known; i++) {
		EXPECT_EQ(i, info->known[i].number);
		EXPECT_EQ(0, info->known[i].flags & CALLS_UNKNOWN)
			TH_LOG("hyptrace_calls.c does not know %s", info->known[i].name);
		unsafe += !!(info->known[i].flags & CALLS_UNSAFE);
	}
	on_each_cpu(_metadata, self, make_all_on);
	TH_LOG("%zu events of %u hypercalls, %zu of them not called",
	       check_logs(_metadata, self), info->nr_known, unsafe);
	/* EL2 refuses those of before its initialisation, and no other. */
	for (i = 0; i < self->logs[0]->nr; i++) {
		const struct calls_one *call = &self->logs[0]->list[i];
		const struct calls_known *known = &info->known[call->x[0] - info->base];

		EXPECT_EQ(!!(known->flags & CALLS_REFUSED), !!call->ret[0])
			TH_LOG("%s: x0 = 0x%llx", known->name, call->ret[0]);
	}
	EXPECT_LE(2 * (info->nr_known - unsafe), self->logs[0]->nr);
}

/* The first number after the last hypercall is refused: the module's list has all of them. */
static void make_next(const struct calls *calls, struct calls_log *log, unsigned int cpu)
{
	size_t from = 0;

	log->list[0].x[0] = calls->info.base + calls->info.nr_known;
	log->nr = 1;
	calls_flush(calls, log, &from);
}

TEST_F(hypercalls, there_is_none_after_the_last_one)
{
	on_each_cpu(_metadata, self, make_next);
	EXPECT_EQ(CPUS, check_logs(_metadata, self));
	EXPECT_NE(0, self->logs[0]->list[0].ret[0]);
}

static void make_random_on(const struct calls *calls, struct calls_log *log, unsigned int cpu)
{
	const char *seed = getenv("HYPTRACE_TEST_SEED"), *number = getenv("HYPTRACE_TEST_CALLS");

	calls_make_random(calls, log, (number ? strtoul(number, NULL, 0) : RANDOM_CALLS) / CPUS,
			  (seed ? strtoull(seed, NULL, 0) : 1) + cpu);
}

TEST_F_TIMEOUT(hypercalls, random_hypercalls_are_recorded_as_they_were_made, 300)
{
	size_t refused = 0, i, compared;

	on_each_cpu(_metadata, self, make_random_on);
	compared = check_logs(_metadata, self);
	for (i = 0; i < self->logs[0]->nr; i++)
		refused += !!self->logs[0]->list[i].ret[0];
	TH_LOG("%zu events; EL2 has refused %zu of the %zu on CPU 0", compared, refused,
	       self->logs[0]->nr);
	EXPECT_LT(self->logs[0]->nr / 4, refused);
	EXPECT_GT(self->logs[0]->nr / 4 * 3, refused);
}

TEST_HARNESS_MAIN
