// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of the remote "kernel": EL2's tracer publishes its counters only, and the driver
 * derives from them where the writer is, and how many events were read.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "control.h"
#include "cpus.h"
#include "module.h"
#include "page.h"
#include "subbuf.h"

#define REMOTE		"kernel"
#define MODULE		"hyptrace_kernel"
#define NR_SUBBUFS	4
#define SIZE		(NR_SUBBUFS * PAGE)
#define SOON_MS		10000
/* With the hypercall's hyp_enter and hyp_exit before and after it, a mark takes at least this. */
#define MARK_SIZE	40

FIXTURE(rings) {
	struct nl nl;
	struct sequence seq;
};

FIXTURE_SETUP(rings)
{
	ASSERT_EQ(0, module_load(MODULE, ""));
	ASSERT_EQ(0, nl_open(&self->nl));
	self->seq.event = control_event_id(&self->nl, REMOTE, "selftest");
	ASSERT_EQ(0, pin_to(0));
}

FIXTURE_TEARDOWN(rings)
{
	control_fresh(&self->nl, REMOTE);
	nl_close(&self->nl);
	EXPECT_EQ(0, module_unload(MODULE));
}

/* Read a sub-buffer. Return false if there is none. */
static bool read_one(int fd, struct sequence *seq)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));

	if (read(fd, page, PAGE) != PAGE)
		return false;
	sequence_feed(seq, page, PAGE);
	return true;
}

static uint64_t read_so_far(struct nl *nl)
{
	struct counts counts = { };

	control_counts(nl, REMOTE, 0, &counts);
	return counts.read;
}

TEST_F(rings, event_that_was_enabled_before_is_recorded)
{
	struct counts counts;

	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "selftest", true));
	EXPECT_EQ(-ENODATA, control_mark(&self->nl, REMOTE, 0, 0, 1));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	EXPECT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 5));
	ASSERT_EQ(0, control_counts(&self->nl, REMOTE, 0, &counts));
	EXPECT_EQ(5, counts.written);
	EXPECT_EQ(HYPTRACE_CPU_STATE_ATTACHED, counts.state);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	ASSERT_EQ(0, control_counts(&self->nl, REMOTE, 0, &counts));
	EXPECT_EQ(HYPTRACE_CPU_STATE_DETACHED, counts.state);
	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "selftest", false));
	EXPECT_EQ(-ENODATA, control_mark(&self->nl, REMOTE, 0, 0, 1));
}

/* The writer is at another place each time, also in the reader page. */
TEST_F(rings, each_event_ends_a_wait)
{
	struct pollfd poll_fd = { .events = POLLIN };
	unsigned int round, id = 0, nr;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	poll_fd.fd = open_attached(REMOTE, 0, O_NONBLOCK);
	ASSERT_LE(0, poll_fd.fd);
	for (round = 0; round < 20; round++) {
		nr = round % 2 ? 1 : PER_SUBBUF * (round % 4 + 1) / 2;
		ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, id, nr));
		id += nr;
		ASSERT_EQ(1, poll(&poll_fd, 1, SOON_MS));
		while (read_one(poll_fd.fd, &self->seq))
			;
		EXPECT_EQ(id, self->seq.seen);
		EXPECT_EQ(id, read_so_far(&self->nl));
		EXPECT_EQ(0, poll(&poll_fd, 1, 0));
	}
	EXPECT_STREQ("", self->seq.bad);
	close(poll_fd.fd);
}

/* The driver does not count in what it reads. It counts what is left. */
TEST_F(rings, events_read_are_counted_exactly)
{
	struct counts counts;
	unsigned int i;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(REMOTE, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 3 * PER_SUBBUF + 10));
	EXPECT_EQ(0, read_so_far(&self->nl));
	for (i = 0; read_one(fd, &self->seq); i++) {
		if (i == 1)
			/* This overwrites what was not read. */
			ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 3 * PER_SUBBUF + 10,
						  5 * PER_SUBBUF));
		ASSERT_EQ(0, control_counts(&self->nl, REMOTE, 0, &counts));
		EXPECT_EQ(self->seq.seen, counts.read);
	}
	EXPECT_STREQ("", self->seq.bad);
	EXPECT_LT(NR_SUBBUFS, i);
	EXPECT_LT(0, counts.overrun);
	EXPECT_EQ(counts.overrun, self->seq.lost);
	EXPECT_EQ(8 * PER_SUBBUF + 10, counts.written);
	EXPECT_EQ(counts.written, counts.read + counts.overrun);
	close(fd);
}

