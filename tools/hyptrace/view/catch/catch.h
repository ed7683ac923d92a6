/* SPDX-License-Identifier: GPL-2.0-only */
/* hyptrace catch: what it catches, and the parts that it is made of. */
#ifndef CATCH_H
#define CATCH_H

#include "output/clock.h"
#include "session/session.h"
#include "sink/lines.h"

/* catch_find.c: find certain events, with what happened before, meanwhile and after */

/* Events that are kept of each CPU */
#define CATCH_BEFORE	20

/* After so many calls of catch_finder_age() an event is complete, whatever has followed it. */
#define CATCH_AGE_MAX	10

/* If more events wait for what follows, the first one is complete: this bounds the memory. */
#define CATCH_WAITING_MAX	256

struct catch_events {
	struct hyptrace_stream_event	*events;
	unsigned int			nr;
};

/* The events around one, each list in the order of time */
enum {
	AROUND_BEFORE,	/* the last events of its CPU before it */
	AROUND_EARLIER,	/* the last event of each other CPU that recorded nothing while it lasted */
	AROUND_OTHERS,	/* what the other CPUs recorded while it lasted */
	AROUND_AFTER,	/* the next events of its CPU */
	NR_AROUND
};

struct caught {
	struct caught			*next;	/* the one that was found after it */
	struct hyptrace_stream_event	event;
	struct catch_events		around[NR_AROUND];
	unsigned int			age;	/* calls of catch_finder_age() since then */
};

struct catch_finder *catch_finder_new(unsigned int nr_cpus, unsigned int after);
void catch_finder_free(struct catch_finder *finder);
void catch_finder_add(struct catch_finder *finder, unsigned int index,
		      const struct hyptrace_stream_event *event, bool is_match, uint64_t begin);
void catch_finder_age(struct catch_finder *finder);
bool catch_finder_waits(const struct catch_finder *finder);
struct caught *catch_finder_next(struct catch_finder *finder, bool all);
uint64_t catch_finder_found(const struct catch_finder *finder, unsigned int index);
void caught_free(struct caught *caught);

/* An event is taken when the other rings were found empty so much later, or have a later event. */
#define CATCH_ORDER_NSEC	(10 * NSEC_PER_MSEC)

/* The counters of EL2, for the usual time */
struct catch_counting {
	bool				is_used;	/* EL2 counts the event */
	uint32_t			breaks;		/* others have reset or ended it so often */
	struct hyptrace_event_counter	**base;		/* when that began; NULL: 0 */
	unsigned int			nr_base;
	struct hyptrace_event_counter	**now;		/* less @base; NULL: read them again */
	struct counter_sums		sums;		/* of @now */
};

struct catch_cpu {
	unsigned int		id;
	struct ring_counts	counts;		/* when its ring was not read yet */
	uint64_t		lost;		/* events before the next one */
	uint64_t		read_at;	/* when its ring was last read */
	uint64_t		base;		/* events that had fired when the trigger was set */
	uint64_t		missed;		/* fired since then, but were overwritten */
	uint64_t		notified;	/* had fired at the last look */
	uint64_t		asked;		/* had fired at the look that is compared next */
	uint64_t		asked_found;	/* events found that are not later than that */
	bool			waits;		/* some have fired, and were not taken yet */
};

/* Up to when the events of all rings were taken. Times are CLOCK_BOOTTIME in ns. */
struct catch_progress {
	uint64_t	last;		/* time of the last event that was taken */
	uint64_t	empty_at;	/* all rings were read to their end after this */
	bool		is_empty;	/* the stream has no event at present */
	uint64_t	ahead;		/* of EL2's clock at most, as far as events show */
	uint64_t	asked_at;	/* when the counts to compare were read; 0: not yet */
	uint64_t	asked_ahead;	/* @ahead then */
	uint64_t	read_at;	/* all that was there at @asked_at was read; or 0 */
};

struct catcher {
	struct session			session;
	struct lines			lines;
	const char			*what;		/* argument: the event, and a filter */
	char				*name;		/* of the event */
	const char			*text;		/* the filter in @what, or NULL */
	uint64_t			after;		/* print so many events after each one */
	uint64_t			limit;		/* to end after; file: to keep; or 0 */
	struct caught			*kept;		/* of a file: the last ones so far */
	struct caught			*kept_last;
	uint64_t			nr_kept;
	const char			*path;		/* the file to write, or NULL */
	const char			*dir;		/* the folder of snapshots, or NULL */
	uint64_t			keep;		/* so many of them; 0: all */
	uint64_t			bytes;		/* in all; 0: no limit */
	uint64_t			rate;		/* in a minute */
	uint64_t			idle;		/* ns without an event; 0: never */
	bool				is_graph;	/* print functions */
	bool				is_limited;	/* an option sets keep, bytes or rate */
	const struct hyptrace_event	*event;		/* to catch */
	struct hyptrace_filter		*filter;	/* that it must meet, or NULL */
	const struct hyptrace_field	*duration;	/* its field with the time in ns; or NULL */
	struct catch_cpu		*cpus;
	unsigned int			nr_cpus;
	struct catch_progress		progress;
	struct catch_counting		counting;
	struct hyptrace_file_writer	*w;
	struct catch_finder		*finder;
	uint64_t			aged_at;	/* by CLOCK_MONOTONIC */
	bool				has_fired;	/* the trigger, by notifications */
	bool				has_changed;	/* somebody else has changed the event */
	bool				has_stopped;	/* tracing was switched off */
	bool				is_armed;	/* what meets the condition is caught */
	bool				is_ending;	/* all is taken, whatever --count says */
	uint64_t			nr_caught;
	uint64_t			nr_missed;
};

/* catch_live.c: set the trigger, wait, and restore the event */
int catch_live(struct catcher *c);
int catch_listen(struct catcher *c, const struct loop_ops *ops, void *arg);
bool catch_hear(struct catcher *c, const struct hyptrace_notification *notification);
void catch_ask(struct catcher *c);
int catch_arm(struct catcher *c);
int catch_check(const struct hyptrace_remote *remote);

/* catch_save.c: wait for a reason, and save what the rings hold */
int catch_save(struct catcher *c);

/* catch_take.c: which events are caught, and how they are printed */
int catch_choose(struct catcher *c);
struct catch_cpu *catch_find_cpu(struct catcher *c, unsigned int id);
void catch_take(struct catcher *c, const struct hyptrace_stream_event *event);
void catch_flush(struct catcher *c, bool all);
bool catch_has_enough(const struct catcher *c);
int catch_begin_counting(struct catcher *c);
void catch_forget_counters(struct catcher *c);
int catch_end_counting(struct catcher *c);

/* catch_stream.c: the rings */
int catch_hold(struct catcher *c);
int catch_begin_stream(struct catcher *c);
int catch_read(struct catcher *c);
bool catch_is_past(const struct catcher *c);
int catch_read_all(struct catcher *c);

#endif /* CATCH_H */
