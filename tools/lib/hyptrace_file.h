/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace files: write them while a remote is traced, and read them anywhere. Part of libhyptrace;
 * hyptrace.h says what holds for all its functions. hyptrace.dat(5) describes the files.
 */
#ifndef HYPTRACE_FILE_H
#define HYPTRACE_FILE_H

#include <stdio.h>

#include "hyptrace.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* file_meta.c: what a file says about the remote and about its recording */

/**
 * struct hyptrace_file_cpu - a CPU in a file
 * @id:		the CPU's number
 * @offset:	where its sub-buffers start in the file
 * @size:	bytes that its sub-buffers take in the file
 * @events:	events in the file, as the writer's counters say; unknown if @has_counts is false
 * @lost:	events that were lost during the recording
 * @filtered:	events that a filter at EL2 has refused meanwhile
 * @has_counts:	the three counts are known
 * @missing:	more bytes of sub-buffers that the file promises, but does not have
 * @own_file:	its sub-buffers are in a file of its own: the recording has not ended
 */
struct hyptrace_file_cpu {
	unsigned int	id;
	uint64_t	offset;
	uint64_t	size;
	uint64_t	events;
	uint64_t	lost;
	uint64_t	filtered;
	bool		has_counts;
	uint64_t	missing;
	bool		own_file;
};

/**
 * struct hyptrace_file_piece - a part of a file
 * @offset:	where it is
 * @size:	its bytes
 * @text:	what it is
 */
struct hyptrace_file_piece {
	uint64_t	offset;
	uint64_t	size;
	char		*text;
};

/**
 * struct hyptrace_file_info - what a file has, and says about itself; valid as long as it is open
 * @remote:	the remote's name; NULL if hyptrace has not recorded the file
 * @clock:	clock of the time stamps, such as "boot"; NULL if it is not known
 * @recorder:	name and version of the program that has recorded it; or NULL
 * @command:	its command line; or NULL
 * @uname:	kernel and machine, as in uname -a; or NULL
 * @begin:	when the recording began, CLOCK_REALTIME in ns; 0 if it is not known
 * @offset:	CLOCK_REALTIME minus the clock of the time stamps, in ns; 0 if it is not known
 * @version:	version of the file format, 6 or 7
 * @compression: "none" or "zstd"
 * @subbuf_size: bytes of a sub-buffer
 * @big_endian:	byte order of the sub-buffers
 * @is_complete: the recording was finished; false for the files that it leaves if it is killed
 * @notes:	sentences that say why events are missing although none was lost
 * @nr_notes:	number of @notes
 * @cpus:	its CPUs, in the order of their numbers
 * @nr_cpus:	number of @cpus
 * @events:	the events that it describes
 * @nr_events:	number of @events
 * @calls:	the hypercalls that it describes
 * @nr_calls:	number of @calls
 * @formats:	formats of the events
 * @pieces:	its parts, in their order; only those that reading needs are known
 * @nr_pieces:	number of @pieces
 * @boot:	the boot of the machine, a UUID that the kernel makes each time; NULL if not known
 */
struct hyptrace_file_info {
	char		*remote;
	char		*clock;
	char		*recorder;
	char		*command;
	char		*uname;
	uint64_t	begin;
	int64_t		offset;
	unsigned int	version;
	char		*compression;
	uint32_t	subbuf_size;
	bool		big_endian;
	bool		is_complete;
	char		**notes;
	unsigned int	nr_notes;
	struct hyptrace_file_cpu	**cpus;
	unsigned int			nr_cpus;
	struct hyptrace_event		**events;
	unsigned int			nr_events;
	struct hyptrace_hypercall	**calls;
	unsigned int			nr_calls;
	struct hyptrace_formats		*formats;
	struct hyptrace_file_piece	**pieces;
	unsigned int			nr_pieces;
	char				*boot;
};

/* file_read.c and file_next.c: read a file */
struct hyptrace_file;

/**
 * struct hyptrace_file_counts - what became of the events of a file
 * @delivered:	events that hyptrace_file_next() has delivered
 * @filtered:	events of the chosen CPUs and times that the filter has refused
 * @lost:	events that were lost between the events of the chosen CPUs and times
 * @lost_more:	1 if more were lost, whose number is not known; else 0
 * @damaged:	sub-buffers whose rest could not be decoded
 */
struct hyptrace_file_counts {
	uint64_t	delivered;
	uint64_t	filtered;
	uint64_t	lost;
	uint64_t	lost_more;
	uint64_t	damaged;
};

