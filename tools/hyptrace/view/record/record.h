/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace record: its settings, and the parts that it is made of. For cmd_record.c and the files
 * record_*.c.
 */
#ifndef RECORD_H
#define RECORD_H

#include <pthread.h>

#include "lib/hyptrace_file.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "session/child.h"
#include "session/events.h"
#include "session/gaps.h"
#include "record_host.h"

/**
 * struct record_counts - what became of the events of a CPU or of all CPUs
 * @events:	events in the file
 * @lost:	events that were lost
 * @filtered:	events that the filter has refused
 */
struct record_counts {
	uint64_t	events;
	uint64_t	lost;
	uint64_t	filtered;
};

/* What the counters of the rings are read for */
enum record_count {
	RECORD_COUNT_BEGIN,	/* a file begins */
	RECORD_COUNT_LOOK,	/* the status line */
	RECORD_COUNT_NEXT,	/* the file ends, and the next one begins */
	RECORD_COUNT_LAST,	/* the last file ends */
};

/**
 * struct record_ring - the ring of a CPU
 * @cpu:	the CPU
 * @reader:	its consumer
 * @base:	the counters when the file was begun: events that were read, losses that were
 *		reported, events that were filtered
 * @now:	the same when they were last looked at
 * @sum:	the counts of the files that have ended
 * @used:	part of its sub-buffers that held data when it was last looked at, in percent
 * @nr_subbufs:	number of its sub-buffers
 * @is_ready:	it holds data that is to be read now
 * @lost_more:	a snapshot has gaps of unknown size
 * @clears:	how often it had been cleared when the file was begun
 * @was_cleared: the counts of a file are not known, since the ring was cleared meanwhile
 */
struct record_ring {
	unsigned int		cpu;
	struct hyptrace_reader	*reader;
	struct record_counts	base;
	struct record_counts	now;
	struct record_counts	sum;
	unsigned int		used;
	unsigned int		nr_subbufs;
	bool			is_ready;
	bool			lost_more;
	uint64_t		clears;
	bool			was_cleared;
};

/**
 * struct record_file - the file that is being written, and the one before
 * @w:		the file
 * @name:	its name, which is not that of the user while the one before is not finished
 * @nr:		number of the file, from 0
 * @finisher:	the thread that finishes the one before, if it @is_finishing
 * @ended:	the file before
 * @ended_name:	its name
 * @is_finishing: a thread finishes the file before
 * @failed:	the file before could not be finished
 * @err:	why
 * @has_failed:	a file could not be finished
 * @bytes:	size of the files that have ended
 * @ended_bytes: size of the file before
 * @unwritten:	events that the file before has not, since the disk was full: of each ring,
 *		and then of each CPU of the host
 */
struct record_file {
	struct hyptrace_file_writer	*w;
	char				*name;
	unsigned int			nr;
	pthread_t			finisher;
	struct hyptrace_file_writer	*ended;
	char				*ended_name;
	bool				is_finishing;
	bool				failed;
	struct hyptrace_error		err;
	bool				has_failed;
	uint64_t			bytes;
	uint64_t			ended_bytes;
	uint64_t			*unwritten;
};

/**
 * struct record - the settings and the state of the verb
 * @ctx:	the verb's context
 * @remote:	the remote
 * @path:	name of the file; "-" for the standard output
 * @words:	arguments of --event
 * @filter:	argument of --filter, or NULL
 * @size:	bytes of each ring; 0 to leave it
 * @is_filtered: events are held with the filter
 * @is_sized:	the rings have that size
 * @duration:	end after so many nanoseconds; 0 for no limit
 * @limit:	bytes of a file at most; 0 for no limit
 * @rotate:	keep so many files; 0 to end at the limit
 * @compress:	compress the file
 * @quiet:	print no notes, and no summary without losses
 * @snapshot:	save what the rings hold, and consume nothing
 * @command:	the command line, for the file
 * @events:	the events of the remote
 * @nr_events:	number of @events
 * @choice:	the events to hold enabled
 * @gaps:	why events are missing
 * @rings:	the rings
 * @nr_rings:	number of @rings
 * @epoll:	waits for rings, signals and the command; -1 before the start
 * @begin:	when the recording began, by CLOCK_MONOTONIC in ns
 * @file:	the files
 * @child:	the command
 * @host:	the host's own tracing
 * @has_failed:	the file could not be written, so that events may be lost
 * @unwritten:	events that were read and could not be written
 * @counts_failed: the counters of the rings could not be read
 * @has_status:	a status line is on the terminal
 * @shown:	events in all when the status line was last written
 * @shown_at:	and the time
 */
struct record {
	struct context			*ctx;
	const struct hyptrace_remote	*remote;
	const char			*path;
	struct words			words;
	const char			*filter;
	uint64_t			size;
	bool				is_filtered;
	bool				is_sized;
	uint64_t			duration;
	uint64_t			limit;
	uint64_t			rotate;
	bool				compress;
	bool				quiet;
	bool				snapshot;
	char				*command;
	struct hyptrace_event		**events;
	unsigned int			nr_events;
	struct event_choice		choice;
	struct gaps			gaps;
	struct record_ring		*rings;
	unsigned int			nr_rings;
	int				epoll;
	uint64_t			begin;
	struct record_file		file;
	struct child			child;
	struct record_host		host;
	bool				has_failed;
	uint64_t			unwritten;
	bool				counts_failed;
	bool				has_status;
	uint64_t			shown;
	uint64_t			shown_at;
};

/* record_events.c: the events to record, and their filter */
int record_choose(struct record *r);
int record_set_filter(struct record *r);

/* record_rings.c: the rings */
int record_open_rings(struct record *r);
int record_hold(struct record *r);
void record_release(struct record *r);
void record_close_rings(struct record *r);
int record_drain(struct record *r, struct record_ring *ring, int64_t *left,
		 struct hyptrace_error *err);
int64_t record_ring_size(const struct record *r, const struct record_ring *ring);
bool record_count(struct record *r, enum record_count how);
void record_total(const struct record *r, struct record_counts *total);

/* record_file.c: the files */
bool record_is_stream(const struct record *r);
bool record_is_stdout(const struct record *r);
int record_begin_file(struct record *r);
int record_next_file(struct record *r);
int record_end_file(struct record *r);

/* record_status.c: the status line and the summary */
void record_show_status(struct record *r);
void record_hide_status(struct record *r);
void record_print_summary(const struct record *r);
void record_print_host_summary(const struct record *r);
void record_print_json(const struct record *r);
const char *record_bytes(uint64_t bytes, char *text, size_t size);

/* record_snapshot.c: save what the rings hold */
int record_snapshot(struct record *r);

#endif /* RECORD_H */
