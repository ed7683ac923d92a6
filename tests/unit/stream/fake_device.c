// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver with one remote. The linker has the calls of libhyptrace come here (--wrap).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "../../../uapi/linux/hyptrace.h"
#include "../../../uapi/linux/hyptrace_netlink.h"
#include "fail_alloc.h"
#include "fake_device.h"
#include "fake_netlink.h"

#define EPOLL_FD	90
#define TIMER_FD	91
#define FIRST_FD	100
#define MAX_FDS		16
#define HEADER		16
#define NSEC_PER_SEC	UINT64_C(1000000000)

struct fake_device fake_device;
static int nr_open;
/* A descriptor belongs to a CPU from ATTACH on; none has more in use */
static unsigned int cpu_of[MAX_FDS];
static unsigned int next_fd;

static int answer(int errnum)
{
	/* a success says nothing of errno */
	errno = errnum ? errnum : EBADE;
	return errnum ? -1 : 0;
}

static struct nl_msg *message(int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	genlmsg_put(msg, 0, 0, FAKE_FAMILY, 0, flags, cmd, 1);
	return msg;
}

static void send_message(struct nl_msg *msg)
{
	fake_netlink_reply(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
}

static void end_dump(void)
{
	struct {
		struct nlmsghdr	nlh;
		int		error;
	} end = {
		.nlh = { .nlmsg_len = sizeof(end), .nlmsg_type = NLMSG_DONE,
			 .nlmsg_flags = NLM_F_MULTI },
	};

	fake_netlink_reply(&end, sizeof(end));
}

static void send_remote(void)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_REMOTE_GET, 0);
	bool loaded = fake_device.tracing || fake_device.loaded_after || fake_device_nr_open();

	nla_put_string(msg, HYPTRACE_A_REMOTE_NAME, "test");
	nla_put_string(msg, HYPTRACE_A_REMOTE_CLOCK, fake_device.clock);
	nla_put_u32(msg, HYPTRACE_A_REMOTE_STATE, fake_device.tracing ? HYPTRACE_STATE_TRACING :
		    loaded ? HYPTRACE_STATE_LOADED : HYPTRACE_STATE_UNLOADED);
	send_message(msg);
}

static void send_cpu(unsigned int cpu, int flags)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_CPU_GET, flags);
	const struct fake_ring *ring = &fake_device.rings[cpu];

	nla_put_string(msg, HYPTRACE_A_CPU_REMOTE, "test");
	nla_put_u32(msg, HYPTRACE_A_CPU_ID, cpu);
	nla_put_u64(msg, HYPTRACE_A_CPU_DROPPED, ring->reported + ring->unreported);
	nla_put_u64(msg, HYPTRACE_A_CPU_UNREPORTED, ring->unreported);
	nla_put_u64(msg, HYPTRACE_A_CPU_UNREAD, ring->unread);
	nla_put_u32(msg, HYPTRACE_A_CPU_CONSUMER, ring->consumer);
	send_message(msg);
}

static void send_event(unsigned int id, const char *name)
{
	struct nl_msg *msg = message(HYPTRACE_CMD_EVENT_GET, NLM_F_MULTI);

	nla_put_string(msg, HYPTRACE_A_EVENT_NAME, name);
	nla_put_u32(msg, HYPTRACE_A_EVENT_ID, id);
	nla_put_u32(msg, HYPTRACE_A_EVENT_SIZE, 8);
	nla_put_string(msg, HYPTRACE_A_EVENT_PRINT_FMT, "\"\"");
	send_message(msg);
}

static void answer_surely(const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = genlmsg_hdr((struct nlmsghdr *)request);
	struct nlattr *tb[HYPTRACE_A_CPU_MAX + 1];
	unsigned int cpu;

	if (fake_device.gone) {
		fake_netlink_ack(request, -ENODEV);
		return;
	}
	switch (genl->cmd) {
	case HYPTRACE_CMD_REMOTE_GET:
		send_remote();
		fake_netlink_ack(request, 0);
		return;
	case HYPTRACE_CMD_CPU_GET:
		genlmsg_parse((struct nlmsghdr *)request, 0, tb, HYPTRACE_A_CPU_MAX, NULL);
		if (tb[HYPTRACE_A_CPU_ID]) {
			send_cpu(nla_get_u32(tb[HYPTRACE_A_CPU_ID]), 0);
			fake_netlink_ack(request, 0);
			return;
		}
		for (cpu = 0; cpu < FAKE_CPUS; cpu++)
			send_cpu(cpu, NLM_F_MULTI);
		end_dump();
		return;
	case HYPTRACE_CMD_EVENT_GET:
		send_event(FAKE_EVENTS_ID, "first");
		send_event(FAKE_EVENTS_ID + 1, "second");
		end_dump();
		return;
	}
	fake_netlink_ack(request, -EOPNOTSUPP);
}

