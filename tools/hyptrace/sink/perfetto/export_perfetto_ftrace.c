// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: the events of which Perfetto itself makes tracks.
 *
 * Its tracks "pkVM Hypervisor CPU N" have some events of EL2: hyp_enter opens a slice, hyp_exit
 * closes it, and the others become its arguments. Viewers do not handle two entries in a row, so
 * exits that are missing are added.
 *
 * The events of the host are a trace of their own. Perfetto has messages for many events of the
 * kernel. Those that its timeline or its users need most are written as such, all others as generic
 * events with the names of their fields.
 */
#include "output/die.h"
#include "sink/row.h"
#include "export_perfetto.h"

/* Trace, TracePacket and FtraceEventBundle */
#define TRACE_PACKET		1
#define FTRACE_EVENTS		1
#define BUNDLE_CPU		1
#define BUNDLE_EVENT		2
#define BUNDLE_LOST_EVENTS	3

/* FtraceEvent */
#define EVENT_TIMESTAMP		1
#define EVENT_PID		2
#define EVENT_GENERIC		327

/* Bytes of an event of EL2 at most */
#define EVENT_MAX		128

struct message {
	unsigned int	number;
	const char	*event;
	const char	*fields[PERFETTO_FTRACE_FIELDS];	/* their numbers are 1, 2, ... */
};

static const struct message messages[] = {
	{ 578, "host_ffa_call",
	  { "func_id", "res_a1", "res_a2", "res_a3", "res_a4", "handled", "err" } },
	{ 582, "host_hcall", { "id", "invalid" } },
	{ 583, "host_smc", { "id", "forwarded" } },
	{ PERFETTO_HYP_EXIT, "hyp_exit", { NULL } },
	{ 585, "iommu_idmap", { "from", "to", "prot" } },
	{ 586, "psci_mem_protect", { "count", "was" } },
	{ 587, "host_mem_abort", { "esr", "addr" } },
	{ PERFETTO_HYP_ENTER, "hyp_enter", { NULL } },
	{ 590, "vcpu_illegal_trap", { "esr" } },
	{ 0 }
};

/* Find the message of an event in a table, whose last one has no number. */
static const struct message *find_message(const struct message *message,
					  const struct hyptrace_event *event)
{
	while (message->number && strcmp(message->event, event->name))
		message++;
	return message->number ? message : NULL;
}

/* Find Perfetto's message of an event, if it has all fields of the message. */
void perfetto_ftrace_find(struct perfetto_kind *kind, const struct hyptrace_event *event)
{
	const struct message *message = find_message(messages, event);
	const struct hyptrace_field *field;
	unsigned int i;

	for (i = 0; message && i < PERFETTO_FTRACE_FIELDS && message->fields[i]; i++) {
		field = hyptrace_event_field(event, message->fields[i]);
		if (!field || !hyptrace_field_is_number(field, event->size))
			return;
		kind->details[i] = hyptrace_place_of(field->offset, field->size, field->is_signed,
						     event->size);
	}
	kind->nr_details = i;
	kind->message = message ? message->number : 0;
}

void perfetto_bundle_flush(struct perfetto_bundle *bundle, struct out *out)
{
	uint8_t head[4 * PROTOBUF_VARINT_MAX], inner[4 * PROTOBUF_VARINT_MAX], *to, *end;

	if (!bundle->len)
		return;
	to = protobuf_uint(inner, BUNDLE_CPU, bundle->cpu);
	if (bundle->has_lost)
		to = protobuf_uint(to, BUNDLE_LOST_EVENTS, 1);
	bundle->has_lost = false;
	/* the message in the packet, and its own start */
	end = protobuf_varint(protobuf_tag(head, FTRACE_EVENTS, PROTOBUF_LEN),
			      to - inner + bundle->len);
	memmove(end, inner, to - inner);
	end += to - inner;
	to = protobuf_varint(protobuf_tag(inner, TRACE_PACKET, PROTOBUF_LEN),
			     end - head + bundle->len);
	out_write(out, inner, to - inner);
	out_write(out, head, end - head);
	out_write(out, bundle->events, bundle->len);
	bundle->len = 0;
}

