// SPDX-License-Identifier: GPL-2.0-only
/* Resize loaded rings, also while they are written and read. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"

#define CPUS		2
#define ROUNDS		40
#define PART		(7 * PER_SUBBUF)	/* events written in a round */
#define SMALL_PART	(3 * PER_SUBBUF)
#define RATE		20000
#define BURST		100
#define PATIENCE_S	180

REMOTE_FIXTURE(resize);

static char buffer[PAGE_MAX] __attribute__((aligned(8)));

static struct sequence sequence_of(struct nl *nl, const char *remote)
{
	return (struct sequence) { .event = control_event_id(nl, remote, "selftest") };
}

static int ready(struct nl *nl, const char *remote, unsigned int nr_subbufs)
{
	return control_ready(nl, remote, nr_subbufs * PAGE, HYPTRACE_MODE_OVERWRITE);
}

static int resize(struct nl *nl, const char *remote, unsigned int nr_subbufs)
{
	return control_set_size(nl, remote, nr_subbufs * PAGE);
}

/* Read to the end. EAGAIN may come before that: then poll() reports more events. */
static void drain(int fd, struct sequence *seq)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	do {
		while (read(fd, buffer, PAGE) == PAGE)
			sequence_feed(seq, buffer, PAGE);
	} while (poll(&poll_fd, 1, 0) == 1 && poll_fd.revents & POLLIN);
}

TEST_F(resize, a_larger_ring_keeps_all_events)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	struct counts counts;
	struct info info;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, 4));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 3 * PER_SUBBUF + 5));
	ASSERT_EQ(0, control_set_size(&self->nl, variant->remote, 20 * PAGE - 1));
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	EXPECT_EQ(HYPTRACE_STATE_TRACING, info.state);
	EXPECT_EQ(20 * PAGE - 1, info.size_requested);
	EXPECT_EQ(20 * PAGE, info.size_allocated);
	EXPECT_EQ(21, info.nr_subbufs);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(21, counts.nr_subbufs);
	EXPECT_EQ(3 * PER_SUBBUF + 5, counts.written);
	EXPECT_EQ(3 * PER_SUBBUF + 5, counts.unread);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 3 * PER_SUBBUF + 5,
				  10 * PER_SUBBUF));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	drain(fd, &seq);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(13 * PER_SUBBUF + 5, seq.seen);
	EXPECT_EQ(0, seq.lost);
	close(fd);
}

TEST_F(resize, a_smaller_ring_keeps_the_newest_events)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	struct counts counts;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, 20));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 15 * PER_SUBBUF));
	ASSERT_EQ(0, resize(&self->nl, variant->remote, 4));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	/* Three of the four sub-buffers are full, the writer writes to the fourth next. */
	EXPECT_EQ(12 * PER_SUBBUF, counts.overrun);
	EXPECT_EQ(3 * PER_SUBBUF, counts.unread);
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	drain(fd, &seq);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(3 * PER_SUBBUF, seq.seen);
	EXPECT_EQ(12 * PER_SUBBUF, seq.lost);
	EXPECT_EQ(15 * PER_SUBBUF, seq.next);
	close(fd);
}

/* Stop and resize while the reader has read a part of a sub-buffer. */
TEST_F(resize, reader_in_the_middle_of_a_subbuf_misses_nothing)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, 4));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	ASSERT_EQ(1000, read(fd, buffer, 1000));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 10, 10));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	ASSERT_EQ(0, resize(&self->nl, variant->remote, 7));
	ASSERT_EQ(PAGE - 1000, read(fd, buffer + 1000, PAGE - 1000));
	sequence_feed(&seq, buffer, PAGE);
	EXPECT_EQ(10, seq.seen);
	drain(fd, &seq);
	EXPECT_EQ(20, seq.seen);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 20, 5 * PER_SUBBUF));
	drain(fd, &seq);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(20 + 5 * PER_SUBBUF, seq.seen);
	close(fd);
}

