// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver within the command: the linker has these calls of hyptrace come here (--wrap), so that
 * "hyptrace record" runs on the host, on rings of hyp/. Whenever the command waits for events,
 * each CPU does something. The environment says what:
 *
 *	FAKE_CPUS	number of CPUs (2)
 *	FAKE_PAGES	sub-buffers of each ring (64)
 *	FAKE_STEP	events that each CPU tries to record during a wait (1000)
 *	FAKE_SLEEP	microseconds that a wait takes (0)
 *	FAKE_WAITS	send SIGINT to the command after so many waits
 *	FAKE_DISCARD	the rings discard, not overwrite
 *	FAKE_MARKS	only marks (the event selftest), each CPU with numbers from 0 on
 *	FAKE_BEFORE	events that the rings hold before the command begins
 *	FAKE_CLEAR	clear the rings at this wait
 *	FAKE_GONE	unregister the remote at this wait
 *	FAKE_ENABLED	0: no event is enabled
 *	FAKE_NOTIFY	so many milliseconds after the command has begun to listen, this counts as a
 *			wait, the rings are cleared if FAKE_CLEAR says so, and the command is
 *			notified of a change; without it, it may not listen
 *	FAKE_PACE	1: while events are held, each read lets the CPUs run, too; the host's
 *			buffers have no end until its tracing is off
 *	FAKE_FILTER	text of the filter that hyp_exit has
 *	FAKE_FILTERED	events of each CPU that it refuses during the first wait
 *	FAKE_DISABLED	disable hyp_enter at this wait
 *	FAKE_STOP	switch tracing off at this wait, and on again at the wait FAKE_START
 *	FAKE_FIRED	the trigger of hyp_enter stops the recording at this wait
 *	FAKE_BUSY	process id of another consumer of CPU 1
 *	FAKE_LOG	file for what the command asks of the driver, a line each
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../../tools/lib/file/write/file_write.h"
#include "describe.h"
#include "rings.h"

#define REMOTE		"hypervisor"
#define BOOT_TIME	UINT64_C(1000000000000)

/* Descriptors of the program */
#define FD_MAX		1024

static struct hyptrace connection;
static struct hyptrace_file_meta remote;
static struct hyptrace_map_meta map_meta[RINGS_MAX];
/* 1 plus the CPU whose reader has the descriptor */
static unsigned int cpu_of[FD_MAX];
static unsigned int ready_data[RINGS_MAX];
static bool in_epoll[RINGS_MAX];
/* of a recording: always readable, so that each wait ends at once */
static int rings_epoll = -1;
static unsigned int cpus, waits, clears;
static uint64_t tried;
static bool gone, held, is_recording;

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void __attribute__((format(printf, 1, 2))) note(const char *fmt, ...)
{
	const char *path = getenv("FAKE_LOG");
	va_list ap;
	FILE *f;

	f = path ? fopen(path, "a") : NULL;
	if (!f)
		return;
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fputc('\n', f);
	fclose(f);
}

static void let_cpus_run(uint64_t events)
{
	unsigned int cpu;

	tried += events;
	for (cpu = 0; cpu < cpus; cpu++)
		scenario_step(cpu, tried);
}

struct hyptrace *__wrap_hyptrace_open(struct hyptrace_error *err)
{
	(void)err;
	cpus = number("FAKE_CPUS", 2);
	remote.info.remote = strdup(REMOTE);
	describe_remote(&remote);
	scenario_only(number("FAKE_MARKS", 0));
	rings_begin(cpus, number("FAKE_PAGES", 64), number("FAKE_DISCARD", 0), BOOT_TIME);
	let_cpus_run(number("FAKE_BEFORE", 0));
	return &connection;
}

void __wrap_hyptrace_close(struct hyptrace *h)
{
	(void)h;
}

/* Has something happened that a variable says at which wait it happens? */
static bool has_come(const char *name)
{
	return waits >= number(name, UINT64_MAX);
}

static int no_remote(struct hyptrace_error *err)
{
	return hyptrace_error_set(err, ENODEV, "no such remote");
}

int __wrap_hyptrace_get_remote(struct hyptrace *h, const char *name, struct hyptrace_remote **out,
			       struct hyptrace_error *err)
{
	struct hyptrace_remote *r;

