// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends of a recording: full disks, limits of the process, a killed process, pipes, and what was
 * there before.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "file_remote.h"

#define PER_SUBBUF	300

static struct hyptrace_file_writer *w;
static uint32_t next;

/* The disk has room for so many bytes more. Each write needs new room. */
static uint64_t room;
/* A full disk does not say why it writes nothing. */
static bool gives_no_reason;
/* Why copy_file_range() does not work; 0: it does. And a hole gives room back. */
static int copy_errno;
static bool has_holes;
/* Why a file cannot be locked; 0: it can */
static int flock_errno;

ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	struct stat st;
	ssize_t n;

	/* what is there already takes no room */
	if (fstat(fd, &st) || offset + (off_t)size <= st.st_size)
		return __real_pwrite(fd, data, size, offset);
	if (!room) {
		errno = gives_no_reason ? 0 : ENOSPC;
		return gives_no_reason ? 0 : -1;
	}
	n = __real_pwrite(fd, data, size < room ? size : room, offset);
	if (n > 0)
		room -= n;
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

	if (copy_errno || !room) {
		errno = copy_errno ? copy_errno : ENOSPC;
		return -1;
	}
	n = __real_copy_file_range(from, from_at, to, to_at, size < room ? size : room, flags);
	if (n > 0)
		room -= n;
	return n;
}

static uint64_t reserved;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
	errno = flock_errno;
	return flock_errno ? -1 : __real_flock(fd, operation);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	static bool interrupted;

	(void)fd;
	(void)offset;
	/* a signal interrupts each call once */
	interrupted = !interrupted;
	if (interrupted) {
		errno = EINTR;
		return -1;
	}
	if (mode) {
		if (!has_holes) {
			errno = EOPNOTSUPP;
			return -1;
		}
		room += size;
	}
	return 0;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	/* the reserve is the only file of the writer that is closed while it lives */
	if (w && fd == w->reserve) {
		room += reserved;
		reserved = 0;
	}
	return __real_close(fd);
}

static int setup(void **state)
{
	room = UINT64_MAX / 2;
	reserved = 0;
	copy_errno = 0;
	flock_errno = 0;
	has_holes = true;
	gives_no_reason = false;
	next = 0;
	w = NULL;
	unsetenv("TMPDIR");
	return enter_folder(state);
}

/* Write a sub-buffer. Return 0 or a negative errno. */
static int write_one(unsigned int cpu)
{
	char subbuf[SUBBUF];

	fill(subbuf, next, next, PER_SUBBUF);
	next += PER_SUBBUF;
	return hyptrace_file_write(w, cpu, subbuf, SUBBUF, &err);
}

/*
 * Write until the disk is full. Return the number of sub-buffers, with the last one, which the
 * writer keeps.
 */
static unsigned int write_until_full(void)
{
	unsigned int nr = 0;

	while (nr < 10000 && !write_one(nr % 2 ? 2 : 1))
		nr++;
	return nr + 1;
}

static int finish(void)
{
	int ret = hyptrace_file_finish(w, &err);

	w = NULL;
	return ret;
}

static uint64_t number_in(const char *text, const char *keyword, unsigned int index)
{
	const char *line = strstr(text, keyword);

	assert_non_null(line);
	line += strlen(keyword);
	while (index--)
		line = strchr(line + 1, ' ');
	return strtoull(line, NULL, 10);
}

/* The text of a finished file */
static char *meta_of(const char *path, char **file, size_t *size)
{
	char *text;

	*file = slurp(path, size);
	assert_non_null(*file);
	text = memmem(*file, *size, "hyptrace 1\n", 11);
	assert_non_null(text);
	assert_non_null(strstr(text, "\ncomplete 1\n"));
	return text;
}

static void check_counts(uint64_t all)
{
	uint64_t events = 0, lost = 0, in_file;
	unsigned int cpu;
	char *file, *text, keyword[16];
	size_t size;

	text = meta_of("a.dat", &file, &size);
	for (cpu = 1; cpu <= 2; cpu++) {
		snprintf(keyword, sizeof(keyword), "\ncpu %u ", cpu);
		assert_int_equal(number_in(text, keyword, 0), 1);
		events += number_in(text, keyword, 1);
		lost += number_in(text, keyword, 2);
	}
	in_file = (size / SUBBUF - w->head_size / SUBBUF) * PER_SUBBUF;
	assert_int_equal(events, in_file);
	assert_int_equal(events + lost, all);
	/* the reserve has room for what was kept */
	assert_int_equal(lost, 0);
	free(file);
}

