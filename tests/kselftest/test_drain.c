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

#include "kselftest_harness.h"
#include "remotes.h"
#include "subbuf.h"
#include "waiting.h"

#define PAGE		4096U
#define CPUS		2
#define WRITER_CPU	1
#define NR_SUBBUFS	128
#define RING_SIZE	(NR_SUBBUFS * PAGE)
#define FRAME_SIZE	sizeof(struct hyptrace_frame)

/*
 * The writer comes first on its CPU, and writes again before all is read: who reads
 * there as long as there is something does not end.
 */
#define PER_SUBBUF	((PAGE - SUBBUF_HEADER) / 20)
#define BATCH		(NR_SUBBUFS / 4 * PER_SUBBUF)
#define LEAST		(NR_SUBBUFS * 3 / 4 * PER_SUBBUF)
#define PAUSE_US	20
#define EVENTS		(16 * BATCH)
#define PATIENCE_S	300

/* A ring's sub-buffers, the reader's, and the one that is written when the read begins */
#define READ_MAX	((NR_SUBBUFS + 2) * PAGE)
/* As many as there can be at the beginning, and the size of all rings */
#define DRAIN_MAX	(CPUS * READ_MAX + CPUS * RING_SIZE)

REMOTE_FIXTURE(drain);

/* Where hyp_enter and hyp_exit are recorded, too */
FIXTURE(traced) {
	struct nl nl;
};

FIXTURE_VARIANT(traced) {
	const char *remote;
};

FIXTURE_VARIANT_ADD(traced, hypervisor) {
	.remote = "hypervisor",
};

FIXTURE_SETUP(traced)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_enter", true));
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_exit", true));
}

FIXTURE_TEARDOWN(traced)
{
	control_fresh(&self->nl, variant->remote);
	nl_close(&self->nl);
}

/* Far more than rings have */
static char buffer[4 << 20] __attribute__((aligned(8)));

static int pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int write_events(const char *remote)
{
	struct sched_param param = { .sched_priority = 1 };
	struct counts counts;
	uint64_t value;
	struct nl own;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pin(WRITER_CPU) || sched_setscheduler(0, SCHED_FIFO, &param) || nl_open(&own))
		return 1;
	for (value = 0; value < EVENTS; value += BATCH) {
		while (!control_counts(&own, remote, WRITER_CPU, &counts) && counts.unread > LEAST)
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
 */
struct run {
	int		fd;
	bool		all_cpus;
	size_t		count;
	struct sequence	seqs[CPUS];
	char		piece[PAGE] __attribute__((aligned(8)));
	size_t		len;
	uint64_t	most;
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
		if (run->len < PAGE)
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
	return run->seqs[WRITER_CPU].next >= EVENTS || run->seqs[WRITER_CPU].bad[0];
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

	ASSERT_EQ(0, pin(WRITER_CPU));
	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
					   HYPTRACE_MODE_OVERWRITE));
		run_begin(_metadata, &self->nl, &run, variant->remote, cpus[i], 0,
			  sizeof(buffer));
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

	ASSERT_EQ(0, pin(WRITER_CPU));
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_LE(2 * READ_MAX, fcntl(pipes[1], F_SETPIPE_SZ, 2 * READ_MAX));
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	run_begin(_metadata, &self->nl, &run, variant->remote, WRITER_CPU, 0, sizeof(buffer));
	writer = writer_start(variant->remote);
	while (!run_over(&run)) {
		len = splice(run.fd, NULL, pipes[1], NULL, sizeof(buffer), 0);
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

/* Until EAGAIN, or more came than may: then false */
static bool drain(struct run *run, uint64_t limit)
{
	uint64_t sum, total = 0;

	while (run_read(run, &sum) > 0) {
		total += sum;
		run->most = total > run->most ? total : run->most;
		if (total > limit)
			return false;
	}
	return errno == EAGAIN;
}

enum { BY_POLL, BY_EDGE, NR_WAYS };

/*
 * After EAGAIN there may be more: poll() says so at once, edge-triggered epoll tells
 * anew. Who drains and waits in turn gets all there is.
 */
static void drain_by(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
		     int cpu, size_t count, unsigned int way)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET }, got;
	uint64_t limit = READ_MAX + (cpu == HYPTRACE_CPU_ALL ? CPUS : 1) * RING_SIZE;
	struct pollfd poll_fd = { .events = POLLIN };
	unsigned int drains = 0, early = 0;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	static struct run run;
	struct counts counts;
	pid_t writer;

	ASSERT_EQ(0, control_ready(nl, remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE));
	run_begin(_metadata, nl, &run, remote, cpu, O_NONBLOCK, count);
	ASSERT_EQ(0, epoll_ctl(epoll_fd, EPOLL_CTL_ADD, run.fd, &event));
	poll_fd.fd = run.fd;
	writer = writer_start(remote);
	while (!run_over(&run)) {
		ASSERT_EQ(1, way == BY_EDGE ? epoll_wait(epoll_fd, &got, 1, SOON_MS) :
						poll(&poll_fd, 1, SOON_MS));
		ASSERT_TRUE(drain(&run, limit))
			TH_LOG("reads of %zu: %llu bytes and no EAGAIN", count,
			       (unsigned long long)run.most);
		drains++;
		if (way == BY_EDGE)
			continue;
		ASSERT_EQ(0, control_counts(nl, remote, WRITER_CPU, &counts));
		if (counts.unread) {
			EXPECT_EQ(1, poll(&poll_fd, 1, 0));
			early++;
		}
	}
	TH_LOG("CPU %d, reads of %zu: %u drains, %u of them with more to come, at most %llu bytes",
	       cpu, count, drains, early, (unsigned long long)run.most);
	run_end(_metadata, nl, &run, remote, writer);
	close(epoll_fd);
}

