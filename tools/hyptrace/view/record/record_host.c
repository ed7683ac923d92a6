// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's own tracing: an instance of tracefs that belongs to this recording. Another process,
 * the guard, removes it, however this one ends: it waits until this one closes a pipe.
 *
 * --host names events as trace-cmd takes them: "kvm:kvm_exit", "kvm" (a system) or "kvm_exit" (in
 * any system), with globs. In a trace file, an id stands for one event. The ids of the kernel and
 * those of a remote both begin with small numbers, so those of the kernel are moved up.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/wait.h>

#include <traceevent/kbuffer.h>
#include <tracefs.h>

#include "output/die.h"
#include "record.h"

/* The clock of remotes that tracefs has, too */
#define CLOCK		"boot"

/* Sub-buffers to read at once; a pipe holds so many at least */
#define AT_ONCE		16

/* How often a CPU is read in a row at most: reading may itself make events, which never ends */
#define BATCHES		64

/* How often the guard tries to remove the instance: a reader may still have it open */
#define REMOVE_TRIES	250
#define REMOVE_PAUSE_USEC	20000

#define NAMES_MAX	100

/* All ids of remotes are lower. */
#define ID_OFFSET	16384

/* Its events are those of tracers: they cannot be enabled. */
#define TRACERS		"ftrace"

static int fail(const char *what)
{
	return cmd_fail("cannot record the host: %s: %s", what, strerror(errno));
}

static int list_events(struct record_host *host)
{
	char **systems = tracefs_event_systems(NULL), **system, **events, **event;
	unsigned int nr;

	if (!systems && errno == ENOENT)
		return cmd_fail("cannot record the host: this kernel has no tracefs, or it is not mounted");
	if (!systems)
		return fail("cannot read the events of tracefs");
	for (system = systems; *system; system++) {
		events = strcmp(*system, TRACERS) ? tracefs_system_events(NULL, *system) : NULL;
		for (event = events; event && *event; event++) {
			nr = host->nr_events;
			*xappend(host->systems, nr) = xstrdup(*system);
			*xappend(host->names, host->nr_events) = xstrdup(*event);
		}
		tracefs_list_free(events);
	}
	tracefs_list_free(systems);
	return EXIT_DONE;
}

static int fail_unknown(const struct record_host *host, const char *word)
{
	const char *colon = strchr(word, ':'), *name = colon ? colon + 1 : word;
	const char *best = NULL, *system = NULL, *near;
	unsigned int i;

	for (i = 0; i < host->nr_events && !strpbrk(word, "*?["); i++) {
		near = colon ? best : hyptrace_nearest(name, best, host->systems[i]);
		if (near != best)
			system = NULL;
		best = hyptrace_nearest(name, near, host->names[i]);
		if (best != near)
			system = host->systems[i];
	}
	if (!best)
		return cmd_fail("cannot record the host: tracefs has no event \"%s\"", word);
	return cmd_fail("cannot record the host: tracefs has no event \"%s\"; did you mean \"%s%s%s\"?",
			word, system ?: "", system ? ":" : "", best);
}

static int choose_events(struct record_host *host)
{
	auto_free bool *named = NULL;
	const struct words *words = &host->words;
	int code = list_events(host);
	unsigned int i, j, nr = 0;

	named = xcalloc(host->nr_events + 1, sizeof(*named));
	for (i = 0; i < words->nr && !code; i++) {
		const char *word = words->words[i], *colon = strchr(word, ':');
		auto_free char *system = colon ? xstrndup(word, colon - word) : NULL;
		bool found = false;

		for (j = 0; j < host->nr_events; j++) {
			const bool in = !fnmatch(system ?: word, host->systems[j], 0);
			const bool is = !fnmatch(colon ? colon + 1 : word, host->names[j], 0);

			named[j] |= colon ? in && is : in || is;
			found |= colon ? in && is : in || is;
		}
		if (!found)
			code = fail_unknown(host, words->words[i]);
	}
	for (j = 0; j < host->nr_events; j++) {
		if (!named[j]) {
			free(host->systems[j]);
			free(host->names[j]);
			continue;
		}
		host->systems[nr] = host->systems[j];
		host->names[nr++] = host->names[j];
	}
	host->nr_events = nr;
	host->formats = xcalloc(nr + 1, sizeof(*host->formats));
	return code;
}

