/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libhyptrace: control hyptrace remotes and read their rings. For the hyptrace
 * command and any other program.
 *
 * A function that can fail returns 0 or a negative errno; one that makes an object returns
 * the object or NULL. On failure it also stores the reason, as text for the user, in its
 * struct hyptrace_error, which may be NULL. The library never prints, never exits and keeps
 * no global state. Only one thread at a time may use an object; a stream and a listener use
 * their connection, too. A child process must not use or free the objects of its parent.
 *
 * Only the library allocates the structs that describe something (a remote, a CPU, an event, a
 * field, a symbol, a hypercall, an argument, a counter, a notification), and a program only
 * reads them. Later versions may add members at their ends, so a list is an array of pointers.
 * struct hyptrace_error, struct hyptrace_record and struct hyptrace_stream_event never change.
 */
#ifndef HYPTRACE_LIB_H
#define HYPTRACE_LIB_H

#include "hyptrace_control.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The version of this header, and of the library that it came with */
#define HYPTRACE_LIB_VERSION_MAJOR	1
#define HYPTRACE_LIB_VERSION_MINOR	0
#define HYPTRACE_LIB_VERSION_PATCH	0
#define HYPTRACE_LIB_VERSION \
	(HYPTRACE_LIB_VERSION_MAJOR << 16 | HYPTRACE_LIB_VERSION_MINOR << 8 | \
	 HYPTRACE_LIB_VERSION_PATCH)

/* device.c: read or observe a ring */
struct hyptrace_reader;

struct hyptrace_reader *hyptrace_reader_open(const char *remote, int cpu, int flags,
					     struct hyptrace_error *err);
struct hyptrace_reader *hyptrace_reader_open_on(struct hyptrace *h, const char *remote, int cpu,
						int flags, struct hyptrace_error *err);
struct hyptrace_reader *hyptrace_reader_open_snapshot(const char *remote, int cpu,
						      struct hyptrace_error *err);
struct hyptrace_reader *hyptrace_reader_open_snapshot_on(struct hyptrace *h, const char *remote,
							 int cpu, struct hyptrace_error *err);
void hyptrace_reader_close(struct hyptrace_reader *reader);
int hyptrace_reader_fd(const struct hyptrace_reader *reader);
int hyptrace_reader_watermark(struct hyptrace_reader *reader, uint32_t usec, uint32_t percent,
			      struct hyptrace_error *err);
int hyptrace_reader_hold(struct hyptrace_reader *reader, const uint16_t *events, unsigned int nr,
			 bool tracing, struct hyptrace_error *err);

/* snapshot.c: copy what a ring holds, without consuming it */

/* Bytes of the u64 time stamp and of the u64 commit word */
#define HYPTRACE_SUBBUF_HEADER	sizeof(struct hyptrace_subbuf)

/* Events were lost, but their number is not known. */
#define HYPTRACE_LOST_UNKNOWN	UINT64_MAX

/**
 * struct hyptrace_record - the record of an event in a sub-buffer
 * @ts:		its time in nanoseconds
 * @lost:	events lost right before it, or HYPTRACE_LOST_UNKNOWN
 * @data:	its payload, which starts with the u16 event id
 * @size:	bytes of @data, as the writer rounded them up
 */
struct hyptrace_record {
	uint64_t	ts;
	uint64_t	lost;
	const void	*data;
	unsigned int	size;
};

struct hyptrace_snapshot;

struct hyptrace_snapshot *hyptrace_snapshot_take(const struct hyptrace_reader *reader,
						 uint32_t mode, uint64_t last,
						 struct hyptrace_error *err);
void hyptrace_snapshot_free(struct hyptrace_snapshot *snap);
void hyptrace_snapshot_rewind(struct hyptrace_snapshot *snap);
int hyptrace_snapshot_next(struct hyptrace_snapshot *snap, struct hyptrace_record *rec,
			   struct hyptrace_error *err);
uint64_t hyptrace_snapshot_lost(struct hyptrace_snapshot *snap);
uint64_t hyptrace_snapshot_events(const struct hyptrace_snapshot *snap);

/* format.c: print an event as text */

/* Bytes that hyptrace_formats_line() writes at most */
#define HYPTRACE_LINE_MAX	4096

