// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping a ring. This also checks what meta_page_check and data_mmap of the kernel's own
 * test, tools/testing/selftests/ring-buffer, expect of a mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"

#define NR_SUBBUFS	9		/* the reader page included */
#define RING_SIZE	((NR_SUBBUFS - 1) * PAGE)
#define TOO_MANY	(6 * NR_SUBBUFS * PER_SUBBUF)
#define MAP_SIZE	((NR_SUBBUFS + 1) * PAGE)

/* Enough for 100,000 records of 20 bytes */
#define BIG_SIZE	(2560 * 1024)
#define BIG_COUNT	100000

REMOTE_FIXTURE(map);

static struct sequence sequence_of(struct nl *nl, const char *remote)
{
	return (struct sequence) { .event = control_event_id(nl, remote, "selftest") };
}

static int ready(struct nl *nl, const char *remote)
{
	return control_ready(nl, remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE);
}

static struct trace_buffer_meta *map_all(int fd, size_t size)
{
	return mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
}

static int get_reader(int fd)
{
	return ioctl(fd, TRACE_MMAP_IOCTL_GET_READER) ? -errno : 0;
}

static const void *subbuf_at(const struct trace_buffer_meta *meta, unsigned int id)
{
	return (const char *)meta + meta->meta_page_size + (size_t)id * meta->subbuf_size;
}

/* Return true if a child process can read the byte. */
static bool is_mapped_in_child(const void *at)
{
	pid_t child = fork();
	int status;

	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		*(volatile const char *)at;
		_exit(0);
	}
	waitpid(child, &status, 0);
	return !status;
}

TEST_F(map, meta_page_of_an_empty_ring_is_correct)
{
	struct trace_buffer_meta *meta;
	unsigned int i;
	int fd;

	ASSERT_EQ(0, control_load(&self->nl, variant->remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, PAGE);
	ASSERT_NE(MAP_FAILED, meta);
	EXPECT_EQ(PAGE, meta->meta_page_size);
	EXPECT_EQ(sizeof(struct hyptrace_map_meta), meta->meta_struct_len);
	EXPECT_EQ(PAGE, meta->subbuf_size);
	EXPECT_EQ(NR_SUBBUFS, meta->nr_subbufs);
	EXPECT_EQ(0, meta->reader.id);
	EXPECT_EQ(0, meta->reader.read);
	EXPECT_EQ(0, meta->reader.lost_events);
	EXPECT_EQ(0, meta->flags);
	EXPECT_EQ(0, meta->entries);
	EXPECT_EQ(0, meta->overrun);
	EXPECT_EQ(0, meta->read);
	EXPECT_EQ(0, meta->Reserved1);
	EXPECT_EQ(0, meta->Reserved2);
	for (i = sizeof(*meta); i < PAGE; i++)
		ASSERT_EQ(0, ((char *)meta)[i]);
	close(fd);
}

/* The same steps as meta_page_check of the kernel's test */
TEST_F(map, get_reader_swaps_only_if_there_is_a_new_subbuf)
{
	struct trace_buffer_meta *meta;
	unsigned int round;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	EXPECT_EQ(0, get_reader(fd));
	EXPECT_EQ(0, meta->reader.id);
	EXPECT_EQ(0, meta->read);

	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 16));
	for (round = 0; round < 2; round++) {
		EXPECT_EQ(0, get_reader(fd));
		EXPECT_EQ(16, meta->entries);
		EXPECT_EQ(0, meta->overrun);
		EXPECT_EQ(16, meta->read);
		EXPECT_EQ(1, meta->reader.id);
		EXPECT_EQ(0, meta->reader.lost_events);
	}
	close(fd);
}

TEST_F(map, reader_page_grows_in_place)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	struct trace_buffer_meta *meta;
	struct subbuf sub;
	uint32_t read_before;
	unsigned int id, i;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	ASSERT_EQ(0, get_reader(fd));
	id = meta->reader.id;
	for (i = 1; i < 5; i++) {
		read_before = meta->reader.read;
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 10 * i, 10));
		EXPECT_EQ(read_before, meta->reader.read);
		ASSERT_EQ(0, get_reader(fd));
		EXPECT_EQ(id, meta->reader.id);
		EXPECT_LT(read_before, meta->reader.read);
		EXPECT_EQ(10 * (i + 1), meta->read);
		EXPECT_EQ(10 * (i + 1), meta->entries);
	}
	subbuf_begin(&sub, subbuf_at(meta, id), PAGE);
	EXPECT_EQ(sub.end, meta->reader.read);
	sequence_records(&seq, &sub);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(50, seq.seen);
	close(fd);
}

