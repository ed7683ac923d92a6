// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors of a remote in the middle of a resize or a hold, which the module hyptrace_faulty
 * injects. Also dumps that a change interrupts: the kernel must mark them. Also a remote
 * that is unregistered while a descriptor is attached.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>

#include "kselftest_harness.h"
#include "counters.h"
#include "faulty.h"
#include "filter.h"
#include "kmsg.h"
#include "page.h"

static struct nl_msg msg;
static struct nl_answer answer;

#define SMALL		(16 * PAGE)
#define LARGE		(32 * PAGE)
#define FAULTY_CPU	1

FAULTY_FIXTURE(faults);

/* Return the number of sub-buffers of a ring of that size, the reader page included. */
static unsigned int subbufs(unsigned int size)
{
	unsigned int nr = size / PAGE;

	return (nr < 2 ? 2 : nr) + 1;
}

static unsigned int subbufs_of(struct _test_data_faults *self, unsigned int cpu)
{
	struct counts counts;

	return control_counts(&self->nl, REMOTE, cpu, &counts) ? 0 : counts.nr_subbufs;
}

/*
 * Some CPUs have the new size, some the old one. The remote reports the smaller one, and
 * the next request to resize succeeds.
 */
TEST_F(faults, resize_that_fails_half_way_can_be_repeated)
{
	struct info info;

	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "exchange_error_cpu", FAULTY_CPU));
	EXPECT_EQ(-EIO, control_set_size(&self->nl, REMOTE, LARGE));
	EXPECT_EQ(subbufs(LARGE), subbufs_of(self, 0));
	EXPECT_EQ(subbufs(SMALL), subbufs_of(self, FAULTY_CPU));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(subbufs(SMALL), info.nr_subbufs);
	EXPECT_EQ(SMALL, info.size_requested);

	/* Set the old size, which is also the size that the remote reports. */
	ASSERT_EQ(0, set_parameter(PARAMETERS "exchange_error_cpu", -1));
	EXPECT_EQ(0, control_set_size(&self->nl, REMOTE, SMALL));
	EXPECT_EQ(subbufs(SMALL), subbufs_of(self, 0));
	EXPECT_EQ(subbufs(SMALL), subbufs_of(self, FAULTY_CPU));

	/* Fail half way to a smaller size: the remote reports the smaller one again. */
	ASSERT_EQ(0, control_set_size(&self->nl, REMOTE, LARGE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "exchange_error_cpu", FAULTY_CPU));
	EXPECT_EQ(-EIO, control_set_size(&self->nl, REMOTE, SMALL));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(subbufs(SMALL), info.nr_subbufs);
	EXPECT_EQ(LARGE, info.size_requested);
	ASSERT_EQ(0, set_parameter(PARAMETERS "exchange_error_cpu", -1));
	EXPECT_EQ(0, control_set_size(&self->nl, REMOTE, SMALL));
	EXPECT_EQ(subbufs(SMALL), subbufs_of(self, FAULTY_CPU));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
}

/* Give a mode to a remote that can only overwrite, by this operation. */
static int give_mode(struct nl *nl, uint8_t cmd, uint32_t mode)
{
	nl_begin(&msg, nl, cmd);
	nl_put_str(&msg, HYPTRACE_A_CONTROL_REMOTE, "faulty3");
	nl_put_u32(&msg, HYPTRACE_A_CONTROL_MODE, mode);
	return nl_do(nl, &msg, &answer);
}

