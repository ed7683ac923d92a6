/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Something that happens while a test waits. To be included after remotes.h.
 */
#ifndef __WAITING_H
#define __WAITING_H

#include <sys/wait.h>
#include <unistd.h>

/* Long enough for anything that does happen, on a slow machine too */
#define SOON_MS		10000

/* Run in a child: something that happens while the test waits */
static __attribute__((unused)) pid_t later(struct nl *nl, const char *remote, uint8_t cmd)
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

static __attribute__((unused)) void wait_for(struct __test_metadata *_metadata, pid_t child)
{
	int status;

	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

#endif /* __WAITING_H */
