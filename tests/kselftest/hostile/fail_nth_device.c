// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls of the device that fail for lack of memory, or in a copy from or to user space. The
 * errnos are those of uapi/linux/hyptrace.h. Whatever fails, no event is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/hyptrace.h>

#include "control.h"
#include "fail_nth.h"
#include "page.h"
#include "subbuf.h"

#define NR_SUBBUFS	8
#define RING_SIZE	(NR_SUBBUFS * PAGE)
#define MAP_SIZE	((NR_SUBBUFS + 2) * PAGE)
#define NR_MARKS	(3 * PER_SUBBUF + 5)

#define NR_HELD		2

static uint16_t held[NR_HELD];
static char buffer[(NR_SUBBUFS + 1) * PAGE_MAX] __attribute__((aligned(8)));

static int errno_of(int ret)
{
	return ret < 0 ? -errno : ret;
}

static int prepare_unloaded(struct fail_nth *f)
{
	return 0;
}

static int prepare_opened(struct fail_nth *f)
{
	f->fd = open(DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return f->fd < 0 ? -errno : 0;
}

static int prepare_loaded(struct fail_nth *f)
{
	return control_load(f->nl, f->remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE) ?:
	       prepare_opened(f);
}

static int prepare_attached(struct fail_nth *f)
{
	held[0] = control_event_id(f->nl, f->remote, "hyp_enter");
	held[1] = control_event_id(f->nl, f->remote, "selftest");
	return prepare_loaded(f) ?: attach(f->fd, f->remote, 0, NULL);
}

/* There are marks on CPU 0. */
static int prepare_marked(struct fail_nth *f)
{
	return control_ready(f->nl, f->remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE) ?:
	       control_mark(f->nl, f->remote, 0, 0, NR_MARKS) ?: prepare_opened(f) ?:
	       attach(f->fd, f->remote, 0, NULL);
}

static int prepare_all(struct fail_nth *f)
{
	return control_ready(f->nl, f->remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE) ?:
	       control_mark(f->nl, f->remote, 0, 0, NR_MARKS) ?: prepare_opened(f) ?:
	       attach(f->fd, f->remote, HYPTRACE_CPU_ALL, NULL);
}

static int prepare_pipe(struct fail_nth *f)
{
	return prepare_marked(f) ?: errno_of(pipe(f->pipes));
}

static int prepare_epoll(struct fail_nth *f)
{
	int err = prepare_marked(f);

	f->pipes[0] = epoll_create1(EPOLL_CLOEXEC);
	return err ?: f->pipes[0] < 0 ? -errno : 0;
}

static int map(struct fail_nth *f, size_t size)
{
	f->map_size = size;
	f->map = mmap(NULL, size, PROT_READ, MAP_SHARED, f->fd, 0);
	if (f->map != MAP_FAILED)
		return 0;
	f->map = NULL;
	return -errno;
}

static int prepare_mapped(struct fail_nth *f)
{
	return prepare_marked(f) ?: map(f, MAP_SIZE);
}

static int act_open(struct fail_nth *f)
{
	f->fd = open(DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return f->fd < 0 ? -errno : 0;
}

static int act_attach(struct fail_nth *f)
{
	return attach(f->fd, f->remote, 0, NULL);
}

static int act_attach_all(struct fail_nth *f)
{
	return attach(f->fd, f->remote, HYPTRACE_CPU_ALL, NULL);
}

static int act_attach_snapshot(struct fail_nth *f)
{
	struct hyptrace_attach request = {
		.size = sizeof(request), .cpu = 1, .flags = HYPTRACE_ATTACH_SNAPSHOT,
	};

	strcpy(request.remote, f->remote);
	return errno_of(ioctl(f->fd, HYPTRACE_IOC_ATTACH, &request));
}

static int act_wakeup(struct fail_nth *f)
{
	struct hyptrace_wakeup request = {
		.size = sizeof(request), .latency_us = 20000, .percent = 50,
	};

	return errno_of(ioctl(f->fd, HYPTRACE_IOC_WAKEUP, &request));
}

static int act_hold(struct fail_nth *f)
{
	struct hyptrace_hold request = {
		.size = sizeof(request), .flags = HYPTRACE_HOLD_TRACING, .nr_events = NR_HELD,
		.events = (uintptr_t)held,
	};

	return errno_of(ioctl(f->fd, HYPTRACE_IOC_HOLD, &request));
}

static int act_map_meta(struct fail_nth *f)
{
	return map(f, PAGE);
}

static int act_map(struct fail_nth *f)
{
	return map(f, MAP_SIZE);
}

/* A mapping that is split is copied. */
static int act_split(struct fail_nth *f)
{
	return errno_of(munmap((char *)f->map + 2 * PAGE, PAGE));
}

static int act_get_reader(struct fail_nth *f)
{
	return errno_of(ioctl(f->fd, TRACE_MMAP_IOCTL_GET_READER));
}

static int act_read(struct fail_nth *f)
{
	return errno_of(read(f->fd, buffer, sizeof(buffer)));
}

static int act_splice(struct fail_nth *f)
{
	return errno_of(splice(f->fd, NULL, f->pipes[1], NULL, NR_SUBBUFS * PAGE,
			       SPLICE_F_NONBLOCK));
}

static int act_poll(struct fail_nth *f)
{
	struct pollfd poll_fds[] = {
		{ .fd = f->fd, .events = POLLIN }, { .fd = f->fd, .events = POLLPRI },
	};

	return poll(poll_fds, 2, 0) < 0 ? -errno : poll_fds[0].revents == POLLIN ? 0 : -ETIME;
}

static int act_epoll(struct fail_nth *f)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	if (epoll_ctl(f->pipes[0], EPOLL_CTL_ADD, f->fd, &event))
		return -errno;
	return epoll_wait(f->pipes[0], &event, 1, 0) == 1 ? 0 : -ETIME;
}

/* All marks are in what was delivered, and in what is still there. */
static const char *check_marks(struct fail_nth *f, int ret)
{
	struct sequence seq = { .event = control_event_id(f->nl, f->remote, "selftest") };
	size_t got = ret > 0 ? ret : 0, at;
	ssize_t n;

	if (f->pipes[1] >= 0 && ret > 0 && read(f->pipes[0], buffer, ret) != ret)
		return "the pipe has less than splice() has said";
	while ((n = read(f->fd, buffer + got, sizeof(buffer) - got)) > 0)
		got += n;
	if (got % PAGE)
		return "a part of a sub-buffer was not delivered";
	for (at = 0; at < got; at += PAGE)
		sequence_feed(&seq, buffer + at, PAGE);
	if (*seq.bad)
		return "the marks are not in order";
	return seq.seen == NR_MARKS && !seq.lost ? NULL : "marks are missing";
}

static const char *check_frames(struct fail_nth *f, int ret)
{
	struct sequence seqs[2] = {};
	size_t got = ret > 0 ? ret : 0;
	ssize_t n;

	seqs[0].event = control_event_id(f->nl, f->remote, "selftest");
	seqs[1].event = seqs[0].event;
	while ((n = read(f->fd, buffer + got, sizeof(buffer) - got)) > 0)
		got += n;
	sequence_frames(seqs, 2, buffer, got);
	return *seqs[0].bad ? "the marks are not in order" :
	       seqs[0].seen == NR_MARKS && !seqs[0].lost ? NULL : "marks are missing";
}

/* The descriptor can be mapped afterwards, and the ring resized once it is unmapped. */
static const char *check_mapped(struct fail_nth *f, int ret)
{
	const struct trace_buffer_meta *meta = f->map;

	if (!meta && map(f, PAGE))
		return "it cannot be mapped any more";
	meta = f->map;
	if (meta->nr_subbufs != NR_SUBBUFS + 1)
		return "the meta page is wrong";
	if (munmap(f->map, f->map_size))
		return "it cannot be unmapped";
	f->map = NULL;
	return control_set_size(f->nl, f->remote, 2 * RING_SIZE) ? "a mapping is left" : NULL;
}

const struct fail_op fail_device_ops[] = {
	{ "open", prepare_unloaded, act_open, NULL, { ENOMEM, ENFILE, EFAULT } },
	{ "attach", prepare_opened, act_attach, NULL, { ENOMEM, EFAULT } },
	{ "attach to all CPUs", prepare_opened, act_attach_all, NULL, { ENOMEM, EFAULT } },
	{ "attach to loaded rings", prepare_loaded, act_attach, NULL, { ENOMEM, EFAULT } },
	{ "attach an observer", prepare_loaded, act_attach_snapshot, NULL, { ENOMEM, EFAULT } },
	{ "wakeup", prepare_attached, act_wakeup, NULL, { EFAULT } },
	{ "hold", prepare_attached, act_hold, NULL, { EFAULT } },
	{ "map the meta page", prepare_marked, act_map_meta, check_mapped, { ENOMEM } },
	{ "map", prepare_marked, act_map, check_mapped, { ENOMEM } },
	{ "split a mapping", prepare_mapped, act_split, check_mapped, { ENOMEM } },
	{ "get-reader", prepare_mapped, act_get_reader, check_mapped, { } },
	{ "read", prepare_marked, act_read, check_marks, { EFAULT }, .takes = true },
	{ "read all CPUs", prepare_all, act_read, check_frames, { EFAULT }, .takes = true },
	{ "splice", prepare_pipe, act_splice, check_marks, { ENOMEM }, .takes = true },
	{ "poll", prepare_marked, act_poll, check_marks, { ENOMEM, EFAULT } },
	{ "epoll", prepare_epoll, act_epoll, check_marks, { ENOMEM, EFAULT } },
	{ }
};
