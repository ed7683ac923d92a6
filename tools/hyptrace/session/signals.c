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
#include <unistd.h>

#include "loop.h"

/* Seconds from the signal until a blocked write is given up */
#define ABANDON_SECONDS	1

volatile sig_atomic_t signals_stop;
volatile sig_atomic_t signals_abandon;
/* The user has sent more than one. */
static volatile sig_atomic_t is_urgent;

static int wake[2] = { -1, -1 };

static void on_signal(int sig)
{
	int saved = errno;

	if (sig != SIGALRM && signals_stop)
		is_urgent = 1;
	if (sig == SIGALRM || signals_stop)
		signals_abandon = 1;
	if (sig == SIGALRM)
		out_interrupt();
	if (!signals_stop)
		signals_stop = sig;
	alarm(ABANDON_SECONDS);
	/* an error is ignored: a full pipe wakes poll(), too */
	(void)!write(wake[1], "", 1);
	errno = saved;
}

/* What has taken long since the signal was no output that blocks: the second begins now. */
void signals_give_time(void)
{
	if (!signals_stop || is_urgent)
		return;
	alarm(ABANDON_SECONDS);
	signals_abandon = is_urgent;
}

/* Set what the signals of the user do. Return 0; -1 with errno. */
static int set_handler(void (*handler)(int sig))
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = handler }, old;
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* keep SIGHUP ignored (nohup); catch SIGINT even if a shell's & ignores it */
		if (sigaction(signals[i], NULL, &old))
			return -1;
		if (signals[i] == SIGHUP && old.sa_handler == SIG_IGN)
			continue;
		if (sigaction(signals[i], &action, NULL))
			return -1;
	}
	return 0;
}

/* Return a descriptor that is readable once a signal has arrived; -1 with errno. */
int signals_catch(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	if (wake[0] >= 0)
		return set_handler(on_signal) ? -1 : wake[0];
	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK))
		return -1;
	return set_handler(on_signal) || sigaction(SIGALRM, &action, NULL) ? -1 : wake[0];
}

/* The descriptor of signals_catch(); -1 before it. */
int signals_fd(void)
{
	return wake[0];
}

/* Choose what the user's signals do, after signals_catch(). */
void signals_end_program(bool end)
{
	set_handler(end ? SIG_DFL : on_signal);
}
