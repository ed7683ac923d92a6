// SPDX-License-Identifier: GPL-2.0-only
/* Open the kernel's own tracer of EL2 as a connection that answers in the driver's messages. */
#include <fcntl.h>
#include <sys/vfs.h>

#include <linux/magic.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "tracefs.h"

#define NAME_ID_MAX	UINT16_MAX
#define NAMES_RULE	"not a number and the name of a hypercall"
#define PREFIX		"tracefs_"
#define NOT_MOUNTED	" (tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing)"

#define CPUS_MAX	1024

/* "7 (unloaded)" */
static uint64_t buffer_kb(const struct tracefs *t, bool *is_loaded)
{
	char text[64];

	hyptrace_tracefs_read(t->dir, "buffer_size_kb", text, sizeof(text));
	*is_loaded = strstr(text, "(loaded)");
	return strtoull(text, NULL, 10);
}

static bool has_cpu(const struct tracefs *t, unsigned int cpu)
{
	char path[64];

	snprintf(path, sizeof(path), "per_cpu/cpu%u", cpu);
	return !faccessat(t->dir, path, F_OK, 0);
}

static int get_remote(const struct tracefs *t, const struct hyptrace_request *r)
{
	struct nl_msg *msg = hyptrace_answer_new();
	unsigned int nr_cpus = 0, cpu;
	const bool is_on = hyptrace_tracefs_is_on(t, NULL);
	bool is_loaded;
	const uint64_t size = buffer_kb(t, &is_loaded) << 10;
	char text[sizeof(t->path) + 64];

	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		nr_cpus += has_cpu(t, cpu);
	snprintf(text, sizeof(text), "the kernel's own tracer in %s", t->path);
	return hyptrace_answer_send(r, msg, !msg ||
		nla_put_string(msg, HYPTRACE_A_REMOTE_NAME, t->name) ||
		nla_put_string(msg, HYPTRACE_A_REMOTE_DESCRIPTION, text) ||
		nla_put_string(msg, HYPTRACE_A_REMOTE_CLOCK, "boot") ||
		nla_put_u32(msg, HYPTRACE_A_REMOTE_STATE, is_on ? HYPTRACE_STATE_TRACING :
			    is_loaded ? HYPTRACE_STATE_LOADED : HYPTRACE_STATE_UNLOADED) ||
		nla_put_u64(msg, HYPTRACE_A_REMOTE_SIZE_REQUESTED, size) ||
		nla_put_u64(msg, HYPTRACE_A_REMOTE_SIZE_ALLOCATED, is_loaded ? size : 0) ||
		nla_put_u32(msg, HYPTRACE_A_REMOTE_SUBBUF_SIZE, getpagesize()) ||
		nla_put_u32(msg, HYPTRACE_A_REMOTE_NR_CPUS, nr_cpus) ||
		nla_put_u32(msg, HYPTRACE_A_REMOTE_NR_EVENTS, t->nr_events));
}

static int get_cpu(const struct tracefs *t, const struct hyptrace_request *r, unsigned int cpu)
{
	const struct tracefs_reader *reader = t->readers;
	struct tracefs_counts found = {}, read = {};
	struct nl_msg *msg = hyptrace_answer_new();
	bool is_loaded;
	unsigned int pages = (buffer_kb(t, &is_loaded) << 10) / getpagesize() + 1;

	while (reader && reader->cpu != cpu)
		reader = reader->next;
	if (reader && t->has_begun) {
		/* in this order: what is read was found before */
		read = hyptrace_tracefs_count_read(reader);
		found.events = __atomic_load_n(&reader->shared->found.events, __ATOMIC_ACQUIRE);
		found.lost = __atomic_load_n(&reader->shared->found.lost, __ATOMIC_ACQUIRE);
		pages += reader->rest / getpagesize();
	}
	return hyptrace_answer_send(r, msg, !msg ||
		nla_put_string(msg, HYPTRACE_A_CPU_REMOTE, t->name) ||
		nla_put_u32(msg, HYPTRACE_A_CPU_ID, cpu) ||
		nla_put_u32(msg, HYPTRACE_A_CPU_STATE, is_loaded ? HYPTRACE_CPU_STATE_ATTACHED :
			    HYPTRACE_CPU_STATE_DETACHED) ||
		nla_put_u8(msg, HYPTRACE_A_CPU_ONLINE, true) ||
		nla_put_u32(msg, HYPTRACE_A_CPU_NR_SUBBUFS, pages) ||
		nla_put_u64(msg, HYPTRACE_A_CPU_WRITTEN, found.events + found.lost) ||
		nla_put_u64(msg, HYPTRACE_A_CPU_READ, read.events) ||
		nla_put_u64(msg, HYPTRACE_A_CPU_UNREAD, found.events - read.events) ||
		nla_put_u64(msg, HYPTRACE_A_CPU_OVERRUN, found.lost) ||
		nla_put_u64(msg, HYPTRACE_A_CPU_UNREPORTED, found.lost - read.lost) ||
		nla_put_u32(msg, HYPTRACE_A_CPU_CONSUMER, reader ? getpid() : 0));
}

