// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first SIGINT, SIGTERM or SIGHUP requests the end. It interrupts a blocking call, and so does
 * a SIGALRM each second from then on: a call that began just after the signal must not block the
 * end. A pipe wakes poll().
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>

#include "output/clock.h"
#include "output/die.h"
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

	if (wake[0] < 0 && pipe2(wake, O_CLOEXEC | O_NONBLOCK))
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

enum {
	EVENTS,
	SIGNAL,
	OUTPUT,
	NOTIFICATION,
	CHILD,
	INPUT,
	NR_FDS
};

/* Take the notifications that have arrived. Return LOOP_WAIT or an exit code. */
int loop_listen(struct loop *l)
{
	struct hyptrace_error err;
	bool lost = false;
	int ret;

	/* after a loss there may be more of them */
	while ((ret = hyptrace_listener_read(l->listener, l->ops->hear, l, &err)) == -ENOBUFS)
		lost = true;
	if (ret < 0)
		return cmd_fail("cannot read the notifications: %s", err.text);
	if (ret)
		return EXIT_DONE;
	return l->ops->heard ? l->ops->heard(l, lost) : LOOP_WAIT;
}

static int msec_until(uint64_t until, uint64_t now)
{
	if (until == UINT64_MAX)
		return -1;
	if (until <= now)
		return 0;
	until = (until - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return until < INT_MAX ? until : INT_MAX;
}

/* Wait until a time, or until something happens. Return LOOP_WAIT or an exit code. */
static int wait_until(struct loop *l, uint64_t until)
{
	const bool ended = l->has_ended;
	/* poll() ignores a negative one: once the end is requested, these stay readable */
	struct pollfd fds[NR_FDS] = {
		[EVENTS] = { .fd = l->fd, .events = POLLIN },
		[SIGNAL] = { .fd = ended ? -1 : signals_fd(), .events = POLLIN },
		/* an error or a hang-up: nobody reads the output any more */
		[OUTPUT] = { .fd = l->ignores_output ? -1 : l->ctx->out.fd },
		[NOTIFICATION] = { .fd = l->listener ? hyptrace_listener_fd(l->listener) : -1,
				   .events = POLLIN },
		[CHILD] = { .fd = l->child && !ended ? l->child->pidfd : -1, .events = POLLIN },
		[INPUT] = { .fd = ended ? -1 : l->input_fd, .events = POLLIN },
	};
	int ret = poll(fds, NR_FDS, until ? msec_until(until, clock_now(CLOCK_MONOTONIC)) : 0);

	if (ret < 0 && errno != EINTR)
		return cmd_fail("cannot wait: %s", strerror(errno));
	if (ret <= 0)
		return LOOP_WAIT;
	if (fds[OUTPUT].revents & (POLLERR | POLLHUP | POLLNVAL))
		return EXIT_DONE;
	if (fds[CHILD].revents)
		l->is_over = true;
	if (fds[INPUT].revents)
		l->ops->input(l);
	return fds[NOTIFICATION].revents ? loop_listen(l) : LOOP_WAIT;
}

/* Request the end if it is time. Return LOOP_WAIT or an exit code. */
static int check_end(struct loop *l)
{
	if (l->has_ended)
		return LOOP_WAIT;
	if (!signals_stop && !l->is_over &&
	    (l->deadline == UINT64_MAX || clock_now(CLOCK_MONOTONIC) < l->deadline))
		return LOOP_WAIT;
	l->has_ended = true;
	return l->ops->stop && l->ops->stop(l) ? LOOP_WAIT : EXIT_DONE;
}

int loop_run(struct loop *l)
{
	uint64_t next = UINT64_MAX;
	int ret = LOOP_AGAIN;

	if (l->duration)
		l->deadline = clock_now(CLOCK_MONOTONIC) + l->duration;
	while (!signals_abandon) {
		ret = l->ops->take ? l->ops->take(l) : LOOP_WAIT;
		if (ret >= 0)
			return ret;
		if (l->ops->tick)
			next = l->ops->tick(l, clock_now(CLOCK_MONOTONIC));
		if (ret == LOOP_WAIT)
			out_flush(&l->ctx->out);
		if (l->ctx->out.error)
			break;
		if (next > l->deadline && !l->has_ended)
			next = l->deadline;
		if (l->is_over || signals_stop)
			next = 0;
		ret = wait_until(l, ret == LOOP_WAIT ? next : 0);
		if (ret == LOOP_WAIT)
			ret = check_end(l);
		if (ret >= 0)
			return ret;
	}
	return EXIT_DONE;
}
