// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: the slices and instants of events on hyptrace's own tracks. For
 * export_perfetto_kind.c, whose table says which function exports which event.
 */
#include <stdio.h>

#include "lib/hyptrace.h"
#include "export_perfetto.h"

/* Number of values of op, from and to */
#define TRANSITION_VALUES	4

/* A duration is rounded, and a damaged file can have any. */
static uint64_t begin_of(const struct hyptrace_record *rec, uint64_t duration)
{
	return duration < rec->ts ? rec->ts - duration : 0;
}

static uint64_t get(const struct perfetto_kind *kind, enum perfetto_role role,
		    const struct hyptrace_record *rec)
{
	return kind->roles[role] ? hyptrace_field_read(kind->roles[role], rec->data) : 0;
}

/* Has the event a result? That of a hypercall which returns nothing is only a register. */
static bool has_result(const struct perfetto_kind *kind, const struct hyptrace_hypercall *call,
		       const struct hyptrace_record *rec)
{
	return !get(kind, ROLE_INVALID, rec) && (!call || !call->known_args || call->returns);
}

static const char *name_value(const struct perfetto *p, const struct perfetto_kind *kind,
			      const struct perfetto_field *field, uint64_t value,
			      const struct hyptrace_record *rec)
{
	if (field->field->nr_symbols)
		return hyptrace_symbol_name(field->field, value);
	/* 0 is success everywhere */
	if (field->is_result && value)
		return hyptrace_formats_name(p->formats, kind->event, field->field, rec);
	return NULL;
}

/* Add the arguments of an event, except the field that is its name. */
static void add_args(struct perfetto *p, struct perfetto_event *event,
		     const struct perfetto_kind *kind, const struct hyptrace_hypercall *call,
		     const struct hyptrace_field *name, const struct hyptrace_record *rec)
{
	const bool known_args = call && call->known_args;
	const bool result = has_result(kind, call, rec);
	unsigned int i;

	for (i = 0; i < kind->nr_fields; i++) {
		struct perfetto_field *field = &kind->fields[i];
		const uint64_t value = hyptrace_field_read(field->field, rec->data);
		const char *text;
		perfetto_name_t key;

		if (field->field == name || (field->is_optional && !value) ||
		    (field->is_result && !result))
			continue;
		if (field->arg && known_args) {
			if (field->arg > call->nr_args)
				continue;
			key = perfetto_name(p, call->args[field->arg - 1]->name);
		} else {
			/* only now: small numbers are for the names that are used */
			if (!field->name)
				field->name = perfetto_name(p, field->field->name);
			key = field->name;
		}
		text = name_value(p, kind, field, value, rec);
		if (text)
			perfetto_add_arg(event, key, PERFETTO_NAME, perfetto_name(p, text));
		else
			perfetto_add_arg(event, key, field->type, value);
	}
}

/* Name an event by the value of a field, if that has a name, and add its arguments. */
static void fill(struct perfetto *p, struct perfetto_event *event,
		 const struct perfetto_kind *kind, const struct hyptrace_record *rec)
{
	const struct hyptrace_hypercall *call;
	const struct hyptrace_field *field = NULL;
	const char *name = NULL;
	unsigned int i;

	call = hyptrace_formats_hypercall(p->formats, kind->event, rec);
	if (call) {
		name = call->name;
		field = kind->names[0];
	}
	for (i = 0; !name && i < sizeof(kind->names) / sizeof(kind->names[0]); i++) {
		field = kind->names[i];
		if (field)
			name = hyptrace_formats_name(p->formats, kind->event, field, rec);
	}
	event->name = perfetto_name(p, name ? name : kind->event->name);
	add_args(p, event, kind, call, name ? field : NULL, rec);
}

/* Begin an event; without arguments, which are filled in later. */
static void begin_event(struct perfetto_event *event, uint64_t begin, uint64_t end,
			bool is_instant)
{
	/* the arrays are large: they are not cleared */
	event->begin = begin;
	event->end = end;
	event->is_instant = is_instant;
	event->name = 0;
	event->text = NULL;
	event->nr_flows = 0;
	event->nr_args = 0;
}

static void describe_calls(struct perfetto *p)
{
	if (p->calls.outer.uuid)
		return;
	p->calls.outer.uuid = perfetto_cpu_track(p, PERFETTO_CALLS, "Calls");
	p->calls.inner.uuid = p->calls.outer.uuid;
}

void perfetto_put_call(struct perfetto *p,
		       const struct perfetto_kind *kind, const struct hyptrace_record *rec)
{
	struct perfetto_event event;

	begin_event(&event, begin_of(rec, get(kind, ROLE_DURATION, rec)), rec->ts, false);
	fill(p, &event, kind, rec);
	describe_calls(p);
	perfetto_put_outer(p, &p->calls, &event);
}

void perfetto_put_inner_call(struct perfetto *p,
			     const struct perfetto_kind *kind, const struct hyptrace_record *rec)
{
	/* without a time it is not over, or it takes none */
	const uint64_t duration = get(kind, ROLE_DURATION, rec);
	struct perfetto_event event;

	begin_event(&event, begin_of(rec, duration), rec->ts, !duration);
	fill(p, &event, kind, rec);
	describe_calls(p);
	perfetto_put_inner(p, &p->calls, &event);
}

static struct perfetto_vcpu *get_vcpu(struct perfetto *p, const struct perfetto_kind *kind,
				      const struct hyptrace_record *rec)
{
	return perfetto_vcpu(p, get(kind, ROLE_VCPU, rec), get(kind, ROLE_HANDLE, rec),
			     get(kind, ROLE_INDEX, rec));
}

