// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print an event as text: as a sentence if it has one (sentence.c), else in its print format.
 *
 * libtraceevent prints that: it parses the event's description as a tracefs format file.
 * print.c compiles the parsed format for fast printing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "format_foreign.h"
#include "internal.h"
#include "memo.h"
#include "print.h"

/* Bytes of the event id, which starts each payload */
#define ID_SIZE		sizeof(uint16_t)
#define SYSTEM		"hyptrace"

static int add_format(struct hyptrace_formats *fmts, const struct hyptrace_event *event,
		      struct hyptrace_error *err)
{
	struct format *format = &fmts->by_id[event->id];
	size_t len;
	char *text = hyptrace_format_file(event, &len);

	if (!text)
		return hyptrace_error_memory(err);

	hyptrace_meaning_free(format->meaning);
	format->meaning = hyptrace_meaning_new(event, &fmts->names, true);
	if (!format->meaning) {
		free(text);
		return hyptrace_error_memory(err);
	}
	format->sentence = format->meaning->sentence ? format->meaning : NULL;
	/* print_fields() prints an event whose format cannot be parsed */
	tep_parse_event(fmts->tep, text, len, SYSTEM);
	format->event = event;
	format->tep_event = tep_find_event_by_name(fmts->tep, SYSTEM, event->name);
	free(text);
	return 0;
}

/* Make the lists by the ids of events. */
static bool make_lists(struct hyptrace_formats *fmts, struct hyptrace_event *const *events,
		       unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (events[i]->id <= UINT16_MAX && events[i]->id >= fmts->nr_ids)
			fmts->nr_ids = events[i]->id + 1;
	fmts->by_id = calloc(fmts->nr_ids ? fmts->nr_ids : 1, sizeof(*fmts->by_id));
	fmts->prints = calloc(fmts->nr_ids ? fmts->nr_ids : 1, sizeof(*fmts->prints));
	fmts->memo = calloc(1, sizeof(*fmts->memo));
	return fmts->by_id && fmts->prints && fmts->memo;
}

/**
 * hyptrace_formats_new - prepare to print events
 * @events:	the events of a remote; must stay valid while the formats are used
 * @nr:		number of @events
 * @err:	the reason if it fails; may be NULL
 *
 * Return: the formats, or NULL.
 */
struct hyptrace_formats *hyptrace_formats_new(struct hyptrace_event *const *events,
					      unsigned int nr, struct hyptrace_error *err)
{
	struct hyptrace_formats *fmts = calloc(1, sizeof(*fmts));
	unsigned int i;

	if (!fmts)
		goto no_memory;
	trace_seq_init(&fmts->seq);
	fmts->tep = tep_alloc();
	if (!fmts->tep)
		goto no_memory;
	/* return values report failures: libtraceevent must not print to stderr */
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(fmts->tep, sizeof(uint64_t));

	if (!make_lists(fmts, events, nr))
		goto no_memory;
	fmts->names.class_field = hyptrace_find_classes(events, nr);
	if (fmts->names.class_field) {
		fmts->names.classes = hyptrace_symbols_new(fmts->names.class_field);
		if (!fmts->names.classes)
			goto no_memory;
	}
	for (i = 0; i < nr; i++)
		if (events[i]->id < fmts->nr_ids && add_format(fmts, events[i], err))
			goto fail;
	return fmts;

no_memory:
	hyptrace_error_memory(err);
fail:
	hyptrace_formats_free(fmts);
	return NULL;
}

/* Prepare to print events that the kernel has described. Return the formats, or NULL. */
struct hyptrace_formats *hyptrace_formats_new_foreign(struct tep_handle *tep,
						      struct hyptrace_event *const *events,
						      unsigned int nr, struct hyptrace_error *err)
{
	struct hyptrace_formats *fmts = calloc(1, sizeof(*fmts));
	unsigned int i;

	if (!fmts) {
		tep_free(tep);
		hyptrace_error_memory(err);
		return NULL;
	}
	trace_seq_init(&fmts->seq);
	fmts->tep = tep;
	fmts->is_foreign = true;
	fmts->is_of_file = true;
	if (!make_lists(fmts, events, nr)) {
		hyptrace_error_memory(err);
		hyptrace_formats_free(fmts);
		return NULL;
	}
	for (i = 0; i < nr; i++) {
		struct format *format;

		if (events[i]->id >= fmts->nr_ids)
			continue;
		format = &fmts->by_id[events[i]->id];
		format->event = events[i];
		format->tep_event = tep_find_event(tep, events[i]->id);
	}
	return fmts;
}

/**
 * hyptrace_formats_has_tasks - check whether hyptrace_formats_task() knows tasks
 * @fmts:	the formats
 *
 * Return: true if the kernel of the host has described the events.
 */
