// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open the kernel's own tracer of EL2 in tracefs as a connection.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "tracefs.h"

#define NAME_ID_MAX	UINT16_MAX
#define NAMES_RULE	"not a number and the name of a hypercall"
#define PREFIX		"tracefs_"
#define NOT_MOUNTED	" (tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing)"

static void close_source(void *arg)
{
	struct tracefs *t = arg;
	unsigned int i;

	hyptrace_tracefs_release(t);
	if (t->holds_tracing && t->was_unloaded && !hyptrace_tracefs_is_on(t, NULL))
		hyptrace_tracefs_drop(t);
	for (i = 0; i < t->nr_events; i++) {
		free(t->events[i].dir);
		free(t->events[i].format);
	}
	for (i = 0; i < t->names.nr; i++)
		free(t->names.by_id[i]);
	free(t->names.by_id);
	free(t->events);
	if (t->dir >= 0)
		close(t->dir);
	free(t);
}

static const struct hyptrace_backend backend = {
	.request = hyptrace_tracefs_request,
	.open = hyptrace_tracefs_open_reader,
	.hold = hyptrace_tracefs_hold,
	.detach = hyptrace_tracefs_detach,
	.close = close_source,
};

static bool is_mounted(void)
{
	struct statfs fs;

	return (!statfs("/sys/kernel/tracing", &fs) && fs.f_type == TRACEFS_MAGIC) ||
	       (!statfs("/sys/kernel/debug/tracing", &fs) && fs.f_type == TRACEFS_MAGIC);
}

/* Find the folder of a tracer. */
static int open_dir(struct tracefs *t, const char *path, struct hyptrace_error *err)
{
	static const char *const mounts[] = {
		"/sys/kernel/tracing/", "/sys/kernel/debug/tracing/", "",
	};
	int errnum = ENOENT;
	unsigned int i;

	for (i = *path == '/' ? 2 : 0; i < 3 && t->dir < 0; i++) {
		snprintf(t->path, sizeof(t->path), "%s%s", mounts[i], path);
		t->dir = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (t->dir < 0 && errno != ENOENT)
			errnum = errno;
		if (i == 1)
			break;
	}
	if (t->dir < 0)
		return hyptrace_error_set(err, errnum, "cannot open %s%s: %m%s",
					  *path == '/' ? "" : mounts[0], path,
					  *path == '/' || errnum != ENOENT || is_mounted() ?
						"" : NOT_MOUNTED);
	if (!faccessat(t->dir, "tracing_on", W_OK, 0) && !faccessat(t->dir, "per_cpu", R_OK, 0))
		return 0;
	errnum = errno;
	return hyptrace_error_set(err, errnum, "%s is no tracer that can be used: %m", t->path);
}

/* "NUMBER NAME" of each line; "#" begins a remark */
static int read_names(struct tracefs_names *names, const char *path, struct hyptrace_error *err)
{
	char *line = NULL, name[HYPTRACE_EVENT_NAME_MAX + 1], rest[2], **by_id;
	FILE *f = fopen(path, "re");
	unsigned int id, nr = 0;
	size_t size = 0;
	int ret = 0;

	if (!f)
		return hyptrace_error_set(err, errno,
			"cannot read the names of hypercalls in \"%s\": %m", path);
	while (!ret && ++nr && getline(&line, &size, f) > 0) {
		if (*line == '#' || *line == '\n')
			continue;
		if (sscanf(line, "%u %63[A-Za-z0-9_] %1s", &id, name, rest) != 2 ||
		    id > NAME_ID_MAX) {
			ret = hyptrace_error_set(err, EINVAL, "\"%s\", line %u: " NAMES_RULE,
						 path, nr);
			continue;
		}
		if (id >= names->nr) {
			by_id = reallocarray(names->by_id, id + 1, sizeof(*by_id));
			if (!by_id) {
				ret = hyptrace_error_memory(err);
				continue;
			}
			memset(by_id + names->nr, 0, (id + 1 - names->nr) * sizeof(*by_id));
			names->by_id = by_id;
			names->nr = id + 1;
		}
		free(names->by_id[id]);
		names->by_id[id] = strdup(name);
	}
	free(line);
	fclose(f);
	return ret;
}

/**
 * hyptrace_open_tracefs - read the kernel's own tracer of EL2 instead of the driver
 * @path:	its folder, below that of tracefs, such as "hypervisor"; or from "/" on
 * @names:	file with the names of hypercalls, as "hyptrace names" prints it; NULL for none
 * @err:	the reason if it fails; may be NULL
 *
 * The connection has one remote, whose name is made of @path, such as "tracefs_hypervisor". It
 * offers events, their state, tracing, the size, and streams. All else fails with EOPNOTSUPP. There
 * are no notifications. Readers must be opened by hyptrace_reader_open_on(). Each of them is a
 * process, and so is what restores the state of the tracer: tracefs does not do that by itself.
 *
 * Return: the connection, for hyptrace_close(), or NULL.
 */
struct hyptrace *hyptrace_open_tracefs(const char *path, const char *names,
				       struct hyptrace_error *err)
{
	struct tracefs *t = calloc(1, sizeof(*t));
	const size_t room = sizeof(t->name) - sizeof(PREFIX);
	struct hyptrace *h = NULL;
	char *at;

	if (!t)
		return hyptrace_error_null(hyptrace_error_memory(err));
	t->dir = -1;
	t->guard = -1;
	/* of a long path, the end; and only what the name of a remote can have */
	snprintf(t->name, sizeof(t->name), PREFIX "%s",
		 strlen(path) > room ? path + strlen(path) - room : path);
	for (at = t->name; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	if (!open_dir(t, path, err) && !(names && read_names(&t->names, names, err)) &&
	    !hyptrace_tracefs_load(t, err))
		h = hyptrace_open_on(&backend, t, err);
	if (!h)
		close_source(t);
	return h;
}
