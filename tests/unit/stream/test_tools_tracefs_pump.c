// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers of a tracer in tracefs: pipes that block, that cannot be opened or read, counters while
 * a process writes, and sub-buffers of other sizes. The linker redirects system calls to the
 * functions below.
 */
#include "tracefs_folder.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "fail_alloc.h"
#include "lib/tracefs/tracefs.h"

#define PIPE0	"per_cpu/cpu0/trace_pipe"

static int page_size;		/* 0: that of the machine */
static int open_errno;		/* why a pipe cannot be opened, or 0 */
static bool is_blocking;	/* the kernel ignores O_NONBLOCK of a pipe */
static bool has_no_file, has_no_map;
static int nr_maps;
static void (*on_sleep)(void);
static unsigned int nr_sleeps;

int __real_getpagesize(void);
int __wrap_getpagesize(void);
int __wrap_getpagesize(void)
{
	return page_size ? page_size : __real_getpagesize();
}

int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...)
{
	int fd;

	if (!strstr(path, "trace_pipe"))
		return __real_openat(dir, path, flags);
	errno = open_errno;
	if (errno)
		return -1;
	fd = __real_openat(dir, path, flags);
	if (is_blocking && fd >= 0)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

int __real_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags)
{
	if (!has_no_file)
		return __real_memfd_create(name, flags);
	errno = EMFILE;
	return -1;
}

void *__real_mmap(void *to, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *to, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *to, size_t size, int protection, int flags, int fd, off_t offset)
{
	nr_maps += !has_no_map;
	return has_no_map ? MAP_FAILED : __real_mmap(to, size, protection, flags, fd, offset);
}

int __real_munmap(void *map, size_t size);
int __wrap_munmap(void *map, size_t size);
int __wrap_munmap(void *map, size_t size)
{
	nr_maps--;
	return __real_munmap(map, size);
}

int __real_usleep(useconds_t usec);
int __wrap_usleep(useconds_t usec);
int __wrap_usleep(useconds_t usec)
{
	nr_sleeps++;
	if (!on_sleep)
		return __real_usleep(usec);
	on_sleep();
	return 0;
}

static int start(void **state)
{
	page_size = 0;
	open_errno = 0;
	is_blocking = false;
	has_no_file = false;
	has_no_map = false;
	on_sleep = NULL;
	return setup(state);
}

static struct hyptrace_reader *reader_of(unsigned int cpu)
{
	struct hyptrace_reader *reader = hyptrace_reader_open_on(h, NULL, cpu, 0, &err);

	if (!reader)
		fail_msg("%s", err.text);
	return reader;
}

static void end(struct hyptrace_reader *reader)
{
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
}

/* After the end, the reader has so many events and losses. */
static void ends_with(struct hyptrace_reader *reader, unsigned int events, uint64_t losses)
{
	uint64_t lost;

	end(reader);
	assert_int_equal(drain(reader, &lost), events);
	assert_int_equal(lost, losses);
	hyptrace_reader_close(reader);
	/* nobody is left to wait for */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Replace the pipe of CPU 0 by a FIFO. Return its other end. */
static int make_fifo(void)
{
	int writer;

	assert_int_equal(unlink(path_of(PIPE0)), 0);
	assert_int_equal(mkfifo(path_of(PIPE0), 0600), 0);
	writer = open(path_of(PIPE0), O_RDWR | O_CLOEXEC);
	assert_true(writer >= 0);
	return writer;
}

/* hyptrace goes on after it has started its processes. This must be the first test. */
static void only_the_processes_end(void **state)
{
	struct hyptrace_reader *reader;
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid) {
		reader = reader_of(0);
		if (hyptrace_reader_hold(reader, NULL, 0, true, &err) || *get("tracing_on") != '1')
			_exit(1);
		hyptrace_reader_close(reader);
		hyptrace_close(h);
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* the other tests would end this program without a failure */
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		_exit(1);
}

static void pipes_that_block(void **state)
{
	struct pollfd from = { .events = POLLIN };
	struct hyptrace_reader *reader;
	struct tracefs_reader *r;
	int writer = make_fifo();

	(void)state;
	is_blocking = true;
	reader = reader_of(0);
	assert_int_equal(fcntl(reader->fd, F_GETPIPE_SZ), 1 << 20);
	lines(PIPE0, 0, 3);
	wait_for(reader);
	ends_with(reader, 3, 0);
	/* even if the signal comes too early, the process ends */
	reader = reader_of(0);
	r = reader->backend_arg;
	__atomic_store_n(&r->shared->is_ending, true, __ATOMIC_RELEASE);
	from.fd = reader->fd;
	assert_int_equal(poll(&from, 1, 10000), 1);
	assert_int_equal(from.revents, POLLHUP);
	ends_with(reader, 0, 0);
	close(writer);
	/* a FIFO without a writer has nothing, and it does not block */
	is_blocking = false;
	ends_with(reader_of(0), 0, 0);
}

static void pipes_that_cannot_be_read(void **state)
{
	static const struct {
		int	errnum;
		int	told;
		const char *said;
	} all[] = {
		{ ENODEV, ENXIO, "No such device" },
		{ ENOENT, ENXIO, "No such file or directory" },
		{ EACCES, EACCES, "Permission denied" },
		{ EBUSY, EBUSY, "Device or resource busy" },
	};
	struct pollfd from = { .events = POLLIN };
	struct hyptrace_reader *reader;
	char expected[256];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(all); i++) {
		open_errno = all[i].errnum;
		assert_null(hyptrace_reader_open_on(h, NULL, 0, 0, &err));
		snprintf(expected, sizeof(expected), "cannot open %s/%s: %s", folder, PIPE0,
			 all[i].said);
		assert_string_equal(err.text, expected);
		assert_int_equal(err.errnum, all[i].told);
	}
	open_errno = 0;
	/* the process ends by itself if it cannot read */
	assert_int_equal(unlink(path_of(PIPE0)), 0);
	new_folder(PIPE0);
	reader = reader_of(0);
	from.fd = reader->fd;
	assert_int_equal(poll(&from, 1, 10000), 1);
	assert_int_equal(from.revents, POLLHUP);
	ends_with(reader, 0, 0);
}

