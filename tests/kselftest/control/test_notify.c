// SPDX-License-Identifier: GPL-2.0-only
/* Notifications of the netlink family: one for each change, and some for lost events. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"

#define SOON_MS		10000
#define QUIET_MS	300	/* no further notification comes within this time */
#define TOO_MANY	(10 * PER_SUBBUF)	/* for a ring of two sub-buffers */

FIXTURE(notify) {
	struct nl nl;
	struct nl listener;
};

FIXTURE_VARIANT(notify) {
	const char *remote;
	const char *module;
};

FIXTURE_VARIANT_ADD(notify, hypervisor) {
	.remote = "hypervisor", .module = "hyptrace_pkvm",
};

FIXTURE_VARIANT_ADD(notify, test) {
	.remote = "test", .module = "hyptrace_test",
};

FIXTURE_SETUP(notify)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
	ASSERT_EQ(0, nl_open(&self->listener));
	ASSERT_EQ(0, nl_join(&self->listener));
}

FIXTURE_TEARDOWN(notify)
{
	control_fresh(&self->nl, variant->remote);
	nl_close(&self->nl);
	nl_close(&self->listener);
}

/* Expect a notification of that kind. Its first attribute must be the remote's name. */
#define NEXT(command)								\
	({									\
		const struct nlmsghdr *__hdr = control_next_change(&self->listener, SOON_MS); \
										\
		ASSERT_NE(NULL, __hdr);						\
		ASSERT_EQ(command, nl_cmd(__hdr));				\
		EXPECT_STREQ(variant->remote, nl_str(nl_attr(__hdr, 1)));	\
		__hdr;								\
	})

#define EXPECT_NEXT_STATE(expected)						\
	EXPECT_EQ(expected, nl_u32(nl_attr(NEXT(HYPTRACE_CMD_REMOTE_NTF),	\
					   HYPTRACE_A_REMOTE_STATE)))

#define EXPECT_QUIET()	EXPECT_EQ(NULL, control_next_change(&self->listener, QUIET_MS))

TEST_F(notify, one_for_each_change_of_the_state)
{
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_LOADED);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_TRACING);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_QUIET();
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_UNLOADED);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	EXPECT_QUIET();
	/* A refused request changes nothing. */
	EXPECT_EQ(-EINVAL, control_load(&self->nl, variant->remote, 0, HYPTRACE_MODE_DISCARD));
	EXPECT_QUIET();
}

TEST_F(notify, clear_of_stopped_rings_reports_the_unload)
{
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 2 * PAGE,
				   HYPTRACE_MODE_OVERWRITE));
	while (nl_notification(&self->listener, QUIET_MS))
		;
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_QUIET();
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_LOADED);
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, CPU_ALL));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_UNLOADED);
	EXPECT_QUIET();
}

TEST_F(notify, one_for_each_change_of_the_settings)
{
	static struct nl_answer answer;
	static struct nl_msg msg;
	const struct nlmsghdr *hdr;

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_SET);
	nl_put_str(&msg, HYPTRACE_A_CONTROL_REMOTE, variant->remote);
	nl_put_u64(&msg, HYPTRACE_A_CONTROL_SIZE, 12345);
	nl_put_u32(&msg, HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD);
	ASSERT_EQ(0, nl_do(&self->nl, &msg, &answer));
	hdr = NEXT(HYPTRACE_CMD_REMOTE_NTF);
	EXPECT_EQ(12345, nl_u64(nl_attr(hdr, HYPTRACE_A_REMOTE_SIZE_REQUESTED)));
	EXPECT_EQ(HYPTRACE_MODE_DISCARD, nl_u32(nl_attr(hdr, HYPTRACE_A_REMOTE_MODE)));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_RESET, variant->remote));
	hdr = NEXT(HYPTRACE_CMD_REMOTE_NTF);
	EXPECT_EQ(1 << 20, nl_u64(nl_attr(hdr, HYPTRACE_A_REMOTE_SIZE_REQUESTED)));
}

TEST_F(notify, one_for_each_resize)
{
	ASSERT_EQ(0, control_load(&self->nl, variant->remote, 4 * PAGE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_LOADED);
	ASSERT_EQ(0, control_set_size(&self->nl, variant->remote, 8 * PAGE));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_LOADED);
	EXPECT_QUIET();
}

TEST_F(notify, one_for_each_event_enabled_or_disabled)
{
	const struct nlmsghdr *hdr;
	unsigned int on;

	for (on = 2; on-- > 0;) {
		ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", on));
		hdr = NEXT(HYPTRACE_CMD_EVENT_NTF);
		EXPECT_STREQ("selftest", nl_str(nl_attr(hdr, HYPTRACE_A_EVENT_NAME)));
		EXPECT_NE(NULL, nl_attr(hdr, HYPTRACE_A_EVENT_ENABLED));
		EXPECT_EQ(on, *(uint8_t *)nl_data(nl_attr(hdr, HYPTRACE_A_EVENT_ENABLED)));
		EXPECT_LT(0, nl_u32(nl_attr(hdr, HYPTRACE_A_EVENT_ID)));
		/* No change, no notification. */
		ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", on));
		EXPECT_QUIET();
	}
	EXPECT_EQ(-ENOENT, control_enable(&self->nl, variant->remote, "no_such", true));
	EXPECT_QUIET();
}

