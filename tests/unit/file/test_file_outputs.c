// SPDX-License-Identifier: GPL-2.0-only
/*
 * The begin of a recording: where it is written, what it needs, and the limits of what it takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <signal.h>
#include <sys/statvfs.h>

#include <cmocka.h>

#include "file_remote.h"

static struct hyptrace_file_writer *w;

/* What the disk has, whether it can reserve some of it, and how much it did */
static uint64_t said_room, reserved;
static int statvfs_ret, pipe_errno, thread_errno;
static bool has_fallocate;

int __wrap_fstatvfs(int fd, struct statvfs *vfs);
int __wrap_fstatvfs(int fd, struct statvfs *vfs)
{
	(void)fd;
	*vfs = (struct statvfs){ .f_frsize = 512, .f_bavail = said_room / 512 };
	return statvfs_ret;
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	assert_true(fd >= 0);
	assert_int_equal(mode, 0);
	assert_int_equal(offset, 0);
	reserved = size;
	errno = EOPNOTSUPP;
	return has_fallocate ? 0 : -1;
}

int __real_pipe2(int *ends, int flags);
int __wrap_pipe2(int *ends, int flags);
int __wrap_pipe2(int *ends, int flags)
{
	assert_true(flags & O_CLOEXEC);
	errno = pipe_errno;
	return pipe_errno ? -1 : __real_pipe2(ends, flags);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	sigset_t mask;

	/* the thread has the same mask */
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	assert_true(sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM));
	return thread_errno ? thread_errno : __real_pthread_create(thread, attr, run, arg);
}

static int setup(void **state)
{
	said_room = UINT64_C(1) << 40;
	reserved = 0;
	statvfs_ret = 0;
	pipe_errno = 0;
	thread_errno = 0;
	has_fallocate = true;
	unsetenv("TMPDIR");
	return enter_folder(state);
}

