// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of a remote runs as fast as CLOCK_BOOTTIME. The test lasts for several updates
 * of the remote's clock: each event must have a time between those read before and after.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/timex.h>
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

/* The driver follows twice a second. */
#define SLEW_S		3
#define SLEW_GAP_NS	20000
#define SLEW_MARKS	(SLEW_S * NS_PER_S / SLEW_GAP_NS + 1)
/* ... unless its machine is busy. A step backwards would be seconds. */
#define SLEW_SLACK_NS	(5 * NS_PER_S / 1000)

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

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SIZE, HYPTRACE_MODE_OVERWRITE));
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

/* Let CLOCK_BOOTTIME run faster by this many ppm. */
static int slew(long ppm)
{
	struct timex request = { .modes = ADJ_FREQUENCY, .freq = ppm << 16 };

	return adjtimex(&request) < 0 ? -errno : 0;
}

/* The remote must follow without a step backwards, which EL2 would take for a huge one forwards. */
TEST_F(clock, is_followed_while_it_is_slewed)
{
	static char page[64 << 10] __attribute__((aligned(8)));
	static uint64_t before[SLEW_MARKS], after[SLEW_MARKS];
	const long size = sysconf(_SC_PAGESIZE);
	uint64_t end = boot_ns() + SLEW_S * NS_PER_S;
	unsigned int i, nr, bad = 0;
	struct record record;
	struct subbuf sub;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SLEW_MARKS * 32,
				   HYPTRACE_MODE_OVERWRITE));
	for (nr = 0; nr < SLEW_MARKS && boot_ns() < end; nr++) {
		before[nr] = boot_ns();
		/* slower for half a second, faster for another */
		if (slew(before[nr] / (NS_PER_S / 2) % 2 ? 500 : -500) ||
		    control_mark(&self->nl, variant->remote, 0, nr, 1))
			break;
		after[nr] = boot_ns();
		while (boot_ns() < before[nr] + SLEW_GAP_NS)
			;
	}
	ASSERT_EQ(0, slew(0));
	/* no request has failed before */
	EXPECT_LE(end, boot_ns());
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (i = 0; read(fd, page, size) == size;) {
		subbuf_begin(&sub, page, size);
		for (; subbuf_next(&sub, &record); i++) {
			ASSERT_GT(nr, i);
			bad += record.time + SLEW_SLACK_NS < before[i] ||
			       record.time > after[i] + SLEW_SLACK_NS;
		}
	}
	EXPECT_EQ(nr, i);
	EXPECT_EQ(0, bad);
	TH_LOG("%u marks", nr);
	close(fd);
}

TEST_HARNESS_MAIN
