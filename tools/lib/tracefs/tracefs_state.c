// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a tracer in tracefs: what is on, and what a reader holds on. tracefs itself restores
 * nothing, so a process of its own does it, even if hyptrace is killed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "tracefs.h"

#define EVENTS_MAX	256
/* With hyptrace, the processes that read the pipes are killed, too: they need so long to end. */
#define READERS_END_USEC	500000

bool hyptrace_tracefs_read(int dir, const char *file, char *to, size_t size)
{
	auto_close int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && len < size - 1) {
		n = TEMP_FAILURE_RETRY(read(fd, to + len, size - 1 - len));
		len += MAX(n, 0);
	}
	to[len] = '\0';
	return !n && strlen(to) == len;
}

/* Return 0 or a negative errno. */
int hyptrace_tracefs_write(int dir, const char *file, const char *text)
{
	auto_close int fd = openat(dir, file, O_WRONLY | O_TRUNC | O_CLOEXEC);

	return fd < 0 || TEMP_FAILURE_RETRY(write(fd, text, strlen(text))) < 0 ? -errno : 0;
}

/* Drop what keeps the kernel's buffer loaded. Android unloads when a pipe is closed. */
void hyptrace_tracefs_drop(const struct tracefs *t)
{
	auto_close int pipe = -1;

	hyptrace_tracefs_write(t->dir, "trace", "0");
	pipe = openat(t->dir, "trace_pipe", O_RDONLY | O_CLOEXEC);
}

bool hyptrace_tracefs_is_on(const struct tracefs *t, const struct tracefs_event *event)
{
	const char *file = event ? event->enable : "tracing_on";
	char value[8] = "";

	return hyptrace_tracefs_read(t->dir, file, value, sizeof(value)) && *value == '1';
}

/* Switch an event, or tracing if that is NULL. Return 0 or a negative errno. */
int hyptrace_tracefs_enable(const struct tracefs *t, const struct tracefs_event *event, bool on)
{
	return hyptrace_tracefs_write(t->dir, event ? event->enable : "tracing_on", on ? "1" : "0");
}

static void restore(const struct tracefs *t)
{
	unsigned int i;

	if (t->holds_tracing)
		hyptrace_tracefs_enable(t, NULL, false);
	for (i = 0; i < t->nr_events; i++)
		if (t->events[i]->is_held)
			hyptrace_tracefs_enable(t, t->events[i], false);
}

/* In the new process: wait for a byte, or for the end of hyptrace. */
static __attribute__((noreturn)) void guard(const struct tracefs *t, int from)
{
	sigset_t all;
	char byte;
	bool is_asked;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* a signal for the process group of hyptrace is not for this process */
	setsid();
	hyptrace_tracefs_isolate(from, t->dir, t->dir);
	is_asked = read(from, &byte, 1) == 1;
	restore(t);
	if (!is_asked && t->holds_tracing && t->was_unloaded) {
		usleep(READERS_END_USEC);
		hyptrace_tracefs_drop(t);
	}
	_exit(0);
}

static int start_guard(struct tracefs *t, struct hyptrace_error *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return hyptrace_error_set(err, errno, "cannot make a socket: %m");
	t->guard_pid = fork();
	if (!t->guard_pid)
		guard(t, ends[0]);
	close(ends[0]);
	if (t->guard_pid > 0) {
		t->guard = ends[1];
		return 0;
	}
	close(ends[1]);
	return hyptrace_error_set(err, errno, "cannot start a process: %m");
}

void hyptrace_tracefs_release(struct tracefs *t)
{
	int status = -1;

	if (t->guard < 0)
		return;
	/* no SIGPIPE if somebody has killed it */
	send(t->guard, "", 1, MSG_NOSIGNAL);
	close(t->guard);
	t->guard = -1;
	TEMP_FAILURE_RETRY(waitpid(t->guard_pid, &status, 0));
	if (status)
		restore(t);
}

