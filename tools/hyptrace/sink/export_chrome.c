// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export as Chrome's JSON trace events, for chrome://tracing, speedscope and Perfetto. The process
 * "pKVM Hypervisor" has a thread per CPU: what happens at EL2 is a slice from hyp_enter to
 * hyp_exit, and timed events are slices inside. Slices of a thread must nest, so a call that runs
 * a guest, which leaves EL2 and comes back, is on another thread. The process "Guests" has a
 * thread per vCPU.
 */
#include "common/by_number.h"
#include "output/die.h"
#include "export.h"
#include "functions.h"
#include "row.h"

/* The processes */
#define CHROME_HYPERVISOR	1
#define CHROME_GUESTS		2

#define NSEC_PER_USEC	1000
/* Parts of a microsecond that its ninth digit counts */
#define PARTS_PER_USEC	1000000000
/* Doubles have all integers up to this one */
#define EXACT_INTEGER	(UINT64_C(1) << 53)

/* Bytes of an object up to its name at most */
#define HEAD_MAX	256

/* Threads of the hypervisor from this number on have the calls that span several stays at EL2. */
#define LONG_CALLS	(1U << 20)

/* How to write events of the same name: without a result, and with one */
struct chrome_row {
	uint64_t	key;
	struct row	rows[2];
};

struct chrome;

struct chrome_event {
	void				(*put)(struct chrome *chrome, struct chrome_event *event,
					       const struct hyptrace_record *rec);
	const struct hyptrace_meaning	*meaning;	/* NULL if it is not known */
	bool				has_text;	/* a sentence */
	struct map			rows;		/* by the key; one without a name */
	struct chrome_row		*last;
};

struct chrome {
	const struct hyptrace_model	*model;
	struct hyptrace_formats	*formats;
	struct by_number	events;		/* each from its first one on */
	struct chrome_event	unknown;
	struct out		*out;
	unsigned int		cpu;
	bool			has_long;	/* the thread of its long calls has a name */
	struct hyptrace_record	enter;		/* the CPU is at EL2 since then; or no data */
	struct chrome_event	*entered;
	void			*copy;		/* data of @enter, in memory of @room bytes */
	uint32_t		room;
	uint64_t		last;		/* time of the last event */
	struct stamp		stamp;
	struct map		vcpus;		/* whose threads have a name */
	struct functions	functions;	/* from the first one on */
};

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
		/* the value is for one that has no name */
		row->steps[row->nr - 1].skip = 1;
	}
	/* numbers that may not be exact as doubles are hexadecimal strings, as addresses are */
	if (is_number && !field->is_signed && field->size == sizeof(uint64_t))
		row_add_hex(row, field);
	else
		row_add_value(row, field);
}

/* Compile what follows the times of an event. The arguments of a hypercall have its names. */
static struct chrome_row *new_row(const struct chrome *chrome,
				  const struct chrome_event *event, uint64_t key, const char *name)
{
	const struct hyptrace_meaning *meaning = event->meaning;
	const struct hyptrace_hypercall *call = hyptrace_meaning_hypercall(meaning, key);
	const struct hyptrace_event *type = meaning->event;
	struct chrome_row *rows = xcalloc(1, sizeof(*rows));
	unsigned int has_result, i, nr_args;

	rows->key = key;
	/* only a hypercall may have no result */
	for (has_result = meaning->kind != HYPTRACE_KIND_HYPERCALL; has_result < 2; has_result++) {
		struct row *row = &rows->rows[has_result];

		row_init(row, ROW_JSON, chrome->formats, type);
		row_add_text(row, ",\"name\":");
		row_add_string(row, name ? name : type->name);
		row_add_text(row, ",\"args\":{\"event\":");
		row_add_string(row, type->name);
		for (i = 0, nr_args = 0; i < type->nr_fields; i++) {
			const struct hyptrace_field *field = type->fields[i];

			/* the slice itself shows how long it is */
			if (field == meaning->places[HYPTRACE_ROLE_DURATION].field ||
			    (field == meaning->places[HYPTRACE_ROLE_RESULT].field && !has_result))
				continue;
			if (!call || !call->known_args || strncmp(field->name, "arg", 3))
				add_field(row, field, field->name, true);
			else if (nr_args < call->nr_args)
				add_field(row, field, call->args[nr_args++]->name, false);
		}
	}
	return rows;
}

