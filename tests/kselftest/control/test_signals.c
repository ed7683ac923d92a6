// SPDX-License-Identifier: GPL-2.0-only
/*
 * A signal for a process that waits until another one has read a file, used a ring, changed a
 * remote or released its rings, and an attachment to a remote whose module ends meanwhile. The
 * module hyptrace_faulty makes the others take long.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "faulty.h"
#include "page.h"

#define FIRST		100	/* bytes of a sub-buffer that are read at first */
#define PATIENCE_MS	20000

static char data[3 * PAGE_MAX];
static int fd;

FAULTY_FIXTURE(signals);

static void on_signal(int number)
{
}

/* Have a new process do that. It exits with 0 or an errno, or with 255 if it succeeds wrongly. */
static pid_t begin(int (*act)(void))
{
	const struct sigaction action = { .sa_handler = on_signal };
	pid_t child = fork();

	if (!child) {
		sigaction(SIGUSR1, &action, NULL);
		_exit(act());
	}
	return child;
}

static int ask_counts(void)
{
	struct counts counts;
	struct nl nl;

	return -(nl_open(&nl) ?: control_counts(&nl, REMOTE, 0, &counts));
}

static int load(void)
{
	struct nl nl;

	return -(nl_open(&nl) ?: control_load(&nl, REMOTE, 16 * PAGE, HYPTRACE_MODE_OVERWRITE));
}

static int start(void)
{
	struct nl nl;

	return -(nl_open(&nl) ?: control(&nl, HYPTRACE_CMD_START, REMOTE));
}

static int unload(void)
{
	struct nl nl;

	return -(nl_open(&nl) ?: control(&nl, HYPTRACE_CMD_UNLOAD, REMOTE));
}

static int attach_cpu(void)
{
	fd = open_attached(REMOTE, 0, 0);
	return fd < 0 ? -fd : 0;
}

static int read_file(void)
{
	return read(fd, data, PAGE) < 0 ? errno : 255;
}

static int read_rest(void)
{
	return read(fd, data, sizeof(data)) == PAGE - FIRST ? 0 : 255;
}

static int end_module(void)
{
	return -module_unload("hyptrace_faulty");
}

/* Give a process time to reach its wait: S if any signal ends it, D if only SIGKILL does. */
static bool is_waiting(pid_t pid, char expected)
{
	char path[32], text[PARAMETER_SIZE], state = 0;
	unsigned int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (i = 0; i < PATIENCE_MS && state != expected; i++) {
		usleep(1000);
		if (sscanf(read_parameter(path, text), "%*d (%*[^)]) %c", &state) != 1)
			return false;
	}
	return state == expected;
}

/* Return what the process exits with, or minus the signal that has ended it. */
static int end_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return 255;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* The first one waits for the ring, whose counts are asked for, the second one for the first. */
TEST_F(signals, interrupts_readers_of_one_file)
{
	pid_t asking, first, second;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, 16 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, attach_cpu());
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", STALL_SYNC));
	asking = begin(ask_counts);
	wait_until_stalled();
	first = begin(read_file);
	ASSERT_TRUE(is_waiting(first, 'S'));
	second = begin(read_file);
	ASSERT_TRUE(is_waiting(second, 'S'));

	kill(second, SIGUSR1);
	EXPECT_EQ(EINTR, end_of(second));
	kill(first, SIGUSR1);
	EXPECT_EQ(EINTR, end_of(first));
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", 0));
	EXPECT_EQ(0, end_of(asking));
	close(fd);
}

/* It has the rest of a sub-buffer, and waits for the next one. */
TEST_F(signals, ends_a_read_with_what_it_has)
{
	pid_t asking, reading;

	ASSERT_EQ(0, set_parameter(PARAMETERS "swap_id", 0));
	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, 16 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, write_parameter(PARAMETERS "pages", "14,4,65535"));
	ASSERT_EQ(0, attach_cpu());
	ASSERT_EQ(FIRST, read(fd, data, FIRST));
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", STALL_SYNC));
	asking = begin(ask_counts);
	wait_until_stalled();
	reading = begin(read_rest);
	ASSERT_TRUE(is_waiting(reading, 'S'));

	kill(reading, SIGUSR1);
	EXPECT_EQ(0, end_of(reading));
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", 0));
	EXPECT_EQ(0, end_of(asking));
	close(fd);
}

TEST_F(signals, kills_who_waits_to_attach)
{
	pid_t loading, attaching;
	struct info info;

	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", STALL_LOAD));
	loading = begin(load);
	wait_until_stalled();
	attaching = begin(attach_cpu);
	ASSERT_TRUE(is_waiting(attaching, 'D'));

	kill(attaching, SIGKILL);
	EXPECT_EQ(-SIGKILL, end_of(attaching));
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", 0));
	EXPECT_EQ(0, end_of(loading));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(HYPTRACE_STATE_LOADED, info.state);
	EXPECT_EQ(0, info.readers);
}

/* Who has asked for the release was killed, too: it goes on. */
TEST_F(signals, kills_who_waits_to_start)
{
	pid_t unloading, starting;
	struct info info;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, 16 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", STALL_RELEASE));
	unloading = begin(unload);
	wait_until_stalled();
	kill(unloading, SIGKILL);
	EXPECT_EQ(-SIGKILL, end_of(unloading));
	starting = begin(start);
	ASSERT_TRUE(is_waiting(starting, 'D'));

	kill(starting, SIGKILL);
	EXPECT_EQ(-SIGKILL, end_of(starting));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, info.state);
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", 0));
	EXPECT_EQ(0, control_ready(&self->nl, REMOTE, 16 * PAGE, HYPTRACE_MODE_OVERWRITE));
}

TEST_F(signals, nobody_attaches_while_the_module_ends)
{
	pid_t ending;

	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", STALL_EXIT));
	nl_close(&self->nl);
	ending = begin(end_module);
	wait_until_stalled();
	EXPECT_EQ(ENODEV, attach_cpu());
	ASSERT_EQ(0, set_parameter(PARAMETERS "stall", 0));
	EXPECT_EQ(0, end_of(ending));
	ASSERT_EQ(0, module_load("hyptrace_faulty", ""));
	ASSERT_EQ(0, nl_open(&self->nl));
}

TEST_HARNESS_MAIN
