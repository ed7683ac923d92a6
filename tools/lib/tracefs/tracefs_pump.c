// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process of a CPU, which reads its pipe, and the reader that gets its sub-buffers. A timer,
 * and SIGURG at the end, interrupt its reads: they fail with EINTR only if the ring is empty.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tracefs.h"

/* Bytes to read at once; and of a pipe between the processes */
#define READ_SIZE	(128 << 10)
#define PIPE_SIZE	(1 << 20)
/* How often a read is interrupted, before and after the end was requested */
#define TICK_USEC	100000
#define END_TICK_USEC	20000
/* The process must answer within this time. */
#define PATIENCE_MSEC	5000

/* How long, and how often, to wait for a write that has room */
#define WRITE_USEC	100
#define WRITE_TRIES	100

struct pump {
	const struct tracefs	*t;
	struct tracefs_page	page;
	char			file[64];	/* the pipe */
	char			*buf;
	size_t			len;		/* bytes of @buf */
	bool			is_known;	/* whether it is raw */
	bool			is_raw;
	bool			is_cut;		/* the line is too long: skip the rest of it */
};

static void on_tick(int sig)
{
	(void)sig;
}

static void set_tick(unsigned int usec)
{
	const struct itimerval tick = { .it_interval.tv_usec = usec, .it_value.tv_usec = usec };

	setitimer(ITIMER_REAL, &tick, NULL);
}

/* Close all other descriptors: else a process that waits for their end waits for this one, too. */
void hyptrace_tracefs_isolate(int keep1, int keep2, int keep3)
{
	const int last = sysconf(_SC_OPEN_MAX) < 65536 ? sysconf(_SC_OPEN_MAX) : 65536;
	int fd;

	for (fd = 0; fd < last; fd++)
		if (fd != keep1 && fd != keep2 && fd != keep3)
			close(fd);
}

static void take_lines(struct pump *p)
{
	char *line = p->buf, *end;

	while ((end = memchr(line, '\n', p->buf + p->len - line))) {
		*end = '\0';
		if (!p->is_cut)
			hyptrace_tracefs_line(p->t, &p->page, line, end - line);
		p->is_cut = false;
		line = end + 1;
	}
	p->len -= line - p->buf;
	memmove(p->buf, line, p->len);
	if (p->len < TRACEFS_LINE_MAX)
		return;
	if (!p->is_cut)
		hyptrace_tracefs_lose(&p->page, 1);
	p->is_cut = true;
	p->len = 0;
}

/* A raw pipe may have text by mistake; a time stamp always has a byte that is 0. */
static void take(struct pump *p)
{
	size_t at = 0;

	if (!p->is_known && p->len < sizeof(uint64_t))
		return;
	if (!p->is_known)
		p->is_raw = memchr(p->buf, '\0', sizeof(uint64_t));
	p->is_known = true;
	if (p->is_raw) {
		for (; p->len - at >= p->page.size; at += p->page.size)
			hyptrace_tracefs_raw(p->t, &p->page, p->buf + at, p->page.size);
		p->len -= at;
		memmove(p->buf, p->buf + at, p->len);
	} else {
		take_lines(p);
	}
	hyptrace_tracefs_flush(&p->page);
}