TEST_F(faults, a_mode_that_the_remote_does_not_have_is_refused)
{
	static const uint8_t cmds[] = { HYPTRACE_CMD_SET, HYPTRACE_CMD_LOAD };
	static const char name[] = "faulty3";
	struct info info;
	unsigned int i;

	for (i = 0; i < sizeof(cmds); i++) {
		EXPECT_EQ(-EOPNOTSUPP, give_mode(&self->nl, cmds[i], HYPTRACE_MODE_DISCARD));
		EXPECT_STREQ("remote \"faulty3\" can only overwrite the oldest events",
			     answer.message);
		/* behind the name: the attribute of the mode */
		EXPECT_EQ(NLMSG_LENGTH(GENL_HDRLEN) + NLA_HDRLEN + NLA_ALIGN(sizeof(name)),
			  answer.offset);
		ASSERT_EQ(0, control_info(&self->nl, name, &info));
		EXPECT_EQ(HYPTRACE_STATE_UNLOADED, info.state);
		EXPECT_EQ(HYPTRACE_MODE_OVERWRITE, info.mode);
	}
	for (i = 0; i < sizeof(cmds); i++)
		EXPECT_EQ(0, give_mode(&self->nl, cmds[i], HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(0, control_fresh(&self->nl, name));
}

/* If preparing a resize fails and the writer keeps pages, they are leaked and the log says so. */
TEST_F(faults, resize_logs_pages_that_the_writer_keeps)
{
	int kmsg = log_open();
	struct info info;

	ASSERT_LE(0, kmsg);
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "prepare_error", -ENOMEM));
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_SET);
	nl_put_str(&msg, HYPTRACE_A_CONTROL_REMOTE, REMOTE);
	nl_put_u64(&msg, HYPTRACE_A_CONTROL_SIZE, LARGE);
	EXPECT_EQ(-ENOMEM, nl_do(&self->nl, &msg, &answer));
	EXPECT_NE(NULL, strstr(answer.message, "not enough free memory"));
	EXPECT_FALSE(log_has(kmsg, "remote \"" REMOTE "\""));
	ASSERT_EQ(0, set_parameter(PARAMETERS "prepare_error", -ENOTRECOVERABLE));
	EXPECT_EQ(-ENOTRECOVERABLE, control_set_size(&self->nl, REMOTE, LARGE));
	EXPECT_TRUE(log_has(kmsg, "remote \"" REMOTE "\" kept its rings"));
	close(kmsg);

	/* The loaded rings have not changed. */
	ASSERT_EQ(0, set_parameter(PARAMETERS "prepare_error", 0));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(subbufs(SMALL), info.nr_subbufs);
	EXPECT_EQ(-EIO, control_set_size(&self->nl, REMOTE, LARGE));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
	EXPECT_EQ(-EIO, control_load(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
}

/*
 * Receive the rest of a dump. Return true if it is marked as interrupted. @parts: its parts
 *
 * The kernel fills larger parts for a socket that has received into more room. So receive each
 * part into as much as it has.
 */
static bool dump_rest_is_interrupted(struct nl *nl, unsigned int *parts)
{
	static char received[256 << 10] __attribute__((aligned(NLMSG_ALIGNTO)));
	bool interrupted = false, done = false;
	const struct nlmsghdr *hdr;
	ssize_t len;

	for (*parts = 0; !done; ++*parts) {
		len = recv(nl->fd, NULL, 0, MSG_PEEK | MSG_TRUNC);
		if (len <= 0 || len > (ssize_t)sizeof(received))
			abort();
		len = recv(nl->fd, received, len, 0);
		if (len <= 0)
			abort();
		for (hdr = (void *)received; NLMSG_OK(hdr, len); hdr = NLMSG_NEXT(hdr, len)) {
			interrupted |= !!(hdr->nlmsg_flags & NLM_F_DUMP_INTR);
			done |= hdr->nlmsg_type == NLMSG_DONE || hdr->nlmsg_type == NLMSG_ERROR;
		}
	}
	return interrupted;
}

/* Of all remotes, or of the one that the attribute names */
static void begin_dump_of(struct nl *nl, uint8_t cmd, uint16_t attr)
{
	static struct nl_msg msg;

	nl_begin(&msg, nl, cmd);
	if (attr)
		nl_put_str(&msg, attr, REMOTE);
	msg.hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	msg.hdr.nlmsg_seq = ++nl->seq;
	if (send(nl->fd, &msg, msg.hdr.nlmsg_len, 0) != (ssize_t)msg.hdr.nlmsg_len)
		abort();
}

static void begin_dump(struct nl *nl)
{
	begin_dump_of(nl, HYPTRACE_CMD_EVENT_GET, 0);
}

/*
 * The kernel fills the first part of a dump at the request, each other part when the part
 * before it is looked at. So a change in between interrupts the dump.
 */
TEST_F(faults, dump_is_marked_if_a_change_interrupts_it)
{
	unsigned int parts;
	struct nl small;

	ASSERT_EQ(0, nl_open_room(&small, 4096));
	begin_dump(&small);
	EXPECT_FALSE(dump_rest_is_interrupted(&small, &parts));
	ASSERT_LT(1, parts);

	begin_dump(&small);
	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "selftest", true));
	EXPECT_TRUE(dump_rest_is_interrupted(&small, &parts));

	begin_dump(&small);
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	EXPECT_TRUE(dump_rest_is_interrupted(&small, &parts));

	begin_dump(&small);
	EXPECT_EQ(0, module_reload("hyptrace_faulty", ""));
	EXPECT_TRUE(dump_rest_is_interrupted(&small, &parts));

	/* A query changes nothing. */
	begin_dump(&small);
	subbufs_of(self, 0);
	EXPECT_FALSE(dump_rest_is_interrupted(&small, &parts));
	nl_close(&small);
}

