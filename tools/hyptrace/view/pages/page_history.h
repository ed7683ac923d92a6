/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The changes of a page's owner, from mem_transition events, and the hypercalls that made them.
 * For page and leaks.
 */
#ifndef PAGE_HISTORY_H
#define PAGE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hyptrace_model.h"

/* A change of a page's owner, or of those it is shared with */
struct page_change {
	uint64_t	ts;
	unsigned int	cpu;
	const char	*op;		/* "share", "unshare", "donate" or "reclaim" */
	const char	*from;		/* the owner before: "host", "hyp", "guest" or "ffa" */
	const char	*to;		/* who gets or loses the page */
	uint64_t	pfn;		/* first page of the change */
	uint64_t	nr;
	uint64_t	handle;		/* of the VM; 0 if there is none */
	uint64_t	gfn;		/* first page in the guest */
	int64_t		ret;		/* 0, or a negative errno and nothing has changed */
	char		*text;		/* the event as text */
	char		*call;		/* the hypercall that made it, as text; or NULL */
	bool		waits;		/* the hypercall may still be added */
};

struct page_history {
	uint64_t			pfn;
	struct hyptrace_formats		*formats;
	struct hyptrace_model		*model;
	const struct hyptrace_meaning	*transition;	/* NULL if there is no such event */
	struct page_change		*changes;
	unsigned int			nr;
	unsigned int			nr_waiting;
};

/* Read a transition; text and call are then NULL. */
void page_change_read(struct page_change *change, const struct hyptrace_meaning *meaning,
		      unsigned int cpu, const struct hyptrace_record *rec);
void page_change_free(struct page_change *change);
/* The text of a transition or of a hypercall, for free() */
char *page_change_text(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec);
/* enum hyptrace_ownership of a page that was given to somebody, or shared with one */
uint32_t page_change_owner(const struct page_change *change);

/* Has a hypercall that ended with this event made a change at this time on its CPU? */
bool page_call_made(const struct hyptrace_meaning *meaning, const struct hyptrace_record *call,
		    uint64_t ts);

void page_history_init(struct page_history *history, uint64_t pfn,
		       struct hyptrace_formats *formats);
void page_history_free(struct page_history *history);
void page_history_add(struct page_history *history, unsigned int cpu,
		      const struct hyptrace_record *rec);
bool page_history_owner(const struct page_history *history, uint32_t *owner);

#endif /* PAGE_HISTORY_H */