static int get_cpus(const struct tracefs *t, const struct hyptrace_request *r)
{
	const struct nlattr *id = hyptrace_request_attr(r, HYPTRACE_A_CPU_ID);
	unsigned int cpu, got = 0;
	int ret = 0;

	for (cpu = 0; cpu < CPUS_MAX && !ret; cpu++)
		if ((!id || nla_get_u32(id) == cpu) && has_cpu(t, cpu)) {
			ret = get_cpu(t, r, cpu);
			got++;
		}
	return ret || got ? ret : hyptrace_error_set(r->err, ENXIO, "no such CPU");
}

static int put_symbol(struct nl_msg *msg, uint64_t value, const char *name)
{
	struct nlattr *nest = nla_nest_start(msg, HYPTRACE_A_FIELD_SYMBOL);

	return !nest || nla_put_u64(msg, HYPTRACE_A_SYMBOL_VALUE, value) ||
	       nla_put_string(msg, HYPTRACE_A_SYMBOL_NAME, name) || nla_nest_end(msg, nest) < 0;
}

static int put_field(struct nl_msg *msg, const struct tracefs *t, const struct tracefs_event *event,
		     const struct tracefs_field *field)
{
	struct nlattr *nest = nla_nest_start(msg, HYPTRACE_A_EVENT_FIELD);
	const bool is_text = field->size == TRACEFS_TEXT;
	char type[TRACEFS_NAME_MAX + 16];
	int ret = !nest;
	unsigned int i;

	snprintf(type, sizeof(type), is_text ? "%s[%d]" : "%s", field->type, TRACEFS_TEXT);
	ret = ret || nla_put_string(msg, HYPTRACE_A_FIELD_NAME, field->name) ||
	      nla_put_string(msg, HYPTRACE_A_FIELD_TYPE, type) ||
	      nla_put_u32(msg, HYPTRACE_A_FIELD_OFFSET, field->offset) ||
	      nla_put_u32(msg, HYPTRACE_A_FIELD_SIZE, field->size) ||
	      nla_put_u8(msg, HYPTRACE_A_FIELD_SIGNED, field->is_signed);
	for (i = 0; !ret && field->is_reason && i < COUNT(hyptrace_tracefs_reasons); i++)
		ret = put_symbol(msg, i, hyptrace_tracefs_reasons[i]);
	for (i = 0; !ret && i < t->names.nr && hyptrace_tracefs_is_call(event, field); i++)
		if (t->names.by_id[i])
			ret = put_symbol(msg, i, t->names.by_id[i]);
	return ret || nla_nest_end(msg, nest) < 0;
}

static int get_event(const struct tracefs *t, const struct hyptrace_request *r,
		     const struct tracefs_event *event)
{
	auto_free char *fmt = hyptrace_tracefs_print_fmt(event, &t->names);
	struct nl_msg *msg = hyptrace_answer_new();
	unsigned int i;
	int ret = !msg || !fmt ||
		  nla_put_string(msg, HYPTRACE_A_EVENT_REMOTE, t->name) ||
		  nla_put_string(msg, HYPTRACE_A_EVENT_NAME, event->name) ||
		  nla_put_u32(msg, HYPTRACE_A_EVENT_ID, event->id) ||
		  nla_put_u32(msg, HYPTRACE_A_EVENT_SIZE, event->size) ||
		  nla_put_u8(msg, HYPTRACE_A_EVENT_ENABLED, hyptrace_tracefs_is_on(t, event)) ||
		  nla_put_string(msg, HYPTRACE_A_EVENT_PRINT_FMT, fmt);

	for (i = 0; !ret && i < event->nr_fields; i++)
		ret = put_field(msg, t, event, &event->fields[i]);
	return hyptrace_answer_send(r, msg, ret);
}