/* How many descriptors are open; no test has a larger one */
static unsigned int count_open(void)
{
	unsigned int nr = 0;
	int fd;

	for (fd = 0; fd < 100; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static int write_subbuf(unsigned int cpu)
{
	char subbuf[SUBBUF];

	fill(subbuf, 1000, 0, 10);
	return hyptrace_file_write(w, cpu, subbuf, SUBBUF, &err);
}

static void no_cpus(void **state)
{
	struct hyptrace_file_meta meta;

	(void)state;
	describe(&meta);
	while (meta.info.nr_cpus)
		free(meta.info.cpus[--meta.info.nr_cpus]);
	meta.info.cpus[0] = NULL;
	assert_null(hyptrace_file_writer_new("a.dat", &meta, 0, NULL, &err));
	assert_int_equal(err.errnum, ENXIO);
	assert_string_equal(err.text, "the remote has no CPUs");
}

/* "-" is no file of this name. */
static void standard_output(void **state)
{
	const int output = dup(STDOUT_FILENO);
	char *sent, *named;
	size_t sent_size, named_size;
	struct stat st;

	(void)state;
	close(STDOUT_FILENO);
	w = begin("-", 0);
	if (!w) {
		assert_int_equal(open("sent", O_CREAT | O_RDWR, 0600), STDOUT_FILENO);
		w = begin("-", 0);
	}
	dup2(output, STDOUT_FILENO);
	close(output);
	assert_int_equal(err.errnum, EBADF);
	assert_string_equal(err.text, "cannot open -: Bad file descriptor");
	assert_non_null(w);
	assert_true(w->out > STDERR_FILENO);
	assert_int_equal(fcntl(w->out, F_GETFD), FD_CLOEXEC);
	/* such an output needs no reserve */
	assert_int_equal(w->reserve, -1);
	assert_int_equal(write_subbuf(5), 0);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	assert_false(exists("-") || exists("-.part"));
	w = begin("named", 0);
	assert_int_equal(write_subbuf(5), 0);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	sent = slurp("sent", &sent_size);
	named = slurp("named", &named_size);
	assert_int_equal(sent_size, named_size);
	assert_memory_equal(sent, named, named_size);
	free(sent);
	free(named);
	assert_int_equal(stat("named", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* Only its owner may read what is there before the end, too. */
static void modes(void **state)
{
	static const char *const names[] = { "a.dat.part", "a.dat.part.cpu2" };
	const mode_t mask = umask(0);
	struct stat st;
	unsigned int i;

	(void)state;
	w = begin("a.dat", 0);
	assert_int_equal(write_subbuf(2), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(stat(names[i], &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		/* no program that is started gets them */
		assert_int_equal(fcntl(i ? w->parts[1].fd : w->fd, F_GETFD), FD_CLOEXEC);
	}
	assert_int_equal(fcntl(w->reserve, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstat(w->reserve, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_nlink, 0);
	umask(mask);
	hyptrace_file_abandon(w);
}

/* An empty TMPDIR is none. */
static void folders(void **state)
{
	(void)state;
	setenv("TMPDIR", "", 1);
	w = begin("/dev/null", 0);
	assert_non_null(w);
	hyptrace_file_abandon(w);
	setenv("TMPDIR", "none", 1);
	assert_null(begin("/dev/null", 0));
	assert_int_equal(err.errnum, ENOENT);
	assert_string_equal(err.text, "cannot make a temporary file: No such file or directory");
}

static void reserves(void **state)
{
	static const struct {
		uint64_t	room;
		uint64_t	reserved;	/* 0: none */
	} disks[] = {
		{ UINT64_C(1) << 40, 16 << 20 }, { 64 << 20, 16 << 20 },
		{ (64 << 20) - 512, (16 << 20) - 128 }, { 256 << 10, 64 << 10 },
		{ (256 << 10) - 512, 0 }, { 0, 0 },
	};
	const unsigned int nr_open = count_open();
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(disks) / sizeof(*disks); i++) {
		said_room = disks[i].room;
		reserved = 0;
		w = begin("a.dat", 0);
		assert_int_equal(reserved, disks[i].reserved);
		assert_int_equal(w->reserve >= 0, disks[i].reserved > 0);
		hyptrace_file_abandon(w);
	}
	/* a disk that cannot do it, and one that does not say its room */
	said_room = 64 << 20;
	for (i = 0; i < 2; i++) {
		has_fallocate = false;
		statvfs_ret = i ? -1 : 0;
		reserved = 0;
		w = begin("a.dat", 0);
		assert_int_equal(w->reserve, -1);
		assert_int_equal(reserved, i ? 0 : 16 << 20);
		hyptrace_file_abandon(w);
	}
	assert_int_equal(count_open(), nr_open);
}

/* What others have made stays. */
static void files_of_others(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	close(open("a.dat.part.cpu2", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(write_subbuf(2), -EEXIST);
	assert_string_equal(err.text, "a recording that was not finished is in a.dat.part.cpu2 (read it with \"hyptrace report\", or remove it)");
	hyptrace_file_abandon(w);
	assert_false(exists("a.dat.part"));
	assert_true(exists("a.dat.part.cpu2"));
	assert_null(begin("a.dat", 0));
	assert_string_equal(err.text, "a.dat.part.cpu2 is left of a recording that was not finished: remove it");
	assert_true(exists("a.dat.part.cpu2"));
	unlink("a.dat.part.cpu2");
	/* the part of the first CPU is in the main file */
	close(open("a.dat.part.cpu1", O_CREAT | O_WRONLY, 0600));
	assert_null(begin("a.dat", 0));
	unlink("a.dat.part.cpu1");
	close(open("a.dat.part", O_CREAT | O_WRONLY, 0600));
	assert_null(begin("a.dat", 0));
	assert_int_equal(err.errnum, EEXIST);
	assert_true(exists("a.dat.part"));
}

/* A limit is kept, and not exceeded by a byte. */
static void limits(void **state)
{
	char subbufs[2 * SUBBUF] = "";
	uint64_t begun;
	int ends[2];

	(void)state;
	w = begin("a.dat", 0);
	begun = hyptrace_file_size(w);
	assert_int_equal(begun, w->head_size);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], subbufs, sizeof(subbufs)), sizeof(subbufs));
	hyptrace_file_set_limit(w, begun + SUBBUF - 1);
	assert_int_equal(hyptrace_file_write(w, 2, subbufs, SUBBUF, &err), -EOVERFLOW);
	assert_string_equal(err.text, "the file has reached its limit");
	err.text[0] = 0;
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), -EOVERFLOW);
	assert_string_equal(err.text, "the file has reached its limit");
	assert_false(exists("a.dat.part.cpu2"));
	hyptrace_file_set_limit(w, begun + SUBBUF);
	assert_int_equal(hyptrace_file_write(w, 2, subbufs, 2 * SUBBUF, &err), -EOVERFLOW);
	assert_int_equal(hyptrace_file_size(w), begun);
	assert_int_equal(hyptrace_file_write(w, 2, subbufs, SUBBUF, &err), 0);
	/* what waits may be looked for always */
	assert_int_equal(hyptrace_file_write(w, 2, NULL, 0, &err), 0);
	hyptrace_file_set_limit(w, begun + 2 * SUBBUF);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), SUBBUF);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), -EOVERFLOW);
	assert_int_equal(hyptrace_file_size(w), begun + 2 * SUBBUF);
	close(ends[0]);
	close(ends[1]);
	hyptrace_file_abandon(w);
}

/* Only what was compressed reaches the limit. What waits is compressed when it may be too much. */
static void compressed_limits(void **state)
{
	uint64_t begun, size = 0;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		w = begin("a.dat", HYPTRACE_FILE_ZSTD);
		begun = hyptrace_file_size(w);
		hyptrace_file_set_limit(w, begun);
		assert_true(hyptrace_file_is_full(w, 0));
		assert_int_equal(write_subbuf(2), -EOVERFLOW);
		assert_string_equal(err.text, "the file has reached its limit");
		hyptrace_file_set_limit(w, begun + 1);
		assert_false(hyptrace_file_is_full(w, SUBBUF));
		assert_int_equal(write_subbuf(2), 0);
		assert_int_equal(hyptrace_file_size(w), begun);
		/* so many bytes more than there are then, from the second time on */
		hyptrace_file_set_limit(w, begun + (i ? size + i - 1 : 1));
		assert_int_equal(hyptrace_file_is_full(w, SUBBUF), i < 2);
		assert_true(!i || hyptrace_file_size(w) == begun + size);
		size = hyptrace_file_size(w) - begun;
		assert_in_range(size, 1, SUBBUF);
		assert_int_equal(write_subbuf(2), i < 2 ? -EOVERFLOW : 0);
		hyptrace_file_abandon(w);
	}
}

