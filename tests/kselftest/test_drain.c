// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading while more is written than can be read: a read() ends with what was there
 * when it began, draining to EAGAIN comes to an end, and nothing is missing.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"
#include "waiting.h"

#define CPUS		2
#define WRITER_CPU	1
#define NR_SUBBUFS	128UL
#define RING_SIZE	(NR_SUBBUFS * PAGE)
#define FRAME_SIZE	sizeof(struct hyptrace_frame)

/*
 * The writer comes first on its CPU, and writes again before all is read: who reads
 * there as long as there is something does not end.
 */
#define BATCH		(NR_SUBBUFS / 4 * PER_SUBBUF)
#define LEAST		(NR_SUBBUFS * 3 / 4 * PER_SUBBUF)
#define PAUSE_US	20
#define EVENTS		(16 * BATCH)
#define PATIENCE_S	300

/* What is unread when a drain begins, and how many drains there are */
#define START		(NR_SUBBUFS / 4 * PER_SUBBUF)
#define DRAINS		3

/* A ring's sub-buffers, the reader's, and the one that is written when the read begins */
#define READ_MAX	((NR_SUBBUFS + 2) * PAGE)
/* As many as there can be at the beginning, and the size of all rings */
#define DRAIN_MAX	(CPUS * READ_MAX + CPUS * RING_SIZE)

REMOTE_FIXTURE(drain);

TRACED_FIXTURE(traced, RING_SIZE);

/* Far more than rings have */
#define FAR_MORE	((size_t)(8 * NR_SUBBUFS * PAGE))
static char buffer[8 * NR_SUBBUFS * PAGE_MAX] __attribute__((aligned(8)));

/* Both are real-time: otherwise the scheduler gives a reader that starves more at times. */
enum { READER_PRIORITY = 1, WRITER_PRIORITY };

static int run_on(unsigned int cpu, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	/* musl's sched_setscheduler() always fails: what it does is not what POSIX asks for */
	return pin_to_cpu(cpu) ?: syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &param);
}

static int write_events(const char *remote)
{
	struct counts counts;
	uint64_t value;
	struct nl own;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (run_on(WRITER_CPU, WRITER_PRIORITY) || nl_open(&own))
		return 1;
	for (value = 0; value < (uint64_t)EVENTS; value += BATCH) {
		while (!control_counts(&own, remote, WRITER_CPU, &counts) &&
		       counts.unread > (uint64_t)LEAST)
			usleep(PAUSE_US);
		if (control_mark(&own, remote, WRITER_CPU, value, BATCH))
			return 2;
	}
	return 0;
}

static pid_t writer_start(const char *remote)
{
	pid_t child = fork();

	if (!child)
		_exit(write_events(remote));
	return child;
}

/**
 * struct run - a descriptor that is read while events are written
 * @fd:		non-blocking, or not
 * @all_cpus:	it is of all CPUs
 * @count:	what read() is asked for
 * @seqs:	what came so far
 * @piece:	of a sub-buffer, that came so far
 * @len:	of the piece
 * @most:	data of a read, or a drain, so far
 * @written:	events on each CPU, where the reader writes them
 */
struct run {
	int		fd;
	bool		all_cpus;
	size_t		count;
	struct sequence	seqs[CPUS];
	char		piece[PAGE_MAX] __attribute__((aligned(8)));
	size_t		len;
	uint64_t	most;
	uint64_t	written[CPUS];
};

static void run_begin(struct __test_metadata *_metadata, struct nl *nl, struct run *run,
		      const char *remote, int cpu, int flags, size_t count)
{
	unsigned int i;

	*run = (struct run) { .all_cpus = cpu == HYPTRACE_CPU_ALL, .count = count };
	for (i = 0; i < CPUS; i++)
		run->seqs[i].event = control_event_id(nl, remote, "selftest");
	run->fd = open_attached(remote, cpu, flags);
	ASSERT_LE(0, run->fd);
}