static char *renumber_format(const char *format)
{
	static const char begin[] = "\nID: ";
	const char *at = strstr(format, begin);
	unsigned long id;
	char *end;

	if (!at || !isdigit((unsigned char)at[strlen(begin)]))
		return NULL;
	at += strlen(begin);
	id = strtoul(at, &end, 10);
	if (id > UINT16_MAX - ID_OFFSET)
		return NULL;
	return xasprintf("%.*s%lu%s", (int)(at - format), format, id + ID_OFFSET, end);
}

static int read_formats(struct record_host *host)
{
	unsigned int i;

	for (i = 0; i < host->nr_events; i++) {
		auto_free char *text = tracefs_event_file_read(host->instance, host->systems[i],
							       host->names[i], "format", NULL);

		if (text)
			host->formats[i] = renumber_format(text);
		if (!host->formats[i])
			return cmd_fail("cannot record the host: cannot read the format of \"%s/%s\"",
					host->systems[i], host->names[i]);
	}
	return EXIT_DONE;
}

/* Give the events of a sub-buffer the ids that they have in the file. Return their number. */
static uint64_t renumber(struct record_host *host, void *subbuf)
{
	unsigned long long ts;
	uint64_t events = 0;
	uint16_t id;
	void *data;

	kbuffer_load_subbuffer(host->kbuf, subbuf);
	for (data = kbuffer_read_event(host->kbuf, &ts); data;
	     data = kbuffer_next_event(host->kbuf, &ts)) {
		memcpy(&id, data, sizeof(id));
		id += ID_OFFSET;
		memcpy(data, &id, sizeof(id));
		events++;
	}
	return events;
}

static int write_file(struct record_host *host, const char *name, const char *text)
{
	if (tracefs_instance_file_write(host->instance, name, text) >= 0)
		return EXIT_DONE;
	return cmd_fail("cannot record the host: cannot write \"%s\" to %s of tracefs: %s", text,
			name, strerror(errno));
}

static void run_guard(struct tracefs_instance *instance, int fd)
{
	unsigned int tries;
	int other;
	char c;

	/* what ends the recording must not end the guard */
	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (other = sysconf(_SC_OPEN_MAX) > 4096 ? 4096 : sysconf(_SC_OPEN_MAX); other >= 0;
	     other--)
		if (other != fd)
			close(other);
	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
	for (tries = 0; tries < REMOVE_TRIES; tries++) {
		if (tries)
			usleep(REMOVE_PAUSE_USEC);
		if (!tracefs_instance_destroy(instance) || errno == ENOENT)
			_exit(0);
	}
	_exit(1);
}

/* Start the guard, which has none of the descriptors that are opened later. */
static int start_guard(struct record_host *host)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return fail("cannot make a pipe");
	host->guard = fork();
	if (!host->guard) {
		close(fds[1]);
		run_guard(host->instance, fds[0]);
	}
	close(fds[0]);
	if (host->guard > 0) {
		host->guard_fd = fds[1];
		return EXIT_DONE;
	}
	close(fds[1]);
	host->guard = 0;
	return fail("cannot start a process");
}

/* Make an instance that nobody else has, not even a recording that was killed. */
static int make_instance(struct record_host *host)
{
	struct tracefs_instance *instance;
	unsigned int i;
	char name[48];
	int code;

	errno = EEXIST;
	for (i = 0; i < NAMES_MAX; i++) {
		snprintf(name, sizeof(name), i ? "hyptrace-%d-%u" : "hyptrace-%d", getpid(), i);
		instance = tracefs_instance_create(name);
		if (!instance)
			break;
		if (tracefs_instance_is_new(instance)) {
			host->instance = instance;
			code = start_guard(host);
			if (code)
				tracefs_instance_destroy(instance);
			return code;
		}
		tracefs_instance_free(instance);
		errno = EEXIST;
	}
	return fail("cannot make an instance of tracefs");
}

/* Sub-buffers of the host must have the size of those of the remote. */
static int set_subbuf_size(struct record_host *host)
{
	static const char name[] = "buffer_subbuf_size_kb";
	char kb[32];

	snprintf(kb, sizeof(kb), "%u", host->subbuf_size >> 10);
	if (tracefs_file_exists(host->instance, name))
		return write_file(host, name, kb);
	if (sysconf(_SC_PAGESIZE) == host->subbuf_size)
		return EXIT_DONE;
	return cmd_fail("cannot record the host: its sub-buffers have %ld bytes, those of the remote %u",
			sysconf(_SC_PAGESIZE), host->subbuf_size);
}