static void fill_disk_and_finish(uint64_t bytes)
{
	struct hyptrace_file_writer copy;
	unsigned int cpu, nr;

	w = begin("a.dat", 0);
	room = bytes;
	reserved = 4 * HYPTRACE_FILE_BLOCK;
	nr = write_until_full();
	assert_int_equal(err.errnum, ENOSPC);
	/* it stays full; what the call was given is kept or counted */
	assert_int_equal(write_one(1), -ENOSPC);
	for (cpu = 1; cpu <= 2; cpu++)
		hyptrace_file_set_counts(w, cpu, ((nr + 2 - cpu) / 2 + (cpu == 1)) * PER_SUBBUF,
					 0, 0);
	copy = *w;
	assert_int_equal(finish(), 0);
	assert_false(exists("a.dat.part"));
	assert_false(exists("a.dat.part.cpu2"));
	w = &copy;
	check_counts((nr + 1) * PER_SUBBUF);
	w = NULL;
}

static void test_full_disk(void **state)
{
	(void)state;
	fill_disk_and_finish(100 * SUBBUF);
	/* a sub-buffer is written in part */
	fill_disk_and_finish(150 * SUBBUF + 1000);
	gives_no_reason = true;
	fill_disk_and_finish(150 * SUBBUF + 1000);
	gives_no_reason = false;
	copy_errno = EXDEV;
	fill_disk_and_finish(200 * SUBBUF + 77);
}

/* Without holes the parts cannot be moved: they stay. */
static void test_full_disk_without_holes(void **state)
{
	(void)state;
	has_holes = false;
	w = begin("a.dat", 0);
	room = 300 * SUBBUF;
	reserved = HYPTRACE_FILE_BLOCK;
	write_until_full();
	assert_int_equal(finish(), -ENOSPC);
	assert_string_equal(err.text, "cannot finish a.dat: No space left on device (\"hyptrace report\" reads what is in a.dat.part and the files beside it)");
	assert_false(exists("a.dat"));
	assert_true(exists("a.dat.part"));
	assert_true(exists("a.dat.part.cpu2"));
}

/* What cannot be copied by the kernel is read and written. */
static void test_copies(void **state)
{
	static const int errnums[] = { EXDEV, ENOSYS, EINVAL, EOPNOTSUPP, EPERM };
	unsigned int i, nr;
	char *file;
	size_t size;

	(void)state;
	for (i = 0; i < 5; i++) {
		copy_errno = errnums[i];
		next = 0;
		w = begin("a.dat", 0);
		/* more than a block */
		for (nr = 0; nr < 40; nr++)
			assert_int_equal(write_one(2), 0);
		/* what somebody has appended to a part does not belong to it */
		assert_int_equal(truncate("a.dat.part.cpu2", 50 * SUBBUF), 0);
		if (copy_errno == EPERM) {
			assert_int_equal(finish(), -EPERM);
			assert_true(exists("a.dat.part.cpu2"));
			break;
		}
		assert_int_equal(finish(), 0);
		meta_of("a.dat", &file, &size);
		for (nr = 0; nr < 40; nr++) {
			char subbuf[SUBBUF];

			fill(subbuf, nr * PER_SUBBUF, nr * PER_SUBBUF, PER_SUBBUF);
			assert_memory_equal(file + size - (40 - nr) * SUBBUF, subbuf, SUBBUF);
		}
		free(file);
	}
}

/* A part that somebody has cut cannot be moved, or sent. */
static void test_cut_part(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	assert_int_equal(write_one(2) || write_one(2), 0);
	assert_int_equal(truncate("a.dat.part.cpu2", SUBBUF), 0);
	assert_int_equal(finish(), -EIO);
	assert_int_equal(err.errnum, EIO);
	assert_true(exists("a.dat.part.cpu2"));
	w = begin("/dev/null", 0);
	assert_int_equal(write_one(2) || write_one(2), 0);
	assert_int_equal(ftruncate(w->parts[1].fd, SUBBUF), 0);
	assert_int_equal(finish(), -EIO);
	assert_string_equal(err.text, "cannot write the output: Input/output error");
}

