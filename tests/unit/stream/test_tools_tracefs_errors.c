// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls of the tracer in tracefs that fail, are interrupted or do only a part; and where it
 * looks for tracefs. The linker redirects these calls to the functions below.
 */
#include "tracefs_folder.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

#include <linux/magic.h>

#include "lib/tracefs/tracefs.h"

#define PIPE0	"per_cpu/cpu0/trace_pipe"

/* Of the two folders where tracefs may be mounted: why open() fails, or 0, and its type or -1 */
static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
static struct {
	int	errnum[2];
	long	type[2];
} at;

/* errno of the next calls, or 0; -EINTR: only of the next one */
static int write_errno, fork_errno, pipe_errno;
static bool is_slow;		/* read() reads a byte, and is interrupted before it */
static unsigned int nr_bytes;	/* ... and fails after so many, if that is not 0 */
static unsigned int nr_writes;
static unsigned int *nr_pipes;	/* trace_pipe was opened so often, also by other processes */
/* poll() does not wait, is interrupted so often, and then it is later by some ms */
static bool is_impatient;
static unsigned int interrupts, later, offset;
static int timeout;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	unsigned int i;

	assert_true(flags & O_CLOEXEC);
	for (i = 0; i < 2; i++) {
		if (strncmp(path, mounts[i], strlen(mounts[i])) || path[strlen(mounts[i])] != '/')
			continue;
		assert_string_equal(path + strlen(mounts[i]), "/hypervisor");
		errno = at.errnum[i];
		return errno ? -1 : __real_open(folder, flags);
	}
	return __real_open(path, flags);
}

int __wrap_statfs(const char *path, struct statfs *fs);
int __wrap_statfs(const char *path, struct statfs *fs)
{
	fs->f_type = at.type[!!strcmp(path, mounts[0])];
	return fs->f_type == -1 ? -1 : 0;
}

int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...)
{
	/* also in a process that has no test */
	if (!(flags & O_CLOEXEC))
		abort();
	if (nr_pipes && strstr(path, "trace_pipe"))
		__atomic_add_fetch(nr_pipes, 1, __ATOMIC_SEQ_CST);
	return __real_openat(dir, path, flags);
}

static bool fails(int *errnum)
{
	if (!*errnum)
		return false;
	errno = abs(*errnum);
	if (*errnum < 0)
		*errnum = 0;
	return true;
}

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	nr_writes++;
	return fails(&write_errno) ? -1 : __real_write(fd, data, size);
}

ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size)
{
	static bool is_next;

	if (!is_slow)
		return __real_read(fd, to, size);
	is_next = !is_next;
	if (nr_bytes && is_next && !--nr_bytes) {
		errno = EIO;
		return -1;
	}
	errno = EINTR;
	return is_next ? -1 : __real_read(fd, to, 1);
}

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __wrap_fork(void)
{
	return fails(&fork_errno) ? -1 : __real_fork();
}

int __real_pipe2(int *ends, int flags);
int __wrap_pipe2(int *ends, int flags);
int __wrap_pipe2(int *ends, int flags)
{
	assert_int_equal(flags, O_CLOEXEC);
	return fails(&pipe_errno) ? -1 : __real_pipe2(ends, flags);
}

int __real_socketpair(int domain, int type, int protocol, int *ends);
int __wrap_socketpair(int domain, int type, int protocol, int *ends);
int __wrap_socketpair(int domain, int type, int protocol, int *ends)
{
	assert_true(type & SOCK_CLOEXEC);
	return fails(&pipe_errno) ? -1 : __real_socketpair(domain, type, protocol, ends);
}

int __real_poll(struct pollfd *fds, nfds_t nr, int wait);
int __wrap_poll(struct pollfd *fds, nfds_t nr, int wait);
int __wrap_poll(struct pollfd *fds, nfds_t nr, int wait)
{
	if (!is_impatient)
		return __real_poll(fds, nr, wait);
	timeout = wait;
	assert_int_equal(nr, 1);
	if (!interrupts)
		return __real_poll(fds, nr, 0);
	interrupts--;
	offset += later;
	errno = EINTR;
	return -1;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = 1000 + offset / 1000;
	now->tv_nsec = offset % 1000 * NSEC_PER_MSEC;
	return 0;
}