static int get_events(const struct tracefs *t, const struct hyptrace_request *r)
{
	const struct nlattr *name = hyptrace_request_attr(r, HYPTRACE_A_EVENT_NAME);
	unsigned int i, got = 0;
	int ret = 0;

	for (i = 0; i < t->nr_events && !ret; i++)
		if (!name || !strcmp(nla_get_string(name), t->events[i]->name)) {
			ret = get_event(t, r, t->events[i]);
			got++;
		}
	return ret || got ? ret : hyptrace_error_set(r->err, ENOENT, "no such event");
}

/* Enable or disable events: all of them, or none. */
static int set_events(const struct tracefs *t, const struct hyptrace_request *r)
{
	const struct nlattr *attr = hyptrace_request_attr(r, HYPTRACE_A_EVENT_ENABLED);
	const bool on = attr && nla_get_u8(attr);
	const struct tracefs_event *events[HYPTRACE_EVENT_LIST_MAX];
	bool was_on[HYPTRACE_EVENT_LIST_MAX];
	struct genlmsghdr *hdr = nlmsg_data(r->msg);
	unsigned int nr = 0, i;
	int rest, ret = 0;
	const char *name;

	if (hyptrace_request_attr(r, HYPTRACE_A_EVENT_FILTER) ||
	    hyptrace_request_attr(r, HYPTRACE_A_EVENT_TRIGGER))
		return hyptrace_error_set(r->err, EOPNOTSUPP,
			"the kernel's own tracer has no filters and triggers at EL2");
	if (hyptrace_request_attr(r, HYPTRACE_A_EVENT_HOLD))
		return hyptrace_error_set(r->err, EOPNOTSUPP,
			"tracefs holds the state of an event only while it is read");
	nla_for_each_attr(attr, genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0), rest) {
		if (nla_type(attr) != HYPTRACE_A_EVENT_NAMES || nr == HYPTRACE_EVENT_LIST_MAX)
			continue;
		name = nla_get_string((struct nlattr *)attr);
		events[nr] = hyptrace_tracefs_find(t, name, strlen(name));
		if (!events[nr++]) {
			hyptrace_error_set(r->err, ENOENT, "no such event");
			hyptrace_error_subject(r->err, "%s", name);
			return -ENOENT;
		}
	}
	for (i = 0; i < nr && !ret; i++) {
		was_on[i] = hyptrace_tracefs_is_on(t, events[i]);
		ret = hyptrace_tracefs_enable(t, events[i], on);
	}
	while (ret && i--)
		hyptrace_tracefs_enable(t, events[i], was_on[i]);
	return ret ? hyptrace_error_set(r->err, -ret, "%m") : 0;
}

static int control(const struct tracefs *t, const struct hyptrace_request *r, int cmd)
{
	struct nlattr *size = hyptrace_request_attr(r, HYPTRACE_A_CONTROL_SIZE);
	struct nlattr *cpu = hyptrace_request_attr(r, HYPTRACE_A_CONTROL_CPU);
	char text[64];
	int ret;

	if (cmd == HYPTRACE_CMD_SET) {
		if (!size || hyptrace_request_attr(r, HYPTRACE_A_CONTROL_MODE) ||
		    hyptrace_request_attr(r, HYPTRACE_A_CONTROL_RATE))
			return hyptrace_error_set(r->err, EOPNOTSUPP,
				"the kernel's own tracer has no other settings than the size");
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)(nla_get_u64(size) + 1023) >> 10);
		ret = hyptrace_tracefs_write(t->dir, "buffer_size_kb", text);
		if (ret == -EBUSY)
			return hyptrace_error_set(r->err, EBUSY, "its buffer is loaded");
	} else if (cmd == HYPTRACE_CMD_CLEAR) {
		snprintf(text, sizeof(text), cpu ? "per_cpu/cpu%u/trace" : "trace",
			 cpu ? nla_get_u32(cpu) : 0);
		ret = hyptrace_tracefs_write(t->dir, text, "0");
	} else {
		ret = hyptrace_tracefs_enable(t, NULL, cmd == HYPTRACE_CMD_START);
	}
	return ret ? hyptrace_error_set(r->err, -ret, "%m") : 0;
}

