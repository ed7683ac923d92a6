/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Child processes: one sends a request while the test waits, another waits while the
 * test goes on. The first needs kselftest_harness.h and remotes.h to be included before.
 */
#ifndef __WAITING_H
#define __WAITING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whatever a test expects happens within this time, also on a slow machine. */
#define SOON_MS		10000

/*
 * Ways to wait on a descriptor. A consumer of one CPU has them all, an observer those
 * from WAIT_POLL on.
 */
enum wait_kind {
	WAIT_READ,
	WAIT_GET_READER,
	WAIT_POLL,
	WAIT_EPOLL,
	WAIT_EPOLL_EDGE,
	NR_WAITS
};

extern const char * const wait_names[NR_WAITS];

pid_t waiter_start(enum wait_kind kind, int fd, int tell, char letter);
bool waiter_settle(pid_t child);
int set_latency(int fd, uint32_t latency_us);
int pin_to_cpu(unsigned int cpu);

#ifdef __REMOTES_H

/* Send the request from a child process, while the test waits. */
static __attribute__((unused)) pid_t request_later(struct nl *nl, const char *remote, uint8_t cmd)
{
	struct nl own;
	pid_t child = fork();

	if (child)
		return child;
	usleep(200 * 1000);
	if (nl_open(&own))
		_exit(1);
	if (cmd == HYPTRACE_CMD_MARK)
		_exit(control_mark(&own, remote, 0, 7, 1) ? 1 : 0);
	_exit(control(&own, cmd, remote) ? 1 : 0);
}

/* Expect that the child ends with exit code 0. */
static __attribute__((unused)) void wait_for(struct __test_metadata *_metadata, pid_t child)
{
	int status;

	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

#endif /* __REMOTES_H */

#endif /* __WAITING_H */
