/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The changes of a page's owner, from mem_transition events, and the hypercalls that made them.
 * For who.
 */
#ifndef PAGE_HISTORY_H
#define PAGE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hyptrace.h"

/**
 * struct page_change - a change of a page's owner, or of those it is shared with
 * @ts:		when
 * @cpu:	on which CPU
 * @order:	how many changes were added before; for sorting
 * @op:		"share", "unshare", "donate" or "reclaim"
 * @from:	the owner before: "host", "hyp", "guest" or "ffa"
 * @to:		who gets or loses the page
 * @pfn:	first page of the change
 * @nr:		number of its pages
 * @handle:	of the VM; 0 if there is none
 * @ret:	0, or a negative errno and nothing has changed
 * @text:	the event as text
 * @call:	the hypercall that made the change, as text; NULL if there is none
 * @waits:	the hypercall may still be added
 */
struct page_change {
	uint64_t	ts;
	unsigned int	cpu;
	unsigned int	order;
	const char	*op;
	const char	*from;
	const char	*to;
	uint64_t	pfn;
	uint64_t	nr;
	uint64_t	handle;
	int64_t		ret;
	char		*text;
	char		*call;
	bool		waits;
};

/**
 * struct page_history - the changes of a page
 * @pfn:	the page
 * @formats:	formats of the events
 * @transition:	the event mem_transition, or NULL
 * @call:	the event host_hcall, or NULL
 * @changes:	the changes
 * @nr:		number of @changes
 * @nr_waiting:	how many of them wait
 * @lost:	events lost, of any kind
 * @lost_more:	more were lost, but their number is not known
 * @lost_before: time of the last event before which events were lost
 */
struct page_history {
	uint64_t			pfn;
	struct hyptrace_formats		*formats;
	const struct hyptrace_event	*transition;
	const struct hyptrace_event	*call;
	struct page_change		*changes;
	unsigned int			nr;
	unsigned int			nr_waiting;
	uint64_t			lost;
	bool				lost_more;
	uint64_t			lost_before;
};

void page_change_init(struct page_change *change, struct hyptrace_formats *formats,
		      const struct hyptrace_event *event, unsigned int cpu,
		      const struct hyptrace_record *rec);
void page_change_free(struct page_change *change);
char *page_change_text(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec);

void page_history_init(struct page_history *history, uint64_t pfn, struct hyptrace_formats *formats,
		       struct hyptrace_event *const *events, unsigned int nr);
void page_history_free(struct page_history *history);
void page_history_add(struct page_history *history, unsigned int cpu,
		      const struct hyptrace_record *rec);
void page_history_lost(struct page_history *history, uint64_t ts, uint64_t lost);
void page_history_sort(struct page_history *history);
bool page_history_owner(const struct page_history *history, uint32_t *owner);

#endif /* PAGE_HISTORY_H */