static int start(void **state)
{
	memset(&at, 0, sizeof(at));
	write_errno = 0;
	fork_errno = 0;
	pipe_errno = 0;
	is_slow = false;
	is_impatient = false;
	return setup(state);
}

/* Number of descriptors of a process */
static unsigned int descriptors(pid_t pid)
{
	char path[64];
	unsigned int nr = 0;
	int fd;

	for (fd = 0; fd < 4096; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
		nr += !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW);
	}
	return nr;
}

static struct hyptrace_reader *reader_of(unsigned int cpu)
{
	struct hyptrace_reader *reader = hyptrace_reader_open_on(h, NULL, cpu, 0, &err);

	if (!reader)
		fail_msg("%s", err.text);
	return reader;
}

/* It is looked for in both folders. */
static void where_tracefs_is(void **state)
{
	static const struct {
		int		errnum[2];
		long		type[2];
		int		ret;
		const char	*said;	/* or the path */
	} all[] = {
		{ {}, {}, 0, "/sys/kernel/tracing/hypervisor" },
		{ { 0, ENOENT }, {}, 0, "/sys/kernel/tracing/hypervisor" },
		{ { ENOENT, 0 }, {}, 0, "/sys/kernel/debug/tracing/hypervisor" },
		{ { EACCES, 0 }, {}, 0, "/sys/kernel/debug/tracing/hypervisor" },
		{ { ENOENT, ENOENT }, { -1, -1 }, ENOENT,
		  "No such file or directory (tracefs is not mounted: "
		  "mount -t tracefs nodev /sys/kernel/tracing)" },
		{ { ENOENT, ENOENT }, { 1, DEBUGFS_MAGIC }, ENOENT,
		  "No such file or directory (tracefs is not mounted: "
		  "mount -t tracefs nodev /sys/kernel/tracing)" },
		{ { ENOENT, ENOENT }, { TRACEFS_MAGIC, -1 }, ENOENT, "No such file or directory" },
		{ { ENOENT, ENOENT }, { -1, TRACEFS_MAGIC }, ENOENT, "No such file or directory" },
		{ { EACCES, ENOENT }, { -1, -1 }, EACCES, "Permission denied" },
		{ { ENOENT, EACCES }, { -1, -1 }, EACCES, "Permission denied" },
		{ { ENOTDIR, EACCES }, { -1, -1 }, EACCES, "Permission denied" },
	};
	char expected[256];
	unsigned int i;

	(void)state;
	hyptrace_close(h);
	for (i = 0; i < COUNT(all); i++) {
		memcpy(at.errnum, all[i].errnum, sizeof(at.errnum));
		memcpy(at.type, all[i].type, sizeof(at.type));
		h = hyptrace_open_tracefs("hypervisor", NULL, &err);
		assert_int_equal(!h, !!all[i].ret);
		if (h) {
			assert_string_equal(((struct tracefs *)h->backend_arg)->path, all[i].said);
			assert_string_equal(((struct tracefs *)h->backend_arg)->name,
					    "tracefs_hypervisor");
			hyptrace_close(h);
			continue;
		}
		snprintf(expected, sizeof(expected), "cannot open /sys/kernel/tracing/hypervisor: %s",
			 all[i].said);
		assert_string_equal(err.text, expected);
		assert_int_equal(err.errnum, all[i].ret);
	}
	/* that does not matter for a whole path */
	at.type[0] = -1;
	at.type[1] = -1;
	h = hyptrace_open_tracefs("/nonexistent/hypervisor", NULL, &err);
	assert_null(h);
	assert_string_equal(err.text,
			    "cannot open /nonexistent/hypervisor: No such file or directory");
}

static int control(int cmd, int cpu, const struct hyptrace_settings *settings)
{
	return hyptrace_control(h, cmd, NULL, cpu, settings, &err);
}