static const struct chrome_row *find_row(const struct chrome *chrome,
					 struct chrome_event *event,
					 const struct hyptrace_record *rec)
{
	const uint64_t key = hyptrace_meaning_key(event->meaning, rec);
	struct map_entry *entry;
	const char *name;

	if (event->last && event->last->key == key)
		return event->last;
	entry = map_find(&event->rows, key, 0);
	if (!entry) {
		name = hyptrace_meaning_name(event->meaning, key);
		entry = map_add(&event->rows, name ? key : 0, !name);
		entry->ptr = entry->ptr ?: new_row(chrome, event, key, name);
	}
	event->last = entry->ptr;
	return event->last;
}

/* Print the name and the arguments of an event, and the end of its object. */
static void put_details(struct chrome *chrome, struct chrome_event *event,
			const struct hyptrace_record *rec)
{
	const struct hyptrace_meaning *meaning = event->meaning;
	struct out *out = chrome->out;
	bool has_result;

	if (!meaning) {
		out_puts(out, ",\"name\":\"unknown\"}");
		return;
	}
	has_result = meaning->kind != HYPTRACE_KIND_HYPERCALL ||
		     !hyptrace_formats_missing(chrome->formats, meaning->event, rec);
	row_print(&find_row(chrome, event, rec)->rows[has_result], rec, out);
	if (event->has_text)
		row_print_text(chrome->formats, meaning->event, rec, out);
	out_put_to(out, stpcpy(out_room(out, sizeof("}}")), "}}"));
}

/* Write nanoseconds in microseconds. */
static char *put_usec(char *to, uint64_t nsec)
{
	to = hyptrace_digits_decimal(to, nsec / NSEC_PER_USEC);
	nsec %= NSEC_PER_USEC;
	*to++ = '.';
	*to++ = '0' + nsec / 100;
	return hyptrace_digits_pair(to, nsec % 100);
}

/* Begin an object of the list. Return the end of the text, in room for HEAD_MAX bytes. */
static char *begin_object(struct chrome *chrome, char phase, unsigned int pid, uint64_t tid,
			  uint64_t ts)
{
	char *to = stpcpy(out_room(chrome->out, HEAD_MAX), ",\n{\"ph\":\"");

	*to++ = phase;
	to = hyptrace_digits_decimal(stpcpy(to, "\",\"pid\":"), pid);
	to = hyptrace_digits_decimal(stpcpy(to, ",\"tid\":"), tid);
	to = stpcpy(to, ",\"ts\":");
	if (ts < STAMP_TICK)
		return put_usec(to, ts);
	/* in microseconds, too */
	to = stamp_put(&chrome->stamp, to, ts);
	memmove(to - 2, to - 3, 3);
	to[-3] = '.';
	return to + 1;
}

/* The time as readers have it: the double next to its microseconds */
static double to_usec(uint64_t nsec)
{
	char text[32];

	if (nsec < EXACT_INTEGER)
		return (double)nsec / NSEC_PER_USEC;
	snprintf(text, sizeof(text), "%" PRIu64 "e-3", nsec);
	return strtod(text, NULL);
}

/*
 * Write how long a slice is. Readers add it to the begin, as doubles: slices that end together must
 * have the same sum, or they do not nest. If it has not, more digits make it so.
 */
static char *put_duration(char *to, uint64_t begin, uint64_t duration)
{
	const double from = to_usec(begin), end = to_usec(begin + duration), length = end - from;
	uint64_t parts;

	if (from + to_usec(duration) == end)
		return put_usec(to, duration);
	if (length > 0 && length < EXACT_INTEGER / PARTS_PER_USEC) {
		parts = length * PARTS_PER_USEC + 0.5;
		/* the quotient of exact numbers is the double that readers have */
		if (from + (double)parts / PARTS_PER_USEC == end) {
			to = hyptrace_digits_decimal(to, parts / PARTS_PER_USEC);
			*to++ = '.';
			*to++ = '0' + parts / DIGITS_EIGHT % 10;
			return hyptrace_digits_eight(to, parts % DIGITS_EIGHT);
		}
	}
	return to + sprintf(to, "%.17g", length);
}