TEST_F(faults, dump_of_counters_is_marked_if_a_change_interrupts_it)
{
	unsigned int parts;
	struct nl small;

	counters_remote = REMOTE;
	ASSERT_EQ(0, counters_set(&self->nl, "hyp_enter", true));
	ASSERT_EQ(0, nl_open_room(&small, 4096));
	begin_dump_of(&small, HYPTRACE_CMD_COUNT_GET, HYPTRACE_A_COUNTER_REMOTE);
	EXPECT_FALSE(dump_rest_is_interrupted(&small, &parts));
	ASSERT_LT(1, parts);
	begin_dump_of(&small, HYPTRACE_CMD_COUNT_GET, HYPTRACE_A_COUNTER_REMOTE);
	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "selftest", true));
	EXPECT_TRUE(dump_rest_is_interrupted(&small, &parts));
	nl_close(&small);
}

#define NR_HELD		2

static int hold(int fd, uint32_t flags, const uint16_t *ids, unsigned int nr)
{
	const struct hyptrace_hold request = {
		.size = sizeof(request), .flags = flags, .nr_events = nr,
		.events = (uintptr_t)ids,
	};

	return ioctl(fd, HYPTRACE_IOC_HOLD, &request) ? -errno : 0;
}

#define EXPECT_NOW(expected_state, hyp_enter, selftest)					\
	do {										\
		struct info __info;							\
											\
		ASSERT_EQ(0, control_info(&self->nl, REMOTE, &__info));			\
		EXPECT_EQ(expected_state, __info.state);				\
		EXPECT_EQ(hyp_enter, control_is_enabled(&self->nl, REMOTE, "hyp_enter")); \
		EXPECT_EQ(selftest, control_is_enabled(&self->nl, REMOTE, "selftest"));	\
	} while (0)

/* The hold before it stays, too. */
TEST_F(faults, hold_that_fails_half_way_changes_nothing)
{
	const uint16_t ids[NR_HELD] = {
		control_event_id(&self->nl, REMOTE, "hyp_enter"),
		control_event_id(&self->nl, REMOTE, "selftest"),
	};
	int fd = open_attached(REMOTE, 0, 0), other = open_attached(REMOTE, 1, 0);
	char state[PARAMETER_SIZE];

	ASSERT_LE(0, fd);
	ASSERT_LE(0, other);
	/* Enabling the second event fails. */
	ASSERT_EQ(0, set_parameter(PARAMETERS "event_error_id", ids[1]));
	EXPECT_EQ(-EIO, hold(fd, HYPTRACE_HOLD_TRACING, ids, NR_HELD));
	EXPECT_NOW(HYPTRACE_STATE_LOADED, false, false);
	EXPECT_STREQ("", read_parameter(PARAMETERS "state", state));
	/* Both events are enabled, then starting fails. */
	ASSERT_EQ(0, set_parameter(PARAMETERS "event_error_id", 0));
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", -ENODEV));
	EXPECT_EQ(-ENODEV, hold(fd, HYPTRACE_HOLD_TRACING, ids, NR_HELD));
	EXPECT_NOW(HYPTRACE_STATE_LOADED, false, false);
	/* Nothing is held: another hold makes the driver compute again what must be on. */
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", 0));
	ASSERT_EQ(0, hold(other, 0, ids, 1));
	EXPECT_NOW(HYPTRACE_STATE_LOADED, true, false);

	ASSERT_EQ(0, hold(fd, HYPTRACE_HOLD_TRACING, ids + 1, 1));
	ASSERT_EQ(0, hold(other, 0, NULL, 0));
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", -EIO));
	EXPECT_EQ(-EIO, hold(fd, 0, ids, 1));
	EXPECT_NOW(HYPTRACE_STATE_TRACING, false, true);
	/* A request that fails does not override the hold. */
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "event_error_id", ids[1]));
	EXPECT_EQ(-EIO, control_enable(&self->nl, REMOTE, "selftest", false));
	ASSERT_EQ(0, set_parameter(PARAMETERS "event_error_id", 0));
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", 0));
	ASSERT_EQ(0, hold(other, 0, NULL, 0));
	EXPECT_NOW(HYPTRACE_STATE_TRACING, false, true);
	close(fd);
	EXPECT_NOW(HYPTRACE_STATE_LOADED, false, false);
	/* A request that fails requests nothing. */
	ASSERT_EQ(0, set_parameter(PARAMETERS "event_error_id", ids[1]));
	EXPECT_EQ(-EIO, control_enable(&self->nl, REMOTE, "selftest", true));
	ASSERT_EQ(0, set_parameter(PARAMETERS "event_error_id", 0));
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", -EIO));
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", 0));
	ASSERT_EQ(0, hold(other, 0, NULL, 0));
	EXPECT_NOW(HYPTRACE_STATE_LOADED, false, false);
	close(other);
	EXPECT_NOW(HYPTRACE_STATE_UNLOADED, false, false);
}

