// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: the events of the host, as a trace of their own. For cmd_export.c.
 *
 * Perfetto has messages for many events of the kernel. Those that its timeline or its users need
 * most are written as such, all others as generic events with the names of their fields.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/internal.h"
#include "output/die.h"
#include "output/message.h"
#include "output/out.h"
#include "session/signals.h"
#include "sink/export_output.h"
#include "export_perfetto.h"
#include "export_perfetto_host.h"

/* FtraceEventBundle and FtraceEvent */
#define BUNDLE_EVENT		2
#define EVENT_TIMESTAMP		1
#define EVENT_PID		2
#define EVENT_GENERIC		327

/* GenericFtraceEvent and its Field */
#define GENERIC_NAME		1
#define GENERIC_FIELD		2
#define FIELD_NAME		1
#define FIELD_STRING		3
#define FIELD_INT		4
#define FIELD_UINT		5

/* Bytes of a bundle without the last event */
#define BUNDLE_SIZE		(16 << 10)
/* Bytes of a string at most, and of all that is in an event besides names and strings */
#define STRING_MAX		512
#define EVENT_HEAD		64
#define FIELD_HEAD		32

/* Events between looks at the signals */
#define EVENTS_AT_ONCE		4096

#define NR_IDS			(UINT16_MAX + 1)
#define FIELDS_MAX		7
#define PID_FIELD		"common_pid"
#define COMMON			"common_"

/*
 * The fields of a message have the numbers from 1 on. An event without the first of them is that
 * of another architecture, and is written as a generic event.
 */
static const struct host_message {
	unsigned int	number;
	const char	*event;
	const char	*fields[FIELDS_MAX];
} messages[] = {
	{ 4, "sched_switch", { "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm",
			       "next_pid", "next_prio" } },
	{ 17, "sched_wakeup", { "comm", "pid", "prio", "success", "target_cpu" } },
	{ 20, "sched_waking", { "comm", "pid", "prio", "success", "target_cpu" } },
	{ 24, "softirq_entry", { "vec" } },
	{ 25, "softirq_exit", { "vec" } },
	{ 36, "irq_handler_entry", { "irq", "name", "handler" } },
	{ 37, "irq_handler_exit", { "irq", "ret" } },
	{ 114, "sched_wakeup_new", { "comm", "pid", "prio", "success", "target_cpu" } },
	{ 376, "kvm_entry", { "vcpu_pc" } },
	{ 377, "kvm_exit", { "esr_ec", "ret", "vcpu_pc" } },
	{ 380, "kvm_guest_fault", { "hsr", "hxfar", "ipa", "vcpu_pc" } },
	{ 382, "kvm_hvc_arm64", { "imm", "r0", "vcpu_pc" } },
	{ 401, "kvm_wfx_arm64", { "is_wfe", "vcpu_pc" } },
};

/**
 * struct host_kind - how an event is written
 * @event:	the event; NULL if the file has no such event
 * @pid:	its field common_pid; or NULL
 * @message:	its message, or NULL for a generic event
 * @fields:	the fields of the message; NULL for those that the event does not have
 * @room:	bytes of the event at most
 */
struct host_kind {
	const struct hyptrace_event	*event;
	const struct hyptrace_field	*pid;
	const struct host_message	*message;
	const struct hyptrace_field	*fields[FIELDS_MAX];
	size_t				room;
};

/**
 * struct host_trace - the trace
 * @p:		what perfetto_ftrace_flush() needs
 * @out:	the output
 * @kinds:	NR_IDS kinds
 * @room:	bytes of the largest event
 * @cpus:	the CPUs
 * @nr_cpus:	number of @cpus
 */
struct host_trace {
	struct perfetto		p;
	struct out		out;
	struct host_kind	*kinds;
	size_t			room;
	struct perfetto_cpu	*cpus;
	unsigned int		nr_cpus;
};

