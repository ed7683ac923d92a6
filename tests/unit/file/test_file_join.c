// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joining sub-buffers that were read before they were full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "file_remote.h"

static struct hyptrace_file_writer *w;
static char to[SUBBUF], from[SUBBUF];

static int setup(void **state)
{
	(void)state;
	if (enter_folder(state))
		return -1;
	w = begin("a.dat", 0);
	/* 10 marks, the last of them at 1010, and 5 more */
	fill(to, 1000, 0, 10);
	fill(from, 1010, 10, 5);
	return w ? 0 : -1;
}

static int teardown(void **state)
{
	hyptrace_file_abandon(w);
	return leave_folder(state);
}

static void set_lost(char *subbuf, uint64_t lost)
{
	struct hyptrace_subbuf *s = (void *)subbuf;

	memcpy(s->data + s->commit, &lost, sizeof(lost));
	s->commit |= HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
}

/* Expect the marks 0 to @nr - 1, 1 ns apart, after @lost events. */
static void expect_marks(const char *subbuf, unsigned int nr, uint64_t lost)
{
	struct hyptrace_decoder dec = {};
	struct hyptrace_record rec;
	uint32_t payload[2];
	unsigned int i;

	assert_int_equal(hyptrace_decoder_load(&dec, subbuf, SUBBUF, &err), 0);
	for (i = 0; i < nr; i++) {
		assert_int_equal(hyptrace_decoder_next(&dec, &rec, &err), 1);
		assert_int_equal(rec.ts, 1001 + i);
		assert_int_equal(rec.lost, i ? 0 : lost);
		memcpy(payload, rec.data, sizeof(payload));
		assert_int_equal(payload[1], i);
	}
	assert_int_equal(hyptrace_decoder_next(&dec, &rec, &err), 0);
}

static void refuse(void)
{
	char before[SUBBUF];

	memcpy(before, to, SUBBUF);
	assert_false(hyptrace_file_join(w, to, from));
	assert_memory_equal(to, before, SUBBUF);
}

static void test_joins(void **state)
{
	char whole[SUBBUF];

	(void)state;
	assert_true(hyptrace_file_join(w, to, from));
	expect_marks(to, 15, 0);
	fill(from, 1015, 15, 1);
	assert_true(hyptrace_file_join(w, to, from));
	/* as if it had been read at once */
	fill(whole, 1000, 0, 16);
	assert_memory_equal(to, whole, SUBBUF);
}

static void test_keeps_the_losses(void **state)
{
	(void)state;
	set_lost(to, 77);
	assert_true(hyptrace_file_join(w, to, from));
	expect_marks(to, 15, 77);
	fill(from, 1015, 15, 1);
	assert_true(hyptrace_file_join(w, to, from));
	expect_marks(to, 16, 77);
}

static void test_refuses_another_time(void **state)
{
	(void)state;
	fill(from, 1011, 10, 5);
	refuse();
	fill(from, 1009, 10, 5);
	refuse();
}

static void test_refuses_losses(void **state)
{
	struct hyptrace_subbuf *next = (void *)from;

	(void)state;
	set_lost(from, 1);
	refuse();
	fill(from, 1010, 10, 5);
	next->commit |= HYPTRACE_COMMIT_MISSED;
	refuse();
}

static void test_refuses_what_does_not_fit(void **state)
{
	(void)state;
	/* 340 marks fill the 4080 bytes */
	fill(to, 1000, 0, 339);
	fill(from, 1339, 339, 2);
	refuse();
	fill(from, 1339, 339, 1);
	assert_true(hyptrace_file_join(w, to, from));
	expect_marks(to, 340, 0);
	fill(from, 1340, 340, 1);
	refuse();

	fill(to, 1000, 0, 338);
	set_lost(to, 5);
	fill(from, 1338, 338, 2);
	refuse();
	fill(from, 1338, 338, 1);
	assert_true(hyptrace_file_join(w, to, from));
	expect_marks(to, 339, 5);
}

