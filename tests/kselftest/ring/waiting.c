// SPDX-License-Identifier: GPL-2.0-only
/* Wait on a descriptor in a child process: see waiting.h. */
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

/* Map the ring again: a child does not inherit the mapping. */
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

/* Wait until there is an event or tracing is off. Return false on an error. */
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
 * waiter_start - start a child that waits on a descriptor
 * @kind:	how it waits
 * @fd:		a blocking descriptor
 * @tell:	the child writes @letter here when the wait has ended, or -1
 * @letter:	identifies the child
 *
 * The child ends when its parent does. Its exit code is 0 if the wait succeeded.
 *
 * Return: the pid of the child.
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
 * waiter_settle - wait until the child sleeps
 * @child:	a child of waiter_start()
 *
 * Return: true once it sleeps; false if it still runs after SOON_MS.
 */
bool waiter_settle(pid_t child)
{
	unsigned int look, asleep = 0;

	/* Look several times: the child may also sleep shortly before it starts to wait. */
	for (look = 0; look < SOON_MS / 10 && asleep < 5; look++) {
		asleep = is_asleep(child) ? asleep + 1 : 0;
		usleep(10 * 1000);
	}
	return asleep;
}

/* Set how often the driver polls the writer for this descriptor. Return 0 or -errno. */
int set_latency(int fd, uint32_t latency_us)
{
	struct hyptrace_wakeup wakeup = { .size = sizeof(wakeup), .latency_us = latency_us };

	return ioctl(fd, HYPTRACE_IOC_WAKEUP, &wakeup) ? -errno : 0;
}

/* Pin this thread to the CPU. Return 0, or -1 with errno set. */
int pin_to_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}