	(void)h;
	(void)name;
	if (gone)
		return no_remote(err);
	r = calloc(1, sizeof(*r));
	strcpy(r->name, REMOTE);
	r->description = strdup("rings on the host");
	r->clock = strdup("boot");
	r->state = has_come("FAKE_STOP") && !has_come("FAKE_START") ? HYPTRACE_STATE_LOADED :
		   HYPTRACE_STATE_TRACING;
	r->nr_fired = has_come("FAKE_FIRED");
	r->fired[0].action = HYPTRACE_TRIGGER_ACTION_STOP;
	strcpy(r->fired[0].event, "hyp_enter");
	r->mode = number("FAKE_DISCARD", 0) ? HYPTRACE_MODE_DISCARD : HYPTRACE_MODE_OVERWRITE;
	r->subbuf_size = RINGS_SUBBUF;
	r->nr_subbufs = number("FAKE_PAGES", 64);
	r->size_requested = (uint64_t)r->nr_subbufs * RINGS_SUBBUF;
	r->nr_cpus = cpus;
	*out = r;
	return 0;
}

int __wrap_hyptrace_get_remotes(struct hyptrace *h, struct hyptrace_remote ***remotes,
				unsigned int *nr, struct hyptrace_error *err)
{
	*remotes = calloc(2, sizeof(**remotes));
	*nr = 1;
	return __wrap_hyptrace_get_remote(h, REMOTE, *remotes, err);
}

static struct hyptrace_cpu *new_cpu(unsigned int id)
{
	struct hyptrace_cpu *cpu = calloc(1, sizeof(*cpu));
	struct ring_counts counts;
	struct ring_map map;

	rings_count(id, &counts);
	rings_look(id, &map);
	strcpy(cpu->remote, REMOTE);
	cpu->id = id;
	cpu->online = true;
	cpu->nr_subbufs = map.nr;
	cpu->used_subbufs = map.used;
	cpu->read = counts.read;
	cpu->clears = clears;
	if (number("FAKE_DISCARD", 0))
		cpu->dropped = counts.lost;
	else
		cpu->overrun = counts.lost;
	cpu->filtered = waits ? number("FAKE_FILTERED", 0) : 0;
	cpu->unread = counts.unread;
	cpu->unreported = counts.unreported;
	cpu->consumer = id == 1 ? number("FAKE_BUSY", 0) : 0;
	return cpu;
}

int __wrap_hyptrace_get_cpu(struct hyptrace *h, const char *name, unsigned int id,
			    struct hyptrace_cpu **cpu, struct hyptrace_error *err)
{
	(void)h;
	(void)name;
	if (gone)
		return no_remote(err);
	*cpu = new_cpu(id);
	return 0;
}

int __wrap_hyptrace_get_cpus(struct hyptrace *h, const char *name, struct hyptrace_cpu ***out,
			     unsigned int *nr, struct hyptrace_error *err)
{
	unsigned int i;

	(void)h;
	(void)name;
	if (gone)
		return no_remote(err);
	*out = calloc(cpus + 1, sizeof(**out));
	for (i = 0; i < cpus; i++)
		(*out)[i] = new_cpu(i);
	*nr = cpus;
	return 0;
}

int __wrap_hyptrace_get_events(struct hyptrace *h, const char *name,
			       struct hyptrace_event ***events, unsigned int *nr,
			       struct hyptrace_error *err)
{
	struct hyptrace_file_meta copy = { .info.remote = remote.info.remote };
	unsigned int i;

	(void)h;
	(void)name;
	if (gone)
		return no_remote(err);
	describe_remote(&copy);
	hyptrace_free_hypercalls(copy.info.calls);
	for (i = 0; i < copy.info.nr_events; i++) {
		copy.info.events[i]->enabled = number("FAKE_ENABLED", 1);
		if (!strcmp(copy.info.events[i]->name, "hyp_enter") && has_come("FAKE_DISABLED"))
			copy.info.events[i]->enabled = false;
		if (!strcmp(copy.info.events[i]->name, "hyp_exit") && getenv("FAKE_FILTER"))
			copy.info.events[i]->filter = strdup(getenv("FAKE_FILTER"));
	}
	*events = copy.info.events;
	*nr = copy.info.nr_events;
	return 0;
}

int __wrap_hyptrace_get_hypercalls(struct hyptrace *h, const char *name,
				   struct hyptrace_hypercall ***calls, unsigned int *nr,
				   struct hyptrace_error *err)
{
	struct hyptrace_file_meta copy = { .info.remote = remote.info.remote };

	(void)h;
	(void)name;
	(void)err;
	describe_remote(&copy);
	hyptrace_free_events(copy.info.events);
	*calls = copy.info.calls;
	*nr = copy.info.nr_calls;
	return 0;
}

