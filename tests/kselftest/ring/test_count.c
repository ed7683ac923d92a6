// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting is exact: a reader gets all numbered events, in order. If events are lost, the
 * next sub-buffer stores their exact number.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"

#define CPUS		2

/* Enough for 100,000 records of 20 bytes */
#define BIG_SIZE	(2560 * 1024)
#define BIG_COUNT	100000

/* So small that it overflows again and again */
#define SMALL_SIZE	(3 * PAGE)
#define SMALL_COUNT	30000

/* Emulated CPUs are slow when they contend for a lock: one may have to wait for a host CPU. */
#define PATIENCE_S	180

FIXTURE(count) {
	struct nl nl;
	struct sequence seq;
};

FIXTURE_VARIANT(count) {
	const char *remote;
	uint32_t mode;
};

FIXTURE_VARIANT_ADD(count, hypervisor_overwrite) {
	.remote = "hypervisor", .mode = HYPTRACE_MODE_OVERWRITE,
};

FIXTURE_VARIANT_ADD(count, hypervisor_discard) {
	.remote = "hypervisor", .mode = HYPTRACE_MODE_DISCARD,
};

FIXTURE_VARIANT_ADD(count, test_overwrite) {
	.remote = "test", .mode = HYPTRACE_MODE_OVERWRITE,
};

FIXTURE_VARIANT_ADD(count, test_discard) {
	.remote = "test", .mode = HYPTRACE_MODE_DISCARD,
};

FIXTURE_SETUP(count)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
	self->seq.event = control_event_id(&self->nl, variant->remote, "selftest");
}

FIXTURE_TEARDOWN(count)
{
	control_fresh(&self->nl, variant->remote);
	nl_close(&self->nl);
}

static char buffer[64 * PAGE_MAX] __attribute__((aligned(8)));

/* Read at most @max sub-buffers. Return how many were read. */
static unsigned int drain(int fd, struct sequence *seq, unsigned int max)
{
	unsigned int nr = 0;

	while (nr < max && read(fd, buffer, PAGE) == PAGE) {
		sequence_feed(seq, buffer, PAGE);
		nr++;
	}
	return nr;
}

/* Check that written = read + lost + unread, and that the reader has counted the same. */
static void check(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
		  unsigned int cpu, const struct sequence *seq, uint64_t written)
{
	struct counts counts;

	ASSERT_EQ(0, control_counts(nl, remote, cpu, &counts));
	EXPECT_EQ(written, counts.written);
	EXPECT_EQ(seq->seen, counts.read);
	EXPECT_EQ(counts.written, counts.read + counts.overrun + counts.dropped + counts.unread);
	EXPECT_EQ(counts.overrun + counts.dropped, seq->lost + counts.unreported);
}

TEST_F(count, large_ring_loses_nothing)
{
	ssize_t len, at;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, BIG_SIZE, variant->mode));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, BIG_COUNT));
	while ((len = read(fd, buffer, sizeof(buffer))) > 0) {
		for (at = 0; at < len; at += PAGE)
			sequence_feed(&self->seq, buffer + at, PAGE);
	}
	EXPECT_STREQ("", self->seq.bad);
	EXPECT_EQ(BIG_COUNT, self->seq.seen);
	EXPECT_EQ(0, self->seq.lost);
	check(_metadata, &self->nl, variant->remote, 0, &self->seq, BIG_COUNT);
	close(fd);
}