/* Write events until this is killed. */
static pid_t begin_to_write(void)
{
	pid_t child = fork();
	struct nl nl;

	if (child)
		return child;
	if (nl_open(&nl))
		_exit(1);
	while (!control_mark(&nl, REMOTE, 0, 0, 1000))
		;
	_exit(1);
}

static unsigned int count_records(const void *page)
{
	struct record record;
	struct subbuf sub;
	unsigned int nr = 0;

	subbuf_begin(&sub, page, PAGE);
	while (subbuf_next(&sub, &record))
		nr++;
	return nr;
}

/* Of a large ring, the driver counts a part while it is written, and may have to begin again. */
static void read_while_writing(struct __test_metadata *_metadata, struct nl *nl, unsigned int pages)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));
	const int last_cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	unsigned int round, reads;
	uint64_t seen = 0;
	int fd, status;
	pid_t writing;

	ASSERT_EQ(0, control_ready(nl, REMOTE, pages * PAGE, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(REMOTE, 0, 0);
	ASSERT_LE(0, fd);
	for (round = 0; round < 10; round++) {
		writing = begin_to_write();
		ASSERT_EQ(0, pin_to(last_cpu));
		for (reads = 0; reads < 5; reads++) {
			/* The writer has left the page then. */
			usleep(50000);
			ASSERT_EQ(PAGE, read(fd, page, PAGE));
			seen += count_records(page);
			EXPECT_EQ(seen, read_so_far(nl));
		}
		ASSERT_EQ(0, pin_to(0));
		kill(writing, SIGKILL);
		ASSERT_EQ(writing, waitpid(writing, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		EXPECT_EQ(seen, read_so_far(nl));
	}
	close(fd);
}

TEST_F(rings, events_read_while_others_are_written_are_counted_exactly)
{
	read_while_writing(_metadata, &self->nl, NR_SUBBUFS);
	read_while_writing(_metadata, &self->nl, 10 * NR_SUBBUFS);
}

/* Nobody asks for the counters meanwhile. */
TEST_F(rings, losses_are_announced)
{
	const struct nlmsghdr *hdr;
	struct nl listener;
	bool lost = false;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_join(&listener));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 10 * PER_SUBBUF));
	while (!lost && (hdr = nl_notification(&listener, SOON_MS)))
		lost = nl_cmd(hdr) == HYPTRACE_CMD_LOSS_NTF;
	EXPECT_TRUE(lost);
	nl_close(&listener);
}

/*
 * The hypercall of a clear is an event itself, and may be the one for which the writer takes the
 * next sub-buffer. So clear a ring after each number of events that fits in a sub-buffer.
 */
TEST_F(rings, clear_finds_the_writer_at_any_place)
{
	unsigned int nr, of, first = PER_SUBBUF * RECORD / MARK_SIZE;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	for (of = 0; of <= NR_SUBBUFS; of += NR_SUBBUFS / 2) {
		for (nr = 0; nr < first; nr++) {
			ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "hyp_enter", true));
			ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "hyp_exit", true));
			ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, of * first + nr + 1));
			ASSERT_EQ(0, control_clear(&self->nl, REMOTE, 0));
			ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "hyp_enter", false));
			ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "hyp_exit", false));
			ASSERT_EQ(0, control_clear(&self->nl, REMOTE, 0));
			self->seq.next = 7;
			self->seq.seen = 0;
			ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 7, 2 * PER_SUBBUF));
			fd = open_attached(REMOTE, 0, O_NONBLOCK);
			ASSERT_LE(0, fd);
			while (read_one(fd, &self->seq))
				;
			close(fd);
			ASSERT_STREQ("", self->seq.bad);
			ASSERT_EQ(2 * PER_SUBBUF, self->seq.seen);
		}
	}
}

TEST_HARNESS_MAIN