/* Read all events through the mapping, until GET_READER finds nothing new. */
static void read_mapping(struct trace_buffer_meta *meta, int fd, struct sequence *seq)
{
	uint32_t id = UINT32_MAX, at = 0;
	uint64_t time = 0, read = meta->read;
	struct subbuf sub;

	for (;;) {
		if (get_reader(fd)) {
			snprintf(seq->bad, sizeof(seq->bad), "GET_READER: errno %d", errno);
			return;
		}
		if (meta->read == read)
			return;
		read = meta->read;
		subbuf_begin(&sub, subbuf_at(meta, meta->reader.id), meta->subbuf_size);
		if (id != meta->reader.id) {
			id = meta->reader.id;
			seq->lost += meta->reader.lost_events;
			seq->next += meta->reader.lost_events;
		} else {
			/* The reader page has grown: go on behind the last event read. */
			sub.pos = at;
			sub.time = time;
		}
		sub.end = meta->reader.read;
		sequence_records(seq, &sub);
		at = sub.pos;
		time = sub.time;
	}
}

TEST_F(map, a_large_ring_is_read_completely_and_in_order)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	size_t size = (BIG_SIZE / PAGE + 2) * PAGE;
	struct trace_buffer_meta *meta;
	struct counts counts;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, BIG_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(variant->remote, 1, O_NONBLOCK);
	meta = map_all(fd, size);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 1, 0, BIG_COUNT));
	read_mapping(meta, fd, &seq);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(BIG_COUNT, seq.seen);
	EXPECT_EQ(0, seq.lost);
	EXPECT_EQ(BIG_COUNT, meta->read);
	EXPECT_EQ(BIG_COUNT, meta->entries);
	EXPECT_EQ(0, meta->overrun);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(BIG_COUNT, counts.written);
	EXPECT_EQ(BIG_COUNT, counts.read);
	EXPECT_EQ(0, counts.unread);
	close(fd);
}

TEST_F(map, get_reader_reports_the_losses)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	struct trace_buffer_meta *meta;
	struct counts counts;
	const __u64 *pages;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	/* pages_lost and pages_touched: reserved fields in the headers of older kernels */
	pages = &meta->read + 1;
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, TOO_MANY));
	ASSERT_EQ(0, get_reader(fd));
	/* A CPU that stood still for too long wrote a time extend: the room of one event. */
	EXPECT_GE(pages[0] * PER_SUBBUF, meta->overrun);
	EXPECT_LT((pages[0] - 1) * PER_SUBBUF, meta->overrun);
	EXPECT_LE((TOO_MANY - 1) / PER_SUBBUF, pages[1]);
	EXPECT_GE(TOO_MANY / PER_SUBBUF, pages[1]);
	EXPECT_LT(0, meta->reader.lost_events);
	EXPECT_EQ(meta->overrun, meta->reader.lost_events);
	EXPECT_EQ(TOO_MANY, meta->entries);
	ASSERT_EQ(0, control_fresh(&self->nl, variant->remote) == -EBUSY ? 0 : -1);

	/* Start again: the call above has already consumed the first sub-buffer. */
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, 0));
	EXPECT_EQ(0, meta->entries);
	EXPECT_EQ(0, meta->overrun);
	EXPECT_EQ(0, meta->read);
	EXPECT_EQ(0, pages[0]);
	EXPECT_EQ(0, pages[1]);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, TOO_MANY));
	read_mapping(meta, fd, &seq);
	EXPECT_STREQ("", seq.bad);
	EXPECT_EQ(TOO_MANY, seq.seen + seq.lost);
	EXPECT_EQ(meta->read, seq.seen);
	EXPECT_EQ(meta->overrun, seq.lost);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(seq.seen, counts.read);
	EXPECT_EQ(seq.lost, counts.overrun);
	EXPECT_EQ(0, counts.unread);
	close(fd);
}

/* As in the kernel's ring buffer, what a full ring discards is no entry. */
TEST_F(map, entries_are_what_was_kept)
{
	struct trace_buffer_meta *meta;
	struct counts counts;
	int fd;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE, HYPTRACE_MODE_DISCARD));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, TOO_MANY));
	ASSERT_EQ(0, get_reader(fd));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_LT(0, counts.dropped);
	EXPECT_EQ(TOO_MANY, meta->entries + counts.dropped);
	close(fd);
}