/* What the disk has no room for in the end is lost, also if nobody has counted so many events. */
static void test_lost_at_the_end(void **state)
{
	static const uint64_t counted[] = { 0, 1, PER_SUBBUF, PER_SUBBUF + 1, 1000 };
	char *file, *text;
	unsigned int i;
	struct stat st;
	size_t size;

	(void)state;
	for (i = 0; i < 5; i++) {
		unlink("a.dat");
		room = UINT64_MAX / 2;
		w = begin("a.dat", 0);
		/* a sub-buffer is not written, and a part of it is */
		room = SUBBUF + 100;
		reserved = 0;
		assert_int_equal(write_one(1), 0);
		assert_int_equal(write_one(1), -ENOSPC);
		assert_string_equal(err.text, "cannot write a.dat.part: No space left on device");
		if (i < 4)
			hyptrace_file_set_counts(w, 1, counted[i], 7, 8);
		assert_int_equal(finish(), 0);
		assert_int_equal(stat("a.dat", &st), 0);
		assert_int_equal(st.st_size % SUBBUF, 0);
		text = meta_of("a.dat", &file, &size);
		assert_int_equal(number_in(text, "\ncpu 1 ", 0), i < 4);
		assert_int_equal(number_in(text, "\ncpu 1 ", 1), i == 3);
		assert_int_equal(number_in(text, "\ncpu 1 ", 2), i < 4 ? 7 + PER_SUBBUF : 0);
		free(file);
	}
}

/* The same with compression: the chunks that cannot be written are counted. */
static void test_full_disk_compressed(void **state)
{
	struct hyptrace_file_writer *all;
	uint64_t unwritten;
	unsigned int nr = 0;
	char *file, *text;
	size_t size;

	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	room = 20000;
	while (nr < 10000 && !write_one(1))
		nr++;
	/* the sub-buffer of the call that fails is kept, too */
	assert_true(nr++ < 10000);
	assert_int_equal(err.errnum, ENOSPC);
	hyptrace_file_set_counts(w, 1, (uint64_t)nr * PER_SUBBUF, 0, 0);
	unwritten = hyptrace_file_unwritten(w, 1);
	assert_int_equal(hyptrace_file_unwritten(w, 1), unwritten);
	assert_true(unwritten && unwritten % PER_SUBBUF == 0);
	all = w;
	w = NULL;
	assert_int_equal(hyptrace_file_finish(all, &err), 0);
	text = meta_of("a.dat", &file, &size);
	assert_int_equal(number_in(text, "\ncpu 1 ", 1), nr * PER_SUBBUF - unwritten);
	assert_int_equal(number_in(text, "\ncpu 1 ", 2), unwritten);
	free(file);
}

/* A limit of the process is like a full disk, but nothing gives room. */
static void test_process_limit(void **state)
{
	struct rlimit old, few = { 40 * SUBBUF + 100, RLIM_INFINITY };
	unsigned int nr = 0;
	struct stat st;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	few.rlim_max = old.rlim_max;
	w = begin("a.dat", 0);
	setrlimit(RLIMIT_FSIZE, &few);
	while (!write_one(1))
		nr++;
	assert_int_equal(err.errnum, EFBIG);
	assert_string_equal(err.text, "cannot write a.dat.part: File too large");
	assert_int_equal(finish(), 0);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(stat("a.dat", &st), 0);
	/* whole sub-buffers */
	assert_int_equal(st.st_size % SUBBUF, 0);
	assert_true(st.st_size >= (off_t)nr * SUBBUF);
}

static unsigned int nr_signals;

static void note_signal(int number)
{
	(void)number;
	nr_signals++;
}

/* The thread that compresses gets no signals: the reading thread waits for them. */
static void test_signals(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM };
	const unsigned int nr = sizeof(numbers) / sizeof(numbers[0]);
	sigset_t all, old;
	unsigned int i;

	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	nr_signals = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	for (i = 0; i < nr; i++) {
		signal(numbers[i], note_signal);
		kill(getpid(), numbers[i]);
	}
	assert_int_equal(write_one(2), 0);
	assert_int_equal(finish(), 0);
	assert_int_equal(nr_signals, 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(nr_signals, nr);
	for (i = 0; i < nr; i++)
		signal(numbers[i], SIG_DFL);
}