TEST_F(notify, one_for_each_reader_attached_or_detached)
{
	const struct nlmsghdr *hdr;
	int fd;

	fd = open_attached(variant->remote, 1, 0);
	ASSERT_LE(0, fd);
	EXPECT_NEXT_STATE(HYPTRACE_STATE_LOADED);
	hdr = NEXT(HYPTRACE_CMD_READER_NTF);
	EXPECT_EQ(1, nl_u32(nl_attr(hdr, HYPTRACE_A_READER_CPU)));
	EXPECT_EQ(HYPTRACE_READER_CHANGE_ATTACHED, nl_u32(nl_attr(hdr, HYPTRACE_A_READER_CHANGE)));
	EXPECT_EQ(getpid(), nl_u32(nl_attr(hdr, HYPTRACE_A_READER_PID)));
	EXPECT_EQ(-EBUSY, open_attached(variant->remote, 1, 0));
	EXPECT_QUIET();
	close(fd);
	hdr = NEXT(HYPTRACE_CMD_READER_NTF);
	EXPECT_EQ(1, nl_u32(nl_attr(hdr, HYPTRACE_A_READER_CPU)));
	EXPECT_EQ(HYPTRACE_READER_CHANGE_DETACHED, nl_u32(nl_attr(hdr, HYPTRACE_A_READER_CHANGE)));
	EXPECT_EQ(getpid(), nl_u32(nl_attr(hdr, HYPTRACE_A_READER_PID)));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_UNLOADED);

	fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, 0);
	EXPECT_NEXT_STATE(HYPTRACE_STATE_LOADED);
	hdr = NEXT(HYPTRACE_CMD_READER_NTF);
	EXPECT_EQ(NULL, nl_attr(hdr, HYPTRACE_A_READER_CPU));
	EXPECT_EQ(HYPTRACE_READER_CHANGE_ATTACHED, nl_u32(nl_attr(hdr, HYPTRACE_A_READER_CHANGE)));
	EXPECT_EQ(getpid(), nl_u32(nl_attr(hdr, HYPTRACE_A_READER_PID)));
	close(fd);
	hdr = NEXT(HYPTRACE_CMD_READER_NTF);
	EXPECT_EQ(NULL, nl_attr(hdr, HYPTRACE_A_READER_CPU));
	EXPECT_EQ(HYPTRACE_READER_CHANGE_DETACHED, nl_u32(nl_attr(hdr, HYPTRACE_A_READER_CHANGE)));
	EXPECT_EQ(getpid(), nl_u32(nl_attr(hdr, HYPTRACE_A_READER_PID)));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_UNLOADED);
	EXPECT_QUIET();
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whatever the number of lost events, there is at most one for a CPU in 100 ms. */
TEST_F(notify, losses_of_a_cpu_every_100_ms_at_most)
{
	uint64_t value = 0, told = 0, total = 0, start, nr = 0;
	const struct nlmsghdr *hdr;
	struct counts counts;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 2 * PAGE,
				   HYPTRACE_MODE_OVERWRITE));
	while (nl_notification(&self->listener, QUIET_MS))
		;
	start = now_ms();
	while (now_ms() < start + 1000) {
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, value, TOO_MANY));
		value += TOO_MANY;
	}
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_LT(0, counts.overrun);
	while (told < counts.overrun) {
		hdr = nl_notification(&self->listener, SOON_MS);
		ASSERT_NE(NULL, hdr);
		ASSERT_EQ(HYPTRACE_CMD_LOSS_NTF, nl_cmd(hdr));
		EXPECT_STREQ(variant->remote, nl_str(nl_attr(hdr, HYPTRACE_A_LOSS_REMOTE)));
		EXPECT_EQ(1, nl_u32(nl_attr(hdr, HYPTRACE_A_LOSS_CPU)));
		EXPECT_LT(0, nl_u64(nl_attr(hdr, HYPTRACE_A_LOSS_COUNT)));
		told += nl_u64(nl_attr(hdr, HYPTRACE_A_LOSS_COUNT));
		EXPECT_LT(total, nl_u64(nl_attr(hdr, HYPTRACE_A_LOSS_TOTAL)));
		total = nl_u64(nl_attr(hdr, HYPTRACE_A_LOSS_TOTAL));
		EXPECT_EQ(told, total);
		nr++;
	}
	EXPECT_EQ(counts.overrun, told);
	EXPECT_GE((now_ms() - start) / 100 + 2, nr);
	EXPECT_EQ(NULL, nl_notification(&self->listener, QUIET_MS));

	/* Losses between the last notification and a clear are reported, too, */
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, TOO_MANY));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, 1));
	while (told < counts.overrun) {
		hdr = nl_notification(&self->listener, SOON_MS);
		ASSERT_NE(NULL, hdr);
		ASSERT_EQ(HYPTRACE_CMD_LOSS_NTF, nl_cmd(hdr));
		told += nl_u64(nl_attr(hdr, HYPTRACE_A_LOSS_COUNT));
	}
	EXPECT_EQ(counts.overrun, told);

	/* and those between it and an unload, with the total since the clear */
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, TOO_MANY));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	for (told = 0; told < counts.overrun;) {
		hdr = nl_notification(&self->listener, SOON_MS);
		ASSERT_NE(NULL, hdr);
		if (nl_cmd(hdr) != HYPTRACE_CMD_LOSS_NTF)
			continue;
		told += nl_u64(nl_attr(hdr, HYPTRACE_A_LOSS_COUNT));
		EXPECT_EQ(told, nl_u64(nl_attr(hdr, HYPTRACE_A_LOSS_TOTAL)));
	}
}