/* Disabling the event fails, then stopping. The next detach does what has failed. */
TEST_F(faults, release_that_fails_half_way_is_logged_and_completed_later)
{
	const uint16_t id = control_event_id(&self->nl, REMOTE, "selftest");
	int kmsg = log_open();
	int fd = open_attached(REMOTE, 0, 0);

	ASSERT_LE(0, kmsg);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, hold(fd, HYPTRACE_HOLD_TRACING, &id, 1));
	ASSERT_EQ(0, set_parameter(PARAMETERS "event_error_id", id));
	EXPECT_FALSE(log_has(kmsg, "remote \"" REMOTE "\""));
	close(fd);
	EXPECT_NOW(HYPTRACE_STATE_UNLOADED, false, true);
	EXPECT_TRUE(log_has(kmsg, "failed to switch off what a consumer held (error 5)"));

	ASSERT_EQ(0, set_parameter(PARAMETERS "event_error_id", 0));
	fd = open_attached(REMOTE, 0, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, hold(fd, HYPTRACE_HOLD_TRACING, &id, 1));
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", -EIO));
	close(fd);
	EXPECT_NOW(HYPTRACE_STATE_TRACING, false, false);
	EXPECT_TRUE(log_has(kmsg, "failed to switch off what a consumer held (error 5)"));

	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", 0));
	fd = open_attached(REMOTE, 0, 0);
	ASSERT_LE(0, fd);
	close(fd);
	EXPECT_NOW(HYPTRACE_STATE_UNLOADED, false, false);
	EXPECT_FALSE(log_has(kmsg, "remote \"" REMOTE "\""));
	close(kmsg);
}

static int hold_by_socket(struct nl *nl, const char *event)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, event);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	nl_put(&msg, HYPTRACE_A_EVENT_HOLD, NULL, 0);
	return nl_do(nl, &msg, &answer);
}

TEST_F(faults, request_overrides_the_hold_of_its_events_only)
{
	struct nl own;

	ASSERT_EQ(0, nl_open(&own));
	ASSERT_EQ(0, hold_by_socket(&own, "hyp_enter"));
	ASSERT_EQ(0, hold_by_socket(&own, "hyp_exit"));
	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "hyp_enter", true));
	EXPECT_EQ(0, control(&own, HYPTRACE_CMD_EVENT_RELEASE, REMOTE));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "hyp_enter"));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, "hyp_exit"));
	nl_close(&own);
}

/* A release that fails releases nothing. After the end of the socket nobody can repeat it. */
TEST_F(faults, hold_that_cannot_be_undone_is_logged)
{
	const uint16_t other = control_event_id(&self->nl, REMOTE, "selftest");
	const struct filter_term term = FILTER_TERM("reason", EQ, 1);
	int kmsg = log_open(), fd = open_attached(REMOTE, 0, 0);
	struct nl own;

	ASSERT_LE(0, kmsg);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nl_open(&own));
	ASSERT_EQ(0, filter_enable(&self->nl, REMOTE, "hyp_enter", "reason==1", &term, 1));
	ASSERT_EQ(0, hold_by_socket(&own, "hyp_enter"));
	ASSERT_EQ(0, set_parameter(PARAMETERS "filter_error_id", self->enter));
	EXPECT_EQ(-EIO, control(&own, HYPTRACE_CMD_EVENT_RELEASE, REMOTE));
	EXPECT_STREQ("", filter_text(&self->nl, REMOTE, "hyp_enter"));
	ASSERT_EQ(0, hold(fd, 0, &other, 1));
	EXPECT_TRUE(control_is_enabled(&self->nl, REMOTE, "hyp_enter"));
	nl_close(&own);
	EXPECT_TRUE(log_gets(kmsg, "failed to restore events that process"));
	ASSERT_EQ(0, set_parameter(PARAMETERS "filter_error_id", 0));
	EXPECT_EQ(0, filter_enable(&self->nl, REMOTE, "hyp_enter", "reason==2", &term, 1));
	close(fd);
	close(kmsg);
}