/* Whose events are read: those of the remote, and those that the host has recorded meanwhile */
#define HYPTRACE_SIDE_REMOTE	1U
#define HYPTRACE_SIDE_HOST	2U

/**
 * struct hyptrace_file_options - which events of a file are read
 * @from:	the first time, in ns of the file's clock: first 0, the beginning
 * @to:		the last time, which is included: first UINT64_MAX, the end
 * @last:	read only so many events at the end that the filter accepts; first 0, all
 * @sides:	HYPTRACE_SIDE_REMOTE, as at first, HYPTRACE_SIDE_HOST after hyptrace_file_host(),
 *		both or 0. The chosen CPUs are those of both sides.
 * @filter:	decides which events are delivered; NULL for all. It may be called several times
 *		for an event.
 * @filter_arg:	its second argument
 */
struct hyptrace_file_options {
	uint64_t			from;
	uint64_t			to;
	uint64_t			last;
	unsigned int			sides;
	hyptrace_stream_filter_fn	filter;
	void				*filter_arg;
};

struct hyptrace_file *hyptrace_file_open(const char *path, struct hyptrace_error *err);
struct hyptrace_file *hyptrace_file_host(struct hyptrace_file *file, struct hyptrace_error *err);
void hyptrace_file_close(struct hyptrace_file *file);
const struct hyptrace_file_info *hyptrace_file_info(const struct hyptrace_file *file);

int hyptrace_file_set_cpus(struct hyptrace_file *file, const unsigned int *cpus, unsigned int nr,
			   struct hyptrace_error *err);
struct hyptrace_file_options *hyptrace_file_options(struct hyptrace_file *file);
int hyptrace_file_times(struct hyptrace_file *file, uint64_t *first, uint64_t *last,
			struct hyptrace_error *err);
int hyptrace_file_next(struct hyptrace_file *file, const struct hyptrace_stream_event **event,
		       struct hyptrace_error *err);
int hyptrace_file_batch(struct hyptrace_file *file, const struct hyptrace_stream_event **events,
			struct hyptrace_error *err);
const struct hyptrace_file_counts *hyptrace_file_counts(const struct hyptrace_file *file);
void hyptrace_file_progress(const struct hyptrace_file *file, uint64_t *bytes, uint64_t *all);

/* How a file is made */

/**
 * struct hyptrace_file_subbuf - a sub-buffer
 * @cpu:	its CPU
 * @own_file:	it is in the CPU's own file
 * @offset:	where it is, or the compressed chunk that has it
 * @ts:		its time
 * @used:	bytes of its records
 * @events:	their number
 * @lost:	events that were lost before it, or HYPTRACE_LOST_UNKNOWN
 * @damage:	why not all of it can be decoded; NULL if it can
 */
struct hyptrace_file_subbuf {
	unsigned int	cpu;
	bool		own_file;
	uint64_t	offset;
	uint64_t	ts;
	uint32_t	used;
	uint64_t	events;
	uint64_t	lost;
	const char	*damage;
};

typedef void (*hyptrace_file_subbuf_fn)(const struct hyptrace_file_subbuf *subbuf, void *arg);

int hyptrace_file_walk(struct hyptrace_file *file, hyptrace_file_subbuf_fn fn, void *arg,
		       struct hyptrace_error *err);

/* Files of other programs */
bool hyptrace_file_is_perfetto(int fd);

/* file_run.c: read a file with several threads */

/*
 * Each CPU's events are in order, but not those of several CPUs; of one side. No flush(), unless
 * with HYPTRACE_FILE_TURNS.
 */
#define HYPTRACE_FILE_BY_CPU	1U
/* Only the caller's thread reads. */
#define HYPTRACE_FILE_ALONE	2U
/*
 * A state has the events of one CPU. The CPUs take turns, in an order that does not depend on the
 * threads: flush() is called for some thousand events of a CPU, then for those of the next one.
 * With HYPTRACE_FILE_BY_CPU, CPUs have no order: threads call flush() at the same time, each for
 * its own state. Events are those of the remote; the last ones that are chosen are those of each
 * CPU.
 */
#define HYPTRACE_FILE_TURNS	4U

/**
 * struct hyptrace_file_batch - events in their order
 * @events:	the events and losses
 * @nr:		number of @events, at least 1
 * @has_times:	this is not the first batch, and the times below are known
 * @first:	time of the first event of all
 * @previous:	time of the event before this batch
 */
struct hyptrace_file_batch {
	const struct hyptrace_stream_event	*events;
	unsigned int				nr;
	bool					has_times;
	uint64_t				first;
	uint64_t				previous;
};

