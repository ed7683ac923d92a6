// SPDX-License-Identifier: GPL-2.0-only
/*
 * count-set with hold: a remote counts an event until the socket that holds it releases it or is
 * closed, in whatever way, unless another socket holds it or a request has switched it on.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "control.h"
#include "counters.h"

#define EVENT		"hyp_enter"
#define OTHER		"guest_exit"
#define MAX_COUNTERS	1024
/* The driver releases the holds of a closed socket soon, but not at once. */
#define PATIENCE_MS	10000
/* No process has such a number, which is the port of its first socket. */
#define PORT		(1U << 30)

FIXTURE(count_hold) {
	struct nl nl;
	struct nl other;
};

FIXTURE_VARIANT(count_hold) {
	const char *remote;
	const char *load;
	const char *unload;
	const char *restore;
};

FIXTURE_VARIANT_ADD(count_hold, hypervisor) {
	.remote = "hypervisor",
	.load = "modprobe hyptrace_pkvm",
	.unload = "modprobe -r hyptrace_pkvm",
	.restore = "modprobe hyptrace_pkvm",
};

/* It counts nothing, but the driver does all of this. */
FIXTURE_VARIANT_ADD(count_hold, test) {
	.remote = "faulty",
	.load = "modprobe hyptrace_faulty",
	.unload = "rmmod hyptrace_faulty",
	.restore = "rmmod hyptrace_faulty",
};

/* Its writer is that of the hypervisor. */
FIXTURE_VARIANT_ADD(count_hold, test_writer) {
	.remote = "test",
	.load = "{ [ ! -d /sys/module/hyptrace_test ] || rmmod hyptrace_test; } && modprobe hyptrace_test counts=1",
	.unload = "rmmod hyptrace_test",
	.restore = "rmmod hyptrace_test && modprobe hyptrace_test",
};

FIXTURE_SETUP(count_hold)
{
	counters_remote = variant->remote;
	ASSERT_EQ(0, system(variant->load));
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, nl_open(&self->other));
	ASSERT_EQ(0, control_fresh(&self->nl, counters_remote));
}

FIXTURE_TEARDOWN(count_hold)
{
	control_fresh(&self->nl, counters_remote);
	nl_close(&self->nl);
	nl_close(&self->other);
	EXPECT_EQ(0, system(variant->restore));
}

/* Return 1 if the remote counts the event, else 0. */
static int is_counted(struct nl *nl, const char *event)
{
	const struct nlattr *counted = control_event_attr(nl, counters_remote, event,
							  HYPTRACE_A_EVENT_COUNTED);

	return counted ? *(const uint8_t *)nl_data(counted) : -ENODATA;
}

/* How often a request has reset the counters of the event, or switched off its counting. */
static int nr_breaks(struct nl *nl, const char *event)
{
	const struct nlattr *breaks = control_event_attr(nl, counters_remote, event,
							  HYPTRACE_A_EVENT_COUNT_BREAKS);

	return breaks ? (int)nl_u32(breaks) : -ENODATA;
}

/* How many counters are not 0. If the driver has counters, those of hyp_exit are never 0. */
static ssize_t nr_counters(struct nl *nl)
{
	static struct counter counters[MAX_COUNTERS];

	return counters_get(nl, CPU_ALL, counters, MAX_COUNTERS);
}

/* Wait until the remote no longer counts the event. */
static bool is_released(struct nl *nl, const char *event)
{
	unsigned int ms;

	for (ms = 0; is_counted(nl, event); ms += 10) {
		if (ms >= PATIENCE_MS)
			return false;
		usleep(10000);
	}
	return true;
}

/* Have the driver end holds of another socket. What was to end before has ended then, too. */
static bool settle(struct nl *nl)
{
	struct nl other;

	if (nl_open(&other) || counters_hold(&other, OTHER, true))
		return false;
	nl_close(&other);
	return is_released(nl, OTHER);
}

TEST_F(count_hold, the_last_release_frees_the_counters)
{
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, true));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	EXPECT_LT(0, nr_counters(&self->nl));
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
	EXPECT_EQ(0, nr_counters(&self->nl));
}

TEST_F(count_hold, a_closed_socket_ends_its_own_holds)
{
	struct nl third;

	ASSERT_EQ(0, nl_open(&third));
	ASSERT_EQ(0, counters_hold(&third, OTHER, true));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	nl_close(&third);
	EXPECT_TRUE(is_released(&self->nl, OTHER));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	nl_close(&self->other);
	EXPECT_TRUE(is_released(&self->nl, EVENT));
	EXPECT_EQ(0, nr_counters(&self->nl));
	ASSERT_EQ(0, nl_open(&self->other));
}

