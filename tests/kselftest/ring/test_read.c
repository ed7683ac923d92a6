// SPDX-License-Identifier: GPL-2.0-only
/* read() of /dev/hyptrace: what it delivers, and when it blocks. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"
#include "waiting.h"

#define NR_SUBBUFS	16
#define RING_SIZE	(NR_SUBBUFS * PAGE)
#define FRAME_SIZE	sizeof(struct hyptrace_frame)
#define CPUS		2

/* This many selftest events fill several sub-buffers, but not the ring. */
#define MANY		(5 * PER_SUBBUF)

REMOTE_FIXTURE(read);

static char buffer[NR_SUBBUFS * PAGE_MAX * CPUS * 2] __attribute__((aligned(8)));

static struct sequence sequence_of(struct nl *nl, const char *remote)
{
	return (struct sequence) { .event = control_event_id(nl, remote, "selftest") };
}

static int ready(struct nl *nl, const char *remote)
{
	return control_ready(nl, remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE);
}

TEST_F(read, mark_7_is_read_as_7)
{
	struct record record;
	struct subbuf sub;
	struct { uint16_t event; uint64_t id; } selftest;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 7, 1));
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));

	subbuf_begin(&sub, buffer, PAGE);
	EXPECT_FALSE(sub.missed);
	ASSERT_TRUE(subbuf_next(&sub, &record));
	ASSERT_EQ(sizeof(selftest), record.size);
	memcpy(&selftest, record.payload, sizeof(selftest));
	EXPECT_EQ(control_event_id(&self->nl, variant->remote, "selftest"), selftest.event);
	EXPECT_EQ(7, selftest.id);
	EXPECT_FALSE(subbuf_next(&sub, &record));
	EXPECT_EQ(NULL, sub.bad);
	close(fd);
}

TEST_F(read, events_of_a_cpu_are_in_its_own_ring)
{
	int cpu, fd[CPUS];

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	for (cpu = 0; cpu < CPUS; cpu++) {
		fd[cpu] = open_attached(variant->remote, cpu, O_NONBLOCK);
		ASSERT_LE(0, fd[cpu]);
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		struct sequence seq = sequence_of(&self->nl, variant->remote);

		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, 0, 3));
		ASSERT_EQ(PAGE, read(fd[cpu], buffer, PAGE));
		EXPECT_EQ(-1, read(fd[!cpu], buffer + PAGE, PAGE));
		EXPECT_EQ(EAGAIN, errno);
		sequence_feed(&seq, buffer, PAGE);
		EXPECT_STREQ("", seq.bad);
		EXPECT_EQ(3, seq.seen);
	}
}

TEST_F(read, mark_without_cpu_is_on_the_current_cpu)
{
	struct counts counts;

	ASSERT_EQ(0, pin_to_cpu(1));
	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, CPU_CURRENT, 1, 5));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(5, counts.written);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(0, counts.written);
}

TEST_F(read, delivers_as_many_subbufs_as_fit)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	ssize_t len, at, total = 0;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, MANY));
	/* room for two and a half */
	len = read(fd, buffer, PAGE * 5 / 2);
	EXPECT_EQ(2 * PAGE, len);
	while (len > 0) {
		ASSERT_EQ(0, len % PAGE);
		for (at = 0; at < len; at += PAGE)
			sequence_feed(&seq, buffer + at, PAGE);
		total += len;
		len = read(fd, buffer, sizeof(buffer));
	}
	EXPECT_EQ(-1, len);
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(MANY, seq.seen);
	EXPECT_EQ(0, seq.lost);
	close(fd);
}

TEST_F(read, bytes_after_the_data_are_0)
{
	struct subbuf sub;
	unsigned int i, dirty = 0;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	/* Fill the ring more than once, so that every page holds old data. */
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 20 * MANY));
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
	subbuf_begin(&sub, buffer, PAGE);
	EXPECT_EQ(NULL, sub.bad);
	EXPECT_FALSE(sub.missed);
	for (i = sizeof(struct hyptrace_subbuf) + sub.end; i < PAGE; i++)
		dirty += !!buffer[i];
	EXPECT_EQ(0, dirty);
	close(fd);
}

