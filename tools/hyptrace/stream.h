/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streaming: the events of several rings, printed in the order of time. For
 * cmd_stream.c.
 */
#ifndef STREAM_H
#define STREAM_H

#include <limits.h>

#include "cmd.h"

/* What the CPU and the time in front of an event may need. */
#define STREAM_HEAD_MAX	64
#define STREAM_NO_CPU	UINT_MAX

struct stream_source;

/**
 * struct stream_head - the beginning of a line, up to a tenth of a millisecond
 * @tick:	when that began, in ns
 * @second:	when its second began
 * @cpu:	its CPU; STREAM_NO_CPU as long as there is none
 * @len:	length of the text
 * @text:	the text
 */
struct stream_head {
	uint64_t	tick;
	uint64_t	second;
	unsigned int	cpu;
	uint32_t	len;
	char		text[STREAM_HEAD_MAX];
};

/**
 * struct stream_count - the losses of a CPU's ring
 * @cpu:	the CPU
 * @told:	events that records and sub-buffers said to be lost
 * @before:	events lost by the ring's counters when the stream began
 * @after:	the same when it ended
 * @unread:	events in the ring when it ended
 */
struct stream_count {
	unsigned int	cpu;
	uint64_t	told;
	uint64_t	before;
	uint64_t	after;
	uint64_t	unread;
};

/**
 * struct stream - what is streamed, and how
 * @ctx:	of the verb
 * @remote:	the remote
 * @formats:	of its events
 * @listener:	tells when tracing goes on again; may be NULL
 * @limit:	end after so many events; 0 is never
 * @bound:	how long an event may be held back for the sake of order, in ns
 * @signal_fd:	readable when the end is wanted
 * @nanoseconds: print all digits of the time
 * @json:	print JSON
 * @no_start:	leave tracing as it is; end when it is off and nothing is left
 * @started:	tracing was off and has been started
 * @boot_clock:	the time stamps are of CLOCK_BOOTTIME
 * @sources:	one per CPU
 * @counts:	one per source
 * @nr_sources:	how many
 * @printed:	events printed
 * @discarded:	events taken from the rings, or unloaded with them, and not printed
 * @lost:	events that went missing
 * @lost_more:	and some more of which nobody knows how many
 * @head:	of the last line that was printed
 */
struct stream {
	struct context			*ctx;
	const struct hyptrace_remote	*remote;
	struct hyptrace_formats		*formats;
	struct hyptrace_listener	*listener;
	struct hyptrace_merge		*merge;
	struct stream_source		*sources;
	struct stream_count		*counts;
	unsigned int			nr_sources;
	uint64_t			limit;
	uint64_t			bound;
	int				signal_fd;
	bool				nanoseconds;
	bool				json;
	bool				no_start;
	bool				started;
	bool				boot_clock;
	bool				ending;
	uint64_t			end;
	uint64_t			printed;
	uint64_t			discarded;
	uint64_t			lost;
	bool				lost_more;
	struct stream_head		head;
};

/* stream.c */
int stream_open(struct stream *s, const struct hyptrace_cpu *cpus, unsigned int nr);
void stream_close(struct stream *s);
int stream_run(struct stream *s);
int stream_stop(struct stream *s);

/* stream_count.c */
int stream_count_begin(struct stream *s);
void stream_count_lost(struct stream *s, unsigned int index, uint64_t lost);
void stream_count_end(struct stream *s);
void stream_count_unloaded(struct stream *s);
void stream_count_say(const struct stream *s);

/* stream_print.c */
int stream_print_begin(struct stream *s, struct hyptrace_error *err);
void stream_print_event(struct stream *s, unsigned int cpu, const struct hyptrace_record *rec);
void stream_print_lost(struct stream *s, unsigned int cpu, uint64_t lost);

#endif /* STREAM_H */
