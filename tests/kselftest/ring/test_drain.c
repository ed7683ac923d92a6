// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read while the writer writes faster than the reader reads. One read() delivers what was
 * in the ring when it began. A loop of reads until EAGAIN ends. No event is missing.
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
 * The writer has a higher priority than a reader on the same CPU, and writes a batch
 * before the ring is empty. So a reader that reads until the ring is empty never ends.
 */
#define BATCH		(NR_SUBBUFS / 4 * PER_SUBBUF)
#define LEAST		(NR_SUBBUFS * 3 / 4 * PER_SUBBUF)
#define PAUSE_US	20
#define EVENTS		(16 * BATCH)
#define PATIENCE_S	300

/* Unread events on each CPU when a drain begins, and the number of drains */
#define START		(NR_SUBBUFS / 4 * PER_SUBBUF)
#define DRAINS		3

/* All sub-buffers of a ring, the reader page, and the one being written when the read begins */
#define READ_MAX	((NR_SUBBUFS + 2) * PAGE)
/* The bytes in all rings when the drain begins, plus the capacity of all rings */
#define DRAIN_MAX	(CPUS * READ_MAX + CPUS * RING_SIZE)

REMOTE_FIXTURE(drain);

TRACED_FIXTURE(traced, RING_SIZE);

/* Bytes of a read() that asks for far more than the rings hold */
#define FAR_MORE	((size_t)(8 * NR_SUBBUFS * PAGE))
static char buffer[8 * NR_SUBBUFS * PAGE_MAX] __attribute__((aligned(8)));

/* Both are real-time: a fair scheduler would let a starving reader run now and then. */
enum { READER_PRIORITY = 1, WRITER_PRIORITY };

static int run_on(unsigned int cpu, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	/* Make the system call directly: sched_setscheduler() of musl always fails. */
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
 * @fd:		the descriptor
 * @all_cpus:	it is attached to all CPUs
 * @count:	bytes that each read() asks for
 * @seqs:	events of each CPU so far
 * @piece:	the part of a sub-buffer that has been read so far
 * @len:	bytes in @piece
 * @most:	largest amount of data in one read so far, or the data of the present drain
 * @written:	events on each CPU, if the reader itself writes them
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

/* Check the data that was read. Return its bytes, in whole sub-buffers, without headers. */
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

/* Read once. @sum: the bytes of data. Return what read() returns. */
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

/* Expect that each event was read or reported as lost, and that the counters agree. */
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

/* The buffer is large and the descriptor blocks: only the limit of a read() ends it. */
TEST_F_TIMEOUT(drain, a_read_ends_while_events_are_written, PATIENCE_S)
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

/* The pipe has room for more than the ring holds. */
TEST_F_TIMEOUT(drain, a_splice_ends_while_events_are_written, PATIENCE_S)
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

/* Write as many events as were read since the last call, at least one on each CPU. */
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

/* Read until EAGAIN. Return false if more than @limit bytes come. */
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

/* Likewise, but refill the rings after each read. */
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

static bool becomes_readable(enum way way, int fd, int epoll_fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	struct epoll_event got;

	return (way == BY_EDGE ? epoll_wait(epoll_fd, &got, 1, timeout_ms) :
				 poll(&poll_fd, 1, timeout_ms)) == 1;
}

/*
 * EAGAIN may come although there is more: then poll() returns at once, and edge-triggered
 * epoll reports a new edge. So draining and waiting in turn reads all events.
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
		ASSERT_TRUE(becomes_readable(way, run.fd, epoll_fd,
					     i && way == BY_POLL ? 0 : SOON_MS));
		unread = bytes_unread(nl, remote);
		ASSERT_TRUE(drain_with_refills(nl, remote, cpu, &run, unread + rings + PAGE))
			TH_LOG("CPU %d, reads of %zu: %llu bytes and no EAGAIN, %llu at first",
			       cpu, count, (unsigned long long)run.most,
			       (unsigned long long)unread);
		ASSERT_LT(0, bytes_unread(nl, remote));
	}
	while (bytes_unread(nl, remote)) {
		ASSERT_TRUE(becomes_readable(way, run.fd, epoll_fd, SOON_MS));
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

/* The same for all CPUs: each sub-buffer has a frame before it. */
static size_t size_of_all(unsigned int i)
{
	return i ? FAR_MORE : FRAME_SIZE + PAGE;
}

TEST_F_TIMEOUT(drain, reads_until_EAGAIN_end_while_events_are_written, PATIENCE_S)
{
	unsigned int i;

	for (i = 0; i < NR_SIZES; i++)
		drain_by(_metadata, &self->nl, variant->remote, WRITER_CPU, size_of(i), BY_POLL);
	for (i = 0; i < NR_SIZES_OF_ALL; i++)
		drain_by(_metadata, &self->nl, variant->remote, HYPTRACE_CPU_ALL,
			 size_of_all(i), BY_POLL);
}

TEST_F_TIMEOUT(drain, edge_triggered_epoll_reports_the_rest_after_EAGAIN, PATIENCE_S)
{
	unsigned int i;

	for (i = 0; i < NR_SIZES; i++)
		drain_by(_metadata, &self->nl, variant->remote, WRITER_CPU, size_of(i), BY_EDGE);
	for (i = 0; i < NR_SIZES_OF_ALL; i++)
		drain_by(_metadata, &self->nl, variant->remote, HYPTRACE_CPU_ALL,
			 size_of_all(i), BY_EDGE);
}

/* The writer runs on another CPU than the reader, as fast as it can. */
TEST_F_TIMEOUT(drain, drains_of_a_running_writer_miss_no_event, PATIENCE_S)
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
			ASSERT_TRUE(becomes_readable(BY_POLL, run.fd, -1, SOON_MS));
			ASSERT_TRUE(drain(&run, DRAIN_MAX));
		}
		run_end(_metadata, &self->nl, &run, variant->remote, writer);
	}
}

/* Only the reader runs, on the CPU that it reads or on the other one. */
TEST_F_TIMEOUT(traced, reads_until_EAGAIN_end_though_reading_is_traced, PATIENCE_S)
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
					TH_LOG("reader on CPU %u, ring %d, %zu bytes: no end", on,
					       cpus[i], size_of_all(j));
				close(run.fd);
			}
		}
	}
}

TEST_HARNESS_MAIN