/* A remote that gives a sub-buffer which the ring does not have is not believed. */
TEST_F(faults, swap_that_gives_no_sub_buffer_is_refused)
{
	int kmsg = log_open();
	static char data[PAGE_MAX];
	struct info info;
	int fd;

	ASSERT_LE(0, kmsg);
	ASSERT_EQ(0, set_parameter(PARAMETERS "swap_id", INT_MAX));
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(REMOTE, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, read(fd, data, sizeof(data)));
	EXPECT_EQ(EIO, errno);
	EXPECT_TRUE(log_has(kmsg, "the swap gave sub-buffer 2147483647"));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	ASSERT_EQ(0, set_parameter(PARAMETERS "swap_id", info.nr_subbufs));
	EXPECT_EQ(-1, read(fd, data, sizeof(data)));
	EXPECT_EQ(EIO, errno);
	close(fd);
	close(kmsg);
}

TEST_F(faults, remote_that_does_not_stop_keeps_its_rings)
{
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", -EIO));
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
	EXPECT_NOW(HYPTRACE_STATE_TRACING, false, true);
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", 0));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
	EXPECT_NOW(HYPTRACE_STATE_UNLOADED, false, true);
}

TEST_F(faults, remote_that_does_not_stop_is_unregistered)
{
	int kmsg = log_open();

	ASSERT_LE(0, kmsg);
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "tracing_error", -EIO));
	ASSERT_EQ(0, set_parameter(PARAMETERS "unregister", 1));
	EXPECT_TRUE(log_has(kmsg, "remote \"" REMOTE "\" failed to stop"));
	close(kmsg);
}

/* A record whose length exceeds the data ends the sub-buffer, which is delivered as it is. */
TEST_F(faults, malformed_records_are_logged)
{
	static char data[PAGE_MAX];
	int kmsg = log_open(), fd;

	ASSERT_LE(0, kmsg);
	ASSERT_EQ(0, set_parameter(PARAMETERS "swap_id", 0));
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SMALL, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, write_parameter(PARAMETERS "pages", "14,1b,3"));
	fd = open_attached(REMOTE, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	EXPECT_EQ(PAGE, read(fd, data, PAGE));
	EXPECT_TRUE(log_has(kmsg, "malformed record at byte 0 of sub-buffer 0"));
	close(fd);
	close(kmsg);
}

/* The descriptor stays attached to no remote. */
TEST_F(faults, calls_fail_after_the_remote_is_unregistered)
{
	const uint16_t id = control_event_id(&self->nl, REMOTE, "selftest");
	int fd = open_attached(REMOTE, 0, 0);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	void *map;
	char byte;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, hold(fd, HYPTRACE_HOLD_TRACING, &id, 1));
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	/* The attached descriptor keeps the module. */
	EXPECT_EQ(-EWOULDBLOCK, module_unload("hyptrace_faulty"));
	ASSERT_EQ(0, set_parameter(PARAMETERS "unregister", 1));
	EXPECT_EQ(-1, read(fd, &byte, 1));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(1, poll(&poll_fd, 1, 0));
	EXPECT_EQ(POLLERR | POLLHUP, poll_fd.revents);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-1, ioctl(fd, TRACE_MMAP_IOCTL_GET_READER));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(0, munmap(map, PAGE));
	EXPECT_EQ(-ENODEV, hold(fd, HYPTRACE_HOLD_TRACING, &id, 1));
	EXPECT_EQ(-ENODEV, hold(fd, 0, NULL, 0));
	EXPECT_EQ(0, module_unload("hyptrace_faulty"));
	EXPECT_EQ(-ENODEV, hold(fd, 0, NULL, 0));
	close(fd);
	EXPECT_EQ(0, module_load("hyptrace_faulty", ""));
}

TEST_HARNESS_MAIN
