// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print a line of a stream. For stream.c and cmd_show.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../lib/digits.h"
#include "stream.h"
#include "text.h"

/* For functions that few events need: inlined, they would slow down all others. */
#define noinline		__attribute__((noinline))

#define NSEC_PER_SEC		UINT64_C(1000000000)
#define NSEC_PER_USEC		1000
#define NSEC_PER_TICK		(100 * NSEC_PER_USEC)
/* Decimals of a second up to its ticks */
#define TICK_DIGITS		4

#define BOLD			"\033[1m"
#define NOT_BOLD		"\033[0m"
#define AFTER_NAME		": "

/* Columns of the CPU and of the seconds */
#define CPU_WIDTH		3
#define SEC_WIDTH		5

static char *put_wide(char *to, uint64_t value, unsigned int width, char fill)
{
	char *end = hyptrace_digits_decimal(to, value);
	unsigned int len = end - to;

	if (len >= width)
		return end;
	memmove(to + width - len, to, len);
	memset(to, fill, width - len);
	return to + width;
}

/* Make the start of a line, up to the decimal point of the seconds. */
static noinline void new_second(struct stream_head *head, unsigned int cpu, uint64_t ts)
{
	char *to = head->text;

	head->cpu = cpu;
	head->second = ts - ts % NSEC_PER_SEC;
	*to++ = '[';
	to = put_wide(to, cpu, CPU_WIDTH, '0');
	*to++ = ']';
	*to++ = ' ';
	to = put_wide(to, ts / NSEC_PER_SEC, SEC_WIDTH, ' ');
	*to++ = '.';
	head->len = to - head->text + TICK_DIGITS;
}

/* Make "[000]   123.4567", which is cached: at a high rate many lines start with it. */
static noinline void new_tick(struct stream_head *head, unsigned int cpu, uint64_t ts)
{
	uint32_t tick;

	if (cpu != head->cpu || ts - head->second >= NSEC_PER_SEC)
		new_second(head, cpu, ts);
	tick = (ts - head->second) / NSEC_PER_TICK;
	head->tick = head->second + (uint64_t)tick * NSEC_PER_TICK;
	hyptrace_digits_four(head->text + head->len - TICK_DIGITS, tick);
}

static char *put_head(struct stream *s, char *to, unsigned int cpu, uint64_t ts)
{
	struct stream_head *head = &s->head;
	uint32_t nsec;

	if (ts - head->tick >= NSEC_PER_TICK || cpu != head->cpu)
		new_tick(head, cpu, ts);
	nsec = ts - head->tick;
	to = hyptrace_digits_text(to, head->text, head->len);
	to = hyptrace_digits_pair(to, nsec / NSEC_PER_USEC);
	if (s->nanoseconds) {
		*to++ = '0' + nsec / 100 % 10;
		to = hyptrace_digits_pair(to, nsec % 100);
	}
	*to++ = ':';
	*to++ = ' ';
	return to;
}

static void put_name(struct stream *s, const char *name)
{
	struct out *out = &s->ctx->out;

	if (s->ctx->color)
		out_puts(out, BOLD);
	out_puts(out, name);
	out_puts(out, s->ctx->color ? NOT_BOLD AFTER_NAME : AFTER_NAME);
}

/* Print text; escape it unless it is printable ASCII. */
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

/* Print an event that hyptrace_formats_line() cannot print. */
static noinline void print_slowly(struct stream *s, const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_formats_event(s->formats, rec);
	const char *text;
	size_t len;

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

static void print_text(struct stream *s, unsigned int cpu, const struct hyptrace_record *rec)
{
	struct out *out = &s->ctx->out;
	char *head = out_room(out, STREAM_HEAD_MAX + HYPTRACE_LINE_MAX);
	char *text = put_head(s, head, cpu, rec->ts);
	char *end = hyptrace_formats_line(s->formats, rec, text);

	if (end) {
		*end++ = '\n';
		out_put_to(out, end);
	} else {
		out_put_to(out, text);
		print_slowly(s, rec);
	}
}

/* Print a field that is not a number: a char array as a string, others as hex bytes. */
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
		const struct hyptrace_field *field = event->fields[i];
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

static noinline void print_json(struct stream *s, unsigned int cpu,
				const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_formats_event(s->formats, rec);
	struct printer *p = s->ctx->p;
	unsigned int i;

	printer_line(p, STYLE_PLAIN, "%s", "");
	printer_uint(p, "cpu", cpu);
	printer_u64(p, "ts", rec->ts);
	if (event) {
		printer_str(p, "event", event->name);
		printer_object(p, "fields");
		for (i = 0; i < event->nr_fields; i++)
			print_field(p, event->fields[i], rec);
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
 * stream_print_begin - prepare to print
 * @s:		the stream, with formats
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int stream_print_begin(struct stream *s, struct hyptrace_error *err)
{
	s->head.cpu = STREAM_NO_CPU;
	s->json = printer_is_json(s->ctx->p);
	return hyptrace_formats_lines(s->formats, s->ctx->color ? BOLD : "",
				      s->ctx->color ? NOT_BOLD AFTER_NAME : AFTER_NAME, err);
}

/**
 * stream_print_event - print an event
 * @s:		the stream
 * @cpu:	its CPU
 * @rec:	the event
 */
void stream_print_event(struct stream *s, unsigned int cpu, const struct hyptrace_record *rec)
{
	if (s->json)
		print_json(s, cpu, rec);
	else
		print_text(s, cpu, rec);
}

/**
 * stream_print_lost - print that events were lost
 * @s:		the stream
 * @cpu:	the CPU
 * @lost:	number of lost events, or HYPTRACE_LOST_UNKNOWN
 */
void stream_print_lost(struct stream *s, unsigned int cpu, uint64_t lost)
{
	struct printer *p = s->ctx->p;

	if (lost == HYPTRACE_LOST_UNKNOWN)
		printer_line(p, STYLE_BAD, "[%03u] LOST events", cpu);
	else
		printer_line(p, STYLE_BAD, "[%03u] LOST %" PRIu64 " event%s", cpu, lost,
			     lost == 1 ? "" : "s");
	printer_uint(p, "cpu", cpu);
	if (lost == HYPTRACE_LOST_UNKNOWN)
		printer_none(p, "lost");
	else
		printer_uint(p, "lost", lost);
	printer_end(p);
}