static void test_refuses_damage(void **state)
{
	struct hyptrace_subbuf *before = (void *)to;

	(void)state;
	/* a record that is longer than the data */
	before->data[12 * 9] = 28;
	refuse();
	fill(to, 1000, 0, 0);
	refuse();
	fill(to, 1000, 0, 10);
	fill(from, 1010, 0, 0);
	refuse();
	fill(from, 1010, 10, 5);
	before->commit = SUBBUF;
	refuse();
}

/* The clock stands still: see tools.mk. */
static struct timespec clock_time = { .tv_sec = 1 };

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = clock_time;
	return 0;
}

/* Sub-buffers that come one by one, as from a slow writer, become one. */
static void slow_writer(unsigned int flags, unsigned int joined)
{
	unsigned int i;
	int ends[2];

	hyptrace_file_abandon(w);
	w = begin("a.dat", flags);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	for (i = 0; i < 5; i++) {
		fill(from, 1000 + 3 * i, 3 * i, 3);
		assert_int_equal(write(ends[1], from, SUBBUF), SUBBUF);
		assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), SUBBUF);
		assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), 0);
	}
	assert_int_equal(hyptrace_file_size(w), w->head_size + joined * SUBBUF);
	close(ends[0]);
	close(ends[1]);
}

static void test_slow_writer(void **state)
{
	char *part;
	size_t size;

	(void)state;
	slow_writer(0, 1);
	part = slurp("a.dat.part.cpu2", &size);
	assert_int_equal(size, SUBBUF);
	expect_marks(part, 15, 0);
	free(part);
	/* nothing is compressed so far */
	slow_writer(HYPTRACE_FILE_ZSTD, 0);
	hyptrace_file_set_counts(w, 2, 15, 0, 0);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	w = NULL;
}

/* Two sub-buffers are read from a fast ring at once, from a slow one each by itself. */
static void expect_slow(const int *ends, bool is_slow)
{
	const int64_t size = is_slow ? SUBBUF : 2 * SUBBUF;

	assert_int_equal(write(ends[1], from, SUBBUF), SUBBUF);
	assert_int_equal(write(ends[1], from, SUBBUF), SUBBUF);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), size);
	while (hyptrace_file_splice(w, 2, ends[0], &err))
		;
}

/*
 * A ring is slow if it held fewer than 16 sub-buffers since it was empty. Calls that fail do not
 * count.
 */
static void fast_writer(unsigned int flags, unsigned int nr)
{
	unsigned int i;
	int ends[2];

	hyptrace_file_abandon(w);
	w = begin("a.dat", flags);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	for (i = 0; i < nr; i++) {
		assert_int_equal(write(ends[1], from, SUBBUF), SUBBUF);
		assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), SUBBUF);
	}
	assert_int_equal(hyptrace_file_splice(w, 2, -1, &err), -EBADF);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), 0);
	expect_slow(ends, nr < 16);
	expect_slow(ends, true);
	close(ends[0]);
	close(ends[1]);
}

static void test_fast_writer(void **state)
{
	(void)state;
	fast_writer(0, 15);
	fast_writer(0, 16);
	fast_writer(HYPTRACE_FILE_ZSTD, 15);
	fast_writer(HYPTRACE_FILE_ZSTD, 16);
}

/* So many writes fail, the first of them after 1000 bytes. Reads fail if @cannot_read is set. */
static unsigned int failing_writes;
static bool is_first, cannot_read;

ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	if (!failing_writes)
		return __real_pwrite(fd, data, size, offset);
	if (is_first) {
		is_first = false;
		return __real_pwrite(fd, data, 1000, offset);
	}
	failing_writes--;
	errno = ENOSPC;
	return -1;
}

ssize_t __real_pread(int fd, void *data, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t size, off_t offset)
{
	errno = EIO;
	return cannot_read ? -1 : __real_pread(fd, data, size, offset);
}