TEST_F(read, short_buffer_receives_a_subbuf_in_pieces)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	static const size_t pieces[] = { 1, 7, 100, 1000, PAGE_MAX - 1 };
	size_t at = 0, size;
	unsigned int i = 0;
	ssize_t len;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, MANY));
	while (at < sizeof(buffer)) {
		size = pieces[i++ % ARRAY_SIZE(pieces)];
		len = read(fd, buffer + at, size);
		if (len < 0)
			break;
		ASSERT_LT(0, len);
		ASSERT_GE(size, len);
		at += len;
	}
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(0, at % PAGE);
	for (size = 0; size + PAGE <= at; size += PAGE)
		sequence_feed(&seq, buffer + size, PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(MANY, seq.seen);
	close(fd);
}

TEST_F(read, poll_reports_the_rest_of_a_subbuf)
{
	struct pollfd poll_fd = { .events = POLLIN };

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	poll_fd.fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	ASSERT_EQ(10, read(poll_fd.fd, buffer, 10));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	EXPECT_EQ(1, poll(&poll_fd, 1, 0));
	EXPECT_EQ(POLLIN, poll_fd.revents);
	EXPECT_EQ(PAGE - 10, read(poll_fd.fd, buffer, PAGE));
	EXPECT_EQ(0, read(poll_fd.fd, buffer, PAGE));
	EXPECT_EQ(1, poll(&poll_fd, 1, 0));
	EXPECT_EQ(POLLHUP, poll_fd.revents);
	close(poll_fd.fd);
}

TEST_F(read, zero_bytes_consume_nothing)
{
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	EXPECT_EQ(0, read(fd, buffer, 0));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_EQ(0, read(fd, buffer, 0));
	EXPECT_EQ(PAGE, read(fd, buffer, PAGE));
	close(fd);
}

TEST_F(read, bad_pointer_loses_nothing)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	void *volatile nowhere = NULL;
	size_t at = 0, i;
	ssize_t len;
	int fd;

	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, mprotect(pages + 2 * PAGE, PAGE, PROT_NONE));
	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, MANY));

	EXPECT_EQ(-1, read(fd, nowhere, PAGE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, read(fd, (void *)(1UL << 55), PAGE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, read(fd, pages + 2 * PAGE, PAGE));
	EXPECT_EQ(EFAULT, errno);

	/* The buffer is mapped for 100 bytes and one page. */
	len = read(fd, pages + PAGE - 100, 3 * PAGE);
	ASSERT_LT(0, len);
	ASSERT_GE(PAGE + 100, len);
	memcpy(buffer, pages + PAGE - 100, len);
	for (at = len; (len = read(fd, buffer + at, sizeof(buffer) - at)) > 0; at += len)
		;
	EXPECT_EQ(0, at % PAGE);
	for (i = 0; i + PAGE <= at; i += PAGE)
		sequence_feed(&seq, buffer + i, PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(MANY, seq.seen);
	close(fd);
}

TEST_F(read, readv_fills_all_vectors)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	struct iovec vector[3] = {
		{ buffer, 100 }, { buffer + 100, PAGE - 100 }, { buffer + PAGE, PAGE },
	};
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, MANY));
	ASSERT_EQ(2 * PAGE, readv(fd, vector, 3));
	sequence_feed(&seq, buffer, PAGE);
	sequence_feed(&seq, buffer + PAGE, PAGE);
	EXPECT_STREQ("", seq.bad);
	close(fd);
}

TEST_F(read, blocks_until_an_event)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	pid_t child;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_MARK);
	EXPECT_EQ(PAGE, read(fd, buffer, sizeof(buffer)));
	seq.next = 7;
	sequence_feed(&seq, buffer, PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(1, seq.seen);
	wait_for(_metadata, child);
	close(fd);
}

