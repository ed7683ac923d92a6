// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a ring by a pipe to a part: how much at once, and what becomes of it if the part cannot be
 * written. The linker has the calls of the writer come here: see tools.mk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "file_steps.h"

/* Bytes that can be spliced to files, and what comes then: an error, or 0 */
static uint64_t room;
static int room_errno;
/* Why a pipe cannot be larger, and why a part cannot be read; 0: it can */
static int size_errno, read_errno;
static int asked_size;
/* Bytes that are read from a file, and written to it, at once */
static size_t read_max, write_max;
/* So many reads are interrupted. */
static unsigned int interruptions;

int __real_fcntl(int fd, int cmd, ...);
int __wrap_fcntl(int fd, int cmd, ...);
int __wrap_fcntl(int fd, int cmd, ...)
{
	va_list args;
	long arg;

	va_start(args, cmd);
	arg = va_arg(args, long);
	va_end(args);
	if (cmd != F_SETPIPE_SZ)
		return __real_fcntl(fd, cmd, arg);
	asked_size = arg;
	errno = size_errno;
	return size_errno ? -1 : __real_fcntl(fd, cmd, arg);
}

ssize_t __real_splice(int from, off_t *from_at, int to, off_t *to_at, size_t size,
		      unsigned int flags);
ssize_t __wrap_splice(int from, off_t *from_at, int to, off_t *to_at, size_t size,
		      unsigned int flags);
ssize_t __wrap_splice(int from, off_t *from_at, int to, off_t *to_at, size_t size,
		      unsigned int flags)
{
	ssize_t n;

	if (!to_at)
		return __real_splice(from, from_at, to, to_at, size, flags);
	errno = room_errno;
	if (!room)
		return room_errno ? -1 : 0;
	n = __real_splice(from, from_at, to, to_at, size < room ? size : room, flags);
	room -= n > 0 ? n : 0;
	return n;
}

ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
	if (interruptions) {
		interruptions--;
		errno = EINTR;
		return -1;
	}
	if (read_errno)
		errno = read_errno;
	return read_errno ? -1 : __real_pread(fd, to, size < read_max ? size : read_max, offset);
}

ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return __real_pwrite(fd, data, size < write_max ? size : write_max, offset);
}

/* Bytes that are copied at once; 0: that is not possible */
static size_t copy_max;

ssize_t __real_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
			       unsigned int flags);
ssize_t __wrap_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
			       unsigned int flags);
ssize_t __wrap_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
			       unsigned int flags)
{
	errno = EXDEV;
	return copy_max ? __real_copy_file_range(from, from_at, to, to_at,
						 size < copy_max ? size : copy_max, flags) : -1;
}

static int setup(void **state)
{
	room = UINT64_MAX;
	room_errno = ENOSPC;
	size_errno = read_errno = 0;
	read_max = write_max = copy_max = SIZE_MAX;
	next = 0;
	memset(written, 0, sizeof(written));
	unsetenv("TMPDIR");
	return enter_folder(state);
}

