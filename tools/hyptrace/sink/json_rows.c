// SPDX-License-Identifier: GPL-2.0-only
/* Events and losses as JSON, see hyptrace-json(7), and JSON Lines as a format of export. */
#include "output/die.h"
#include "export.h"
#include "row.h"

/* Bytes before the fields at most: the CPU and the time; or before the names */
#define HEAD_MAX		128

/* How to print an event */
struct json_event {
	struct row	fields;		/* the line up to the fields */
	struct row	no_result;	/* the same of a hypercall that lacks it; or no steps */
	struct row	names;		/* each step is a comma, the key and the name of a value */
	bool		has_text;	/* a sentence */
};

/* A text of up to DIGITS_SLACK bytes with readable bytes behind it */
#define SLACK(text)	(text "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")

struct json_rows {
	struct hyptrace_formats	*formats;
	const struct hyptrace_model *model;
	unsigned int		flags;
	char			*tail;		/* the end of each line that is not indented */
	size_t			tail_len;
	struct out		memory;		/* for lines to indent, and for objects */
	struct stamp		stamp;
	struct map		args;		/* rows of arguments, by hypercall and event */
	struct json_event	*events[CHOICE_IDS];
};

struct json_rows *json_rows_new(struct hyptrace_formats *formats,
				const struct hyptrace_model *model, unsigned int flags,
				const char *members)
{
	struct json_rows *rows = xcalloc(1, sizeof(*rows));

	rows->formats = formats;
	rows->model = model;
	rows->flags = flags;
	rows->tail = xasprintf("%s%s}\n", *members ? "," : "", members);
	rows->tail_len = strlen(rows->tail);
	out_init_memory(&rows->memory);
	return rows;
}

void json_rows_free(struct json_rows *rows)
{
	struct map_entry *args;
	unsigned int i;

	if (!rows)
		return;
	out_free(&rows->memory);
	for (args = NULL; (args = map_next(&rows->args, args)); free(args->ptr))
		row_free(args->ptr);
	map_free(&rows->args);
	free(rows->tail);
	for (i = 0; i < CHOICE_IDS; i++) {
		if (!rows->events[i])
			continue;
		row_free(&rows->events[i]->fields);
		row_free(&rows->events[i]->no_result);
		row_free(&rows->events[i]->names);
		free(rows->events[i]);
	}
	free(rows);
}

static bool is_inside(const struct row *row, const struct hyptrace_field *field)
{
	return field->offset <= row->event->size && field->size <= row->event->size - field->offset;
}

/* Add a field that is inside the event. Return what is before the next one. */
static const char *add_field(struct row *row, const struct hyptrace_field *field,
			     const char *before)
{
	/* JSON readers use doubles: numbers of 64 bits are strings */
	const bool is_long = hyptrace_field_is_number(field, row->event->size) &&
			     field->size == sizeof(uint64_t);
	const char *quote = is_long ? "\"" : "";

	if (!is_inside(row, field))
		return before;
	row_add_text(row, before);
	row_add_string(row, field->name);
	row_add_text(row, ":");
	row_add_text(row, quote);
	row_add_value(row, field);
	row_add_text(row, quote);
	return ",";
}

/* Compile the line up to the fields, without the field @but, which may be NULL. */
static void compile_fields(struct row *row, const struct json_rows *rows,
			   const struct hyptrace_event *event, const struct hyptrace_field *but)
{
	const char *before = "";
	unsigned int i;

	row_init(row, ROW_JSON, rows->formats, event);
	row_add_text(row, rows->flags & JSON_ROWS_HOST ? "\",\"host\":true,\"event\":" :
							"\",\"event\":");
	row_add_string(row, event->name);
	row_add_text(row, ",\"fields\":{");
	for (i = 0; i < event->nr_fields; i++)
		if (event->fields[i] != but)
			before = add_field(row, event->fields[i], before);
	row_add_text(row, "}");
}

static struct json_event *compile(struct json_rows *rows, const struct hyptrace_event *event)
{
	const struct hyptrace_field *result = hyptrace_formats_missing(rows->formats, event, NULL);
	struct json_event *json = xcalloc(1, sizeof(*json));
	struct row *names = &json->names;
	unsigned int i;

