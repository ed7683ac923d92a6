// SPDX-License-Identifier: GPL-2.0-only
/*
 * End an endless verb on a signal.
 *
 * The first SIGINT, SIGTERM or SIGHUP requests the end. It interrupts a blocking call,
 * and so does a SIGALRM each second from then on: a call that began just after the
 * signal must not block the end. A pipe wakes poll().
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

/* Seconds from the signal until a blocked write is given up */
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
	/* an error is ignored: a full pipe wakes poll(), too */
	(void)!write(wake[1], "", 1);
	errno = saved;
}

/**
 * signals_catch - start to catch signals
 *
 * Return: a descriptor that is readable once a signal has arrived; -1 with errno.
 */
int signals_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM };
	struct sigaction action = { .sa_handler = on_signal }, old;
	size_t i;

	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK))
		return -1;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* keep SIGHUP ignored (nohup); catch SIGINT even if a shell's & ignores it */
		if (sigaction(signals[i], NULL, &old))
			return -1;
		if (signals[i] == SIGHUP && old.sa_handler == SIG_IGN)
			continue;
		if (sigaction(signals[i], &action, NULL))
			return -1;
	}
	return wake[0];
}