static uint64_t data_of(const void *subbuf)
{
	struct subbuf sub;

	subbuf_begin(&sub, subbuf, PAGE);
	return sub.end;
}

/* Look at what came; the data of the sub-buffers that are whole, without their headers */
static uint64_t run_feed(struct run *run, const char *data, size_t len)
{
	uint64_t sum = 0;
	size_t at, n;

	if (run->all_cpus) {
		for (at = 0; at < len; at += FRAME_SIZE + PAGE)
			sum += data_of(data + at + FRAME_SIZE);
		sequence_frames(run->seqs, CPUS, data, len);
		return sum;
	}
	for (at = 0; at < len; at += n) {
		n = PAGE - run->len < len - at ? PAGE - run->len : len - at;
		memcpy(run->piece + run->len, data + at, n);
		run->len += n;
		if (run->len < (size_t)PAGE)
			break;
		run->len = 0;
		sum += data_of(run->piece);
		sequence_feed(&run->seqs[WRITER_CPU], run->piece, PAGE);
	}
	return sum;
}

/* A read(), what came in @sum; as read() returns */
static ssize_t run_read(struct run *run, uint64_t *sum)
{
	ssize_t len = read(run->fd, buffer, run->count);

	*sum = len > 0 ? run_feed(run, buffer, len) : 0;
	return len;
}

static bool run_over(const struct run *run)
{
	return run->seqs[WRITER_CPU].next >= (uint64_t)EVENTS || run->seqs[WRITER_CPU].bad[0];
}

/* All numbers came, or were told to be lost, and the driver counts likewise. */
static void run_end(struct __test_metadata *_metadata, struct nl *nl, struct run *run,
		    const char *remote, pid_t writer)
{
	const struct sequence *seq = &run->seqs[WRITER_CPU];
	struct counts counts;
	int status;

	ASSERT_EQ(writer, waitpid(writer, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_STREQ("", seq->bad);
	EXPECT_EQ(EVENTS, seq->next);
	EXPECT_EQ(EVENTS, seq->seen + seq->lost);
	ASSERT_EQ(0, control_counts(nl, remote, WRITER_CPU, &counts));
	EXPECT_EQ(EVENTS, counts.written);
	EXPECT_EQ(seq->seen, counts.read);
	EXPECT_EQ(seq->lost, counts.overrun);
	EXPECT_EQ(0, counts.unread);
	close(run->fd);
}

/* However large the buffer is. The descriptor blocks: nothing but the data ends it. */
TEST_F_TIMEOUT(drain, a_read_has_an_end, PATIENCE_S)
{
	static const int cpus[] = { WRITER_CPU, HYPTRACE_CPU_ALL };
	static struct run run;
	unsigned int i;
	uint64_t sum;
	pid_t writer;

	ASSERT_EQ(0, run_on(WRITER_CPU, READER_PRIORITY));
	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
					   HYPTRACE_MODE_OVERWRITE));
		run_begin(_metadata, &self->nl, &run, variant->remote, cpus[i], 0,
			  FAR_MORE);
		writer = writer_start(variant->remote);
		while (!run_over(&run)) {
			ASSERT_LT(0, run_read(&run, &sum));
			run.most = sum > run.most ? sum : run.most;
		}
		EXPECT_GE(READ_MAX, run.most);
		run_end(_metadata, &self->nl, &run, variant->remote, writer);
	}
}

