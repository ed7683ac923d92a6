// SPDX-License-Identifier: GPL-2.0-only
/*
 * count-set with hold: EL2 counts an event until the socket that holds it releases it or is closed,
 * in whatever way, unless another socket holds it or a request has switched it on.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "control.h"
#include "counters.h"
#include "waiting.h"

#define HYPERVISOR	"hypervisor"
#define EVENT		"hyp_enter"
#define OTHER		"guest_exit"
#define MAX_COUNTERS	1024
/* The driver releases the holds of a closed socket soon, but not at once. */
#define PATIENCE_MS	10000

FIXTURE(count_hold) {
	struct nl nl;
	struct nl other;
};

FIXTURE_SETUP(count_hold)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, nl_open(&self->other));
	ASSERT_EQ(0, control_fresh(&self->nl, HYPERVISOR));
}

FIXTURE_TEARDOWN(count_hold)
{
	control_fresh(&self->nl, HYPERVISOR);
	nl_close(&self->nl);
	nl_close(&self->other);
}

/* Return 1 if EL2 counts the event, else 0. */
static int is_counted(struct nl *nl, const char *event)
{
	static struct nl_answer answer;
	static struct nl_msg msg;
	const struct nlattr *counted;
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, HYPERVISOR);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAME, event);
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	counted = nl_attr(nl_first(&answer), HYPTRACE_A_EVENT_COUNTED);
	return counted ? *(const uint8_t *)nl_data(counted) : -EOPNOTSUPP;
}

/* Return whether the driver has counters. Of those of hyp_enter, some are not 0 at once. */
static bool has_counters(struct nl *nl)
{
	static struct counter counters[MAX_COUNTERS];

	return counters_get(nl, CPU_ALL, counters, MAX_COUNTERS) > 0;
}

static bool is_free(struct nl *nl)
{
	unsigned int ms;

	for (ms = 0; is_counted(nl, EVENT) || has_counters(nl); ms += 10) {
		if (ms >= PATIENCE_MS)
			return false;
		usleep(10000);
	}
	return true;
}

TEST_F(count_hold, the_last_release_frees_the_counters)
{
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, true));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	EXPECT_TRUE(has_counters(&self->nl));
	/* Holding again changes nothing, and another event is held in addition. */
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->nl, OTHER, true));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->nl, OTHER, false));
	EXPECT_EQ(0, is_counted(&self->nl, OTHER));
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, false));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	/* The first socket holds nothing any more. */
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, false));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_FALSE(has_counters(&self->nl));
}

TEST_F(count_hold, a_closed_socket_holds_nothing)
{
	struct nl third;

	ASSERT_EQ(0, nl_open(&third));
	ASSERT_EQ(0, counters_hold(&third, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	nl_close(&third);
	ASSERT_EQ(0, counters_hold(&self->other, OTHER, true));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	nl_close(&self->other);
	EXPECT_TRUE(is_free(&self->nl));
	EXPECT_EQ(0, is_counted(&self->nl, OTHER));
	ASSERT_EQ(0, nl_open(&self->other));
}

TEST_F(count_hold, a_killed_process_holds_nothing)
{
	int ready[2], status;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct nl nl;

		/* the parent has the sockets of the fixture, too */
		if (nl_open(&nl) || counters_hold(&nl, EVENT, true))
			_exit(1);
		write(ready[1], "", 1);
		pause();
		_exit(0);
	}
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(is_free(&self->nl));
	close(ready[0]);
	close(ready[1]);
}

TEST_F(count_hold, what_is_requested_stays)
{
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	/* The counters keep what was requested, also after another hold. */
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, false));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_TRUE(has_counters(&self->nl));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_TRUE(has_counters(&self->nl));
	/* A reset ends that: the hold is all that is left. */
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_reset(&self->nl, CPU_ALL));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_FALSE(has_counters(&self->nl));
}

TEST_F(count_hold, requests_override_holds)
{
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->other, OTHER, true));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, false));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_EQ(1, is_counted(&self->nl, OTHER));
	/* The holder may read them until it releases them. */
	EXPECT_TRUE(has_counters(&self->nl));
	ASSERT_EQ(0, counters_hold(&self->other, OTHER, false));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_FALSE(has_counters(&self->nl));

	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_RESET, HYPERVISOR));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_FALSE(has_counters(&self->nl));
	/* It may hold them again. */
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
}

TEST_F(count_hold, refused_requests_hold_nothing)
{
	EXPECT_EQ(-EOPNOTSUPP, counters_hold(&self->other, "selftest", true));
	EXPECT_EQ(-ENOENT, counters_hold(&self->other, "nonsense", true));
	EXPECT_EQ(-EOPNOTSUPP, counters_hold(&self->other, "selftest", false));
	EXPECT_FALSE(has_counters(&self->nl));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	EXPECT_EQ(-EOPNOTSUPP, counters_hold(&self->other, "selftest", true));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_FALSE(has_counters(&self->nl));
}

TEST_HARNESS_MAIN
