/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's own tracing, which hyptrace record --host records, too. For cmd_record.c and the
 * files record_*.c.
 */
#ifndef RECORD_HOST_H
#define RECORD_HOST_H

#include "lib/hyptrace_file.h"
#include "session/choice.h"

struct record;
struct tracefs_instance;

/* The host's events of a CPU */
struct record_host_cpu {
	unsigned int	id;
	int		fd;		/* its trace_pipe_raw */
	uint64_t	events;		/* of the current file */
	/* since the instance was made, when the current file began */
	uint64_t	lost;
	uint64_t	sum_events;	/* of the files that have ended */
	uint64_t	sum_lost;
};

struct record_host {
	/* of --host, which name events of tracefs */
	struct words			words;
	struct record_host_cpu		*cpus;
	unsigned int			nr_cpus;
	char				**systems;	/* of the events: "kvm" */
	char				**names;	/* "kvm_exit" */
	char				**formats;
	unsigned int			nr_events;
	unsigned int			*ids;		/* of @cpus, for the file */
	struct tracefs_instance		*instance;	/* NULL without one */
	/* removes it once @guard_fd is closed; 0 without one */
	pid_t				guard;
	int				guard_fd;
	int				pipe[2];	/* carries sub-buffers */
	char				*subbufs;	/* those that were read */
	uint32_t			subbuf_size;
	unsigned int			at;		/* index of the CPU that is read next */
	unsigned int			batches;	/* how often it was read in a row */
	/* a CPU was left with events, to be read soon */
	bool				has_more;
	/* tracing is off: nothing is added any more */
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