static int answer(void *arg, const struct hyptrace_request *r, int cmd)
{
	switch (cmd) {
	case HYPTRACE_CMD_REMOTE_GET:
		return get_remote(arg, r);
	case HYPTRACE_CMD_CPU_GET:
		return get_cpus(arg, r);
	case HYPTRACE_CMD_EVENT_GET:
		return get_events(arg, r);
	case HYPTRACE_CMD_EVENT_SET:
		return set_events(arg, r);
	case HYPTRACE_CMD_START:
	case HYPTRACE_CMD_STOP:
	case HYPTRACE_CMD_SET:
	case HYPTRACE_CMD_CLEAR:
		return control(arg, r, cmd);
	case HYPTRACE_CMD_HYPERCALL_GET:
		/* the values of a field have their names */
	case HYPTRACE_CMD_EVENT_RELEASE:
		return 0;
	case HYPTRACE_CMD_COUNT_SET:
	case HYPTRACE_CMD_COUNT_GET:
	case HYPTRACE_CMD_COUNT_RESET:
		return hyptrace_error_set(r->err, EOPNOTSUPP,
					  "the kernel's own tracer does not count events at EL2");
	}
	return hyptrace_error_set(r->err, EOPNOTSUPP, "the kernel's own tracer cannot do it");
}

static void close_source(void *arg)
{
	struct tracefs *t = arg;
	unsigned int i;

	hyptrace_tracefs_release(t);
	if (t->holds_tracing && t->was_unloaded && !hyptrace_tracefs_is_on(t, NULL))
		hyptrace_tracefs_drop(t);
	for (i = 0; i < t->nr_events; i++)
		hyptrace_tracefs_free_event(t->events[i]);
	for (i = 0; i < t->names.nr; i++)
		free(t->names.by_id[i]);
	free(t->names.by_id);
	free(t->events);
	if (t->dir >= 0)
		close(t->dir);
	free(t);
}

static const struct hyptrace_backend backend = {
	.request = answer,
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

static int open_dir(struct tracefs *t, const char *path, struct hyptrace_error *err)
{
	static const char *const mounts[] = {
		"/sys/kernel/tracing/", "/sys/kernel/debug/tracing/",
	};
	const bool is_whole = *path == '/';
	int errnum = ENOENT;
	unsigned int i;

	for (i = is_whole; i < COUNT(mounts) && t->dir < 0; i++) {
		snprintf(t->path, sizeof(t->path), "%s%s", is_whole ? "" : mounts[i], path);
		t->dir = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (t->dir < 0 && errno != ENOENT)
			errnum = errno;
	}
	if (t->dir < 0)
		return hyptrace_error_set(err, errnum, "cannot open %s%s: %m%s",
					  is_whole ? "" : mounts[0], path,
					  is_whole || errnum != ENOENT || is_mounted() ?
						"" : NOT_MOUNTED);
	if (!faccessat(t->dir, "tracing_on", W_OK, 0) && !faccessat(t->dir, "per_cpu", R_OK, 0))
		return 0;
	return hyptrace_error_set(err, errno, "%s is no tracer that can be used: %m", t->path);
}

/* "NUMBER NAME" of each line; "#" begins a remark */
static int read_names(struct tracefs_names *names, const char *path, struct hyptrace_error *err)
{
	char *line = NULL, name[HYPTRACE_EVENT_NAME_MAX + 1], rest[2];
	FILE *f = fopen(path, "re");
	unsigned int id, nr = 0;
	size_t size = 0;
	int ret = 0;

	if (!f)
		return hyptrace_error_set(err, errno,
			"cannot read the names of hypercalls in \"%s\": %m", path);
	/* memory that is not used is not allocated */
	names->by_id = calloc(NAME_ID_MAX + 1, sizeof(*names->by_id));
	if (!names->by_id)
		ret = hyptrace_error_memory(err);
	while (!ret && ++nr && getline(&line, &size, f) > 0) {
		if (*line == '#' || *line == '\n')
			continue;
		if (sscanf(line, "%u %63[A-Za-z0-9_] %1s", &id, name, rest) != 2 ||
		    id > NAME_ID_MAX) {
			ret = hyptrace_error_set(err, EINVAL, "\"%s\", line %u: " NAMES_RULE,
						 path, nr);
			continue;
		}
		names->nr = MAX(names->nr, id + 1);
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
	struct hyptrace *h = calloc(1, sizeof(*h));
	struct tracefs *t = calloc(1, sizeof(*t));
	const size_t room = sizeof(t->name) - sizeof(PREFIX);
	char *at;

	if (!h || !t) {
		free(h);
		free(t);
		return hyptrace_error_null(hyptrace_error_memory(err));
	}
	h->backend = &backend;
	h->backend_arg = t;
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
		return h;
	hyptrace_close(h);
	return NULL;
}
