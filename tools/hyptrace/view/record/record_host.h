/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's own tracing, which hyptrace record --host records, too. For cmd_record.c and the
 * files record_*.c.
 */
#ifndef RECORD_HOST_H
#define RECORD_HOST_H

#include "lib/file/write/file_write.h"
#include "lib/hyptrace.h"
#include "session/events.h"

struct record;
struct tracefs_instance;

/**
 * struct record_host_cpu - the host's events of a CPU
 * @fd:		its trace_pipe_raw
 * @events:	events of the current file
 * @lost:	losses since the instance was made, when the current file began
 * @sum_events:	events of the files that have ended
 * @sum_lost:	and what was lost meanwhile
 */
struct record_host_cpu {
	int		fd;
	uint64_t	events;
	uint64_t	lost;
	uint64_t	sum_events;
	uint64_t	sum_lost;
};

/**
 * struct record_host - the host's tracing
 * @words:	arguments of --host, which name events of tracefs
 * @file:	its CPUs and the formats of its events, for the file
 * @names:	names of the events, as "kvm/kvm_exit", in the order of the formats
 * @cpus:	one for each of @file.cpus
 * @instance:	the instance of tracefs; NULL without one
 * @guard:	the process that removes the instance once @guard_fd is closed; 0 without one
 * @guard_fd:	-1 without a guard
 * @pipe:	carries sub-buffers
 * @subbufs:	sub-buffers that were read
 * @subbuf_size: bytes of a sub-buffer
 * @at:		the index of the CPU that is read next
 * @batches:	how often it was read in a row
 * @has_more:	a CPU was left with events, which are to be read soon
 * @is_stopped:	tracing is off: nothing is added any more
 */
struct record_host {
	struct words			words;
	struct hyptrace_file_host	file;
	char				**names;
	struct record_host_cpu		*cpus;
	struct tracefs_instance		*instance;
	pid_t				guard;
	int				guard_fd;
	int				pipe[2];
	char				*subbufs;
	uint32_t			subbuf_size;
	unsigned int			at;
	unsigned int			batches;
	bool				has_more;
	bool				is_stopped;
};

/* record_host.c; or record_host_none.c without libtracefs */
int record_host_begin(struct record *r);
int record_host_start(struct record *r);
void record_host_stop(struct record *r);
void record_host_end(struct record *r);
int record_host_drain(struct record *r, bool partial, struct hyptrace_error *err);
void record_host_count(struct record *r);

/* record_host_events.c */
int record_host_choose(struct record_host *host);
int record_host_read_formats(struct record_host *host);

/* record_host_subbuf.c: the sub-buffers, and the ids in them */
uint64_t record_host_renumber(void *subbuf, uint32_t size);
char *record_host_renumber_format(const char *format);

#endif /* RECORD_HOST_H */