static void writes_that_fail(void **state)
{
	const struct hyptrace_settings size = { .changes = HYPTRACE_SETTING_SIZE, .size = 65536 };
	const char *name = "hyp_enter";

	(void)state;
	write_errno = EBUSY;
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &size), -EBUSY);
	assert_string_equal(err.text, "its buffer is loaded");
	assert_int_equal(control(HYPTRACE_CMD_START, -1, NULL), -EBUSY);
	assert_string_equal(err.text, "Device or resource busy");
	assert_int_equal(control(HYPTRACE_CMD_CLEAR, -1, NULL), -EBUSY);
	assert_string_equal(err.text, "Device or resource busy");
	write_errno = EINVAL;
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &size), -EINVAL);
	assert_string_equal(err.text, "Invalid argument");
	assert_int_equal(hyptrace_set_events(h, NULL, &name, 1, true, NULL, &err), -EINVAL);
	assert_string_equal(err.text, "Invalid argument");
	/* one that is interrupted is repeated */
	write_errno = -EINTR;
	assert_int_equal(control(HYPTRACE_CMD_SET, -1, &size), 0);
	assert_string_equal(get("buffer_size_kb"), "64");
}

static void reads_of_a_part(void **state)
{
	const struct tracefs *t;

	(void)state;
	put("tracing_on", "1\n");
	is_slow = true;
	open_with(NULL);
	t = h->backend_arg;
	assert_int_equal(t->nr_events, 3);
	assert_true(t->was_unloaded);
	assert_true(hyptrace_tracefs_is_on(t, NULL));
	/* what it has read of a file does not count if the rest cannot be read */
	nr_bytes = 2;
	assert_false(hyptrace_tracefs_is_on(t, NULL));
	assert_int_equal(nr_bytes, 0);
	assert_true(hyptrace_tracefs_is_on(t, NULL));
}

/* Nothing is left of a reader, or of what it held, if there is no process. */
static void no_process(void **state)
{
	const uint16_t ids[] = { 2, 4 };
	const unsigned int before = descriptors(getpid());
	struct hyptrace_reader *reader;
	const struct tracefs *t = h->backend_arg;

	(void)state;
	fork_errno = EAGAIN;
	assert_null(hyptrace_reader_open_on(h, NULL, 0, 0, &err));
	assert_int_equal(err.errnum, EAGAIN);
	assert_string_equal(err.text, "cannot start a process: Resource temporarily unavailable");
	assert_null(t->readers);
	assert_int_equal(descriptors(getpid()), before);
	fork_errno = 0;
	reader = reader_of(0);
	assert_int_equal(descriptors(getpid()), before + 1);
	assert_int_equal(fcntl(reader->fd, F_GETFD), FD_CLOEXEC);
	fork_errno = EAGAIN;
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), -EAGAIN);
	assert_string_equal(err.text, "cannot start a process: Resource temporarily unavailable");
	fork_errno = 0;
	pipe_errno = EMFILE;
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), -EMFILE);
	assert_string_equal(err.text, "cannot make a socket: Too many open files");
	pipe_errno = 0;
	assert_int_equal(descriptors(getpid()), before + 1);
	assert_string_equal(get("tracing_on"), "0\n");
	assert_string_equal(get(ENTER), "0\n");
	/* events of such a call are not held by the next one */
	assert_int_equal(hyptrace_reader_hold(reader, ids + 1, 1, false, &err), 0);
	assert_string_equal(get(ENTER), "0\n");
	assert_string_equal(get(HCALL), "1");
	assert_int_equal(descriptors(getpid()), before + 2);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	assert_int_equal(descriptors(getpid()), before + 1);
	hyptrace_reader_close(reader);
	assert_int_equal(descriptors(getpid()), before);
}

/* hyptrace writes what is held; only the guard restores. */
static void only_the_guard_restores(void **state)
{
	const uint16_t ids[] = { 2 };
	struct hyptrace_reader *reader = reader_of(0);

	(void)state;
	nr_writes = 0;
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), 0);
	assert_int_equal(nr_writes, 2);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	assert_int_equal(nr_writes, 2);
	assert_string_equal(get("tracing_on"), "0");
	assert_string_equal(get(ENTER), "0");
	/* a guard that ends as requested keeps the kernel's buffer */
	assert_string_equal(get("trace"), "old");
	hyptrace_reader_close(reader);
}

