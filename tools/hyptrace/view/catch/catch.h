/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace catch: what it catches, and the parts that it is made of. For cmd_catch.c and catch_*.c.
 */
#ifndef CATCH_H
#define CATCH_H

#include "lib/hyptrace_file.h"
#include "cli/cli.h"
#include "session/child.h"
#include "session/events.h"
#include "sink/lines.h"
#include "catch_find.h"
#include "catch_order.h"

/**
 * struct catch_counting - the counters of EL2, for the usual time
 * @is_used:	EL2 counts the event
 * @breaks:	how often others had reset these counters or switched them off
 * @base:	the counters when this verb began, or after @breaks has changed; NULL if that was 0
 * @nr_base:	number of @base
 * @now:	the counters as they were last read
 * @nr_now:	number of @now
 */
struct catch_counting {
	bool				is_used;
	uint32_t			breaks;
	struct hyptrace_event_counter	**base;
	unsigned int			nr_base;
	struct hyptrace_event_counter	**now;
	unsigned int			nr_now;
};

/**
 * struct catch_ring - the ring of a CPU
 * @cpu:	the CPU
 * @reader:	its consumer
 * @dec:	decodes its sub-buffers
 * @buf:	the sub-buffers that were read last
 * @size:	bytes of @buf
 * @len:	bytes in it
 * @pos:	those that were decoded
 * @read_at:	when they had been read
 * @is_damaged:	a sub-buffer was damaged: events are missing before the next one
 * @is_resumed:	the last look has not read the ring to its end
 * @rec:	the next event
 * @read:	events that were read
 * @lost:	events that were lost before those
 * @lost_more:	more were lost, whose number is not known
 * @base:	events that had fired the trigger when it was set
 * @missed:	events that have fired it since then, but were not in the ring any more
 * @notified:	events that had fired it at the last look
 * @asked:	events that had fired it at the look whose count is compared next
 * @asked_at:	when that was; 0 if the next look is the one
 * @asked_ahead: how far EL2's clock could be ahead then
 * @asked_found: events that were found, and are not later than these two together
 * @waits:	some of the events that have fired were neither caught nor missed yet
 */
struct catch_ring {
	unsigned int		cpu;
	struct hyptrace_reader	*reader;
	struct hyptrace_decoder	*dec;
	char			*buf;
	size_t			size;
	size_t			len;
	size_t			pos;
	uint64_t		read_at;
	bool			is_damaged;
	bool			is_resumed;
	struct hyptrace_record	rec;
	uint64_t		read;
	uint64_t		lost;
	bool			lost_more;
	uint64_t		base;
	uint64_t		missed;
	uint64_t		notified;
	uint64_t		asked;
	uint64_t		asked_at;
	uint64_t		asked_ahead;
	uint64_t		asked_found;
	bool			waits;
};

/**
 * struct catcher - the settings and the state of the verb
 * @ctx:	the verb's context
 * @lines:	prints the lines
 * @what:	argument: the event, and a filter
 * @name:	the name of the event
 * @text:	the filter in @what, or NULL
 * @words:	arguments of --event
 * @after:	print so many events after each one
 * @limit:	end after so many; 0 for no limit
 * @path:	name of the file, or NULL
 * @command:	the command line, for the file
 * @command_len: words of the command to run
 * @child:	the command to run
 * @remote:	the remote
 * @events:	its events
 * @nr_events:	number of @events
 * @event:	the event to catch
 * @filter:	the filter that it must meet, or NULL
 * @duration:	its field that says how long it took, in ns; or NULL
 * @is_overridden: somebody else has changed the event, which stays as it is now
 * @rings:	the rings
 * @nr_rings:	number of @rings
 * @order:	takes the events of the rings in the order of time
 * @counting:	the counters of EL2
 * @listener:	receives the notifications
 * @w:		the file
 * @finder:	finds the events
 * @is_armed:	the trigger is set
 * @nr_caught:	events that were printed
 * @nr_missed:	events that were missed
 */
struct catcher {
	struct context			*ctx;
	struct lines			lines;
	const char			*what;
	char				*name;
	const char			*text;
	struct words			words;
	uint64_t			after;
	uint64_t			limit;
	const char			*path;
	char				*command;
	int				command_len;
	struct child			child;
	struct hyptrace_remote		*remote;
	struct hyptrace_event		**events;
	unsigned int			nr_events;
	const struct hyptrace_event	*event;
	struct hyptrace_filter		*filter;
	const struct hyptrace_field	*duration;
	bool				is_overridden;
	struct catch_ring		*rings;
	unsigned int			nr_rings;
	struct catch_order		*order;
	struct catch_counting		counting;
	struct hyptrace_listener	*listener;
	struct hyptrace_file_writer	*w;
	struct catch_finder		*finder;
	bool				is_armed;
	uint64_t			nr_caught;
	uint64_t			nr_missed;
};

/* catch_live.c: set the trigger, wait, and make all what it was */
int catch_live(struct catcher *c);

/* catch_rings.c: read the rings */
int catch_open_rings(struct catcher *c);
void catch_close_rings(struct catcher *c);
int catch_hold(struct catcher *c);
void catch_flush(struct catcher *c, bool all);
int catch_drain(struct catcher *c, bool all);
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
