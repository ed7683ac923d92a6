// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls of the device at random, on some descriptors and mappings: ioctls with any argument,
 * two threads on one descriptor, and what can be done to a mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/hyptrace.h>

#include "control.h"
#include "hostile.h"

#define NR_FDS		6
#define NR_MAPS		4
#define MAP_PAGES	64
#define READ_SIZE	(64 * 1024)

static int fds[NR_FDS] = { -1, -1, -1, -1, -1, -1 };

static struct {
	char	*at;
	size_t	size;
} maps[NR_MAPS];

static uint64_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static void count(uint64_t *tries)
{
	__atomic_add_fetch(tries, 1, __ATOMIC_RELAXED);
}

static int *some_fd(struct hostile *h)
{
	return &fds[hostile_below(h, NR_FDS)];
}

static int tried_ioctl(struct hostile *h, int fd, unsigned long cmd, void *arg)
{
	const int ret = ioctl(fd, cmd, arg);

	count(&h->tries->ioctls);
	if (!ret && cmd == HYPTRACE_IOC_ATTACH)
		count(&h->tries->attached);
	return ret;
}

static void attach_it(struct hostile *h, int fd)
{
	struct hyptrace_attach attach = {
		.size = hostile_below(h, 16) ? sizeof(attach) : hostile_number(h),
		.flags = hostile_below(h, 16) ? hostile_below(h, 2) : hostile_number(h),
		.cpu = hostile_below(h, 16) ? hostile_below(h, 4) - 1 : hostile_number(h),
	};

	snprintf(attach.remote, sizeof(attach.remote), "%s", hostile_remote(h));
	if (!hostile_below(h, 16))
		memset(attach.remote, 'x', sizeof(attach.remote));
	tried_ioctl(h, fd, HYPTRACE_IOC_ATTACH, &attach);
}

static void set_wakeup(struct hostile *h, int fd)
{
	struct hyptrace_wakeup wakeup = {
		.size = hostile_below(h, 16) ? sizeof(wakeup) : hostile_number(h),
		.flags = hostile_below(h, 16) ? 0 : hostile_number(h),
		.latency_us = hostile_below(h, 2) ? hostile_below(h, 20000) : hostile_number(h),
		.percent = hostile_below(h, 110),
		.bytes = hostile_below(h, 2) ? 0 : hostile_number(h),
	};

	tried_ioctl(h, fd, HYPTRACE_IOC_WAKEUP, &wakeup);
}

static void hold(struct hostile *h, int fd)
{
	uint16_t ids[16];
	struct hyptrace_hold held = {
		.size = hostile_below(h, 16) ? sizeof(held) : hostile_number(h),
		.flags = hostile_below(h, 16) ? hostile_below(h, 2) : hostile_number(h),
		.nr_events = hostile_below(h, 16) ? hostile_below(h, 4) : hostile_number(h),
		.events = hostile_below(h, 16) ? (uintptr_t)ids : hostile_number(h),
	};
	unsigned int i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		ids[i] = hostile_below(h, 16) ? hostile_below(h, 32) : hostile_number(h);
	tried_ioctl(h, fd, HYPTRACE_IOC_HOLD, &held);
}

static void any_ioctl(struct hostile *h, int fd)
{
	static const unsigned long known[] = {
		HYPTRACE_IOC_ATTACH, HYPTRACE_IOC_WAKEUP, HYPTRACE_IOC_HOLD,
		TRACE_MMAP_IOCTL_GET_READER,
	};
	uint64_t words[16];
	unsigned long cmd = known[hostile_below(h, 4)];
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = hostile_number(h);
	/* another size, another number, or any */
	switch (hostile_below(h, 4)) {
	case 0:
		cmd = _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), hostile_below(h, 128));
		break;
	case 1:
		cmd = _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), hostile_below(h, 256), _IOC_SIZE(cmd));
		break;
	case 2:
		cmd = hostile_random(h);
		break;
	}
	tried_ioctl(h, fd, cmd, hostile_below(h, 8) ? words : (void *)(uintptr_t)hostile_number(h));
}

static void read_it(struct hostile *h, int fd)
{
	static char buffer[READ_SIZE];
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	int ends[2];

	switch (hostile_below(h, 4)) {
	case 0:
		poll(&poll_fd, 1, hostile_below(h, 4));
		break;
	case 1:
		if (pipe(ends))
			break;
		splice(fd, NULL, ends[1], NULL, hostile_below(h, 16 * page_size()),
		       SPLICE_F_NONBLOCK);
		close(ends[0]);
		close(ends[1]);
		break;
	default:
		read(fd, hostile_below(h, 16) ? buffer : (char *)(uintptr_t)hostile_number(h),
		     hostile_below(h, 16) ? hostile_below(h, sizeof(buffer)) : hostile_number(h));
		break;
	}
}