TEST_F(read, stop_ends_a_blocking_read)
{
	pid_t child;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_STOP);
	EXPECT_EQ(0, read(fd, buffer, sizeof(buffer)));
	wait_for(_metadata, child);
	close(fd);
}

TEST_F(read, empty_ring_ends_the_read_only_if_tracing_is_off)
{
	int fd;

	/* Attaching has loaded the rings, but tracing is off. */
	fd = open_attached(variant->remote, 0, 0);
	EXPECT_EQ(0, read(fd, buffer, sizeof(buffer)));
	ASSERT_EQ(0, fcntl(fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(0, read(fd, buffer, sizeof(buffer)));
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_EQ(-1, read(fd, buffer, sizeof(buffer)));
	EXPECT_EQ(EAGAIN, errno);
	/* Events from before the stop are delivered before the end. */
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	EXPECT_EQ(PAGE, read(fd, buffer, sizeof(buffer)));
	EXPECT_EQ(0, read(fd, buffer, sizeof(buffer)));
	close(fd);
	EXPECT_UNLOADED();
}

static void on_alarm(int signal)
{
}

static void alarm_in(struct __test_metadata *_metadata, int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval timer = { .it_value.tv_usec = 200 * 1000 };

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &timer, NULL));
}

TEST_F(read, signal_ends_a_blocking_read)
{
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	alarm_in(_metadata, 0);
	EXPECT_EQ(-1, read(fd, buffer, sizeof(buffer)));
	EXPECT_EQ(EINTR, errno);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_EQ(PAGE, read(fd, buffer, sizeof(buffer)));
	close(fd);
}

TEST_F(read, signal_with_SA_RESTART_restarts_a_blocking_read)
{
	pid_t child;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	alarm_in(_metadata, SA_RESTART);
	child = fork();
	if (!child) {
		struct nl own;

		usleep(600 * 1000);
		_exit(nl_open(&own) || control_mark(&own, variant->remote, 0, 0, 1));
	}
	EXPECT_EQ(PAGE, read(fd, buffer, sizeof(buffer)));
	wait_for(_metadata, child);
	close(fd);
}

TEST_F(read, kill_ends_a_blocking_read)
{
	pid_t child;
	int status;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	child = fork();
	if (!child) {
		int fd = open_attached(variant->remote, 0, 0);

		_exit(read(fd, buffer, sizeof(buffer)));
	}
	usleep(300 * 1000);
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	EXPECT_UNLOADED();
}

TEST_F(read, all_cpus_are_delivered_in_frames)
{
	struct sequence seqs[CPUS] = {
		sequence_of(&self->nl, variant->remote), sequence_of(&self->nl, variant->remote),
	};
	ssize_t len;
	int cpu, fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (cpu = 0; cpu < CPUS; cpu++)
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, 0, MANY + cpu));

	EXPECT_EQ(-1, read(fd, buffer, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(fd, buffer, FRAME_SIZE + PAGE - 1));
	EXPECT_EQ(EINVAL, errno);
	/* one sub-buffer fits, then as many as there are */
	len = read(fd, buffer, 2 * (FRAME_SIZE + PAGE) - 1);
	EXPECT_EQ(FRAME_SIZE + PAGE, len);
	while (len > 0) {
		sequence_frames(seqs, CPUS, buffer, len);
		len = read(fd, buffer, sizeof(buffer));
	}
	EXPECT_EQ(EAGAIN, errno);
	for (cpu = 0; cpu < CPUS; cpu++) {
		EXPECT_STREQ("", seqs[cpu].bad);
		EXPECT_EQ(MANY + cpu, seqs[cpu].seen);
		EXPECT_EQ(0, seqs[cpu].lost);
	}

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	EXPECT_EQ(-1, read(fd, buffer, PAGE));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, read(fd, buffer, sizeof(buffer)));
	EXPECT_EQ(-1, ioctl(fd, TRACE_MMAP_IOCTL_GET_READER));
	EXPECT_EQ(ENODEV, errno);
	close(fd);
}

