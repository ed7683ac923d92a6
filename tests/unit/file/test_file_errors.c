// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of the writer that fail, one after the other. A recording whose end succeeds has each
 * event, or says that it is lost; one whose end fails says why, and is not there under its name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "file_count.h"
#include "file_remote.h"

#define PER_SUBBUF	40
#define SUBBUFS		12

/* The next call but so many fails with this error; 0: none */
static unsigned int left;
static int error;

static bool fails(void)
{
	if (!left || --left)
		return false;
	errno = error;
	return true;
}

ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
	/* a full disk can be read */
	return error != ENOSPC && fails() ? -1 : __real_pread(fd, to, size, offset);
}

ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return fails() ? -1 : __real_pwrite(fd, data, size, offset);
}

ssize_t __real_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
			       unsigned int flags);
ssize_t __wrap_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
			       unsigned int flags);
ssize_t __wrap_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
			       unsigned int flags)
{
	return fails() ? -1 : __real_copy_file_range(from, from_at, to, to_at, size, flags);
}

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	return fails() ? -1 : __real_fdatasync(fd);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
	return fails() ? -1 : __real_rename(from, to);
}

/* Write a recording of which CPU 1 has more than the others. Return what its end returns. */
static int record(const char *path, unsigned int flags)
{
	struct hyptrace_file_meta meta;
	struct hyptrace_file_writer *w;
	uint64_t written[6] = {};
	char subbuf[SUBBUF];
	unsigned int i;

	memset(&err, 0, sizeof(err));
	describe(&meta);
	w = hyptrace_file_writer_new(path, &meta, flags, NULL, &err);
	if (!w)
		return -err.errnum;
	for (i = 0; i < SUBBUFS; i++) {
		unsigned int cpu = i % 4 == 3 ? 5 : i % 4 == 2 ? 2 : 1;

		fill(subbuf, 1000 * (i + 1), i * PER_SUBBUF, PER_SUBBUF);
		/* an error is remembered: the end counts what was not written */
		hyptrace_file_write(w, cpu, subbuf, SUBBUF, NULL);
		written[cpu] += PER_SUBBUF;
	}
	for (i = 0; i < CPUS; i++)
		hyptrace_file_set_counts(w, cpu_ids[i], written[cpu_ids[i]], 0, 0);
	return hyptrace_file_finish(w, &err);
}

static void each_call(const char *path, unsigned int flags, int errnum)
{
	unsigned int nth, failures = 0;
	uint64_t events, lost;
	bool failed = true;
	int ret;

	for (nth = 1; failed; nth++) {
		left = nth;
		error = errnum;
		ret = record(path, flags);
		failed = !left;
		left = 0;
		if (!ret && strcmp(path, "/dev/null")) {
			events = count_events("a.dat", &lost);
			if (events + lost != SUBBUFS * PER_SUBBUF)
				fail_msg("call %u: %u events and %u lost", nth,
					 (unsigned int)events, (unsigned int)lost);
			assert_true(failed || !lost);
		} else if (ret) {
			failures++;
			assert_true(failed);
			if (ret != -errnum || err.errnum != errnum || !err.text[0])
				fail_msg("call %u: %d, %s", nth, ret, err.text);
			assert_false(exists("a.dat"));
		}
		assert_int_equal(system("rm -f a.dat*"), 0);
	}
	assert_in_range(failures, 3, nth - 2);
}

static void plain(void **state)
{
	(void)state;
	each_call("a.dat", 0, EIO);
	each_call("a.dat", 0, ENOSPC);
}

static void compressed(void **state)
{
	(void)state;
	each_call("a.dat", HYPTRACE_FILE_ZSTD, EIO);
	each_call("a.dat", HYPTRACE_FILE_ZSTD, ENOSPC);
}

/* A file that is not renamed is written to its end, then read and sent. */
static void sent(void **state)
{
	(void)state;
	each_call("/dev/null", 0, ENXIO);
	each_call("/dev/null", HYPTRACE_FILE_ZSTD, EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plain, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(compressed, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(sent, enter_folder, leave_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
