/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print the lines of events and of losses, as text, JSON or CSV. For stream, show and report.
 */
#ifndef LINES_H
#define LINES_H

#include <limits.h>

#include "lib/hyptrace_file.h"
#include "cli/cli.h"
#include "output/out.h"
#include "output/printer.h"
#include "session/events.h"
#include "session/filter.h"

/* Bytes of the CPU and the time before an event at most */
#define LINES_HEAD_MAX	64

enum lines_time {
	LINES_TIME_ABS,		/* seconds of the remote's clock */
	LINES_TIME_REL,		/* seconds since the first line */
	LINES_TIME_DELTA,	/* seconds since the previous line */
	LINES_TIME_WALL,	/* local date and time */
};

/* Texts of CPUs below this limit are made once. */
#define LINES_CPUS	1000
/* Bytes of such a text: "[000] " and more, to copy a word */
#define LINES_CPU_SIZE	8

/**
 * struct lines_head - the cached time of a line up to 0.1 ms
 * @tick:	when that 0.1 ms began, in ns of the events
 * @span:	how long @text is valid from @tick on, in ns; 0 if it is not
 * @second:	when its second began, in ns
 * @len:	length of @text; 0 before the first line
 * @text:	the text
 */
struct lines_head {
	uint64_t	tick;
	uint64_t	span;
	uint64_t	second;
	uint32_t	len;
	char		text[LINES_HEAD_MAX];
};

/**
 * struct lines - the settings and the state of the line printer
 * @out:	the output
 * @p:		the printer of @out, for JSON
 * @formats:	formats of the events
 * @time:	what the time of a line means
 * @quiet:	print no notes; for the verb
 * @raw:	print each event in its print format, none as a sentence
 * @filter:	argument of --filter, or NULL
 * @words:	arguments of --event, which name events
 * @csv:	print CSV
 * @nanoseconds: print all digits of the time
 * @json:	print JSON
 * @color:	print text with colours
 * @begun:	@base is that of the first or the previous line
 * @move_base:	the next line changes @base
 * @base:	subtracted from each time, in ns; may wrap around
 * @head:	time of the last line
 * @cpus:	texts of CPUs
 * @rows:	prints JSON that is not indented; else NULL
 * @table:	prints CSV; else NULL
 * @tasks:	a line begins with the task that has recorded the event
 * @is_host:	the events are those of the host, beside others: for the verb to set
 * @has_offset:	@offset is known
 * @offset:	CLOCK_REALTIME minus the clock of the events, in ns; for the verb to set
 * @filters:	the conditions that printed events must meet; NULL without --filter
 * @wanted:	the events that --event names, by their ids; NULL without --event
 */
struct lines {
	struct out		*out;
	struct printer		*p;
	struct hyptrace_formats	*formats;
	enum lines_time		time;
	bool			quiet;
	bool			raw;
	const char		*filter;
	struct words		words;
	bool			csv;
	bool			nanoseconds;
	bool			json;
	bool			color;
	bool			begun;
	bool			move_base;
	uint64_t		base;
	struct lines_head	head;
	char			cpus[LINES_CPUS][LINES_CPU_SIZE];
	struct json_rows	*rows;
	struct csv		*table;
	bool			tasks;
	bool			is_host;
	bool			has_offset;
	int64_t			offset;
	struct hyptrace_filters	*filters;
	bool			*wanted;
};

/* lines.c; the options of each verb that prints lines are a child of its parser */
extern const struct argp lines_argp;
/* for a verb that prints lines of its own: only the options of times, and --quiet */
extern const struct argp lines_time_argp;

int lines_begin(struct lines *lines, struct context *ctx, const struct hyptrace_remote *remote,
		struct hyptrace_formats *formats, struct hyptrace_error *err);
void lines_end(struct lines *lines);
void lines_resume(struct lines *lines, uint64_t first, uint64_t previous);
void lines_put_head(struct lines *lines, unsigned int cpu, uint64_t ts);
void lines_event(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec);
void lines_events(struct lines *lines, const struct hyptrace_stream_event *events,
		  unsigned int nr);
void lines_lost(struct lines *lines, unsigned int cpu, uint64_t ts, uint64_t lost);
int lines_stream(struct lines *lines, struct hyptrace_stream *s, struct hyptrace_error *err);

/* lines_choose.c: which events are printed */
int lines_check(const struct lines *lines, const struct context *ctx);
int lines_choose(struct lines *lines, const char *verb, struct hyptrace_event *const *events,
		 unsigned int nr);
int lines_begin_as(struct lines *lines, const struct lines *like, struct context *ctx,
		   const struct hyptrace_remote *remote, struct hyptrace_formats *formats,
		   struct hyptrace_event *const *events, unsigned int nr,
		   struct hyptrace_error *err);
bool lines_has_choice(const struct lines *lines);
bool lines_accept(const struct lines *lines, const struct hyptrace_record *rec);
bool lines_accept_event(const struct hyptrace_stream_event *event, void *lines);
const char *lines_filter_count(const struct lines *lines, uint64_t nr,
			       char text[FILTER_COUNT_SIZE]);

/* report_team.c: several threads for cmd_report.c */
int report_team_run(struct lines *lines, struct context *ctx, struct hyptrace_file *file,
		    void (*note)(const struct hyptrace_error *err, void *arg), void *arg,
		    struct hyptrace_error *err);

/* lines_json.c: for lines.c and the verbs with JSON of their own */
unsigned int lines_record_id(const struct hyptrace_record *rec);
void lines_event_keys(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec);
void lines_event_json(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec);
void lines_field_json(struct printer *p, const struct hyptrace_field *field,
		      const struct hyptrace_record *rec);
void lines_lost_json(struct lines *lines, unsigned int cpu, uint64_t ts, uint64_t lost);

#endif /* LINES_H */
