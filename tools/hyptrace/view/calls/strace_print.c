// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: print a call as text or JSON.
 */
#include <string.h>

#include "output/out.h"
#include "output/printer.h"
#include "output/text.h"
#include "sink/lines.h"
#include "strace.h"

/* What a call is indented by, for each call that it is in */
#define INDENT		2

/* What a sentence has before a time at its end */
#define BEFORE_TIME	" <"

/* Return the length of a sentence without the time at its end. */
static size_t without_time(const char *text, size_t len)
{
	const char *at, *last = NULL;

	if (!len || text[len - 1] != '>')
		return len;
	for (at = strstr(text, BEFORE_TIME); at; at = strstr(at + 1, BEFORE_TIME))
		last = at;
	return last ? (size_t)(last - text) : len;
}

static void print_text(struct lines *lines, const struct hyptrace_span *call, bool times)
{
	const struct hyptrace_event *event = call->meaning->event;
	const char *text;
	size_t len;

	lines_put_head(lines, call->cpu, call->end);
	out_spaces(lines->out, (size_t)INDENT * call->depth);
	text = hyptrace_formats_text(lines->formats, event, &call->record, &len);
	if (!hyptrace_formats_has_sentence(lines->formats, event)) {
		out_puts(lines->out, event->name);
		out_puts(lines->out, ": ");
		text_put_plain(lines->out, text);
		out_putc(lines->out, '\n');
		return;
	}
	/* the sentences of calls begin with their names */
	if (call->kind == HYPTRACE_KIND_GUEST_EXIT || call->kind == HYPTRACE_KIND_GUEST_FIXUP) {
		out_puts(lines->out, event->name);
		out_puts(lines->out, ": ");
	}
	if (!times)
		len = without_time(text, len);
	out_write(lines->out, text, len);
	out_putc(lines->out, '\n');
}

/* Is a field none of those that have a key of their own? */
static bool is_argument(const struct hyptrace_meaning *meaning, const struct hyptrace_field *field)
{
	static const enum hyptrace_role others[] = {
		HYPTRACE_ROLE_ID, HYPTRACE_ROLE_RESULT, HYPTRACE_ROLE_DURATION, HYPTRACE_ROLE_CODE,
		HYPTRACE_ROLE_CLASS, HYPTRACE_ROLE_VCPU, HYPTRACE_ROLE_VM, HYPTRACE_ROLE_INDEX,
		HYPTRACE_ROLE_INVALID,
	};
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (meaning->places[others[i]].field == field)
			return false;
	return true;
}

static void print_args(struct printer *p, const struct hyptrace_span *call)
{
	const struct hyptrace_meaning *meaning = call->meaning;
	const struct hyptrace_event *event = meaning->event;
	const struct hyptrace_hypercall *hypercall;
	unsigned int i;

	hypercall = hyptrace_meaning_hypercall(meaning, call->key);
	printer_object(p, "args");
	for (i = 0; i < hyptrace_meaning_named_args(meaning, hypercall); i++)
		printer_u64(p, hypercall->args[i]->name,
			    hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ARG1 + i, &call->record));
	for (i = 0; i < event->nr_fields && (!hypercall || !hypercall->known_args); i++)
		if (is_argument(meaning, event->fields[i]))
			lines_field_json(p, event->fields[i], &call->record);
	printer_end(p);
}

static void print_number(struct printer *p, const char *key, const struct hyptrace_span *call,
			 enum hyptrace_role role)
{
	if (hyptrace_meaning_has(call->meaning, role))
		printer_int(p, key, hyptrace_meaning_value(call->meaning, role, &call->record));
	else
		printer_none(p, key);
}

static void print_json(struct printer *p, const struct hyptrace_span *call)
{
	const struct hyptrace_meaning *meaning = call->meaning;
	const char *error = hyptrace_meaning_error(meaning, &call->record);
	char number[STRACE_NUMBER_SIZE];
	int64_t result;

	printer_line(p, STYLE_PLAIN, "%s", "");
	printer_u64(p, "time", call->end);
	printer_uint(p, "cpu", call->cpu);
	printer_str(p, "kind", meaning->event->name);
	printer_str(p, "name", strace_name(call->name, call->key, number));
	print_args(p, call);
	if (hyptrace_meaning_result(meaning, &call->record, &result))
		printer_s64(p, "result", result);
	else
		printer_none(p, "result");
	if (error)
		printer_str(p, "error", error);
	else
		printer_none(p, "error");
	if (hyptrace_meaning_has(meaning, HYPTRACE_ROLE_DURATION))
		printer_u64(p, "duration", hyptrace_meaning_value(meaning, HYPTRACE_ROLE_DURATION,
								  &call->record));
	else
		printer_none(p, "duration");
	printer_uint(p, "depth", call->depth);
	print_number(p, "vcpu", call, HYPTRACE_ROLE_VCPU);
	print_number(p, "vm", call, HYPTRACE_ROLE_VM);
	print_number(p, "index", call, HYPTRACE_ROLE_INDEX);
	printer_end(p);
}

/* @times: text has the duration */
void strace_print(struct lines *lines, const struct hyptrace_span *call, bool times)
{
	if (lines->json)
		print_json(lines->p, call);
	else
		print_text(lines, call, times);
}