bool hyptrace_formats_has_tasks(const struct hyptrace_formats *fmts)
{
	return fmts->is_foreign;
}

/**
 * hyptrace_formats_task - print the task that was interrupted, or that has called
 * @fmts:	the formats
 * @rec:	a record of an event of the host
 * @len:	out: length of the text
 *
 * Return: the text, such as "     bash-1234  ", valid until the next call; NULL if the event does
 * not say it.
 */
const char *hyptrace_formats_task(struct hyptrace_formats *fmts,
				  const struct hyptrace_record *rec, size_t *len)
{
	const struct hyptrace_event *event;

	if (!fmts->is_foreign)
		return NULL;
	event = hyptrace_formats_event(fmts, rec);
	if (!event)
		return NULL;
	trace_seq_reset(&fmts->seq);
	if (!hyptrace_foreign_task(fmts->tep, &fmts->seq, event, rec))
		return NULL;
	trace_seq_terminate(&fmts->seq);
	*len = fmts->seq.len;
	return fmts->seq.buffer;
}

/**
 * hyptrace_formats_free - free formats
 * @fmts:	the formats, or NULL
 */
void hyptrace_formats_free(struct hyptrace_formats *fmts)
{
	unsigned int i;

	if (!fmts)
		return;
	tep_free(fmts->tep);
	trace_seq_destroy(&fmts->seq);
	for (i = 0; fmts->by_id && fmts->prints && i < fmts->nr_ids; i++) {
		hyptrace_print_free(fmts->prints[i]);
		hyptrace_meaning_free(fmts->by_id[i].meaning);
		free(fmts->by_id[i].lead);
	}
	free(fmts->by_id);
	free(fmts->prints);
	free(fmts->memo);
	free(fmts->names.calls);
	hyptrace_symbols_free(fmts->names.classes);
	free(fmts);
}

/* Let libtraceevent print only what has passed a check. */
void hyptrace_formats_distrust(struct hyptrace_formats *fmts)
{
	fmts->is_of_file = true;
}

/**
 * hyptrace_formats_set_hypercalls - set the names of hypercalls and of their arguments
 * @fmts:	the formats
 * @calls:	the hypercalls of the remote; must stay valid while the formats are used
 * @nr:		number of @calls
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or -ENOMEM.
 */
int hyptrace_formats_set_hypercalls(struct hyptrace_formats *fmts,
				    struct hyptrace_hypercall *const *calls, unsigned int nr,
				    struct hyptrace_error *err)
{
	memset(fmts->memo, 0, sizeof(*fmts->memo));
	if (hyptrace_names_set_calls(&fmts->names, calls, nr))
		return hyptrace_error_memory(err);
	return 0;
}

/**
 * hyptrace_formats_set_raw - print each event in its print format, none as a sentence
 * @fmts:	the formats, before hyptrace_formats_lines()
 */
void hyptrace_formats_set_raw(struct hyptrace_formats *fmts)
{
	unsigned int i;

	for (i = 0; i < fmts->nr_ids; i++) {
		free(fmts->by_id[i].lead);
		fmts->by_id[i].sentence = NULL;
		fmts->by_id[i].lead = NULL;
	}
}

/* Set the text before an event in a line, from malloc(). */
static void set_lead(struct hyptrace_formats *fmts, struct format *format, char *lead)
{
	struct print **print = &fmts->prints[format->event->id];

	free(format->lead);
	format->lead = NULL;
	hyptrace_print_free(*print);
	*print = NULL;
	if (!format->sentence)
		*print = hyptrace_print_new(format->tep_event, format->event->size, lead);
	else if (strlen(lead) <= HYPTRACE_LINE_MAX - SENTENCE_MAX)
		format->lead = realloc(lead, strlen(lead) + DIGITS_SLACK);
	if (format->lead)
		format->lead_len = strlen(format->lead);
	else
		free(lead);
}

/**
 * hyptrace_formats_lines - prepare for hyptrace_formats_line()
 * @fmts:	the formats
 * @before:	text before an event's name, such as an escape sequence for a colour
 * @after:	text after the name, such as ": "
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or -ENOMEM.
 */
int hyptrace_formats_lines(struct hyptrace_formats *fmts, const char *before, const char *after,
			   struct hyptrace_error *err)
{
	unsigned int i;
	char *lead;

	memset(fmts->memo, 0, sizeof(*fmts->memo));
	for (i = 0; i < fmts->nr_ids; i++) {
		struct format *format = &fmts->by_id[i];

		if (!format->tep_event && !format->sentence)
			continue;
		if (asprintf(&lead, "%s%s%s", before, format->event->name, after) < 0)
			return hyptrace_error_memory(err);
		set_lead(fmts, format, lead);
	}
	return 0;
}

