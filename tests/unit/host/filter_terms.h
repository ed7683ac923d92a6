/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters for the tests of hyp/: terms, good and bad, random conditions, and a second way to
 * evaluate both.
 */
#ifndef FILTER_TERMS_H
#define FILTER_TERMS_H

#include "hyp_env.h"

/* A condition: comparisons joined by && and ||. The terms are what it is given to EL2 as. */
struct filter_tree {
	struct filter_node {
		bool is_leaf, is_and;
		u32 first;	/* its first term */
		u32 left, right;
	} nodes[2 * HYPTRACE_FILTER_MAX_TERMS];
	u32 nr_nodes;
	struct hyptrace_term terms[HYPTRACE_FILTER_MAX_TERMS];
	u32 nr_terms;
};

/* A ring of FILTER_CPU that records all events: each test begins and ends with these. */
#define FILTER_CPU	1
#define FILTER_PAGES	4

extern struct env_ring filter_pages;

int filter_start(void **state);
int filter_stop(void **state);

struct filter_counts {
	u64 recorded, filtered;
};

struct filter_counts filter_before(void);
/* Whether FILTER_CPU has recorded the one event since then; else it must have counted it. */
bool filter_passed(struct filter_counts before);

s64 filter_give(u64 cpu, u32 event, u32 number, u32 nr_terms, const struct hyptrace_term *term);
s64 filter_set(u64 cpu, u32 event, const struct hyptrace_term *terms, u32 nr_terms);
s64 filter_remove(u64 cpu, u32 event);

u32 filter_nr_limits(void);
u64 filter_limit(u64 n);
bool filter_holds(const struct hyptrace_term *term, const void *payload);

void filter_random_term(struct hyptrace_term *term, u64 *seed, u32 size);
void filter_random_tree(struct filter_tree *tree, u64 *seed, u32 size);
bool filter_tree_holds(const struct filter_tree *tree, const void *payload);

u32 filter_payload_size(u32 event);
u32 filter_nr_bad(void);
struct hyptrace_term filter_bad(const struct hyptrace_term *good, u32 size, u32 n);

#endif /* FILTER_TERMS_H */
