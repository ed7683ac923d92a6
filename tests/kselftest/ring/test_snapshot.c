// SPDX-License-Identifier: GPL-2.0-only
/*
 * HYPTRACE_ATTACH_SNAPSHOT: an observer copies the events of a ring through its mapping,
 * while the ring may have a consumer. snap() follows the algorithm in linux/hyptrace.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <linux/hyptrace_record.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"

#define NR_SUBBUFS	9		/* the reader page included */
#define RING_SIZE	((NR_SUBBUFS - 1) * PAGE)
#define MAP_SIZE	((NR_SUBBUFS + 1) * PAGE)
#define PATIENCE_S	180

REMOTE_FIXTURE(snapshot);

union copy {
	struct hyptrace_subbuf	subbuf;
	uint8_t			bytes[PAGE_MAX];
};

static const struct hyptrace_subbuf *subbuf_at(const struct hyptrace_map_meta *meta,
					       unsigned int id)
{
	return (const void *)((const char *)meta + (id + 1) * PAGE);
}

static uint64_t acquire(const __u64 *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static int younger_first(const void *a, const void *b)
{
	const struct hyptrace_subbuf *x = a, *y = b;

	return x->time_stamp < y->time_stamp ? 1 : x->time_stamp > y->time_stamp ? -1 : 0;
}

/* Copy sub-buffers without a gap between them, the newest first. Return their number. */
static unsigned int snap(const struct hyptrace_map_meta *meta, union copy *pages)
{
	uint64_t last = 0, floor = subbuf_at(meta, meta->buffer.reader.id)->time_stamp;
	unsigned int ids[NR_SUBBUFS], id, i, nr = 0;

	if (floor < meta->begin)
		floor = meta->begin;
	for (id = 0; id < NR_SUBBUFS; id++) {
		uint64_t time = acquire(&subbuf_at(meta, id)->time_stamp);

		if (acquire(&subbuf_at(meta, id)->commit) && time > last)
			last = time;
	}
	for (id = 0; id < NR_SUBBUFS; id++) {
		const struct hyptrace_subbuf *page = subbuf_at(meta, id);
		struct hyptrace_subbuf *to = &pages[nr].subbuf;

		to->time_stamp = acquire(&page->time_stamp);
		to->commit = acquire(&page->commit) & HYPTRACE_COMMIT_MASK;
		if (!to->commit || to->time_stamp < floor || to->time_stamp > last)
			continue;
		/* Store the id in place of the data until the sub-buffer is copied below. */
		memcpy(to->data, &id, sizeof(id));
		nr++;
	}
	qsort(pages, nr, sizeof(*pages), younger_first);
	for (i = 0; i < nr; i++) {
		memcpy(&ids[i], pages[i].subbuf.data, sizeof(id));
		memcpy(pages[i].subbuf.data, subbuf_at(meta, ids[i])->data, pages[i].subbuf.commit);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (acquire(&subbuf_at(meta, ids[i])->time_stamp) != pages[i].subbuf.time_stamp)
			return i;
	}
	return nr;
}

/* Return the number of events, and expect numbers without a gap. @first: the lowest one */
static uint64_t count(struct __test_metadata *_metadata, const union copy *pages,
		      unsigned int nr, uint16_t event, uint64_t *first)
{
	struct record record;
	struct subbuf sub;
	uint64_t id, events = 0;

	while (nr--) {
		subbuf_begin(&sub, &pages[nr], PAGE);
		while (subbuf_next(&sub, &record)) {
			if (record.event != event)
				continue;
			memcpy(&id, (const char *)record.payload + 8, sizeof(id));
			if (!events)
				*first = id;
			ASSERT_EQ(*first + events, id);
			events++;
		}
		ASSERT_EQ(NULL, sub.bad);
	}
	return events;
}

static union copy pages[NR_SUBBUFS];

static const struct hyptrace_map_meta *map(int fd)
{
	return mmap(NULL, MAP_SIZE, PROT_READ, MAP_SHARED, fd, 0);
}

static int ready(struct nl *nl, const char *remote, uint32_t mode)
{
	return control_ready(nl, remote, RING_SIZE, mode);
}

TEST_F(snapshot, consumes_nothing)
{
	int event = control_event_id(&self->nl, variant->remote, "selftest");
	const struct hyptrace_map_meta *meta;
	struct counts before, after;
	uint64_t first;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 100, 3 * PER_SUBBUF));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &before));
	fd = open_snapshot(variant->remote, 0);
	ASSERT_LE(0, fd);
	meta = map(fd);
	ASSERT_NE(MAP_FAILED, meta);
	EXPECT_EQ(3 * PER_SUBBUF, count(_metadata, pages, snap(meta, pages), event, &first));
	EXPECT_EQ(100, first);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &after));
	EXPECT_EQ(before.written, after.written);
	EXPECT_EQ(0, after.read);
	EXPECT_EQ(before.unread, after.unread);
	EXPECT_EQ(0, after.consumer);
	close(fd);
	munmap((void *)meta, MAP_SIZE);
}

