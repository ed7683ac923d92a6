// SPDX-License-Identifier: GPL-2.0-only
/*
 * What events mean in Chrome's JSON, and their arguments. For export_chrome.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/digits.h"
#include "../lib/internal.h"
#include "die.h"
#include "export_chrome.h"
#include "out.h"
#include "text.h"

#define NSEC_PER_USEC	1000

/* Fields that are not arguments of a slice: the slice itself shows them */
static bool is_shown(const char *name)
{
	return !strcmp(name, "duration");
}

/* Get the value of a field; return false if the event has none. */
static bool get(const struct chrome_event *event, const char *name, uint64_t *value)
{
	const struct hyptrace_field *field = hyptrace_event_field(event->type, name);

	*value = 0;
	return field && !hyptrace_field_value(field, event->rec, value);
}

/* Take the name of a field's value as that of the event; return false if it has none. */
static bool take_name(struct chrome_event *event, const struct hyptrace_formats *formats,
		      const char *field_name)
{
	const struct hyptrace_field *field = hyptrace_event_field(event->type, field_name);
	const char *name;

	name = field ? hyptrace_formats_name(formats, event->type, field, event->rec) : NULL;
	if (name)
		snprintf(event->name, sizeof(event->name), "%s", name);
	return name;
}

/* Find the kind of an event by its fields: other remotes may have events with the same names. */
static enum chrome_kind kind_of(struct chrome_event *event)
{
	const char *name = event->type->name;
	uint64_t value;

	if (!strcmp(name, "hyp_enter") && get(event, "reason", &value))
		return CHROME_ENTER;
	if (!strcmp(name, "hyp_exit") && get(event, "reason", &value))
		return CHROME_EXIT;
	if (get(event, "pool", &event->pool) && get(event, "left", &event->left))
		return CHROME_POOL;
	if (!get(event, "duration", &event->duration))
		return CHROME_INSTANT;
	if (event->duration > event->rec->ts)
		event->duration = event->rec->ts;
	if (!get(event, "vcpu", &event->vcpu))
		return CHROME_CALL;
	return get(event, "handle", &event->handle) && get(event, "index", &event->index) ?
	       CHROME_GUEST : CHROME_FIXUP;
}

static void name_event(struct chrome_event *event, const struct hyptrace_formats *formats)
{
	static const char *const fields[] = {
		"reason", "id", "func", "func_id", "ec", "code", "op",
	};
	unsigned int i;

	/* its slice is inside that of the guest, which has the name of the exit */
	if (event->kind == CHROME_FIXUP) {
		snprintf(event->name, sizeof(event->name), "%s", event->type->name);
		return;
	}
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (take_name(event, formats, fields[i]))
			return;
	snprintf(event->name, sizeof(event->name), "%s", event->type->name);
}

/**
 * chrome_event_init - find out what an event means
 * @event:	out: the event
 * @formats:	formats of the events
 * @rec:	the event
 */
void chrome_event_init(struct chrome_event *event, const struct hyptrace_formats *formats,
		       const struct hyptrace_record *rec)
{
	event->rec = rec;
	event->type = hyptrace_formats_event(formats, rec);
	event->kind = CHROME_INSTANT;
	if (!event->type) {
		strcpy(event->name, "unknown");
		return;
	}
	event->kind = kind_of(event);
	if (event->kind != CHROME_EXIT)
		name_event(event, formats);
}

/**
 * chrome_put_usec - print a time in microseconds
 * @out:	the output
 * @nsec:	the time in ns
 */
void chrome_put_usec(struct out *out, uint64_t nsec)
{
	char *to = out_room(out, DIGITS_MAX + 4 + DIGITS_SLACK);

	to = hyptrace_digits_decimal(to, nsec / NSEC_PER_USEC);
	nsec %= NSEC_PER_USEC;
	*to++ = '.';
	*to++ = '0' + nsec / 100;
	out_put_to(out, hyptrace_digits_pair(to, nsec % 100));
}

static void put_key(struct out *out, const char *name, bool *any)
{
	out_putc(out, *any ? ',' : '{');
	text_put_json(out, name);
	out_putc(out, ':');
	*any = true;
}

/* Numbers that may not be exact as doubles are hexadecimal strings, as addresses are. */
static void put_number(struct out *out, const struct hyptrace_field *field, uint64_t value)
{
	if (field->is_signed)
		out_printf(out, "%" PRId64, (int64_t)value);
	else if (field->size == sizeof(value))
		out_printf(out, "\"0x%" PRIx64 "\"", value);
	else
		out_printf(out, "%" PRIu64, value);
}

/* Print a field that is not a number, if it is a text. */
static void put_text(struct out *out, const struct chrome_event *event,
		     const struct hyptrace_field *field, bool *any)
{
	uint32_t size;
	const char *bytes = hyptrace_field_bytes(field, event->rec, &size);
	char *text;

	if (!bytes || !strstr(field->type, "char"))
		return;
	text = strndup(bytes, size);
	if (!text)
		die_no_memory();
	put_key(out, field->name, any);
	text_put_json(out, text);
	free(text);
}

static void put_field(struct out *out, struct hyptrace_formats *formats,
		      const struct chrome_event *event, const struct hyptrace_field *field,
		      bool *any)
{
	const char *name;
	uint64_t value;

	if (hyptrace_field_value(field, event->rec, &value)) {
		put_text(out, event, field, any);
		return;
	}
	put_key(out, field->name, any);
	name = hyptrace_formats_name(formats, event->type, field, event->rec);
	if (name)
		text_put_json(out, name);
	else
		put_number(out, field, value);
}

/**
 * chrome_put_args - print the arguments of an event
 * @out:	the output
 * @formats:	formats of the events
 * @event:	the event
 */
void chrome_put_args(struct out *out, struct hyptrace_formats *formats,
		     const struct chrome_event *event)
{
	const struct hyptrace_hypercall *call;
	unsigned int i, nr_args = 0;
	bool any = false;
	size_t len;

	if (!event->type)
		return;
	out_puts(out, ",\"args\":");
	put_key(out, "event", &any);
	text_put_json(out, event->type->name);
	call = hyptrace_formats_hypercall(formats, event->type, event->rec);
	for (i = 0; i < event->type->nr_fields; i++) {
		const struct hyptrace_field *field = event->type->fields[i];
		struct hyptrace_field arg = *field;

		if (is_shown(field->name))
			continue;
		/* the arguments of a hypercall are in the fields from "arg1" on */
		if (call && call->known_args && !strncmp(field->name, "arg", 3)) {
			if (nr_args == call->nr_args)
				continue;
			arg.name = call->args[nr_args++]->name;
			arg.nr_symbols = 0;
		}
		put_field(out, formats, event, arg.name == field->name ? field : &arg, &any);
	}
	if (hyptrace_formats_has_sentence(formats, event->type)) {
		put_key(out, "text", &any);
		text_put_json(out, hyptrace_formats_text(formats, event->type, event->rec, &len));
	}
	out_putc(out, '}');
}
