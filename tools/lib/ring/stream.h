/* SPDX-License-Identifier: GPL-2.0-only */
/* A stream of events, and the rings that it reads. For the files stream*.c. */
#ifndef HYPTRACE_STREAM_H
#define HYPTRACE_STREAM_H

#include "internal.h"

/* A CPU's ring */
struct stream_source {
	struct hyptrace_stream_event	event;	/* the next one, if @pending, or the last one */
	struct hyptrace_reader		*reader;
	struct hyptrace_decoder		dec;		/* decodes a sub-buffer of @buf */
	char				*buf;		/* sub-buffers as they were read */
	size_t				size;		/* room in @buf */
	size_t				len;		/* bytes in @buf */
	size_t				pos;		/* where the next sub-buffer starts */
	uint64_t			asked;		/* the time right before the last read */
	uint64_t			unread;	/* events in the ring when the stream ended */
	uint64_t			reported;	/* losses, at the beginning */
	uint64_t			unreported;	/* the others; at the end, ours */
	bool				pending;	/* there is a next event */
	bool				damaged;	/* a sub-buffer could not be decoded */
	bool				asleep;		/* tracing is off and the ring is empty */
	bool				over;		/* the ring must not be read any more */
	/* the last read got data: EAGAIN may be the driver's limit of a loop, not an empty ring */
	bool				draining;
};

struct hyptrace_stream {
	struct stream_source		*fast;	/* @run, if its next event needs no more ado */
	uint64_t			until;	/* events of @run need no merge step up to then */
	uint64_t			left;	/* up to the limit; wraps around without one */
	struct stream_source		*run;	/* delivers now; NULL: a merge step is next */
	bool				decoded;	/* the next event of @run is */
	struct hyptrace			*h;
	struct hyptrace_remote		*remote;
	struct hyptrace_event		**events;
	unsigned int			nr_events;
	struct hyptrace_formats		*formats;
	uint16_t			hold[HYPTRACE_HOLD_EVENTS_MAX];	/* ids of events */
	unsigned int			nr_hold;
	struct hyptrace_stream_options	options;
	struct hyptrace_merge		*merge;
	struct stream_source		*sources;
	unsigned int			nr_sources;
	unsigned int			rest;		/* sources whose rest is counted */
	bool				rest_begun;
	int				epoll;		/* for the caller, -1 before the start */
	int				timer;		/* a timerfd of @epoll */
	bool				watched;	/* the rings are in @epoll */
	int				watch_errno;	/* why one of them is not, or 0 */
	bool				holding;	/* the first source holds something */
	bool				is_tracefs;	/* no driver has the rings */
	bool				boot_clock;	/* the time stamps are of CLOCK_BOOTTIME */
	bool				waiting;	/* the caller was told to wait */
	bool				ending;		/* the end was requested */
	bool				finishing;	/* only the rest is to be counted */
	bool				closed;		/* detached from all rings */
	uint64_t			end;		/* when the end was requested, ns */
	uint64_t			last;	/* at the end: time of the last event read */
	uint64_t			filtered;	/* events that @filter has refused */
	uint64_t			discarded;	/* consumed or unloaded, not delivered */
	uint64_t			lost;
	bool				lost_more;	/* their number is not known */
};

/* stream_open.c */
void hyptrace_stream_begin_rest(struct hyptrace_stream *s);
void hyptrace_stream_count_lost(struct hyptrace_stream *s, uint64_t lost);
void hyptrace_stream_count_discard(struct hyptrace_stream *s, struct stream_source *src);
bool hyptrace_stream_count_rest(struct hyptrace_stream *s, struct stream_source *src);

/* stream_source.c: a ring of a stream */
int hyptrace_source_open(struct hyptrace_stream *s, unsigned int cpu, struct hyptrace_error *err);
int hyptrace_source_next(struct stream_source *src, struct hyptrace_error *err);
int hyptrace_source_read(struct hyptrace_stream *s, struct stream_source *src,
			 struct hyptrace_error *err);
int hyptrace_stream_wait_open(struct hyptrace_stream *s, struct hyptrace_error *err);
void hyptrace_stream_detach(struct hyptrace_stream *s);
void hyptrace_stream_wait_begin(struct hyptrace_stream *s);

#endif /* HYPTRACE_STREAM_H */