/* A second thread reads, asks for the next page, and attaches, while this one does. */
static void *beside(void *arg)
{
	struct hostile other = *(struct hostile *)arg;
	const int fd = fds[hostile_below(&other, NR_FDS)];
	unsigned int i;

	other.random ^= (uintptr_t)&other;
	for (i = 0; i < 20; i++) {
		char buffer[4096];

		count(&other.tries->others);
		if (hostile_below(&other, 2))
			read(fd, buffer, sizeof(buffer));
		else if (hostile_below(&other, 2))
			tried_ioctl(&other, fd, TRACE_MMAP_IOCTL_GET_READER, NULL);
		else
			attach_it(&other, fd);
	}
	return NULL;
}

static void with_two_threads(struct hostile *h, int fd)
{
	pthread_t thread;
	unsigned int i;

	if (pthread_create(&thread, NULL, beside, h))
		return;
	for (i = 0; i < 10; i++) {
		read_it(h, fd);
		set_wakeup(h, fd);
	}
	pthread_join(thread, NULL);
}

static void map_it(struct hostile *h, int fd)
{
	const unsigned int which = hostile_below(h, NR_MAPS);
	const uint64_t offset = hostile_below(h, 4) ? 0 : hostile_below(h, MAP_PAGES) * page_size();
	const size_t size = (1 + hostile_below(h, MAP_PAGES)) * page_size();
	const int prot = hostile_below(h, 8) ? PROT_READ : hostile_below(h, 8);
	void *at;

	if (maps[which].at)
		munmap(maps[which].at, maps[which].size);
	at = mmap(NULL, size, prot, hostile_below(h, 8) ? MAP_SHARED : MAP_PRIVATE, fd, offset);
	maps[which].at = at == MAP_FAILED ? NULL : at;
	maps[which].size = size;
}

/* Read what is mapped, in a child: it may be less than what was asked for. */
static void touch(const char *at, size_t size)
{
	const pid_t child = fork();
	volatile char sum = 0;
	size_t i;

	if (!child) {
		for (i = 0; i < size; i += 512)
			sum += at[i];
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void change_map(struct hostile *h)
{
	const unsigned int which = hostile_below(h, NR_MAPS);
	char *at = maps[which].at;
	const size_t size = maps[which].size;
	size_t part;
	void *moved;

	if (!at)
		return;
	part = hostile_below(h, size / page_size()) * page_size();
	switch (hostile_below(h, 6)) {
	case 0:
		munmap(at + part, page_size());
		break;
	case 1:
		moved = mremap(at, size, size + page_size() * hostile_below(h, 4), MREMAP_MAYMOVE);
		if (moved != MAP_FAILED)
			maps[which].at = NULL;
		break;
	case 2:
		mprotect(at + part, page_size(), hostile_below(h, 8));
		break;
	case 3:
		madvise(at + part, page_size(), hostile_below(h, 26));
		break;
	case 4:
		mlock(at, size);
		break;
	case 5:
		touch(at, size);
		break;
	}
}

static void watch(struct hostile *h, int fd)
{
	const int set = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = hostile_random(h) & 0xe000201f };

	epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
	epoll_wait(set, &event, 1, hostile_below(h, 3));
	close(set);
}

static void change_fd(struct hostile *h, int *fd)
{
	if (hostile_below(h, 4) || *fd < 0) {
		close(*fd);
		/* some block: another process ends them */
		*fd = open(DEVICE, O_CLOEXEC | (hostile_below(h, 64) ? O_NONBLOCK : 0) |
			   (hostile_below(h, 32) ? O_RDONLY : hostile_below(h, 3)));
	} else {
		int *const other = some_fd(h);

		if (other == fd)
			return;
		close(*other);
		*other = dup(*fd);
	}
}

/**
 * hostile_device() - make a system call of the device at random
 * @h:	the process
 */
void hostile_device(struct hostile *h)
{
	int *const fd = some_fd(h);

	count(&h->tries->others);
	switch (hostile_below(h, 32)) {
	case 0:
		change_fd(h, fd);
		break;
	case 1:
		with_two_threads(h, *fd);
		break;
	case 2:
		map_it(h, *fd);
		break;
	case 3:
	case 4:
		change_map(h);
		break;
	case 5:
		watch(h, *fd);
		break;
	case 6 ... 11:
		read_it(h, *fd);
		break;
	case 12 ... 17:
		attach_it(h, *fd);
		break;
	case 18 ... 20:
		set_wakeup(h, *fd);
		break;
	case 21 ... 24:
		hold(h, *fd);
		break;
	default:
		any_ioctl(h, *fd);
		break;
	}
	if (*fd < 0)
		change_fd(h, fd);
}
