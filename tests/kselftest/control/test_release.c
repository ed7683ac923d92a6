// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kill a process while it loads, resizes or unloads large rings. The request must be
 * undone or completed: afterwards the remote can be loaded again and works.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"

#define LARGE		(24UL << 20)
#define SMALL		(64UL << 10)
#define ROUNDS		6
#define STEP_US		4000
#define PATIENCE_S	180

REMOTE_FIXTURE(release);

enum request { LOAD, GROW, SHRINK, UNLOAD };

/* Send the request from a child process, and kill the child after @after_us. */
static bool kill_during(enum request request, const char *remote, unsigned int after_us)
{
	pid_t child = fork();
	struct nl nl;
	int status;

	if (!child) {
		if (nl_open(&nl))
			_exit(1);
		if (request == LOAD)
			control_load(&nl, remote, LARGE, HYPTRACE_MODE_OVERWRITE);
		else if (request != UNLOAD)
			control_set_size(&nl, remote, request == GROW ? LARGE : SMALL);
		else
			control(&nl, HYPTRACE_CMD_UNLOAD, remote);
		pause();
	}
	usleep(after_us);
	kill(child, SIGKILL);
	return waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

/* Load the remote, write events, find them unread. Return 0 or a negative errno. */
static int check_works(struct nl *nl, const char *remote)
{
	struct counts counts;
	int err = control(nl, HYPTRACE_CMD_UNLOAD, remote) ?:
		  control_ready(nl, remote, SMALL, HYPTRACE_MODE_OVERWRITE) ?:
		  control_mark(nl, remote, 0, 0, 10) ?:
		  control_counts(nl, remote, 0, &counts);

	return err ?: counts.written == 10 && counts.unread == 10 ? 0 : -EIO;
}

TEST_F_TIMEOUT(release, remote_works_after_a_killed_load, PATIENCE_S)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
		ASSERT_TRUE(kill_during(LOAD, variant->remote, i * STEP_US));
		ASSERT_EQ(0, check_works(&self->nl, variant->remote));
	}
}

TEST_F_TIMEOUT(release, remote_works_after_a_killed_unload, PATIENCE_S)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
		ASSERT_EQ(0, control_load(&self->nl, variant->remote, LARGE,
					  HYPTRACE_MODE_OVERWRITE));
		ASSERT_TRUE(kill_during(UNLOAD, variant->remote, i * STEP_US));
		ASSERT_EQ(0, check_works(&self->nl, variant->remote));
	}
}

/* The ring has the old or the new size, and keeps its events. */
TEST_F_TIMEOUT(release, remote_works_after_a_killed_resize, PATIENCE_S)
{
	struct counts counts;
	unsigned int i;

	/* Grow and shrink in turn: shrinking must release a large ring. */
	for (i = 0; i < 2 * ROUNDS; i++) {
		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, i % 2 ? LARGE : SMALL,
					   HYPTRACE_MODE_OVERWRITE));
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
		ASSERT_TRUE(kill_during(i % 2 ? SHRINK : GROW, variant->remote, i / 2 * STEP_US));
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
		EXPECT_EQ(10, counts.unread);
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
		ASSERT_EQ(0, check_works(&self->nl, variant->remote));
	}
}

TEST_HARNESS_MAIN
