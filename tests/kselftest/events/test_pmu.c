// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the PMU counts in the hypervisor during hypercalls that the test makes itself, through the
 * module hyptrace_calls: each call is measured, until the socket is closed, also while perf uses
 * the PMU, and while a CPU goes off. A kernel without PMU refuses it.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "kselftest_harness.h"
#include "calls.h"
#include "control.h"
#include "counters.h"
#include "cpus.h"

#define HYPERVISOR	"hypervisor"
#define EVENT		"host_hcall"
#define MAX_COUNTERS	1024
#define CPU		1
#define CALLS		1000
#define CYCLES		0x11
#define INSTRUCTIONS	0x08
/* The driver notices that a socket is closed soon, but not at once. */
#define PATIENCE_MS	10000

static const uint32_t both[] = { CYCLES, INSTRUCTIONS };

FIXTURE(pmu) {
	struct nl nl;
	struct nl other;
	struct calls calls;
	char message[COUNTER_MESSAGE];
	struct counter *counters;
	bool has_pmu;
};

FIXTURE_SETUP(pmu)
{
	glob_t found;

	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, nl_open(&self->other));
	ASSERT_EQ(0, control_fresh(&self->nl, HYPERVISOR));
	ASSERT_EQ(0, calls_open(&self->calls));
	ASSERT_EQ(0, pin_to(CPU));
	self->counters = calloc(MAX_COUNTERS, sizeof(*self->counters));
	ASSERT_NE(NULL, self->counters);
	/* without it, all tests but those of refusals do nothing */
	self->has_pmu = !glob("/sys/bus/event_source/devices/armv8_*/type", 0, NULL, &found);
}

FIXTURE_TEARDOWN(pmu)
{
	control_fresh(&self->nl, HYPERVISOR);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
	nl_close(&self->other);
	free(self->counters);
}

static int measure(struct _test_data_pmu *self, struct nl *nl, unsigned int nr)
{
	return counters_measure(nl, EVENT, both, nr, self->message);
}

/* Make a hypercall that changes nothing, so many times. */
static int make_calls(struct _test_data_pmu *self, unsigned int nr)
{
	const struct calls_info *info = &self->calls.info;
	const struct calls_known *known = info->known;
	int err = 0;

	while (known < info->known + info->nr_known &&
	       known->flags & (CALLS_UNSAFE | CALLS_RESERVES))
		known++;
	if (known == info->known + info->nr_known)
		return -ENOENT;
	while (!err && nr--) {
		struct calls_one one = { };

		memcpy(one.x, known->x, sizeof(one.x));
		one.x[0] = info->base + known->number;
		err = calls_make(&self->calls, &one, 1);
	}
	return err;
}

/* The sums of all keys of host_hcall on the CPU */
static struct counter sum(struct _test_data_pmu *self)
{
	ssize_t i, nr = counters_get(&self->nl, CPU, self->counters, MAX_COUNTERS);
	struct counter all = { };

	for (i = 0; i < nr; i++) {
		const struct counter *counter = &self->counters[i];

		if (strcmp(counter->event, EVENT))
			continue;
		all.count += counter->count;
		all.measured += counter->measured;
		all.pmu[0] += counter->pmu[0];
		all.pmu[1] += counter->pmu[1];
		all.pmu[2] += counter->pmu[2];
	}
	return all;
}

static int open_perf(uint64_t what)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .size = sizeof(attr), .config = what, .pinned = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, CPU, -1, 0);
}

TEST_F(pmu, each_call_is_measured)
{
	struct counter begin, end;

	if (!self->has_pmu)
		return;
	ASSERT_EQ(0, measure(self, &self->nl, 2)) TH_LOG("%s", self->message);
	begin = sum(self);
	EXPECT_EQ(begin.count, begin.measured);
	ASSERT_EQ(0, make_calls(self, CALLS));
	end = sum(self);
	EXPECT_LE(begin.count + CALLS, end.count);
	EXPECT_EQ(end.count, end.measured);
	/* a call has more than 10 instructions, and takes more than a cycle */
	EXPECT_LT(begin.pmu[0] + CALLS, end.pmu[0]);
	EXPECT_EQ(0, end.pmu[2]);
}

TEST_F(pmu, without_a_pmu_it_is_refused)
{
	if (self->has_pmu)
		return;
	EXPECT_EQ(-EOPNOTSUPP, measure(self, &self->nl, 1));
	EXPECT_NE(NULL, strstr(self->message, "has no PMU")) TH_LOG("%s", self->message);
	EXPECT_EQ(0, sum(self).count);
}

