// SPDX-License-Identifier: GPL-2.0-only
/* splice() from /dev/hyptrace: whole sub-buffers into a pipe, and from there to a file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"
#include "waiting.h"

#define NR_SUBBUFS	64
#define RING_SIZE	(NR_SUBBUFS * PAGE)

REMOTE_FIXTURE(splice);

static char buffer[NR_SUBBUFS * PAGE_MAX] __attribute__((aligned(8)));

static struct sequence sequence_of(struct nl *nl, const char *remote)
{
	return (struct sequence) { .event = control_event_id(nl, remote, "selftest") };
}

static int ready(struct nl *nl, const char *remote)
{
	return control_ready(nl, remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE);
}

static ssize_t splice_to(int fd, int pipe_fd, size_t len, unsigned int flags)
{
	ssize_t ret = splice(fd, NULL, pipe_fd, NULL, len, flags);

	return ret < 0 ? -errno : ret;
}

static void feed(struct __test_metadata *_metadata, struct sequence *seq, int fd, size_t len)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = read(fd, buffer + got, len - got);

		ASSERT_LT(0, n);
		got += n;
	}
	for (got = 0; got < len; got += PAGE)
		sequence_feed(seq, buffer + got, PAGE);
}

TEST_F(splice, delivers_as_many_subbufs_as_requested)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	struct counts counts;
	int fd, pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 5 * PER_SUBBUF));
	EXPECT_EQ(2 * PAGE, splice_to(fd, pipes[1], 2 * PAGE + PAGE / 2, 0));
	feed(_metadata, &seq, pipes[0], 2 * PAGE);
	EXPECT_EQ(2 * PER_SUBBUF, seq.seen);
	EXPECT_EQ(3 * PAGE, splice_to(fd, pipes[1], 16 * PAGE, 0));
	feed(_metadata, &seq, pipes[0], 3 * PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(5 * PER_SUBBUF, seq.seen);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(5 * PER_SUBBUF, counts.read);
	EXPECT_EQ(0, counts.unread);
	close(fd);
}

TEST_F(splice, subbufs_without_room_in_the_pipe_stay_in_the_ring)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	struct counts counts;
	int fd, pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(4 * PAGE, fcntl(pipes[1], F_SETPIPE_SZ, 4 * PAGE));
	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10 * PER_SUBBUF));
	EXPECT_EQ(4 * PAGE, splice_to(fd, pipes[1], RING_SIZE, 0));
	EXPECT_EQ(-EAGAIN, splice_to(fd, pipes[1], RING_SIZE, SPLICE_F_NONBLOCK));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(4 * PER_SUBBUF, counts.read);
	feed(_metadata, &seq, pipes[0], 4 * PAGE);
	EXPECT_EQ(4 * PAGE, splice_to(fd, pipes[1], RING_SIZE, 0));
	feed(_metadata, &seq, pipes[0], 4 * PAGE);
	EXPECT_EQ(2 * PAGE, splice_to(fd, pipes[1], RING_SIZE, 0));
	feed(_metadata, &seq, pipes[0], 2 * PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(10 * PER_SUBBUF, seq.seen);
	close(fd);
}

TEST_F(splice, data_can_be_moved_on_to_a_file_and_a_socket)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	int fd, file, pipes[2], sockets[2];

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	file = open("/tmp", O_RDWR | O_TMPFILE, 0600);
	ASSERT_LE(0, file);
	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 4 * PER_SUBBUF));

	ASSERT_EQ(2 * PAGE, splice_to(fd, pipes[1], 2 * PAGE, SPLICE_F_MOVE));
	EXPECT_EQ(2 * PAGE, splice_to(pipes[0], file, 2 * PAGE, SPLICE_F_MOVE));
	ASSERT_EQ(0, lseek(file, 0, SEEK_SET));
	feed(_metadata, &seq, file, 2 * PAGE);

	ASSERT_EQ(2 * PAGE, splice_to(fd, pipes[1], 2 * PAGE, SPLICE_F_MOVE));
	EXPECT_EQ(2 * PAGE, splice_to(pipes[0], sockets[0], 2 * PAGE, SPLICE_F_MOVE));
	feed(_metadata, &seq, sockets[1], 2 * PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(4 * PER_SUBBUF, seq.seen);
	close(fd);
}

/* The sub-buffer after the losses stores their number, as with read(). */
TEST_F(splice, losses_are_exact)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	int fd, pipes[2];
	ssize_t len;

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 3 * PAGE, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 5 * PER_SUBBUF));
	while ((len = splice_to(fd, pipes[1], RING_SIZE, 0)) > 0)
		feed(_metadata, &seq, pipes[0], len);
	EXPECT_EQ(-EAGAIN, len);
	EXPECT_STREQ("", seq.bad);
	EXPECT_LT(0, seq.lost);
	EXPECT_EQ(5 * PER_SUBBUF, seq.seen + seq.lost);
	close(fd);
}

TEST_F(splice, blocks_until_an_event_or_the_stop)
{
	int fd, pipes[2];
	pid_t child;

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	EXPECT_EQ(-EAGAIN, splice_to(fd, pipes[1], PAGE, SPLICE_F_NONBLOCK));
	child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_MARK);
	EXPECT_EQ(PAGE, splice_to(fd, pipes[1], PAGE, 0));
	wait_for(_metadata, child);
	child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_STOP);
	EXPECT_EQ(0, splice_to(fd, pipes[1], PAGE, 0));
	wait_for(_metadata, child);
	close(fd);
}

TEST_F(splice, fails_unless_a_whole_subbuf_can_be_delivered)
{
	int fd, pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	fd = open(DEVICE, O_RDONLY);
	EXPECT_EQ(-ENOTCONN, splice_to(fd, pipes[1], PAGE, 0));
	close(fd);

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, O_NONBLOCK);
	EXPECT_EQ(-EINVAL, splice_to(fd, pipes[1], PAGE, 0));
	close(fd);

	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_EQ(-EINVAL, splice_to(fd, pipes[1], PAGE - 1, 0));
	/* After a read() of a part, read() must deliver the rest first. */
	EXPECT_EQ(100, read(fd, buffer, 100));
	EXPECT_EQ(-EINVAL, splice_to(fd, pipes[1], PAGE, 0));
	EXPECT_EQ(PAGE - 100, read(fd, buffer, PAGE));
	EXPECT_EQ(-EAGAIN, splice_to(fd, pipes[1], PAGE, 0));
	close(fd);
}

TEST_F(splice, pipe_without_reader_consumes_nothing)
{
	struct counts counts;
	int fd, pipes[2];

	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, PER_SUBBUF));
	close(pipes[0]);
	EXPECT_EQ(-EPIPE, splice_to(fd, pipes[1], PAGE, 0));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(0, counts.read);
	EXPECT_EQ(PAGE, read(fd, buffer, PAGE));
	close(fd);
}

TEST_HARNESS_MAIN