/* Room for an event, not reserved at once: a hostile file has many CPUs with few events. */
static noinline void make_room(struct perfetto_bundle *bundle, struct out *out, size_t event_max)
{
	if (bundle->len >= PERFETTO_BUNDLE_SIZE)
		perfetto_bundle_flush(bundle, out);
	if (bundle->size - bundle->len >= event_max)
		return;
	bundle->size = MIN(2 * bundle->size, (size_t)PERFETTO_BUNDLE_SIZE) + event_max;
	bundle->events = xreallocarray(bundle->events, bundle->size, 1);
}

/* Begin an event: set where it starts, and return the end of its time. */
static inline uint8_t *begin_event(struct perfetto_bundle *bundle, struct out *out, uint64_t ts,
				   size_t event_max, uint8_t **start)
{
	if (__builtin_expect(bundle->size - bundle->len < event_max, 0))
		make_room(bundle, out, event_max);
	*start = protobuf_open(bundle->events + bundle->len, BUNDLE_EVENT);
	return protobuf_uint(*start, EVENT_TIMESTAMP, ts);
}

static inline void end_event(struct perfetto_bundle *bundle, uint8_t *start, uint8_t *message,
			     uint8_t *end)
{
	bundle->len = protobuf_close(start, protobuf_close(message, end)) - bundle->events;
}

/* Close the slice of a CPU that is in EL2, as of its last event. */
void perfetto_ftrace_close(struct perfetto *p)
{
	uint8_t *start, *message;

	if (!p->is_open)
		return;
	message = protobuf_open(begin_event(&p->bundle, p->out, p->last, EVENT_MAX, &start),
				PERFETTO_HYP_EXIT);
	end_event(&p->bundle, start, message, message);
	p->is_open = false;
}

/* Events between hyp_enter and hyp_exit only; these two have no details. */
void perfetto_ftrace_put(struct perfetto *p, const struct perfetto_kind *kind,
			 const struct hyptrace_record *rec)
{
	uint8_t *start, *message, *to;
	unsigned int i;

	if (kind->message == PERFETTO_HYP_ENTER) {
		perfetto_ftrace_close(p);
		p->is_open = true;
	}
	if (!p->is_open)
		return;
	message = protobuf_open(begin_event(&p->bundle, p->out, rec->ts, EVENT_MAX, &start),
				kind->message);
	to = message;
	for (i = 0; i < kind->nr_details; i++) {
		const uint64_t value = hyptrace_place_value(&kind->details[i], rec->data);

		/* a field that is missing is read as 0 */
		if (value)
			to = protobuf_uint(to, i + 1, value);
	}
	end_event(&p->bundle, start, message, to);
	p->is_open = kind->message != PERFETTO_HYP_EXIT;
}

/* The events of the host */

/* GenericFtraceEvent and its Field */
#define GENERIC_NAME		1
#define GENERIC_FIELD		2
#define FIELD_NAME		1
#define FIELD_STRING		3
#define FIELD_INT		4
#define FIELD_UINT		5

/* Bytes of a string at most, and of all that is in an event besides names and strings */
#define STRING_MAX		512U
#define EVENT_HEAD		64
#define FIELD_HEAD		32

#define PID_FIELD		"common_pid"
#define COMMON			"common_"

/* An event without the first field is that of another architecture: a generic event */
static const struct message host_messages[] = {
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
	{ 0 }
};

/* How an event is written */
struct host_kind {
	const struct hyptrace_event	*event;		/* NULL if the file has no such event */
	const struct hyptrace_field	*pid;		/* its field common_pid; or NULL */
	const struct message		*message;	/* NULL for a generic event */
	/* NULL: it has no such field */
	const struct hyptrace_field	*fields[PERFETTO_FTRACE_FIELDS];
	size_t				room;		/* bytes of the event at most */
};