static unsigned int pipes_opened(void)
{
	return __atomic_load_n(nr_pipes, __ATOMIC_SEQ_CST);
}

/* The pipe is opened again at the end of a reader, and when the buffer is dropped. */
static void pipes_opened_again(void **state)
{
	struct hyptrace_reader *reader;

	(void)state;
	nr_pipes = mmap(NULL, sizeof(*nr_pipes), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(nr_pipes != MAP_FAILED);
	put("trace_pipe", "");
	reader = reader_of(0);
	assert_int_equal(pipes_opened(), 1);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, true, &err), 0);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	assert_int_equal(pipes_opened(), 2);
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	h = NULL;
	assert_int_equal(pipes_opened(), 3);
	assert_string_equal(get("trace"), "0");
	munmap(nr_pipes, sizeof(*nr_pipes));
	nr_pipes = NULL;
}

/* Tracing that another one has switched on in between goes on, with what it has recorded. */
static void tracing_of_another_one(void **state)
{
	struct hyptrace_reader *reader = reader_of(0);

	(void)state;
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, true, &err), 0);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	put("tracing_on", "1\n");
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	h = NULL;
	assert_string_equal(get("tracing_on"), "1\n");
	assert_string_equal(get("trace"), "old");
	/* it was on before */
	open_with(NULL);
	reader = reader_of(0);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, true, &err), 0);
	hyptrace_reader_close(reader);
	hyptrace_close(h);
	h = NULL;
	assert_string_equal(get("tracing_on"), "1\n");
	assert_string_equal(get("trace"), "old");
}

/* Wait until the process has closed all descriptors but those that it needs. */
static void has_descriptors(pid_t pid, unsigned int nr)
{
	unsigned int tries;

	for (tries = 0; tries < 5000 && descriptors(pid) != nr; tries++)
		usleep(1000);
	assert_int_equal(descriptors(pid), nr);
}

/* The processes have no descriptors of others, and signals do not end them. */
static void processes(void **state)
{
	const uint16_t ids[] = { 2 };
	const int high = fcntl(0, F_DUPFD_CLOEXEC, MIN(sysconf(_SC_OPEN_MAX), 4096) - 1);
	struct hyptrace_reader *reader = reader_of(0);
	const struct tracefs *t = h->backend_arg;
	uint64_t lost;

	(void)state;
	assert_true(high > 2);
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, true, &err), 0);
	has_descriptors(t->guard_pid, 2);
	has_descriptors(t->readers->pid, 3);
	assert_int_equal(getsid(t->guard_pid), t->guard_pid);
	assert_int_equal(getsid(t->readers->pid), getsid(0));
	kill(t->guard_pid, SIGTERM);
	kill(t->readers->pid, SIGTERM);
	kill(t->readers->pid, SIGALRM);
	kill(t->readers->pid, SIGURG);
	lines(PIPE0, 0, 3);
	wait_for(reader);
	assert_int_equal(waitpid(t->guard_pid, NULL, WNOHANG), 0);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	assert_int_equal(drain(reader, &lost), 3);
	assert_int_equal(lost, 0);
	hyptrace_reader_close(reader);
	close(high);
}