static void name_track(struct out *out, const char *what, unsigned int pid, uint64_t tid,
		       const char *name)
{
	out_printf(out, ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%" PRIu64 ",\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}",
		   pid, tid, what, name);
}

/* Name a thread of the hypervisor, and say where it is among the others. */
static void name_cpu(struct chrome *chrome, const char *kind, unsigned int tid)
{
	char name[48];

	snprintf(name, sizeof(name), "CPU %u%s", chrome->cpu, kind);
	name_track(chrome->out, "thread_name", CHROME_HYPERVISOR, tid, name);
	out_printf(chrome->out,
		   ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}",
		   CHROME_HYPERVISOR, tid, 2 * chrome->cpu + (tid != chrome->cpu));
}

static void begin_complete(struct chrome *chrome, unsigned int pid, uint64_t tid, uint64_t begin,
			   uint64_t duration)
{
	char *to = begin_object(chrome, 'X', pid, tid, begin);

	out_put_to(chrome->out, put_duration(stpcpy(to, ",\"dur\":"), begin, duration));
}

/* Put the slice of a CPU that is at EL2, as one object: some viewers need the name at the end. */
static void close_slice(struct chrome *chrome, uint64_t ts)
{
	const struct hyptrace_record *enter = &chrome->enter;

	if (!enter->data)
		return;
	/* a damaged file may go back in time */
	begin_complete(chrome, CHROME_HYPERVISOR, chrome->cpu, enter->ts,
		       ts > enter->ts ? ts - enter->ts : 0);
	put_details(chrome, chrome->entered, enter);
	chrome->enter.data = NULL;
}

static void end_slice(struct chrome *chrome, struct chrome_event *event __attribute__((unused)),
		      const struct hyptrace_record *rec)
{
	close_slice(chrome, rec->ts);
}

static void open_slice(struct chrome *chrome, struct chrome_event *event,
		       const struct hyptrace_record *rec)
{
	/* a hyp_exit is missing, though no loss was reported: slices must nest */
	close_slice(chrome, rec->ts);
	if (rec->size > chrome->room) {
		chrome->room = rec->size;
		chrome->copy = xreallocarray(chrome->copy, chrome->room, 1);
	}
	chrome->entered = event;
	chrome->enter = *rec;
	chrome->enter.data = memcpy(chrome->copy, rec->data, rec->size);
}

/* Find the thread of a call: that of its CPU if the call has begun during this stay at EL2. */
static unsigned int thread_of_call(struct chrome *chrome, uint64_t begin)
{
	if (chrome->enter.data && begin >= chrome->enter.ts)
		return chrome->cpu;
	if (!chrome->has_long)
		name_cpu(chrome, ", long calls", LONG_CALLS + chrome->cpu);
	chrome->has_long = true;
	return LONG_CALLS + chrome->cpu;
}

static uint64_t value_of(const struct chrome_event *event, enum hyptrace_role role,
			 const struct hyptrace_record *rec)
{
	return hyptrace_meaning_value(event->meaning, role, rec);
}

