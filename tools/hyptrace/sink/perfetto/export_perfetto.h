/* SPDX-License-Identifier: GPL-2.0-only */
/* Export to Perfetto: the output is TracePackets of perfetto/trace/trace_packet.proto. */
#ifndef EXPORT_PERFETTO_H
#define EXPORT_PERFETTO_H

#include <stdio.h>
#include <sys/param.h>

#include "common/by_number.h"
#include "common/place.h"
#include "output/map.h"
#include "sink/export.h"
#include "sink/functions.h"
#include "protobuf.h"

/* A name is in these tables of InternedData; the values are their field numbers. */
#define PERFETTO_EVENT_NAMES	2
#define PERFETTO_ARG_NAMES	3
#define PERFETTO_ARG_VALUES	29

/* Number of a name of perfetto_name(); 0 is none */
typedef uint32_t perfetto_name_t;

/* Names that packets refer to by their numbers */
struct perfetto_names {
	const char	**texts;	/* the first one has the number 1 */
	uint32_t	nr;
	uint32_t	size;
	struct map	numbers;	/* by the address of the name */
};

/* A sequence of packets with a clock and names of its own, and the default track of its events */
struct perfetto_track {
	uint32_t	sequence;	/* its number; 0 before the first packet */
	uint64_t	uuid;
	uint64_t	time;		/* of the last packet: each has the difference to it */
	uint64_t	end;		/* of the last slice */
	uint8_t		*known;		/* a byte per name: bits for the tables that have it */
	uint32_t	nr_known;
};

/* A track with slices and with slices inside them, which EL2 has recorded before the outer ones */
struct perfetto_nest {
	struct perfetto_track	outer;
	struct perfetto_track	inner;	/* a sequence for the same track */
	uint64_t		begin;	/* of the first inner slice since the last outer one */
	uint64_t		end;	/* of the last such slice; 0 if there was none */
};

/* Types of arguments; the values are the field numbers of DebugAnnotation. */
enum perfetto_arg_type {
	PERFETTO_UINT	= 3,
	PERFETTO_INT	= 4,
	PERFETTO_TEXT	= 6,	/* the member text of the event */
	PERFETTO_HEX	= 7,
	PERFETTO_NAME	= 17,
};

struct perfetto_arg {
	perfetto_name_t		name;
	enum perfetto_arg_type	type;
	uint64_t		value;
};

#define PERFETTO_ARGS_MAX	32
#define PERFETTO_FLOWS_MAX	8
/* Bytes of a text that is no interned name */
#define PERFETTO_TEXT_MAX	1024

/* A slice or an instant of a track */
struct perfetto_event {
	uint64_t		begin;
	uint64_t		end;
	bool			is_instant;
	perfetto_name_t		name;		/* or 0 */
	const char		*text;		/* else its name, or an argument; ASCII */
	uint64_t		flows[PERFETTO_FLOWS_MAX];
	unsigned int		nr_flows;
	struct perfetto_arg	args[PERFETTO_ARGS_MAX];
	unsigned int		nr_args;
};

/* Begin an event; without arguments, which are filled in later. */
static inline void perfetto_begin_event(struct perfetto_event *event, uint64_t begin,
					uint64_t end, bool is_instant)
{
	/* the arrays are large: they are not cleared */
	event->begin = begin;
	event->end = end;
	event->is_instant = is_instant;
	event->name = 0;
	event->text = NULL;
	event->nr_flows = 0;
	event->nr_args = 0;
}

/* Add an argument, if there is room for it. */
static inline void perfetto_add_arg(struct perfetto_event *event, perfetto_name_t name,
				    enum perfetto_arg_type type, uint64_t value)
{
	if (event->nr_args < PERFETTO_ARGS_MAX)
		event->args[event->nr_args++] = (struct perfetto_arg){ name, type, value };
}

/* A virtual CPU, as a CPU has seen it */
struct perfetto_vcpu {
	struct perfetto_vcpu	*next;		/* of the same thread */
	uint32_t		pid;
	uint32_t		handle;
	uint32_t		index;
	bool			is_known;	/* @handle and @index are */
	/* times in the guest, and the traps that EL2 has handled meanwhile */
	struct perfetto_nest	nest;
};

/* Events of a CPU that wait to be written together: FtraceEventBundle */
struct perfetto_bundle {
	unsigned int	cpu;
	bool		has_lost;	/* events were lost before it */
	uint8_t		*events;
	size_t		len;
	size_t		size;		/* bytes that @events can have: it grows */
};

#define PERFETTO_FTRACE_FIELDS	7

struct perfetto;

