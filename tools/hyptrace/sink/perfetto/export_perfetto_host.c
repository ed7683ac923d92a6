// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: the events of the host, as a trace of their own.
 *
 * Perfetto has messages for many events of the kernel. Those that its timeline or its users need
 * most are written as such, all others as generic events with the names of their fields.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "output/die.h"
#include "export_perfetto.h"

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

/* Bytes of a string at most, and of all that is in an event besides names and strings */
#define STRING_MAX		512
#define EVENT_HEAD		64
#define FIELD_HEAD		32

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

/* How an event is written */
struct host_kind {
	const struct hyptrace_event	*event;		/* NULL if the file has no such event */
	const struct hyptrace_field	*pid;		/* its field common_pid; or NULL */
	const struct host_message	*message;	/* NULL for a generic event */
	const struct hyptrace_field	*fields[FIELDS_MAX];	/* NULL: it has no such field */
	size_t				room;		/* bytes of the event at most */
};

struct host_trace {
	struct host_kind	*kinds;		/* by the ids of events */
	size_t			room;		/* bytes of the largest event */
};

/* The events of a CPU */
struct host_part {
	const struct host_trace	*trace;
	struct perfetto_bundle	bundle;
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

	if (event->id >= EXPORT_NR_IDS)
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

static void put_event(struct host_part *host, const struct hyptrace_record *rec, struct out *out)
{
	struct perfetto_bundle *bundle = &host->bundle;
	const struct host_kind *kind;
	uint8_t *start, *inner, *to;
	uint64_t pid = 0;
	uint16_t id;

	if (rec->size < sizeof(id))
		return;
	memcpy(&id, rec->data, sizeof(id));
	kind = &host->trace->kinds[id];
	if (!kind->event)
		return;
	if (bundle->len >= PERFETTO_BUNDLE_SIZE)
		perfetto_bundle_flush(bundle, out);
	start = protobuf_open(bundle->events + bundle->len, BUNDLE_EVENT);
	to = protobuf_uint(start, EVENT_TIMESTAMP, rec->ts);
	if (kind->pid)
		hyptrace_field_value(kind->pid, rec, &pid);
	/* also that of the idle task, which is 0: Perfetto refuses events without it */
	to = protobuf_uint(to, EVENT_PID, (uint32_t)pid);
	inner = protobuf_open(to, kind->message ? kind->message->number : EVENT_GENERIC);
	to = kind->message ? put_message(inner, kind, rec) : put_generic(inner, kind->event, rec);
	bundle->len = protobuf_close(start, protobuf_close(inner, to)) - bundle->events;
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	struct host_part *host = part->state;
	const struct hyptrace_stream_event *event;

	for (event = events; event < events + nr; event++) {
		if (event->record.lost) {
			perfetto_bundle_flush(&host->bundle, part->out);
			host->bundle.has_lost = true;
		}
		if (event->record.data)
			put_event(host, &event->record, part->out);
	}
}

static int begin(struct export *x)
{
	struct host_trace *trace = xcalloc(1, sizeof(*trace));
	unsigned int i;

	x->state = trace;
	trace->kinds = xcalloc(EXPORT_NR_IDS, sizeof(*trace->kinds));
	for (i = 0; i < x->nr_events; i++)
		add_kind(trace, x->events[i]);
	return EXIT_DONE;
}

static void begin_part(struct export_part *part)
{
	struct host_part *host = xcalloc(1, sizeof(*host));

	part->state = host;
	host->trace = part->x->state;
	host->bundle.cpu = part->cpu;
	host->bundle.events = xmalloc(PERFETTO_BUNDLE_SIZE + host->trace->room);
}

static void end_part(struct export_part *part)
{
	struct host_part *host = part->state;

	perfetto_bundle_flush(&host->bundle, part->out);
	free(host->bundle.events);
	free(host);
}

static int end(struct export *x)
{
	struct host_trace *trace = x->state;

	free(trace->kinds);
	free(trace);
	return EXIT_DONE;
}

const struct export_format export_perfetto_host = {
	.name = "perfetto",
	.targets = EXPORT_TO_FILE,
	.is_binary = true,
	.by_cpu = true,
	.begin = begin,
	.begin_part = begin_part,
	.events = put_events,
	.end_part = end_part,
	.end = end,
};
