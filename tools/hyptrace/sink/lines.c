// SPDX-License-Identifier: GPL-2.0-only
/* Print the lines of events and of losses. */
#include "output/clock.h"
#include "output/die.h"
#include "session/session.h"
#include "lines.h"
#include "row.h"

#define NSEC_PER_TICK		(100 * NSEC_PER_USEC)
/* Decimals of a second up to its ticks */
#define TICK_DIGITS		4

#define BOLD			"\033[1m"
#define RED			"\033[31m"
#define NO_STYLE		"\033[0m"
#define AFTER_NAME		": "

#define CPU_FORMAT		"[%03u] "
/* Length of "[000] " */
#define CPU_LEN			6
/* Columns of the seconds */
#define SEC_WIDTH		5
/* Bytes of a local date and time at most */
#define WALL_MAX		32

#define OPT_TIME		0x300

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const times[] = {
		[LINES_TIME_ABS]	= "abs",
		[LINES_TIME_REL]	= "rel",
		[LINES_TIME_DELTA]	= "delta",
		[LINES_TIME_WALL]	= "wall",
	};
	const unsigned int nr = sizeof(times) / sizeof(times[0]);
	struct lines *lines = state->input;

	if (cmd_set_flag(key, lines))
		return 0;
	if (key != OPT_TIME)
		return ARGP_ERR_UNKNOWN;
	for (lines->time = 0; lines->time < nr && strcmp(arg, times[lines->time]);)
		lines->time++;
	if (lines->time == nr)
		return cmd_usage("bad time \"%s\": use abs, rel, delta or wall", arg);
	return 0;
}

/* Those of times are the last ones. */
static const struct argp_option options[] = {
	{ "raw", OPTION_FLAG(struct lines, raw), NULL, 0,
	  "Print each event in its print format: fields and numbers instead of a sentence", 0 },
	{ "csv", OPTION_FLAG(struct lines, csv), NULL, 0,
	  "Print comma-separated values: a row for each event, a column for each field", 0 },
	{ "time", OPT_TIME, "TIME", 0,
	  "Print the time as abs (seconds of the recorded clock, the default), rel (seconds since the first line), delta (seconds since the previous line) or wall (local date and time)",
	  0 },
	{ "ns", OPTION_FLAG(struct lines, nanoseconds), NULL, 0,
	  "Print times with nanoseconds", 0 },
	{ 0 }
};

const struct argp lines_argp = {
	.options = options,
	.parser = parse,
};

const struct argp lines_time_argp = {
	.options = &options[2],
	.parser = parse,
};

/* Begin the lines of one side, whose times are those of a clock. */
static int begin_side(struct lines *lines, const struct session *s, const char *clock,
		      struct hyptrace_formats *formats)
{
	const bool color = s->ctx->color;
	struct hyptrace_error err;

	if (lines->time == LINES_TIME_WALL && !s->has_offset && strcmp(clock, "boot"))
		return cmd_fail("cannot read \"%s\": its clock \"%s\" has no wall time: use another --time",
				s->name, clock);
	if (lines->raw)
		hyptrace_formats_set_raw(formats);
	return hyptrace_formats_lines(formats, color ? BOLD : "",
				      color ? NO_STYLE AFTER_NAME : AFTER_NAME, &err) ?
	       session_fail(s, &err) : EXIT_DONE;
}

/* Prepare to print events whose times are those of a clock. Return an exit code. */
int lines_begin(struct lines *lines, const struct session *s, const char *clock,
		struct hyptrace_formats *formats)
{
	struct context *ctx = s->ctx;
	unsigned int cpu;

	if (lines->time == LINES_TIME_WALL)
		lines->base = -(s->has_offset ? (uint64_t)s->offset : clock_offset());
	lines->move_base = lines->time == LINES_TIME_REL || lines->time == LINES_TIME_DELTA;
	lines->out = &ctx->out;
	lines->p = ctx->p;
	lines->json = printer_is_json(ctx->p);
	lines->color = ctx->color;
	lines->formats = formats;
	lines->tasks = hyptrace_formats_has_tasks(formats);
	for (cpu = 0; cpu < LINES_CPUS; cpu++)
		snprintf(lines->cpus[cpu], LINES_CPU_SIZE, CPU_FORMAT, cpu);
	if (lines->json) {
		lines->model = or_die(hyptrace_model_new(formats, NULL));
		lines->rows = json_rows_new(formats, lines->model,
					    ctx->pretty ? JSON_ROWS_PRETTY : 0, "");
	}
	return begin_side(lines, s, clock, formats);
}

/* After lines_begin(): prepare to print the host's events among the others, too. */
int lines_begin_host(struct lines *lines, const struct session *s,
		     const struct hyptrace_file_info *info)
{
	lines->host_formats = info->formats;
	if (lines->json)
		lines->host_rows = json_rows_new(info->formats, NULL, JSON_ROWS_HOST |
						 (s->ctx->pretty ? JSON_ROWS_PRETTY : 0), "");
	return begin_side(lines, s, info->clock, info->formats);
}

