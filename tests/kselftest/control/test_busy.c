// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that take long: load, resize, unload and mark. Meanwhile a family of generic netlink can
 * register, and other requests are answered, also those to the same remote that only read. The
 * module hyptrace_faulty makes the requests wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include <linux/genetlink.h>

#include "kselftest_harness.h"
#include "faulty.h"
#include "page.h"

static struct nl_answer answer;
static struct nl_msg msg;

FIXTURE_VARIANT(busy) {
	uint8_t	cmd;
	bool	is_loaded;
};

FAULTY_FIXTURE(busy);

FIXTURE_VARIANT_ADD(busy, load) { HYPTRACE_CMD_LOAD, false };
FIXTURE_VARIANT_ADD(busy, attach) { 0, false };
FIXTURE_VARIANT_ADD(busy, resize) { HYPTRACE_CMD_SET, true };
FIXTURE_VARIANT_ADD(busy, unload) { HYPTRACE_CMD_UNLOAD, true };
FIXTURE_VARIANT_ADD(busy, mark) { HYPTRACE_CMD_MARK, true };

static int request(uint8_t cmd)
{
	struct nl nl;
	int err = nl_open(&nl);

	if (err)
		return err;
	switch (cmd) {
	case 0:
		return open_attached(REMOTE, 0, 0) < 0;
	case HYPTRACE_CMD_SET:
		return control_set_size(&nl, REMOTE, 32 * PAGE);
	case HYPTRACE_CMD_MARK:
		return control_mark(&nl, REMOTE, 0, 1, 1);
	default:
		return control(&nl, cmd, REMOTE);
	}
}

/* Send a request from a new process. */
static pid_t begin(uint8_t cmd)
{
	pid_t child = fork();

	if (!child)
		_exit(request(cmd) != 0);
	return child;
}

static bool has_ended(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && !status;
}

/* Send a request to the family "nlctrl". */
static int look_up(struct nl *nl)
{
	nl_begin(&msg, nl, CTRL_CMD_GETFAMILY);
	msg.hdr.nlmsg_type = GENL_ID_CTRL;
	nl_put_str(&msg, CTRL_ATTR_FAMILY_NAME, HYPTRACE_FAMILY_NAME);
	return nl_do(nl, &msg, &answer);
}

/* If a family could not register, neither could anything below be answered. */
TEST_F(busy, others_do_not_wait_for_it)
{
	struct counts counts;
	struct info info;
	pid_t child, second;

	if (variant->is_loaded)
		ASSERT_EQ(0, control_ready(&self->nl, REMOTE, 16 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", STALL_LOAD | STALL_RELEASE));
	child = begin(variant->cmd);
	wait_until_stalled();
	/* It waits for the first one, unless that one is a mark. */
	second = begin(HYPTRACE_CMD_START);

	ASSERT_EQ(0, set_parameter(PARAMETERS "family", 1));
	EXPECT_EQ(0, look_up(&self->nl));
	while (get_parameter(PARAMETERS "family") != 1)
		usleep(1000);
	EXPECT_EQ(0, look_up(&self->nl));
	EXPECT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(0, control_counts(&self->nl, REMOTE, 0, &counts));
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_REMOTE_GET);
	EXPECT_EQ(0, nl_dump(&self->nl, &msg, &answer));
	EXPECT_TRUE(is_stalled());

	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", 0));
	EXPECT_TRUE(has_ended(child));
	EXPECT_TRUE(has_ended(second));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_RESET, REMOTE));
}

FAULTY_FIXTURE(exchange);

/* The remote moves the pages then. It has data all the time. */
TEST_F(exchange, nobody_looks_at_a_ring_meanwhile)
{
	struct pollfd poll_fd = { .events = POLLIN };
	pid_t child;

	ASSERT_EQ(0, set_parameter(PARAMETERS "swap_id", 0));
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, 16 * PAGE, HYPTRACE_MODE_OVERWRITE));
	poll_fd.fd = open_attached(REMOTE, 0, O_NONBLOCK);
	ASSERT_EQ(1, poll(&poll_fd, 1, 0));
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", STALL_EXCHANGE));
	child = begin(HYPTRACE_CMD_SET);
	wait_until_stalled();
	EXPECT_EQ(0, poll(&poll_fd, 1, 0));
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", 0));
	EXPECT_TRUE(has_ended(child));
	EXPECT_EQ(1, poll(&poll_fd, 1, 0));
	close(poll_fd.fd);
}

TEST_HARNESS_MAIN