/**
 * struct hyptrace_file_work - what threads do with the events of a file
 * @flags:	HYPTRACE_FILE_BY_CPU, HYPTRACE_FILE_ALONE, HYPTRACE_FILE_TURNS
 * @arg:	argument of begin() and damage()
 * @begin:	makes the state of a thread, or returns NULL if there is no memory. @formats are
 *		those of this thread. If this member is NULL, @arg is the state of all threads.
 * @batch:	uses the next events, which are valid during the call. The threads call it at the
 *		same time, each for its own state. Returns 0, or another number to end reading.
 * @flush:	all that the state has used since its last flush() is the next in the order of the
 *		file: write it. If there is an order, only one thread at a time calls it. Returns
 *		as @batch. May be NULL.
 * @damage:	something is damaged, after what was flushed; reading continues. Only one thread at
 *		a time calls it.
 * @end:	frees the state of a thread; may be NULL
 *
 * The caller's thread calls all @begin and @end. But with HYPTRACE_FILE_TURNS, which needs them and
 * @flush, any thread calls them, one at a time: @begin before the first event of a CPU, and @end
 * after the last one, in turn if there is an order. @begin, @damage and @end must not call
 * hyptrace_file_wait().
 */
struct hyptrace_file_work {
	unsigned int	flags;
	void		*arg;
	void		*(*begin)(struct hyptrace_formats *formats, void *arg);
	int		(*batch)(void *state, const struct hyptrace_file_batch *batch);
	int		(*flush)(void *state);
	void		(*damage)(const struct hyptrace_error *err, void *arg);
	void		(*end)(void *state);
};

int hyptrace_file_run(struct hyptrace_file *file, const struct hyptrace_file_work *work,
		      size_t size, struct hyptrace_error *err);
int hyptrace_file_wait(const struct hyptrace_file_batch *batch);

/* file_write.c: write a file */
struct hyptrace_file_writer;

/* Compress the sub-buffers: a file of version 7 */
#define HYPTRACE_FILE_ZSTD	1U

/* With the number of a CPU: the events that the host itself has recorded on it, see below */
#define HYPTRACE_FILE_OF_HOST	0x80000000U

/**
 * struct hyptrace_file_host - the host's own tracing, whose events a file has, too
 * @cpus:	numbers of the CPUs, in their order
 * @nr_cpus:	number of @cpus
 * @systems:	systems of the events: those of a system follow each other
 * @formats:	format files of the events, as tracefs has them, with the ids that the records have
 *		in the file. They must differ from those of the remote.
 * @nr_formats:	number of @systems and of @formats
 *
 * A program fills it in. Later versions may add members at its end.
 */
struct hyptrace_file_host {
	const unsigned int	*cpus;
	unsigned int		nr_cpus;
	const char *const	*systems;
	const char *const	*formats;
	unsigned int		nr_formats;
};

struct hyptrace_file_writer *hyptrace_file_create(const char *path, struct hyptrace *h,
						  const char *remote, unsigned int flags,
						  const char *command,
						  const struct hyptrace_file_host *host,
						  size_t size, struct hyptrace_error *err);
int64_t hyptrace_file_splice(struct hyptrace_file_writer *w, unsigned int cpu, int fd,
			     struct hyptrace_error *err);
int hyptrace_file_write(struct hyptrace_file_writer *w, unsigned int cpu, const void *subbufs,
			size_t size, struct hyptrace_error *err);
void hyptrace_file_set_limit(struct hyptrace_file_writer *w, uint64_t bytes);
uint64_t hyptrace_file_size(const struct hyptrace_file_writer *w);
bool hyptrace_file_is_full(struct hyptrace_file_writer *w, size_t size);
int hyptrace_file_failed(const struct hyptrace_file_writer *w, struct hyptrace_error *err);
void hyptrace_file_set_counts(struct hyptrace_file_writer *w, unsigned int cpu, uint64_t events,
			      uint64_t lost, uint64_t filtered);
void hyptrace_file_add_note(struct hyptrace_file_writer *w, const char *text);
void hyptrace_file_set_host_tasks(struct hyptrace_file_writer *w, const char *tasks);
uint64_t hyptrace_file_unwritten(struct hyptrace_file_writer *w, unsigned int cpu);
int hyptrace_file_finish(struct hyptrace_file_writer *w, struct hyptrace_error *err);
void hyptrace_file_abandon(struct hyptrace_file_writer *w);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* HYPTRACE_FILE_H */