TEST_F_TIMEOUT(drain, to_EAGAIN_has_an_end, PATIENCE_S)
{
	static const size_t counts[] = { 1000, PAGE, sizeof(buffer) };
	unsigned int i;

	ASSERT_EQ(0, pin(WRITER_CPU));
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		drain_by(_metadata, &self->nl, variant->remote, WRITER_CPU, counts[i], BY_POLL);
}

TEST_F_TIMEOUT(drain, of_all_cpus_has_an_end, PATIENCE_S)
{
	ASSERT_EQ(0, pin(WRITER_CPU));
	drain_by(_metadata, &self->nl, variant->remote, HYPTRACE_CPU_ALL, FRAME_SIZE + PAGE,
		 BY_POLL);
	drain_by(_metadata, &self->nl, variant->remote, HYPTRACE_CPU_ALL, sizeof(buffer),
		 BY_POLL);
}

TEST_F_TIMEOUT(drain, edge_triggered_misses_nothing, PATIENCE_S)
{
	ASSERT_EQ(0, pin(!WRITER_CPU));
	drain_by(_metadata, &self->nl, variant->remote, WRITER_CPU, PAGE, BY_EDGE);
	drain_by(_metadata, &self->nl, variant->remote, HYPTRACE_CPU_ALL, sizeof(buffer),
		 BY_EDGE);
}

/* Nothing but the reader is at work, on the CPU that is traced or on another. */
TEST_F_TIMEOUT(traced, to_EAGAIN_has_an_end, PATIENCE_S)
{
	static const size_t sizes[] = { FRAME_SIZE + PAGE, 3 * PAGE, sizeof(buffer) };
	static const int cpus[] = { 0, 1, HYPTRACE_CPU_ALL };
	static struct run run;
	unsigned int i, j, on;

	for (on = 0; on < CPUS; on++) {
		ASSERT_EQ(0, pin(on));
		for (i = 0; i < ARRAY_SIZE(cpus); i++) {
			for (j = 0; j < ARRAY_SIZE(sizes); j++) {
				run_begin(_metadata, &self->nl, &run, variant->remote, cpus[i],
					  O_NONBLOCK, sizes[j]);
				EXPECT_TRUE(drain(&run, DRAIN_MAX))
					TH_LOG("on CPU %u, CPU %d, reads of %zu: no EAGAIN", on,
					       cpus[i], sizes[j]);
				close(run.fd);
			}
		}
	}
}

TEST_HARNESS_MAIN
