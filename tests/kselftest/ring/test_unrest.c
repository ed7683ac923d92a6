// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clear rings and take CPUs offline and online, while every CPU writes and one reader reads
 * all. Events are always in order, and the counters agree with what was read.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "cpus.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"

#define RING_SIZE	(4 * PAGE)
#define BATCH		64	/* events of a request */
#define EVENTS		(24 * PER_SUBBUF)
#define MAX_CPUS	8
#define CLEARS		60
#define HOTPLUGS	10
#define PATIENCE_S	300

REMOTE_FIXTURE(unrest);

static char buffer[16 * (PAGE_MAX + sizeof(struct hyptrace_frame))] __attribute__((aligned(8)));

/* Shared with the writers. @over: they must end; @written: events of each so far */
struct writers {
	bool		over;
	unsigned int	nr;
	pid_t		pids[MAX_CPUS];
	uint64_t	written[MAX_CPUS];
};

/*
 * Write increasing numbers as fast as possible. If the CPU goes offline, a request may write
 * a part of its batch: the ring's counter says how many events were written.
 */
static int writer(struct writers *writers, const char *remote, unsigned int cpu, bool hotplug)
{
	uint64_t *written = &writers->written[cpu];
	struct counts counts;
	struct nl own;
	int err;

	if (nl_open(&own))
		return 1;
	while (!__atomic_load_n(&writers->over, __ATOMIC_ACQUIRE)) {
		err = control_mark(&own, remote, cpu, *written, BATCH);
		if (err && !(hotplug && (err == -ENXIO || err == -ENODATA)))
			return 2;
		if (hotplug && control_counts(&own, remote, cpu, &counts))
			return 3;
		*written = hotplug ? counts.written : *written + BATCH;
	}
	return 0;
}

static struct writers *writers_start(const char *remote, bool hotplug)
{
	struct writers *writers = mmap(NULL, sizeof(*writers), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int cpu;

	if (writers == MAP_FAILED)
		return NULL;
	writers->nr = cpus < MAX_CPUS ? cpus : MAX_CPUS;
	for (cpu = 0; cpu < writers->nr; cpu++) {
		pid_t pid = fork();

		if (!pid)
			_exit(writer(writers, remote, cpu, hotplug));
		writers->pids[cpu] = pid;
	}
	return writers;
}

static void writers_end(struct __test_metadata *_metadata, struct writers *writers)
{
	unsigned int cpu;
	int status;

	__atomic_store_n(&writers->over, true, __ATOMIC_RELEASE);
	for (cpu = 0; cpu < writers->nr; cpu++) {
		ASSERT_EQ(writers->pids[cpu], waitpid(writers->pids[cpu], &status, 0));
		ASSERT_EQ(0, status);
	}
}

/* A clear drops numbers without reporting them. No number may come twice or out of order. */
static void check_increasing(struct sequence *seqs, unsigned int nr, ssize_t len)
{
	const char *at = buffer;
	struct hyptrace_frame frame;
	struct record record;
	struct subbuf sub;
	uint64_t number;

	for (; len > 0; at += sizeof(frame) + frame.size, len -= sizeof(frame) + frame.size) {
		memcpy(&frame, at, sizeof(frame));
		if (frame.cpu >= nr || frame.size != PAGE) {
			strcpy(seqs->bad, "bad CPU or size in a frame");
			return;
		}
		subbuf_begin(&sub, at + sizeof(frame), PAGE);
		while (subbuf_next(&sub, &record)) {
			memcpy(&number, (const char *)record.payload + 8, sizeof(number));
			if (number < seqs[frame.cpu].next || record.time < seqs[frame.cpu].time)
				strcpy(seqs[frame.cpu].bad, "a number or a time goes back");
			seqs[frame.cpu].next = number + 1;
			seqs[frame.cpu].time = record.time;
			seqs[frame.cpu].seen++;
		}
		if (sub.bad)
			snprintf(seqs->bad, sizeof(seqs->bad), "%s", sub.bad);
	}
}

static void expect_empty(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
			 unsigned int cpu)
{
	struct counts counts;

	ASSERT_EQ(0, control_counts(nl, remote, cpu, &counts));
	EXPECT_EQ(0, counts.written);
	EXPECT_EQ(0, counts.read);
	EXPECT_EQ(0, counts.overrun + counts.dropped);
	EXPECT_EQ(0, counts.unread);
}

TEST_F_TIMEOUT(unrest, clear_during_writing_keeps_the_order, PATIENCE_S)
{
	struct sequence seqs[MAX_CPUS] = {};
	struct writers *writers;
	unsigned int i, cpu;
	struct counts counts;
	ssize_t len;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, O_NONBLOCK);
	ASSERT_LE(0, fd);
	writers = writers_start(variant->remote, false);
	ASSERT_NE(NULL, writers);
	for (i = 0; i < CLEARS; i++) {
		while ((len = read(fd, buffer, 4 * (PAGE + sizeof(struct hyptrace_frame)))) > 0) {
			check_increasing(seqs, writers->nr, len);
			if (i % 3)
				break;
		}
		/* Clear each CPU in turn, then all CPUs at once. */
		cpu = i % (writers->nr + 1);
		ASSERT_EQ(0, control_clear(&self->nl, variant->remote,
					   cpu < writers->nr ? (int)cpu : CPU_ALL));
	}
	writers_end(_metadata, writers);
	/* The first end of data may be that of a drain from before: it has a limit. */
	for (i = 0; i < 2; i++)
		while ((len = read(fd, buffer, sizeof(buffer))) > 0)
			check_increasing(seqs, writers->nr, len);
	for (cpu = 0; cpu < writers->nr; cpu++) {
		EXPECT_STREQ("", seqs[cpu].bad);
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, cpu, &counts));
		EXPECT_EQ(0, counts.unread);
		EXPECT_EQ(counts.written, counts.read + counts.overrun);
		EXPECT_LE(seqs[cpu].next, writers->written[cpu]);
		/* If it has written since the last clear, its last event was read. */
		if (counts.written)
			EXPECT_EQ(writers->written[cpu], seqs[cpu].next);
	}

	/* Without writers a clear leaves nothing, and all counters are 0. */
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, EVENTS));
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, CPU_ALL));
	for (cpu = 0; cpu < writers->nr; cpu++)
		expect_empty(_metadata, &self->nl, variant->remote, cpu);
	EXPECT_EQ(-1, read(fd, buffer, sizeof(buffer)));
	close(fd);
}

