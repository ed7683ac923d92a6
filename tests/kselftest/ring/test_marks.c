// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mark request that takes long: a signal ends it with an answer, and requests to other
 * generic netlink families do not have to wait for it. Also several requests in one call.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <linux/genetlink.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"

#define SIZE		(64 << 10)
#define CPU		1
#define TRIES		10
#define PATIENCE_S	120

REMOTE_FIXTURE(marks);

static void ignore(int signal)
{
}

/* SA_RESTART: most programs restart system calls after a signal. */
TEST_F(marks, signal_ends_the_request_with_one_answer)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SIZE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &timer, NULL));
	EXPECT_EQ(-EINTR, control_mark(&self->nl, variant->remote, 0, 0,
				       HYPTRACE_MARK_COUNT_MAX));
	timer.it_interval.tv_usec = 0;
	timer.it_value.tv_usec = 0;
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &timer, NULL));
	/* A second answer to the interrupted request would be read here. */
	EXPECT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
}

/* Send a request to the family "nlctrl", which uses the lock of generic netlink. */
static int look_up(struct nl *nl)
{
	static struct nl_answer answer;
	static struct nl_msg msg;

	nl_begin(&msg, nl, CTRL_CMD_GETFAMILY);
	msg.hdr.nlmsg_type = GENL_ID_CTRL;
	nl_put_str(&msg, CTRL_ATTR_FAMILY_NAME, HYPTRACE_FAMILY_NAME);
	return nl_do(nl, &msg, &answer);
}

/* Read the ring. Return one more than the number of the newest event in it. */
static uint64_t read_to_newest(int fd, struct sequence *seq)
{
	static char page[64 << 10] __attribute__((aligned(8)));
	const long size = sysconf(_SC_PAGESIZE);
	unsigned int i;

	/* Read a ring's worth at most: the writer may be faster than this loop. */
	for (i = 0; i < 2 * SIZE / size + 2 && read(fd, page, size) == size; i++)
		sequence_feed(seq, page, size);
	return seq->next;
}

/*
 * A request to another family must be answered before the marks are all written. Try
 * several times: on a busy machine the marks may be written before the request is sent.
 */
TEST_F_TIMEOUT(marks, other_families_answer_during_a_long_request, PATIENCE_S)
{
	uint64_t end = HYPTRACE_MARK_COUNT_MAX;
	unsigned int round;
	pid_t child;
	int fd;

	for (round = 0; round < TRIES && end == HYPTRACE_MARK_COUNT_MAX; round++) {
		struct sequence seq = { };

		seq.event = control_event_id(&self->nl, variant->remote, "selftest");
		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SIZE,
					   HYPTRACE_MODE_OVERWRITE));
		fd = open_attached(variant->remote, CPU, O_NONBLOCK);
		ASSERT_LE(0, fd);
		child = fork();
		if (!child) {
			struct nl own;

			_exit(nl_open(&own) || control_mark(&own, variant->remote, CPU, 0,
							    HYPTRACE_MARK_COUNT_MAX));
		}
		while (!read_to_newest(fd, &seq))
			;
		ASSERT_EQ(0, look_up(&self->nl));
		end = read_to_newest(fd, &seq);
		TH_LOG("answered after %llu of %u events", (unsigned long long)end,
		       HYPTRACE_MARK_COUNT_MAX);
		EXPECT_EQ(child, waitpid(child, NULL, 0));
		close(fd);
	}
	EXPECT_GT(HYPTRACE_MARK_COUNT_MAX, end);
}

/* Requests of one call are run in their order, and each is answered once. */
TEST_F(marks, requests_of_one_call_are_run_in_their_order)
{
	static const uint8_t cmds[] = { HYPTRACE_CMD_LOAD, HYPTRACE_CMD_START, HYPTRACE_CMD_STOP,
					HYPTRACE_CMD_START, HYPTRACE_CMD_UNLOAD };
	static char bytes[ARRAY_SIZE(cmds) * 64];
	static struct nl_msg msg;
	char answer[512];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		nl_begin(&msg, &self->nl, cmds[i]);
		nl_put_str(&msg, HYPTRACE_A_CONTROL_REMOTE, variant->remote);
		msg.hdr.nlmsg_seq = 1000 + i;
		msg.hdr.nlmsg_flags |= NLM_F_ACK;
		memcpy(bytes + len, &msg, msg.hdr.nlmsg_len);
		len += NLMSG_ALIGN(msg.hdr.nlmsg_len);
	}
	ASSERT_EQ(len, send(self->nl.fd, bytes, len, 0));
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		const struct nlmsghdr *hdr = (void *)answer;

		ASSERT_LT(0, recv(self->nl.fd, answer, sizeof(answer), 0));
		EXPECT_EQ(1000 + i, hdr->nlmsg_seq);
		EXPECT_EQ(0, ((struct nlmsgerr *)NLMSG_DATA(hdr))->error);
	}
}

TEST_HARNESS_MAIN
