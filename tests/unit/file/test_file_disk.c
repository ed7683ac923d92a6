// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk that is full for a while, fails, or cannot do all that others can; no memory, and no
 * descriptor. The linker has the calls of the writer come here: see tools.mk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <sys/statvfs.h>
#include <time.h>

#include <cmocka.h>
#include <zstd.h>

#include "fail_alloc.h"
#include "file_steps.h"

#define BLOCK_SUBBUFS	(HYPTRACE_FILE_BLOCK / SUBBUF)

/**
 * struct disk - what the disk does
 * @open_errno, @fallocate_errno, @statvfs_errno, @read_errno: why a call fails, always; 0: it does
 *		not. open() is that of a file without a name, fallocate() that of the reserve.
 * @copy_errno:	the same of copy_file_range(), @copy_failures times
 * @full:	nothing can be written
 * @splice_room: bytes that can be spliced to files
 * @copy_room:	bytes that can be copied to other files
 * @room_taken:	somebody else takes the room that a hole gives
 * @holes:	holes that were made
 * @said_room:	free bytes, as the disk says
 */
static struct disk {
	int		open_errno, fallocate_errno, statvfs_errno, read_errno;
	int		copy_errno;
	unsigned int	copy_failures;
	bool		full;
	uint64_t	splice_room;
	uint64_t	copy_room;
	bool		room_taken;
	unsigned int	holes;
	uint64_t	said_room;
} disk;

static bool compression_fails;
static unsigned int joined_threads;

static int failure(int errnum)
{
	errno = errnum;
	return -1;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	/* all files are made with the same mode */
	return disk.open_errno && (flags & O_TMPFILE) == O_TMPFILE ? failure(disk.open_errno) :
	       __real_open(path, flags, 0600);
}

ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
	return disk.read_errno ? failure(disk.read_errno) : __real_pread(fd, to, size, offset);
}

ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return disk.full ? failure(ENOSPC) : __real_pwrite(fd, data, size, offset);
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
	if (!disk.splice_room)
		return failure(ENOSPC);
	size = size < disk.splice_room ? size : disk.splice_room;
	n = __real_splice(from, from_at, to, to_at, size, flags);
	disk.splice_room -= n > 0 ? n : 0;
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

	if (disk.copy_failures) {
		disk.copy_failures--;
		return failure(disk.copy_errno);
	}
	if (!disk.copy_room)
		return failure(ENOSPC);
	size = size < disk.copy_room ? size : disk.copy_room;
	n = __real_copy_file_range(from, from_at, to, to_at, size, flags);
	disk.copy_room -= n > 0 ? n : 0;
	return n;
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	(void)fd;
	assert_int_equal(offset, 0);
	if (!mode)
		return disk.fallocate_errno ? failure(disk.fallocate_errno) : 0;
	assert_int_equal(mode, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
	assert_int_equal(size % HYPTRACE_FILE_BLOCK, 0);
	/* a writer that makes no progress must not go on forever */
	if (++disk.holes == 10)
		return failure(EIO);
	disk.copy_room += disk.room_taken ? 0 : size;
	return 0;
}

int __wrap_fstatvfs(int fd, struct statvfs *vfs);
int __wrap_fstatvfs(int fd, struct statvfs *vfs)
{
	(void)fd;
	memset(vfs, 0, sizeof(*vfs));
	if (disk.statvfs_errno)
		return failure(disk.statvfs_errno);
	vfs->f_frsize = 512;
	vfs->f_bavail = disk.said_room / vfs->f_frsize;
	return 0;
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
	joined_threads++;
	return __real_pthread_join(thread, result);
}

size_t __real_ZSTD_compressCCtx(ZSTD_CCtx *zstd, void *to, size_t room, const void *from,
				size_t size, int level);
size_t __wrap_ZSTD_compressCCtx(ZSTD_CCtx *zstd, void *to, size_t room, const void *from,
				size_t size, int level);
size_t __wrap_ZSTD_compressCCtx(ZSTD_CCtx *zstd, void *to, size_t room, const void *from,
				size_t size, int level)
{
	/* without a context: an error */
	return compression_fails ? (size_t)-64 :
	       __real_ZSTD_compressCCtx(zstd, to, room, from, size, level);
}

