// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: the events that are calls, their names and results. For the files strace_*.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sink/lines.h"
#include "strace.h"

/* Name of the exit code that has a class */
#define CODE_TRAP	"trap"

/* FF-A answers with another call: this one is an error. Its name has a suffix in some versions. */
#define FFA_PREFIX	"FFA_"
#define FFA_ERROR	"FFA_ERROR"
/* The result of this one is a version, which the event does not have. */
#define FFA_VERSION	"FFA_VERSION"

/* Function ids of calls whose result has 64 bits */
#define SMC_64		0x40000000

/* PSCI functions without SMC_64 */
#define PSCI_CPU_OFF		0x84000002
#define PSCI_CPU_ON		0x84000003
#define PSCI_SYSTEM_SUSPEND	0x8400000e

static const struct {
	const char	*event;
	const char	*key;
	const char	*ret;
} kinds[NR_STRACE_KINDS] = {
	[STRACE_HCALL]	= { "host_hcall", "id", "ret" },
	[STRACE_SMC]	= { "host_smc", "id", "ret" },
	[STRACE_PSCI]	= { "psci_call", "func", "ret" },
	[STRACE_FFA]	= { "host_ffa_call", "func_id", "err" },
	[STRACE_EXIT]	= { "guest_exit", "ec", "" },
	[STRACE_FIXUP]	= { "guest_fixup", "ec", "" },
};

static const struct hyptrace_field *find_field(const struct hyptrace_event *event,
					       const char *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i]->name, name))
			return event->fields[i];
	return NULL;
}

static void find_event(struct strace_event *found, struct hyptrace_event *const *list,
		       unsigned int nr, const char *name, const char *key, const char *ret)
{
	const char *const names[NR_STRACE_FIELDS] = {
		[STRACE_KEY] = key,
		[STRACE_CODE] = "code",
		[STRACE_RET] = ret,
		[STRACE_INVALID] = "invalid",
		[STRACE_HANDLED] = "handled",
		[STRACE_DURATION] = "duration",
		[STRACE_VCPU] = "vcpu",
		[STRACE_VM] = "handle",
		[STRACE_INDEX] = "index",
	};
	unsigned int i;

	*found = (struct strace_event){};
	for (i = 0; i < nr && strcmp(list[i]->name, name); i++)
		;
	if (i == nr || list[i]->size > STRACE_PAYLOAD_MAX)
		return;
	found->event = list[i];
	for (i = 0; i < NR_STRACE_FIELDS; i++)
		found->fields[i] = find_field(found->event, names[i]);
	if (!found->fields[STRACE_KEY])
		found->event = NULL;
}

/**
 * strace_events_init - find the events that are calls
 * @events:	out: the events
 * @list:	all events of the remote or the file; must stay valid
 * @nr:		number of @list
 * @formats:	their formats; must stay valid
 * @hypercalls:	the hypercalls, or NULL; must stay valid
 * @nr_hypercalls: number of @hypercalls
 */
void strace_events_init(struct strace_events *events, struct hyptrace_event *const *list,
			unsigned int nr, struct hyptrace_formats *formats,
			struct hyptrace_hypercall *const *hypercalls, unsigned int nr_hypercalls)
{
	enum strace_kind kind;

	for (kind = 0; kind < NR_STRACE_KINDS; kind++)
		find_event(&events->kinds[kind], list, nr, kinds[kind].event, kinds[kind].key,
			   kinds[kind].ret);
	find_event(&events->load, list, nr, "vcpu_load", "vcpu", "");
	find_event(&events->put, list, nr, "vcpu_put", "vcpu", "");
	events->formats = formats;
	events->hypercalls = hypercalls;
	events->nr_hypercalls = hypercalls ? nr_hypercalls : 0;
}

/**
 * strace_kind_event - get the name of the event that is a call of a kind
 * @kind:	the kind
 *
 * Return: the name.
 */
const char *strace_kind_event(enum strace_kind kind)
{
	return kinds[kind].event;
}

/**
 * strace_field - get the value of a field
 * @event:	the event
 * @which:	the field
 * @rec:	its record
 * @value:	out: the value; 0 if the event does not have the field
 *
 * Return: true if the event has it.
 */
bool strace_field(const struct strace_event *event, enum strace_field which,
		  const struct hyptrace_record *rec, uint64_t *value)
{
	const struct hyptrace_field *field = event->fields[which];

	*value = 0;
	return field && !hyptrace_field_value(field, rec, value);
}

/* Set the name and the number of a call. */
static void find_name(const struct strace_events *events, const struct hyptrace_record *rec,
		      struct strace_call *call)
{
	const struct strace_event *event = &events->kinds[call->kind];
	const struct hyptrace_hypercall *hypercall;
	uint64_t code;

	call->name = NULL;
	strace_field(event, STRACE_KEY, rec, &call->number);
	if (call->kind == STRACE_HCALL) {
		hypercall = hyptrace_formats_hypercall(events->formats, event->event, rec);
		call->name = hypercall ? hypercall->name : NULL;
	}
	if (strace_field(event, STRACE_CODE, rec, &code)) {
		call->name = hyptrace_symbol_name(event->fields[STRACE_CODE], code);
		if (!call->name)
			call->number = code;
		if (!call->name || strcmp(call->name, CODE_TRAP))
			return;
		call->name = NULL;
	}
	if (!call->name)
		call->name = hyptrace_symbol_name(event->fields[STRACE_KEY], call->number);
}