static char *cpu_file(unsigned int cpu, const char *name)
{
	return xasprintf("per_cpu/cpu%u/%s", cpu, name);
}

static int open_cpus(struct record *r)
{
	const struct context *ctx = r->session.ctx;
	struct record_host *host = &r->host;
	char *path = tracefs_instance_get_file(host->instance, "per_cpu");
	auto_free struct dirent **cpus = NULL;
	int nr, i, fd, code = EXIT_DONE;
	unsigned int id, nr_ids;

	nr = path ? scandir(path, &cpus, NULL, versionsort) : 0;
	for (i = 0; i < nr; i++) {
		if (!code && sscanf(cpus[i]->d_name, "cpu%u", &id) == 1 &&
		    (!ctx->have_cpus || cpu_list_has(&ctx->cpus, id))) {
			auto_free char *name = cpu_file(id, "trace_pipe_raw");

			nr_ids = host->nr_cpus;
			*xappend(host->ids, nr_ids) = id;
			fd = tracefs_instance_file_open(host->instance, name,
							O_RDONLY | O_NONBLOCK | O_CLOEXEC);
			*xappend(host->cpus, host->nr_cpus) =
				(struct record_host_cpu){ .id = id, .fd = fd };
			code = fd < 0 ? fail("cannot open the events of a CPU") : EXIT_DONE;
		}
		free(cpus[i]);
	}
	tracefs_put_tracing_file(path);
	if (!code && !host->nr_cpus)
		code = cmd_fail("cannot record the host: tracefs lists none of the CPUs");
	return code;
}

/* The caller calls record_host_end() in any case. */
int record_host_begin(struct record *r)
{
	struct record_host *host = &r->host;
	unsigned int i;
	int code;

	host->subbuf_size = r->session.remote->subbuf_size;
	tracefs_set_loglevel(TEP_LOG_NONE);
	if (strcmp(r->session.clock, CLOCK))
		return cmd_fail("cannot record the host beside \"%s\": its clock is \"%s\", not \"%s\"",
				r->session.name, r->session.clock, CLOCK);
	if (!tracefs_tracing_dir())
		return cmd_fail("cannot record the host: this kernel has no tracefs, or it cannot be mounted");
	code = choose_events(host) ?: make_instance(host) ?:
	       write_file(host, "tracing_on", "0") ?: write_file(host, "trace_clock", CLOCK) ?:
	       set_subbuf_size(host) ?: read_formats(host) ?: open_cpus(r);
	if (code)
		return code;
	if (pipe2(host->pipe, O_CLOEXEC))
		return fail("cannot make a pipe");
	host->subbufs = xmalloc((size_t)AT_ONCE * host->subbuf_size);
	host->kbuf = or_die(kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST));
	for (i = 0; i < host->nr_events; i++)
		if (tracefs_event_file_write(host->instance, host->systems[i], host->names[i],
					     "enable", "1") < 0)
			return cmd_fail("cannot record the host: cannot enable \"%s:%s\": %s",
					host->systems[i], host->names[i], strerror(errno));
	return EXIT_DONE;
}

int record_host_switch(struct record *r, bool on)
{
	int code = write_file(&r->host, "tracing_on", on ? "1" : "0");

	r->host.is_stopped = !on && !code;
	return code;
}

void record_host_end(struct record *r)
{
	struct record_host *host = &r->host;
	unsigned int i;
	int status = 0;
	char *path;

	for (i = 0; i < host->nr_cpus; i++)
		if (host->cpus[i].fd >= 0)
			close(host->cpus[i].fd);
	if (host->kbuf) {
		close(host->pipe[0]);
		close(host->pipe[1]);
	}
	if (host->guard) {
		close(host->guard_fd);
		TEMP_FAILURE_RETRY(waitpid(host->guard, &status, 0));
	}
	if (status) {
		path = tracefs_instance_get_dir(host->instance);
		cmd_note("cannot remove the instance of tracefs: remove %s", path ? path : "it");
		tracefs_put_tracing_file(path);
	}
	if (host->instance)
		tracefs_instance_free(host->instance);
	for (i = 0; i < host->nr_events; i++) {
		free(host->systems[i]);
		free(host->names[i]);
		free(host->formats[i]);
	}
	free(host->systems);
	free(host->names);
	free(host->formats);
	free(host->ids);
	free(host->cpus);
	free(host->subbufs);
	kbuffer_free(host->kbuf);
}

