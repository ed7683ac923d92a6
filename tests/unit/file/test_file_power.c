// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a recording that a power cut interrupts. At each call that changes a file, the disk
 * may have any sectors of what was written since the last sync: the reader must find all events in
 * what is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/hyptrace_file.h"
#include "file_remote.h"

#define PER_SUBBUF	40
/* Disks to try at each call */
#define TRIES		10
#define SECTOR		512
#define WRITES_MAX	1024

/**
 * struct pending - a sector that was written, but is perhaps not on the disk
 * @file:	index of the file among @names
 * @at:		its offset
 * @len:	bytes of it that the file had before
 * @old:	these bytes
 */
struct pending {
	unsigned int	file;
	off_t		at;
	size_t		len;
	char		old[SECTOR];
};

static const char *const names[] = { "a.dat.part", "a.dat.part.cpu2", "a.dat.part.cpu5" };
static struct pending *pending;
static unsigned int nr_pending, nr_calls, nr_cuts;
static bool is_ending, has_room, is_named;
static uint32_t seed, nr_marks;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

static int file_of(int fd)
{
	struct stat st, other;
	unsigned int i;

	assert_int_equal(fstat(fd, &st), 0);
	for (i = 0; i < 3; i++)
		if (!stat(names[i], &other) && other.st_ino == st.st_ino)
			return i;
	return -1;
}

ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);

/* Make a copy of a file without some sectors that are not on the disk for sure. */
static void copy_file(unsigned int file, const char *from)
{
	char name[64], *data;
	unsigned int i;
	size_t size;
	int fd;

	data = slurp(from, &size);
	if (!data)
		return;
	for (i = nr_pending; i--;) {
		const struct pending *p = &pending[i];
		size_t end = p->at + SECTOR < (off_t)size ? SECTOR : size - p->at;

		if (p->file != file || p->at >= (off_t)size || !random_below(2))
			continue;
		memset(data + p->at, 0, end);
		memcpy(data + p->at, p->old, p->len < end ? p->len : end);
	}
	snprintf(name, sizeof(name), "cut/%s", from);
	fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	assert_int_equal(__real_pwrite(fd, data, size, 0), size);
	close(fd);
	free(data);
}

static void read_cut(const char *name)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_error why = {};
	struct hyptrace_file *file = hyptrace_file_open(name, &why);
	uint32_t number, nr = 0;
	uint64_t sum = 0;
	int ret;

	if (!file)
		fail_msg("call %u: %s", nr_calls, why.text);
	while ((ret = hyptrace_file_next(file, &event, &why)) == 1) {
		/* a loss that only the description has */
		if (!event->record.data)
			continue;
		memcpy(&number, (const char *)event->record.data + 4, sizeof(number));
		sum += number;
		nr++;
	}
	if (ret != -ENODATA || nr != nr_marks)
		fail_msg("call %u: %u of %u events: %s", nr_calls, nr, nr_marks, why.text);
	assert_true(sum == (uint64_t)nr_marks * (nr_marks - 1) / 2);
	hyptrace_file_close(file);
}

int __real_unlink(const char *path);

/* The power may be cut now. */
static void cut(void)
{
	unsigned int i, file;

	if (!is_ending)
		return;
	nr_calls++;
	for (i = 0; i < TRIES; i++) {
		mkdir("cut", 0700);
		__real_unlink("cut/a.dat");
		for (file = 0; file < 3; file++) {
			char name[64];

			snprintf(name, sizeof(name), "cut/%s", names[file]);
			__real_unlink(name);
		}
		for (file = 0; file < 3; file++)
			copy_file(file, names[file]);
		copy_file(0, "a.dat");
		read_cut(exists("cut/a.dat") ? "cut/a.dat" : "cut/a.dat.part");
		nr_cuts++;
	}
}

/* Remember what the file has where it is about to be written. */
static void remember(int fd, off_t offset, size_t size)
{
	off_t at = offset - offset % SECTOR;
	int file = file_of(fd);

	if (!is_ending || file < 0)
		return;
	for (; at < offset + (off_t)size; at += SECTOR) {
		struct pending *p = &pending[nr_pending++];
		ssize_t n;

		assert_in_range(nr_pending, 0, WRITES_MAX);
		p->file = file;
		p->at = at;
		n = pread(fd, p->old, SECTOR, at);
		p->len = n > 0 ? n : 0;
	}
}