TEST_F(snapshot, starts_at_the_reader_page_of_the_consumer)
{
	int event = control_event_id(&self->nl, variant->remote, "selftest");
	struct sequence seq = { .event = event };
	const struct hyptrace_map_meta *meta;
	static char buffer[PAGE_MAX];
	int fd, fds[3], i;
	uint64_t first;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	for (i = 0; i < 3; i++) {
		fds[i] = open_snapshot(variant->remote, 0);
		ASSERT_LE(0, fds[i]);
	}
	EXPECT_EQ(-EBUSY, open_attached(variant->remote, 0, 0));
	meta = map(fds[2]);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 4 * PER_SUBBUF));
	for (i = 1; i < 4; i++) {
		ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
		sequence_feed(&seq, buffer, PAGE);
		/* The snapshot starts with the reader page, which is all read. */
		EXPECT_EQ((5 - i) * PER_SUBBUF,
			  count(_metadata, pages, snap(meta, pages), event, &first));
		EXPECT_EQ(PER_SUBBUF * RECORD, meta->buffer.reader.read);
		EXPECT_EQ((i - 1) * PER_SUBBUF, first);
	}
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
	sequence_feed(&seq, buffer, PAGE);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(4 * PER_SUBBUF, seq.seen);
	EXPECT_EQ(0, seq.lost);
	munmap((void *)meta, MAP_SIZE);
	for (i = 0; i < 3; i++)
		close(fds[i]);
	close(fd);
}

TEST_F(snapshot, has_no_event_from_before_a_clear)
{
	int event = control_event_id(&self->nl, variant->remote, "selftest");
	const struct hyptrace_map_meta *meta;
	uint64_t first;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_snapshot(variant->remote, 0);
	meta = map(fd);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 5 * PER_SUBBUF));
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, 0));
	EXPECT_EQ(0, snap(meta, pages));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 7000, 10));
	EXPECT_EQ(10, count(_metadata, pages, snap(meta, pages), event, &first));
	EXPECT_EQ(7000, first);
	close(fd);
	munmap((void *)meta, MAP_SIZE);
}

/* In discard mode a gap record stands where events are missing. */
TEST_F(snapshot, shows_the_gap_of_discard_mode)
{
	const struct hyptrace_map_meta *meta;
	static char buffer[PAGE_MAX];
	struct record expected, record = {};
	unsigned int nr, i, gaps = 0;
	struct subbuf sub;
	uint64_t lost;
	int fd, observer;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_DISCARD));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	observer = open_snapshot(variant->remote, 0);
	meta = map(observer);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, RING_SIZE));
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, RING_SIZE, 1));
	nr = snap(meta, pages);
	for (i = 0; i < nr; i++) {
		uint32_t head[2];

		memcpy(head, pages[i].subbuf.data, sizeof(head));
		if (hyptrace_record_type_len(head[0]) != HYPTRACE_TYPE_PADDING)
			continue;
		gaps++;
		EXPECT_EQ(1, hyptrace_record_delta(head[0]));
		EXPECT_EQ(12, head[1]);
		memcpy(&lost, pages[i].subbuf.data + 8, sizeof(lost));
		EXPECT_EQ(RING_SIZE - (NR_SUBBUFS - 1) * PER_SUBBUF, lost);
		/* The gap is in the newest sub-buffer. */
		EXPECT_EQ(0, i);
	}
	EXPECT_EQ(1, gaps);
	/* A consumer does not get the gap, but the same time of the event behind it. */
	subbuf_begin(&sub, &pages[0], PAGE);
	ASSERT_TRUE(subbuf_next(&sub, &expected));
	while (read(fd, buffer, PAGE) == PAGE) {
		subbuf_begin(&sub, buffer, PAGE);
		ASSERT_TRUE(subbuf_next(&sub, &record));
	}
	EXPECT_EQ(expected.time, record.time);
	close(fd);
	close(observer);
	munmap((void *)meta, MAP_SIZE);
}

