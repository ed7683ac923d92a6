/* SPDX-License-Identifier: GPL-2.0-only */
/* Print the lines of events and of losses, as text, JSON or CSV. */
#ifndef LINES_H
#define LINES_H

#include "lib/hyptrace_file.h"
#include "cli/cli.h"
#include "output/printer.h"

struct session;

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

/* The cached time of a line up to 0.1 ms */
struct lines_head {
	uint64_t	tick;		/* when that 0.1 ms began, in ns of the events */
	uint64_t	span;		/* ns from @tick on in which @text is valid; or 0 */
	uint64_t	second;		/* when its second began, in ns */
	uint32_t	len;		/* of @text; 0 before the first line */
	char		text[LINES_HEAD_MAX];
};

/* The settings and the state of the line printer */
struct lines {
	struct out		*out;
	struct printer		*p;		/* of @out, for JSON */
	struct hyptrace_formats	*formats;
	enum lines_time		time;
	bool			raw;		/* no event as a sentence */
	bool			csv;
	bool			nanoseconds;	/* all digits of the time */
	bool			json;
	bool			color;
	bool			begun;		/* @base is that of an earlier line */
	bool			move_base;	/* the next line changes @base */
	uint64_t		base;		/* subtracted from each time; may wrap around */
	struct lines_head	head;		/* of the last line */
	char			cpus[LINES_CPUS][LINES_CPU_SIZE];
	struct hyptrace_model	*model;		/* JSON of EL2's events; else NULL */
	struct json_rows	*rows;		/* JSON; else NULL */
	struct csv		*table;		/* CSV; else NULL */
	const bool		*wanted;	/* of lines_begin_table() */
	bool			tasks;		/* a line begins with the event's task */
	/* of events of the host among them; or NULL */
	struct hyptrace_formats	*host_formats;
	struct json_rows	*host_rows;
};

/* The options of each verb that prints lines, and those of times only */
extern const struct argp lines_argp;
extern const struct argp lines_time_argp;

int lines_begin(struct lines *lines, const struct session *s, const char *clock,
		struct hyptrace_formats *formats);
int lines_begin_host(struct lines *lines, const struct session *s,
		     const struct hyptrace_file_info *info);
void lines_begin_table(struct lines *lines, const bool *wanted,
		       struct hyptrace_event *const *events, unsigned int nr, bool head);
void lines_end(struct lines *lines);
void lines_resume(struct lines *lines, uint64_t first, uint64_t previous);
void lines_put_head(struct lines *lines, unsigned int cpu, uint64_t ts);
void lines_event(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec);
void lines_events(struct lines *lines, const struct hyptrace_stream_event *events,
		  unsigned int nr);
void lines_lost(struct lines *lines, unsigned int cpu, uint64_t ts, uint64_t lost);

#endif /* LINES_H */
