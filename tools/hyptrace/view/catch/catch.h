/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace catch: what it catches, and the parts that it is made of.
 */
#ifndef CATCH_H
#define CATCH_H

#include "lib/hyptrace_file.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "session/child.h"
#include "session/choice.h"
#include "session/moment.h"
#include "sink/lines.h"
#include "catch_find.h"

/* An event is taken when the other rings were found empty so much later, or have a later event. */
#define CATCH_ORDER_NSEC	(10 * NSEC_PER_MSEC)

/* The counters of EL2, for the usual time */
struct catch_counting {
	bool				is_used;	/* EL2 counts the event */
	/* others have reset or switched it off so often */
	uint32_t			breaks;
	/* when this began, or after @breaks; NULL if 0 */
	struct hyptrace_event_counter	**base;
	unsigned int			nr_base;
	struct hyptrace_event_counter	**now;		/* as they were last read */
	unsigned int			nr_now;
};

/* A CPU */
struct catch_cpu {
	unsigned int		id;
	struct hyptrace_decoder	*dec;		/* counts what the file gets */
	uint64_t		saved;		/* events in the file */
	uint64_t		lost;		/* before those */
	bool			lost_more;	/* more were lost, whose number is not known */
	uint64_t		read_at;	/* when its ring was last read */
	uint64_t		base;		/* events that had fired when the trigger was set */
	/* fired since then, but were not in the ring any more */
	uint64_t		missed;
	uint64_t		notified;	/* had fired at the last look */
	/* had fired at the look whose count is compared next */
	uint64_t		asked;
	/* events that were found, and are not later than that */
	uint64_t		asked_found;
	/* some have fired that were neither caught nor missed */
	bool			waits;
};

/* Up to when the events of all rings were taken. Times are CLOCK_BOOTTIME in ns. */
struct catch_progress {
	uint64_t	last;		/* time of the last event that was taken */
	uint64_t	empty_at;	/* all rings were read to their end after this */
	bool		is_empty;	/* the stream has no event at present */
	/* EL2's clock is ahead by at most this, as far as events show */
	uint64_t	ahead;
	/* when the counts to compare were read; 0 if the next are those */
	uint64_t	asked_at;
	uint64_t	asked_ahead;	/* @ahead then */
	/* all that was there at @asked_at was read; 0 if it was not */
	uint64_t	read_at;
};

/* The settings and the state of the verb */
struct catcher {
	struct context			*ctx;
	struct lines			lines;
	const char			*what;		/* argument: the event, and a filter */
	char				*name;		/* of the event */
	const char			*text;		/* the filter in @what, or NULL */
	struct words			words;		/* of --event */
	uint64_t			after;		/* print so many events after each one */
	uint64_t			limit;		/* end after so many; 0 for no limit */
	const char			*input;		/* the file to read, or NULL */
	struct moment			from;		/* of @input */
	struct moment			to;
	const char			*path;		/* the file to write, or NULL */
	char				*command;	/* the command line, for the file */
	int				command_len;	/* words of the command to run */
	struct child			child;
	struct hyptrace_remote		*remote;
	struct hyptrace_event		*const *events;
	unsigned int			nr_events;
	const struct hyptrace_event	*event;		/* to catch */
	struct hyptrace_filter		*filter;	/* that it must meet, or NULL */
	const struct hyptrace_field	*duration;	/* its field with the time in ns; or NULL */
	bool				is_overridden;	/* somebody else has changed the event */
	struct catch_cpu		*cpus;
	unsigned int			nr_cpus;
	struct hyptrace_stream		*stream;
	struct catch_progress		progress;
	struct catch_counting		counting;
	struct hyptrace_listener	*listener;
	struct hyptrace_file_writer	*w;
	struct catch_finder		*finder;
	/* events that meet the condition are caught */
	bool				is_armed;
	/* all that has fired is taken, whatever --count says */
	bool				is_ending;
	uint64_t			nr_caught;
	uint64_t			nr_missed;
};

/* catch_live.c: set the trigger, wait, and make all what it was */
int catch_live(struct catcher *c);

/* catch_file.c: find them in a file */
int catch_file(struct catcher *c);

/* catch_take.c: which events are caught */
int catch_choose(struct catcher *c);
void catch_add_cpu(struct catcher *c, unsigned int id);
void catch_take(struct catcher *c, const struct hyptrace_stream_event *event);
void catch_flush(struct catcher *c, bool all);
bool catch_has_enough(const struct catcher *c);

/* catch_stream.c: the rings */
int catch_begin_stream(struct catcher *c);
int catch_read(struct catcher *c);
bool catch_is_past(const struct catcher *c);
int catch_read_all(struct catcher *c);
int catch_finish_file(struct catcher *c);

/* catch_usual.c: how long such an event usually takes */
int catch_begin_counting(struct catcher *c);
void catch_forget_counters(struct catcher *c);
int catch_end_counting(struct catcher *c);
void catch_print_usual(struct catcher *c, const struct hyptrace_record *rec);

/* catch_print.c: print what was caught */
void catch_print(struct catcher *c, const struct caught *caught);
void catch_print_missed(struct catcher *c, unsigned int cpu, uint64_t missed);
void catch_print_summary(const struct catcher *c);

#endif /* CATCH_H */
