// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let a pager print the output. Show on a terminal how much of a file was read; by a thread, so
 * that readers need not look at the clock. A message, which is longer, replaces the line.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/hyptrace_file.h"
#include "die.h"
#include "out.h"

#define PAGER_DEFAULT	"less"
/* less ends if the output fits on the screen, keeps colours, and does not clear the screen */
#define LESS_OPTIONS	"FRX"

/* Exit code of a shell that does not find its command */
#define NOT_FOUND	127

volatile sig_atomic_t pager_has_ended;

static pid_t pager;

static void on_child(int sig __attribute__((unused)))
{
	pager_has_ended = 1;
}

static __attribute__((noreturn)) void become(const char *name, int fd)
{
	dup2(fd, STDIN_FILENO);
	setenv("LESS", LESS_OPTIONS, 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execl("/bin/sh", "sh", "-c", name, (char *)NULL);
	_exit(NOT_FOUND);
}

/* If the standard output is a terminal */
void pager_begin(struct out *out)
{
	/* SIGCHLD also comes when the pager is stopped, unless that is disabled */
	const struct sigaction action = {
		.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP,
	};
	const char *name = getenv("HYPTRACE_PAGER") ?: getenv("PAGER") ?: PAGER_DEFAULT;
	int fds[2];

	if (!isatty(STDOUT_FILENO) || !*name || !strcmp(name, "cat") || pipe2(fds, O_CLOEXEC))
		return;
	sigaction(SIGCHLD, &action, NULL);
	pager = fork();
	if (!pager)
		become(name, fds[0]);
	close(fds[0]);
	if (pager < 0) {
		close(fds[1]);
		pager = 0;
		return;
	}
	/* Ctrl-C is for the pager: when that ends, so does the output */
	signal(SIGINT, SIG_IGN);
	out->fd = fds[1];
}

void pager_end(struct out *out)
{
	int status = 0;

	if (!pager)
		return;
	out_flush(out);
	close(out->fd);
	out->fd = STDOUT_FILENO;
	waitpid(pager, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		cmd_note("the pager could not be run: use --no-pager, or set PAGER");
	signal(SIGINT, SIG_DFL);
	pager = 0;
}

/* How much of a file was read */

/* The first line comes after four of these times. */
#define STEP_MSEC	250
#define FIRST_STEPS	4

static pthread_t thread;
static int ended = -1;		/* readable when the thread must end */
static bool is_running;
static const struct hyptrace_file *of;
static uint64_t start;

static void *show(void *arg)
{
	struct pollfd end = { .fd = ended, .events = POLLIN };
	uint64_t bytes, total;
	unsigned int steps = 0;

	while (!poll(&end, 1, STEP_MSEC)) {
		if (++steps < FIRST_STEPS)
			continue;
		hyptrace_file_progress(of, &bytes, &total);
		bytes -= start;
		dprintf(STDERR_FILENO, "\rhyptrace: %u %% read\r",
			bytes < total ? (unsigned int)(100.0 * bytes / total) : 99);
	}
	if (steps >= FIRST_STEPS)
		dprintf(STDERR_FILENO, "\r\033[K");
	return arg;
}

/* Show the progress from now on, if stderr is a terminal. */
void progress_begin(const struct hyptrace_file *file, bool wanted)
{
	sigset_t all, old;
	uint64_t total;

	if (!wanted || !isatty(STDERR_FILENO))
		return;
	of = file;
	hyptrace_file_progress(file, &start, &total);
	ended = eventfd(0, EFD_CLOEXEC);
	/* signals must interrupt the writes of the other thread */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	is_running = ended >= 0 && !pthread_create(&thread, NULL, show, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!is_running && ended >= 0)
		close(ended);
}

void progress_end(void)
{
	if (!is_running)
		return;
	eventfd_write(ended, 1);
	pthread_join(thread, NULL);
	close(ended);
	is_running = false;
}

bool is_stdout_file(void)
{
	struct stat st;

	return !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode);
}
