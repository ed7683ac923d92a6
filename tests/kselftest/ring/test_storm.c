// SPDX-License-Identifier: GPL-2.0-only
/*
 * The storm: writers write numbered events to small rings on all CPUs as fast as they can.
 * Each ring has a reader; some readers are killed and replaced. In the end each number was
 * read, or reported as lost, or unseen: consumed by a reader that was killed before it
 * checked the events. The number of unseen events follows from the driver's read counter.
 *
 * HYPTRACE_STORM_EVENTS: how many events each test writes
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "control.h"
#include "page.h"
#include "subbuf.h"
#include "waiting.h"

#define EVENTS		100000
#define BATCH		4000	/* events of a request: other requests can run in between */
#define MAX_CPUS	8
#define MIN_PAGES	2	/* of a ring, without the reader page */
#define MIN_KILLS	5	/* of each ring whose readers are killed */
#define PATIENCE_S	600

#define NUMBER_OFFSET	8	/* in the payload of a selftest event */

static const struct kind {
	const char	*name;
	bool		mapped;
	bool		slow;
	bool		killed;
} kinds[] = {
	{ .name = "read, fast" },
	{ .name = "mapped, fast",	.mapped = true },
	{ .name = "read, slow",		.slow = true },
	{ .name = "mapped, slow",	.slow = true,	.mapped = true },
	{ .name = "read, killed",	.killed = true },
	{ .name = "mapped, killed",	.killed = true,	.mapped = true },
};

#define NR_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

/**
 * struct progress - what the readers of a CPU have read so far
 * @seq:	the numbers so far
 * @gaps:	numbers skipped because their reader was killed
 * @unseen:	those of @gaps that the killed readers had consumed; the others were lost
 */
struct progress {
	struct sequence	seq;
	uint64_t	gaps;
	uint64_t	unseen;
};

/* Shared by all processes. Of two copies one is valid also when a reader is killed. */
struct shared {
	bool		over;
	struct {
		unsigned int	present;
		struct progress	progress[2];
	} logs[MAX_CPUS];
};

/* The writer and the reader of a CPU; @unseen: events that killed readers have consumed */
struct lane {
	const char		*remote;
	unsigned int		cpu;
	unsigned int		pages;
	const struct kind	*kind;
	struct shared		*shared;
	pid_t			writer;
	pid_t			reader;
	unsigned int		kills;
	uint64_t		unseen;
};

/* The descriptor or the mapping of a reader, and its position in a mapped sub-buffer */
struct source {
	int				fd;
	struct trace_buffer_meta	*meta;
	uint64_t			read;
	uint64_t			time;
	uint32_t			id;
	uint32_t			at;
};

FIXTURE(storm) {
	struct nl nl;
	struct shared *shared;
	struct lane lanes[MAX_CPUS];
	unsigned int nr;
	uint64_t events;
};

FIXTURE_VARIANT(storm) {
	const char *remote;
	uint32_t mode;
};

FIXTURE_VARIANT_ADD(storm, hypervisor_overwrite) {
	.remote = "hypervisor", .mode = HYPTRACE_MODE_OVERWRITE,
};

FIXTURE_VARIANT_ADD(storm, hypervisor_discard) {
	.remote = "hypervisor", .mode = HYPTRACE_MODE_DISCARD,
};

FIXTURE_VARIANT_ADD(storm, test_overwrite) {
	.remote = "test", .mode = HYPTRACE_MODE_OVERWRITE,
};

FIXTURE_VARIANT_ADD(storm, test_discard) {
	.remote = "test", .mode = HYPTRACE_MODE_DISCARD,
};

FIXTURE_SETUP(storm)
{
	const char *events = getenv("HYPTRACE_STORM_EVENTS");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	self->nr = cpus < MAX_CPUS ? cpus : MAX_CPUS;
	self->events = events ? strtoull(events, NULL, 0) : EVENTS;
}

FIXTURE_TEARDOWN(storm)
{
	control_fresh(&self->nl, variant->remote);
	nl_close(&self->nl);
}

static struct progress *progress_of(const struct lane *lane)
{
	return &lane->shared->logs[lane->cpu].progress[lane->shared->logs[lane->cpu].present];
}

/*
 * Skip the numbers that killed readers have consumed. The gap before the first number after
 * a kill is at least as wide.
 */
static void skip_unseen(struct progress *progress, const struct lane *lane, struct subbuf sub)
{
	uint64_t taken = lane->unseen - progress->unseen, number;
	struct record record;

	if (!subbuf_next(&sub, &record))
		return;
	memcpy(&number, (const char *)record.payload + NUMBER_OFFSET, sizeof(number));
	if (number < progress->seq.next + taken)
		return;
	progress->gaps += number - progress->seq.next;
	progress->unseen = lane->unseen;
	progress->seq.next = number;
}

/*
 * Check the events of a sub-buffer. A reader that will be killed sometimes sleeps before, so
 * that a kill hits it after it has consumed the sub-buffer.
 */
