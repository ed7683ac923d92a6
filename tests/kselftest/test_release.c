// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that are killed while large rings are loaded, resized or unloaded: nothing is
 * left of it, and the next load finds the remote as it should be.
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

/* As a process of its own, which is killed after a while */
static bool killed_while(enum request request, const char *remote, unsigned int after_us)
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

/* It can be loaded, and what is written is there. */
static int works(struct nl *nl, const char *remote)
{
	struct counts counts;
	int err = control(nl, HYPTRACE_CMD_UNLOAD, remote) ?:
		  control_ready(nl, remote, SMALL, HYPTRACE_MODE_OVERWRITE) ?:
		  control_mark(nl, remote, 0, 0, 10) ?:
		  control_counts(nl, remote, 0, &counts);

	return err ?: counts.written == 10 && counts.unread == 10 ? 0 : -EIO;
}

TEST_F_TIMEOUT(release, load, PATIENCE_S)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
		ASSERT_TRUE(killed_while(LOAD, variant->remote, i * STEP_US));
		ASSERT_EQ(0, works(&self->nl, variant->remote));
	}
}

TEST_F_TIMEOUT(release, unload, PATIENCE_S)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
		ASSERT_EQ(0, control_load(&self->nl, variant->remote, LARGE,
					  HYPTRACE_MODE_OVERWRITE));
		ASSERT_TRUE(killed_while(UNLOAD, variant->remote, i * STEP_US));
		ASSERT_EQ(0, works(&self->nl, variant->remote));
	}
}

/* Whatever size it has then, the events that there were stay. */
TEST_F_TIMEOUT(release, resize, PATIENCE_S)
{
	struct counts counts;
	unsigned int i;

	/* from small to large, and from large to small, where what is given back is large */
	for (i = 0; i < 2 * ROUNDS; i++) {
		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, i % 2 ? LARGE : SMALL,
					   HYPTRACE_MODE_OVERWRITE));
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
		ASSERT_TRUE(killed_while(i % 2 ? SHRINK : GROW, variant->remote, i / 2 * STEP_US));
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
		EXPECT_EQ(10, counts.unread);
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
		ASSERT_EQ(0, works(&self->nl, variant->remote));
	}
}

TEST_HARNESS_MAIN
