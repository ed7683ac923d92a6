// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of a remote runs as fast as CLOCK_BOOTTIME. The test lasts for several updates
 * of the remote's clock: each event must have a time between those read before and after.
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "remotes.h"
#include "subbuf.h"

#define SIZE		(64 << 10)
#define MARKS		60
#define PAUSE_US	40000
#define NS_PER_S	1000000000ULL
/*
 * Allowed error. The driver updates the clock twice a second: with a rate that is wrong by
 * a quarter, the error would grow to ten times this between two updates.
 */
#define SLACK_NS	(NS_PER_S / 100)

REMOTE_FIXTURE(clock);

static uint64_t boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

TEST_F(clock, events_have_times_of_clock_boottime)
{
	static char page[64 << 10] __attribute__((aligned(8)));
	const long size = sysconf(_SC_PAGESIZE);
	uint64_t before[MARKS], after[MARKS], worst = 0;
	struct record record;
	struct subbuf sub;
	unsigned int i;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SIZE, HYPTRACE_MODE_DISCARD));
	for (i = 0; i < MARKS; i++) {
		before[i] = boot_ns();
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, i, 1));
		after[i] = boot_ns();
		usleep(PAUSE_US);
	}
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (i = 0; read(fd, page, size) == size;) {
		subbuf_begin(&sub, page, size);
		for (; subbuf_next(&sub, &record); i++) {
			ASSERT_GT(MARKS, i);
			EXPECT_LE(before[i], record.time + SLACK_NS);
			EXPECT_GE(after[i] + SLACK_NS, record.time);
			if (record.time < before[i] && before[i] - record.time > worst)
				worst = before[i] - record.time;
			if (record.time > after[i] && record.time - after[i] > worst)
				worst = record.time - after[i];
		}
	}
	EXPECT_EQ(MARKS, i);
	TH_LOG("largest error: %llu ns", (unsigned long long)worst);
	close(fd);
}

TEST_HARNESS_MAIN