TEST_F(count_hold, a_port_is_that_of_one_socket)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_pid = PORT };
	struct nl held;
	int fd;

	/* sockets of other protocols may have the same port */
	ASSERT_EQ(0, nl_open_port(&held, PORT));
	ASSERT_EQ(0, counters_hold(&held, EVENT, true));
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, bind(fd, (const struct sockaddr *)&address, sizeof(address)));
	close(fd);
	EXPECT_TRUE(settle(&self->nl));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	/* one that is closed does not share its end with the next one */
	nl_close(&held);
	ASSERT_EQ(0, nl_open_port(&held, PORT));
	ASSERT_EQ(0, counters_hold(&held, EVENT, true));
	EXPECT_TRUE(settle(&self->nl));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	nl_close(&held);
	EXPECT_TRUE(is_released(&self->nl, EVENT));
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
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(is_released(&self->nl, EVENT));
	EXPECT_EQ(0, nr_counters(&self->nl));
	close(ready[0]);
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
	EXPECT_LT(0, nr_counters(&self->nl));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_LT(0, nr_counters(&self->nl));
	/* A reset ends that: the hold is all that is left. */
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_reset(&self->nl, CPU_ALL));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_EQ(0, nr_counters(&self->nl));
}

TEST_F(count_hold, requests_override_holds)
{
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->other, OTHER, true));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, false));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_EQ(1, is_counted(&self->nl, OTHER));
	/* The holder may read them until it releases them. */
	EXPECT_LT(0, nr_counters(&self->nl));
	ASSERT_EQ(0, counters_hold(&self->other, OTHER, false));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_EQ(0, nr_counters(&self->nl));

	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_RESET, counters_remote));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_EQ(0, nr_counters(&self->nl));
	/* It may hold another one: nothing of before is left. */
	ASSERT_EQ(0, counters_hold(&self->other, OTHER, true));
	EXPECT_EQ(1, is_counted(&self->nl, OTHER));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
}

TEST_F(count_hold, counters_stay_while_one_who_held_them_may_read_them)
{
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, false));
	/* somebody else begins and ends meanwhile */
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, false));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_LT(0, nr_counters(&self->nl));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_EQ(0, nr_counters(&self->nl));
}

TEST_F(count_hold, breaks_are_counted)
{
	int before = nr_breaks(&self->nl, EVENT), other = nr_breaks(&self->nl, OTHER);

	ASSERT_LE(0, before);
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, true));
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, false));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	EXPECT_EQ(before, nr_breaks(&self->nl, EVENT));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, false));
	EXPECT_EQ(before + 1, nr_breaks(&self->nl, EVENT));
	EXPECT_EQ(other, nr_breaks(&self->nl, OTHER));
	/* It was not counted any more. */
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, false));
	EXPECT_EQ(before + 1, nr_breaks(&self->nl, EVENT));
	ASSERT_EQ(0, counters_reset(&self->nl, 0));
	EXPECT_EQ(before + 2, nr_breaks(&self->nl, EVENT));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_RESET, counters_remote));
	EXPECT_EQ(before + 3, nr_breaks(&self->nl, EVENT));
}

TEST_F(count_hold, a_module_that_is_removed_ends_the_holds)
{
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	ASSERT_EQ(0, system(variant->unload));
	ASSERT_EQ(0, system(variant->load));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	ASSERT_EQ(0, counters_hold(&self->other, OTHER, true));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	nl_close(&self->other);
	EXPECT_TRUE(is_released(&self->nl, OTHER));
	EXPECT_EQ(0, nr_counters(&self->nl));
	ASSERT_EQ(0, nl_open(&self->other));
}

TEST_F(count_hold, refused_requests_hold_nothing)
{
	EXPECT_EQ(-EOPNOTSUPP, counters_hold(&self->other, "selftest", true));
	EXPECT_EQ(-ENOENT, counters_hold(&self->other, "nonsense", true));
	EXPECT_EQ(-EOPNOTSUPP, counters_hold(&self->other, "selftest", false));
	EXPECT_EQ(0, nr_counters(&self->nl));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, true));
	EXPECT_EQ(-EOPNOTSUPP, counters_hold(&self->other, "selftest", true));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	ASSERT_EQ(0, counters_hold(&self->other, EVENT, false));
	EXPECT_EQ(0, nr_counters(&self->nl));
}

TEST_HARNESS_MAIN