static void answer_request(const struct nlmsghdr *request)
{
	fail_alloc_pause(true);
	answer_surely(request);
	fail_alloc_pause(false);
}

/**
 * fake_device_begin - begin with empty rings, tracing on
 */
void fake_device_begin(void)
{
	memset(&fake_device, 0, sizeof(fake_device));
	fake_device.clock = "boot";
	fake_device.subbuf_size = FAKE_SUBBUF;
	fake_device.tracing = true;
	fake_device.loaded_after = true;
	fake_device.now = NSEC_PER_SEC;
	fake_netlink_begin(answer_request);
}

/**
 * fake_device_nr_open - how many descriptors are open, besides the sockets
 *
 * Return: the number.
 */
int fake_device_nr_open(void)
{
	return nr_open;
}

/**
 * fake_subbuf - let a sub-buffer be read
 * @cpu:	of which ring
 * @ts:		its time stamp
 *
 * Return: the sub-buffer, which is empty.
 */
char *fake_subbuf(unsigned int cpu, uint64_t ts)
{
	struct fake_ring *ring = &fake_device.rings[cpu];
	char *subbuf = ring->subbufs[ring->nr];

	if (ring->nr++ == FAKE_SUBBUFS)
		abort();
	memset(subbuf, 0, FAKE_SUBBUF);
	memcpy(subbuf, &ts, sizeof(ts));
	return subbuf;
}

static uint64_t *commit_of(char *subbuf)
{
	return (uint64_t *)(subbuf + sizeof(uint64_t));
}

/**
 * fake_event - add an event to a sub-buffer
 * @subbuf:	the sub-buffer
 * @delta:	ns since the event before, or since the time stamp
 * @number:	what its payload carries
 */
void fake_event(char *subbuf, uint32_t delta, uint32_t number)
{
	const uint32_t record[] = { 2 | delta << 5, FAKE_EVENTS_ID, number };
	uint64_t *commit = commit_of(subbuf);

	if (HEADER + *commit + sizeof(record) > FAKE_SUBBUF)
		abort();
	memcpy(subbuf + HEADER + *commit, record, sizeof(record));
	*commit += sizeof(record);
}

/**
 * fake_subbuf_lost - have events be lost before a sub-buffer
 * @subbuf:	the sub-buffer, with all its events
 * @lost:	how many
 */
void fake_subbuf_lost(char *subbuf, uint64_t lost)
{
	uint64_t *commit = commit_of(subbuf);

	memcpy(subbuf + HEADER + *commit, &lost, sizeof(lost));
	*commit |= HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
}

/**
 * fake_damage - make the rest of a sub-buffer unreadable
 * @subbuf:	the sub-buffer
 */
void fake_damage(char *subbuf)
{
	const uint32_t record[] = { 28 };
	uint64_t *commit = commit_of(subbuf);

	memcpy(subbuf + HEADER + *commit, record, sizeof(record));
	*commit += sizeof(record);
}

int __wrap_open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	nr_open++;
	return FIRST_FD + next_fd++ % MAX_FDS;
}

static struct fake_ring *ring_of(int fd)
{
	return &fake_device.rings[cpu_of[fd - FIRST_FD]];
}

int __wrap_close(int fd)
{
	if (fd >= FIRST_FD && ring_of(fd)->attached) {
		ring_of(fd)->attached = false;
		ring_of(fd)->in_epoll = false;
	}
	nr_open--;
	return 0;
}

static int attach(int fd, struct hyptrace_attach *attach)
{
	struct fake_ring *ring;

	if (attach->cpu < 0 || attach->cpu >= FAKE_CPUS)
		return answer(ENXIO);
	ring = &fake_device.rings[attach->cpu];
	if (ring->absent)
		return answer(ENXIO);
	if (ring->attach_errno)
		return answer(ring->attach_errno);
	cpu_of[fd - FIRST_FD] = attach->cpu;
	ring->attached = true;
	attach->subbuf_size = fake_device.subbuf_size;
	return 0;
}