static void no_memory(void **state)
{
	const int before = nr_maps;
	struct hyptrace_reader *reader;
	bool failed = true;
	unsigned int nth;

	(void)state;
	has_no_map = true;
	assert_null(hyptrace_reader_open_on(h, NULL, 0, 0, &err));
	assert_int_equal(err.errnum, ENOMEM);
	assert_string_equal(err.text, "out of memory");
	has_no_map = false;
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		reader = hyptrace_reader_open_on(h, NULL, 0, 0, &err);
		failed = fail_alloc_end();
		assert_int_equal(!reader, failed);
		assert_int_equal(nr_maps, before + !failed);
	}
	assert_int_equal(nth, 4);
	ends_with(reader, 0, 0);
	assert_int_equal(nr_maps, before);
	/* without a file, what is in the pipe can be read */
	lines(PIPE0, 0, 3);
	reader = reader_of(0);
	wait_for(reader);
	has_no_file = true;
	ends_with(reader, 3, 0);
}

/* The last byte of a pipe is read alone; eight bytes are enough to know what a pipe has. */
static void few_bytes(void **state)
{
	FILE *f = fopen(path_of(PIPE0), "we");
	struct hyptrace_reader *reader;
	int writer, left = -1;
	unsigned int i;

	(void)state;
	for (i = 0; i < (128 << 10) - 1; i++)
		fputc('x', f);
	fputs("\ny", f);
	fclose(f);
	ends_with(reader_of(0), 0, 2);
	put(PIPE0, "a\nb\nc\nd\n");
	ends_with(reader_of(0), 0, 4);
	/* fewer are not */
	writer = make_fifo();
	reader = reader_of(0);
	assert_int_equal(write(writer, "[000]", 5), 5);
	for (i = 0; i < 5000 && !ioctl(writer, FIONREAD, &left) && left; i++)
		usleep(1000);
	assert_int_equal(left, 0);
	assert_int_equal(write(writer, " 1.000000: hyp_exit\n", 20), 20);
	wait_for(reader);
	ends_with(reader, 1, 0);
	close(writer);
}

/* Add a part of a page with so many hypercalls. */
static void put_page(unsigned int nr, size_t from, size_t to)
{
	const uint32_t record[] = { 10 << 5, 11, 4, 0 };
	const uint64_t head[] = { 1000, nr * 15 };
	FILE *f = fopen(path_of(PIPE0 "_raw"), "ae");
	char page[65536] = {};
	unsigned int i;

	memcpy(page, head, sizeof(head));
	for (i = 0; i < nr; i++)
		memcpy(page + sizeof(head) + 15 * i, record, 15);
	fwrite(page + from, to - from, 1, f);
	fclose(f);
}

static void pages_in_two_parts(void **state)
{
	struct hyptrace_reader *reader;

	(void)state;
	put_page(3, 0, getpagesize());
	ends_with(reader_of(0), 3, 0);
	put_page(5, 0, 40);
	reader = reader_of(0);
	wait_for(reader);
	put_page(5, 40, getpagesize());
	put_page(1, 0, getpagesize());
	ends_with(reader, 9, 0);
}

static struct {
	struct tracefs_shared	shared;
	struct hyptrace_reader	reader;
	struct tracefs_reader	r;
	int			pipe[2];
} fake;

static void write_page(void)
{
	static const char page[65536];

	assert_int_equal(write(fake.pipe[1], page, fake.reader.subbuf_size),
			 fake.reader.subbuf_size);
}

/* A sub-buffer that was begun has been written. */
static void has_written(void)
{
	fake.shared.nr_written = fake.shared.nr_begun;
}

/* The process has begun to write one sub-buffer more: what was read, and after how many waits? */
static void read_is(unsigned int begun, uint64_t events, unsigned int sleeps)
{
	fake.shared.nr_begun = begun;
	fake.shared.nr_written = begun - 1;
	nr_sleeps = 0;
	assert_int_equal(hyptrace_tracefs_count_read(&fake.r).events, events);
	assert_int_equal(nr_sleeps, sleeps);
}