static void test_killed(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (!child) {
		w = begin("a.dat", 0);
		write_one(1);
		write_one(2);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_true(exists("a.dat.part"));
	assert_true(exists("a.dat.part.cpu2"));
	/* no file without a name is left */
	assert_int_equal(system("test $(ls | wc -l) = 2"), 0);

	/* the data is not overwritten by the next recording */
	assert_null(begin("a.dat", 0));
	assert_int_equal(err.errnum, EEXIST);
	assert_non_null(strstr(err.text, "a recording that was not finished is in a.dat.part"));
}

static void test_two_writers(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	assert_null(begin("a.dat", 0));
	assert_int_equal(err.errnum, EBUSY);
	assert_string_equal(err.text, "another recording is writing a.dat.part");
	/* some file systems have no locks */
	flock_errno = ENOLCK;
	assert_null(begin("a.dat", 0));
	assert_int_equal(err.errnum, EEXIST);
	assert_non_null(strstr(err.text, "a recording that was not finished is in a.dat.part"));
	assert_int_equal(finish(), 0);
}

/* A file of the same name is there until the new one replaces it. */
static void test_replaces(void **state)
{
	char *file;
	size_t size;

	(void)state;
	assert_int_equal(system("echo old >a.dat"), 0);
	w = begin("a.dat", 0);
	write_one(1);
	file = slurp("a.dat", &size);
	assert_string_equal(file, "old\n");
	free(file);
	assert_int_equal(finish(), 0);
	meta_of("a.dat", &file, &size);
	free(file);
}

/* Each CPU has more than is read at once. */
static void write_pairs(void)
{
	next = 0;
	while (next < 40 * PER_SUBBUF)
		assert_int_equal(write_one(1) || write_one(5), 0);
}

/* Write a file to a pipe; it is the same as one with a name. */
static void test_pipe(void **state)
{
	char *piped, *named;
	size_t piped_size, named_size;
	unsigned int i;
	struct stat st;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_int_equal(mkfifo("pipe", 0600), 0);
		assert_int_equal(system("cat pipe >piped &"), 0);
		setenv("TMPDIR", folder, 1);
		w = begin("pipe", i ? HYPTRACE_FILE_ZSTD : 0);
		assert_non_null(w);
		/* the folder has no file of it */
		assert_int_equal(system("test $(ls | wc -l) = 2"), 0);
		write_pairs();
		assert_int_equal(finish(), 0);
		assert_int_equal(unlink("pipe"), 0);

		w = begin("named", i ? HYPTRACE_FILE_ZSTD : 0);
		write_pairs();
		assert_int_equal(finish(), 0);
		assert_int_equal(stat("named", &st), 0);
		/* the reader of the pipe may still write */
		while (!stat("piped", &st) && st.st_size % SUBBUF)
			usleep(1000);
		named = slurp("named", &named_size);
		do {
			piped = slurp("piped", &piped_size);
			if (piped_size < named_size)
				free(piped);
		} while (piped_size < named_size);
		/* one written to a pipe ends with a whole sub-buffer */
		assert_memory_equal(piped, named, named_size);
		assert_true(piped_size - named_size < SUBBUF);
		assert_int_equal(piped_size % SUBBUF, 0);
		while (piped_size > named_size)
			assert_int_equal(piped[--piped_size], 0);
		free(piped);
		free(named);
		unlink("named");
		unlink("piped");
	}
}

static void test_closed_pipe(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(system("head -c 1 pipe >piped &"), 0);
	w = begin("pipe", 0);
	while (next < 100 * PER_SUBBUF)
		write_one(1);
	assert_int_equal(finish(), -EPIPE);
	assert_string_equal(err.text, "cannot write the output: Broken pipe");
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_full_disk),
		TEST(test_full_disk_without_holes),
		TEST(test_copies),
		TEST(test_cut_part),
		TEST(test_lost_at_the_end),
		TEST(test_full_disk_compressed),
		TEST(test_process_limit),
		TEST(test_signals),
		TEST(test_killed),
		TEST(test_two_writers),
		TEST(test_replaces),
		TEST(test_pipe),
		TEST(test_closed_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