TEST_F(map, read_and_get_reader_deliver_each_event_once)
{
	struct sequence seq = sequence_of(&self->nl, variant->remote);
	static char buffer[PAGE_MAX] __attribute__((aligned(8)));
	struct trace_buffer_meta *meta;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 5));
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
	sequence_feed(&seq, buffer, PAGE);
	EXPECT_EQ(5, meta->read);
	/* GET_READER does not deliver again what read() has delivered. */
	ASSERT_EQ(0, get_reader(fd));
	EXPECT_EQ(5, meta->read);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 5, 5));
	ASSERT_EQ(0, get_reader(fd));
	EXPECT_EQ(10, meta->read);
	ASSERT_EQ(-1, read(fd, buffer, PAGE));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 10, 5));
	ASSERT_EQ(PAGE, read(fd, buffer, PAGE));
	seq.next = 10;
	sequence_feed(&seq, buffer, PAGE);
	EXPECT_STREQ("", seq.bad);
	close(fd);
}

/* GET_READER of tracefs does the same. */
TEST_F(map, get_reader_waits_unless_nonblocking)
{
	struct trace_buffer_meta *meta;
	int fd, status;
	pid_t child;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, 0);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	child = fork();
	if (!child) {
		struct nl own;

		usleep(200 * 1000);
		_exit(nl_open(&own) || control_mark(&own, variant->remote, 0, 0, 1));
	}
	ASSERT_EQ(0, get_reader(fd));
	EXPECT_EQ(1, meta->read);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	/* Tracing is off, so GET_READER does not wait. */
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
	ASSERT_EQ(0, get_reader(fd));
	EXPECT_EQ(1, meta->read);
	close(fd);
}

TEST_F(map, get_reader_without_a_mapping_fails)
{
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	EXPECT_EQ(-ENODEV, get_reader(fd));
	close(fd);
	fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, O_NONBLOCK);
	EXPECT_EQ(-ENODEV, get_reader(fd));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0));
	EXPECT_EQ(ENODEV, errno);
	close(fd);
}

static int map_errno(int fd, size_t size, int prot, int flags, off_t offset)
{
	void *at = mmap(NULL, size, prot, flags, fd, offset);

	if (at == MAP_FAILED)
		return errno;
	munmap(at, size);
	return 0;
}