/* Losses from before the first listener has joined are not reported. */
TEST_F(notify, the_first_listener_gets_later_losses_only)
{
	const struct nlmsghdr *hdr;
	struct counts before, after;
	uint64_t told = 0;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 2 * PAGE,
				   HYPTRACE_MODE_OVERWRITE));
	nl_close(&self->listener);
	/* the driver ceases to look for losses */
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, TOO_MANY));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &before));
	EXPECT_LT(0, before.overrun);
	ASSERT_EQ(0, nl_open(&self->listener));
	ASSERT_EQ(0, nl_join(&self->listener));
	EXPECT_EQ(NULL, nl_notification(&self->listener, QUIET_MS));

	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, TOO_MANY));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &after));
	while (told < after.overrun - before.overrun) {
		hdr = nl_notification(&self->listener, SOON_MS);
		ASSERT_NE(NULL, hdr);
		ASSERT_EQ(HYPTRACE_CMD_LOSS_NTF, nl_cmd(hdr));
		EXPECT_EQ(1, nl_u32(nl_attr(hdr, HYPTRACE_A_LOSS_CPU)));
		told += nl_u64(nl_attr(hdr, HYPTRACE_A_LOSS_COUNT));
	}
	EXPECT_EQ(after.overrun - before.overrun, told);
}

/* The module is removed while its remote is tracing, so the remote stops and unloads first. */
TEST_F(notify, one_for_a_remote_registered_or_unregistered)
{
	const struct nlmsghdr *hdr;
	char command[64];
	struct info info;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_LOADED);
	EXPECT_NEXT_STATE(HYPTRACE_STATE_TRACING);
	snprintf(command, sizeof(command), "rmmod %s", variant->module);
	ASSERT_EQ(0, system(command));
	hdr = control_next_change(&self->listener, SOON_MS);
	while (hdr && nl_cmd(hdr) == HYPTRACE_CMD_REMOTE_NTF)
		hdr = control_next_change(&self->listener, SOON_MS);
	ASSERT_NE(NULL, hdr);
	EXPECT_EQ(HYPTRACE_CMD_REMOTE_DEL_NTF, nl_cmd(hdr));
	EXPECT_STREQ(variant->remote, nl_str(nl_attr(hdr, HYPTRACE_A_REMOTE_NAME)));
	EXPECT_EQ(-ENODEV, control_info(&self->nl, variant->remote, &info));
	EXPECT_EQ(-ENODEV, open_attached(variant->remote, 0, 0));
	EXPECT_QUIET();
	snprintf(command, sizeof(command), "modprobe %s", variant->module);
	ASSERT_EQ(0, system(command));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_UNLOADED);
	EXPECT_QUIET();
}

TEST_F(notify, listener_can_have_any_port)
{
	nl_close(&self->listener);
	ASSERT_EQ(0, nl_open_port(&self->listener, 1));
	ASSERT_EQ(0, nl_join(&self->listener));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_NEXT_STATE(HYPTRACE_STATE_LOADED);
}

TEST_F(notify, slow_listener_gets_ENOBUFS_and_can_go_on)
{
	static char buffer[64 * 1024];
	int small = 1, i, errors = 0;
	ssize_t len;

	ASSERT_EQ(0, setsockopt(self->listener.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	for (i = 0; i < 1000; i++)
		ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", !(i & 1)));
	for (;;) {
		len = recv(self->listener.fd, buffer, sizeof(buffer), MSG_DONTWAIT);
		if (len < 0 && errno == EAGAIN)
			break;
		if (len < 0) {
			EXPECT_EQ(ENOBUFS, errno);
			errors++;
		}
	}
	EXPECT_LE(1, errors);
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	NEXT(HYPTRACE_CMD_EVENT_NTF);
}

TEST_HARNESS_MAIN
