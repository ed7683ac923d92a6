/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Export to Perfetto: what the files export_perfetto*.c share. Their output is a sequence of
 * TracePackets of perfetto/trace/trace_packet.proto.
 */
#ifndef EXPORT_PERFETTO_H
#define EXPORT_PERFETTO_H

#include "output/map.h"
#include "sink/export.h"
#include "protobuf.h"

/* A name is in these tables of InternedData; the values are their field numbers. */
#define PERFETTO_EVENT_NAMES	2
#define PERFETTO_ARG_NAMES	3
#define PERFETTO_ARG_VALUES	29

/* Number of a name of perfetto_name(); 0 is none */
typedef uint32_t perfetto_name_t;

/**
 * struct perfetto_names - names that packets refer to by their numbers
 * @texts:	the names; the first one has the number 1
 * @nr:		number of @texts
 * @size:	number of names that @texts has memory for
 * @numbers:	numbers by the address of the name
 */
struct perfetto_names {
	const char	**texts;
	uint32_t	nr;
	uint32_t	size;
	struct map	numbers;
};

/**
 * struct perfetto_track - a sequence of packets, with a clock and tables of names of its own,
 *			   and the track on which its events are by default
 * @sequence:	number of the sequence; 0 before the first packet
 * @uuid:	the track
 * @time:	time of the last packet; each packet has the difference to the one before
 * @end:	time of the end of the last slice
 * @known:	a byte per name: bits for the tables that have it
 * @nr_known:	number of @known
 */
struct perfetto_track {
	uint32_t	sequence;
	uint64_t	uuid;
	uint64_t	time;
	uint64_t	end;
	uint8_t		*known;
	uint32_t	nr_known;
};

/**
 * struct perfetto_nest - a track with slices and with slices inside them, which EL2 has recorded
 *			  before the outer ones
 * @outer:	the sequence of the outer slices
 * @inner:	that of the inner ones, on the same track
 * @begin:	when the first inner slice since the last outer one began
 * @end:	when the last such slice ended; 0 if there was none
 */