static const struct host_message *find_message(const struct hyptrace_event *event)
{
	unsigned int i;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		if (!strcmp(messages[i].event, event->name))
			break;
	if (i == sizeof(messages) / sizeof(messages[0]))
		return NULL;
	return hyptrace_event_field(event, messages[i].fields[0]) ? &messages[i] : NULL;
}

static void add_kind(struct host_trace *t, const struct hyptrace_event *event)
{
	struct host_kind *kind;
	unsigned int i;

	if (event->id >= NR_IDS)
		return;
	kind = &t->kinds[event->id];
	kind->event = event;
	kind->pid = hyptrace_event_field(event, PID_FIELD);
	kind->message = find_message(event);
	for (i = 0; kind->message && i < FIELDS_MAX; i++)
		kind->fields[i] = hyptrace_event_field(event, kind->message->fields[i]);
	kind->room = EVENT_HEAD + strlen(event->name);
	for (i = 0; i < event->nr_fields; i++)
		kind->room += FIELD_HEAD + strlen(event->fields[i]->name) + STRING_MAX;
	if (kind->room > t->room)
		t->room = kind->room;
}

/* A field with a string: char arrays of any length. */
static const char *find_string(const struct hyptrace_field *field,
			       const struct hyptrace_record *rec, size_t *len)
{
	const char *text;
	uint32_t size;

	if (!strstr(field->type, "char"))
		return NULL;
	text = hyptrace_field_bytes(field, rec, &size);
	if (text)
		*len = strnlen(text, size < STRING_MAX ? size : STRING_MAX);
	return text;
}

/* Append the value of a field. A negative number has 64 bits, as protobuf wants it. */
static uint8_t *put_value(uint8_t *to, unsigned int number, const struct hyptrace_field *field,
			  const struct hyptrace_record *rec)
{
	const char *text;
	uint64_t value;
	size_t len;

	if (!hyptrace_field_value(field, rec, &value))
		return protobuf_uint(to, number, value);
	text = find_string(field, rec, &len);
	return text ? protobuf_bytes(to, number, text, len) : to;
}

static uint8_t *put_generic(uint8_t *to, const struct hyptrace_event *event,
			    const struct hyptrace_record *rec)
{
	const struct hyptrace_field *field;
	unsigned int i, number;
	uint8_t *start;
	uint64_t value;

	to = protobuf_bytes(to, GENERIC_NAME, event->name, strlen(event->name));
	for (i = 0; i < event->nr_fields; i++) {
		field = event->fields[i];
		if (!strncmp(field->name, COMMON, strlen(COMMON)))
			continue;
		start = protobuf_open(to, GENERIC_FIELD);
		to = protobuf_bytes(start, FIELD_NAME, field->name, strlen(field->name));
		number = field->is_signed ? FIELD_INT : FIELD_UINT;
		if (hyptrace_field_value(field, rec, &value))
			number = FIELD_STRING;
		to = protobuf_close(start, put_value(to, number, field, rec));
	}
	return to;
}

static uint8_t *put_message(uint8_t *to, const struct host_kind *kind,
			    const struct hyptrace_record *rec)
{
	unsigned int i;

	for (i = 0; i < FIELDS_MAX; i++)
		if (kind->fields[i])
			to = put_value(to, i + 1, kind->fields[i], rec);
	return to;
}

static struct perfetto_cpu *get_cpu(struct host_trace *t, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < t->nr_cpus; i++)
		if (t->cpus[i].id == id)
			return &t->cpus[i];
	t->cpus = reallocarray(t->cpus, t->nr_cpus + 1, sizeof(*t->cpus));
	if (!t->cpus)
		die_no_memory();
	memset(&t->cpus[t->nr_cpus], 0, sizeof(*t->cpus));
	t->cpus[t->nr_cpus].id = id;
	t->cpus[t->nr_cpus].bundle = malloc(BUNDLE_SIZE + t->room);
	if (!t->cpus[t->nr_cpus].bundle)
		die_no_memory();
	return &t->cpus[t->nr_cpus++];
}