/* How to export an event */
struct perfetto_kind {
	const struct hyptrace_meaning	*meaning;	/* NULL if no event has this id */
	unsigned int			message;	/* on Perfetto's own track; or 0 */
	struct place			details[PERFETTO_FTRACE_FIELDS];
	unsigned int			nr_details;
	/* puts it on a track of hyptrace; NULL for none */
	void				(*put)(struct perfetto *p, struct perfetto_kind *kind,
					       const struct hyptrace_record *rec);
	bool				waits;		/* for other CPUs: a memory transition */
	uint64_t			hides;		/* roles that are no arguments */
	struct perfetto_field		*fields;	/* those that can be arguments */
	unsigned int			nr_fields;
	struct map			plans;		/* by the key; one without a name */
	struct perfetto_plan		*last;
};

/* The export of a CPU's events */
struct perfetto {
	struct export		*x;
	struct hyptrace_formats	*formats;
	struct out		*out;
	unsigned int		cpu;
	unsigned int		index;		/* of this part: its CPU, or the number of CPUs */
	uint32_t		nr_sequences;
	uint32_t		groups;		/* bits: they are described */
	struct perfetto_names	names;
	struct by_number	kinds;		/* each from its first event on */
	struct perfetto_kind	unknown;	/* an event that is not described */

	uint64_t		last;		/* time of the last event; 0 before the first one */
	bool			is_open;	/* in EL2: its hyp_exit has not been exported */
	struct perfetto_bundle	bundle;
	struct perfetto_nest	calls;		/* of the host */
	struct perfetto_track	events;		/* that have no other track */
	struct perfetto_track	losses;
	struct functions	functions;	/* from the first one on */
	struct perfetto_track	functions_track;
	struct map		vcpus;		/* lists by their threads */
	uint32_t		nr_vcpus;
	struct perfetto_vcpu	*other;		/* for all that are too many */
	struct perfetto_vcpu	*entered;	/* whose guest it is in; or NULL */
	uint64_t		entered_at;
	FILE			*waiting;	/* memory transitions, for the end; or NULL */

	/* of all CPUs' memory transitions */
	struct perfetto_track	memory;
	struct map		pages;		/* given away by the host: their flows */
	uint64_t		last_flow;
};

/* Groups of tracks */
enum perfetto_group {
	PERFETTO_CALLS,
	PERFETTO_GUESTS,
	PERFETTO_MEMORY,
	PERFETTO_EVENTS,
	PERFETTO_LOSSES,
	PERFETTO_FUNCTIONS,
};

/* export_perfetto_track.c: tracks and their packets */
void perfetto_put_clocks(const struct export *x);
void perfetto_put_origin(const struct export *x);
perfetto_name_t perfetto_name(struct perfetto *p, const char *name);
uint64_t perfetto_group(struct perfetto *p, enum perfetto_group group);
uint64_t perfetto_cpu_track(struct perfetto *p, enum perfetto_group group, const char *prefix);
void perfetto_put(struct perfetto *p, struct perfetto_track *track,
		  const struct perfetto_event *event);
void perfetto_begin_slice(struct perfetto *p, struct perfetto_track *track, uint64_t time,
			  perfetto_name_t name);
void perfetto_end_slice(struct perfetto *p, struct perfetto_track *track, uint64_t time);
void perfetto_put_outer(struct perfetto *p, struct perfetto_nest *nest,
			struct perfetto_event *event);
void perfetto_put_inner(struct perfetto *p, struct perfetto_nest *nest,
			struct perfetto_event *event);
struct perfetto_vcpu *perfetto_vcpu(struct perfetto *p, uint32_t pid, bool is_known,
				    uint32_t handle, uint32_t index);
void perfetto_guest_close(struct perfetto *p);
void perfetto_guest_end(struct perfetto *p);

/* export_perfetto_ftrace.c: the events of Perfetto's own track of the hypervisor */
/* Messages of FtraceEvent */
#define PERFETTO_HYP_EXIT	584
#define PERFETTO_HYP_ENTER	588
/* Bytes of a bundle without the last event */
#define PERFETTO_BUNDLE_SIZE	(16 << 10)

void perfetto_ftrace_find(struct perfetto_kind *kind, const struct hyptrace_event *event);
void perfetto_ftrace_put(struct perfetto *p, const struct perfetto_kind *kind,
			 const struct hyptrace_record *rec);
void perfetto_ftrace_close(struct perfetto *p);
void perfetto_bundle_flush(struct perfetto_bundle *bundle, struct out *out);
/* of the host's events, as a trace of their own */
extern const struct export_format export_perfetto_host;

/* export_perfetto_event.c: what an event is on hyptrace's tracks */
void perfetto_free_kinds(struct perfetto *p);
void perfetto_put_unknown(struct perfetto *p, struct perfetto_kind *kind,
			  const struct hyptrace_record *rec);
struct perfetto_kind *perfetto_kind(struct perfetto *p, const struct hyptrace_record *rec);
void perfetto_fill(struct perfetto *p, struct perfetto_event *event, struct perfetto_kind *kind,
		   const struct hyptrace_record *rec);

#endif /* EXPORT_PERFETTO_H */