/* The clock stands still: no chunk is compressed because it is old. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){ .tv_sec = 1 };
	return 0;
}

static int setup(void **state)
{
	disk = (struct disk){
		.splice_room = UINT64_MAX, .copy_room = UINT64_MAX / 2, .said_room = 1 << 30,
	};
	compression_fails = false;
	joined_threads = 0;
	next = 0;
	memset(written, 0, sizeof(written));
	unsetenv("TMPDIR");
	return enter_folder(state);
}

/* The lowest descriptor that is free */
static int free_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* A disk that says how much room it has keeps what the end needs: two blocks. */
static void room_for_the_end(void **state)
{
	unsigned int more;

	for (more = 0; more < SUBBUF; more += 2048) {
		assert_int_equal(leave_folder(state) || setup(state), 0);
		w = begin("a.dat", 0);
		disk.full = true;
		assert_int_equal(write_some(2, 40), -ENOSPC);
		disk.full = false;
		disk.said_room = 2 * HYPTRACE_FILE_BLOCK + 10 * SUBBUF + more;
		assert_int_equal(hyptrace_file_unwritten(w, 2), 30 * PER_SUBBUF);
		finish_with(30 * PER_SUBBUF);
	}
}

/* One that does not say it is tried. */
static void unknown_room(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	disk.full = true;
	assert_int_equal(write_some(2, 5), -ENOSPC);
	disk.full = false;
	disk.statvfs_errno = EIO;
	finish_with(0);
}

/* Of several chunks that wait, all are counted; without memory for that, some. */
static void chunks_that_wait(void **state)
{
	unsigned int nth;
	uint64_t lost;
	bool failed = true;

	for (nth = 0; failed; nth++) {
		assert_int_equal(leave_folder(state) || setup(state), 0);
		w = begin("a.dat", HYPTRACE_FILE_ZSTD);
		disk.full = true;
		write_some(2, 150);
		disk.said_room = 0;
		/* once the thread has compressed them */
		hyptrace_file_zstd_end(w, false);
		fail_alloc(nth);
		lost = hyptrace_file_unwritten(w, 2);
		failed = fail_alloc_end() || !nth;
		assert_true(lost <= next && lost % PER_SUBBUF == 0);
		assert_int_equal(lost == next, !nth || !failed);
		disk.full = false;
		assert_int_equal(finish(), 0);
	}
	assert_true(nth > 3);
}

/* A sub-buffer is written in part, and the rest later. */
static void splice_in_part(void **state)
{
	int ends[2];

	(void)state;
	w = begin("a.dat", 0);
	open_ring(ends);
	put(ends, 2, 3);
	disk.splice_room = SUBBUF + 1000;
	assert_int_equal(take(ends, 2), -ENOSPC);
	assert_int_equal(hyptrace_file_size(w), w->head_size + SUBBUF);
	finish_with(0);
	close_ring(ends);
}