static void no_thread(void **state)
{
	const unsigned int nr_open = count_open();
	sigset_t before, after;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	thread_errno = EAGAIN;
	assert_null(begin("a.dat", HYPTRACE_FILE_ZSTD));
	assert_int_equal(err.errnum, EAGAIN);
	assert_string_equal(err.text, "cannot start a thread: Resource temporarily unavailable");
	assert_false(exists("a.dat.part"));
	assert_int_equal(count_open(), nr_open);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
	assert_int_equal(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
}

/* What is wrong is said, and nothing is written. */
static void arguments(void **state)
{
	char subbufs[2 * SUBBUF] = "";

	(void)state;
	w = begin("a.dat", 0);
	assert_int_equal(hyptrace_file_write(w, 2, subbufs, SUBBUF + 1, &err), -EINVAL);
	assert_int_equal(err.errnum, EINVAL);
	assert_string_equal(err.text, "4097 bytes are not whole sub-buffers of 4096");
	assert_int_equal(hyptrace_file_write(w, 2 | HYPTRACE_FILE_OF_HOST, subbufs, SUBBUF, &err),
			 -ENXIO);
	assert_int_equal(err.errnum, ENXIO);
	assert_string_equal(err.text, "the host has no CPU 2");
	assert_int_equal(hyptrace_file_splice(w, 2, -1, &err), -EBADF);
	assert_string_equal(err.text, "cannot read the ring: Bad file descriptor");
	assert_int_equal(hyptrace_file_splice(w, 2, -1, NULL), -EBADF);
	assert_int_equal(hyptrace_file_unwritten(w, 3), 0);
	assert_int_equal(hyptrace_file_size(w), w->head_size);
	hyptrace_file_abandon(w);

	w = begin("a.dat", 0);
	pipe_errno = EMFILE;
	assert_int_equal(hyptrace_file_splice(w, 2, 0, &err), -EMFILE);
	assert_string_equal(err.text, "cannot make a pipe: Too many open files");
	hyptrace_file_abandon(w);
}

/* If the output or the pipe gets descriptor 0, it is closed in the end, too. */
static void descriptor_0(void **state)
{
	const int input = dup(0);
	int ends[2];

	(void)state;
	close(0);
	w = begin("/dev/null", 0);
	assert_int_equal(w->out, 0);
	hyptrace_file_abandon(w);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	dup2(input, 0);
	w = begin("a.dat", 0);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	close(0);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), 0);
	assert_int_equal(w->pipe[0], 0);
	hyptrace_file_abandon(w);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	close(ends[0]);
	close(ends[1]);
	dup2(input, 0);
	close(input);
}

