/* SPDX-License-Identifier: GPL-2.0-only */
/* hyptrace record: its settings, and the parts that it is made of. */
#ifndef RECORD_H
#define RECORD_H

#include <pthread.h>

#include "session/session.h"

/* What the counters of the rings are read for */
enum record_count {
	RECORD_COUNT_BEGIN,	/* a file begins */
	RECORD_COUNT_LOOK,	/* the status line */
	RECORD_COUNT_NEXT,	/* the file ends, and the next one begins */
	RECORD_COUNT_LAST,	/* the last file ends */
};

struct record_ring {
	unsigned int		cpu;
	struct hyptrace_reader	*reader;
	struct ring_counts	base;		/* when the file was begun */
	struct ring_counts	now;		/* at the last look */
	struct ring_counts	sum;		/* of the files that have ended */
	unsigned int		used;		/* % of sub-buffers with data at the last look */
	unsigned int		nr_subbufs;
	bool			is_ready;	/* it holds data that is to be read now */
	bool			lost_more;	/* a snapshot has gaps of unknown size */
	bool			was_cleared;	/* the counts of a file are not known */
	uint64_t		unwritten;	/* events of the file before: the disk was full */
};

/* The file that is being written, and the one before */
struct record_file {
	struct hyptrace_file_writer	*w;
	char				*name;		/* r->path once the one before is done */
	unsigned int			nr;		/* from 0 */
	pthread_t			finisher;	/* of @ended, if @is_finishing */
	struct hyptrace_file_writer	*ended;		/* the file before */
	char				*ended_name;
	bool				is_finishing;
	bool				failed;		/* @ended could not be finished */
	struct hyptrace_error		err;		/* why */
	bool				has_failed;	/* any file could not be finished */
	uint64_t			bytes;		/* of the files that have ended */
	uint64_t			ended_bytes;	/* of the file before */
};

struct record_host_cpu {
	unsigned int		id;
	int			fd;		/* its trace_pipe_raw */
	uint64_t		events;		/* of the current file */
	uint64_t		lost;		/* in all, when the current file began */
	struct ring_counts	sum;		/* of the files that have ended */
	uint64_t		unwritten;	/* as of a ring */
};

/* The host's own tracing, which --host records, too */
struct record_host {
	struct words			words;		/* of --host: events of tracefs */
	struct record_host_cpu		*cpus;
	unsigned int			nr_cpus;
	char				**systems;	/* of the events: "kvm" */
	char				**names;	/* "kvm_exit" */
	char				**formats;
	unsigned int			nr_events;
	unsigned int			*ids;		/* of @cpus, for the file */
	struct tracefs_instance		*instance;	/* NULL without one */
	pid_t				guard;		/* removes it when @guard_fd closes; or 0 */
	int				guard_fd;
	int				pipe[2];	/* carries sub-buffers */
	char				*subbufs;	/* those that were read */
	struct kbuffer			*kbuf;		/* decodes them */
	uint32_t			subbuf_size;
	unsigned int			at;		/* index of the CPU that is read next */
	unsigned int			batches;	/* how often it was read in a row */
	bool				has_more;	/* a CPU was left with events */
	bool				is_stopped;	/* tracing is off: nothing is added */
};

struct record {
	struct session			session;
	const char			*path;		/* "-" for the standard output */
	uint64_t			size;		/* bytes of each ring; 0 to leave it */
	bool				is_filtered;	/* events are held with the filter */
	bool				is_sized;	/* the rings have that size */
	uint64_t			limit;		/* bytes of a file; 0 for no limit */
	uint64_t			rotate;		/* files to keep; 0: end at the limit */
	bool				compress;
	bool				snapshot;	/* consume nothing */
	const struct hyptrace_event	**chosen;	/* the events to hold enabled */
	unsigned int			nr_chosen;
	struct record_ring		*rings;
	unsigned int			nr_rings;
	int				epoll;		/* of the rings */
	uint64_t			begin;		/* CLOCK_MONOTONIC in ns */
	uint64_t			next;		/* when all rings are read next */
	uint64_t			next_of_host;	/* when the host's CPUs are */
	struct record_file		file;
	struct record_host		host;
	bool				has_failed;	/* the file could not be written */
	uint64_t			unwritten;	/* events that were read, but not written */
	bool				counts_failed;	/* the rings' counters could not be read */
	bool				has_status;	/* a status line is on the terminal */
	uint64_t			shown;		/* events in all when it was last written */
	uint64_t			shown_at;
};

/* record_live.c: record what happens; the rings, and the events in them */
int record_live(struct record *r);
int record_choose(struct record *r);

/* record_snapshot.c: save what the rings hold */
int record_snapshot(struct record *r);

/* record_file.c: the files */
bool record_is_stream(const struct record *r);
bool record_is_stdout(const struct record *r);
int record_begin_file(struct record *r);
int record_next_file(struct record *r);
int record_end_file(struct record *r);
void record_abandon_file(struct record *r);

/* record_status.c: the counters of the rings, the status line and the summary */
bool record_count(struct record *r, enum record_count how);
void record_show_status(struct record *r);
void record_hide_status(struct record *r);
int record_print_summary(const struct record *r);

/* record_host.c: absent without libtracefs; record_host_begin() makes host.instance */
#define ABSENT	__attribute__((weak))
ABSENT int record_host_begin(struct record *r);
ABSENT int record_host_switch(struct record *r, bool on);
ABSENT void record_host_end(struct record *r);
ABSENT int record_host_drain(struct record *r, bool partial, struct hyptrace_error *err);
ABSENT void record_host_count(struct record *r);

#endif /* RECORD_H */
