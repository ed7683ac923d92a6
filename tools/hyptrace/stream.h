/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streaming: the events of several rings, printed in the order of time. For
 * cmd_stream.c.
 */
#ifndef STREAM_H
#define STREAM_H

#include "cmd.h"

struct stream_source;

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
 * @started:	tracing was off and has been started
 * @boot_clock:	the time stamps are of CLOCK_BOOTTIME
 * @sources:	one per CPU
 * @nr_sources:	how many
 * @read:	events printed
 * @lost:	events that went missing
 * @lost_more:	and some more of which nobody knows how many
 */
struct stream {
	struct context			*ctx;
	const struct hyptrace_remote	*remote;
	struct hyptrace_formats		*formats;
	struct hyptrace_listener	*listener;
	struct hyptrace_merge		*merge;
	struct stream_source		*sources;
	unsigned int			nr_sources;
	uint64_t			limit;
	uint64_t			bound;
	int				signal_fd;
	bool				nanoseconds;
	bool				started;
	bool				boot_clock;
	bool				ending;
	uint64_t			end;
	uint64_t			read;
	uint64_t			lost;
	bool				lost_more;
};

/* stream.c */
int stream_open(struct stream *s, const struct hyptrace_cpu *cpus, unsigned int nr);
void stream_close(struct stream *s);
int stream_run(struct stream *s);
int stream_stop(struct stream *s);

/* stream_print.c */
void stream_print_event(struct stream *s, unsigned int cpu, const struct hyptrace_record *rec);
void stream_print_lost(struct stream *s, unsigned int cpu, uint64_t lost);

#endif /* STREAM_H */
