/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace graph: the functions of EL2 that each call has called.
 */
#ifndef GRAPH_H
#define GRAPH_H

#include "lib/hyptrace_model.h"
#include "session/session.h"

/* What a CPU has done since it has entered EL2 last: functions, and other events */
struct graph_item {
	uint64_t	begin;
	uint64_t	end;		/* of an event: @begin */
	uint64_t	inside;		/* ns of the functions that it has called itself */
	uint32_t	depth;
	const char	*name;		/* of a function; NULL: an event */
	char		*text;		/* of an event */
	bool		has_lines;	/* others are printed inside it */
};

struct graph_cpu {
	struct graph_item	*items;
	unsigned int		nr;
	unsigned int		max;
	bool			has_functions;
};

/* The sums of a function */
struct graph_sum {
	const char	*name;
	uint64_t	calls;
	uint64_t	total;
	uint64_t	self;
	uint64_t	longest;
};

struct graph {
	struct session		session;
	struct hyptrace_model	*model;
	struct words		functions;	/* -e */
	struct hyptrace_filter	*filter;	/* with a file */
	uint64_t		depth;		/* 0: any */
	uint64_t		least;		/* ns */
	bool			is_flat;
	struct graph_cpu	*cpus;
	unsigned int		nr_cpus;
	struct graph_sum	*sums;
	unsigned int		nr_sums;
	uint64_t		nr_functions;	/* printed or added */
};

extern const struct session_ops graph_ops;

int graph_begin(struct graph *g);
void graph_finish(struct graph *g);

/* graph_print.c */
void graph_print(struct graph *g, unsigned int cpu, struct graph_item *items, unsigned int nr);
void graph_print_sums(struct graph *g);

#endif /* GRAPH_H */
