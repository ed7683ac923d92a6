// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show on a terminal how much of a file was read. A thread prints, so that readers need not look at
 * the clock. The cursor stays at the begin of the line: a message, which is longer, replaces it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/hyptrace_file.h"
#include "clock.h"
#include "out.h"

/* The first line comes after four of these times. */
#define STEP_NSEC	250000000
#define FIRST_STEPS	4

static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static bool is_running, is_ending;
static const struct hyptrace_file *of;
static uint64_t start;

static void print_line(void)
{
	uint64_t bytes, total;

	hyptrace_file_progress(of, &bytes, &total);
	bytes -= start;
	dprintf(STDERR_FILENO, "\rhyptrace: %u %% read\r",
		bytes < total ? (unsigned int)(100.0 * bytes / total) : 99);
}

static void *show(void *arg)
{
	struct timespec at;
	unsigned int steps = 0;

	clock_gettime(CLOCK_REALTIME, &at);
	pthread_mutex_lock(&lock);
	while (!is_ending) {
		at.tv_nsec += STEP_NSEC;
		at.tv_sec += at.tv_nsec / NSEC_PER_SEC;
		at.tv_nsec %= NSEC_PER_SEC;
		while (!is_ending && !pthread_cond_timedwait(&ended, &lock, &at))
			;
		if (!is_ending && ++steps >= FIRST_STEPS)
			print_line();
	}
	pthread_mutex_unlock(&lock);
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
	is_ending = false;
	/* signals must interrupt the writes of the other thread */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	is_running = !pthread_create(&thread, NULL, show, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void progress_end(void)
{
	if (!is_running)
		return;
	pthread_mutex_lock(&lock);
	is_ending = true;
	pthread_cond_signal(&ended);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	is_running = false;
}

bool is_stdout_file(void)
{
	struct stat st;

	return !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode);
}
