// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ending on a signal what goes on for ever.
 *
 * The first SIGINT, SIGTERM or SIGHUP asks for the end. Calls that block are
 * interrupted, now and each second from then on, so that one that was begun just
 * after the signal does not block the end either. A pipe wakes poll().
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

/* Seconds from the signal until output that nobody takes is given up. */
#define ABANDON_SECONDS	1

volatile sig_atomic_t signals_stop;
volatile sig_atomic_t signals_abandon;

static int wake[2];

static void on_signal(int sig)
{
	int saved = errno;

	if (sig == SIGALRM || signals_stop)
		signals_abandon = 1;
	signals_stop = 1;
	alarm(ABANDON_SECONDS);
	/* when the pipe is full poll() wakes all the same */
	(void)!write(wake[1], "", 1);
	errno = saved;
}

/**
 * signals_catch - begin to catch signals
 *
 * Return: a descriptor that is readable once a signal has come; -1 with errno.
 */
int signals_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM };
	struct sigaction action = { .sa_handler = on_signal }, old;
	size_t i;

	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK))
		return -1;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* what was ignored from outside (nohup) stays so, but for what a shell's & does */
		if (sigaction(signals[i], NULL, &old))
			return -1;
		if (signals[i] == SIGHUP && old.sa_handler == SIG_IGN)
			continue;
		if (sigaction(signals[i], &action, NULL))
			return -1;
	}
	return wake[0];
}
