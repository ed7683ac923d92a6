/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters: conditions on payloads. trace.c evaluates them, hcall.c and load.c set them. */
#ifndef __HYPTRACE_FILTER_H
#define __HYPTRACE_FILTER_H

#include "env.h"
#include "abi.h"
#include "entry.h"

/*
 * A term of HYPTRACE_OP_FILTER, as EL2 evaluates it. Each operator is a range of values, so that
 * all need the same few instructions. The word has the field anywhere inside it: @first, @mask and
 * @span are shifted to its place.
 */
struct hyptrace_filter_range {
	u64	first;		/* smallest value of the range */
	u64	mask;		/* bits of the word that are compared */
	u64	span;		/* largest value of the range, minus @first */
	u16	start;		/* offset of the word in the payload */
	/* if the word is in the range: how many terms to go on, or HYPTRACE_FILTER_ACCEPT etc. */
	u8	inside;
	u8	outside;	/* the same if it is not */
};

/* A filter of an event, checked: each term leads to later ones only. */
struct hyptrace_ring_filter {
	struct hyptrace_filter_range terms[HYPTRACE_FILTER_MAX_TERMS];
};

/* A filter whose last term the host has not given yet */
struct hyptrace_filter_draft {
	struct hyptrace_ring_filter filter;
	struct hyptrace_ring_filter no_result;	/* of host_hcall: each comparison of ret is false */
	u32	event;
	u32	nr_terms;	/* how many it will have */
	u32	nr_given;	/* how many it has */
};

/* Evaluate a term. Return how many terms further the next one is, or the result of the filter. */
static __always_inline u32 hyptrace_filter_evaluate(const struct hyptrace_filter_range *term,
						    const void *payload)
{
	u64 word;

	memcpy(&word, payload + term->start, sizeof(word));

	return ((word - term->first) & term->mask) <= term->span ? term->inside : term->outside;
}

/**
 * hyptrace_filter_rejects_at_once() - evaluate the first term of a filter
 * @filter:	active
 * @payload:	of its event, in memory that only EL2 can access
 * Return: whether that is enough to know that the event is not to be recorded.
 */
static __always_inline bool
hyptrace_filter_rejects_at_once(const struct hyptrace_ring_filter *filter, const void *payload)
{
	return hyptrace_filter_evaluate(filter->terms, payload) == HYPTRACE_FILTER_REJECT;
}

/* The remainder is then a mask, which a CPU does not predict. */
static_assert((HYPTRACE_FILTER_MAX_TERMS & (HYPTRACE_FILTER_MAX_TERMS - 1)) == 0);

/**
 * hyptrace_filter_decide() - evaluate a filter
 * @filter:	active
 * @payload:	of its event, in memory that only EL2 can access
 *
 * Each term leads to later ones only, so the loop ends. A CPU that predicts a branch wrongly stays
 * inside the filter, too: the host must not learn by its caches what is behind it.
 *
 * Return: HYPTRACE_FILTER_ACCEPT, HYPTRACE_FILTER_REJECT or HYPTRACE_FILTER_RECORD.
 */
static __always_inline u32 hyptrace_filter_decide(const struct hyptrace_ring_filter *filter,
						  const void *payload)
{
	u32 at = 0, next;

	for (;; at = (at + next) % HYPTRACE_FILTER_MAX_TERMS) {
		next = hyptrace_filter_evaluate(&filter->terms[at], payload);
		if (next >= HYPTRACE_FILTER_MAX_TERMS)
			return next;
	}
}

/* No event has this number: the filter of hypercalls without a result takes its place. */
#define HYPTRACE_FILTER_NO_RESULT	0

extern u64 hyptrace_void_hcalls[HYPTRACE_FILTER_HCALLS / 64];

/* Check whether the field ret is a result. */
static __always_inline bool hyptrace_has_result(const struct hyptrace_entry_host_hcall *entry)
{
	u32 id = entry->id;

	if (entry->invalid)
		return false;
	if (id >= HYPTRACE_FILTER_HCALLS)
		return true;
	id = array_index_nospec(id, HYPTRACE_FILTER_HCALLS);

	return !(READ_ONCE(hyptrace_void_hcalls[id / 64]) & BIT_ULL(id % 64));
}

/* filter.c */
int hyptrace_filter_set_void(u64 first, u64 bits);
int hyptrace_filter_set(struct hyptrace_ring *ring, u64 where, u64 what, u64 value);
void hyptrace_filter_clear_all(struct hyptrace_ring *ring);

#endif /* __HYPTRACE_FILTER_H */
