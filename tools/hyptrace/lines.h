/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print the lines of events and of losses, as text or as JSON. For stream and show.
 */
#ifndef LINES_H
#define LINES_H

#include <limits.h>

#include "cmd.h"

/* Bytes of the CPU and the time before an event at most */
#define LINES_HEAD_MAX	64

enum lines_time {
	LINES_TIME_ABS,		/* seconds of the remote's clock */
	LINES_TIME_REL,		/* seconds since the first line */
	LINES_TIME_DELTA,	/* seconds since the previous line */
	LINES_TIME_WALL,	/* local date and time */
};

/**
 * struct lines_head - the cached start of a line: CPU and time up to 0.1 ms
 * @tick:	when that 0.1 ms began, in ns of the events
 * @second:	when its second began, in ns
 * @cpu:	the CPU; UINT_MAX before the first line
 * @len:	length of @text; 0 before the first line
 * @text:	the text
 */
struct lines_head {
	uint64_t	tick;
	uint64_t	second;
	unsigned int	cpu;
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
 * @filter:	argument of --filter, or NULL; for the verb
 * @nanoseconds: print all digits of the time
 * @json:	print JSON
 * @color:	print text with colours
 * @move_base:	the next line changes @base
 * @base:	subtracted from each time, in ns; may wrap around
 * @head:	start of the last line
 */
struct lines {
	struct out		*out;
	struct printer		*p;
	struct hyptrace_formats	*formats;
	enum lines_time		time;
	bool			quiet;
	bool			raw;
	const char		*filter;
	bool			nanoseconds;
	bool			json;
	bool			color;
	bool			move_base;
	uint64_t		base;
	struct lines_head	head;
};

/* lines.c; the options of each verb that prints lines are a child of its parser */
extern const struct argp lines_argp;

int lines_begin(struct lines *lines, struct context *ctx, const struct hyptrace_remote *remote,
		struct hyptrace_formats *formats, struct hyptrace_error *err);
void lines_event(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec);
void lines_lost(struct lines *lines, unsigned int cpu, uint64_t ts, uint64_t lost);
int lines_stream(struct lines *lines, struct hyptrace_stream *s, struct hyptrace_error *err);

/* lines_json.c: for lines.c */
unsigned int lines_record_id(const struct hyptrace_record *rec);
void lines_event_json(struct lines *lines, unsigned int cpu, const struct hyptrace_record *rec);
void lines_lost_json(struct lines *lines, unsigned int cpu, uint64_t ts, uint64_t lost);

#endif /* LINES_H */
