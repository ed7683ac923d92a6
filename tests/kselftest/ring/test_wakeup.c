// SPDX-License-Identifier: GPL-2.0-only
/* HYPTRACE_IOC_WAKEUP: the watermark of poll(), and the latency. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "waiting.h"

#define NR_SUBBUFS	10
#define RING_SIZE	(NR_SUBBUFS * PAGE)
#define PATIENCE_S	120

REMOTE_FIXTURE(wakeup);

static char buffer[PAGE_MAX] __attribute__((aligned(8)));

static struct hyptrace_wakeup defaults(void)
{
	return (struct hyptrace_wakeup) {
		.size = sizeof(struct hyptrace_wakeup),
		.latency_us = HYPTRACE_LATENCY_DEFAULT_US,
	};
}

static int set_wakeup(int fd, const void *wakeup)
{
	return ioctl(fd, HYPTRACE_IOC_WAKEUP, wakeup) ? -errno : 0;
}

static int set_mark(int fd, uint32_t percent, uint64_t bytes)
{
	struct hyptrace_wakeup wakeup = defaults();

	wakeup.percent = percent;
	wakeup.bytes = bytes;
	return set_wakeup(fd, &wakeup);
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, timeout_ms) == 1 && poll_fd.revents == POLLIN;
}

static int ready(struct nl *nl, const char *remote, uint32_t mode)
{
	return control_ready(nl, remote, RING_SIZE, mode);
}

TEST_F(wakeup, bad_settings_are_refused_and_change_nothing)
{
	struct hyptrace_wakeup good = defaults(), bad;
	struct {
		struct hyptrace_wakeup wakeup;
		uint64_t surplus;
	} newer = { .wakeup = good, .surplus = 1 };
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, 0);
	ASSERT_EQ(0, set_mark(fd, 0, 3 * RECORD));

#define REFUSED(error, field, value) do {				\
		bad = good;						\
		bad.field = value;					\
		EXPECT_EQ(error, set_wakeup(fd, &bad));			\
	} while (0)
	REFUSED(-EINVAL, size, sizeof(good) - 1);
	REFUSED(-EINVAL, size, 0);
	REFUSED(-EINVAL, flags, 1);
	REFUSED(-EINVAL, flags, 1U << 31);
	REFUSED(-EINVAL, percent, 101);
	REFUSED(-EINVAL, percent, UINT32_MAX);
	REFUSED(-EINVAL, latency_us, 0);
	REFUSED(-EINVAL, latency_us, HYPTRACE_LATENCY_MIN_US - 1);
	REFUSED(-EINVAL, latency_us, HYPTRACE_LATENCY_MAX_US + 1);
	REFUSED(-EINVAL, latency_us, UINT32_MAX);
	good.bytes = 1;
	REFUSED(-EINVAL, percent, 1);
	good.bytes = 0;
	newer.wakeup.size = sizeof(newer);
	EXPECT_EQ(-E2BIG, set_wakeup(fd, &newer));
	EXPECT_EQ(-EFAULT, set_wakeup(fd, NULL));

	/* The watermark is still the one from above. */
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 2));
	EXPECT_FALSE(is_readable(fd, 100));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_TRUE(is_readable(fd, SOON_MS));
	newer.surplus = 0;
	EXPECT_EQ(0, set_wakeup(fd, &newer));
	close(fd);
}

TEST_F(wakeup, can_be_set_before_attaching)
{
	int fd = open(DEVICE, O_RDONLY | O_NONBLOCK);

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, set_mark(fd, 0, 2 * RECORD));
	ASSERT_EQ(0, attach(fd, variant->remote, 0, NULL));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_FALSE(is_readable(fd, 100));
	/* read() does not wait for the watermark. */
	EXPECT_EQ(PAGE, read(fd, buffer, PAGE));
	close(fd);
}

TEST_F(wakeup, watermark_in_bytes)
{
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, set_mark(fd, 0, 5 * PER_SUBBUF * RECORD));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 5 * PER_SUBBUF - 1));
	EXPECT_FALSE(is_readable(fd, 0));
	EXPECT_FALSE(is_readable(fd, 100));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_TRUE(is_readable(fd, 0));
	/* Read a sub-buffer, then write as much again. */
	EXPECT_EQ(PAGE, read(fd, buffer, PAGE));
	EXPECT_FALSE(is_readable(fd, 0));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, PER_SUBBUF - 1));
	EXPECT_FALSE(is_readable(fd, 0));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_TRUE(is_readable(fd, 0));
	close(fd);
}

TEST_F(wakeup, watermark_in_percent)
{
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	/* Half of ten sub-buffers is reached when the fifth has an event. */
	ASSERT_EQ(0, set_mark(fd, 50, 0));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 4 * PER_SUBBUF));
	EXPECT_FALSE(is_readable(fd, 0));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_TRUE(is_readable(fd, 0));
	ASSERT_EQ(0, set_mark(fd, 51, 0));
	EXPECT_FALSE(is_readable(fd, 0));
	ASSERT_EQ(0, set_mark(fd, 1, 0));
	EXPECT_TRUE(is_readable(fd, 0));
	close(fd);
}