struct hyptrace_formats;

struct hyptrace_formats *hyptrace_formats_new(struct hyptrace_event *const *events,
					      unsigned int nr, struct hyptrace_error *err);
void hyptrace_formats_free(struct hyptrace_formats *fmts);
const struct hyptrace_event *hyptrace_formats_event(const struct hyptrace_formats *fmts,
						    const struct hyptrace_record *rec);
const char *hyptrace_formats_text(struct hyptrace_formats *fmts,
				  const struct hyptrace_event *event,
				  const struct hyptrace_record *rec, size_t *len);
int hyptrace_formats_set_hypercalls(struct hyptrace_formats *fmts,
				    struct hyptrace_hypercall *const *calls, unsigned int nr,
				    struct hyptrace_error *err);
void hyptrace_formats_set_raw(struct hyptrace_formats *fmts);
bool hyptrace_formats_has_sentence(const struct hyptrace_formats *fmts,
				   const struct hyptrace_event *event);
const char *hyptrace_formats_name(const struct hyptrace_formats *fmts,
				  const struct hyptrace_event *event,
				  const struct hyptrace_field *field,
				  const struct hyptrace_record *rec);
bool hyptrace_formats_name_depends(const struct hyptrace_formats *fmts,
				   const struct hyptrace_event *event,
				   const struct hyptrace_field *field);
bool hyptrace_formats_has_tasks(const struct hyptrace_formats *fmts);
const char *hyptrace_formats_task(struct hyptrace_formats *fmts,
				  const struct hyptrace_record *rec, size_t *len);
const struct hyptrace_field *hyptrace_formats_missing(const struct hyptrace_formats *fmts,
						      const struct hyptrace_event *event,
						      const struct hyptrace_record *rec);
int hyptrace_formats_lines(struct hyptrace_formats *fmts, const char *before, const char *after,
			   struct hyptrace_error *err);
char *hyptrace_formats_line(const struct hyptrace_formats *fmts, const struct hyptrace_record *rec,
			    char *to);
bool hyptrace_field_is_number(const struct hyptrace_field *field, uint32_t size);
uint64_t hyptrace_field_read(const struct hyptrace_field *field, const void *data);
const void *hyptrace_field_bytes(const struct hyptrace_field *field,
				 const struct hyptrace_record *rec, uint32_t *size);
int hyptrace_field_value(const struct hyptrace_field *field, const struct hyptrace_record *rec,
			 uint64_t *value);

/* filter.c: conditions on the fields of events */

struct hyptrace_filter *hyptrace_filter_new(const struct hyptrace_event *const *events,
					    unsigned int nr, const struct hyptrace_formats *fmts,
					    bool fits_all, const char *text, size_t *at,
					    struct hyptrace_error *err);
void hyptrace_filter_free(struct hyptrace_filter *filter);
bool hyptrace_filter_match(const struct hyptrace_filter *filter, const struct hyptrace_record *rec);

/* merge.c: merge the events of several rings in the order of time */
struct hyptrace_merge;

enum hyptrace_merge_step {
	HYPTRACE_MERGE_EMIT,	/* the source's pending event is the next one */
	HYPTRACE_MERGE_ASK,	/* the caller must look for the source's next event */
	HYPTRACE_MERGE_WAIT,	/* no event can be emitted yet */
};

struct hyptrace_merge *hyptrace_merge_new(unsigned int nr_sources, uint64_t bound);
void hyptrace_merge_free(struct hyptrace_merge *merge);
void hyptrace_merge_pending(struct hyptrace_merge *merge, unsigned int source, uint64_t ts,
			    uint64_t since);
void hyptrace_merge_empty(struct hyptrace_merge *merge, unsigned int source, uint64_t at);
enum hyptrace_merge_step hyptrace_merge_step(struct hyptrace_merge *merge, unsigned int *source);
uint64_t hyptrace_merge_until(const struct hyptrace_merge *merge, unsigned int source);
uint64_t hyptrace_merge_due(const struct hyptrace_merge *merge);
void hyptrace_merge_finish(struct hyptrace_merge *merge);

/* stream.c and stream_open.c: the events of several CPUs in the order of time */

