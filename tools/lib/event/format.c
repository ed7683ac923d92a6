// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print an event as text: as a sentence if it has one (sentence.c), else in its print format, which
 * libtraceevent parses from a tracefs format file, and print.c compiles for fast printing.
 */
#include "format.h"

#define SYSTEM	"hyptrace"

/* Lines are remembered by their payloads: the most frequent events have few different ones. */

/* Bytes of the payloads */
#define MEMO_PAYLOAD_MIN	8
#define MEMO_PAYLOAD_MAX	12
/* Bytes of a line at most; all of them are copied, and that many must be readable after a line */
#define MEMO_TEXT		64
#define MEMO_BITS		8

/* A line, without the CPU and the time */
struct memo_line {
	uint64_t	first;	/* first eight bytes of the payload */
	uint64_t	last;	/* its last eight bytes */
	uint32_t	size;	/* its bytes; 0 if there is no line */
	uint32_t	len;	/* bytes of text */
	char		text[MEMO_TEXT];
};

static inline uint64_t memo_word(const void *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Return false if there is no memory. */
static bool add_format(struct hyptrace_formats *fmts, const struct hyptrace_event *event)
{
	struct format *format = &fmts->by_id[event->id];
	char *text;

	format->event = event;
	if (fmts->is_foreign) {
		format->tep_event = hyptrace_safe_event(tep_find_event(fmts->tep, event->id));
		return true;
	}
	/* of two events of the same id, the last counts */
	hyptrace_meaning_free(format->meaning);
	format->meaning = hyptrace_meaning_new(event, &fmts->names, true);
	text = format->meaning ? hyptrace_format_file(event) : NULL;
	if (!text)
		return false;
	format->sentence = format->meaning->sentence ? format->meaning : NULL;
	/* print_fields() prints an event whose format cannot be parsed, as of a damaged dump */
	if (hyptrace_format_check(text) == FORMAT_GOOD)
		tep_parse_event(fmts->tep, text, strlen(text), SYSTEM);
	format->tep_event = hyptrace_safe_event(tep_find_event_by_name(fmts->tep, SYSTEM,
								       event->name));
	free(text);
	return true;
}

/* The kernel has described foreign events. The formats own @tep, and free it if they fail. */
struct hyptrace_formats *hyptrace_formats_make(struct tep_handle *tep, bool is_foreign,
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
	fmts->is_foreign = is_foreign;
	for (i = 0; i < nr; i++)
		if (events[i]->id <= UINT16_MAX && events[i]->id >= fmts->nr_ids)
			fmts->nr_ids = events[i]->id + 1;
	fmts->by_id = calloc(fmts->nr_ids ? fmts->nr_ids : 1, sizeof(*fmts->by_id));
	fmts->prints = calloc(fmts->nr_ids ? fmts->nr_ids : 1, sizeof(*fmts->prints));
	fmts->memo = calloc(1 << MEMO_BITS, sizeof(*fmts->memo));
	if (!fmts->by_id || !fmts->prints || !fmts->memo ||
	    fmts->seq.state != TRACE_SEQ__GOOD ||
	    (!is_foreign && (!tep || !hyptrace_names_set_classes(&fmts->names, events, nr))))
		goto fail;
	for (i = 0; i < nr; i++)
		if (events[i]->id < fmts->nr_ids && !add_format(fmts, events[i]))
			goto fail;
	return fmts;

fail:
	hyptrace_formats_free(fmts);
	hyptrace_error_memory(err);
	return NULL;
}

/**
 * hyptrace_formats_new - prepare to print events
 * @events:	the events of a remote; must stay valid while the formats are used
 * @nr:		number of @events
 * @err:	the reason if it fails; may be NULL
 * Return: the formats, or NULL.
 */
struct hyptrace_formats *hyptrace_formats_new(struct hyptrace_event *const *events,
					      unsigned int nr, struct hyptrace_error *err)
{
	struct tep_handle *tep = tep_alloc();

	if (tep) {
		/* return values report failures: libtraceevent must not print to stderr */
		tep_set_loglevel(TEP_LOG_NONE);
		tep_set_long_size(tep, sizeof(uint64_t));
	}
	return hyptrace_formats_make(tep, false, events, nr, err);
}

/**
 * hyptrace_formats_has_tasks - check whether hyptrace_formats_task() knows tasks
 * @fmts:	the formats
 * Return: true if the kernel of the host has described the events.
 */
bool hyptrace_formats_has_tasks(const struct hyptrace_formats *fmts)
{
	return fmts->is_foreign;
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

/**
 * hyptrace_formats_set_hypercalls - set the names of hypercalls and of their arguments
 * @fmts:	the formats, before hyptrace_formats_lines()
 * @calls:	the hypercalls of the remote; must stay valid while the formats are used
 * @nr:		number of @calls
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or -ENOMEM.
 */
int hyptrace_formats_set_hypercalls(struct hyptrace_formats *fmts,
				    struct hyptrace_hypercall *const *calls, unsigned int nr,
				    struct hyptrace_error *err)
{
	return hyptrace_names_set_calls(&fmts->names, calls, nr) ? hyptrace_error_memory(err) : 0;
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
	*print = format->sentence ? NULL :
		 hyptrace_print_new(format->tep_event, format->event->size, lead);
	if (format->sentence && strlen(lead) <= HYPTRACE_LINE_MAX - SENTENCE_MAX)
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
 * Return: 0 or -ENOMEM.
 */
int hyptrace_formats_lines(struct hyptrace_formats *fmts, const char *before, const char *after,
			   struct hyptrace_error *err)
{
	unsigned int i;
	char *lead;

	memset(fmts->memo, 0, sizeof(*fmts->memo) << MEMO_BITS);
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
	return print ? hyptrace_print_run(print, rec, to) : put_sentence(fmts, rec, to);
}

/* Payloads whose lines are remembered, and shorter ones: out of line, for the speed of others. */
static __attribute__((noinline)) char *put_short(const struct hyptrace_formats *fmts,
						 const struct hyptrace_record *rec, char *to)
{
	struct memo_line *line;
	uint64_t first, last;
	char *end;

	if (rec->size < sizeof(uint16_t))
		return NULL;
	if (rec->size < MEMO_PAYLOAD_MIN)
		return make_line(fmts, rec, to);
	first = memo_word(rec->data);
	last = memo_word((const char *)rec->data + rec->size - sizeof(last));
	/* the place of a line depends on its payload */
	line = &fmts->memo[(first ^ last << 17) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MEMO_BITS)];
	if (line->first == first && line->size == rec->size && line->last == last) {
		memcpy(to, line->text, MEMO_TEXT);
		return to + line->len;
	}
	end = make_line(fmts, rec, to);
	if (end && end - to <= MEMO_TEXT) {
		line->first = first;
		line->last = last;
		line->size = rec->size;
		line->len = end - to;
		memcpy(line->text, to, MEMO_TEXT);
	}
	return end;
}

/**
 * hyptrace_formats_line - print the name and the text of an event on the fast path
 * @fmts:	the formats, after hyptrace_formats_lines()
 * @rec:	a record
 * @to:		destination, with room for HYPTRACE_LINE_MAX bytes
 * Return: the end of the line, which has no newline, no NUL and no control characters
 * of the event. NULL if the caller must use hyptrace_formats_event() and
 * hyptrace_formats_text().
 */
char *hyptrace_formats_line(const struct hyptrace_formats *fmts, const struct hyptrace_record *rec,
			    char *to)
{
	return rec->size <= MEMO_PAYLOAD_MAX ? put_short(fmts, rec, to) : make_line(fmts, rec, to);
}

/**
 * hyptrace_formats_event - find the event of a record
 * @fmts:	the formats
 * @rec:	the record
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
	event = id < fmts->nr_ids ? fmts->by_id[id].event : NULL;
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

/* One text that was too long for the memory does not end all others. */
static struct trace_seq *begin_text(struct hyptrace_formats *fmts)
{
	trace_seq_reset(&fmts->seq);
	fmts->seq.state = TRACE_SEQ__GOOD;
	return &fmts->seq;
}

/**
 * hyptrace_formats_text - print an event
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @rec:	its record
 * @len:	out: length of the text
 * Return: the text; valid until the next call.
 */
const char *hyptrace_formats_text(struct hyptrace_formats *fmts,
				  const struct hyptrace_event *event,
				  const struct hyptrace_record *rec, size_t *len)
{
	struct tep_event *tep_event = fmts->by_id[event->id].tep_event;
	const struct meaning *sentence = fmts->by_id[event->id].sentence;
	struct trace_seq *s;

	if (sentence) {
		*len = print_sentence(sentence, rec->data, fmts->text) - fmts->text;
		fmts->text[*len] = '\0';
		return fmts->text;
	}
	s = begin_text(fmts);
	if (!hyptrace_foreign_print(fmts->tep, s, tep_event, event, rec))
		print_fields(s, event, rec);
	trace_seq_terminate(s);
	*len = s->len;
	return s->buffer;
}

/**
 * hyptrace_formats_has_sentence - check whether an event is printed as a sentence
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * Return: true if it is; false if it is printed in its print format.
 */
bool hyptrace_formats_has_sentence(const struct hyptrace_formats *fmts,
				   const struct hyptrace_event *event)
{
	return fmts->by_id[event->id].sentence;
}

/**
 * hyptrace_formats_task - print the task that was interrupted, or that has called
 * @fmts:	the formats
 * @rec:	a record of an event of the host
 * @len:	out: length of the text
 * Return: the text, such as "     bash-1234  ", valid until the next call; NULL if the event does
 * not say it.
 */
const char *hyptrace_formats_task(struct hyptrace_formats *fmts,
				  const struct hyptrace_record *rec, size_t *len)
{
	const struct hyptrace_event *event;
	const struct hyptrace_field *field;
	uint64_t pid;

	event = fmts->is_foreign ? hyptrace_formats_event(fmts, rec) : NULL;
	field = event ? hyptrace_event_field(event, "common_pid") : NULL;
	if (!field || hyptrace_field_value(field, rec, &pid))
		return NULL;
	trace_seq_printf(begin_text(fmts), "%16s-%-5d ", tep_data_comm_from_pid(fmts->tep, pid),
			 (int)pid);
	*len = fmts->seq.len;
	return fmts->seq.buffer;
}