int __wrap_hyptrace_set_events(struct hyptrace *h, const char *name, const char *const *names,
			       unsigned int nr, bool enable,
			       const struct hyptrace_event_options *options,
			       struct hyptrace_error *err)
{
	unsigned int i;

	(void)h;
	(void)name;
	(void)err;
	for (i = 0; i < nr; i++)
		note("%s %s %s",
		     options && options->flags & HYPTRACE_EVENT_HOLD ? "hold" : "set", names[i],
		     enable ? "enabled" : "disabled");
	return 0;
}

int __wrap_hyptrace_release_events(struct hyptrace *h, const char *name,
				   struct hyptrace_error *err)
{
	(void)h;
	(void)name;
	(void)err;
	note("release");
	return 0;
}

int __wrap_hyptrace_control(struct hyptrace *h, int cmd, const char *name, int cpu,
			    const struct hyptrace_settings *settings, struct hyptrace_error *err)
{
	(void)h;
	(void)name;
	(void)cpu;
	(void)settings;
	(void)err;
	if (cmd == HYPTRACE_CMD_SET)
		note("set");
	else
		note("control %d", cmd);
	return 0;
}

/* The command only has a pointer to a listener. */
static int timer = -1;

struct hyptrace_listener *__wrap_hyptrace_listener_open(struct hyptrace *h,
							struct hyptrace_error *err)
{
	const uint64_t msec = number("FAKE_NOTIFY", 0);
	const struct itimerspec when = {
		.it_value = { msec / 1000, msec % 1000 * 1000000 },
	};

	(void)h;
	if (!msec) {
		hyptrace_error_set(err, EPERM, "permission denied");
		return NULL;
	}
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	timerfd_settime(timer, 0, &when, NULL);
	return (struct hyptrace_listener *)&timer;
}

void __wrap_hyptrace_listener_close(struct hyptrace_listener *listener)
{
	if (listener)
		close(timer);
}

int __wrap_hyptrace_listener_fd(const struct hyptrace_listener *listener)
{
	return *(const int *)listener;
}

static void clear_if_due(void)
{
	unsigned int cpu;

	if (waits != number("FAKE_CLEAR", 0))
		return;
	clears++;
	for (cpu = 0; cpu < cpus; cpu++)
		rings_clear(cpu);
}

ssize_t __real_read(int fd, void *to, size_t size);

int __wrap_hyptrace_listener_read(struct hyptrace_listener *listener, hyptrace_notification_fn fn,
				  void *arg, struct hyptrace_error *err)
{
	struct hyptrace_remote *r;
	uint64_t times;
	int ret;

	if (__real_read(*(int *)listener, &times, sizeof(times)) < 0 ||
	    __wrap_hyptrace_get_remote(NULL, REMOTE, &r, err))
		return 0;
	waits++;
	clear_if_due();
	ret = fn(&(struct hyptrace_notification){
			.type = HYPTRACE_NOTIFICATION_REMOTE, .remote = r,
		 }, arg);
	hyptrace_free_remote(r);
	return ret;
}

static struct hyptrace_reader *new_reader(int cpu, struct hyptrace_error *err)
{
	struct hyptrace_reader *reader;

	if (cpu == 1 && getenv("FAKE_BUSY")) {
		hyptrace_error_set(err, EBUSY, "another process is reading it");
		return NULL;
	}
	reader = calloc(1, sizeof(*reader));
	reader->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	reader->subbuf_size = RINGS_SUBBUF;
	cpu_of[reader->fd] = cpu + 1;
	return reader;
}

struct hyptrace_reader *__wrap_hyptrace_reader_open_on(struct hyptrace *h, const char *name,
						       int cpu, int flags,
						       struct hyptrace_error *err)
{
	(void)h;
	(void)name;
	(void)flags;
	return new_reader(cpu, err);
}

struct hyptrace_reader *__wrap_hyptrace_reader_open_snapshot_on(struct hyptrace *h,
								const char *name, int cpu,
								struct hyptrace_error *err)
{
	struct hyptrace_reader *reader = new_reader(cpu, err);
	struct hyptrace_map_meta *meta = &map_meta[cpu];
	struct ring_map map;

	(void)h;
	(void)name;
	rings_look(cpu, &map);
	meta->buffer.meta_struct_len = sizeof(*meta);
	meta->buffer.subbuf_size = RINGS_SUBBUF;
	meta->buffer.nr_subbufs = map.nr;
	meta->buffer.reader.id = map.id;
	meta->buffer.reader.read = map.consumed;
	meta->begin = map.begin;
	reader->meta = &meta->buffer;
	reader->data = map.pages;
	reader->data_size = (size_t)map.nr * RINGS_SUBBUF;
	return reader;
}