/* The same of what goes into a pipe, which has room for more than the ring */
TEST_F_TIMEOUT(drain, a_splice_has_an_end, PATIENCE_S)
{
	static struct run run;
	ssize_t len, got, n;
	int pipes[2];
	uint64_t sum;
	pid_t writer;

	ASSERT_EQ(0, run_on(WRITER_CPU, READER_PRIORITY));
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_LE(2 * READ_MAX, fcntl(pipes[1], F_SETPIPE_SZ, 2 * READ_MAX));
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	run_begin(_metadata, &self->nl, &run, variant->remote, WRITER_CPU, 0, FAR_MORE);
	writer = writer_start(variant->remote);
	while (!run_over(&run)) {
		len = splice(run.fd, NULL, pipes[1], NULL, FAR_MORE, 0);
		ASSERT_LT(0, len);
		for (got = 0; got < len; got += n) {
			n = read(pipes[0], buffer + got, len - got);
			ASSERT_LT(0, n);
		}
		sum = run_feed(&run, buffer, len);
		run.most = sum > run.most ? sum : run.most;
	}
	EXPECT_GE(READ_MAX, run.most);
	run_end(_metadata, &self->nl, &run, variant->remote, writer);
	close(pipes[0]);
	close(pipes[1]);
}

/* What the reader has taken is written again, at least an event: there is always more. */
static int refill(struct nl *nl, const char *remote, int cpu, struct run *run)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < CPUS && !err; i++) {
		uint64_t target = run->seqs[i].seen + START;
		uint32_t events = target > run->written[i] ? target - run->written[i] : 1;

		if (cpu != HYPTRACE_CPU_ALL && cpu != (int)i)
			continue;
		err = control_mark(nl, remote, i, run->written[i], events);
		run->written[i] += events;
	}
	return err;
}

/* Until EAGAIN, or more came than may: then false */
static bool drain(struct run *run, uint64_t limit)
{
	uint64_t sum, total = 0;

	while (run_read(run, &sum) > 0) {
		total += sum;
		if (total > limit)
			return false;
	}
	return errno == EAGAIN;
}

/* The same while it is written as fast as it is read */
static bool drain_with_refills(struct nl *nl, const char *remote, int cpu, struct run *run,
			       uint64_t limit)
{
	uint64_t sum;

	run->most = 0;
	while (run_read(run, &sum) > 0) {
		run->most += sum;
		if (run->most > limit || refill(nl, remote, cpu, run))
			return false;
	}
	return errno == EAGAIN;
}

static uint64_t bytes_unread(struct nl *nl, const char *remote)
{
	struct counts counts;
	uint64_t unread = 0;
	unsigned int i;

	for (i = 0; i < CPUS; i++) {
		if (!control_counts(nl, remote, i, &counts))
			unread += counts.unread * RECORD;
	}
	return unread;
}

enum way { BY_POLL, BY_EDGE };

static bool is_told(enum way way, int fd, int epoll_fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	struct epoll_event got;

	return (way == BY_EDGE ? epoll_wait(epoll_fd, &got, 1, timeout_ms) :
				 poll(&poll_fd, 1, timeout_ms)) == 1;
}

/*
 * After EAGAIN there is more: poll() says so at once, edge-triggered epoll tells anew.
 * Who drains and waits in turn gets all there is, also once nothing is written any more.
 */
static void drain_by(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
		     int cpu, size_t count, enum way way)
{
	uint64_t rings = (cpu == HYPTRACE_CPU_ALL ? CPUS : 1) * RING_SIZE, unread;
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	static struct run run;
	unsigned int i;

	ASSERT_EQ(0, control_ready(nl, remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE));
	run_begin(_metadata, nl, &run, remote, cpu, O_NONBLOCK, count);
	ASSERT_EQ(0, epoll_ctl(epoll_fd, EPOLL_CTL_ADD, run.fd, &event));
	ASSERT_EQ(0, refill(nl, remote, cpu, &run));
	for (i = 0; i < DRAINS; i++) {
		ASSERT_TRUE(is_told(way, run.fd, epoll_fd, i && way == BY_POLL ? 0 : SOON_MS));
		unread = bytes_unread(nl, remote);
		ASSERT_TRUE(drain_with_refills(nl, remote, cpu, &run, unread + rings + PAGE))
			TH_LOG("CPU %d, reads of %zu: %llu bytes and no EAGAIN, %llu at first",
			       cpu, count, (unsigned long long)run.most,
			       (unsigned long long)unread);
		ASSERT_LT(0, bytes_unread(nl, remote));
	}
	while (bytes_unread(nl, remote)) {
		ASSERT_TRUE(is_told(way, run.fd, epoll_fd, SOON_MS));
		ASSERT_TRUE(drain(&run, rings + PAGE));
	}
	for (i = 0; i < CPUS; i++) {
		EXPECT_STREQ("", run.seqs[i].bad);
		EXPECT_EQ(run.written[i], run.seqs[i].seen);
	}
	close(run.fd);
	close(epoll_fd);
}