/* A reader ends if hyptrace is killed, even if there is nothing to read. */
static void reader_without_hyptrace(void **state)
{
	pid_t *pids = mmap(NULL, sizeof(*pids), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int writer, status, tries;
	pid_t pid;

	(void)state;
	assert_true(pids != MAP_FAILED);
	assert_int_equal(unlink(path_of(PIPE0)), 0);
	assert_int_equal(mkfifo(path_of(PIPE0), 0600), 0);
	writer = open(path_of(PIPE0), O_RDWR | O_CLOEXEC);
	/* the reader is then a child of this process */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid = fork();
	if (!pid) {
		reader_of(0);
		*pids = ((struct tracefs *)h->backend_arg)->readers->pid;
		has_descriptors(*pids, 3);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	for (tries = 0; tries < 5000 && !waitpid(*pids, &status, WNOHANG); tries++)
		usleep(1000);
	assert_in_range(tries, 0, 4999);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	close(writer);
	munmap(pids, sizeof(*pids));
}

/* Begin to read, and stop the process once it has written so many sub-buffers. */
static struct hyptrace_reader *stopped_reader(unsigned int nr)
{
	struct hyptrace_reader *reader;
	const struct tracefs_reader *r;
	unsigned int tries;

	reader = reader_of(0);
	r = reader->backend_arg;
	for (tries = 0; tries < 5000 && __atomic_load_n(&r->shared->nr_written,
							__ATOMIC_SEQ_CST) < nr; tries++)
		usleep(1000);
	assert_int_equal(r->shared->nr_written, nr);
	kill(r->pid, SIGSTOP);
	is_impatient = true;
	offset = 0;
	return reader;
}

static void reader_has(struct hyptrace_reader *reader, unsigned int events, unsigned int pages)
{
	struct hyptrace_cpu *cpu;
	uint64_t lost;

	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	assert_int_equal(((struct tracefs_reader *)reader->backend_arg)->pid, 0);
	assert_int_equal(lseek(reader->fd, 0, SEEK_END), pages * getpagesize());
	lseek(reader->fd, 0, SEEK_SET);
	assert_int_equal(fcntl(reader->fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 0, &cpu, &err), 0);
	assert_int_equal(cpu->nr_subbufs, (7 << 10) / getpagesize() + 1 + pages);
	assert_int_equal(cpu->unread, events);
	hyptrace_free_cpu(cpu);
	assert_int_equal(drain(reader, &lost), events);
	assert_true(lost == HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 0, &cpu, &err), 0);
	assert_int_equal(cpu->read, events);
	assert_int_equal(cpu->unread, 0);
	hyptrace_free_cpu(cpu);
	hyptrace_reader_close(reader);
	is_impatient = false;
}

static unsigned int nr_signals;

static void on_signal(int sig)
{
	(void)sig;
	nr_signals++;
}

/* What it has written is there, and then a loss: nobody knows what it still had. */
static void process_that_does_not_end(void **state)
{
	struct hyptrace_reader *reader;
	unsigned int nr;

	(void)state;
	signal(SIGURG, on_signal);
	reader = stopped_reader(0);
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	/* there is no process to be told again */
	reader_has(reader, 0, 1);
	assert_int_equal(nr_signals, 0);
	signal(SIGURG, SIG_DFL);
	assert_int_equal(timeout, 5000);
	/* however many signals there are, it does not wait longer */
	reader = stopped_reader(0);
	interrupts = 1;
	later = 2000;
	reader_has(reader, 0, 1);
	assert_int_equal(timeout, 3000);
	reader = stopped_reader(0);
	interrupts = 3;
	reader_has(reader, 0, 1);
	assert_int_equal(interrupts, 0);
	assert_int_equal(timeout, 0);
	/* 16 bytes each */
	nr = 5 * ((getpagesize() - 16 - 24) / 16);
	lines(PIPE0, 0, nr);
	reader = stopped_reader(5);
	reader_has(reader, nr, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(where_tracefs_is, start, teardown),
		cmocka_unit_test_setup_teardown(writes_that_fail, start, teardown),
		cmocka_unit_test_setup_teardown(reads_of_a_part, start, teardown),
		cmocka_unit_test_setup_teardown(no_process, start, teardown),
		cmocka_unit_test_setup_teardown(only_the_guard_restores, start, teardown),
		cmocka_unit_test_setup_teardown(pipes_opened_again, start, teardown),
		cmocka_unit_test_setup_teardown(tracing_of_another_one, start, teardown),
		cmocka_unit_test_setup_teardown(processes, start, teardown),
		cmocka_unit_test_setup_teardown(reader_without_hyptrace, start, teardown),
		cmocka_unit_test_setup_teardown(process_that_does_not_end, start, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