/* Without a reader: overwrite keeps the newest events, discard the oldest. */
TEST_F(count, losses_are_exact_if_nobody_reads)
{
	struct counts before;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SMALL_SIZE, variant->mode));
	fd = open_attached(variant->remote, 1, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, SMALL_COUNT));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &before));
	EXPECT_EQ(SMALL_COUNT, before.written);
	EXPECT_EQ(0, before.read);
	EXPECT_LT(0, before.unread);
	if (variant->mode == HYPTRACE_MODE_DISCARD) {
		EXPECT_EQ(0, before.overrun);
		EXPECT_EQ(SMALL_COUNT, before.dropped + before.unread);
	} else {
		EXPECT_EQ(0, before.dropped);
		EXPECT_EQ(SMALL_COUNT, before.overrun + before.unread);
	}

	drain(fd, &self->seq, UINT32_MAX);
	EXPECT_STREQ("", self->seq.bad);
	EXPECT_EQ(before.unread, self->seq.seen);
	if (variant->mode == HYPTRACE_MODE_DISCARD) {
		/* The events lost are the newest: only the next event can report them. */
		EXPECT_EQ(0, self->seq.lost);
		EXPECT_EQ(self->seq.seen, self->seq.next);
		check(_metadata, &self->nl, variant->remote, 1, &self->seq, SMALL_COUNT);
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, SMALL_COUNT, 1));
		EXPECT_EQ(1, drain(fd, &self->seq, UINT32_MAX));
		EXPECT_EQ(before.dropped, self->seq.lost);
		EXPECT_EQ(SMALL_COUNT + 1, self->seq.next);
		check(_metadata, &self->nl, variant->remote, 1, &self->seq, SMALL_COUNT + 1);
	} else {
		EXPECT_EQ(before.overrun, self->seq.lost);
		EXPECT_EQ(SMALL_COUNT, self->seq.next);
		check(_metadata, &self->nl, variant->remote, 1, &self->seq, SMALL_COUNT);
	}
	EXPECT_STREQ("", self->seq.bad);
	close(fd);
}

/* Write and read in turn, in random amounts: sometimes the reader keeps up, sometimes not. */
TEST_F(count, losses_are_exact_if_written_and_read_in_turn)
{
	uint64_t written = 0, seed = 1;
	struct counts counts;
	unsigned int round;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SMALL_SIZE, variant->mode));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	for (round = 0; round < 400; round++) {
		unsigned int nr;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		nr = (seed >> 33) % (2 * PER_SUBBUF) + 1;
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, written, nr));
		written += nr;
		drain(fd, &self->seq, (seed >> 50) % 4);
		ASSERT_STREQ("", self->seq.bad) TH_LOG("round %u", round);
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
		ASSERT_EQ(written, counts.written);
		ASSERT_EQ(self->seq.seen, counts.read);
		ASSERT_EQ(written, counts.read + counts.overrun + counts.dropped + counts.unread);
	}
	/* Make room and write one more event, which reports the losses before it. */
	drain(fd, &self->seq, UINT32_MAX);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, written, 1));
	drain(fd, &self->seq, UINT32_MAX);
	EXPECT_STREQ("", self->seq.bad);
	EXPECT_EQ(written + 1, self->seq.next);
	EXPECT_EQ(written + 1, self->seq.seen + self->seq.lost);
	EXPECT_LT(0, self->seq.lost);
	check(_metadata, &self->nl, variant->remote, 0, &self->seq, written + 1);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(self->seq.lost, counts.overrun + counts.dropped);
	EXPECT_EQ(0, counts.unread);
	close(fd);
}

/* The writer writes as fast as it can while the reader reads. */
TEST_F_TIMEOUT(count, losses_are_exact_if_written_while_read, PATIENCE_S)
{
	struct counts counts;
	uint64_t last;
	int fd, status;
	pid_t child;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SMALL_SIZE, variant->mode));
	fd = open_attached(variant->remote, 1, O_NONBLOCK);
	child = fork();
	if (!child) {
		struct nl own;

		if (nl_open(&own))
			_exit(1);
		_exit(control_mark(&own, variant->remote, 1, 0, BIG_COUNT) ? 2 : 0);
	}
	do {
		drain(fd, &self->seq, UINT32_MAX);
	} while (!waitpid(child, &status, WNOHANG));
	EXPECT_EQ(0, status);
	drain(fd, &self->seq, UINT32_MAX);
	last = self->seq.next;
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, BIG_COUNT, 1));
	drain(fd, &self->seq, UINT32_MAX);
	EXPECT_STREQ("", self->seq.bad);
	EXPECT_EQ(BIG_COUNT + 1, self->seq.next);
	EXPECT_EQ(BIG_COUNT + 1, self->seq.seen + self->seq.lost);
	check(_metadata, &self->nl, variant->remote, 1, &self->seq, BIG_COUNT + 1);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(self->seq.lost, counts.overrun + counts.dropped);
	TH_LOG("%llu read, %llu lost, %llu of the lost after the last event read",
	       (unsigned long long)self->seq.seen, (unsigned long long)self->seq.lost,
	       (unsigned long long)(BIG_COUNT - last));
	close(fd);
}

