// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line of the stream. For stream.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"
#include "text.h"

#define NSEC_PER_SEC	UINT64_C(1000000000)
#define NSEC_PER_USEC	1000

static void put_head(struct stream *s, unsigned int cpu, const struct hyptrace_record *rec)
{
	uint64_t sec = rec->ts / NSEC_PER_SEC, nsec = rec->ts % NSEC_PER_SEC;
	char head[64];
	int len;

	if (s->nanoseconds)
		len = snprintf(head, sizeof(head), "[%03u] %5" PRIu64 ".%09" PRIu64 ": ", cpu, sec,
			       nsec);
	else
		len = snprintf(head, sizeof(head), "[%03u] %5" PRIu64 ".%06" PRIu64 ": ", cpu, sec,
			       nsec / NSEC_PER_USEC);
	out_write(&s->ctx->out, head, len);
}

static void put_name(struct stream *s, const char *name)
{
	struct out *out = &s->ctx->out;

	if (s->ctx->color)
		out_puts(out, "\033[1m");
	out_puts(out, name);
	if (s->ctx->color)
		out_puts(out, "\033[0m");
	out_write(out, ": ", 2);
}

/* Text as it is, unless something in it could upset a terminal. */
static void put_text(struct stream *s, const char *text, size_t len)
{
	struct text plain = {};
	size_t i;

	for (i = 0; i < len && text[i] >= ' ' && text[i] < 0x7f; i++)
		;
	if (i == len) {
		out_write(&s->ctx->out, text, len);
		return;
	}
	text_puts(&plain, "");
	text_plain(&plain, text);
	out_write(&s->ctx->out, plain.s, plain.len);
	text_clear(&plain);
}

static unsigned int record_id(const struct hyptrace_record *rec)
{
	uint16_t id = 0;

	if (rec->size >= sizeof(id))
		memcpy(&id, rec->data, sizeof(id));
	return id;
}

static void print_text(struct stream *s, unsigned int cpu, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec)
{
	const char *text;
	size_t len;

	put_head(s, cpu, rec);
	if (event) {
		text = hyptrace_formats_text(s->formats, event, rec, &len);
		put_name(s, event->name);
		put_text(s, text, len);
		out_putc(&s->ctx->out, '\n');
	} else {
		out_printf(&s->ctx->out, "unknown event %u of %u bytes\n", record_id(rec),
			   rec->size);
	}
}

/* A field that is no number: a string if it is one of characters, else its bytes. */
static void print_array_field(struct printer *p, const struct hyptrace_field *field,
			      const struct hyptrace_record *rec)
{
	const unsigned char *at = (const unsigned char *)rec->data + field->offset;
	struct text text = {};
	char digits[4];
	uint32_t i;

	if (field->offset > rec->size || field->size > rec->size - field->offset)
		return;
	text_puts(&text, "");
	if (!strncmp(field->type, "char", 4)) {
		text_write(&text, (const char *)at, strnlen((const char *)at, field->size));
	} else {
		for (i = 0; i < field->size; i++) {
			snprintf(digits, sizeof(digits), "%02x", at[i]);
			text_puts(&text, digits);
		}
	}
	printer_str(p, field->name, text.s);
	text_clear(&text);
}

static void print_field(struct printer *p, const struct hyptrace_field *field,
			const struct hyptrace_record *rec)
{
	uint64_t value;

	if (hyptrace_field_value(field, rec, &value))
		print_array_field(p, field, rec);
	else if (field->size == sizeof(value) && field->is_signed)
		printer_s64(p, field->name, value);
	else if (field->size == sizeof(value))
		printer_u64(p, field->name, value);
	else if (field->is_signed)
		printer_int(p, field->name, value);
	else
		printer_uint(p, field->name, value);
}

static void print_symbols(struct printer *p, const struct hyptrace_event *event,
			  const struct hyptrace_record *rec)
{
	bool begun = false;
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = &event->fields[i];
		const char *name;
		uint64_t value;

		if (!field->nr_symbols || hyptrace_field_value(field, rec, &value))
			continue;
		name = hyptrace_symbol_name(field, value);
		if (!name)
			continue;
		if (!begun)
			printer_object(p, "symbols");
		begun = true;
		printer_str(p, field->name, name);
	}
	if (begun)
		printer_end(p);
}

static void print_json(struct stream *s, unsigned int cpu, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec)
{
	struct printer *p = s->ctx->p;
	unsigned int i;

	printer_line(p, STYLE_PLAIN, "%s", "");
	printer_uint(p, "cpu", cpu);
	printer_u64(p, "ts", rec->ts);
	if (event) {
		printer_str(p, "event", event->name);
		printer_object(p, "fields");
		for (i = 0; i < event->nr_fields; i++)
			print_field(p, &event->fields[i], rec);
		printer_end(p);
		print_symbols(p, event, rec);
	} else {
		printer_none(p, "event");
		printer_uint(p, "id", record_id(rec));
		printer_uint(p, "size", rec->size);
	}
	printer_end(p);
}

/**
 * stream_print_event - print an event
 * @s:		the stream
 * @cpu:	where it happened
 * @rec:	the event
 */
void stream_print_event(struct stream *s, unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_formats_event(s->formats, rec);

	if (printer_is_json(s->ctx->p))
		print_json(s, cpu, event, rec);
	else
		print_text(s, cpu, event, rec);
}

/**
 * stream_print_lost - print that events went missing
 * @s:		the stream
 * @cpu:	where
 * @lost:	how many, or HYPTRACE_LOST_UNKNOWN
 */
void stream_print_lost(struct stream *s, unsigned int cpu, uint64_t lost)
{
	struct printer *p = s->ctx->p;

	if (lost == HYPTRACE_LOST_UNKNOWN)
		printer_line(p, STYLE_BAD, "[%03u] LOST events", cpu);
	else
		printer_line(p, STYLE_BAD, "[%03u] LOST %" PRIu64 " events", cpu, lost);
	printer_uint(p, "cpu", cpu);
	if (lost == HYPTRACE_LOST_UNKNOWN)
		printer_none(p, "lost");
	else
		printer_uint(p, "lost", lost);
	printer_end(p);
}