static void run(struct pump *p, int fd, const struct tracefs_shared *shared)
{
	bool is_ending = false;
	ssize_t n;

	while (!p->page.has_failed) {
		n = read(fd, p->buf + p->len, READ_SIZE - p->len);
		if (n > 0) {
			p->len += n;
			take(p);
			continue;
		}
		if (is_ending || (n < 0 && errno != EINTR && errno != EAGAIN))
			break;
		if (__atomic_load_n(&shared->is_ending, __ATOMIC_ACQUIRE)) {
			/* the kernel looks at the hypervisor's ring when it opens the pipe */
			close(openat(p->t->dir, p->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
			set_tick(END_TICK_USEC);
			is_ending = true;
		} else if (n == 0 || errno == EAGAIN) {
			usleep(END_TICK_USEC);
		}
	}
	/* a line without an end */
	if (p->len && !p->is_cut)
		hyptrace_tracefs_lose(&p->page, 1);
	hyptrace_tracefs_flush(&p->page);
}

/* Bytes that were written to the reader's descriptor and not read */
static size_t count_unread(const struct tracefs_reader *r)
{
	int bytes = 0;

	if (r->has_ended)
		return r->rest - lseek(r->reader->fd, 0, SEEK_CUR);
	return ioctl(r->reader->fd, FIONREAD, &bytes) ? 0 : bytes;
}

/*
 * What those who have the reader's descriptor have taken from it. While the process writes a
 * sub-buffer to a pipe that has room, it is not known whether that is in the pipe: this waits.
 */
struct tracefs_counts hyptrace_tracefs_count_read(const struct tracefs_reader *r)
{
	const size_t page = r->reader->subbuf_size;
	uint64_t nr, begun, unread;
	unsigned int i;

	for (i = 0; i < WRITE_TRIES; i++) {
		begun = __atomic_load_n(&r->shared->nr_begun, __ATOMIC_SEQ_CST);
		unread = count_unread(r);
		nr = __atomic_load_n(&r->shared->nr_written, __ATOMIC_SEQ_CST);
		if (begun == nr && begun == __atomic_load_n(&r->shared->nr_begun, __ATOMIC_SEQ_CST))
			break;
		if (r->has_ended || unread + page > PIPE_SIZE)
			break;
		usleep(WRITE_USEC);
	}
	if (unread / page >= nr)
		return (struct tracefs_counts){};
	return r->shared->at[(nr - unread / page - 1) % TRACEFS_UNREAD_MAX];
}

/* In the new process */
static __attribute__((noreturn)) void run_process(struct tracefs_reader *r, struct pump *p, int fd,
						  int out, pid_t parent)
{
	const struct sigaction tick = { .sa_handler = on_tick };
	sigset_t mask;

	sigfillset(&mask);
	sigdelset(&mask, SIGALRM);
	sigdelset(&mask, SIGURG);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGALRM, &tick, NULL);
	sigaction(SIGURG, &tick, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	hyptrace_tracefs_isolate(fd, out, r->of->dir);
	p->page.fd = out;
	p->page.data = hyptrace_map_memory(p->page.size, MAP_PRIVATE);
	p->buf = hyptrace_map_memory(READ_SIZE, MAP_PRIVATE);
	if (p->buf && p->page.data && getppid() == parent) {
		set_tick(TICK_USEC);
		run(p, fd, r->shared);
	}
	_exit(0);
}

static int start(struct tracefs_reader *r, struct hyptrace_error *err)
{
	auto_close int fd = -1;
	struct pump p = { .t = r->of, .page.size = getpagesize(), .page.shared = r->shared };
	const pid_t parent = getpid();
	int out[2];

	snprintf(p.file, sizeof(p.file), "per_cpu/cpu%u/trace_pipe_raw", r->cpu);
	if (faccessat(r->of->dir, p.file, F_OK, 0))
		p.file[strlen(p.file) - strlen("_raw")] = '\0';
	/* the kernel ignores O_NONBLOCK; a FIFO then needs no writer */
	fd = openat(r->of->dir, p.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		/* ENODEV: the CPU has no ring */
		return hyptrace_error_set(err, errno == ENODEV || errno == ENOENT ? ENXIO : errno,
					  "cannot open %s/%s: %s", r->of->path, p.file,
					  strerror(errno));
	if (pipe2(out, O_CLOEXEC))
		return hyptrace_error_set(err, errno, "cannot make a pipe: %m");
	fcntl(out[1], F_SETPIPE_SZ, PIPE_SIZE);
	r->pid = fork();
	if (!r->pid)
		run_process(r, &p, fd, out[1], parent);
	close(out[1]);
	r->reader->fd = out[0];
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	return r->pid < 0 ? hyptrace_error_set(err, errno, "cannot start a process: %m") : 0;
}

/* Become the reader of a CPU. The errno is ENXIO if that has no ring. */
struct hyptrace_reader *hyptrace_tracefs_open_reader(void *arg, int cpu,
						     struct hyptrace_error *err)
{
	struct tracefs *t = arg;
	struct tracefs_reader *r = calloc(1, sizeof(*r));
	struct hyptrace_reader *reader = calloc(1, sizeof(*reader));
	struct tracefs_shared *shared = hyptrace_map_memory(sizeof(*shared), MAP_SHARED);

	if (!r || !reader || !shared) {
		hyptrace_error_memory(err);
		free(r);
		free(reader);
		if (shared)
			munmap(shared, sizeof(*shared));
		return NULL;
	}
	reader->fd = -1;
	reader->subbuf_size = getpagesize();
	reader->backend_arg = r;
	*r = (struct tracefs_reader){
		.of = t, .next = t->readers, .reader = reader, .shared = shared, .cpu = cpu,
	};
	t->readers = r;
	if (!start(r, err))
		return reader;
	hyptrace_tracefs_detach(reader);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
	return NULL;
}

static void end_process(struct tracefs_reader *r)
{
	if (r->pid <= 0)
		return;
	kill(r->pid, SIGKILL);
	TEMP_FAILURE_RETRY(waitpid(r->pid, NULL, 0));
	r->pid = 0;
}

/* End the process; the caller closes the descriptor. */
void hyptrace_tracefs_detach(struct hyptrace_reader *reader)
{
	struct tracefs_reader *r = reader->backend_arg, **at = &r->of->readers;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	end_process(r);
	munmap(r->shared, sizeof(*r->shared));
	free(r);
}

/* Wait until there is something to read; not longer, however many signals there are. */
static bool can_read(int fd)
{
	const uint64_t until = hyptrace_now(CLOCK_MONOTONIC) / NSEC_PER_MSEC + PATIENCE_MSEC;
	struct pollfd from = { .fd = fd, .events = POLLIN };
	uint64_t now;
	int ret;

	do {
		now = hyptrace_now(CLOCK_MONOTONIC) / NSEC_PER_MSEC;
		ret = poll(&from, 1, now < until ? until - now : 0);
	} while (ret < 0 && errno == EINTR);
	return ret > 0;
}

/*
 * End a process that does not end, or whose sub-buffers nobody takes, and lose what it still had.
 * @taken bytes came from the pipe; the file has the first r->rest.
 */
static void give_up(struct tracefs_reader *r, int file, size_t taken)
{
	const size_t page = r->reader->subbuf_size;
	struct tracefs_shared *shared = r->shared;
	struct tracefs_counts counts = {};
	struct hyptrace_subbuf last = { .commit = HYPTRACE_COMMIT_MISSED };

	end_process(r);
	r->rest -= r->rest % page;
	shared->nr_written -= (count_unread(r) + taken - r->rest) / page;
	if (shared->nr_written)
		counts = shared->at[(shared->nr_written - 1) % TRACEFS_UNREAD_MAX];
	counts.lost = shared->found.lost;
	last.time_stamp = shared->last;
	if (pwrite(file, &last, sizeof(last), r->rest) != sizeof(last) ||
	    ftruncate(file, r->rest + page))
		return;
	r->rest += page;
	shared->at[shared->nr_written++ % TRACEFS_UNREAD_MAX] = counts;
}

/* Move all that the process still writes to a file. Return the file, or -1. */
static int collect(struct tracefs_reader *r)
{
	const size_t page = r->reader->subbuf_size;
	int file = memfd_create("hyptrace", MFD_CLOEXEC);
	size_t taken = 0;
	char buf[16 << 10];
	/* shared->at has a place for each sub-buffer, also in the pipe, and for the last one */
	const size_t max = (TRACEFS_UNREAD_MAX - 2) * page - PIPE_SIZE - sizeof(buf);
	ssize_t n = 1;

	while (file >= 0 && n) {
		if (taken >= max || !can_read(r->reader->fd)) {
			give_up(r, file, taken);
			break;
		}
		n = read(r->reader->fd, buf, sizeof(buf));
		taken += n > 0 ? n : 0;
		if (n > 0 && write(file, buf, n) != n) {
			/* there was no room: the last sub-buffer makes some, to say so */
			r->rest -= r->rest < page ? 0 : page;
			give_up(r, file, taken);
			break;
		}
		r->rest = taken;
	}
	if (file >= 0)
		lseek(file, 0, SEEK_SET);
	return file;
}

/* All that has happened so far can be read at once, without a wait; nothing follows. */
void hyptrace_tracefs_end_readers(struct tracefs *t)
{
	struct tracefs_reader *r;
	int file;

	for (r = t->readers; r; r = r->next) {
		__atomic_store_n(&r->shared->is_ending, true, __ATOMIC_RELEASE);
		if (r->pid > 0)
			kill(r->pid, SIGURG);	/* a process that has just begun ignores it */
	}
	for (r = t->readers; r; r = r->next) {
		file = r->has_ended ? -1 : collect(r);
		r->has_ended = true;
		if (file < 0)
			continue;
		dup3(file, r->reader->fd, O_CLOEXEC);
		close(file);
	}
}