/* A part whose name was taken for a while gets it later. */
static void late_name(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	close(open("a.dat.part.cpu2", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(write_some(2, 3), -EEXIST);
	unlink("a.dat.part.cpu2");
	disk.copy_errno = EIO;
	disk.copy_failures = 1;
	assert_int_equal(finish(), -EIO);
	assert_true(exists("a.dat.part.cpu2"));
}

/* One that does not get its name has none. */
static void no_name(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	close(open("a.dat.part.cpu2", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(write_some(2, 3), -EEXIST);
	finish_with(0);
}

/* Only a full disk is waited for. */
static void errors_of_a_copy(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	write_some(2, 3);
	disk.copy_errno = EDQUOT;
	disk.copy_failures = 1;
	finish_with(0);

	w = begin("b.dat", 0);
	write_some(2, 3);
	disk.copy_errno = EIO;
	disk.copy_failures = 1;
	assert_int_equal(finish(), -EIO);
	assert_non_null(strstr(err.text, "cannot finish b.dat: Input/output error"));
}

/* A part gives up one block after the other. */
static void block_by_block(void **state)
{
	unsigned int more;

	for (more = 0; more < HYPTRACE_FILE_BLOCK; more += 30000) {
		assert_int_equal(leave_folder(state) || setup(state), 0);
		w = begin("a.dat", 0);
		write_some(2, 3 * BLOCK_SUBBUFS);
		disk.copy_room = HYPTRACE_FILE_BLOCK + more;
		finish_with(0);
		assert_int_equal(disk.holes, 2);
	}
}

/* If others take that room at once, the disk stays full. */
static void room_taken(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	write_some(2, 3 * BLOCK_SUBBUFS);
	disk.copy_room = HYPTRACE_FILE_BLOCK;
	disk.room_taken = true;
	assert_int_equal(finish(), -ENOSPC);
	assert_int_equal(disk.holes, 1);
	assert_true(exists("a.dat.part.cpu2"));
}

/* Without the number of its chunks, a part is not finished. */
static void no_number(void **state)
{
	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	write_some(2, 3);
	disk.read_errno = EIO;
	assert_int_equal(finish(), -EIO);
	assert_non_null(strstr(err.text, "cannot finish a.dat: Input/output error"));
	assert_false(exists("a.dat"));
}

/* There is no memory for a copy between file systems. */
static void no_memory_to_copy(void **state)
{
	bool failed = true;
	unsigned int nth;
	int ret;

	for (nth = 1; failed; nth++) {
		assert_int_equal(leave_folder(state) || setup(state), 0);
		w = begin("a.dat", 0);
		write_some(2, 3);
		disk.copy_errno = EXDEV;
		disk.copy_failures = 1;
		fail_alloc(nth);
		ret = finish();
		failed = fail_alloc_end();
		assert_true(!ret || failed);
		assert_int_equal(ret, ret ? -ENOMEM : 0);
	}
	assert_true(nth > 10);
}

static void no_memory_to_join(void **state)
{
	int ends[2];

	(void)state;
	w = begin("a.dat", 0);
	open_ring(ends);
	put(ends, 2, 1);
	assert_int_equal(take(ends, 2), SUBBUF);
	assert_int_equal(take(ends, 2), 0);
	put(ends, 2, 1);
	fail_alloc(1);
	assert_int_equal(take(ends, 2), -ENOMEM);
	assert_true(fail_alloc_end());
	/* it is still in the ring */
	assert_int_equal(take(ends, 2), SUBBUF);
	close_ring(ends);
	finish_with(0);
}

/* The part of CPU 2 has one chunk, with so many sub-buffers. */
static void expect_chunk(unsigned int nr)
{
	/* the number of chunks, and the sizes of the first one */
	uint32_t begin[3];
	size_t size;
	char *part;

	hyptrace_file_unwritten(w, 2);
	part = slurp("a.dat.part.cpu2", &size);
	assert_true(size > sizeof(begin));
	memcpy(begin, part, sizeof(begin));
	free(part);
	assert_int_equal(begin[0], 1);
	assert_int_equal(begin[2], nr * SUBBUF);
}

/* What a slow writer has filled bit by bit is joined before it is compressed, and complete. */
static void slow_and_compressed(void **state)
{
	int ends[2], i;

	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	open_ring(ends);
	for (i = 0; i < 5; i++) {
		put(ends, 2, 1);
		assert_int_equal(take(ends, 2), SUBBUF);
		assert_int_equal(take(ends, 2), 0);
	}
	close_ring(ends);
	expect_chunk(1);
	finish_with(0);
}

/* Sub-buffers of a fast one are not joined: there may be several at once. */
static void fast_and_compressed(void **state)
{
	int ends[2], i;

	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	open_ring(ends);
	for (i = 0; i < 3; i++) {
		put(ends, 2, 2);
		assert_int_equal(take(ends, 2), 2 * SUBBUF);
	}
	close_ring(ends);
	expect_chunk(6);
	finish_with(0);
}

/* zstd has no memory: the events are lost, and counted. */
static void no_compression(void **state)
{
	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	compression_fails = true;
	write_some(2, 3);
	assert_int_equal(hyptrace_file_unwritten(w, 2), next);
	assert_int_equal(hyptrace_file_failed(w, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "cannot compress: "));
	finish_with(next);
	assert_int_equal(joined_threads, 1);
}

/* What waits in memory is freed: chunks that are empty, and what the disk had no room for. */
static void abandoned(void **state)
{
	int ends[2];

	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	open_ring(ends);
	assert_int_equal(take(ends, 1), 0);
	assert_int_equal(take(ends, 2), 0);
	close_ring(ends);
	hyptrace_file_abandon(w);
	w = begin("a.dat", 0);
	disk.full = true;
	assert_int_equal(write_some(2, 3), -ENOSPC);
	hyptrace_file_abandon(w);
	assert_false(exists("a.dat.part"));
}

/* A limit that is far away does not make chunks smaller. */
static void far_limit(void **state)
{
	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	hyptrace_file_set_limit(w, UINT64_C(1) << 40);
	assert_int_equal(write_some(2, 5), 0);
	expect_chunk(5);
	finish_with(0);
}

/* File systems without reserved room, and without files that have no name */
static void old_file_system(void **state)
{
	(void)state;
	disk.fallocate_errno = EOPNOTSUPP;
	w = begin("a.dat", 0);
	assert_int_equal(w->reserve, -1);
	hyptrace_file_abandon(w);

	disk.open_errno = EOPNOTSUPP;
	setenv("TMPDIR", folder, 1);
	w = begin("/dev/null", 0);
	assert_non_null(w);
	assert_int_equal(write_some(2, 3), 0);
	/* the files that they had are gone */
	assert_int_equal(system("test -z \"$(ls)\""), 0);
	assert_int_equal(finish(), 0);
}

/* However often a ring is read, there is one pipe. */
static void descriptors(void **state)
{
	const int fd = free_fd();
	int ends[2], used = 0, i;

	(void)state;
	w = begin("a.dat", 0);
	open_ring(ends);
	for (i = 0; i < 3; i++) {
		put(ends, 2, 2);
		assert_int_equal(take(ends, 2), 2 * SUBBUF);
		if (!i)
			used = free_fd();
		assert_int_equal(free_fd(), used);
	}
	close_ring(ends);
	finish_with(0);
	assert_int_equal(free_fd(), fd);
}

/* A program may have closed its standard input: then a file gets that descriptor. */
static void descriptor_0(void **state)
{
	const int input = dup(0);
	int ends[2], fd, i;

	(void)state;
	w = begin("a.dat", 0);
	close(0);
	assert_int_equal(write_some(2, 1), 0);
	assert_int_equal(w->parts[1].fd, 0);
	disk.full = true;
	assert_int_equal(write_some(2, 3), -ENOSPC);
	disk.full = false;
	finish_with(0);

	fd = hyptrace_file_create_unnamed(".");
	assert_int_equal(fd, 0);
	w = begin("b.dat", 0);
	close(0);
	assert_int_equal(write_some(2, 1), 0);
	hyptrace_file_abandon(w);
	assert_false(exists("b.dat.part.cpu2"));

	/* its main file has a lock as others have, and the names of its parts */
	w = begin("c.dat", 0);
	assert_int_equal(w->fd, 0);
	assert_string_equal(w->parts[1].path, "c.dat.part.cpu2");
	assert_null(begin("c.dat", 0));
	assert_int_equal(err.errnum, EBUSY);
	hyptrace_file_abandon(w);
	assert_false(exists("c.dat.part"));
	/* or the output gets it */
	w = begin("/dev/null", 0);
	assert_int_equal(w->out, 0);
	assert_int_equal(write_some(2, 1), 0);
	assert_int_equal(finish(), 0);
	/* or the pipe, of which there is one */
	dup2(input, 0);
	w = begin("d.dat", 0);
	open_ring(ends);
	close(0);
	for (i = 0; i < 2; i++) {
		put(ends, 1, 1);
		assert_int_equal(take(ends, 1), SUBBUF);
		assert_int_equal(w->pipe[0], 0);
	}
	close_ring(ends);
	hyptrace_file_abandon(w);
	dup2(input, 0);
	close(input);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(room_for_the_end), TEST(unknown_room), TEST(chunks_that_wait),
		TEST(splice_in_part), TEST(late_name), TEST(no_name), TEST(errors_of_a_copy),
		TEST(block_by_block), TEST(room_taken), TEST(no_number),
		TEST(no_memory_to_copy), TEST(no_memory_to_join), TEST(slow_and_compressed),
		TEST(fast_and_compressed), TEST(no_compression), TEST(far_limit),
		TEST(abandoned),
		TEST(old_file_system), TEST(descriptors), TEST(descriptor_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
