// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: the events of which Perfetto itself makes the tracks "pkVM Hypervisor CPU N".
 *
 * hyp_enter opens a slice, hyp_exit closes it, and the other events become its arguments. Viewers
 * do not handle two entries in a row, so exits that are missing are added.
 */
#include <stdlib.h>

#include "output/die.h"
#include "output/out.h"
#include "export_perfetto.h"

/* Trace, TracePacket and FtraceEventBundle */
#define TRACE_PACKET		1
#define FTRACE_EVENTS		1
#define BUNDLE_CPU		1
#define BUNDLE_EVENT		2
#define BUNDLE_LOST_EVENTS	3

/* FtraceEvent */
#define EVENT_TIMESTAMP		1

/* Bytes of an event at most */
#define EVENT_MAX		128

static const struct message {
	unsigned int	number;
	const char	*event;
	const char	*fields[PERFETTO_FTRACE_FIELDS];	/* their numbers are 1, 2, ... */
} messages[] = {
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
};

/* Find Perfetto's message of an event, if it has all fields of the message. */
void perfetto_ftrace_find(struct perfetto_kind *kind, const struct hyptrace_event *event)
{
	const struct message *message = messages;
	const struct hyptrace_field *field;
	unsigned int i;

	while (strcmp(message->event, event->name))
		if (++message == messages + sizeof(messages) / sizeof(messages[0]))
			return;
	for (i = 0; i < PERFETTO_FTRACE_FIELDS && message->fields[i]; i++) {
		field = hyptrace_event_field(event, message->fields[i]);
		if (!field || !hyptrace_field_is_number(field, event->size))
			return;
		kind->details[i].place = hyptrace_place_of(field->offset, field->size, event->size);
		kind->details[i].is_signed = field->is_signed;
	}
	kind->nr_details = i;
	kind->message = message->number;
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

/* Begin an event: all that is before its message. Return where the message starts. */
static inline uint8_t *begin_event(struct perfetto *p, uint64_t ts, unsigned int message,
				   uint8_t **start)
{
	struct perfetto_bundle *bundle = &p->bundle;
	uint8_t *to;

	if (bundle->len >= PERFETTO_BUNDLE_SIZE)
		perfetto_bundle_flush(bundle, p->out);
	if (!bundle->events)
		bundle->events = xmalloc(PERFETTO_BUNDLE_SIZE + EVENT_MAX);
	*start = protobuf_open(bundle->events + bundle->len, BUNDLE_EVENT);
	to = protobuf_uint(*start, EVENT_TIMESTAMP, ts);
	return protobuf_open(to, message);
}

static inline void end_event(struct perfetto *p, uint8_t *start, uint8_t *message, uint8_t *end)
{
	p->bundle.len = protobuf_close(start, protobuf_close(message, end)) - p->bundle.events;
}

static void put_empty(struct perfetto *p, uint64_t ts, unsigned int number)
{
	uint8_t *start, *message = begin_event(p, ts, number, &start);

	end_event(p, start, message, message);
}

/* Close the slice of a CPU that is in EL2, as of its last event. */
void perfetto_ftrace_close(struct perfetto *p)
{
	if (p->is_open)
		put_empty(p, p->last, PERFETTO_HYP_EXIT);
	p->is_open = false;
}

static void put_details(struct perfetto *p, const struct perfetto_kind *kind,
			const struct hyptrace_record *rec)
{
	uint8_t *start, *message = begin_event(p, rec->ts, kind->message, &start), *to = message;
	unsigned int i;

	for (i = 0; i < kind->nr_details; i++) {
		const uint64_t value = perfetto_value(&kind->details[i], rec);

		/* a field that is missing is read as 0 */
		if (value)
			to = protobuf_uint(to, i + 1, value);
	}
	end_event(p, start, message, to);
}

void perfetto_ftrace_put(struct perfetto *p, const struct perfetto_kind *kind,
			 const struct hyptrace_record *rec)
{
	if (kind->message == PERFETTO_HYP_ENTER) {
		perfetto_ftrace_close(p);
		p->is_open = true;
		put_empty(p, rec->ts, kind->message);
	} else if (p->is_open && kind->message == PERFETTO_HYP_EXIT) {
		p->is_open = false;
		put_empty(p, rec->ts, kind->message);
	} else if (p->is_open) {
		put_details(p, kind, rec);
	}
}