/* A pipe holds as much as a ring may, or else what each pipe holds. */
static void sizes(void **state)
{
	unsigned int i, nr;
	int ends[2];

	(void)state;
	for (i = 0; i < 2; i++) {
		size_errno = i ? EPERM : 0;
		nr = i ? 16 : 20;
		w = begin("a.dat", 0);
		open_ring(ends);
		assert_true(__real_fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
		put(ends, 2, 20);
		assert_int_equal(take(ends, 2), nr * SUBBUF);
		assert_int_equal(asked_size, 1 << 20);
		if (i)
			assert_int_equal(take(ends, 2), (20 - nr) * SUBBUF);
		assert_int_equal(take(ends, 2), 0);
		assert_int_equal(__real_fcntl(w->pipe[0], F_GETFD), FD_CLOEXEC);
		assert_int_equal(__real_fcntl(w->pipe[1], F_GETFD), FD_CLOEXEC);
		close_ring(ends);
		assert_int_equal(finish(), 0);
	}
}

/* The sub-buffers that a finished file has */
static void expect_marks(unsigned int nr)
{
	char subbuf[SUBBUF], *file;
	unsigned int i;
	size_t size;

	file = slurp("a.dat", &size);
	for (i = 0; i < nr; i++) {
		fill(subbuf, 1000 + i * PER_SUBBUF, i * PER_SUBBUF, PER_SUBBUF);
		assert_memory_equal(file + size - (nr - i) * SUBBUF, subbuf, SUBBUF);
	}
	free(file);
}

/* What was not written is kept, and written in the end. */
static void full_disks(void **state)
{
	static const struct {
		uint64_t	room;
		int		errnum;		/* 0: nothing is said */
		unsigned int	written;	/* sub-buffers */
	} disks[] = {
		{ 0, ENOSPC, 0 }, { 1, ENOSPC, 0 }, { 2 * SUBBUF, EDQUOT, 2 },
		{ 3 * SUBBUF - 1, ENOSPC, 2 }, { SUBBUF + 1, 0, 1 }, { SUBBUF, EIO, 1 },
	};
	const unsigned int cpus[] = { 1, 2 };
	struct hyptrace_error why;
	unsigned int i, j;
	char text[128];
	int ends[2];

	for (i = 0; i < 12; i++) {
		const int errnum = disks[i / 2].errnum ? disks[i / 2].errnum : ENOSPC;
		const unsigned int cpu = cpus[i % 2];

		assert_int_equal(leave_folder(state) || setup(state), 0);
		w = begin("a.dat", 0);
		open_ring(ends);
		put(ends, cpu, 4);
		room = disks[i / 2].room;
		room_errno = disks[i / 2].errnum;
		/* a caller need not want to know why */
		if (disks[i / 2].room == 1)
			assert_int_equal(hyptrace_file_splice(w, cpu, ends[0], NULL), -errnum);
		else
			assert_int_equal(take(ends, cpu), -errnum);
		snprintf(text, sizeof(text), "cannot write a.dat.part%s: %s", cpu == 1 ? "" : ".cpu2",
			 strerror(errnum));
		assert_int_equal(hyptrace_file_failed(w, &why), -errnum);
		assert_string_equal(why.text, text);
		assert_int_equal(hyptrace_file_size(w) - w->head_size,
				 disks[i / 2].written * SUBBUF);
		/* the ring is not read any more */
		put(ends, cpu, 1);
		memset(&err, 0, sizeof(err));
		for (j = 0; j < 2; j++)
			assert_int_equal(take(ends, cpu), -errnum);
		assert_string_equal(err.text, text);
		close_ring(ends);
		assert_int_equal(finish(), 0);
		expect_marks(4);
	}
}

/* A part that cannot be made keeps all. */
static void name_taken(void **state)
{
	int ends[2];

	(void)state;
	w = begin("a.dat", 0);
	open_ring(ends);
	assert_int_equal(take(ends, 2), 0);
	assert_false(exists("a.dat.part.cpu2"));
	close(open("a.dat.part.cpu2", O_CREAT | O_WRONLY, 0600));
	put(ends, 2, 3);
	assert_int_equal(take(ends, 2), -EEXIST);
	assert_non_null(strstr(err.text, "that was not finished is in a.dat.part.cpu2"));
	assert_int_equal(hyptrace_file_size(w), w->head_size);
	close_ring(ends);
	finish_with(0);
	expect_marks(3);
}

/* A sub-buffer without its begin has no events, and no others' bytes. */
static void lost_begin(void **state)
{
	static const char zeros[1000];
	char subbuf[SUBBUF], *file;
	size_t size;
	int ends[2];

	(void)state;
	w = begin("a.dat", 0);
	open_ring(ends);
	put(ends, 2, 2);
	room = SUBBUF + sizeof(zeros);
	read_errno = EIO;
	assert_int_equal(take(ends, 2), -ENOSPC);
	read_errno = 0;
	close_ring(ends);
	assert_int_equal(hyptrace_file_unwritten(w, 2), 0);
	assert_int_equal(finish(), 0);
	fill(subbuf, 1000 + PER_SUBBUF, PER_SUBBUF, PER_SUBBUF);
	file = slurp("a.dat", &size);
	assert_memory_equal(file + size - SUBBUF, zeros, sizeof(zeros));
	assert_memory_equal(file + size - SUBBUF + sizeof(zeros), subbuf + sizeof(zeros),
			    SUBBUF - sizeof(zeros));
	free(file);
}

/* Without a name of its own, the part is a temporary file. */
static void temporary_file(void **state)
{
	int ends[2];

	(void)state;
	w = begin("/dev/null", 0);
	open_ring(ends);
	put(ends, 2, 1);
	room = 0;
	assert_int_equal(take(ends, 2), -ENOSPC);
	assert_string_equal(err.text, "cannot write a temporary file: No space left on device");
	close_ring(ends);
	assert_int_equal(finish(), 0);
}

/* A file system may write, copy and read less than it could. */
static void little_at_once(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		next = 0;
		w = begin("a.dat", 0);
		write_max = 1;
		assert_int_equal(write_some(2, 1), 0);
		copy_max = i;
		read_max = 1;
		interruptions = i ? 0 : 2;
		assert_int_equal(finish(), 0);
		expect_marks(1);
	}
}

/* All of it is sent, however little is read at once. */
static void little_is_sent(void **state)
{
	char *sent = calloc(1, 65536), *file;
	size_t size;
	int fd;

	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	fd = open("pipe", O_RDWR | O_NONBLOCK);
	assert_true(fd >= 0);
	w = begin("pipe", 0);
	assert_non_null(w);
	assert_int_equal(write_some(2, 1), 0);
	read_max = 1;
	assert_int_equal(finish(), 0);
	read_max = SIZE_MAX;
	next = 0;
	w = begin("a.dat", 0);
	assert_int_equal(write_some(2, 1), 0);
	written[2] = PER_SUBBUF;
	assert_int_equal(finish(), 0);
	file = slurp("a.dat", &size);
	assert_true(size < 65536);
	assert_int_equal(read(fd, sent, 65536), size);
	assert_memory_equal(sent, file, size);
	close(fd);
	free(sent);
	free(file);
}

/* The next write writes what a short one has left, and nothing else. */
static void short_writes(void **state)
{
	static const char *const names[] = { "whole", "short" };
	size_t size[2];
	char *file[2];
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		next = 0;
		write_max = i ? SUBBUF - 100 : SIZE_MAX;
		w = begin(names[i], 0);
		assert_int_equal(write_some(1, 1), 0);
		assert_int_equal(write_some(2, 1), 0);
		assert_int_equal(write_some(1, 1), 0);
		assert_int_equal(finish(), 0);
		file[i] = slurp(names[i], &size[i]);
	}
	assert_int_equal(size[0], size[1]);
	assert_memory_equal(file[0] + size[0] - 3 * SUBBUF, file[1] + size[1] - 3 * SUBBUF,
			    3 * SUBBUF);
	free(file[0]);
	free(file[1]);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sizes), TEST(full_disks), TEST(name_taken), TEST(lost_begin),
		TEST(temporary_file), TEST(little_at_once), TEST(little_is_sent),
		TEST(short_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
