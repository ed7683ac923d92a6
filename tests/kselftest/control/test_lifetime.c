// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a descriptor or a mapping keeps a ring: readers killed in any state, descriptors
 * passed to another process, forked children, and modules in use.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"

#define RING_SIZE	(8 * PAGE)
#define MAP_SIZE	((RING_SIZE / PAGE + 2) * PAGE)
#define EVENTS		10
#define PATIENCE_MS	10000

REMOTE_FIXTURE(lifetime);

static char page[PAGE_MAX] __attribute__((aligned(8)));

static int get_reader(int fd)
{
	return ioctl(fd, TRACE_MMAP_IOCTL_GET_READER) ? -errno : 0;
}

static struct trace_buffer_meta *map(int fd)
{
	return mmap(NULL, MAP_SIZE, PROT_READ, MAP_SHARED, fd, 0);
}

static void in_read(int fd)
{
	if (read(fd, page, PAGE))
		_exit(1);
}

static void in_poll(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	poll(&poll_fd, 1, -1);
}

static void in_splice(int fd)
{
	int ends[2];

	if (!pipe(ends))
		splice(fd, NULL, ends[1], NULL, PAGE, 0);
}

static void in_get_reader(int fd)
{
	get_reader(fd);
}

static void between_two_get_reader(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	get_reader(fd);
	pause();
}

static void with_a_mapping_only(int fd)
{
	close(fd);
	pause();
}

/* The states in which a reader is killed. It sleeps there, because the ring is empty. */
static const struct {
	const char	*name;
	void		(*enter)(int fd);
} states[] = {
	{ "read",			in_read },
	{ "poll",			in_poll },
	{ "splice",			in_splice },
	{ "GET_READER",			in_get_reader },
	{ "between two GET_READER",	between_two_get_reader },
	{ "a mapping only",		with_a_mapping_only },
};

static bool is_asleep(pid_t pid)
{
	char path[64], state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	stat = fopen(path, "r");
	if (!stat)
		return false;
	if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(stat);
	return state == 'S';
}

/* Start a child that maps the ring and sleeps in the state. Return 0 on a failure. */
static pid_t child_in(const char *remote, void (*enter)(int fd))
{
	unsigned int ms, asleep;
	int tell[2];
	pid_t child;
	char byte;

	if (pipe(tell))
		return 0;
	child = fork();
	if (!child) {
		int fd = open_attached(remote, 0, 0);

		if (fd < 0 || map(fd) == MAP_FAILED || write(tell[1], "", 1) != 1)
			_exit(2);
		enter(fd);
		_exit(3);
	}
	close(tell[1]);
	if (read(tell[0], &byte, 1) != 1)
		return 0;
	close(tell[0]);
	/* Look several times: the child may also sleep shortly before it enters the state. */
	for (ms = 0, asleep = 0; ms < PATIENCE_MS && asleep < 20; ms++) {
		asleep += is_asleep(child);
		usleep(1000);
	}
	return asleep == 20 ? child : 0;
}

/* Expect EVENTS unread events with numbers from @first on. */
static void expect_events(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
			  int fd, uint64_t first)
{
	struct sequence seq = {
		.event = control_event_id(nl, remote, "selftest"), .next = first,
	};

	ASSERT_EQ(PAGE, read(fd, page, PAGE));
	sequence_feed(&seq, page, PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(EVENTS, seq.seen);
	EXPECT_EQ(0, seq.lost);
}

TEST_F(lifetime, ring_is_free_after_its_reader_is_killed_in_any_state)
{
	unsigned int i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct counts counts;
		pid_t child;
		int fd, status;

		TH_LOG("%s", states[i].name);
		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
					   HYPTRACE_MODE_OVERWRITE));
		child = child_in(variant->remote, states[i].enter);
		ASSERT_LT(0, child);
		EXPECT_EQ(-EBUSY, open_attached(variant->remote, 0, 0));
		ASSERT_EQ(0, kill(child, SIGKILL));
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
		EXPECT_EQ(0, counts.consumer);

		/* The next reader can attach and read. */
		fd = open_attached(variant->remote, 0, O_NONBLOCK);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, EVENTS));
		expect_events(_metadata, &self->nl, variant->remote, fd, 0);
		close(fd);
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
		EXPECT_UNLOADED();
	}
}