/* CPU 1 has a reader, CPU 0 has none. */
TEST_F_TIMEOUT(resize, repeated_resizes_keep_the_counts_exact, PATIENCE_S)
{
	static const unsigned int sizes[] = { 2, 9, 3, 200, 2, 2, 130, 5 };
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	struct counts counts;
	unsigned int round;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, 3));
	fd = open_attached(variant->remote, 1, O_NONBLOCK);
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, round * PART, PART));
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, round * SMALL_PART,
					  SMALL_PART));
		if (round % 3 == 1)
			drain(fd, &seq);
		else if (round % 3 == 2 && read(fd, buffer, PAGE) == PAGE)
			sequence_feed(&seq, buffer, PAGE);
		ASSERT_EQ(0, resize(&self->nl, variant->remote,
				    sizes[round % ARRAY_SIZE(sizes)]));
	}
	drain(fd, &seq);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(ROUNDS * PART, seq.next);
	EXPECT_EQ(ROUNDS * PART, seq.seen + seq.lost);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(ROUNDS * PART, counts.written);
	EXPECT_EQ(seq.seen, counts.read);
	EXPECT_EQ(seq.lost, counts.overrun);
	EXPECT_EQ(0, counts.unread);
	close(fd);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(ROUNDS * SMALL_PART, counts.written);
	EXPECT_EQ(counts.written, counts.overrun + counts.unread);
}

/* Write selftest events on each CPU until tracing is off. */
static int write_on(const char *remote)
{
	uint64_t next = 0;
	struct nl nl;
	int cpu, err = nl_open(&nl);

	while (!err) {
		for (cpu = 0; cpu < CPUS && !err; cpu++)
			err = control_mark(&nl, remote, cpu, next, BURST);
		next += BURST;
	}
	return err != -ENODATA;
}

/* The writer is the rate of the test remote, or a child process for the hypervisor. */
TEST_F_TIMEOUT(resize, resizes_during_writing_keep_the_counts_exact, PATIENCE_S)
{
	static const unsigned int sizes[] = { 50, 2, 400, 3 };
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	bool test = !strcmp(variant->remote, "test");
	int cpu, fd, status = 0;
	struct counts counts;
	unsigned int round;
	pid_t writer = 0;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, 4));
	if (test) {
		ASSERT_EQ(0, control_set_rate(&self->nl, variant->remote, RATE));
	} else {
		writer = fork();
		if (!writer)
			_exit(write_on(variant->remote));
		ASSERT_LT(0, writer);
	}
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, resize(&self->nl, variant->remote,
				    sizes[round % ARRAY_SIZE(sizes)]));
		usleep(5000);
		drain(fd, &seq);
	}
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	if (writer)
		EXPECT_EQ(writer, waitpid(writer, &status, 0));
	EXPECT_EQ(0, status);
	drain(fd, &seq);
	EXPECT_STREQ("", seq.bad);
	EXPECT_LT(0, seq.seen);
	EXPECT_EQ(seq.next, seq.seen + seq.lost);
	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, cpu, &counts));
		EXPECT_LT(0, counts.written);
		EXPECT_EQ(counts.written, counts.read + counts.overrun + counts.unread);
	}
	close(fd);
}

TEST_F(resize, a_refused_resize_changes_nothing)
{
	struct snapshot before, after;
	void *meta;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, 4));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 500));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_snapshot(&self->nl, &before));
	EXPECT_EQ(-EBUSY, resize(&self->nl, variant->remote, 8));
	EXPECT_EQ(-EBUSY, resize(&self->nl, variant->remote, 2));
	/* The same size is no change, so the mapping does not matter. */
	EXPECT_EQ(0, resize(&self->nl, variant->remote, 4));
	munmap(meta, PAGE);
	EXPECT_EQ(-EINVAL, control_set_size(&self->nl, variant->remote, 0));
	EXPECT_EQ(-ENOMEM, control_set_size(&self->nl, variant->remote, 1ULL << 40));
	EXPECT_EQ(-ENOMEM, control_set_size(&self->nl, variant->remote, 1ULL << 63));
	EXPECT_EQ(-ENOMEM, control_set_size(&self->nl, variant->remote, UINT64_MAX));
	ASSERT_EQ(0, control_snapshot(&self->nl, &after));
	EXPECT_TRUE(snapshot_equal(&before, &after));
	EXPECT_EQ(0, resize(&self->nl, variant->remote, 8));
	/* The new ring can be mapped. */
	meta = mmap(NULL, 10 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT_NE(MAP_FAILED, meta);
	munmap(meta, 10 * PAGE);
	close(fd);
}

TEST_HARNESS_MAIN
