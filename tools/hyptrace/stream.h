/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stream events: read several rings and print in the order of time. For cmd_stream.c.
 */
#ifndef STREAM_H
#define STREAM_H

#include "lines.h"

struct stream_source;

/**
 * struct stream_count - the losses of a CPU's ring
 * @cpu:	the CPU
 * @told:	lost events that records and sub-buffers have reported
 * @before:	lost events in the ring's counters when the stream began
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
 * struct stream - the settings and the state of a stream
 * @ctx:	the verb's context
 * @remote:	the remote
 * @formats:	formats of its events
 * @listener:	reports that tracing was started again; may be NULL
 * @merge:	puts the events in order
 * @sources:	one per CPU
 * @counts:	one per source
 * @nr_sources:	number of @sources
 * @limit:	end after so many events; 0 for no limit
 * @bound:	how long an event may be held back to keep the order, in ns
 * @signal_fd:	readable when a signal requests the end
 * @no_start:	do not start tracing; end when it is off and the rings are empty
 * @started:	the stream has started tracing
 * @boot_clock:	the time stamps are of CLOCK_BOOTTIME
 * @ending:	the end was requested
 * @end:	when it was requested, in ns
 * @printed:	events printed
 * @discarded:	events consumed, or unloaded with the rings, and not printed
 * @lost:	events lost
 * @lost_more:	more were lost, but their number is not known
 * @lines:	prints the lines
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
	bool				no_start;
	bool				started;
	bool				boot_clock;
	bool				ending;
	uint64_t			end;
	uint64_t			printed;
	uint64_t			discarded;
	uint64_t			lost;
	bool				lost_more;
	struct lines			lines;
};

/* stream.c */
int stream_open(struct stream *s, struct hyptrace_cpu *const *cpus, unsigned int nr);
void stream_close(struct stream *s);
int stream_run(struct stream *s);
int stream_stop(struct stream *s);

/* stream_count.c */
int stream_count_begin(struct stream *s);
void stream_count_lost(struct stream *s, unsigned int index, uint64_t lost);
void stream_count_end(struct stream *s);
void stream_count_unloaded(struct stream *s);
void stream_count_say(const struct stream *s);

#endif /* STREAM_H */
