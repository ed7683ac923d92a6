/* SPDX-License-Identifier: GPL-2.0-only */
/* How spans wait in a nest: see nest.c. For nest_function.c, too. */
#ifndef NEST_H
#define NEST_H

#include "common/by_number.h"
#include "hyptrace_model.h"
#include "internal.h"

#define BIT(kind)	HYPTRACE_KIND_BIT(HYPTRACE_KIND_##kind)

/* No span: the numbers of spans begin with 1 */
#define NONE		0

struct place {
	struct hyptrace_span	span;
	uint64_t		before;		/* the span of the same CPU before it, or NONE */
	uint64_t		parent;		/* the span that it is in, or NONE */
	uint64_t		since;		/* when it has come */
	uint64_t		whole;		/* its own time, and that of the spans in it */
	bool			is_dropped;	/* its visit of EL2 is broken */
	unsigned char		data[HYPTRACE_SPAN_PAYLOAD] __attribute__((aligned(8)));
};

struct nest_cpu {
	uint64_t	last;		/* the last span, or NONE */
	uint64_t	final;		/* nothing that follows has this one inside */
	/* functions wait for those that have called them, and for calls around them */
	bool		has_functions;
	bool		is_returned;	/* the last function was called by none that is traced */
	bool		has_ended;	/* a call has: functions that it has called may follow */
	uint64_t	recorded;	/* when the last function was recorded */
	bool		is_open;	/* the CPU is at EL2: nothing was lost since hyp_enter */
	uint64_t	first;		/* the last span before this visit, or NONE */
	uint64_t	begin;		/* of this visit */
	uint64_t	reason;
	const char	*name;
	const char	*guest_exit;	/* name of the exit in this visit, or NULL */
	uint64_t	left;		/* when the CPU entered a guest, 0 if it has not */
	uint64_t	in_guest;	/* time in the guest since its last exit */
	bool		has_gap;	/* a part of that time is not known */
};

struct hyptrace_nest {
	const struct hyptrace_model	*model;
	uint32_t	kinds;
	uint32_t	parents[HYPTRACE_NR_KINDS];	/* by kind: bits of those it can be in */
	struct place	*places;	/* by number modulo @nr_places, a power of two */
	uint64_t	nr_places;
	uint64_t	head;		/* number of the first one */
	uint64_t	tail;		/* number of the next one to come */
	struct by_number	cpus;	/* each from its first event on */
	bool		has_ended;
};

static inline struct place *place_of(const struct hyptrace_nest *nest, uint64_t number)
{
	return &nest->places[number & (nest->nr_places - 1)];
}

static inline uint64_t length_of(const struct hyptrace_span *span)
{
	return span->end - span->begin;
}

/* nest_function.c */
int hyptrace_nest_functions_arrange(struct hyptrace_nest *nest, struct nest_cpu *cpu);

#endif /* NEST_H */
