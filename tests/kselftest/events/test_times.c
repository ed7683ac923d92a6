// SPDX-License-Identifier: GPL-2.0-only
/*
 * The times that EL2 counts: at EL2 (hyp_enter), and outside of it (hyp_exit), in the host, in
 * guests and in the firmware. Together they are the time that has passed, on each CPU.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "control.h"
#include "counters.h"

#define HYPERVISOR	"hypervisor"
#define CPUS		2
#define MAX_COUNTERS	1024
#define PAUSE_US	1500000

/* Sums of a CPU, in ns */
struct times {
	uint64_t now;
	uint64_t el2;
	uint64_t host;
	uint64_t guest;
	uint64_t firmware;
};

FIXTURE(times) {
	struct nl nl;
	struct counter *counters;
	struct times before[CPUS], after[CPUS];
	int eret_host, eret_guest, smc;
};

FIXTURE_SETUP(times)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, HYPERVISOR));
	self->counters = calloc(MAX_COUNTERS, sizeof(*self->counters));
	ASSERT_TRUE(self->counters);
	self->eret_host = control_symbol(&self->nl, HYPERVISOR, "hyp_exit", "reason", "eret_host");
	self->eret_guest = control_symbol(&self->nl, HYPERVISOR, "hyp_exit", "reason",
					  "eret_guest");
	self->smc = control_symbol(&self->nl, HYPERVISOR, "hyp_exit", "reason", "smc");
	ASSERT_EQ(0, counters_set(&self->nl, "hyp_enter", true));
}

FIXTURE_TEARDOWN(times)
{
	control_fresh(&self->nl, HYPERVISOR);
	nl_close(&self->nl);
}

static int times_read(struct _test_data_times *self, struct times *times)
{
	ssize_t nr = counters_get(&self->nl, CPU_ALL, self->counters, MAX_COUNTERS), i;

	memset(times, 0, CPUS * sizeof(*times));
	for (i = 0; i < nr; i++) {
		const struct counter *counter = &self->counters[i];
		struct times *of = &times[counter->cpu];
		int reason = counter->value;

		if (!counter_is_plausible(counter))
			return -1;
		if (!strcmp(counter->event, "hyp_enter")) {
			of->el2 += counter->total;
		} else if (reason == self->eret_host) {
			of->host = counter->total;
			of->now = counter->now;
		} else if (reason == self->eret_guest) {
			of->guest = counter->total;
		} else if (reason == self->smc) {
			of->firmware = counter->total;
		} else {
			return -1;
		}
	}
	return nr > 0 ? 0 : -1;
}

/* Check that the times of each CPU add up to the time between the two readings, to 0.1 %. */
static void check_sums(struct __test_metadata *_metadata, struct _test_data_times *self)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		const struct times *a = &self->before[cpu], *b = &self->after[cpu];
		uint64_t wall = b->now - a->now;
		int64_t sum = (b->el2 - a->el2) + (b->host - a->host) + (b->guest - a->guest) +
			      (b->firmware - a->firmware);

		TH_LOG("CPU %u: %llu ns; EL2 %llu, host %llu, guest %llu, firmware %llu", cpu,
		       (unsigned long long)wall, (unsigned long long)(b->el2 - a->el2),
		       (unsigned long long)(b->host - a->host),
		       (unsigned long long)(b->guest - a->guest),
		       (unsigned long long)(b->firmware - a->firmware));
		EXPECT_LT(PAUSE_US * 1000ULL, wall);
		EXPECT_GT((int64_t)wall / 1000, llabs(sum - (int64_t)wall));
	}
}

TEST_F(times, of_idle_cpus_add_up_to_the_time_that_has_passed)
{
	ASSERT_EQ(0, times_read(self, self->before));
	usleep(PAUSE_US);
	ASSERT_EQ(0, times_read(self, self->after));
	check_sums(_metadata, self);
	EXPECT_EQ(0, self->after[0].guest);
	EXPECT_EQ(0, self->after[1].guest);
}

TEST_F(times, of_a_guest_add_up_to_the_time_that_has_passed)
{
	int status;
	pid_t child;

	ASSERT_EQ(0, times_read(self, self->before));
	child = fork();
	if (!child) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execlp("workload", "workload", "--cpu", "1", "--mmio", "20000", "--psci", "10000",
		       "--fp", "100", NULL);
		_exit(127);
	}
	usleep(PAUSE_US);
	/* Counters are read one after the other: a CPU that is busy goes on meanwhile. */
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, times_read(self, self->after));
	check_sums(_metadata, self);
	EXPECT_LT(self->before[1].guest, self->after[1].guest);
	EXPECT_EQ(self->before[0].guest, self->after[0].guest);
}

/* What was counted is still there, and no time is added. */
TEST_F(times, stop_when_hyp_enter_is_no_longer_counted)
{
	usleep(1000);
	ASSERT_EQ(0, counters_set(&self->nl, "hyp_enter", false));
	ASSERT_EQ(0, times_read(self, self->before));
	usleep(20000);
	ASSERT_EQ(0, times_read(self, self->after));
	EXPECT_LE(1000000, self->before[0].host);
	EXPECT_EQ(self->before[0].host, self->after[0].host);
	EXPECT_EQ(self->before[1].host, self->after[1].host);
	EXPECT_LT(self->before[0].now, self->after[0].now);
}

TEST_F(times, begin_at_0_after_a_reset)
{
	uint64_t reset;

	ASSERT_EQ(0, times_read(self, self->before));
	usleep(20000);
	ASSERT_EQ(0, counters_reset(&self->nl, 0));
	usleep(1000);
	ASSERT_EQ(0, times_read(self, self->after));
	reset = self->after[0].host;
	EXPECT_LE(1000000, reset);
	EXPECT_GT(self->after[0].now - self->before[0].now - 19000000, reset);
	EXPECT_LE(20000000, self->after[1].host + self->after[1].el2 - self->before[1].host);
}

TEST_HARNESS_MAIN