/* What was read: 0 if there is nothing, or a negative errno */
static ssize_t result(ssize_t n)
{
	if (n >= 0)
		return n;
	/* a CPU that was never online has no buffer */
	return errno == EAGAIN || errno == ENODEV ? 0 : -errno;
}

/* Bytes of sub-buffers that the file has room for, at most those to read at once */
static size_t room_for(struct record *r)
{
	size_t room = (size_t)AT_ONCE * r->host.subbuf_size;

	while (room > r->host.subbuf_size && hyptrace_file_is_full(r->file.w, room))
		room /= 2;
	return hyptrace_file_is_full(r->file.w, room) ? 0 : room;
}

/* Read full sub-buffers. Return their bytes, 0 if there are none, or a negative errno. */
static ssize_t read_full(struct record_host *host, int fd, size_t size)
{
	ssize_t n;

	n = TEMP_FAILURE_RETRY(splice(fd, NULL, host->pipe[1], NULL, size, SPLICE_F_NONBLOCK));
	/* all of it is in the pipe */
	if (n > 0)
		n = TEMP_FAILURE_RETRY(read(host->pipe[0], host->subbufs, n));
	n = result(n);
	return n < 0 ? n : n - n % host->subbuf_size;
}

static int drain_cpu(struct record *r, struct record_host_cpu *cpu, bool partial,
		     struct hyptrace_error *err)
{
	const unsigned int id = cpu->id | HYPTRACE_FILE_OF_HOST;
	struct record_host *host = &r->host;
	bool is_last = false;
	ssize_t n, at;
	size_t room;
	int ret;

	/* once tracing is off, until nothing is left */
	while (!is_last && (host->is_stopped || (host->batches++ < BATCHES && !signals_stop))) {
		/* what was read must fit */
		room = room_for(r);
		err->errnum = EOVERFLOW;
		if (!room)
			return -EOVERFLOW;
		n = read_full(host, cpu->fd, room);
		if (!n && partial) {
			/* a sub-buffer that may not be full */
			n = result(TEMP_FAILURE_RETRY(read(cpu->fd, host->subbufs,
							   host->subbuf_size)));
			if (n > 0 && n != (ssize_t)host->subbuf_size)
				n = 0;
			is_last = !host->is_stopped;
		}
		if (n < 0) {
			err->errnum = -n;
			snprintf(err->text, sizeof(err->text),
				 "cannot read the events of CPU %u: %s", cpu->id, strerror(-n));
			return n;
		}
		for (at = 0; at < n; at += host->subbuf_size)
			cpu->events += renumber(host, host->subbufs + at);
		ret = hyptrace_file_write(r->file.w, id, host->subbufs, n, err);
		if (ret || !n)
			return ret;
	}
	host->has_more |= !is_last;
	return 0;
}

/* Move what the host has recorded to the file, maybe not all. After -EOVERFLOW, call it again. */
int record_host_drain(struct record *r, bool partial, struct hyptrace_error *err)
{
	struct record_host *host = &r->host;
	int ret;

	if (!host->at)
		host->has_more = false;
	for (; host->at < host->nr_cpus; host->at++) {
		ret = drain_cpu(r, &host->cpus[host->at], partial, err);
		if (ret)
			return ret;
		host->batches = 0;
	}
	host->at = 0;
	return 0;
}

static uint64_t get_stat(const char *stats, const char *name)
{
	const char *at = stats ? strstr(stats, name) : NULL;

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

void record_host_count(struct record *r)
{
	struct record_host *host = &r->host;
	struct record_host_cpu *cpu;
	auto_free char *tasks = NULL;
	uint64_t lost;

	if (!r->file.w)
		return;
	for (cpu = host->cpus; cpu < host->cpus + host->nr_cpus; cpu++) {
		auto_free char *name = cpu_file(cpu->id, "stats");
		auto_free char *stats = tracefs_instance_file_read(host->instance, name, NULL);

		lost = get_stat(stats, "\noverrun: ") + get_stat(stats, "\ncommit overrun: ") +
		       get_stat(stats, "\ndropped events: ");
		hyptrace_file_set_counts(r->file.w, cpu->id | HYPTRACE_FILE_OF_HOST, cpu->events,
					 lost - cpu->lost, 0);
		cpu->sum.events += cpu->events;
		cpu->sum.lost += lost - cpu->lost;
		cpu->events = 0;
		cpu->lost = lost;
	}
	tasks = tracefs_instance_file_read(NULL, "saved_cmdlines", NULL);
	if (tasks)
		hyptrace_file_set_host_tasks(r->file.w, tasks);
}
