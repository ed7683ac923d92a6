// SPDX-License-Identifier: GPL-2.0-only
/* The rings of a stream: attach to them, read and decode them, wait for them. For stream.c. */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "stream.h"

/*
 * The latency of the rings: after this time at most poll() reports an event. It takes at
 * most this part of the bound for the order, which also has to cover TOGETHER_PART.
 */
#define LATENCY_USEC	3000
#define LATENCY_PART	3

/* Bytes to read at once from a ring, unless a sub-buffer is larger */
#define READ_SIZE	(64 << 10)

/* Bytes of the smallest record: a header, and an event id that is rounded up */
#define RECORD_MIN	8

static void blame(const struct hyptrace_stream *s, unsigned int cpu, struct hyptrace_error *err)
{
	hyptrace_error_subject(err, "CPU %u of \"%s\"", cpu, s->remote->name);
}

/* Name the process that is reading the ring of a CPU, if it still is. */
static void name_consumer(struct hyptrace_stream *s, unsigned int cpu, struct hyptrace_error *err)
{
	struct hyptrace_cpu *found;
	char name[HYPTRACE_PROCESS_NAME_SIZE];
	uint32_t pid;

	if (hyptrace_get_cpu(s->h, s->remote->name, cpu, &found, NULL))
		return;
	pid = found->consumer;
	hyptrace_free_cpu(found);
	if (pid)
		hyptrace_error_set(err, EBUSY, "%s is reading it",
				   hyptrace_process_name(pid, name));
}

static uint32_t latency(uint64_t bound)
{
	uint64_t usec = bound / LATENCY_PART / NSEC_PER_USEC;

	return MAX(MIN(usec, LATENCY_USEC), HYPTRACE_LATENCY_MIN_US);
}

static void close_source(struct stream_source *src)
{
	hyptrace_reader_close(src->reader);
	free(src->buf);
	src->reader = NULL;
	src->buf = NULL;
}

int hyptrace_source_open(struct hyptrace_stream *s, unsigned int cpu, struct hyptrace_error *err)
{
	struct stream_source *src = &s->sources[s->nr_sources];
	uint32_t subbuf;
	int ret;

	src->reader = hyptrace_reader_open_on(s->h, s->remote->name, cpu, O_NONBLOCK, err);
	if (!src->reader) {
		if (err->errnum == EBUSY)
			name_consumer(s, cpu, err);
		blame(s, cpu, err);
		return -err->errnum;
	}

	src->event.cpu = cpu;
	ret = hyptrace_reader_watermark(src->reader, latency(s->options.bound), 0, err);
	if (ret)
		blame(s, cpu, err);
	subbuf = src->reader->subbuf_size;
	src->size = MAX(READ_SIZE - READ_SIZE % subbuf, subbuf);
	src->buf = malloc(src->size);
	if (!ret && !src->buf)
		ret = hyptrace_error_memory(err);
	if (ret)
		close_source(src);
	s->nr_sources += !ret;
	return ret;
}

/* Return 1, 0 if nothing is left, -EBADMSG if a sub-buffer is damaged: other events are lost. */
int hyptrace_source_next(struct stream_source *src, struct hyptrace_error *err)
{
	const size_t subbuf = src->reader->subbuf_size;
	int ret = hyptrace_decoder_next(&src->dec, &src->event.record, err);

	while (!ret && src->len - src->pos >= subbuf) {
		ret = hyptrace_decoder_load(&src->dec, src->buf + src->pos, subbuf, err);
		src->pos += subbuf;
		if (!ret)
			ret = hyptrace_decoder_next(&src->dec, &src->event.record, err);
	}
	if (ret < 0)
		src->damaged = true;
	if (ret > 0 && src->damaged) {
		src->event.record.lost = HYPTRACE_LOST_UNKNOWN;
		src->damaged = false;
	}
	return ret;
}

/* Return how much to read: consume as few events as possible that are not delivered. */
static size_t read_size(const struct hyptrace_stream *s, const struct stream_source *src)
{
	const size_t subbuf = src->reader->subbuf_size;
	size_t size;

	if (!s->options.limit)
		return src->size;
	/* a sub-buffer holds at most subbuf / RECORD_MIN events */
	size = s->left / s->nr_sources / (subbuf / RECORD_MIN) * subbuf;
	return MIN(MAX(size, subbuf), src->size);
}

/* Return 1; 0 if the ring is empty, and src->asleep if tracing is off, too; or a negative errno. */
int hyptrace_source_read(struct hyptrace_stream *s, struct stream_source *src,
			 struct hyptrace_error *err)
{
	bool was_draining;
	ssize_t n;
	int ret;

	do {
		src->asked = hyptrace_now(CLOCK_BOOTTIME);
		n = read(hyptrace_reader_fd(src->reader), src->buf, read_size(s, src));
		was_draining = src->draining;
		src->draining &= n >= 0 || errno == EINTR;
		/* the driver may have ended a loop of reads, though the ring has more */
	} while (n < 0 && (errno == EINTR || (errno == EAGAIN && was_draining)));

	if (n < 0 && errno != EAGAIN) {
		ret = hyptrace_error_set(err, errno, "%m");
		blame(s, src->event.cpu, err);
		return ret;
	}
	src->asleep = !n;
	if (n <= 0)
		return 0;
	src->draining = true;
	src->len = n;
	src->pos = 0;
	if (!s->options.tap)
		return 1;
	return s->options.tap(src->event.cpu, src->buf, n, s->options.tap_arg, err) ?: 1;
}

/*
 * The caller waits with an epoll set of a timer and, once it has asked for the descriptor, of the
 * rings, all of them edge-triggered. The edge of an event that is held back to keep the order is
 * taken, so the descriptor is not readable because of it. The driver also wakes a ring's waiters
 * when tracing is started again.
 */

/* A wait takes at least this part of the bound: events due at nearly the same time share it. */
#define TOGETHER_PART	8

static int add(struct hyptrace_stream *s, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* Make the descriptor. After a failure, too, the caller calls hyptrace_stream_detach(). */
int hyptrace_stream_wait_open(struct hyptrace_stream *s, struct hyptrace_error *err)
{
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epoll >= 0 && s->timer >= 0 && !add(s, s->timer))
		return 0;
	return hyptrace_error_set(err, errno, "cannot wait for events: %m");
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
		if (add(s, s->sources[i].reader->fd))
			s->watch_errno = errno;
	s->watched = true;
	return s->epoll;
}

void hyptrace_stream_detach(struct hyptrace_stream *s)
{
	unsigned int i;

	if (s->timer >= 0)
		close(s->timer);
	if (s->epoll >= 0)
		close(s->epoll);
	s->timer = -1;
	s->epoll = -1;
	for (i = 0; i < s->nr_sources; i++)
		close_source(&s->sources[i]);
}

void hyptrace_stream_wait_begin(struct hyptrace_stream *s)
{
	const uint64_t together = hyptrace_now(CLOCK_BOOTTIME) + s->options.bound / TOGETHER_PART;
	const uint64_t due = hyptrace_merge_due(s->merge), at = MAX(due, together);
	const struct itimerspec when = {
		.it_value.tv_sec = at / NSEC_PER_SEC,
		.it_value.tv_nsec = at % NSEC_PER_SEC,
	};

	/* nothing is due: an older timer that still runs wakes once too often at most */
	if (at != UINT64_MAX)
		timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &when, NULL);
	s->waiting = true;
}