/* Both CPUs write at the same time, each numbers its own events; one descriptor reads both. */
TEST_F_TIMEOUT(count, losses_are_exact_on_all_cpus_at_once, PATIENCE_S)
{
	struct sequence seqs[CPUS] = { self->seq, self->seq };
	int cpu, fd, status, running = CPUS;
	struct pollfd poll_fd = { .events = POLLIN };
	ssize_t len;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SMALL_SIZE, variant->mode));
	fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, O_NONBLOCK);
	poll_fd.fd = fd;
	for (cpu = 0; cpu < CPUS; cpu++) {
		if (!fork()) {
			struct nl own;

			_exit(nl_open(&own) ||
			      control_mark(&own, variant->remote, cpu, 0, SMALL_COUNT));
		}
	}
	while (running) {
		poll(&poll_fd, 1, 10);
		while ((len = read(fd, buffer, sizeof(buffer))) > 0)
			sequence_frames(seqs, CPUS, buffer, len);
		while (waitpid(-1, &status, WNOHANG) > 0) {
			EXPECT_EQ(0, status);
			running--;
		}
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, SMALL_COUNT, 1));
	while ((len = read(fd, buffer, sizeof(buffer))) > 0)
		sequence_frames(seqs, CPUS, buffer, len);
	for (cpu = 0; cpu < CPUS; cpu++) {
		EXPECT_STREQ("", seqs[cpu].bad);
		EXPECT_EQ(SMALL_COUNT + 1, seqs[cpu].next);
		EXPECT_EQ(SMALL_COUNT + 1, seqs[cpu].seen + seqs[cpu].lost);
		check(_metadata, &self->nl, variant->remote, cpu, &seqs[cpu], SMALL_COUNT + 1);
	}
	close(fd);
}

TEST_F(count, next_consumer_goes_on_where_the_last_one_ended)
{
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, BIG_SIZE, variant->mode));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1000));
	while (self->seq.next < 1000) {
		fd = open_attached(variant->remote, 0, O_NONBLOCK);
		ASSERT_LE(0, fd);
		ASSERT_EQ(1, drain(fd, &self->seq, 1));
		close(fd);
	}
	EXPECT_STREQ("", self->seq.bad);
	EXPECT_EQ(0, self->seq.lost);
	check(_metadata, &self->nl, variant->remote, 0, &self->seq, 1000);
}

TEST_F(count, clear_resets_the_counters_and_the_ring)
{
	struct counts counts;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SMALL_SIZE, variant->mode));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, SMALL_COUNT));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, 100));
	drain(fd, &self->seq, 1);
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, 0));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(0, counts.written);
	EXPECT_EQ(0, counts.read);
	EXPECT_EQ(0, counts.overrun);
	EXPECT_EQ(0, counts.dropped);
	EXPECT_EQ(0, counts.unread);
	/* The ring of the other CPU is not cleared. */
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(100, counts.unread);

	EXPECT_EQ(-1, read(fd, buffer, PAGE));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	memset(&self->seq.next, 0, sizeof(self->seq) - offsetof(struct sequence, next));
	drain(fd, &self->seq, UINT32_MAX);
	EXPECT_STREQ("", self->seq.bad);
	EXPECT_EQ(10, self->seq.seen);
	EXPECT_EQ(0, self->seq.lost);
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, CPU_ALL));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(0, counts.written);
	close(fd);
}

TEST_HARNESS_MAIN