/* For --csv; @wanted: only of these. The first of several line printers prints the head. */
void lines_begin_table(struct lines *lines, const bool *wanted,
		       struct hyptrace_event *const *events, unsigned int nr, bool head)
{
	auto_free struct hyptrace_event **chosen = NULL;

	if (!lines->csv)
		return;
	lines->wanted = wanted;
	chosen = choice_list(wanted, events, &nr);
	lines->table = csv_new(lines->formats, chosen, nr, NULL);
	if (head)
		csv_head(lines->table, lines->out);
}

/* Continue after lines that another line printer has printed. */
void lines_resume(struct lines *lines, uint64_t first, uint64_t previous)
{
	if (lines->time != LINES_TIME_REL && lines->time != LINES_TIME_DELTA)
		return;
	lines->begun = true;
	lines->move_base = lines->time == LINES_TIME_DELTA;
	lines->base = lines->move_base ? previous : first;
	lines->head.span = 0;
}

void lines_end(struct lines *lines)
{
	json_rows_free(lines->rows);
	json_rows_free(lines->host_rows);
	hyptrace_model_free(lines->model);
	csv_free(lines->table);
}

/* Make "  123.4567", which is cached: at a high rate many lines have it. */
static noinline void new_tick(struct lines *lines, uint64_t ns)
{
	struct lines_head *head = &lines->head;
	const time_t sec = ns / NSEC_PER_SEC;
	char *to = head->text;
	uint32_t tick;
	struct tm tm;

	/* first up to the decimal point of the seconds */
	if (!head->len || ns - head->second >= NSEC_PER_SEC) {
		head->second = ns - ns % NSEC_PER_SEC;
		if (lines->time == LINES_TIME_WALL)
			to += strftime(to, WALL_MAX, "%Y-%m-%d %H:%M:%S", localtime_r(&sec, &tm));
		else
			to += sprintf(to, "%*" PRIu64, SEC_WIDTH, ns / NSEC_PER_SEC);
		*to++ = '.';
		head->len = to - head->text + TICK_DIGITS;
	}
	tick = (ns - head->second) / NSEC_PER_TICK;
	head->tick = head->second + (uint64_t)tick * NSEC_PER_TICK;
	hyptrace_digits_four(head->text + head->len - TICK_DIGITS, tick);
}

/* The time of a line is relative: change the base. Return the base of this line. */
static noinline uint64_t move_base(struct lines *lines, uint64_t ts)
{
	uint64_t base = lines->begun ? lines->base : ts;

	lines->begun = true;
	lines->base = ts;
	lines->move_base = lines->time == LINES_TIME_DELTA;
	return base;
}

/* An event that comes too late for the order is before the base. */
static noinline char *put_negative(const struct lines *lines, char *to, uint64_t ns)
{
	const bool all = lines->nanoseconds;

	return to + sprintf(to, "%*s%" PRIu64 ".%0*" PRIu64 ": ", SEC_WIDTH - 1, "-",
			    ns / NSEC_PER_SEC, all ? 9 : 6,
			    ns % NSEC_PER_SEC / (all ? 1 : NSEC_PER_USEC));
}

static inline always_inline char *put_head(struct lines *lines, char *to, unsigned int cpu,
					   uint64_t ts)
{
	struct lines_head *head = &lines->head;
	uint32_t nsec;

	if (__builtin_expect(cpu < LINES_CPUS, 1)) {
		memcpy(to, lines->cpus[cpu], LINES_CPU_SIZE);
		to += CPU_LEN;
	} else {
		to += sprintf(to, CPU_FORMAT, cpu);
	}
	if (__builtin_expect(ts - head->tick >= head->span, 0)) {
		uint64_t base = lines->move_base ? move_base(lines, ts) : lines->base;

		if (ts < base && lines->time != LINES_TIME_WALL)
			return put_negative(lines, to, base - ts);
		new_tick(lines, ts - base);
		/* from here on in the clock of the events */
		head->tick += base;
		/* the base of the next line is another one */
		head->span = lines->move_base ? 0 : NSEC_PER_TICK;
	}
	nsec = ts - head->tick;
	to = hyptrace_digits_text(to, head->text, head->len);
	to = hyptrace_digits_pair(to, nsec / NSEC_PER_USEC);
	if (lines->nanoseconds) {
		*to++ = '0' + nsec / 100 % 10;
		to = hyptrace_digits_pair(to, nsec % 100);
	}
	*to++ = ':';
	*to++ = ' ';
	return to;
}