	compile_fields(&json->fields, rows, event, NULL);
	if (result)
		compile_fields(&json->no_result, rows, event, result);
	row_init(names, ROW_JSON, rows->formats, event);
	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];

		if (!is_inside(names, field) || !row_has_names(names, field))
			continue;
		row_add_text(names, ",");
		row_add_string(names, field->name);
		row_add_text(names, ":");
		row_add_name(names, field);
	}
	json->has_text = hyptrace_formats_has_sentence(rows->formats, event);
	return json;
}

/* Is a field of a call none of those that strace prints with keys of their own? */
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

/* Compile the arguments of a call as an object; @of: NULL if their names are not known. */
static void compile_args(struct row *args, const struct json_rows *rows,
			 const struct hyptrace_meaning *meaning,
			 const struct hyptrace_hypercall *of)
{
	const struct hyptrace_event *event = meaning->event;
	const unsigned int nr = hyptrace_meaning_named_args(meaning, of);
	const char *before = "{";
	unsigned int i;

	row_init(args, ROW_JSON, rows->formats, event);
	for (i = 0; i < nr; i++) {
		row_add_text(args, i ? "\"," : "{");
		row_add_string(args, of->args[i]->name);
		row_add_text(args, ":\"");
		row_add_value(args, meaning->places[HYPTRACE_ROLE_ARG1 + i].field);
	}
	for (i = 0; i < event->nr_fields && !of; i++)
		if (is_argument(meaning, event->fields[i]))
			before = add_field(args, event->fields[i], before);
	row_add_text(args, nr ? "\"}" : *before == ',' ? "}" : "{}");
}

/* Find a hypercall whose arguments are known; else return NULL. */
static const struct hyptrace_hypercall *find_call(const struct hyptrace_meaning *meaning,
						  const struct hyptrace_record *rec)
{
	const uint64_t id = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ID, rec);
	const struct hyptrace_hypercall *call = hyptrace_meaning_hypercall(meaning, id);

	return call && call->known_args ? call : NULL;
}

static void print_args(struct json_rows *rows, const struct hyptrace_meaning *meaning,
		       const struct hyptrace_hypercall *call, const struct hyptrace_record *rec,
		       struct out *out)
{
	const uint64_t key = call ? call->id : UINT64_MAX;
	struct map_entry *args = map_add(&rows->args, key, meaning->event->id);

	if (!args->ptr) {
		args->ptr = xmalloc(sizeof(struct row));
		compile_args(args->ptr, rows, meaning, call);
	}
	row_print(args->ptr, rec, out);
}

static inline char *put_start(struct json_rows *rows, char *to, unsigned int cpu, uint64_t ts)
{
	to = hyptrace_digits_text(to, SLACK("{\"cpu\":"), 7);
	to = hyptrace_digits_decimal(to, cpu);
	to = hyptrace_digits_text(to, SLACK(",\"ts\":\""), 7);
	return stamp_put(&rows->stamp, to, ts);
}

static inline void print_names(const struct json_event *json, const struct hyptrace_record *rec,
			       struct out *out)
{
	char *to = out_room(out, HEAD_MAX + json->names.room);
	char *names = hyptrace_digits_text(to, SLACK(",\"symbols\":"), 11);

	to = row_put_names(&json->names, rec, names);
	if (to == names)
		return;
	/* a brace takes the place of the first comma */
	*names = '{';
	*to++ = '}';
	out_put_to(out, to);
}

static noinline void print_unknown(struct json_rows *rows, unsigned int cpu,
				   const struct hyptrace_record *rec, struct out *out)
{
	out_put_to(out, put_start(rows, out_room(out, HEAD_MAX), cpu, rec->ts));
	out_printf(out, "\",%s\"event\":null,\"id\":%u,\"size\":%u",
		   rows->flags & JSON_ROWS_HOST ? "\"host\":true," : "", row_record_id(rec),
		   rec->size);
}