static void check_events(const struct lane *lane, struct subbuf *sub, uint64_t lost)
{
	unsigned int *present = &lane->shared->logs[lane->cpu].present;
	struct progress *progress = &lane->shared->logs[lane->cpu].progress[!*present];

	if (lane->kind->killed && !(sub->time % 16))
		usleep(1000);
	*progress = *progress_of(lane);
	progress->seq.lost += lost;
	progress->seq.next += lost;
	if (progress->unseen != lane->unseen)
		skip_unseen(progress, lane, *sub);
	sequence_records(&progress->seq, sub);
	/* Publish the progress with one store: a kill comes either before or after it. */
	__atomic_store_n(present, !*present, __ATOMIC_RELEASE);
}

static bool read_next(struct source *source, const struct lane *lane)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));
	struct subbuf sub;

	if (read(source->fd, page, PAGE) != PAGE)
		return false;
	subbuf_begin(&sub, page, PAGE);
	if (sub.missed && !sub.stored)
		sub.bad = "the number of missed events is not stored";
	check_events(lane, &sub, sub.lost);
	return true;
}

static void source_look(const struct source *source, struct subbuf *sub)
{
	const struct trace_buffer_meta *meta = source->meta;

	subbuf_begin(sub, (const char *)meta + PAGE * (1 + meta->reader.id), PAGE);
	sub->end = meta->reader.read;
}

static bool mapped_next(struct source *source, const struct lane *lane)
{
	const struct trace_buffer_meta *meta = source->meta;
	struct subbuf sub;
	uint64_t lost = 0;

	if (ioctl(source->fd, TRACE_MMAP_IOCTL_GET_READER) || meta->read == source->read)
		return false;
	source->read = meta->read;
	source_look(source, &sub);
	if (source->id != meta->reader.id) {
		source->id = meta->reader.id;
		lost = meta->reader.lost_events;
	} else {
		sub.pos = source->at;
		sub.time = source->time;
	}
	check_events(lane, &sub, lost);
	source->at = sub.pos;
	source->time = sub.time;
	return true;
}

static bool source_next(struct source *source, const struct lane *lane)
{
	return lane->kind->mapped ? mapped_next(source, lane) : read_next(source, lane);
}

static bool source_open(struct source *source, const struct lane *lane)
{
	struct record record;
	struct subbuf sub;

	source->fd = open_attached(lane->remote, lane->cpu, O_NONBLOCK);
	if (source->fd < 0)
		return false;
	if (!lane->kind->mapped)
		return true;
	source->meta = mmap(NULL, PAGE * (lane->pages + 2), PROT_READ, MAP_SHARED, source->fd, 0);
	if (source->meta == MAP_FAILED)
		return false;
	source->read = source->meta->read;
	source->id = UINT32_MAX;
	if (source->meta->reader.read) {
		/* The killed reader has consumed a part of this sub-buffer: start behind it. */
		source->id = source->meta->reader.id;
		source->at = source->meta->reader.read;
		source_look(source, &sub);
		while (subbuf_next(&sub, &record))
			;
		source->time = sub.time;
	}
	return true;
}

static void source_close(struct source *source, const struct lane *lane)
{
	if (lane->kind->mapped)
		munmap(source->meta, PAGE * (lane->pages + 2));
	close(source->fd);
}

static bool is_over(const struct lane *lane)
{
	return __atomic_load_n(&lane->shared->over, __ATOMIC_ACQUIRE);
}

/* Run a reader until the end. Return its exit code, 1 if it cannot open its ring. */
static int reader(const struct lane *lane)
{
	unsigned int seed = lane->cpu;
	struct pollfd poll_fd = { .events = POLLIN };
	struct source source = {};

	if (!source_open(&source, lane))
		return 1;
	poll_fd.fd = source.fd;
	while (!is_over(lane)) {
		poll(&poll_fd, 1, 10);
		while (!is_over(lane) && source_next(&source, lane)) {
			if (lane->kind->slow)
				usleep(rand_r(&seed) % 3000);
		}
	}
	return 0;
}

static int writer(const struct lane *lane, uint64_t events)
{
	uint64_t value, batch;
	struct nl own;

	if (pin_to_cpu(lane->cpu) || nl_open(&own))
		return 1;
	for (value = 0; value < events; value += batch) {
		batch = events - value < BATCH ? events - value : BATCH;
		if (control_mark(&own, lane->remote, lane->cpu, value, batch))
			return 2;
	}
	return 0;
}

static void start_reader(struct lane *lane)
{
	lane->reader = fork();
	if (!lane->reader)
		_exit(reader(lane));
}

static void kill_reader(struct __test_metadata *_metadata, struct nl *nl, struct lane *lane)
{
	struct counts counts;
	uint64_t unseen;
	int status;

	ASSERT_EQ(0, kill(lane->reader, SIGKILL));
	ASSERT_EQ(lane->reader, waitpid(lane->reader, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status)) TH_LOG("a reader ended by itself with %d", status);
	ASSERT_EQ(0, control_counts(nl, lane->remote, lane->cpu, &counts));
	ASSERT_EQ(0, counts.consumer);
	unseen = counts.read - progress_of(lane)->seq.seen;
	EXPECT_GE(unseen, lane->unseen);
	EXPECT_LE(unseen, lane->unseen + PER_SUBBUF);
	lane->unseen = unseen;
	lane->kills++;
}

