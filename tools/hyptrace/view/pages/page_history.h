/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The changes of a page's owner, from mem_transition events, and the hypercalls that made them.
 * For who.
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
	unsigned int	order;		/* how many changes were added before; for sorting */
	const char	*op;		/* "share", "unshare", "donate" or "reclaim" */
	const char	*from;		/* the owner before: "host", "hyp", "guest" or "ffa" */
	const char	*to;		/* who gets or loses the page */
	uint64_t	pfn;		/* first page of the change */
	uint64_t	nr;
	uint64_t	handle;		/* of the VM; 0 if there is none */
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
	uint64_t			lost;		/* events of any kind */
	bool				lost_more;	/* nobody knows how many more */
	uint64_t			lost_before;	/* time of the last loss */
};

void page_change_init(struct page_change *change, struct hyptrace_formats *formats,
		      const struct hyptrace_meaning *meaning, unsigned int cpu,
		      const struct hyptrace_record *rec);
void page_change_free(struct page_change *change);
char *page_change_text(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec);

void page_history_init(struct page_history *history, uint64_t pfn,
		       struct hyptrace_formats *formats);
void page_history_free(struct page_history *history);
void page_history_add(struct page_history *history, unsigned int cpu,
		      const struct hyptrace_record *rec);
void page_history_lost(struct page_history *history, uint64_t ts, uint64_t lost);
void page_history_sort(struct page_history *history);
bool page_history_owner(const struct page_history *history, uint32_t *owner);

#endif /* PAGE_HISTORY_H */