static int hold(int fd, const struct hyptrace_hold *hold)
{
	if (fake_device.hold_errno)
		return answer(fake_device.hold_errno);
	fake_device.nr_holds++;
	fake_device.hold_cpu = cpu_of[fd - FIRST_FD];
	fake_device.hold_flags = hold->flags;
	fake_device.nr_held = hold->nr_events;
	if (hold->nr_events)
		memcpy(fake_device.held, (void *)(uintptr_t)hold->events,
		       hold->nr_events * sizeof(fake_device.held[0]));
	return 0;
}

int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	switch (cmd) {
	case HYPTRACE_IOC_ATTACH:
		return attach(fd, arg);
	case HYPTRACE_IOC_WAKEUP:
		ring_of(fd)->wakeup = *(struct hyptrace_wakeup *)arg;
		return answer(ring_of(fd)->wakeup_errno);
	case HYPTRACE_IOC_HOLD:
		return hold(fd, arg);
	}
	return answer(ENOTTY);
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	struct fake_ring *ring = ring_of(fd);
	unsigned int nr = size / FAKE_SUBBUF;

	ring->reads++;
	ring->last_size = size;
	if (ring->read_errno) {
		answer(ring->read_errno);
		if (ring->read_errno == EINTR)
			ring->read_errno = 0;
		return -1;
	}
	if (!ring->nr && fake_device.tracing)
		return answer(EAGAIN);
	if (!ring->nr) {
		/* a success says nothing of errno */
		errno = EINTR;
		return 0;
	}
	if (ring->limit && ring->looped == ring->limit) {
		ring->looped = 0;
		return answer(EAGAIN);
	}
	if (nr > ring->nr)
		nr = ring->nr;
	if (ring->limit && nr > ring->limit - ring->looped)
		nr = ring->limit - ring->looped;
	ring->looped += nr;
	memcpy(to, ring->subbufs, nr * FAKE_SUBBUF);
	ring->nr -= nr;
	memmove(ring->subbufs, ring->subbufs + nr, ring->nr * FAKE_SUBBUF);
	return nr * FAKE_SUBBUF;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = fake_device.now / NSEC_PER_SEC;
	ts->tv_nsec = fake_device.now % NSEC_PER_SEC;
	return 0;
}

static int new_fd(int fd, int errnum)
{
	if (errnum)
		return answer(errnum);
	nr_open++;
	return fd;
}

int __wrap_epoll_create1(int flags)
{
	return new_fd(EPOLL_FD, flags == EPOLL_CLOEXEC ? fake_device.epoll_errno : EINVAL);
}

int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	(void)epoll;
	if (op != EPOLL_CTL_ADD || event->events != (EPOLLIN | EPOLLET))
		return answer(EINVAL);
	if (fd >= FIRST_FD) {
		if (ring_of(fd)->epoll_errno)
			return answer(ring_of(fd)->epoll_errno);
		if (ring_of(fd)->in_epoll)
			return answer(EEXIST);
		ring_of(fd)->in_epoll = true;
	}
	return answer(fd == fake_device.bad_fd ? ENOMEM : 0);
}

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int max, int timeout)
{
	const int nr = fake_device.edges ? 1 + FAKE_CPUS : 0;

	(void)epoll;
	/* room for the timer and the rings */
	if (max < 1 + FAKE_CPUS || timeout)
		return answer(EINVAL);
	memset(events, 0, nr * sizeof(*events));
	fake_device.edges = false;
	return nr;
}

int __wrap_timerfd_create(clockid_t clock, int flags)
{
	if (clock != CLOCK_BOOTTIME || flags != (TFD_CLOEXEC | TFD_NONBLOCK))
		return answer(EINVAL);
	return new_fd(TIMER_FD, fake_device.timer_errno);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old)
{
	(void)old;
	if (fd != TIMER_FD || flags != TFD_TIMER_ABSTIME)
		return answer(EINVAL);
	fake_device.timer = when->it_value.tv_sec * NSEC_PER_SEC + when->it_value.tv_nsec;
	return 0;
}