struct host_trace {
	struct host_kind	kinds[CHOICE_IDS];	/* by the ids of events */
	size_t			room;			/* bytes of the largest event */
};

static void add_kind(struct host_trace *t, const struct hyptrace_event *event)
{
	struct host_kind *kind;
	unsigned int i;

	if (event->id >= CHOICE_IDS)
		return;
	kind = &t->kinds[event->id];
	kind->event = event;
	kind->pid = hyptrace_event_field(event, PID_FIELD);
	kind->message = find_message(host_messages, event);
	if (kind->message && !hyptrace_event_field(event, kind->message->fields[0]))
		kind->message = NULL;
	for (i = 0; kind->message && i < PERFETTO_FTRACE_FIELDS; i++)
		kind->fields[i] = hyptrace_event_field(event, kind->message->fields[i]);
	kind->room = EVENT_HEAD + strlen(event->name);
	for (i = 0; i < event->nr_fields; i++)
		kind->room += FIELD_HEAD + strlen(event->fields[i]->name) + STRING_MAX;
	t->room = MAX(t->room, kind->room);
}

/* Append the value of a field. A negative number has 64 bits, as protobuf wants it. */
static uint8_t *put_value(uint8_t *to, unsigned int number, const struct hyptrace_field *field,
			  const struct hyptrace_record *rec)
{
	const char *text;
	uint64_t value;
	uint32_t size;

	if (!hyptrace_field_value(field, rec, &value))
		return protobuf_uint(to, number, value);
	/* a string: a char array of any length */
	text = strstr(field->type, "char") ? hyptrace_field_bytes(field, rec, &size) : NULL;
	return text ? protobuf_bytes(to, number, text, strnlen(text, MIN(size, STRING_MAX))) : to;
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

static void put_event(const struct host_trace *trace, struct perfetto_bundle *bundle,
		      const struct hyptrace_record *rec, struct out *out)
{
	const struct host_kind *kind = &trace->kinds[row_record_id(rec)];
	uint8_t *start, *message, *to;
	uint64_t pid = 0;
	unsigned int i;

	if (!kind->event)
		return;
	to = begin_event(bundle, out, rec->ts, trace->room, &start);
	if (kind->pid)
		hyptrace_field_value(kind->pid, rec, &pid);
	/* also that of the idle task, which is 0: Perfetto refuses events without it */
	to = protobuf_uint(to, EVENT_PID, (uint32_t)pid);
	message = protobuf_open(to, kind->message ? kind->message->number : EVENT_GENERIC);
	to = kind->message ? message : put_generic(message, kind->event, rec);
	for (i = 0; i < PERFETTO_FTRACE_FIELDS && kind->message; i++)
		if (kind->fields[i])
			to = put_value(to, i + 1, kind->fields[i], rec);
	end_event(bundle, start, message, to);
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	const struct host_trace *trace = part->x->state;
	struct perfetto_bundle *bundle = part->state;
	const struct hyptrace_stream_event *event;

	for (event = events; event < events + nr; event++) {
		if (event->record.lost) {
			perfetto_bundle_flush(bundle, part->out);
			bundle->has_lost = true;
		}
		if (event->record.data)
			put_event(trace, bundle, &event->record, part->out);
	}
}

static int begin(struct export *x)
{
	struct host_trace *trace = xcalloc(1, sizeof(*trace));
	unsigned int i;

	x->state = trace;
	for (i = 0; i < x->nr_events; i++)
		add_kind(trace, x->events[i]);
	return EXIT_DONE;
}

static void begin_part(struct export_part *part)
{
	struct perfetto_bundle *bundle = xcalloc(1, sizeof(*bundle));

	part->state = bundle;
	bundle->cpu = part->cpu;
}

static void end_part(struct export_part *part)
{
	struct perfetto_bundle *bundle = part->state;

	perfetto_bundle_flush(bundle, part->out);
	free(bundle->events);
	free(bundle);
}

static int end(struct export *x)
{
	free(x->state);
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