void __wrap_hyptrace_reader_close(struct hyptrace_reader *reader)
{
	if (!reader)
		return;
	cpu_of[reader->fd] = 0;
	close(reader->fd);
	free(reader);
}

int __wrap_hyptrace_reader_watermark(struct hyptrace_reader *reader, uint32_t usec,
				     uint32_t percent, struct hyptrace_error *err)
{
	(void)reader;
	(void)usec;
	(void)err;
	is_recording |= percent;
	return 0;
}

int __wrap_hyptrace_reader_hold(struct hyptrace_reader *reader, const uint16_t *events,
				unsigned int nr, bool tracing, struct hyptrace_error *err)
{
	(void)reader;
	(void)events;
	(void)err;
	held = tracing;
	note("hold %u events%s", nr, tracing ? " and tracing" : "");
	return 0;
}

static int ring_of(int fd)
{
	return fd >= 0 && fd < FD_MAX ? (int)cpu_of[fd] - 1 : -1;
}

static ssize_t none(int errnum)
{
	errno = errnum;
	return -1;
}

/* Move sub-buffers of a ring to memory or to an empty pipe. */
static ssize_t take(int cpu, char *to, int pipe, size_t size)
{
	char subbuf[RINGS_SUBBUF];
	size_t done = 0;

	if (gone)
		return none(ENODEV);
	if (held && number("FAKE_PACE", 0))
		let_cpus_run(number("FAKE_STEP", 1000));
	while (size - done >= RINGS_SUBBUF && rings_take(cpu, subbuf)) {
		if (to)
			memcpy(to + done, subbuf, RINGS_SUBBUF);
		else if (write(pipe, subbuf, RINGS_SUBBUF) != RINGS_SUBBUF)
			abort();
		done += RINGS_SUBBUF;
	}
	return done ? (ssize_t)done : none(EAGAIN);
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	return ring_of(fd) < 0 ? __real_read(fd, to, size) : take(ring_of(fd), to, -1, size);
}

ssize_t __real_splice(int from, off_t *from_at, int to, off_t *to_at, size_t size,
		      unsigned int flags);

ssize_t __wrap_splice(int from, off_t *from_at, int to, off_t *to_at, size_t size,
		      unsigned int flags)
{
	ssize_t n;

	if (ring_of(from) >= 0)
		return take(ring_of(from), NULL, to, size);
	n = __real_splice(from, from_at, to, to_at, size, flags);
	if (n || !held || !number("FAKE_PACE", 0) || lseek(from, 0, SEEK_SET))
		return n;
	return __real_splice(from, from_at, to, to_at, size, flags);
}

int __real_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);

int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	int cpu = ring_of(fd);

	if (cpu < 0)
		return __real_epoll_ctl(epoll, op, fd, event);
	in_epoll[cpu] = true;
	ready_data[cpu] = event->data.u32;
	if (is_recording)
		rings_epoll = epoll;
	return 0;
}

static void act(void)
{
	usleep(number("FAKE_SLEEP", 0));
	let_cpus_run(number("FAKE_STEP", 1000));
	waits++;
	clear_if_due();
	if (waits == number("FAKE_GONE", 0))
		gone = true;
	if (waits == number("FAKE_WAITS", 0))
		raise(SIGINT);
}

int __real_epoll_wait(int epoll, struct epoll_event *events, int max, int timeout);

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int max, int timeout)
{
	unsigned int cpu;
	int nr;

	(void)timeout;
	act();
	nr = __real_epoll_wait(epoll, events, max - (int)cpus, 0);
	if (nr < 0)
		return nr;
	for (cpu = 0; cpu < cpus; cpu++)
		if (in_epoll[cpu])
			events[nr++] = (struct epoll_event){
				.events = EPOLLIN, .data.u32 = ready_data[cpu],
			};
	return nr;
}

int __real_poll(struct pollfd *fds, nfds_t nr, int timeout);

int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	nfds_t i;
	int ret;

	for (i = 0; i < nr && (rings_epoll < 0 || fds[i].fd != rings_epoll); i++)
		;
	ret = __real_poll(fds, nr, i < nr ? 0 : timeout);
	if (i == nr || ret < 0)
		return ret;
	ret += !fds[i].revents;
	fds[i].revents |= POLLIN;
	return ret;
}