TEST_F(map, only_ranges_inside_the_ring_can_be_mapped)
{
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	/* the whole ring, and parts of it */
	EXPECT_EQ(0, map_errno(fd, MAP_SIZE, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(0, map_errno(fd, NR_SUBBUFS * PAGE, PROT_READ, MAP_SHARED, PAGE));
	EXPECT_EQ(0, map_errno(fd, (NR_SUBBUFS - 1) * PAGE, PROT_READ, MAP_SHARED, PAGE));
	EXPECT_EQ(0, map_errno(fd, PAGE, PROT_READ, MAP_SHARED, NR_SUBBUFS * PAGE));
	EXPECT_EQ(0, map_errno(fd, 1, PROT_READ, MAP_SHARED, 0));

	EXPECT_EQ(EINVAL, map_errno(fd, MAP_SIZE + PAGE, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(EINVAL, map_errno(fd, MAP_SIZE, PROT_READ, MAP_SHARED, PAGE));
	EXPECT_EQ(EINVAL, map_errno(fd, (NR_SUBBUFS - 1) * PAGE, PROT_READ, MAP_SHARED, 3 * PAGE));
	EXPECT_EQ(EINVAL, map_errno(fd, 2 * PAGE, PROT_READ, MAP_SHARED, NR_SUBBUFS * PAGE));
	EXPECT_EQ(EINVAL, map_errno(fd, PAGE, PROT_READ, MAP_SHARED, (NR_SUBBUFS + 1) * PAGE));
	EXPECT_EQ(EINVAL, map_errno(fd, PAGE, PROT_READ, MAP_SHARED, 1UL << 40));
	EXPECT_EQ(EINVAL, map_errno(fd, PAGE, PROT_READ, MAP_SHARED, PAGE / 2));
	EXPECT_EQ(EINVAL, map_errno(fd, 0, PROT_READ, MAP_SHARED, 0));
	/* Offset and length overflow when added. The kernel's core refuses some of these. */
	EXPECT_NE(0, map_errno(fd, PAGE, PROT_READ, MAP_SHARED, -PAGE));
	EXPECT_NE(0, map_errno(fd, 2 * PAGE, PROT_READ, MAP_SHARED, -PAGE));
	EXPECT_NE(0, map_errno(fd, PAGE, PROT_READ, MAP_SHARED, INT64_MAX & ~(PAGE - 1)));

	EXPECT_EQ(-ENODEV, get_reader(fd));
	close(fd);
}

TEST_F(map, mapping_is_read_only_and_cannot_grow)
{
	struct trace_buffer_meta *meta;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open(DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, attach(fd, variant->remote, 0, NULL));
	EXPECT_EQ(EPERM, map_errno(fd, MAP_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
	EXPECT_EQ(EPERM, map_errno(fd, PAGE, PROT_WRITE, MAP_SHARED, 0));
	EXPECT_EQ(EPERM, map_errno(fd, MAP_SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, 0));
	EXPECT_EQ(EPERM, map_errno(fd, MAP_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0));
	EXPECT_EQ(EPERM, map_errno(fd, MAP_SIZE, PROT_READ, MAP_PRIVATE, 0));

	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	EXPECT_EQ(-1, mprotect(meta, MAP_SIZE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((char *)meta + PAGE, PAGE, PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(meta, MAP_SIZE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, mprotect(meta, MAP_SIZE, PROT_READ));
	EXPECT_EQ(MAP_FAILED, mremap(meta, MAP_SIZE, MAP_SIZE + PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	close(fd);
}

TEST_F_SIGNAL(map, a_write_to_the_mapping_faults, SIGSEGV)
{
	struct trace_buffer_meta *meta;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	*((volatile char *)meta + PAGE) = 1;
}

TEST_F(map, a_ring_can_be_mapped_twice)
{
	struct trace_buffer_meta *meta, *again;
	const void *data;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	again = map_all(fd, PAGE);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_NE(MAP_FAILED, again);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 3));
	ASSERT_EQ(0, get_reader(fd));
	EXPECT_EQ(3, meta->read);
	EXPECT_EQ(3, again->read);
	data = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, PAGE * (1 + meta->reader.id));
	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(0, memcmp(data, subbuf_at(meta, meta->reader.id), PAGE));
	/* The second mapping is enough for GET_READER. */
	ASSERT_EQ(0, munmap(meta, MAP_SIZE));
	EXPECT_EQ(0, get_reader(fd));
	ASSERT_EQ(0, munmap(again, PAGE));
	ASSERT_EQ(0, munmap((void *)data, PAGE));
	EXPECT_EQ(-ENODEV, get_reader(fd));
	close(fd);
}

TEST_F(map, ring_is_released_after_the_last_part_is_unmapped)
{
	struct trace_buffer_meta *meta;
	unsigned int i;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	/* Unmap every other page, close the descriptor, unmap the rest. */
	for (i = 1; i <= NR_SUBBUFS; i += 2)
		ASSERT_EQ(0, munmap((char *)meta + i * PAGE, PAGE));
	EXPECT_EQ(0, get_reader(fd));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(-EBUSY, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	for (i = 0; i <= NR_SUBBUFS; i += 2)
		ASSERT_EQ(0, munmap((char *)meta + i * PAGE, PAGE));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	EXPECT_UNLOADED();
}

TEST_F(map, mapping_keeps_the_rings_loaded)
{
	struct trace_buffer_meta *meta;
	struct info info;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 3));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(-EBUSY, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	EXPECT_EQ(-EBUSY, control(&self->nl, HYPTRACE_CMD_RESET, variant->remote));
	EXPECT_EQ(-EBUSY, open_attached(variant->remote, 0, 0));
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	EXPECT_EQ(HYPTRACE_STATE_TRACING, info.state);
	EXPECT_EQ(1, info.readers);
	EXPECT_EQ(NR_SUBBUFS, meta->nr_subbufs);
	ASSERT_EQ(0, munmap(meta, MAP_SIZE));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	EXPECT_UNLOADED();
}

TEST_F(map, child_does_not_inherit_the_mapping)
{
	struct trace_buffer_meta *meta;
	int fd;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	meta = map_all(fd, MAP_SIZE);
	ASSERT_NE(MAP_FAILED, meta);
	EXPECT_FALSE(is_mapped_in_child(meta));
	EXPECT_FALSE(is_mapped_in_child((char *)meta + PAGE));
	/* The parent's mapping still works. */
	EXPECT_EQ(NR_SUBBUFS, meta->nr_subbufs);
	EXPECT_EQ(0, get_reader(fd));
	close(fd);
}

TEST_F(map, ring_is_released_when_its_process_is_killed)
{
	int status, tell[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, ready(&self->nl, variant->remote));
	ASSERT_EQ(0, pipe(tell));
	child = fork();
	if (!child) {
		int fd = open_attached(variant->remote, 0, O_NONBLOCK);

		if (fd < 0 || map_all(fd, MAP_SIZE) == MAP_FAILED)
			_exit(1);
		if (write(tell[1], "m", 1) == 1)
			pause();
		_exit(1);
	}
	ASSERT_EQ(1, read(tell[0], &byte, 1));
	EXPECT_EQ(-EBUSY, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, variant->remote));
	EXPECT_UNLOADED();
}

TEST_HARNESS_MAIN
