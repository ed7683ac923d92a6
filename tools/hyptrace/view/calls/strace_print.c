// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: print a call as text or JSON. For cmd_strace.c.
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

static void print_text(const struct strace_events *events, struct lines *lines,
		       const struct strace_call *call, bool times)
{
	const struct hyptrace_event *event = events->kinds[call->kind].event;
	const struct hyptrace_record rec = strace_call_record(call);
	const char *text;
	size_t len;

	lines_put_head(lines, call->cpu, call->ts);
	out_spaces(lines->out, (size_t)INDENT * call->depth);
	text = hyptrace_formats_text(lines->formats, event, &rec, &len);
	if (!hyptrace_formats_has_sentence(lines->formats, event)) {
		out_puts(lines->out, event->name);
		out_puts(lines->out, ": ");
		text_put_plain(lines->out, text);
		out_putc(lines->out, '\n');
		return;
	}
	/* the sentences of calls begin with their names */
	if (call->kind == STRACE_EXIT || call->kind == STRACE_FIXUP) {
		out_puts(lines->out, event->name);
		out_puts(lines->out, ": ");
	}
	if (!times)
		len = without_time(text, len);
	out_write(lines->out, text, len);
	out_putc(lines->out, '\n');
}

/* Is a field none of those that have a key of their own? */
static bool is_argument(const struct strace_event *event, const struct hyptrace_field *field)
{
	unsigned int i;

	for (i = 0; i < NR_STRACE_FIELDS; i++)
		if (i != STRACE_HANDLED && event->fields[i] == field)
			return false;
	return true;
}

static void print_args(const struct strace_events *events, struct printer *p,
		       const struct strace_call *call, const struct hyptrace_record *rec)
{
	const struct strace_event *event = &events->kinds[call->kind];
	const struct hyptrace_event *of = event->event;
	const struct hyptrace_hypercall *hypercall;
	unsigned int i, nr = 0;
	uint64_t value;

	hypercall = hyptrace_formats_hypercall(events->formats, of, rec);
	if (hypercall && !hypercall->known_args)
		hypercall = NULL;
	printer_object(p, "args");
	for (i = 0; i < of->nr_fields; i++) {
		if (!is_argument(event, of->fields[i]))
			continue;
		if (!hypercall)
			lines_field_json(p, of->fields[i], rec);
		else if (nr < hypercall->nr_args && !strncmp(of->fields[i]->name, "arg", 3) &&
			 !hyptrace_field_value(of->fields[i], rec, &value))
			printer_u64(p, hypercall->args[nr++]->name, value);
	}
	printer_end(p);
}

static void print_number(struct printer *p, const struct strace_event *event,
			 enum strace_field which, const struct hyptrace_record *rec)
{
	const char *const keys[NR_STRACE_FIELDS] = {
		[STRACE_VCPU] = "vcpu",
		[STRACE_VM] = "vm",
		[STRACE_INDEX] = "index",
	};
	uint64_t value;

	if (strace_field(event, which, rec, &value))
		printer_int(p, keys[which], value);
	else
		printer_none(p, keys[which]);
}

static void print_json(const struct strace_events *events, struct printer *p,
		       const struct strace_call *call)
{
	const struct strace_event *event = &events->kinds[call->kind];
	const struct hyptrace_record rec = strace_call_record(call);
	const char *error = strace_call_error(events, call);
	char number[STRACE_NUMBER_SIZE];
	uint64_t value;

	printer_line(p, STYLE_PLAIN, "%s", "");
	printer_u64(p, "time", call->ts);
	printer_uint(p, "cpu", call->cpu);
	printer_str(p, "kind", event->event->name);
	printer_str(p, "name", strace_call_name(call, number));
	print_args(events, p, call, &rec);
	if (strace_call_result(events, call, &value))
		printer_s64(p, "result", value);
	else
		printer_none(p, "result");
	if (error)
		printer_str(p, "error", error);
	else
		printer_none(p, "error");
	if (event->fields[STRACE_DURATION])
		printer_u64(p, "duration", call->duration);
	else
		printer_none(p, "duration");
	printer_uint(p, "depth", call->depth);
	print_number(p, event, STRACE_VCPU, &rec);
	print_number(p, event, STRACE_VM, &rec);
	print_number(p, event, STRACE_INDEX, &rec);
	printer_end(p);
}

/**
 * strace_print - print a call
 * @events:	the events
 * @lines:	the line printer
 * @call:	the call
 * @times:	text has the duration
 */
void strace_print(const struct strace_events *events, struct lines *lines,
		  const struct strace_call *call, bool times)
{
	if (lines->json)
		print_json(events, lines->p, call);
	else
		print_text(events, lines, call, times);
}
