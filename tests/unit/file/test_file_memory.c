// SPDX-License-Identifier: GPL-2.0-only
/* A full disk, and no memory to keep what it had no room for: events are lost, and counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "file_steps.h"

static bool is_full, has_no_memory;
static size_t room;	/* bytes that a full disk still takes from pwrite() */

ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	if (is_full && !room) {
		errno = ENOSPC;
		return -1;
	}
	if (is_full) {
		size = size < room ? size : room;
		room -= size;
	}
	return __real_pwrite(fd, data, size, offset);
}

ssize_t __real_splice(int from, off_t *from_at, int to, off_t *to_at, size_t size,
		      unsigned int flags);
ssize_t __wrap_splice(int from, off_t *from_at, int to, off_t *to_at, size_t size,
		      unsigned int flags);
ssize_t __wrap_splice(int from, off_t *from_at, int to, off_t *to_at, size_t size,
		      unsigned int flags)
{
	errno = ENOSPC;
	return is_full && to_at ? -1 : __real_splice(from, from_at, to, to_at, size, flags);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	errno = ENOMEM;
	return has_no_memory ? NULL : __real_malloc(size);
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	errno = ENOMEM;
	return has_no_memory ? NULL : __real_realloc(old, size);
}

static int setup(void **state)
{
	is_full = false;
	has_no_memory = false;
	room = 0;
	next = 0;
	memset(written, 0, sizeof(written));
	return enter_folder(state);
}

/* The last sub-buffer can be kept, and is written in the end. */
static void lost_at_once(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	assert_int_equal(write_some(2, 2), 0);
	is_full = true;
	has_no_memory = true;
	assert_int_equal(write_some(2, 3), -ENOMEM);
	has_no_memory = false;
	assert_int_equal(write_some(2, 1), -ENOMEM);
	is_full = false;
	assert_int_equal(hyptrace_file_unwritten(w, 2), 3 * PER_SUBBUF);
	finish_with(3 * PER_SUBBUF);
}

/* What the disk takes is not lost; of a sub-buffer it takes all or nothing. */
static void lost_after_some(void **state)
{
	char subbufs[7][SUBBUF];
	unsigned int i;

	(void)state;
	w = begin("a.dat", 0);
	is_full = true;
	has_no_memory = true;
	room = 2 * SUBBUF + 100;
	for (i = 0; i < 3; i++)
		make(subbufs[i], 2);
	/* what is behind them is not written, and must not be counted */
	for (; i < 7; i++)
		memcpy(subbufs[i], subbufs[0], SUBBUF);
	assert_int_equal(hyptrace_file_write(w, 2, subbufs[0], 3 * SUBBUF, &err), -ENOMEM);
	has_no_memory = false;
	is_full = false;
	assert_int_equal(hyptrace_file_unwritten(w, 2), PER_SUBBUF);
	finish_with(PER_SUBBUF);
}

static void lost_from_a_pipe(void **state)
{
	int ends[2];

	(void)state;
	w = begin("a.dat", 0);
	open_ring(ends);
	put(ends, 2, 2);
	assert_int_equal(take(ends, 2), 2 * SUBBUF);
	put(ends, 2, 3);
	is_full = true;
	has_no_memory = true;
	assert_int_equal(take(ends, 2), -ENOMEM);
	assert_string_equal(err.text, "out of memory");
	has_no_memory = false;
	is_full = false;
	close_ring(ends);
	assert_int_equal(hyptrace_file_unwritten(w, 2), 3 * PER_SUBBUF);
	finish_with(3 * PER_SUBBUF);
}

/* A ring is only read if there is memory for what it gives. */
static void nothing_taken(void **state)
{
	int ends[2];

	(void)state;
	w = begin("a.dat", 0);
	open_ring(ends);
	put(ends, 2, 2);
	has_no_memory = true;
	assert_int_equal(take(ends, 2), -ENOMEM);
	has_no_memory = false;
	assert_int_equal(take(ends, 2), 2 * SUBBUF);
	/* the memory for that stays until the end */
	hyptrace_file_set_host_tasks(w, "");
	put(ends, 2, 1);
	is_full = true;
	assert_int_equal(take(ends, 2), -ENOSPC);
	is_full = false;
	close_ring(ends);
	finish_with(0);
}

/* A whole chunk */
static void lost_compressed(void **state)
{
	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	assert_int_equal(write_some(2, 1), 0);
	is_full = true;
	has_no_memory = true;
	hyptrace_file_zstd_end(w, false);
	has_no_memory = false;
	is_full = false;
	assert_int_equal(hyptrace_file_failed(w, &err), -ENOMEM);
	assert_int_equal(hyptrace_file_unwritten(w, 2), PER_SUBBUF);
	finish_with(PER_SUBBUF);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lost_at_once),
		TEST(lost_after_some),
		TEST(lost_from_a_pipe),
		TEST(nothing_taken),
		TEST(lost_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
