/* SPDX-License-Identifier: GPL-2.0-only */
/* hyptrace graph: the functions of EL2 that each call has called. */
#ifndef GRAPH_H
#define GRAPH_H

#include "output/map.h"
#include "session/session.h"
#include "sink/functions.h"
#include "sink/lines.h"

/* EL2 records at most 48 levels. Only a damaged file has more: they are indented as this one. */
#define GRAPH_LEVELS_MAX	64

struct graph_cpu {
	struct graph		*g;
	unsigned int		id;
	struct functions	functions;
	bool			has_caught;	/* the event of struct graph is among them */
	/* copies of those that are no functions, since EL2 has returned to the host last */
	struct hyptrace_record	*events;
	unsigned int		nr;
	unsigned int		max;
};

/* The sums of a function; with --tree, of those that the same functions have called */
struct graph_sum {
	char		*name;
	uint64_t	calls;
	uint64_t	total;
	uint64_t	self;
	uint64_t	longest;
	unsigned int	depth;
	unsigned int	parent;
	unsigned int	first;		/* of those that it has called; 0: none */
	unsigned int	next;
};

/* The first one is no function: it has called the outermost ones */
struct graph_sums {
	struct graph_sum	*list;
	unsigned int		nr;
	struct map		unnamed;	/* by number and parent: place */
	unsigned int		at;	/* the function that the CPU is in */
	bool			is_tree;
};

struct graph {
	struct session		*session;
	struct lines		lines;		/* with its options, before graph_begin() */
	struct hyptrace_model	*model;
	struct words		functions;	/* -e */
	struct hyptrace_filter	*filter;	/* at EL2, or of the file; or NULL */
	const struct hyptrace_event *caught;	/* only calls with such an event; or NULL */
	struct hyptrace_filter	*condition;	/* that this event must meet, or NULL */
	uint64_t		limit;		/* end after so many of them; 0: no limit */
	uint64_t		nr_caught;
	uint64_t		depth;		/* 0: any */
	uint64_t		least;		/* ns */
	bool			is_flat;
	bool			is_tree;
	struct graph_cpu	**cpus;
	unsigned int		nr_cpus;
	struct graph_sums	sums;
	uint64_t		nr_functions;	/* printed or added */
};

extern const struct session_ops graph_ops;

int graph_run(struct graph *g);
int graph_begin(struct graph *g);
void graph_finish(struct graph *g);
void graph_free(struct graph *g);

/* graph_print.c */
void graph_print(struct graph *g, struct graph_cpu *cpu);

/* graph_sums.c */
void graph_sums_add(struct graph_sums *sums, struct functions *functions);
void graph_sums_print(struct graph_sums *sums, struct printer *p);
void graph_sums_free(struct graph_sums *sums);

#endif /* GRAPH_H */