/* Kill and replace readers at random times until all events are written. */
static void kill_readers(struct __test_metadata *_metadata, struct nl *nl, struct lane *lanes,
			 unsigned int nr)
{
	unsigned int i, busy, seed = 1;
	int status;

	do {
		usleep(2000);
		busy = 0;
		for (i = 0; i < nr; i++) {
			struct lane *lane = &lanes[i];

			if (lane->writer && waitpid(lane->writer, &status, WNOHANG)) {
				ASSERT_EQ(0, status);
				lane->writer = 0;
			}
			busy += lane->writer || (lane->kind->killed && lane->kills < MIN_KILLS);
			if (lane->kind->killed && !(rand_r(&seed) % 8)) {
				kill_reader(_metadata, nl, lane);
				start_reader(lane);
			}
		}
	} while (busy);
}

static void end_reader(struct __test_metadata *_metadata, struct lane *lane)
{
	int status;

	ASSERT_EQ(lane->reader, waitpid(lane->reader, &status, 0));
	ASSERT_EQ(0, status);
}

/* Read the rest. Then write and read one more event, which reports the last losses. */
static void read_rest(struct __test_metadata *_metadata, struct nl *nl, struct lane *lane,
		      uint64_t events)
{
	struct source source = {};
	struct counts counts;
	uint64_t seen = progress_of(lane)->seq.seen;

	ASSERT_EQ(0, control_counts(nl, lane->remote, lane->cpu, &counts));
	EXPECT_EQ(events, counts.written);
	EXPECT_EQ(seen + lane->unseen, counts.read);
	EXPECT_EQ(events, counts.read + counts.overrun + counts.dropped + counts.unread);

	ASSERT_TRUE(source_open(&source, lane));
	while (source_next(&source, lane))
		;
	EXPECT_EQ(seen + counts.unread, progress_of(lane)->seq.seen);
	ASSERT_EQ(0, control_mark(nl, lane->remote, lane->cpu, events, 1));
	while (source_next(&source, lane))
		;
	source_close(&source, lane);
}

static void check(struct __test_metadata *_metadata, struct nl *nl, const struct lane *lane,
		  uint64_t written)
{
	const struct progress *progress = progress_of(lane);
	const struct sequence *seq = &progress->seq;
	struct counts counts;

	ASSERT_EQ(0, control_counts(nl, lane->remote, lane->cpu, &counts));
	ASSERT_STREQ("", seq->bad)
		TH_LOG("CPU %u, %u pages, %s", lane->cpu, lane->pages, lane->kind->name);
	EXPECT_EQ(written, counts.written);
	EXPECT_EQ(0, counts.unread);
	EXPECT_EQ(written, seq->next);
	EXPECT_EQ(lane->unseen, progress->unseen);
	EXPECT_EQ(seq->seen + progress->unseen, counts.read);
	/* A gap has events that a killed reader has consumed, and events that were lost. */
	EXPECT_EQ(seq->lost + progress->gaps - progress->unseen,
		  counts.overrun + counts.dropped);
	EXPECT_EQ(written, seq->seen + seq->lost + progress->gaps);
}

/* In each round a CPU has another kind of reader, and rings are one page larger. */
TEST_F_TIMEOUT(storm, each_event_is_read_or_reported_as_lost, PATIENCE_S)
{
	uint16_t event = control_event_id(&self->nl, variant->remote, "selftest");
	uint64_t share = self->events / NR_KINDS / self->nr + 1;
	uint64_t seen = 0, unseen = 0;
	unsigned int round, i, kills = 0;

	for (round = 0; round < NR_KINDS; round++) {
		unsigned int pages = MIN_PAGES + round;

		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, pages * PAGE,
					   variant->mode));
		memset(self->shared, 0, sizeof(*self->shared));
		for (i = 0; i < self->nr; i++) {
			struct lane *lane = &self->lanes[i];

			*lane = (struct lane) {
				.remote = variant->remote, .cpu = i, .pages = pages,
				.kind = &kinds[(i + round) % NR_KINDS], .shared = self->shared,
			};
			progress_of(lane)->seq.event = event;
			start_reader(lane);
			lane->writer = fork();
			if (!lane->writer)
				_exit(writer(lane, share));
		}
		kill_readers(_metadata, &self->nl, self->lanes, self->nr);
		__atomic_store_n(&self->shared->over, true, __ATOMIC_RELEASE);
		for (i = 0; i < self->nr; i++) {
			end_reader(_metadata, &self->lanes[i]);
			read_rest(_metadata, &self->nl, &self->lanes[i], share);
			check(_metadata, &self->nl, &self->lanes[i], share + 1);
			seen += progress_of(&self->lanes[i])->seq.seen;
			unseen += self->lanes[i].unseen;
			kills += self->lanes[i].kills;
		}
	}
	TH_LOG("%llu of %llu events seen, %llu consumed by %u readers that were killed",
	       (unsigned long long)seen,
	       (unsigned long long)(share + 1) * self->nr * NR_KINDS,
	       (unsigned long long)unseen, kills);
}

TEST_HARNESS_MAIN
