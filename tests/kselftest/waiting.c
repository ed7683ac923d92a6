// SPDX-License-Identifier: GPL-2.0-only
/* Waiting on a descriptor in a process of its own: see waiting.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "control.h"
#include "page.h"
#include "waiting.h"

const char * const wait_names[NR_WAITS] = {
	[WAIT_READ]		= "read",
	[WAIT_GET_READER]	= "GET_READER",
	[WAIT_POLL]		= "poll",
	[WAIT_EPOLL]		= "epoll",
	[WAIT_EPOLL_EDGE]	= "epoll, edge-triggered",
};

static bool wait_by_read(int fd)
{
	static char buffer[PAGE_MAX + sizeof(struct hyptrace_frame)];

	return read(fd, buffer, sizeof(buffer)) >= 0;
}

/* Its mapping is its own: a child inherits none. */
static bool wait_by_get_reader(int fd)
{
	void *meta = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	return meta != MAP_FAILED && !ioctl(fd, TRACE_MMAP_IOCTL_GET_READER);
}

static bool wait_by_poll(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, -1) == 1;
}

static bool wait_by_epoll(int fd, uint32_t flags)
{
	struct epoll_event event = { .events = EPOLLIN | flags }, got;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	return !epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) &&
	       epoll_wait(epoll_fd, &got, 1, -1) == 1;
}

/* Until there is something, or tracing is off; whether that went well */
static bool wait_by(enum wait_kind kind, int fd)
{
	switch (kind) {
	case WAIT_READ:
		return wait_by_read(fd);
	case WAIT_GET_READER:
		return wait_by_get_reader(fd);
	case WAIT_POLL:
		return wait_by_poll(fd);
	case WAIT_EPOLL:
		return wait_by_epoll(fd, 0);
	case WAIT_EPOLL_EDGE:
		return wait_by_epoll(fd, EPOLLET);
	default:
		return false;
	}
}

/**
 * waiter_start - wait in a child
 * @kind:	how
 * @fd:		on what; blocking
 * @tell:	where to write @letter once the wait is over, or -1
 * @letter:	see there
 *
 * The child ends with its parent, and with 0 if the wait went well.
 *
 * Return: the child.
 */
pid_t waiter_start(enum wait_kind kind, int fd, int tell, char letter)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!wait_by(kind, fd))
		_exit(1);
	_exit(tell < 0 || write(tell, &letter, 1) == 1 ? 0 : 2);
}

static bool is_asleep(pid_t pid)
{
	char path[32], line[512];
	const char *state;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY);
	len = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (len <= 0)
		return false;
	line[len] = 0;
	state = strrchr(line, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

/**
 * waiter_settle - have a waiter wait
 * @child:	of waiter_start()
 *
 * Return: true once it sleeps; false if it does not get there.
 */
bool waiter_settle(pid_t child)
{
	unsigned int look, asleep = 0;

	/* more than one look: it may sleep on its way there, too */
	for (look = 0; look < SOON_MS / 10 && asleep < 5; look++) {
		asleep = is_asleep(child) ? asleep + 1 : 0;
		usleep(10 * 1000);
	}
	return asleep;
}

/* Have a descriptor look that often; 0 or a negative errno */
int set_latency(int fd, uint32_t latency_us)
{
	struct hyptrace_wakeup wakeup = { .size = sizeof(wakeup), .latency_us = latency_us };

	return ioctl(fd, HYPTRACE_IOC_WAKEUP, &wakeup) ? -errno : 0;
}

/* 0, or -1 and errno: this thread runs on that CPU alone from here on. */
int pin_to_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}
