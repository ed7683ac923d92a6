// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of a remote goes as fast as the kernel's: over several of the steps by which
 * it is kept right, each event has a time between before and after.
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
/* The clock is set twice a second: a rate that is a quarter off makes ten times that between. */
#define SLACK_NS	(NS_PER_S / 100)

REMOTE_FIXTURE(clock);

static uint64_t boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

TEST_F(clock, is_boot_time)
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
	TH_LOG("at most %llu ns outside", (unsigned long long)worst);
	close(fd);
}

TEST_HARNESS_MAIN