/* Join a sub-buffer of 100 marks with another while so many writes fail. Return the result. */
static int64_t join_with_failures(unsigned int nr)
{
	int64_t ret;
	int ends[2];

	hyptrace_file_abandon(w);
	w = begin("a.dat", 0);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	fill(to, 1000, 0, 100);
	assert_int_equal(write(ends[1], to, SUBBUF), SUBBUF);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), SUBBUF);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), 0);
	fill(from, 1100, 100, 100);
	assert_int_equal(write(ends[1], from, SUBBUF), SUBBUF);
	failing_writes = nr;
	is_first = true;
	ret = hyptrace_file_splice(w, 2, ends[0], &err);
	failing_writes = 0;
	close(ends[0]);
	close(ends[1]);
	return ret;
}

/* The part of CPU 2 has these sub-buffers. */
static void expect_part(unsigned int nr, const char *first, const char *second)
{
	size_t size;
	char *part = slurp("a.dat.part.cpu2", &size);

	assert_int_equal(size, nr * SUBBUF);
	assert_memory_equal(part, first, SUBBUF);
	if (nr > 1)
		assert_memory_equal(part + SUBBUF, second, SUBBUF);
	free(part);
	assert_int_equal(hyptrace_file_size(w), w->head_size + nr * SUBBUF);
}

/* No record may be twice in the file, also if the disk is full meanwhile. */
static void test_failing_joins(void **state)
{
	char joined[SUBBUF], torn[SUBBUF];

	(void)state;
	fill(joined, 1000, 0, 200);
	assert_int_equal(join_with_failures(0), SUBBUF);
	expect_part(1, joined, NULL);
	assert_int_equal(join_with_failures(1), SUBBUF);
	expect_part(2, to, from);
	/* what was there cannot be restored: the new one is lost */
	memcpy(torn, to, SUBBUF);
	memcpy(torn, joined, 1000);
	assert_int_equal(join_with_failures(2), -ENOSPC);
	assert_string_equal(err.text, "cannot write a.dat.part.cpu2: No space left on device");
	expect_part(1, torn, NULL);
	assert_int_equal(hyptrace_file_failed(w, NULL), -ENOSPC);
	err.text[0] = 0;
	assert_int_equal(hyptrace_file_failed(w, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write a.dat.part.cpu2: No space left on device");
	assert_int_equal(hyptrace_file_unwritten(w, 2), 100);
	/* one that cannot be read is not joined */
	cannot_read = true;
	assert_int_equal(join_with_failures(0), SUBBUF);
	expect_part(2, to, from);
	cannot_read = false;
}

/* Without a ring, nothing is written. */
static int64_t look_for_more(int ring)
{
	return ring < 0 ? hyptrace_file_write(w, 2, NULL, 0, &err) :
			  hyptrace_file_splice(w, 2, ring, &err);
}

static void expect_flush(int ring)
{
	const uint64_t size = hyptrace_file_size(w);
	unsigned int waits;

	clock_time.tv_nsec += 399 * 1000 * 1000;
	assert_int_equal(look_for_more(ring), 0);
	assert_non_null(w->parts[1].chunk);
	clock_time.tv_nsec += 1000 * 1000;
	assert_int_equal(look_for_more(ring), 0);
	/* the thread writes it */
	for (waits = 0; hyptrace_file_size(w) == size && waits < 10000; waits++)
		usleep(1000);
	assert_true(hyptrace_file_size(w) > size);
}

/* What was read or written is compressed 400 ms later, though nothing new is there. */
static void test_flushes_a_chunk(void **state)
{
	int ends[2];

	(void)state;
	hyptrace_file_abandon(w);
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], from, SUBBUF), SUBBUF);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), SUBBUF);
	expect_flush(ends[0]);
	assert_int_equal(hyptrace_file_write(w, 2, from, SUBBUF, &err), 0);
	expect_flush(-1);
	close(ends[0]);
	close(ends[1]);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_joins),
		TEST(test_keeps_the_losses),
		TEST(test_refuses_another_time),
		TEST(test_refuses_losses),
		TEST(test_refuses_what_does_not_fit),
		TEST(test_refuses_damage),
		TEST(test_slow_writer),
		TEST(test_fast_writer),
		TEST(test_failing_joins),
		TEST(test_flushes_a_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