static void counts_during_a_write(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(pipe(fake.pipe), 0);
	assert_int_equal(fcntl(fake.pipe[1], F_SETPIPE_SZ, 1 << 20), 1 << 20);
	fake.reader.fd = fake.pipe[0];
	fake.reader.subbuf_size = getpagesize();
	fake.r.reader = &fake.reader;
	fake.r.shared = &fake.shared;
	for (i = 0; i < TRACEFS_UNREAD_MAX; i++)
		fake.shared.at[i].events = i + 1;
	on_sleep = has_written;
	/* it has room: this waits until that is done */
	read_is(3, 3, 1);
	write_page();
	write_page();
	read_is(3, 1, 1);
	for (i = 2; i < (1U << 20) / getpagesize() - 1; i++)
		write_page();
	read_is(i + 1, 1, 1);
	/* the pipe is full, and the process waits, too */
	write_page();
	read_is(i + 4, 2, 0);
	/* nothing is written any more */
	fake.r.has_ended = true;
	fake.r.rest = 0;
	read_is(3, 2, 0);
	on_sleep = NULL;
	close(fake.pipe[0]);
	close(fake.pipe[1]);
}

static const struct tracefs_shared *shared_of(const struct hyptrace_reader *reader)
{
	return ((struct tracefs_reader *)reader->backend_arg)->shared;
}

/* Wait until the process has found so many events, and waits until something is read. */
static void finds(const struct hyptrace_reader *reader, uint64_t events)
{
	unsigned int tries;

	for (tries = 0; tries < 5000 &&
	     __atomic_load_n(&shared_of(reader)->found.events, __ATOMIC_SEQ_CST) < events; tries++)
		usleep(1000);
	assert_true(shared_of(reader)->found.events >= events);
}

/* If a sub-buffer is larger than what is moved at once, only whole ones are left. */
static void large_pages(void **state)
{
	static const unsigned int limits[] = { 5, 4 };
	struct hyptrace_reader *reader;
	struct rlimit all, few;
	uint64_t head[2];
	unsigned int i;

	(void)state;
	page_size = 65536;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	signal(SIGXFSZ, SIG_IGN);
	/* more than one of them */
	lines(PIPE0, 0, 7000);
	for (i = 0; i < COUNT(limits); i++) {
		reader = reader_of(0);
		finds(reader, 7000);
		few = (struct rlimit){ .rlim_cur = limits[i] << 14, .rlim_max = all.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
		end(reader);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
		assert_int_equal(lseek(reader->fd, 0, SEEK_END), 65536);
		assert_int_equal(pread(reader->fd, head, sizeof(head), 0), sizeof(head));
		assert_int_equal(head[0], shared_of(reader)->last);
		assert_int_equal(head[1], 1U << 31);
		hyptrace_reader_close(reader);
	}
}

/* There are counts of so many sub-buffers: what follows is lost. */
static void more_than_can_be_counted(void **state)
{
	const size_t max = (TRACEFS_UNREAD_MAX - 2) * 64UL - (1 << 20) - (16 << 10);
	const size_t least[] = { max - 64, max + 64, max + 64 }, more[] = { 0, 0, 16 << 10 };
	const unsigned int nr[] = { max / 64 - 1, max / 64, 70000 };
	struct hyptrace_reader *reader;
	const struct tracefs_reader *r;
	unsigned int i;

	(void)state;
	page_size = 64;
	for (i = 0; i < COUNT(nr); i++) {
		/* one in each */
		assert_int_equal(unlink(path_of(PIPE0)), 0);
		lines(PIPE0, 0, nr[i]);
		reader = reader_of(0);
		r = reader->backend_arg;
		end(reader);
		assert_in_range(r->rest, least[i], least[i] + more[i]);
		assert_int_equal(r->rest, lseek(reader->fd, 0, SEEK_END));
		/* the process may be ended after a write that it has not counted */
		lseek(reader->fd, 2 * 64, SEEK_SET);
		assert_in_range(hyptrace_tracefs_count_read(r).events, 1, 2);
		lseek(reader->fd, -64, SEEK_END);
		assert_in_range(hyptrace_tracefs_count_read(r).events, r->rest / 64 - 2,
				r->rest / 64 - 1);
		hyptrace_reader_close(reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_the_processes_end, start, teardown),
		cmocka_unit_test_setup_teardown(pipes_that_block, start, teardown),
		cmocka_unit_test_setup_teardown(pipes_that_cannot_be_read, start, teardown),
		cmocka_unit_test_setup_teardown(no_memory, start, teardown),
		cmocka_unit_test_setup_teardown(few_bytes, start, teardown),
		cmocka_unit_test_setup_teardown(pages_in_two_parts, start, teardown),
		cmocka_unit_test_setup_teardown(counts_during_a_write, start, teardown),
		cmocka_unit_test_setup_teardown(large_pages, start, teardown),
		cmocka_unit_test_setup_teardown(more_than_can_be_counted, start, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