/* A CPU with many events must not keep the others from being read. */
TEST_F(read, all_cpus_are_read_in_turn)
{
	struct hyptrace_frame frame;
	bool seen[CPUS] = { };
	unsigned int i;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, MANY));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, MANY));
	for (i = 0; i < CPUS; i++) {
		ASSERT_EQ(FRAME_SIZE + PAGE, read(fd, buffer, FRAME_SIZE + PAGE));
		memcpy(&frame, buffer, sizeof(frame));
		ASSERT_GT(CPUS, frame.cpu);
		seen[frame.cpu] = true;
	}
	EXPECT_TRUE(seen[0] && seen[1]);
	close(fd);
}

TEST_F(read, child_and_parent_share_the_descriptor)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	pid_t child;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	child = fork();
	if (!child)
		_exit(read(fd, buffer, PAGE) != PAGE);
	wait_for(_metadata, child);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 10, 10));
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
	/* The child has read the first ten. */
	seq.next = 10;
	sequence_feed(&seq, buffer, PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(10, seq.seen);
	close(fd);
}

/* All rounds take some tenths of a second: one is too short for another reader to run meanwhile. */
#define NR_ROUNDS	20
#define NR_READERS	3
#define NR_PAGES	200
#define NR_SHARED	(NR_PAGES * PER_SUBBUF)
/* With KASAN and lockdep, in an emulator */
#define PATIENCE_S	300

/*
 * Read until the ring is empty, and count each event in @seen. The kernel has to fault the memory
 * in while it copies to it, so that there is time for another reader.
 */
static int read_shared(uint8_t *seen, int fd, uint16_t event)
{
	struct { uint16_t event; uint64_t id; } selftest;
	struct record record;
	struct subbuf sub;
	uint8_t *pages;
	ssize_t got;

	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 4;
	for (;;) {
		if (madvise(pages, 2 * PAGE, MADV_DONTNEED))
			return 4;
		got = read(fd, pages + PAGE / 2, PAGE);
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got != PAGE)
			return 1;
		subbuf_begin(&sub, pages + PAGE / 2, PAGE);
		while (subbuf_next(&sub, &record)) {
			if (record.size != sizeof(selftest))
				return 2;
			memcpy(&selftest, record.payload, sizeof(selftest));
			if (selftest.event != event || selftest.id >= NR_SHARED)
				return 2;
			__atomic_fetch_add(&seen[selftest.id], 1, __ATOMIC_RELAXED);
		}
		if (sub.bad)
			return 3;
	}
}

TEST_F_TIMEOUT(read, processes_that_read_one_descriptor_share_its_events, PATIENCE_S)
{
	const uint16_t event = control_event_id(&self->nl, variant->remote, "selftest");
	unsigned int i, page, once, round;
	pid_t readers[NR_READERS];
	uint8_t *seen;
	int fd;

	seen = mmap(NULL, NR_SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, seen);
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, (NR_PAGES + NR_SUBBUFS) * PAGE,
				   HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (round = 0; round < NR_ROUNDS; round++) {
		memset(seen, 0, NR_SHARED);
		for (page = 0; page < NR_PAGES; page++)
			EXPECT_EQ(0, control_mark(&self->nl, variant->remote, 0,
						  page * PER_SUBBUF, PER_SUBBUF));
		for (i = 0; i < NR_READERS; i++) {
			readers[i] = fork();
			if (!readers[i])
				_exit(read_shared(seen, fd, event));
		}
		for (i = 0; i < NR_READERS; i++)
			wait_for(_metadata, readers[i]);
		for (i = 0, once = 0; i < NR_SHARED; i++)
			once += seen[i] == 1;
		ASSERT_EQ(NR_SHARED, once);
	}
	close(fd);
}

TEST_HARNESS_MAIN