/* The new ring has lost nothing, but the ring before it has. */
TEST_F(snapshot, shows_the_losses_from_before_a_resize)
{
	const struct hyptrace_map_meta *meta;
	static char buffer[PAGE_MAX];
	int fd, observer;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
	/* Fill the reader page and the ring, and the same amount again. */
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 10,
				  2 * NR_SUBBUFS * PER_SUBBUF));
	ASSERT_EQ(0, control_set_size(&self->nl, variant->remote, 2 * RING_SIZE));
	observer = open_snapshot(variant->remote, 0);
	meta = map(observer);
	ASSERT_NE(MAP_FAILED, meta);
	EXPECT_LT(NR_SUBBUFS * PER_SUBBUF / 2, meta->next_lost);
	EXPECT_EQ(PAGE, read(fd, buffer, PAGE));
	EXPECT_LT(0, meta->next_lost);
	/* The next sub-buffer reports the losses itself. */
	EXPECT_EQ(PAGE, read(fd, buffer, PAGE));
	EXPECT_EQ(0, meta->next_lost);
	munmap((void *)meta, MAP_SIZE);
	close(observer);
	close(fd);
}

/* The writer overwrites the ring again and again, as fast as it can. */
TEST_F_TIMEOUT(snapshot, has_no_gap_while_the_ring_is_overwritten, PATIENCE_S)
{
	int event = control_event_id(&self->nl, variant->remote, "selftest");
	uint64_t first, last = 0, taken = 0, events = 0;
	const struct hyptrace_map_meta *meta;
	struct counts counts;
	pid_t child, ended;
	int fd, status;

	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	fd = open_snapshot(variant->remote, 1);
	meta = map(fd);
	ASSERT_NE(MAP_FAILED, meta);
	child = fork();
	if (!child)
		_exit(control_mark(&self->nl, variant->remote, 1, 0, 100000) ? 1 : 0);
	/* Make the last snapshot after all events: on a busy machine it may be the only one. */
	do {
		uint64_t nr;

		ended = waitpid(child, &status, WNOHANG);
		nr = count(_metadata, pages, snap(meta, pages), event, &first);
		if (!nr)
			continue;
		EXPECT_LE(last, first + nr - 1);
		last = first + nr - 1;
		taken++;
		events += nr;
	} while (!ended);
	EXPECT_EQ(0, status);
	EXPECT_LT(0, taken);
	TH_LOG("%llu snapshots of %llu events on average", (unsigned long long)taken,
	       (unsigned long long)(taken ? events / taken : 0));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(100000, counts.written);
	EXPECT_EQ(0, counts.read);
	close(fd);
	munmap((void *)meta, MAP_SIZE);
}

TEST_F(snapshot, cannot_load_read_or_grow_a_ring)
{
	struct hyptrace_attach all = {
		.size = sizeof(all), .cpu = HYPTRACE_CPU_ALL, .flags = HYPTRACE_ATTACH_SNAPSHOT,
	};
	const struct hyptrace_map_meta *meta;
	int fd, pipes[2];
	char byte;

	/* Unlike a consumer it does not load the rings. */
	EXPECT_EQ(-ENODATA, open_snapshot(variant->remote, 0));
	EXPECT_UNLOADED();
	EXPECT_EQ(-ENODEV, open_snapshot("no-such", 0));

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, ready(&self->nl, variant->remote, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-ENXIO, open_snapshot(variant->remote, 1000));
	fd = open(DEVICE, O_RDONLY);
	strcpy(all.remote, variant->remote);
	EXPECT_EQ(-1, ioctl(fd, HYPTRACE_IOC_ATTACH, &all));
	EXPECT_EQ(EINVAL, errno);
	close(fd);

	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 1));
	fd = open_snapshot(variant->remote, 0);
	meta = map(fd);
	ASSERT_NE(MAP_FAILED, meta);
	EXPECT_EQ(-1, read(fd, &byte, 1));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(-1, splice(fd, NULL, pipes[1], NULL, PAGE, 0));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(-1, ioctl(fd, TRACE_MMAP_IOCTL_GET_READER));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, MAP_SIZE + PAGE, PROT_READ, MAP_SHARED, fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, meta->buffer.read);
	/* It keeps the rings loaded, as any attached descriptor does. */
	EXPECT_EQ(-EBUSY, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	close(fd);
	munmap((void *)meta, MAP_SIZE);
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
}

TEST_HARNESS_MAIN