TEST_F(wakeup, a_full_ring_reaches_any_watermark)
{
	static const uint32_t modes[] = { HYPTRACE_MODE_OVERWRITE, HYPTRACE_MODE_DISCARD };
	unsigned int i;
	int fd;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
		ASSERT_EQ(0, ready(&self->nl, variant->remote, modes[i]));
		fd = open_attached(variant->remote, 0, O_NONBLOCK);
		ASSERT_EQ(0, set_mark(fd, 0, 1ULL << 60));
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, PER_SUBBUF));
		EXPECT_FALSE(is_readable(fd, 0));
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0,
					  2 * NR_SUBBUFS * PER_SUBBUF));
		EXPECT_TRUE(is_readable(fd, 0));
		ASSERT_EQ(0, set_mark(fd, 100, 0));
		EXPECT_TRUE(is_readable(fd, 0));
		close(fd);
	}
}

TEST_F(wakeup, stop_reports_events_below_the_watermark)
{
	pid_t child;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, set_mark(fd, 90, 0));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	EXPECT_FALSE(is_readable(fd, 0));
	child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_STOP);
	EXPECT_TRUE(is_readable(fd, SOON_MS));
	wait_for(_metadata, child);
	close(fd);
}

TEST_F(wakeup, one_of_all_cpus_must_reach_the_watermark)
{
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, O_NONBLOCK);
	ASSERT_EQ(0, set_mark(fd, 0, 10 * RECORD));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 9));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, 9));
	EXPECT_FALSE(is_readable(fd, 0));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, 1));
	EXPECT_TRUE(is_readable(fd, 0));
	close(fd);
}

/* How often a process has gone to sleep, or -1 */
static long sleeps(pid_t pid)
{
	static const char key[] = "voluntary_ctxt_switches:";
	char path[32], line[128];
	long nr = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && nr < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, sizeof(key) - 1))
			nr = strtol(line + sizeof(key) - 1, NULL, 10);
	if (file)
		fclose(file);
	return nr;
}

/* The driver looks a thousand times a second meanwhile, and wakes nobody. */
TEST_F(wakeup, without_data_nobody_is_woken)
{
	enum wait_kind kind;
	pid_t child;
	long nr;
	int fd;

	for (kind = 0; kind < NR_WAITS; kind++) {
		ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
		fd = open_attached(variant->remote, 0, 0);
		ASSERT_EQ(0, set_latency(fd, HYPTRACE_LATENCY_MIN_US));
		child = waiter_start(kind, fd, -1, 'w');
		ASSERT_TRUE(waiter_settle(child));
		nr = sleeps(child);
		ASSERT_LT(0, nr);
		usleep(200 * 1000);
		EXPECT_GT(nr + 5, sleeps(child)) TH_LOG("%s", wait_names[kind]);
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
		wait_for(_metadata, child);
		close(fd);
	}
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

/* A long latency delays the event. Lowering it while a reader waits has an effect at once. */
TEST_F(wakeup, latency_is_that_of_the_setting)
{
	struct hyptrace_wakeup wakeup = defaults();
	uint64_t begin;
	pid_t child;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	wakeup.latency_us = HYPTRACE_LATENCY_MAX_US;
	ASSERT_EQ(0, set_wakeup(fd, &wakeup));
	begin = now_ms();
	child = request_later(&self->nl, variant->remote, HYPTRACE_CMD_MARK);
	EXPECT_TRUE(is_readable(fd, SOON_MS));
	EXPECT_LE(begin + 900, now_ms());
	wait_for(_metadata, child);
	EXPECT_EQ(PAGE, read(fd, buffer, PAGE));

	/* The child lowers the latency while this process waits. */
	child = fork();
	if (!child) {
		wakeup.latency_us = HYPTRACE_LATENCY_MIN_US;
		_exit(control_mark(&self->nl, variant->remote, 0, 0, 1) || set_wakeup(fd, &wakeup));
	}
	EXPECT_TRUE(is_readable(fd, SOON_MS));
	wait_for(_metadata, child);
	close(fd);
}

/*
 * Two waiters sleep with a long latency. Then the latency of the late one is lowered, while
 * its ring is still empty: it must wake before the early one, though that one's event is
 * older. One success in three rounds is enough: a stall of the machine can swap them.
 */
TEST_F_TIMEOUT(wakeup, lowered_latency_applies_to_sleeping_waiters, PATIENCE_S)
{
	enum wait_kind kind;
	unsigned int round;
	pid_t early, late;
	int fds[2], pipes[2];
	char first;

	for (kind = 0; kind < NR_WAITS; kind++) {
		first = 'e';
		for (round = 0; round < 3 && first != 'l'; round++) {
			ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
			ASSERT_EQ(0, pipe(pipes));
			fds[0] = open_attached(variant->remote, 0, 0);
			fds[1] = open_attached(variant->remote, 1, 0);
			ASSERT_EQ(0, set_latency(fds[0], HYPTRACE_LATENCY_MAX_US));
			ASSERT_EQ(0, set_latency(fds[1], HYPTRACE_LATENCY_MAX_US));
			early = waiter_start(kind, fds[1], pipes[1], 'e');
			ASSERT_TRUE(waiter_settle(early));
			late = waiter_start(kind, fds[0], pipes[1], 'l');
			ASSERT_TRUE(waiter_settle(late));

			ASSERT_EQ(0, set_latency(fds[0], HYPTRACE_LATENCY_MIN_US));
			/* Wait until it has polled its ring and sleeps again. */
			ASSERT_TRUE(waiter_settle(late));
			ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, 1));
			ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
			ASSERT_EQ(1, read(pipes[0], &first, 1));

			wait_for(_metadata, early);
			wait_for(_metadata, late);
			close(fds[0]);
			close(fds[1]);
			close(pipes[0]);
			close(pipes[1]);
		}
		EXPECT_EQ('l', first) TH_LOG("%s", wait_names[kind]);
	}
}

TEST_HARNESS_MAIN