static void put_event(struct host_trace *t, struct perfetto_cpu *cpu,
		      const struct hyptrace_record *rec)
{
	const struct host_kind *kind;
	uint8_t *start, *inner, *to;
	uint64_t pid = 0;
	uint16_t id;

	if (rec->size < sizeof(id))
		return;
	memcpy(&id, rec->data, sizeof(id));
	kind = &t->kinds[id];
	if (!kind->event)
		return;
	if (cpu->len >= BUNDLE_SIZE)
		perfetto_ftrace_flush(&t->p, cpu);
	start = protobuf_open(cpu->bundle + cpu->len, BUNDLE_EVENT);
	to = protobuf_uint(start, EVENT_TIMESTAMP, rec->ts);
	if (kind->pid)
		hyptrace_field_value(kind->pid, rec, &pid);
	/* also that of the idle task, which is 0: Perfetto refuses events without it */
	to = protobuf_uint(to, EVENT_PID, (uint32_t)pid);
	inner = protobuf_open(to, kind->message ? kind->message->number : EVENT_GENERIC);
	to = kind->message ? put_message(inner, kind, rec) : put_generic(inner, kind->event, rec);
	cpu->len = protobuf_close(start, protobuf_close(inner, to)) - cpu->bundle;
}

static void put_loss(struct host_trace *t, struct perfetto_cpu *cpu)
{
	perfetto_ftrace_flush(&t->p, cpu);
	cpu->has_lost = true;
}

/* Write all events. Return an exit code; or a negative errno with @err. */
static int put_events(struct host_trace *t, struct host_events *h, struct hyptrace_error *err)
{
	const struct hyptrace_stream_event *event;
	unsigned int left = EVENTS_AT_ONCE;
	int ret;

	while (!t->out.error) {
		ret = hyptrace_file_next(h->file, &event, err);
		if (ret == -ENODATA)
			return EXIT_DONE;
		if (ret < 0 && ret != -EBADMSG)
			return ret;
		if (ret < 0)
			h->note(err, h->arg);
		/* a damaged sub-buffer comes as a loss, too */
		if (ret > 0 && event->record.lost)
			put_loss(t, get_cpu(t, event->cpu));
		if (ret > 0 && event->record.data)
			put_event(t, get_cpu(t, event->cpu), &event->record);
		if (--left)
			continue;
		left = EVENTS_AT_ONCE;
		if (signals_stop)
			return cmd_fail("the export was interrupted");
	}
	return EXIT_DONE;
}

/**
 * export_perfetto_host - write the events of the host to a file that has no name
 * @h:		the events of the host, with all that is chosen, and a note
 * @fd:		out: a descriptor of the file, at its beginning
 * @err:	the reason if it fails
 *
 * Return: an exit code; or a negative errno with @err.
 */
int export_perfetto_host(struct host_events *h, int *fd, struct hyptrace_error *err)
{
	struct host_trace t = {};
	struct hyptrace_event *const *list;
	unsigned int nr, i;
	int code;

	*fd = export_open_unnamed();
	if (*fd < 0)
		return cmd_fail("cannot create a temporary file: %s", strerror(errno));
	out_init(&t.out, *fd);
	t.p.out = &t.out;
	t.kinds = calloc(NR_IDS, sizeof(*t.kinds));
	if (!t.kinds)
		die_no_memory();
	list = hyptrace_file_events(h->file, &nr);
	for (i = 0; i < nr; i++)
		add_kind(&t, list[i]);
	code = put_events(&t, h, err);
	for (i = 0; i < t.nr_cpus; i++) {
		perfetto_ftrace_flush(&t.p, &t.cpus[i]);
		free(t.cpus[i].bundle);
	}
	out_flush(&t.out);
	free(t.cpus);
	free(t.kinds);
	if (!code && (t.out.error || lseek(*fd, 0, SEEK_SET) < 0))
		code = cmd_fail("cannot write a temporary file: %s",
				strerror(t.out.error ? t.out.error : errno));
	return code;
}