/* Put the slice of an event that has a duration. */
static void put_slice(struct chrome *chrome, struct chrome_event *event,
		      const struct hyptrace_record *rec)
{
	const bool is_guest = hyptrace_meaning_has(event->meaning, HYPTRACE_ROLE_VCPU);
	uint64_t duration = value_of(event, HYPTRACE_ROLE_DURATION, rec), tid;
	struct map_entry *known;
	char name[96];

	if (duration > rec->ts)
		duration = rec->ts;
	tid = is_guest ? value_of(event, HYPTRACE_ROLE_VCPU, rec) :
			 thread_of_call(chrome, rec->ts - duration);
	/* name the thread of a vCPU, the first time; guest_fixup does not name the VM */
	if (is_guest && hyptrace_meaning_has(event->meaning, HYPTRACE_ROLE_VM) &&
	    hyptrace_meaning_has(event->meaning, HYPTRACE_ROLE_INDEX)) {
		known = map_add(&chrome->vcpus, tid, 0);
		if (!known->value) {
			snprintf(name, sizeof(name), "VM 0x%" PRIx64 " vCPU %" PRIu64,
				 value_of(event, HYPTRACE_ROLE_VM, rec),
				 value_of(event, HYPTRACE_ROLE_INDEX, rec));
			name_track(chrome->out, "thread_name", CHROME_GUESTS, tid, name);
		}
		known->value = 1;
	}
	begin_complete(chrome, is_guest ? CHROME_GUESTS : CHROME_HYPERVISOR, tid,
		       rec->ts - duration, duration);
	put_details(chrome, event, rec);
}

/* Put the slice of a function. Slices of a thread must nest, so its times are those of its span. */
static void put_function(void *arg, const struct function *function)
{
	const struct hyptrace_span *span = &function->span;
	struct chrome *chrome = arg;

	begin_complete(chrome, CHROME_HYPERVISOR, thread_of_call(chrome, span->begin), span->begin,
		       span->end - span->begin);
	out_puts(chrome->out, ",\"name\":");
	text_put_json(chrome->out, span->name ?: span->meaning->event->name);
	out_printf(chrome->out, ",\"args\":{\"event\":\"func\",\"self\":%" PRIu64 "}}", span->own);
}

static void put_functions(void *arg)
{
	struct chrome *chrome = arg;

	functions_walk(&chrome->functions, put_function, NULL, chrome);
}

/* The first function of the CPU; put_events() has the others. */
static void begin_functions(struct chrome *chrome,
			    struct chrome_event *event __attribute__((unused)),
			    const struct hyptrace_record *rec)
{
	if (chrome->functions.nest)
		return;
	functions_begin(&chrome->functions, chrome->model, put_functions, chrome);
	functions_add(&chrome->functions,
		      &(struct hyptrace_stream_event){ .cpu = chrome->cpu, .record = *rec });
}

static void put_instant(struct chrome *chrome, struct chrome_event *event,
			const struct hyptrace_record *rec)
{
	char *to = begin_object(chrome, 'i', CHROME_HYPERVISOR, chrome->cpu, rec->ts);

	out_put_to(chrome->out, stpcpy(to, ",\"s\":\"t\""));
	put_details(chrome, event, rec);
}

/* An event of a pool, and a counter with its free pages */
static void put_pool(struct chrome *chrome, struct chrome_event *event,
		     const struct hyptrace_record *rec)
{
	char *to = begin_object(chrome, 'C', CHROME_HYPERVISOR, 0, rec->ts);

	to = stpcpy(to, ",\"name\":\"pool 0x");
	to = hyptrace_digits_hex(to, value_of(event, HYPTRACE_ROLE_POOL, rec));
	to = stpcpy(to, "\",\"args\":{\"free pages\":");
	to = hyptrace_digits_decimal(to, value_of(event, HYPTRACE_ROLE_LEFT, rec));
	out_put_to(chrome->out, stpcpy(to, "}}"));
	put_instant(chrome, event, rec);
}

static void put_loss(struct chrome *chrome, uint64_t ts, uint64_t lost)
{
	char *to;

	/* nobody knows when the CPU has left EL2 */
	close_slice(chrome, chrome->last);
	to = begin_object(chrome, 'i', CHROME_HYPERVISOR, chrome->cpu, ts);
	to = stpcpy(to, ",\"s\":\"t\",\"name\":\"LOST\",\"args\":{\"lost\":");
	to = lost == HYPTRACE_LOST_UNKNOWN ? stpcpy(to, "null") : hyptrace_digits_decimal(to, lost);
	out_put_to(chrome->out, stpcpy(to, "}}"));
}