struct perfetto_nest {
	struct perfetto_track	outer;
	struct perfetto_track	inner;
	uint64_t		begin;
	uint64_t		end;
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

/**
 * struct perfetto_event - a slice or an instant of a track
 * @begin:	its time
 * @end:	the end of a slice
 * @is_instant:	it is no slice
 * @name:	its name, or 0
 * @text:	else its name, or the value of an argument; no other characters than ASCII
 * @flows:	numbers of its flows
 * @nr_flows:	number of @flows
 * @args:	its arguments
 * @nr_args:	number of @args
 */
struct perfetto_event {
	uint64_t		begin;
	uint64_t		end;
	bool			is_instant;
	perfetto_name_t		name;
	const char		*text;
	uint64_t		flows[PERFETTO_FLOWS_MAX];
	unsigned int		nr_flows;
	struct perfetto_arg	args[PERFETTO_ARGS_MAX];
	unsigned int		nr_args;
};

/* Add an argument, if there is room for it. */
static inline void perfetto_add_arg(struct perfetto_event *event, perfetto_name_t name,
				    enum perfetto_arg_type type, uint64_t value)
{
	if (event->nr_args < PERFETTO_ARGS_MAX)
		event->args[event->nr_args++] = (struct perfetto_arg){ name, type, value };
}

/**
 * struct perfetto_vcpu - a virtual CPU
 * @next:	the next one
 * @pid:	its thread
 * @handle:	its VM
 * @index:	its number in the VM
 * @is_known:	@handle and @index are known
 * @nest:	its track: times in the guest, and the traps that EL2 has handled meanwhile
 */
struct perfetto_vcpu {
	struct perfetto_vcpu	*next;
	uint32_t		pid;
	uint32_t		handle;
	uint32_t		index;
	bool			is_known;
	struct perfetto_nest	nest;
};

/**
 * struct perfetto_cpu - a CPU
 * @id:		its number
 * @last:	time of its last event; 0 before the first one
 * @is_open:	it is in EL2: its hyp_exit has not been exported
 * @has_lost:	events were lost before the next bundle
 * @bundle:	the events of the next FtraceEventBundle
 * @len:	bytes in @bundle
 * @calls:	track of the calls of the host
 * @events:	track of the events that have no other one
 * @losses:	track of the losses
 * @entered:	the virtual CPU whose guest it has entered; NULL if it has left it
 * @entered_at:	when
 */
struct perfetto_cpu {
	unsigned int		id;
	uint64_t		last;
	bool			is_open;
	bool			has_lost;
	uint8_t			*bundle;
	size_t			len;
	struct perfetto_nest	calls;
	struct perfetto_track	events;
	struct perfetto_track	losses;
	struct perfetto_vcpu	*entered;
	uint64_t		entered_at;
};

struct perfetto_kind;

#define PERFETTO_VCPU_BUCKETS	4096

/* Bytes of a name such as "donate host -> guest" */
#define PERFETTO_TRANSITION_SIZE	64

/**
 * struct perfetto - the state of an export
 * @x:		the export
 * @out:	its output
 * @base:	time from which the clocks of all sequences start; 0 before the first event
 * @nr_sequences: number of sequences
 * @groups:	the groups of tracks that have been described, by enum perfetto_group
 * @names:	the names
 * @kinds:	how to export the events, by their ids
 * @nr_kinds:	number of @kinds
 * @unknown:	how to export an event that is not described
 * @cpus:	the CPUs by their numbers; NULL before their first event
 * @nr_cpus:	number of @cpus
 * @vcpus:	the virtual CPUs, in lists by their threads
 * @nr_vcpus:	number of virtual CPUs
 * @memory:	track of the memory transitions
 * @pages:	flows of the pages that the host has given away, by page (with 1 in bit 63 if it is
 *		shared) and by the VM it is shared with
 * @last_flow:	number of the last flow
 * @transitions: names of memory transitions, by op, from and to; empty before the first one
 */
struct perfetto {
	struct export		*x;
	struct out		*out;
	uint64_t		base;
	uint32_t		nr_sequences;
	uint32_t		groups;
	struct perfetto_names	names;
	struct perfetto_kind	*kinds;
	unsigned int		nr_kinds;
	struct perfetto_kind	*unknown;
	struct perfetto_cpu	**cpus;
	unsigned int		nr_cpus;
	struct perfetto_vcpu	*vcpus[PERFETTO_VCPU_BUCKETS];
	uint32_t		nr_vcpus;
	struct perfetto_track	memory;
	struct map		pages;
	uint64_t		last_flow;
	char			transitions[4][4][4][PERFETTO_TRANSITION_SIZE];
};

/* Groups of tracks */
enum perfetto_group {
	PERFETTO_CALLS,
	PERFETTO_GUESTS,
	PERFETTO_MEMORY,
	PERFETTO_EVENTS,
	PERFETTO_LOSSES,
};

/* export_perfetto_track.c: tracks and their packets */
void perfetto_begin(struct perfetto *p, uint64_t time);
perfetto_name_t perfetto_name(struct perfetto *p, const char *name);
uint64_t perfetto_group(struct perfetto *p, enum perfetto_group group);
uint64_t perfetto_uuid(enum perfetto_group group, uint64_t id);
void perfetto_describe(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name);
void perfetto_put(struct perfetto *p, struct perfetto_track *track,
		  const struct perfetto_event *event);
void perfetto_put_outer(struct perfetto *p, struct perfetto_nest *nest,
			struct perfetto_event *event);
void perfetto_put_inner(struct perfetto *p, struct perfetto_nest *nest,
			struct perfetto_event *event);
void perfetto_free_tracks(struct perfetto *p);

/* export_perfetto_ftrace.c: the events of Perfetto's own track of the hypervisor */

/* Messages of FtraceEvent, and fields of one at most */
#define PERFETTO_HYP_EXIT	584
#define PERFETTO_HYP_ENTER	588
#define PERFETTO_FTRACE_FIELDS	7

unsigned int perfetto_ftrace_find(const struct hyptrace_event *event,
				  const struct hyptrace_field **fields);
void perfetto_ftrace_put(struct perfetto *p, struct perfetto_cpu *cpu, unsigned int message,
			 const struct hyptrace_field *const *fields,
			 const struct hyptrace_record *rec);
void perfetto_ftrace_close(struct perfetto *p, struct perfetto_cpu *cpu);
void perfetto_ftrace_flush(struct perfetto *p, struct perfetto_cpu *cpu);

/* export_perfetto_guest.c: virtual CPUs */
struct perfetto_vcpu *perfetto_vcpu(struct perfetto *p, uint32_t pid, uint32_t handle,
				    uint32_t index);
struct perfetto_vcpu *perfetto_vcpu_of_thread(struct perfetto *p, uint32_t pid);
void perfetto_guest_enter(struct perfetto *p, struct perfetto_cpu *cpu,
			  struct perfetto_vcpu *vcpu, uint64_t ts);
void perfetto_guest_close(struct perfetto *p, struct perfetto_cpu *cpu);
void perfetto_guest_describe(struct perfetto *p);
void perfetto_guest_free(struct perfetto *p);

/* export_perfetto_memory.c: who has which page */
/**
 * struct perfetto_transition - the fields of a memory transition
 * @op, @from, @to: as their names in the event: 0 to 3 if they are valid
 * @handle:	the VM
 * @pfn:	the first page
 * @nr:		number of pages
 */
struct perfetto_transition {
	uint64_t	op;
	uint64_t	from;
	uint64_t	to;
	uint64_t	handle;
	uint64_t	pfn;
	uint64_t	nr;
};

void perfetto_memory_flows(struct perfetto *p, const struct perfetto_transition *t,
			   struct perfetto_event *event);

#endif /* EXPORT_PERFETTO_H */