/* Hold events, and tracing, on while @reader is attached; without any, end all readers. */
int hyptrace_tracefs_hold(struct hyptrace_reader *reader, const uint16_t *ids, unsigned int nr,
			  bool tracing, struct hyptrace_error *err)
{
	struct tracefs *t = ((struct tracefs_reader *)reader->backend_arg)->of;
	const char *what = "tracing";
	unsigned int i, j;
	int ret;

	t->has_begun = true;
	hyptrace_tracefs_release(t);
	if (!nr && !tracing) {
		hyptrace_tracefs_end_readers(t);
		return 0;
	}
	t->holds_tracing = tracing && !hyptrace_tracefs_is_on(t, NULL);
	for (i = 0; i < t->nr_events; i++) {
		t->events[i]->is_held = false;
		for (j = 0; j < nr; j++)
			if (t->events[i]->id == ids[j])
				t->events[i]->is_held = !hyptrace_tracefs_is_on(t, t->events[i]);
	}
	ret = start_guard(t, err);
	if (ret)
		return ret;
	for (i = 0; !ret && i < t->nr_events; i++)
		if (t->events[i]->is_held) {
			what = t->events[i]->name;
			ret = hyptrace_tracefs_enable(t, t->events[i], true);
		}
	if (!ret && t->holds_tracing) {
		what = "tracing";
		ret = hyptrace_tracefs_enable(t, NULL, true);
	}
	if (!ret)
		return 0;
	hyptrace_tracefs_release(t);
	return hyptrace_error_set(err, -ret, "the kernel cannot enable %s: %m", what);
}

/* Are the records of the raw pipes as EL2 wrote them? Before 6.18 these have text by mistake. */
static bool has_raw(const struct tracefs *t)
{
	struct utsname name;
	unsigned int major, minor;

	return !faccessat(t->dir, "per_cpu/cpu0/trace_pipe_raw", F_OK, 0) && !uname(&name) &&
	       sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 18));
}

void hyptrace_tracefs_free_event(struct tracefs_event *event)
{
	free(event->enable);
	free(event->format);
	free(event);
}

/* Add an event whose format makes sense. Return false if there is no memory. */
static bool add_event(struct tracefs *t, const char *system, const char *name)
{
	char path[PATH_MAX], format[TRACEFS_FORMAT_MAX];
	struct tracefs_event *event;

	snprintf(path, sizeof(path), "events/%s/%s/format", system, name);
	if (t->nr_events == EVENTS_MAX || strlen(name) > TRACEFS_NAME_MAX ||
	    !hyptrace_tracefs_read(t->dir, path, format, sizeof(format)))
		return true;
	event = hyptrace_list_add(&t->events, &t->nr_events, sizeof(*event));
	if (!event)
		return false;
	strcpy(event->name, name);
	strcpy(path + strlen(path) - strlen("format"), "enable");
	event->enable = strdup(path);
	event->format = strdup(format);
	if (!event->enable || !event->format)
		return false;
	if (!hyptrace_tracefs_parse_format(event, t->is_raw)) {
		hyptrace_tracefs_free_event(event);
		t->events[--t->nr_events] = NULL;
	}
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct tracefs_event *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Find the events of a system, or the systems. Return false if there is no memory. */
static bool scan(struct tracefs *t, const char *system)
{
	char path[PATH_MAX] = "events";
	bool is_done = true;
	struct dirent *entry;
	DIR *dir;
	int fd;

	if (system)
		snprintf(path, sizeof(path), "events/%s", system);
	fd = openat(t->dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && is_done && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			is_done = system ? add_event(t, system, entry->d_name) :
					   scan(t, entry->d_name);
	if (dir)
		closedir(dir);
	return is_done;
}

int hyptrace_tracefs_load(struct tracefs *t, struct hyptrace_error *err)
{
	char size[64];

	t->is_raw = has_raw(t);
	if (!scan(t, NULL))
		return hyptrace_error_memory(err);
	if (!t->nr_events)
		return hyptrace_error_set(err, ENOENT, "%s/events has no events", t->path);
	qsort(t->events, t->nr_events, sizeof(*t->events), by_name);
	t->was_unloaded = hyptrace_tracefs_read(t->dir, "buffer_size_kb", size, sizeof(size)) &&
			  strstr(size, "(unloaded)");
	return 0;
}