#define NR_SIZES	4
#define NR_SIZES_OF_ALL	2

static size_t size_of(unsigned int i)
{
	const size_t sizes[] = { 1000, PAGE, 3 * PAGE, FAR_MORE };

	return sizes[i];
}

/* of all CPUs, with frames */
static size_t size_of_all(unsigned int i)
{
	return i ? FAR_MORE : FRAME_SIZE + PAGE;
}

TEST_F_TIMEOUT(drain, to_EAGAIN_has_an_end, PATIENCE_S)
{
	unsigned int i;

	for (i = 0; i < NR_SIZES; i++)
		drain_by(_metadata, &self->nl, variant->remote, WRITER_CPU, size_of(i), BY_POLL);
	for (i = 0; i < NR_SIZES_OF_ALL; i++)
		drain_by(_metadata, &self->nl, variant->remote, HYPTRACE_CPU_ALL,
			 size_of_all(i), BY_POLL);
}

TEST_F_TIMEOUT(drain, edge_triggered_is_told_of_the_rest, PATIENCE_S)
{
	unsigned int i;

	for (i = 0; i < NR_SIZES; i++)
		drain_by(_metadata, &self->nl, variant->remote, WRITER_CPU, size_of(i), BY_EDGE);
	for (i = 0; i < NR_SIZES_OF_ALL; i++)
		drain_by(_metadata, &self->nl, variant->remote, HYPTRACE_CPU_ALL,
			 size_of_all(i), BY_EDGE);
}

/* While another CPU writes as fast as it can, too */
TEST_F_TIMEOUT(drain, of_a_writer_misses_nothing, PATIENCE_S)
{
	static const int cpus[] = { WRITER_CPU, HYPTRACE_CPU_ALL };
	static struct run run;
	pid_t writer;
	unsigned int i;

	ASSERT_EQ(0, run_on(!WRITER_CPU, READER_PRIORITY));
	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
					   HYPTRACE_MODE_OVERWRITE));
		run_begin(_metadata, &self->nl, &run, variant->remote, cpus[i], O_NONBLOCK,
			  FRAME_SIZE + PAGE);
		writer = writer_start(variant->remote);
		while (!run_over(&run)) {
			ASSERT_TRUE(is_told(BY_POLL, run.fd, -1, SOON_MS));
			ASSERT_TRUE(drain(&run, DRAIN_MAX));
		}
		run_end(_metadata, &self->nl, &run, variant->remote, writer);
	}
}

/* Nothing but the reader is at work, on the CPU that is traced or on another. */
TEST_F_TIMEOUT(traced, to_EAGAIN_has_an_end, PATIENCE_S)
{
	static const int cpus[] = { 0, 1, HYPTRACE_CPU_ALL };
	static struct run run;
	unsigned int i, j, on;

	for (on = 0; on < CPUS; on++) {
		ASSERT_EQ(0, run_on(on, READER_PRIORITY));
		for (i = 0; i < ARRAY_SIZE(cpus); i++) {
			for (j = 0; j < NR_SIZES_OF_ALL; j++) {
				run_begin(_metadata, &self->nl, &run, variant->remote, cpus[i],
					  O_NONBLOCK, size_of_all(j));
				EXPECT_TRUE(drain(&run, DRAIN_MAX))
					TH_LOG("on CPU %u, CPU %d, reads of %zu: no EAGAIN", on,
					       cpus[i], size_of_all(j));
				close(run.fd);
			}
		}
	}
}

TEST_HARNESS_MAIN
