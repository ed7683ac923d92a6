// SPDX-License-Identifier: GPL-2.0-only
/* poll() and epoll of /dev/hyptrace: what they report, and when. */
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "waiting.h"

#define RING_SIZE	(64 * 1024)

REMOTE_FIXTURE(poll);

static char buffer[PAGE_MAX] __attribute__((aligned(8)));

static int ready(struct nl *nl, const char *remote)
{
	return control_ready(nl, remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE);
}

TEST_F(poll, reports_an_event)
{
	struct pollfd poll_fd = { .events = POLLIN };
	pid_t child;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	poll_fd.fd = open_attached(variant->remote, 0, 0);
	EXPECT_EQ(0, poll(&poll_fd, 1, 0));
	EXPECT_EQ(0, poll(&poll_fd, 1, 100));
	child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_MARK);
	EXPECT_EQ(1, poll(&poll_fd, 1, SOON_MS));
	EXPECT_EQ(POLLIN, poll_fd.revents);
	EXPECT_EQ(PAGE, read(poll_fd.fd, buffer, sizeof(buffer)));
	EXPECT_EQ(0, poll(&poll_fd, 1, 0));
	wait_for(_metadata, child);
	close(poll_fd.fd);
}

TEST_F(poll, reports_that_tracing_has_stopped)
{
	struct pollfd poll_fd = { .events = POLLIN };
	pid_t child;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	poll_fd.fd = open_attached(variant->remote, 0, 0);
	child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_STOP);
	EXPECT_EQ(1, poll(&poll_fd, 1, SOON_MS));
	EXPECT_EQ(POLLHUP, poll_fd.revents);
	wait_for(_metadata, child);
	close(poll_fd.fd);
}

TEST_F(poll, ignores_events_of_another_cpu)
{
	struct pollfd poll_fd = { .events = POLLIN };

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	poll_fd.fd = open_attached(variant->remote, 1, 0);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_EQ(0, poll(&poll_fd, 1, 100));
	close(poll_fd.fd);
	poll_fd.fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, 0);
	EXPECT_EQ(1, poll(&poll_fd, 1, SOON_MS));
	EXPECT_EQ(POLLIN, poll_fd.revents);
	close(poll_fd.fd);
}

TEST_F(poll, epoll_reports_each_event_and_the_stop)
{
	struct epoll_event event = { .events = EPOLLIN }, got;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	unsigned int round;
	pid_t child;
	int fd;

	ASSERT_LE(0, epoll_fd);
	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event));
	EXPECT_EQ(0, epoll_wait(epoll_fd, &got, 1, 0));
	/* Wait several times: the driver must start to poll the writer again each time. */
	for (round = 0; round < 3; round++) {
		child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_MARK);
		EXPECT_EQ(1, epoll_wait(epoll_fd, &got, 1, SOON_MS));
		EXPECT_EQ(EPOLLIN, got.events);
		/* level triggered */
		EXPECT_EQ(1, epoll_wait(epoll_fd, &got, 1, 0));
		EXPECT_EQ(PAGE, read(fd, buffer, sizeof(buffer)));
		EXPECT_EQ(0, epoll_wait(epoll_fd, &got, 1, 0));
		wait_for(_metadata, child);
	}
	child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_STOP);
	EXPECT_EQ(1, epoll_wait(epoll_fd, &got, 1, SOON_MS));
	EXPECT_EQ(EPOLLHUP, got.events);
	wait_for(_metadata, child);
	close(fd);
	close(epoll_fd);
}

TEST_F(poll, epoll_reports_each_event_edge_triggered)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET }, got;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	unsigned int round;
	pid_t child;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event));
	for (round = 0; round < 3; round++) {
		child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_MARK);
		EXPECT_EQ(1, epoll_wait(epoll_fd, &got, 1, SOON_MS));
		EXPECT_EQ(PAGE, read(fd, buffer, sizeof(buffer)));
		EXPECT_EQ(-1, read(fd, buffer, sizeof(buffer)));
		EXPECT_EQ(EAGAIN, errno);
		wait_for(_metadata, child);
	}
	close(fd);
	close(epoll_fd);
}

TEST_HARNESS_MAIN