/* A note is in the file at once. */
static void notes(void **state)
{
	char *part;
	size_t size;

	(void)state;
	w = begin("a.dat", 0);
	hyptrace_file_add_note(w, "it was late");
	part = slurp("a.dat.part", &size);
	assert_non_null(memmem(part, size, "\nnote \"it was late\"\n", 20));
	free(part);
	hyptrace_file_abandon(w);
}

/* Between the text and the data is room for the header of a section, and less than a sub-buffer. */
static void head_sizes(void **state)
{
	const unsigned int subbuf = 32;
	struct hyptrace_file_meta meta;
	unsigned int i, larger = 0;
	const char *end;
	char *part;
	size_t size;

	(void)state;
	for (i = 0; i < subbuf; i++) {
		describe(&meta);
		assert_true(asprintf(&meta.info.command, "%0*u", i + 1, 0) > 0);
		meta.info.subbuf_size = subbuf;
		w = hyptrace_file_writer_new("a.dat", &meta, 0, NULL, &err);
		assert_non_null(w);
		part = slurp("a.dat.part", &size);
		assert_int_equal(size, w->head_size);
		end = memmem(part, size, "\nend\n", 5);
		assert_non_null(end);
		size = end + 5 - part + 16;
		assert_int_equal(w->head_size, (size + subbuf - 1) / subbuf * subbuf);
		larger += w->head_size > size;
		free(part);
		hyptrace_file_abandon(w);
	}
	assert_int_equal(larger, subbuf - 1);
}

/* Many CPUs have smaller chunks, which hold whole sub-buffers, or one. */
static void chunk_sizes(void **state)
{
	static const struct {
		unsigned int	cpus;
		uint32_t	subbuf;
		uint32_t	chunk;
	} cases[] = {
		{ 1, 4096, 256 << 10 }, { 64, 4096, 256 << 10 }, { 65, 4096, 63 * 4096 },
		{ 128, 4096, 128 << 10 }, { 1, 65536, 256 << 10 }, { 65, 65536, 3 << 16 },
		{ 1, 1 << 20, 1 << 20 },
	};
	struct hyptrace_file_meta meta;
	unsigned int i, cpu;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		describe(&meta);
		while (meta.info.nr_cpus)
			free(meta.info.cpus[--meta.info.nr_cpus]);
		assert_true(hyptrace_file_make_cpus(&meta.info.cpus, &meta.info.nr_cpus,
						    cases[i].cpus));
		for (cpu = 0; cpu < cases[i].cpus; cpu++)
			meta.info.cpus[cpu]->id = cpu;
		meta.info.subbuf_size = cases[i].subbuf;
		w = hyptrace_file_writer_new("a.dat", &meta, HYPTRACE_FILE_ZSTD, NULL, &err);
		assert_non_null(w);
		assert_int_equal(w->chunk_size, cases[i].chunk);
		hyptrace_file_abandon(w);
	}
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_cpus), TEST(standard_output), TEST(modes), TEST(folders), TEST(reserves),
		TEST(files_of_others), TEST(limits), TEST(compressed_limits), TEST(no_thread),
		TEST(arguments), TEST(descriptor_0), TEST(notes),
		TEST(head_sizes), TEST(chunk_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
