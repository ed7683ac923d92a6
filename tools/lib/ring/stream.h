/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream of events, and the rings that it reads. For the files stream*.c.
 */
#ifndef HYPTRACE_STREAM_H
#define HYPTRACE_STREAM_H

#include "internal.h"

#define NSEC_PER_SEC	UINT64_C(1000000000)
#define NSEC_PER_MSEC	UINT64_C(1000000)
#define NSEC_PER_USEC	UINT64_C(1000)

/* All events that a descriptor can hold enabled */
#define STREAM_HOLD_MAX	HYPTRACE_HOLD_EVENTS_MAX

/**
 * struct stream_source - a CPU's ring
 * @event:	the next event, if @pending, or the one that was delivered last
 * @reader:	the ring's consumer
 * @dec:	decodes a sub-buffer of @buf
 * @buf:	sub-buffers as they were read
 * @size:	room in @buf
 * @len:	bytes in @buf
 * @pos:	where the next sub-buffer starts
 * @asked:	the time right before the last read
 * @unread:	events in the ring when the stream ended
 * @reported:	lost events that sub-buffers had reported when the stream began
 * @unreported:	those that none had reported then; at the end, those that the stream has to report
 * @pending:	there is a next event
 * @damaged:	a sub-buffer could not be decoded, and its other events are lost
 * @asleep:	tracing is off and the ring is empty
 * @over:	the ring must not be read any more
 * @draining:	the last read delivered something: one that fails with EAGAIN may be at the limit
 *		that the driver sets to a loop of reads, and the ring is perhaps not empty
 */
struct stream_source {
	struct hyptrace_stream_event	event;
	struct hyptrace_reader		*reader;
	struct hyptrace_decoder		*dec;
	char				*buf;
	size_t				size;
	size_t				len;
	size_t				pos;
	uint64_t			asked;
	uint64_t			unread;
	uint64_t			reported;
	uint64_t			unreported;
	bool				pending;
	bool				damaged;
	bool				asleep;
	bool				over;
	bool				draining;
};

/**
 * struct hyptrace_stream - the settings and the state of a stream
 * @fast:	the source of @run, if its next event can be delivered without more ado
 * @until:	the last time of the events of @run that need no merge step
 * @left:	events that are left up to the limit; wraps around if there is no limit
 * @run:	the source whose events are delivered now; NULL if a merge step is next
 * @decoded:	the next event of @run is decoded already
 * @h:		the connection
 * @remote:	the remote
 * @events:	its events
 * @nr_events:	number of @events
 * @formats:	their formats
 * @cpus:	the CPUs that were set; NULL for all that have a ring
 * @nr_cpus:	number of @cpus
 * @hold:	ids of the events to hold enabled
 * @nr_hold:	number of @hold
 * @limit:	end after so many events; 0 for no limit
 * @bound:	how long an event may be held back to keep the order, in ns
 * @filter:	decides which events are delivered; may be NULL
 * @filter_arg:	its argument
 * @start:	hold tracing on; else end when it is off and the rings are empty
 * @merge:	puts the events in order
 * @sources:	one per CPU
 * @nr_sources:	number of @sources
 * @rest:	sources whose rest is counted
 * @rest_begun:	hyptrace_stream_begin_rest() was called
 * @epoll:	descriptor for the caller, -1 before the start
 * @timer:	a timerfd of @epoll
 * @holding:	the first source holds events or tracing
 * @boot_clock:	the time stamps are of CLOCK_BOOTTIME
 * @waiting:	the caller was told to wait
 * @ending:	the end was requested
 * @finishing:	only the rest is to be counted
 * @closed:	detached from all rings
 * @end:	when the end was requested, in ns
 * @last:	at the end: time of the last event that was read
 * @filtered:	events that @filter has refused
 * @discarded:	events consumed, or unloaded with the rings, and not delivered
 * @lost:	events lost
 * @lost_more:	more were lost, but their number is not known
 */
struct hyptrace_stream {
	struct stream_source		*fast;
	uint64_t			until;
	uint64_t			left;
	struct stream_source		*run;
	bool				decoded;
	struct hyptrace			*h;
	struct hyptrace_remote		*remote;
	struct hyptrace_event		**events;
	unsigned int			nr_events;
	struct hyptrace_formats		*formats;
	unsigned int			*cpus;
	unsigned int			nr_cpus;
	uint16_t			hold[STREAM_HOLD_MAX];
	unsigned int			nr_hold;
	uint64_t			limit;
	uint64_t			bound;
	hyptrace_stream_filter_fn	filter;
	void				*filter_arg;
	bool				start;
	struct hyptrace_merge		*merge;
	struct stream_source		*sources;
	unsigned int			nr_sources;
	unsigned int			rest;
	bool				rest_begun;
	int				epoll;
	int				timer;
	bool				holding;
	bool				boot_clock;
	bool				waiting;
	bool				ending;
	bool				finishing;
	bool				closed;
	uint64_t			end;
	uint64_t			last;
	uint64_t			filtered;
	uint64_t			discarded;
	uint64_t			lost;
	bool				lost_more;
};

/* stream_open.c */
uint64_t hyptrace_stream_now(void);
void hyptrace_stream_begin_rest(struct hyptrace_stream *s);

/* stream_source.c: a ring of a stream */
int hyptrace_source_open(struct hyptrace_stream *s, unsigned int cpu, struct hyptrace_error *err);
void hyptrace_source_close(struct stream_source *src);
int hyptrace_source_next(struct stream_source *src, struct hyptrace_error *err);
int hyptrace_source_read(struct hyptrace_stream *s, struct stream_source *src,
			 struct hyptrace_error *err);

/* stream_wait.c: wait for events */
int hyptrace_stream_wait_open(struct hyptrace_stream *s, struct hyptrace_error *err);
void hyptrace_stream_wait_close(struct hyptrace_stream *s);
void hyptrace_stream_wait_begin(struct hyptrace_stream *s);
void hyptrace_stream_wait_end(struct hyptrace_stream *s);

/* stream_count.c: count what was discarded and lost */
void hyptrace_stream_count_lost(struct hyptrace_stream *s, uint64_t lost);
void hyptrace_stream_count_discard(struct hyptrace_stream *s, struct stream_source *src);
int hyptrace_stream_count_begin(struct hyptrace_stream *s, struct hyptrace_error *err);
void hyptrace_stream_count_end(struct hyptrace_stream *s);
void hyptrace_stream_count_undelivered(struct hyptrace_stream *s);
bool hyptrace_stream_count_rest(struct hyptrace_stream *s, struct stream_source *src);
void hyptrace_stream_count_unloaded(struct hyptrace_stream *s);

#endif /* HYPTRACE_STREAM_H */
