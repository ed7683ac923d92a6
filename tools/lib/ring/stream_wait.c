// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wait for the events of a stream, through one descriptor. For stream.c.
 *
 * The descriptor is an epoll set of a timer and, once the caller has asked for it, of the rings,
 * all of them edge-triggered. An event that is held back to keep the order stays in its ring, but
 * its edge is taken, so the descriptor is not readable because of it. The driver also wakes a
 * ring's waiters when tracing is started again.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "stream.h"

/*
 * A wait takes at least 1/TOGETHER_PART of the bound, so that events that are due at nearly
 * the same time share it.
 */
#define TOGETHER_PART	8

/* Edges to take at once; those that are left make the descriptor readable again. */
#define MAX_EDGES	64

static int add(struct hyptrace_stream *s, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event);
}

/*
 * Make the descriptor. Return 0 or a negative errno; the caller calls hyptrace_stream_wait_close()
 * in any case.
 */
int hyptrace_stream_wait_open(struct hyptrace_stream *s, struct hyptrace_error *err)
{
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epoll >= 0 && s->timer >= 0 && !add(s, s->timer))
		return 0;
	return hyptrace_error_set(err, errno, "cannot wait for events: %s", strerror(errno));
}

/**
 * hyptrace_stream_fd - get a descriptor for poll() or epoll
 * @s:		the stream, started
 *
 * When hyptrace_stream_next() has returned 0, the descriptor becomes readable once there may
 * be an event. It must not be read. The driver looks for events in the rings from the first call
 * on: a caller that looks at times of its own does not need that.
 *
 * Return: the descriptor; it is closed when the stream has ended.
 */
int hyptrace_stream_fd(struct hyptrace_stream *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_sources && !s->watched && !s->watch_errno && s->epoll >= 0; i++)
		if (add(s, hyptrace_reader_fd(s->sources[i].reader)))
			s->watch_errno = errno;
	s->watched = true;
	return s->epoll;
}

void hyptrace_stream_wait_close(struct hyptrace_stream *s)
{
	if (s->timer >= 0)
		close(s->timer);
	if (s->epoll >= 0)
		close(s->epoll);
	s->timer = -1;
	s->epoll = -1;
}

/* Return when to wake at the latest, by CLOCK_BOOTTIME in ns; UINT64_MAX is never. */
static uint64_t wake_time(const struct hyptrace_stream *s)
{
	uint64_t due = hyptrace_merge_due(s->merge), now = hyptrace_stream_now();
	uint64_t together = now + s->bound / TOGETHER_PART;

	return due < together ? together : due;
}

/* Let the descriptor become readable when the next event is due. */
void hyptrace_stream_wait_begin(struct hyptrace_stream *s)
{
	uint64_t at = wake_time(s);
	const struct itimerspec when = {
		.it_value.tv_sec = at / NSEC_PER_SEC,
		.it_value.tv_nsec = at % NSEC_PER_SEC,
	};

	/* nothing is due: an older timer that still runs wakes once too often at most */
	if (at != UINT64_MAX)
		timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &when, NULL);
	s->waiting = true;
}

/* Take the edges, before the rings are read. */
void hyptrace_stream_wait_end(struct hyptrace_stream *s)
{
	struct epoll_event edges[MAX_EDGES];

	epoll_wait(s->epoll, edges, MAX_EDGES, 0);
}