/* Print an event that hyptrace_formats_line() cannot print. */
static noinline void print_slowly(struct lines *lines, struct hyptrace_formats *formats,
				  const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_formats_event(formats, rec);
	struct out *out = lines->out;
	size_t len;

	if (!event) {
		out_printf(out, "unknown event %u of %u bytes\n", row_record_id(rec), rec->size);
		return;
	}
	out_puts(out, lines->color ? BOLD : "");
	out_puts(out, event->name);
	out_puts(out, lines->color ? NO_STYLE AFTER_NAME : AFTER_NAME);
	text_put_plain(out, hyptrace_formats_text(formats, event, rec, &len));
	out_putc(out, '\n');
}

void lines_put_head(struct lines *lines, unsigned int cpu, uint64_t ts)
{
	char *to = out_room(lines->out, LINES_HEAD_MAX + DIGITS_SLACK);

	out_put_to(lines->out, put_head(lines, to, cpu, ts));
}

/* Print what follows the head of a line, which ends at @text, in room for it. */
static inline always_inline void print_rest(struct lines *lines, struct out *out,
					    struct hyptrace_formats *formats, char *text,
					    const struct hyptrace_record *rec)
{
	char *end = hyptrace_formats_line(formats, rec, text);

	if (end) {
		*end++ = '\n';
		out_put_to(out, end);
	} else {
		out_put_to(out, text);
		print_slowly(lines, formats, rec);
	}
}

static inline always_inline void print_text(struct lines *lines, struct out *out,
					    unsigned int cpu, const struct hyptrace_record *rec)
{
	char *head = out_room(out, LINES_HEAD_MAX + HYPTRACE_LINE_MAX);

	print_rest(lines, out, lines->formats, put_head(lines, head, cpu, rec->ts), rec);
}

static noinline void print_with_task(struct lines *lines, unsigned int cpu,
				     const struct hyptrace_record *rec)
{
	size_t len;
	const char *task = hyptrace_formats_task(lines->formats, rec, &len);

	if (task)
		text_put_plain(lines->out, task);
	print_text(lines, lines->out, cpu, rec);
}

/* Print an event of the host beside others: "host" and the task are after the time. */
static noinline void print_of_host(struct lines *lines, unsigned int cpu,
				   const struct hyptrace_record *rec)
{
	const char *task;
	size_t len;

	if (lines->json) {
		json_rows_print(lines->host_rows, cpu, rec, lines->out);
		return;
	}
	lines_put_head(lines, cpu, rec->ts);
	out_puts(lines->out, "host ");
	task = hyptrace_formats_task(lines->host_formats, rec, &len);
	if (task)
		text_put_plain(lines->out, task + strspn(task, " "));
	print_rest(lines, lines->out, lines->host_formats,
		   out_room(lines->out, HYPTRACE_LINE_MAX), rec);
}

void lines_event(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec)
{
	if (lines->json)
		json_rows_print(lines->rows, cpu, rec, lines->out);
	else if (lines->table)
		csv_event(lines->table, cpu, rec, lines->out);
	else if (lines->tasks)
		print_with_task(lines, cpu, rec);
	else
		print_text(lines, lines->out, cpu, rec);
}

/* Print that events were lost before that time or, if none follows, after it. */
static void print_lost(struct lines *lines, unsigned int cpu, uint64_t ts, uint64_t lost,
		       bool is_host)
{
	struct out *out = lines->out;

	if (lines->json) {
		json_rows_lost(is_host ? lines->host_rows : lines->rows, cpu, ts, lost, out);
		return;
	}
	if (lines->table) {
		csv_lost(lines->table, cpu, ts, lost, out);
		return;
	}
	out_puts(out, lines->color ? RED : "");
	lines_put_head(lines, cpu, ts);
	out_puts(out, is_host ? "host " : "");
	if (lost == HYPTRACE_LOST_UNKNOWN)
		out_puts(out, "LOST events");
	else
		out_printf(out, "LOST %" PRIu64 " event%s", lost, lost == 1 ? "" : "s");
	out_puts(out, lines->color ? NO_STYLE "\n" : "\n");
}

void lines_lost(struct lines *lines, unsigned int cpu, uint64_t ts, uint64_t lost)
{
	print_lost(lines, cpu, ts, lost, false);
}

/* Print an event that is not plain text, or comes after a loss. */
static noinline void print_any(struct lines *lines, const struct hyptrace_stream_event *event)
{
	const struct hyptrace_record *rec = &event->record;

	if (rec->lost)
		print_lost(lines, event->cpu, rec->ts, rec->lost, event->is_host);
	if (rec->data && event->is_host)
		print_of_host(lines, event->cpu, rec);
	else if (rec->data)
		lines_event(lines, event->cpu, rec);
}

void lines_events(struct lines *lines, const struct hyptrace_stream_event *events,
		  unsigned int nr)
{
	const struct hyptrace_stream_event *event, *end = events + nr;
	const bool is_text = !lines->json && !lines->table && !lines->tasks && !lines->host_formats;
	struct out *const out = lines->out;

	for (event = events; event < end; event++) {
		if (__builtin_expect(is_text && !event->record.lost, 1))
			print_text(lines, out, event->cpu, &event->record);
		else
			print_any(lines, event);
	}
}