/**
 * strace_call_read - make a call of a record
 * @events:	the events
 * @cpu:	the CPU
 * @rec:	the record
 * @call:	out: the call, of depth 0
 *
 * Return: false if the record is not a call.
 */
bool strace_call_read(const struct strace_events *events, unsigned int cpu,
		      const struct hyptrace_record *rec, struct strace_call *call)
{
	const unsigned int id = lines_record_id(rec);
	const struct hyptrace_event *event;
	enum strace_kind kind;

	for (kind = 0; kind < NR_STRACE_KINDS; kind++) {
		event = events->kinds[kind].event;
		if (event && event->id == id)
			break;
	}
	if (kind == NR_STRACE_KINDS || rec->size < event->size)
		return false;
	call->kind = kind;
	call->cpu = cpu;
	call->ts = rec->ts;
	call->depth = 0;
	/* a payload is rounded up */
	call->size = rec->size < STRACE_PAYLOAD_MAX ? rec->size : STRACE_PAYLOAD_MAX;
	memcpy(call->data, rec->data, call->size);
	strace_field(&events->kinds[kind], STRACE_DURATION, rec, &call->duration);
	find_name(events, rec, call);
	return true;
}

/**
 * strace_call_record - get the record of a call
 * @call:	the call
 *
 * Return: the record, valid as long as the call.
 */
struct hyptrace_record strace_call_record(const struct strace_call *call)
{
	return (struct hyptrace_record){
		.ts = call->ts,
		.data = call->data,
		.size = call->size,
	};
}

/**
 * strace_call_name - get the name of a call
 * @call:	the call
 * @number:	room for its number, if that has no name
 *
 * Return: the name.
 */
const char *strace_call_name(const struct strace_call *call, char number[STRACE_NUMBER_SIZE])
{
	if (call->name)
		return call->name;
	snprintf(number, STRACE_NUMBER_SIZE, "0x%" PRIx64, call->number);
	return number;
}

/* Is it recorded before EL2 calls the firmware? Such a call is recorded again if it fails. */
static bool is_before_result(const struct strace_call *call, uint64_t value)
{
	uint64_t func = call->number & ~(uint64_t)SMC_64;

	return !value && (func == PSCI_CPU_OFF || func == PSCI_CPU_ON ||
			  func == PSCI_SYSTEM_SUSPEND);
}

/**
 * strace_call_result - get what a call has returned
 * @events:	the events
 * @call:	the call
 * @value:	out: the result
 *
 * Return: false if it returns nothing, if EL2 has refused or passed on the call, or if its result
 * is not known yet.
 */
bool strace_call_result(const struct strace_events *events, const struct strace_call *call,
			uint64_t *value)
{
	const struct strace_event *event = &events->kinds[call->kind];
	const struct hyptrace_record rec = strace_call_record(call);
	const struct hyptrace_hypercall *hypercall;
	uint64_t flag;

	if (!strace_field(event, STRACE_RET, &rec, value))
		return false;
	if (strace_field(event, STRACE_INVALID, &rec, &flag) && flag)
		return false;
	if (call->kind == STRACE_FFA)
		return strace_field(event, STRACE_HANDLED, &rec, &flag) && flag &&
		       !(call->name && !strcmp(call->name, FFA_VERSION));
	if (call->kind == STRACE_PSCI)
		return !is_before_result(call, *value);
	if (call->kind != STRACE_HCALL)
		return true;
	hypercall = hyptrace_formats_hypercall(events->formats, event->event, &rec);
	return !hypercall || !hypercall->known_args || hypercall->returns;
}

/* Is the result of an SMC or of a PSCI call negative? */
static bool is_negative(const struct strace_call *call, uint64_t value)
{
	if (call->number & SMC_64)
		return (int64_t)value < 0;
	return (int32_t)value < 0;
}

/**
 * strace_call_error - get the error of a call
 * @events:	the events
 * @call:	the call
 *
 * Return: its name, "invalid" if EL2 has refused the call, or NULL if it is no error.
 */
const char *strace_call_error(const struct strace_events *events, const struct strace_call *call)
{
	const struct strace_event *event = &events->kinds[call->kind];
	const struct hyptrace_record rec = strace_call_record(call);
	const char *name;
	uint64_t value;

	if (strace_field(event, STRACE_INVALID, &rec, &value) && value)
		return "invalid";
	if (!strace_call_result(events, call, &value))
		return NULL;
	name = hyptrace_formats_name(events->formats, event->event, event->fields[STRACE_RET],
				     &rec);
	if (!name || call->kind == STRACE_HCALL)
		return (int64_t)value < 0 ? name : NULL;
	if (!strncmp(name, FFA_PREFIX, strlen(FFA_PREFIX)))
		return strncmp(name, FFA_ERROR, strlen(FFA_ERROR)) ? NULL : name;
	return call->kind == STRACE_FFA || is_negative(call, value) ? name : NULL;
}
