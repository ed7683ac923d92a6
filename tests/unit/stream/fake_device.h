/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A driver with one remote, "test", for the tests of streams: its netlink answers, its
 * descriptors, and the time. fake_netlink.h has the sockets.
 */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>

#include <linux/hyptrace.h>

#define FAKE_CPUS	3
#define FAKE_SUBBUF	256
#define FAKE_SUBBUFS	8
#define FAKE_EVENTS_ID	1

/**
 * struct fake_ring - the ring of a CPU
 * @absent:	the CPU has no ring
 * @attach_errno, @wakeup_errno, @epoll_errno, @read_errno: why a call fails; 0: it does not
 * @wakeup:	the last request of HYPTRACE_IOC_WAKEUP
 * @consumer:	process id of another consumer
 * @unreported:	lost events that no read has reported
 * @reported:	lost events that reads have reported
 * @unread:	events in the ring
 * @subbufs:	what can be read
 * @nr:		number of @subbufs
 * @limit:	sub-buffers that a loop of reads delivers at most, then it fails once; 0: no limit
 * @looped:	sub-buffers that the present loop has delivered
 * @reads:	calls of read()
 * @last_size:	bytes that the last one asked for
 * @attached:	the descriptor is open
 * @in_epoll:	it is in the epoll set
 */
struct fake_ring {
	bool		absent;
	int		attach_errno;
	int		wakeup_errno;
	int		epoll_errno;
	int		read_errno;
	struct hyptrace_wakeup wakeup;
	uint32_t	consumer;
	uint64_t	unreported;
	uint64_t	reported;
	uint64_t	unread;
	char		subbufs[FAKE_SUBBUFS][FAKE_SUBBUF];
	unsigned int	nr;
	unsigned int	limit;
	unsigned int	looped;
	unsigned int	reads;
	size_t		last_size;
	bool		attached;
	bool		in_epoll;
};

/**
 * struct fake_device - the driver
 * @rings:	one per CPU
 * @now:	the time, in ns
 * @tracing:	tracing is on
 * @loaded_after: the rings stay loaded after the last descriptor has detached
 * @gone:	the remote was unregistered
 * @clock:	of the remote
 * @subbuf_size: bytes of a sub-buffer, as ATTACH tells
 * @hold_errno, @epoll_errno, @timer_errno: why a call fails; 0: it does not
 * @bad_fd:	a descriptor that cannot be added to the epoll set
 * @nr_holds:	calls of HYPTRACE_IOC_HOLD
 * @hold_cpu:	the CPU of the last one
 * @hold_flags:	its flags
 * @held:	ids of its events
 * @nr_held:	number of @held
 * @timer:	when the timer expires, in ns; 0 if it was not set since the last look
 * @edges:	the timer and the rings have edges
 */
struct fake_device {
	struct fake_ring	rings[FAKE_CPUS];
	uint64_t		now;
	bool			tracing;
	bool			loaded_after;
	bool			gone;
	const char		*clock;
	uint32_t		subbuf_size;
	int			hold_errno;
	int			epoll_errno;
	int			timer_errno;
	int			bad_fd;
	unsigned int		nr_holds;
	unsigned int		hold_cpu;
	uint32_t		hold_flags;
	uint16_t		held[4];
	unsigned int		nr_held;
	uint64_t		timer;
	bool			edges;
};

extern struct fake_device fake_device;

void fake_device_begin(void);
int fake_device_nr_open(void);
char *fake_subbuf(unsigned int cpu, uint64_t ts);
void fake_subbuf_lost(char *subbuf, uint64_t lost);
void fake_event(char *subbuf, uint32_t delta, uint32_t number);
void fake_damage(char *subbuf);

/* The calls of libhyptrace */
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_ioctl(int fd, unsigned long cmd, ...);
ssize_t __wrap_read(int fd, void *to, size_t size);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_epoll_create1(int flags);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);
int __wrap_epoll_wait(int epoll, struct epoll_event *events, int max, int timeout);
int __wrap_timerfd_create(clockid_t clock, int flags);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old);

#endif /* FAKE_DEVICE_H */