static void forget(int fd)
{
	unsigned int i, kept = 0;
	int file = file_of(fd);

	for (i = 0; i < nr_pending; i++)
		if ((int)pending[i].file != file)
			pending[kept++] = pending[i];
	nr_pending = kept;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	ssize_t n;

	cut();
	remember(fd, offset, size);
	n = __real_pwrite(fd, data, size, offset);
	cut();
	return n;
}

ssize_t __real_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
			       unsigned int flags);
ssize_t __wrap_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
			       unsigned int flags);
ssize_t __wrap_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
			       unsigned int flags)
{
	ssize_t n;

	cut();
	/* once, a part must give up its room */
	if (!has_room && *to_at > 100000) {
		has_room = true;
		errno = ENOSPC;
		return -1;
	}
	remember(to, *to_at, size);
	n = __real_copy_file_range(from, from_at, to, to_at, size, flags);
	cut();
	return n;
}

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	cut();
	forget(fd);
	return __real_fdatasync(fd);
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	struct stat st, other;

	/* the new name is on the disk, too */
	assert_int_equal(fstat(fd, &st) || stat(".", &other), 0);
	is_named |= st.st_ino == other.st_ino && exists("a.dat");
	return __wrap_fdatasync(fd);
}

int __real_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	cut();
	return __real_fallocate(fd, mode, offset, size);
}

int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path)
{
	cut();
	return __real_unlink(path);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
	int ret;

	cut();
	ret = __real_rename(from, to);
	cut();
	return ret;
}

static int setup(void **state)
{
	pending = calloc(WRITES_MAX, sizeof(*pending));
	nr_pending = 0;
	nr_calls = 0;
	nr_cuts = 0;
	nr_marks = 0;
	seed = 1;
	has_room = true;
	is_ending = false;
	is_named = false;
	return enter_folder(state);
}

static int teardown(void **state)
{
	free(pending);
	return leave_folder(state);
}

static void write_subbufs(struct hyptrace_file_writer *w, unsigned int cpu, unsigned int nr)
{
	char subbuf[SUBBUF];

	while (nr--) {
		fill(subbuf, 1000 + nr_marks, nr_marks, PER_SUBBUF);
		nr_marks += PER_SUBBUF;
		assert_int_equal(hyptrace_file_write(w, cpu, subbuf, SUBBUF, &err), 0);
	}
}

/* Record so many sub-buffers of the CPUs, and cut the power at each call of the end. */
static void end_at_each_call(unsigned int flags, unsigned int first, unsigned int second,
			     unsigned int third)
{
	struct hyptrace_file_writer *w;
	uint64_t events[CPUS];
	unsigned int i;

	w = begin("a.dat", flags);
	assert_non_null(w);
	write_subbufs(w, cpu_ids[0], first);
	events[0] = nr_marks;
	write_subbufs(w, cpu_ids[1], second);
	events[1] = nr_marks - events[0];
	write_subbufs(w, cpu_ids[2], third);
	events[2] = nr_marks - events[0] - events[1];
	/* digits in all places */
	for (i = 0; i < CPUS; i++)
		hyptrace_file_set_counts(w, cpu_ids[i], events[i], UINT64_MAX, 1);
	hyptrace_file_unwritten(w, cpu_ids[0]);
	is_ending = true;
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	is_ending = false;
	assert_true(is_named);
	read_cut("a.dat");
	assert_true(nr_calls > 5);
}

static void test_all_cpus(void **state)
{
	(void)state;
	end_at_each_call(0, 3, 4, 2);
	assert_true(nr_calls > 12);
}

static void test_compressed(void **state)
{
	(void)state;
	end_at_each_call(HYPTRACE_FILE_ZSTD, 3, 4, 2);
}

static void test_first_is_empty(void **state)
{
	(void)state;
	end_at_each_call(0, 0, 4, 1);
}

static void test_first_alone(void **state)
{
	(void)state;
	end_at_each_call(0, 5, 0, 0);
}

static void test_empty_compressed(void **state)
{
	(void)state;
	end_at_each_call(HYPTRACE_FILE_ZSTD, 0, 0, 2);
}

/* A part gives up its first blocks while it is moved. */
static void test_holes(void **state)
{
	(void)state;
	has_room = false;
	end_at_each_call(0, 1, 41, 0);
	assert_true(has_room);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_cpus), TEST(test_compressed), TEST(test_first_is_empty),
		TEST(test_first_alone), TEST(test_empty_compressed), TEST(test_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
