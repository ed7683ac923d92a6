// SPDX-License-Identifier: GPL-2.0-only
/*
 * What events mean in Chrome's JSON, their names and their arguments. For export_chrome.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "output/die.h"
#include "output/map.h"
#include "output/out.h"
#include "export.h"
#include "export_chrome.h"

/* The events, compiled when they are needed */
struct chrome_events {
	struct hyptrace_formats	*formats;
	/* the rows of hypercalls: without a result, and with one */
	struct map		calls[2];
	struct chrome_event	unknown;
	struct chrome_event	*events[EXPORT_NR_IDS];	/* the events by their ids */
};

struct chrome_events *chrome_events_new(struct hyptrace_formats *formats)
{
	struct chrome_events *events = calloc(1, sizeof(*events));

	if (!events)
		die_no_memory();
	events->formats = formats;
	return events;
}

void chrome_events_free(struct chrome_events *events)
{
	unsigned int i;

	for (i = 0; i < EXPORT_NR_IDS; i++) {
		if (!events->events[i])
			continue;
		row_free(&events->events[i]->row);
		row_free(&events->events[i]->no_result);
		free(events->events[i]);
	}
	row_calls_free(&events->calls[false]);
	row_calls_free(&events->calls[true]);
	free(events);
}

/* Find a number of an event; return NULL if it has none of this name. */
static const struct hyptrace_field *find(const struct hyptrace_event *type, const char *name)
{
	const struct hyptrace_field *field = hyptrace_event_field(type, name);

	return field && hyptrace_field_is_number(field, type->size) ? field : NULL;
}

/* Find the kind of an event by its fields: other remotes may have events with the same names. */
static enum chrome_kind kind_of(const struct chrome_event *event, const struct hyptrace_event *type)
{
	if (!strcmp(type->name, "hyp_enter") && find(type, "reason"))
		return CHROME_ENTER;
	if (!strcmp(type->name, "hyp_exit") && find(type, "reason"))
		return CHROME_EXIT;
	if (event->pool && event->left)
		return CHROME_POOL;
	if (!event->duration)
		return CHROME_INSTANT;
	if (!event->vcpu)
		return CHROME_CALL;
	return event->handle && event->index ? CHROME_GUEST : CHROME_FIXUP;
}

/* Add the name of the event: that of the first value that has one. */
static void add_event_name(struct row *row, enum chrome_kind kind)
{
	static const char *const names[] = {
		"reason", "id", "func", "func_id", "ec", "code", "op",
	};
	const struct hyptrace_field *fields[sizeof(names) / sizeof(names[0])];
	unsigned int i, nr = 0;

	row_add_text(row, ",\"name\":");
	/* the slice of a fixup is inside that of the guest, which has the name of the exit */
	for (i = 0; i < sizeof(names) / sizeof(names[0]) && kind != CHROME_FIXUP; i++) {
		fields[nr] = find(row->event, names[i]);
		if (fields[nr] && row_has_names(row, fields[nr]))
			nr++;
	}
	for (i = 0; i < nr; i++) {
		row_add_name(row, fields[i]);
		row_skip_after(row, nr - i);
	}
	row_add_string(row, row->event->name);
	row_end_step(row);
}

static void add_field(struct row *row, const struct hyptrace_field *field, const char *name,
		      bool has_names)
{
	const bool is_number = hyptrace_field_is_number(field, row->event->size);

	if (!is_number && !strstr(field->type, "char"))
		return;
	row_add_text(row, ",");
	row_add_string(row, name);
	row_add_text(row, ":");
	if (has_names && row_has_names(row, field)) {
		row_add_name(row, field);
		row_skip_after(row, 1);
	}
	/* numbers that may not be exact as doubles are hexadecimal strings, as addresses are */
	if (is_number && !field->is_signed && field->size == sizeof(uint64_t))
		row_add_hex(row, field);
	else
		row_add_value(row, field);
}

/* Compile what follows the times of an event. The arguments of a hypercall have its names. */
static void compile_row(struct row *row, const struct hyptrace_formats *formats,
			const struct hyptrace_event *type, enum chrome_kind kind,
			const struct hyptrace_hypercall *call, bool has_result)
{
	unsigned int i, nr_args = 0;

	row_init(row, ROW_JSON, formats, type);
	add_event_name(row, kind);
	row_add_text(row, ",\"args\":{\"event\":");
	row_add_string(row, type->name);
	for (i = 0; i < type->nr_fields; i++) {
		const struct hyptrace_field *field = type->fields[i];

		/* the slice itself shows how long it is */
		if (!strcmp(field->name, "duration"))
			continue;
		if (!has_result && field == hyptrace_formats_result(formats, type))
			continue;
		/* the arguments are in the fields from "arg1" on */
		if (!call || strncmp(field->name, "arg", 3))
			add_field(row, field, field->name, true);
		else if (nr_args < call->nr_args)
			add_field(row, field, call->args[nr_args++]->name, false);
	}
}

static struct chrome_event *compile(struct chrome_events *events, const struct hyptrace_event *type)
{
	struct chrome_event *event = calloc(1, sizeof(*event));

	if (!event)
		die_no_memory();
	event->duration = find(type, "duration");
	event->vcpu = find(type, "vcpu");
	event->handle = find(type, "handle");
	event->index = find(type, "index");
	event->pool = find(type, "pool");
	event->left = find(type, "left");
	event->kind = kind_of(event, type);
	event->has_text = hyptrace_formats_has_sentence(events->formats, type);
	compile_row(&event->row, events->formats, type, event->kind, NULL, true);
	if (hyptrace_formats_result(events->formats, type))
		compile_row(&event->no_result, events->formats, type, event->kind, NULL, false);
	return event;
}

const struct chrome_event *chrome_event_of(struct chrome_events *events,
					   const struct hyptrace_record *rec)
{
	const struct hyptrace_event *type = hyptrace_formats_event(events->formats, rec);

	if (!type)
		return &events->unknown;
	if (!events->events[type->id])
		events->events[type->id] = compile(events, type);
	return events->events[type->id];
}

static const struct row *row_of(struct chrome_events *events, const struct chrome_event *event,
				const struct hyptrace_record *rec)
{
	const struct hyptrace_event *type = event->row.event;
	const bool has_result = hyptrace_formats_has_result(events->formats, type, rec);
	const struct hyptrace_hypercall *call;
	struct row *row;

	call = hyptrace_formats_hypercall(events->formats, type, rec);
	if (!call || !call->known_args)
		return has_result ? &event->row : &event->no_result;
	row = row_calls_get(&events->calls[has_result], type, call);
	if (!row->steps)
		compile_row(row, events->formats, type, event->kind, call, has_result);
	return row;
}

/* Print the name and the arguments of an event, and the end of its object. */
void chrome_put_details(struct chrome_events *events, const struct chrome_event *event,
			const struct hyptrace_record *rec, struct out *out)
{
	if (!event->row.steps) {
		out_puts(out, ",\"name\":\"unknown\"}");
		return;
	}
	row_print(row_of(events, event, rec), rec, out);
	if (event->has_text)
		row_print_text(events->formats, event->row.event, rec, out);
	out_put_to(out, stpcpy(out_room(out, sizeof("}}")), "}}"));
}