static inline char *print_sentence(const struct meaning *meaning, const void *data, char *to)
{
	uint64_t values[HYPTRACE_NR_ROLES];

	hyptrace_meaning_values(meaning, data, values);
	return meaning->sentence->put(meaning, values, to);
}

/* Not inlined: it would slow down the events that have steps. */
static __attribute__((noinline)) char *put_sentence(const struct hyptrace_formats *fmts,
						    const struct hyptrace_record *rec, char *to)
{
	const struct format *format;
	uint16_t id;

	memcpy(&id, rec->data, sizeof(id));
	if (id >= fmts->nr_ids)
		return NULL;
	format = &fmts->by_id[id];
	if (!format->lead || rec->size < format->event->size)
		return NULL;
	to = hyptrace_digits_text(to, format->lead, format->lead_len);
	return print_sentence(format->sentence, rec->data, to);
}

static inline char *make_line(const struct hyptrace_formats *fmts,
			      const struct hyptrace_record *rec, char *to)
{
	const struct print *print;
	uint16_t id;

	memcpy(&id, rec->data, sizeof(id));
	print = id < fmts->nr_ids ? fmts->prints[id] : NULL;
	if (!print || rec->size < print->size)
		return put_sentence(fmts, rec, to);
	return hyptrace_print_run(print, rec->data, to);
}

/* Payloads that memo.h takes, and shorter ones: out of line, so that others do not take longer. */
static __attribute__((noinline)) char *put_short(const struct hyptrace_formats *fmts,
						 const struct hyptrace_record *rec, char *to)
{
	struct memo_line *line;
	char *end;

	if (rec->size < ID_SIZE)
		return NULL;
	if (rec->size < MEMO_PAYLOAD_MIN)
		return make_line(fmts, rec, to);
	line = memo_place(fmts->memo, rec->data, rec->size);
	if (memo_is(line, rec->data, rec->size)) {
		memcpy(to, line->text, MEMO_TEXT);
		return to + line->len;
	}
	end = make_line(fmts, rec, to);
	if (end)
		memo_set(line, rec->data, rec->size, to, end);
	return end;
}

/**
 * hyptrace_formats_line - print the name and the text of an event on the fast path
 * @fmts:	the formats, after hyptrace_formats_lines()
 * @rec:	a record
 * @to:		destination, with room for HYPTRACE_LINE_MAX bytes
 *
 * Return: the end of the line, which has no newline, no NUL and no control characters
 * of the event. NULL if the caller must use hyptrace_formats_event() and
 * hyptrace_formats_text().
 */
char *hyptrace_formats_line(const struct hyptrace_formats *fmts, const struct hyptrace_record *rec,
			    char *to)
{
	if (rec->size <= MEMO_PAYLOAD_MAX)
		return put_short(fmts, rec, to);
	return make_line(fmts, rec, to);
}

/**
 * hyptrace_formats_event - find the event of a record
 * @fmts:	the formats
 * @rec:	the record
 *
 * Return: the event; NULL if it is unknown or the record is too short for it.
 */
const struct hyptrace_event *hyptrace_formats_event(const struct hyptrace_formats *fmts,
						    const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event;
	uint16_t id;

	if (rec->size < sizeof(id))
		return NULL;
	memcpy(&id, rec->data, sizeof(id));
	if (id >= fmts->nr_ids)
		return NULL;
	event = fmts->by_id[id].event;
	return event && rec->size >= event->size ? event : NULL;
}

/* Print the fields one by one: libtraceevent could not parse the print format. */
static void print_fields(struct trace_seq *s, const struct hyptrace_event *event,
			 const struct hyptrace_record *rec)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];
		uint64_t value;

		if (hyptrace_field_value(field, rec, &value))
			continue;
		trace_seq_printf(s, field->is_signed ? "%s%s=%lld" : "%s%s=%llu",
				 s->len ? " " : "", field->name, (unsigned long long)value);
	}
}

/**
 * hyptrace_formats_text - print an event
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @rec:	its record
 * @len:	out: length of the text
 *
 * Return: the text; valid until the next call.
 */