TEST_F_TIMEOUT(unrest, hotplug_during_writing_keeps_the_counts_exact, PATIENCE_S)
{
	uint16_t event = control_event_id(&self->nl, variant->remote, "selftest");
	struct sequence seqs[MAX_CPUS] = {};
	struct pollfd poll_fd = { .events = POLLIN };
	unsigned int i, cpu, last;
	struct writers *writers;
	struct counts counts;
	ssize_t len;
	int status;
	pid_t child;

	if (!has_hotplug())
		SKIP(return, "no CPU can go offline");
	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		seqs[cpu].event = event;
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	poll_fd.fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, O_NONBLOCK);
	ASSERT_LE(0, poll_fd.fd);
	writers = writers_start(variant->remote, true);
	ASSERT_NE(NULL, writers);
	ASSERT_LT(1, writers->nr);
	last = writers->nr - 1;
	child = fork();
	if (!child) {
		for (i = 0; i < HOTPLUGS; i++) {
			if (cpu_set_online(last, false) || cpu_set_online(last, true))
				_exit(1);
		}
		_exit(0);
	}
	do {
		poll(&poll_fd, 1, 10);
		while ((len = read(poll_fd.fd, buffer, sizeof(buffer))) > 0)
			sequence_frames(seqs, writers->nr, buffer, len);
	} while (!waitpid(child, &status, WNOHANG));
	cpu_set_online(last, true);
	ASSERT_EQ(0, status);
	writers_end(_metadata, writers);

	/* Write one more event on each CPU, which reports the losses before it. */
	for (cpu = 0; cpu <= last; cpu++) {
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, cpu, &counts));
		EXPECT_EQ(writers->written[cpu], counts.written);
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, counts.written, 1));
	}
	while ((len = read(poll_fd.fd, buffer, sizeof(buffer))) > 0)
		sequence_frames(seqs, writers->nr, buffer, len);
	for (cpu = 0; cpu <= last; cpu++) {
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, cpu, &counts));
		EXPECT_STREQ("", seqs[cpu].bad);
		EXPECT_EQ(counts.written, seqs[cpu].next);
		EXPECT_EQ(counts.written, seqs[cpu].seen + seqs[cpu].lost);
		EXPECT_EQ(counts.read, seqs[cpu].seen);
		EXPECT_EQ(counts.overrun, seqs[cpu].lost);
		EXPECT_EQ(0, counts.unread);
	}
	close(poll_fd.fd);
}

TEST_F(unrest, clear_works_while_the_cpu_is_offline)
{
	int cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1, fd;
	struct counts counts;

	if (!has_hotplug())
		SKIP(return, "no CPU can go offline");
	ASSERT_LT(0, cpu);
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, cpu, O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (int all = 0; all < 2; all++) {
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, 0, EVENTS));
		ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
		ASSERT_EQ(0, cpu_set_online(cpu, false));
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, cpu, &counts));
		EXPECT_EQ(EVENTS, counts.written);
		EXPECT_EQ(0, control_clear(&self->nl, variant->remote, all ? CPU_ALL : cpu));
		expect_empty(_metadata, &self->nl, variant->remote, cpu);
		EXPECT_EQ(-1, read(fd, buffer, PAGE));
		EXPECT_EQ(EAGAIN, errno);
		ASSERT_EQ(0, cpu_set_online(cpu, true));
		expect_empty(_metadata, &self->nl, variant->remote, cpu);
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, 0, 1));
		ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
		ASSERT_EQ(0, control_clear(&self->nl, variant->remote, cpu));
	}
	close(fd);
}

TEST_HARNESS_MAIN