TEST_F(pmu, one_socket_at_a_time)
{
	struct counter end;
	unsigned int ms;
	int err = -EBUSY;

	if (!self->has_pmu)
		return;
	ASSERT_EQ(0, measure(self, &self->other, 2));
	EXPECT_EQ(-EBUSY, measure(self, &self->nl, 2));
	EXPECT_NE(NULL, strstr(self->message, "uses the PMU")) TH_LOG("%s", self->message);
	/* the socket may hold the counting all the same */
	EXPECT_EQ(0, counters_hold(&self->nl, EVENT, true));
	EXPECT_EQ(0, make_calls(self, CALLS));
	nl_close(&self->other);
	ASSERT_EQ(0, nl_open(&self->other));
	for (ms = 0; err == -EBUSY && ms < PATIENCE_MS; ms += 10, usleep(10000))
		err = measure(self, &self->nl, 2);
	EXPECT_EQ(0, err);
	EXPECT_EQ(0, make_calls(self, 10));
	end = sum(self);
	EXPECT_LE(10, end.measured);
	/* not what the other one has measured */
	EXPECT_GT(CALLS, end.measured);
	EXPECT_LT(CALLS, end.count);
	EXPECT_EQ(0, counters_hold(&self->nl, EVENT, false));
	EXPECT_EQ(0, sum(self).count);
}

TEST_F(pmu, bad_requests_are_refused)
{
	const uint32_t many[] = { 1, 2, 3, 4, 5 }, large[] = { 0x10000 };

	EXPECT_EQ(-E2BIG, counters_measure(&self->nl, EVENT, many, 5, self->message));
	EXPECT_EQ(-ERANGE, counters_measure(&self->nl, EVENT, large, 1, self->message));
	EXPECT_EQ(0, sum(self).count);
}

/* What perf needs it takes from hyptrace only if there is none left, and the reverse. */
TEST_F(pmu, perf_at_the_same_time)
{
	int fds[40], nr = 0, i, err;
	struct counter end;

	if (!self->has_pmu)
		return;
	/* before hyptrace, so that its counters follow them, and move when these are closed */
	for (nr = 0; nr < 2; nr++) {
		fds[nr] = open_perf(INSTRUCTIONS);
		ASSERT_LE(0, fds[nr]);
	}
	ASSERT_EQ(0, measure(self, &self->nl, 2)) TH_LOG("%s", self->message);
	ASSERT_EQ(0, make_calls(self, 100));
	end = sum(self);
	EXPECT_EQ(end.count, end.measured);
	while (nr)
		close(fds[--nr]);
	fds[nr++] = open_perf(3);
	ASSERT_EQ(0, make_calls(self, 100));
	sum(self);	/* the driver notices where the counters are now */
	end = sum(self);
	ASSERT_EQ(0, make_calls(self, 100));
	EXPECT_EQ(end.measured + 100, sum(self).measured);
	EXPECT_EQ(0, counters_hold(&self->nl, EVENT, false));
	while (nr)
		close(fds[--nr]);

	/* perf has them all */
	while (nr < (int)(sizeof(fds) / sizeof(fds[0]))) {
		char word[1];

		fds[nr] = open_perf(INSTRUCTIONS);
		/* a pinned event without a counter has the end of the file */
		if (fds[nr] < 0)
			break;
		nr++;
		if (read(fds[nr - 1], word, 1) == 0)
			break;
	}
	err = counters_measure(&self->nl, EVENT, &both[1], 1, self->message);
	EXPECT_EQ(-EBUSY, err);
	EXPECT_NE(NULL, strstr(self->message, "no free counter")) TH_LOG("%s", self->message);
	EXPECT_EQ(0, sum(self).count);
	for (i = 0; i < nr; i++)
		close(fds[i]);
}

TEST_F(pmu, cpus_go_off_and_on)
{
	struct counter begin, end;
	unsigned int i;

	if (!self->has_pmu)
		return;
	ASSERT_EQ(0, measure(self, &self->nl, 2));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, pin_to(0));
		ASSERT_EQ(0, cpu_set_online(CPU, false));
		ASSERT_EQ(0, cpu_set_online(CPU, true));
		ASSERT_EQ(0, pin_to(CPU));
		begin = sum(self);
		ASSERT_EQ(0, make_calls(self, 100));
		end = sum(self);
		EXPECT_LE(100, end.measured - begin.measured);
		EXPECT_LT(begin.pmu[0], end.pmu[0]);
	}
}

/* What a CPU has measured for one socket is not told another one, also if the CPU is off then. */
TEST_F(pmu, sums_end_with_their_socket)
{
	struct counter begin, end;

	if (!self->has_pmu)
		return;
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	ASSERT_EQ(0, measure(self, &self->nl, 2));
	ASSERT_EQ(0, make_calls(self, CALLS));
	EXPECT_LE(CALLS, sum(self).measured);
	ASSERT_EQ(0, pin_to(0));
	ASSERT_EQ(0, cpu_set_online(CPU, false));
	EXPECT_EQ(0, counters_hold(&self->nl, EVENT, false));
	EXPECT_EQ(0, measure(self, &self->other, 1));
	end = sum(self);
	EXPECT_LE(CALLS, end.count);
	EXPECT_EQ(0, end.measured);
	EXPECT_EQ(0, end.pmu[0]);
	ASSERT_EQ(0, cpu_set_online(CPU, true));
	ASSERT_EQ(0, pin_to(CPU));
	begin = sum(self);
	EXPECT_GT(CALLS, begin.measured);
	EXPECT_EQ(0, begin.pmu[1]);
	ASSERT_EQ(0, make_calls(self, 10));
	EXPECT_LE(10, sum(self).measured - begin.measured);
	EXPECT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_EQ(0, counters_set(&self->nl, EVENT, false));
}

TEST_HARNESS_MAIN
