// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describe the events of hyp/events.h and the hypercalls of the scenario, as the driver does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "../../tools/lib/file/write/file_write.h"
#include "describe.h"
#include "rings.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

/* The print format of host_hcall has the names. */
#define NAME_NEXT(id, name, ...)	, { id, name }
#define HYPTRACE_HCALL_NAMES	{ 65535, "none" } SCENARIO_CALLS(NAME_NEXT)

static void *must(void *p)
{
	if (p)
		return p;
	fputs("make_file: out of memory\n", stderr);
	exit(2);
}

static void add_symbol(struct hyptrace_field *field, uint64_t value, const char *name, size_t len)
{
	struct hyptrace_symbol *symbol = must(calloc(1, sizeof(*symbol)));

	symbol->value = value;
	symbol->name = must(strndup(name, len));
	field->symbols = must(reallocarray(field->symbols, field->nr_symbols + 2,
					   sizeof(*field->symbols)));
	field->symbols[field->nr_symbols++] = symbol;
	field->symbols[field->nr_symbols] = NULL;
}

/* Find the names of the values of a field: __print_symbolic(REC->field, { value, "name" }, ...) */
static void add_symbols(struct hyptrace_field *field, const char *print_fmt)
{
	char call[128];
	const char *at, *name;
	uint64_t value;

	snprintf(call, sizeof(call), "__print_symbolic(REC->%s,", field->name);
	at = strstr(print_fmt, call);
	if (!at)
		return;
	for (at += strlen(call); *at != ')'; at = name + strcspn(name, "}") + 1) {
		at += strcspn(at, "{") + 1;
		value = strtoull(at, NULL, 0);
		name = strchr(at, '"') + 1;
		add_symbol(field, value, name, strcspn(name, "\""));
	}
}

static void add_field(struct hyptrace_event *event, const char *name, const char *type,
		      uint32_t offset, uint32_t size, bool is_signed)
{
	struct hyptrace_field *field = must(calloc(1, sizeof(*field)));

	field->name = must(strdup(name));
	field->type = must(strdup(type));
	field->offset = offset;
	field->size = size;
	field->is_signed = is_signed;
	add_symbols(field, event->print_fmt);
	event->fields = must(reallocarray(event->fields, event->nr_fields + 2,
					  sizeof(*event->fields)));
	event->fields[event->nr_fields++] = field;
	event->fields[event->nr_fields] = NULL;
}

static struct hyptrace_event *add_event(struct hyptrace_file_meta *meta, const char *name,
					size_t size, const char *print_fmt)
{
	struct hyptrace_event *event = must(calloc(1, sizeof(*event)));

	strcpy(event->remote, meta->info.remote);
	strcpy(event->name, name);
	event->size = size;
	event->enabled = true;
	event->print_fmt = must(strdup(print_fmt));
	meta->info.events = must(reallocarray(meta->info.events, meta->info.nr_events + 2,
					      sizeof(*meta->info.events)));
	meta->info.events[meta->info.nr_events++] = event;
	meta->info.events[meta->info.nr_events] = NULL;
	event->id = meta->info.nr_events;
	return event;
}

#define HE_PROTO(...)
#define HE_STRUCT(fields)	fields
#define HE_SAVE(...)
#define HE_ASSIGN(...)
#define TEXT(...)		#__VA_ARGS__
#define HE_PRINTK(...)		TEXT(__VA_ARGS__)
#define __entry			REC

/* A payload, as hyp/ writes it */
#define he_field(type, name)	type name;
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	struct entry_##name { u16 common_type; fields };
#include "../../hyp/events.h"

#undef he_field
#undef HYP_EVENT
#define he_field(type, name)							\
	add_field(event, #name, #type, offsetof(entry, name), sizeof(type), (type)-1 < (type)1);
#define HYP_EVENT(name, proto, fields, assign, printk)				\
	static void add_##name(struct hyptrace_file_meta *meta)			\
	{									\
		typedef struct entry_##name entry;				\
		struct hyptrace_event *event = add_event(meta, #name, sizeof(entry), printk); \
										\
		fields								\
	}
#include "../../hyp/events.h"

#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	add_##name,
static void (*const add[])(struct hyptrace_file_meta *meta) = {
#include "../../hyp/events.h"
};

/* Arguments are pairs of a type and a name. */
static void add_call(struct hyptrace_file_meta *meta, unsigned int id, const char *name,
		     bool returns, const char *const *args, unsigned int nr)
{
	struct hyptrace_hypercall *call = must(calloc(1, sizeof(*call)));
	unsigned int i;

	strcpy(call->remote, meta->info.remote);
	call->name = must(strdup(name));
	call->id = id;
	call->returns = returns;
	call->known_args = true;
	call->args = must(calloc(nr / 2 + 1, sizeof(*call->args)));
	for (i = 0; i < nr; i += 2) {
		struct hyptrace_hypercall_arg *arg = must(calloc(1, sizeof(*arg)));

		arg->type = must(strdup(args[i]));
		arg->name = must(strdup(args[i + 1]));
		call->args[call->nr_args++] = arg;
	}
	meta->info.calls = must(reallocarray(meta->info.calls, meta->info.nr_calls + 2,
					     sizeof(*meta->info.calls)));
	meta->info.calls[meta->info.nr_calls++] = call;
	meta->info.calls[meta->info.nr_calls] = NULL;
}

static bool is_named(const char *variable, const char *name)
{
	const char *value = getenv(variable);

	return value && !strcmp(value, name);
}

/*
 * Add all events and hypercalls. Act as a kernel that has no hook for the event FAKE_MISSING, and
 * not all hooks for FAKE_INCOMPLETE.
 */
void describe_remote(struct hyptrace_file_meta *meta)
{
	size_t i;

	for (i = 0; i < sizeof(add) / sizeof(add[0]); i++)
		add[i](meta);
	for (i = 0; i < meta->info.nr_events; i++) {
		struct hyptrace_event *event = meta->info.events[i];

		event->missing = is_named("FAKE_MISSING", event->name);
		event->incomplete = is_named("FAKE_INCOMPLETE", event->name);
	}
#define ADD(id, name, returns, ...)							\
	add_call(meta, id, name, returns, (const char *const []){ __VA_ARGS__ },	\
		 sizeof((const char *const []){ __VA_ARGS__ }) / sizeof(char *));
	SCENARIO_CALLS(ADD)
}
