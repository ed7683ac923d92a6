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
#include "session/choice.h"
#include "session/gaps.h"
#include "record_host.h"

/* What became of the events of a CPU or of all CPUs */
struct record_counts {
	uint64_t	events;		/* in the file */
	uint64_t	lost;
	uint64_t	filtered;	/* refused by the filter */
};

/* What the counters of the rings are read for */
enum record_count {
	RECORD_COUNT_BEGIN,	/* a file begins */
	RECORD_COUNT_LOOK,	/* the status line */
	RECORD_COUNT_NEXT,	/* the file ends, and the next one begins */
	RECORD_COUNT_LAST,	/* the last file ends */
};

/* The ring of a CPU. Counts of the driver: read, losses that were reported, filtered */
struct record_ring {
	unsigned int		cpu;
	struct hyptrace_reader	*reader;
	struct record_counts	base;		/* when the file was begun */
	struct record_counts	now;		/* at the last look */
	struct record_counts	sum;		/* of the files that have ended */
	unsigned int		used;		/* % of sub-buffers with data at the last look */
	unsigned int		nr_subbufs;
	bool			is_ready;	/* it holds data that is to be read now */
	bool			lost_more;	/* a snapshot has gaps of unknown size */
	uint64_t		clears;		/* of the ring, when the file was begun */
	bool			was_cleared;	/* meanwhile: the counts of a file are not known */
};

/* The file that is being written, and the one before */
struct record_file {
	struct hyptrace_file_writer	*w;
	/* not r->path until the one before is finished */
	char				*name;
	unsigned int			nr;		/* from 0 */
	/* finishes the one before, if it @is_finishing */
	pthread_t			finisher;
	struct hyptrace_file_writer	*ended;		/* the file before */
	char				*ended_name;
	bool				is_finishing;
	bool				failed;		/* the file before could not be finished */
	struct hyptrace_error		err;		/* why */
	bool				has_failed;	/* any file could not be finished */
	uint64_t			bytes;		/* of the files that have ended */
	uint64_t			ended_bytes;	/* of the file before */
	/* events that it has not, since the disk was full: of each ring, then of each host's CPU */
	uint64_t			*unwritten;
};

/* The settings and the state of the verb */
struct record {
	struct context			*ctx;
	struct hyptrace_remote	*remote;
	const char			*path;		/* "-" for the standard output */
	struct words			words;		/* of --event */
	const char			*filter;	/* of --filter, or NULL */
	uint64_t			size;		/* bytes of each ring; 0 to leave it */
	bool				is_filtered;	/* events are held with the filter */
	bool				is_sized;	/* the rings have that size */
	uint64_t			duration;	/* ns; 0 for no limit */
	uint64_t			limit;		/* bytes of a file; 0 for no limit */
	/* keep so many files; 0 to end at the limit */
	uint64_t			rotate;
	bool				compress;
	bool				quiet;
	bool				snapshot;	/* consume nothing */
	char				*command;	/* the command line, for the file */
	struct hyptrace_event		**events;
	unsigned int			nr_events;
	struct event_choice		choice;		/* the events to hold enabled */
	struct gaps			gaps;
	struct record_ring		*rings;
	unsigned int			nr_rings;
	int				epoll;		/* of rings, signals and the command */
	uint64_t			begin;		/* CLOCK_MONOTONIC in ns */
	struct record_file		file;
	struct child			child;
	struct record_host		host;
	bool				has_failed;	/* the file could not be written */
	/* events that were read and could not be written */
	uint64_t			unwritten;
	bool				counts_failed;	/* the rings' counters could not be read */
	bool				has_status;	/* a status line is on the terminal */
	uint64_t			shown;		/* events in all when it was last written */
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