void perfetto_put_guest_enter(struct perfetto *p,
			      const struct perfetto_kind *kind, const struct hyptrace_record *rec)
{
	perfetto_guest_enter(p, get_vcpu(p, kind, rec), rec->ts);
}

void perfetto_put_guest_exit(struct perfetto *p,
			     const struct perfetto_kind *kind, const struct hyptrace_record *rec)
{
	struct perfetto_vcpu *vcpu = get_vcpu(p, kind, rec);
	struct perfetto_event event;

	begin_event(&event, begin_of(rec, get(kind, ROLE_DURATION, rec)), rec->ts, false);
	fill(p, &event, kind, rec);
	perfetto_put_outer(p, &vcpu->nest, &event);
	p->entered = NULL;
}

void perfetto_put_guest_trap(struct perfetto *p,
			     const struct perfetto_kind *kind, const struct hyptrace_record *rec)
{
	struct perfetto_vcpu *vcpu = p->entered;
	const uint32_t pid = get(kind, ROLE_VCPU, rec);
	const uint64_t duration = get(kind, ROLE_DURATION, rec);
	struct perfetto_event event;

	if (!vcpu || vcpu->pid != pid)
		vcpu = perfetto_vcpu_of_thread(p, pid);
	begin_event(&event, begin_of(rec, duration), rec->ts, !kind->roles[ROLE_DURATION]);
	fill(p, &event, kind, rec);
	perfetto_put_inner(p, &vcpu->nest, &event);
}

/* "donate host -> hyp" */
static void name_transition(struct perfetto *p, struct perfetto_event *event,
			    const struct perfetto_kind *kind, const struct perfetto_transition *t)
{
	const char *op, *from, *to;
	char *name;

	if (t->op >= TRANSITION_VALUES || t->from >= TRANSITION_VALUES ||
	    t->to >= TRANSITION_VALUES) {
		event->name = perfetto_name(p, kind->event->name);
		perfetto_add_arg(event, perfetto_name(p, "op"), PERFETTO_UINT, t->op);
		perfetto_add_arg(event, perfetto_name(p, "from"), PERFETTO_UINT, t->from);
		perfetto_add_arg(event, perfetto_name(p, "to"), PERFETTO_UINT, t->to);
		return;
	}
	name = p->transitions[t->op][t->from][t->to];
	if (!*name) {
		op = hyptrace_symbol_name(kind->roles[ROLE_OP], t->op);
		from = hyptrace_symbol_name(kind->roles[ROLE_FROM], t->from);
		to = hyptrace_symbol_name(kind->roles[ROLE_TO], t->to);
		snprintf(name, PERFETTO_TRANSITION_SIZE, "%s %s -> %s", op ? op : "?",
			 from ? from : "?", to ? to : "?");
	}
	event->name = perfetto_name(p, name);
}

void perfetto_put_transition(struct perfetto *p,
			     const struct perfetto_kind *kind, const struct hyptrace_record *rec)
{
	const struct perfetto_transition transition = {
		.op = get(kind, ROLE_OP, rec),
		.from = get(kind, ROLE_FROM, rec),
		.to = get(kind, ROLE_TO, rec),
		.handle = get(kind, ROLE_HANDLE, rec),
		.pfn = get(kind, ROLE_PFN, rec),
		.nr = get(kind, ROLE_NR, rec),
	};
	struct perfetto_event event;

	begin_event(&event, rec->ts, rec->ts, true);
	fill(p, &event, kind, rec);
	name_transition(p, &event, kind, &transition);
	perfetto_add_arg(&event, perfetto_name(p, "cpu"), PERFETTO_UINT, p->cpu);
	if (!get(kind, ROLE_RET, rec))
		perfetto_memory_flows(p, &transition, &event);
	if (!p->memory.uuid) {
		p->memory.uuid = perfetto_uuid(PERFETTO_MEMORY, 0);
		perfetto_group(p, PERFETTO_MEMORY);
	}
	perfetto_put(p, &p->memory, &event);
}

static void put_instant(struct perfetto *p,
			const struct perfetto_event *event)
{
	if (!p->events.uuid)
		p->events.uuid = perfetto_cpu_track(p, PERFETTO_EVENTS, "Events");
	perfetto_put(p, &p->events, event);
}

void perfetto_put_other(struct perfetto *p,
			const struct perfetto_kind *kind, const struct hyptrace_record *rec)
{
	struct hyptrace_formats *formats = p->formats;
	struct perfetto_event event;
	size_t len;

	begin_event(&event, rec->ts, rec->ts, true);
	fill(p, &event, kind, rec);
	if (!strcmp(kind->event->name, "hyp_printk")) {
		event.text = hyptrace_formats_text(formats, kind->event, rec, &len);
		perfetto_add_arg(&event, perfetto_name(p, "text"), PERFETTO_TEXT, 0);
	}
	put_instant(p, &event);
}

void perfetto_put_unknown(struct perfetto *p,
			  const struct perfetto_kind *kind, const struct hyptrace_record *rec)
{
	struct perfetto_event event;
	uint16_t id = 0;

	(void)kind;
	begin_event(&event, rec->ts, rec->ts, true);
	event.name = perfetto_name(p, "unknown event");
	if (rec->size >= sizeof(id))
		memcpy(&id, rec->data, sizeof(id));
	perfetto_add_arg(&event, perfetto_name(p, "id"), PERFETTO_UINT, id);
	perfetto_add_arg(&event, perfetto_name(p, "size"), PERFETTO_UINT, rec->size);
	put_instant(p, &event);
}