/* Print an event without the brace at its end. */
static inline void print_event(struct json_rows *rows, unsigned int cpu,
			       const struct hyptrace_record *rec, struct out *out)
{
	const struct hyptrace_event *event = hyptrace_formats_event(rows->formats, rec);
	const struct hyptrace_hypercall *call;
	const struct row *fields;
	struct json_event *json;

	if (!event) {
		print_unknown(rows, cpu, rec, out);
		return;
	}
	json = rows->events[event->id];
	if (__builtin_expect(!json, 0)) {
		json = compile(rows, event);
		rows->events[event->id] = json;
	}
	fields = json->no_result.steps && hyptrace_formats_missing(rows->formats, event, rec) ?
		 &json->no_result : &json->fields;
	out_put_to(out, put_start(rows, out_room(out, HEAD_MAX), cpu, rec->ts));
	row_print(fields, rec, out);
	if (json->names.nr)
		print_names(json, rec, out);
	call = rows->model && json->has_text ? find_call(rows->model->by_id[event->id], rec) : NULL;
	if (call) {
		out_puts(out, ",\"args\":");
		print_args(rows, rows->model->by_id[event->id], call, rec, out);
	}
	if (json->has_text)
		row_print_text(rows->formats, event, rec, out);
}

/* Where an object goes, or a line before it is indented */
static struct out *memory_of(struct json_rows *rows)
{
	rows->memory.len = 0;
	return &rows->memory;
}

static void end_line(const struct json_rows *rows, struct out *line, struct out *out)
{
	if (line == out) {
		out_write(out, rows->tail, rows->tail_len);
		return;
	}
	out_putc(line, '}');
	text_indent_json(out, line->buf, line->len, 0);
	out_putc(out, '\n');
}

void json_rows_print(struct json_rows *rows, unsigned int cpu, const struct hyptrace_record *rec,
		     struct out *out)
{
	struct out *line = rows->flags & JSON_ROWS_PRETTY ? memory_of(rows) : out;

	print_event(rows, cpu, rec, line);
	end_line(rows, line, out);
}

static void put_lost(struct out *out, uint64_t lost)
{
	if (lost == HYPTRACE_LOST_UNKNOWN)
		out_puts(out, "\"lost\":null");
	else
		out_printf(out, "\"lost\":%" PRIu64, lost);
}

void json_rows_lost(struct json_rows *rows, unsigned int cpu, uint64_t ts, uint64_t lost,
		    struct out *out)
{
	struct out *to = rows->flags & JSON_ROWS_PRETTY ? memory_of(rows) : out;

	out_put_to(to, put_start(rows, out_room(to, HEAD_MAX), cpu, ts));
	out_puts(to, rows->flags & JSON_ROWS_HOST ? "\",\"host\":true," : "\",");
	put_lost(to, lost);
	end_line(rows, to, out);
}

const char *json_rows_object(struct json_rows *rows, unsigned int cpu,
			     const struct hyptrace_record *rec, size_t *len)
{
	struct out *out = memory_of(rows);

	print_event(rows, cpu, rec, out);
	out_putc(out, ',');
	put_lost(out, rec->lost);
	out_putc(out, '}');
	*len = out->len;
	return out->buf;
}

const char *json_rows_args(struct json_rows *rows, const struct hyptrace_meaning *meaning,
			   const struct hyptrace_record *rec, size_t *len)
{
	struct out *out = memory_of(rows);

	print_args(rows, meaning, find_call(meaning, rec), rec, out);
	*len = out->len;
	return out->buf;
}

static int do_nothing(struct export *x)
{
	(void)x;
	return EXIT_DONE;
}

static void begin_part(struct export_part *part)
{
	part->state = json_rows_new(part->formats, part->x->model, 0, part->x->origin->json);
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	const struct hyptrace_stream_event *event;

	for (event = events; event < events + nr; event++) {
		const struct hyptrace_record *rec = &event->record;

		if (rec->lost)
			json_rows_lost(part->state, event->cpu, rec->ts, rec->lost, part->out);
		if (rec->data)
			json_rows_print(part->state, event->cpu, rec, part->out);
	}
}

static void end_part(struct export_part *part)
{
	json_rows_free(part->state);
}

static const struct export_format format EXPORT_FORMAT = {
	.name = "jsonl",
	.place = 5,
	.endings = (const char *const[]){ ".jsonl", ".ndjson", NULL },
	.help = "JSON Lines, as report -j prints EL2's events",
	.targets = EXPORT_TO_FILE,
	.begin = do_nothing,
	.begin_part = begin_part,
	.events = put_events,
	.end_part = end_part,
	.end = do_nothing,
};