/* Receive a descriptor with SCM_RIGHTS from a child that attached it and is then killed. */
static int fd_of_killed_child(const char *remote)
{
	char control[CMSG_SPACE(sizeof(int))], byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int ends[2], fd = -1;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return -1;
	child = fork();
	if (!child) {
		fd = open_attached(remote, 0, O_NONBLOCK);
		if (fd < 0 || map(fd) == MAP_FAILED)
			_exit(1);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
		sendmsg(ends[1], &msg, 0);
		pause();
	}
	close(ends[1]);
	if (recvmsg(ends[0], &msg, 0) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	close(ends[0]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return fd;
}

TEST_F(lifetime, descriptor_outlives_the_process)
{
	struct trace_buffer_meta *meta;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	fd = fd_of_killed_child(variant->remote);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EBUSY, open_attached(variant->remote, 0, 0));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, EVENTS));
	expect_events(_metadata, &self->nl, variant->remote, fd, 0);
	/* The mapping ended with its process. */
	EXPECT_EQ(-ENODEV, get_reader(fd));
	meta = map(fd);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, EVENTS, EVENTS));
	EXPECT_EQ(0, get_reader(fd));
	EXPECT_EQ(2 * EVENTS, meta->read);
	munmap(meta, MAP_SIZE);
	close(fd);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	EXPECT_UNLOADED();
}

/* A child inherits the descriptor but not the mapping. It cannot unmap the parent's. */
static int check_in_child(int fd, void *parents)
{
	struct trace_buffer_meta *meta;

	if (msync(parents, MAP_SIZE, MS_ASYNC) != -1 || errno != ENOMEM)
		return 1;
	if (munmap(parents, MAP_SIZE))
		return 2;
	meta = map(fd);
	if (meta == MAP_FAILED || meta->read)
		return 3;
	if (munmap(meta, MAP_SIZE) || close(fd))
		return 4;
	return 0;
}

TEST_F(lifetime, parent_keeps_its_mapping_after_fork)
{
	struct trace_buffer_meta *meta;
	int fd, status;
	pid_t child;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map(fd);
	ASSERT_NE(MAP_FAILED, meta);
	child = fork();
	if (!child)
		_exit(check_in_child(fd, meta));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(-EBUSY, open_attached(variant->remote, 0, 0));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, EVENTS));
	EXPECT_EQ(0, get_reader(fd));
	EXPECT_EQ(EVENTS, meta->read);
	EXPECT_EQ(0, munmap(meta, MAP_SIZE));
	EXPECT_EQ(-ENODEV, get_reader(fd));
	close(fd);
}

static int users_of(const char *module)
{
	char path[64];
	int users = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", module);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &users) != 1)
		users = -1;
	fclose(file);
	return users;
}

TEST_F(lifetime, module_stays_while_in_use)
{
	const char *module = strcmp(variant->remote, "test") ? "hyptrace_pkvm" : "hyptrace_test";
	int fd = open_attached(variant->remote, 0, 0);
	void *mapping;

	ASSERT_LE(0, fd);
	mapping = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, PAGE);
	ASSERT_NE(MAP_FAILED, mapping);
	EXPECT_EQ(-1, syscall(SYS_delete_module, module, O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
	/* The mapping of one sub-buffer keeps the module. */
	close(fd);
	EXPECT_LT(0, users_of(module));
	EXPECT_EQ(-1, syscall(SYS_delete_module, module, O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
	munmap(mapping, PAGE);
	EXPECT_EQ(0, users_of(module));
	EXPECT_UNLOADED();
}

TEST_HARNESS_MAIN