const char *hyptrace_formats_text(struct hyptrace_formats *fmts,
				  const struct hyptrace_event *event,
				  const struct hyptrace_record *rec, size_t *len)
{
	struct tep_event *tep_event = fmts->by_id[event->id].tep_event;
	const struct meaning *sentence = fmts->by_id[event->id].sentence;
	struct trace_seq *s = &fmts->seq;

	if (sentence) {
		*len = print_sentence(sentence, rec->data, fmts->text) - fmts->text;
		fmts->text[*len] = '\0';
		return fmts->text;
	}
	trace_seq_reset(s);
	if (fmts->is_of_file) {
		if (!hyptrace_foreign_print(fmts->tep, s, tep_event, event, rec))
			print_fields(s, event, rec);
	} else if (tep_event && !(tep_event->flags & TEP_EVENT_FL_FAILED)) {
		struct tep_record record = {
			.ts = rec->ts,
			.size = rec->size,
			.data = (void *)rec->data,
		};

		tep_print_event(fmts->tep, s, &record, "%s", TEP_PRINT_INFO);
	} else {
		print_fields(s, event, rec);
	}
	trace_seq_terminate(s);
	*len = s->len;
	return s->buffer;
}

/**
 * hyptrace_formats_has_sentence - check whether an event is printed as a sentence
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 *
 * Return: true if it is; false if it is printed in its print format.
 */
bool hyptrace_formats_has_sentence(const struct hyptrace_formats *fmts,
				   const struct hyptrace_event *event)
{
	return fmts->by_id[event->id].sentence;
}

/**
 * hyptrace_formats_name_depends - check whether the name of a value depends on the whole event
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @field:	the field, one of @event
 *
 * Return: true if hyptrace_formats_name() may give a value another name than
 * hyptrace_symbol_name().
 */
bool hyptrace_formats_name_depends(const struct hyptrace_formats *fmts,
				   const struct hyptrace_event *event,
				   const struct hyptrace_field *field)
{
	const struct meaning *sentence = fmts->by_id[event->id].sentence;

	return sentence && hyptrace_meaning_depends(sentence, field);
}

/**
 * hyptrace_formats_name - get the name of a field's value
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @field:	the field, one of @event
 * @rec:	a record of @event
 *
 * Return: the name, such as "-EPERM" for a field ret; NULL if the value has none.
 */
const char *hyptrace_formats_name(const struct hyptrace_formats *fmts,
				  const struct hyptrace_event *event,
				  const struct hyptrace_field *field,
				  const struct hyptrace_record *rec)
{
	const struct meaning *sentence = fmts->by_id[event->id].sentence;
	uint64_t value;

	if (hyptrace_field_value(field, rec, &value))
		return NULL;
	return sentence ? hyptrace_meaning_field_name(sentence, field, value, rec) :
			  hyptrace_symbol_name(field, value);
}

/* The meaning of an event of hypercalls with a sentence; else NULL */
static const struct hyptrace_meaning *hypercall_of(const struct hyptrace_formats *fmts,
						   const struct hyptrace_event *event)
{
	const struct meaning *meaning = fmts->by_id[event->id].meaning;

	return meaning && meaning->sentence && meaning->public.kind == HYPTRACE_KIND_HYPERCALL ?
	       &meaning->public : NULL;
}

/**
 * hyptrace_formats_hypercall - get the hypercall that an event describes
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @rec:	a record of @event
 *
 * Return: the hypercall, one of hyptrace_formats_set_hypercalls(); else NULL.
 */
const struct hyptrace_hypercall *hyptrace_formats_hypercall(const struct hyptrace_formats *fmts,
							    const struct hyptrace_event *event,
							    const struct hyptrace_record *rec)
{
	const struct hyptrace_meaning *meaning = hypercall_of(fmts, event);

	if (!meaning || !fmts->by_id[event->id].sentence)
		return NULL;
	return hyptrace_meaning_hypercall(meaning,
					  hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ID, rec));
}

/**
 * hyptrace_formats_result - get the field that has a value only if a hypercall returns something
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 *
 * Return: the field; NULL if the event is not that of a hypercall.
 */
const struct hyptrace_field *hyptrace_formats_result(const struct hyptrace_formats *fmts,
						     const struct hyptrace_event *event)
{
	const struct hyptrace_meaning *meaning = hypercall_of(fmts, event);

	return meaning ? meaning->places[HYPTRACE_ROLE_RESULT].field : NULL;
}

/**
 * hyptrace_formats_has_result - is there a value in the field of hyptrace_formats_result()?
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @rec:	a record of @event
 *
 * Return: false if the hypercall was invalid or returns nothing; true for other events.
 */
bool hyptrace_formats_has_result(const struct hyptrace_formats *fmts,
				 const struct hyptrace_event *event,
				 const struct hyptrace_record *rec)
{
	const struct hyptrace_meaning *meaning = hypercall_of(fmts, event);

	return !meaning ||
	       (!hyptrace_meaning_value(meaning, HYPTRACE_ROLE_INVALID, rec) &&
		hyptrace_meaning_returns(fmts->by_id[event->id].meaning,
					 hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ID, rec)));
}