static struct chrome_event *event_of(struct chrome *chrome, const struct hyptrace_record *rec)
{
	const struct hyptrace_meaning *meaning = hyptrace_model_meaning(chrome->model, rec);
	struct chrome_event *event;

	if (!meaning->event)
		return &chrome->unknown;
	event = by_number_find(&chrome->events, meaning->event->id);
	if (!event) {
		event = xcalloc(1, sizeof(*event));
		if (!by_number_set(&chrome->events, meaning->event->id, event))
			die_no_memory();
		event->meaning = meaning;
		event->put = put_instant;
		if (meaning->kind == HYPTRACE_KIND_ENTER)
			event->put = open_slice;
		else if (meaning->kind == HYPTRACE_KIND_EXIT)
			event->put = end_slice;
		else if (meaning->kind == HYPTRACE_KIND_POOL)
			event->put = put_pool;
		else if (meaning->kind == HYPTRACE_KIND_FUNCTION)
			event->put = begin_functions;
		else if (hyptrace_meaning_has(meaning, HYPTRACE_ROLE_DURATION))
			event->put = put_slice;
		event->has_text = hyptrace_formats_has_sentence(chrome->formats, meaning->event);
	}
	return event;
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	struct chrome *chrome = part->state;
	const struct hyptrace_stream_event *event;
	struct chrome_event *how;

	for (event = events; event < events + nr; event++) {
		const struct hyptrace_record *rec = &event->record;

		if (chrome->functions.nest)
			functions_add(&chrome->functions, event);
		if (rec->lost)
			put_loss(chrome, rec->ts, rec->lost);
		if (rec->data) {
			how = event_of(chrome, rec);
			how->put(chrome, how, rec);
		}
		chrome->last = rec->ts;
	}
}

static void begin_part(struct export_part *part)
{
	struct chrome *chrome = xcalloc(1, sizeof(*chrome));

	part->state = chrome;
	chrome->out = part->out;
	chrome->cpu = part->cpu;
	chrome->model = part->x->model;
	chrome->unknown.put = put_instant;
	chrome->formats = part->formats;
	name_cpu(chrome, "", chrome->cpu);
}

static void free_event(struct chrome_event *event)
{
	struct map_entry *entry = NULL;
	struct chrome_row *row;

	while ((entry = map_next(&event->rows, entry))) {
		row = entry->ptr;
		row_free(&row->rows[false]);
		row_free(&row->rows[true]);
	}
	map_free_values(&event->rows);
	free(event);
}

static void end_part(struct export_part *part)
{
	struct chrome *chrome = part->state;
	struct chrome_event *event;
	unsigned int id;

	functions_finish(&chrome->functions);
	functions_end(&chrome->functions);
	close_slice(chrome, chrome->last);
	for (id = 0; (event = by_number_next(&chrome->events, &id)); id++)
		free_event(event);
	by_number_free(&chrome->events);
	map_free(&chrome->vcpus);
	free(chrome->copy);
	free(chrome);
}

static int begin(struct export *x)
{
	out_puts(x->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":");
	text_put_json(x->out, x->info->clock ? x->info->clock : "unknown");
	out_printf(x->out, "%s%s", *x->origin->json ? "," : "", x->origin->json);
	/* the first object of the list has no comma before it */
	out_printf(x->out, "},\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"pKVM Hypervisor\"}}",
		   CHROME_HYPERVISOR);
	name_track(x->out, "process_name", CHROME_GUESTS, 0, "Guests");
	return EXIT_DONE;
}

static int end(struct export *x)
{
	out_puts(x->out, "\n]}\n");
	return EXIT_DONE;
}

static const struct export_format format EXPORT_FORMAT = {
	.name = "chrome",
	.place = 3,
	.endings = (const char *const[]){ ".json", NULL },
	.help = "Chrome's JSON trace events",
	.targets = EXPORT_TO_FILE,
	.by_cpu = true,
	.begin = begin,
	.begin_part = begin_part,
	.events = put_events,
	.end_part = end_part,
	.end = end,
};