/**
 * struct hyptrace_stream_event - an event of a stream, or a loss
 * @record:	the event. Its member lost is the number of events that the CPU has lost right
 *		before it. If its member data is NULL, it is only a loss.
 * @cpu:	the CPU
 * @is_host:	of a file: the host has recorded it, not the remote
 */
struct hyptrace_stream_event {
	struct hyptrace_record	record;
	unsigned int		cpu;
	bool			is_host;
};

/**
 * struct hyptrace_stream_counts - what became of the events of a stream
 * @delivered:	events that hyptrace_stream_next() has delivered
 * @filtered:	events that the filter has refused
 * @discarded:	events that the stream has consumed, or that were unloaded with the rings, and
 *		that it has not delivered
 * @lost:	events that were lost
 * @lost_more:	1 if more were lost, whose number is not known; else 0
 */
struct hyptrace_stream_counts {
	uint64_t	delivered;
	uint64_t	filtered;
	uint64_t	discarded;
	uint64_t	lost;
	uint64_t	lost_more;
};

/* Returns false for an event that is not to be delivered. Must not call functions of the stream. */
typedef bool (*hyptrace_stream_filter_fn)(const struct hyptrace_stream_event *event, void *arg);

/*
 * Gets the sub-buffers that were read from the ring of a CPU at once, before their events are
 * delivered. Returns 0, or a negative errno with the reason, which hyptrace_stream_next() returns.
 * Must not call functions of the stream.
 */
typedef int (*hyptrace_stream_tap_fn)(unsigned int cpu, const void *subbufs, size_t size,
				      void *arg, struct hyptrace_error *err);

/**
 * struct hyptrace_stream_options - what a stream does, until it is started
 * @bound:	each event is delivered so many nanoseconds after it happened at most: first 10 ms.
 *		The rings report an event after 1 ms at best, so less than 2 ms cannot be kept.
 * @limit:	end after so many events; 0, as at first, for no limit
 * @cpus:	the CPUs, each once, valid until the stream is started; NULL, as at first, for all
 *		that have a ring
 * @nr_cpus:	number of @cpus
 * @no_start:	do not hold tracing on, and end when it is off and the rings are empty
 * @filter:	decides which events are delivered; NULL for all
 * @filter_arg:	its second argument
 * @tap:	gets the sub-buffers as they were read, or NULL: all that the stream consumes, also
 *		events that the filter refuses or that are discarded at the end, so that
 *		hyptrace_file_write() makes a file of it
 * @tap_arg:	its argument
 */
struct hyptrace_stream_options {
	uint64_t			bound;
	uint64_t			limit;
	const unsigned int		*cpus;
	unsigned int			nr_cpus;
	bool				no_start;
	hyptrace_stream_filter_fn	filter;
	void				*filter_arg;
	hyptrace_stream_tap_fn		tap;
	void				*tap_arg;
};

struct hyptrace_stream;

struct hyptrace_stream *hyptrace_stream_new(struct hyptrace *h, const char *remote,
					    struct hyptrace_error *err);
void hyptrace_stream_free(struct hyptrace_stream *s);
struct hyptrace_stream_options *hyptrace_stream_options(struct hyptrace_stream *s);
int hyptrace_stream_set_events(struct hyptrace_stream *s, const char *const *names,
			       unsigned int nr, struct hyptrace_error *err);
int hyptrace_stream_start(struct hyptrace_stream *s, struct hyptrace_error *err);
int hyptrace_stream_next(struct hyptrace_stream *s, const struct hyptrace_stream_event **event,
			 struct hyptrace_error *err);
unsigned int hyptrace_stream_run(struct hyptrace_stream *s, struct hyptrace_stream_event *events,
				 unsigned int max);
int hyptrace_stream_fd(struct hyptrace_stream *s);
void hyptrace_stream_end(struct hyptrace_stream *s);
void hyptrace_stream_close(struct hyptrace_stream *s);
void hyptrace_stream_counts(const struct hyptrace_stream *s,
			    struct hyptrace_stream_counts *counts, size_t size);
struct hyptrace_formats *hyptrace_stream_formats(const struct hyptrace_stream *s);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* HYPTRACE_LIB_H */
