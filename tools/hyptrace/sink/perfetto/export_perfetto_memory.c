// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: flows from the transition that gives a page away to the one that returns it.
 * For export_perfetto.c.
 */
#include <stdlib.h>

#include "output/die.h"
#include "export_perfetto.h"

/* Values of the fields op, from and to: HYPTRACE_MEM_* and HYPTRACE_OWNER_* of hyp/events.h */
#define OP_SHARE	0
#define OP_UNSHARE	1
#define OP_DONATE	2
#define OP_RECLAIM	3
#define OWNER_HOST	0

/* Pages of a transition that are followed at most, and pages in all: 32 MiB */
#define PAGES_AT_ONCE	1024
#define MAX_SLOTS	(1U << 20)
#define MIN_SLOTS	1024

/**
 * struct page - a page that the host has donated, or shares with a VM or with EL2
 * @pfn:	its number, and 1 in bit 63 if it is shared
 * @flow:	the transition; 0 if the slot is free
 * @handle:	the VM it is shared with
 */
struct page {
	uint64_t	pfn;
	uint64_t	flow;
	uint32_t	handle;
};

#define PFN_SHARED	(UINT64_C(1) << 63)

/**
 * struct perfetto_pages - a hash table of pages
 * @slots:	the pages
 * @nr_slots:	number of @slots, a power of 2
 * @nr:		number of pages
 * @last_flow:	number of the last flow
 */
struct perfetto_pages {
	struct page	*slots;
	uint32_t	nr_slots;
	uint32_t	nr;
	uint64_t	last_flow;
};

static uint32_t hash(uint64_t pfn, uint32_t handle)
{
	return ((pfn + ((uint64_t)handle << 40)) * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
}

/* Find a page, or the free slot for it. */
static struct page *find(const struct perfetto_pages *pages, uint64_t pfn, uint32_t handle)
{
	uint32_t slot = hash(pfn, handle) & (pages->nr_slots - 1);

	while (pages->slots[slot].flow &&
	       (pages->slots[slot].pfn != pfn || pages->slots[slot].handle != handle))
		slot = (slot + 1) & (pages->nr_slots - 1);
	return &pages->slots[slot];
}

static void grow(struct perfetto_pages *pages)
{
	struct perfetto_pages old = *pages;
	uint32_t i;

	pages->nr_slots = old.nr_slots ? 2 * old.nr_slots : MIN_SLOTS;
	pages->slots = calloc(pages->nr_slots, sizeof(*pages->slots));
	if (!pages->slots)
		die_no_memory();
	for (i = 0; i < old.nr_slots; i++)
		if (old.slots[i].flow)
			*find(pages, old.slots[i].pfn, old.slots[i].handle) = old.slots[i];
	free(old.slots);
}

static void insert(struct perfetto_pages *pages, uint64_t pfn, uint32_t handle, uint64_t flow)
{
	struct page *page;

	if (2 * pages->nr >= pages->nr_slots) {
		if (pages->nr_slots >= MAX_SLOTS)
			return;
		grow(pages);
	}
	page = find(pages, pfn, handle);
	pages->nr += !page->flow;
	*page = (struct page){ .pfn = pfn, .flow = flow, .handle = handle };
}

/* Free a slot, and move those behind it that would not be found any more. */
static void remove_page(struct perfetto_pages *pages, struct page *page)
{
	const uint32_t mask = pages->nr_slots - 1;
	uint32_t hole = page - pages->slots, at = hole;

	for (;;) {
		at = (at + 1) & mask;
		if (!pages->slots[at].flow)
			break;
		/* the slot where its search begins must not be between the hole and it */
		if (((at - hash(pages->slots[at].pfn, pages->slots[at].handle)) & mask) <
		    ((at - hole) & mask))
			continue;
		pages->slots[hole] = pages->slots[at];
		hole = at;
	}
	pages->slots[hole].flow = 0;
	pages->nr--;
}

static void add_flow(struct perfetto_event *event, uint64_t flow)
{
	unsigned int i;

	for (i = 0; i < event->nr_flows; i++)
		if (event->flows[i] == flow)
			return;
	if (event->nr_flows < PERFETTO_FLOWS_MAX)
		event->flows[event->nr_flows++] = flow;
}

/**
 * perfetto_memory_flows - connect a memory transition that has succeeded with others of its pages
 * @p:		the export
 * @t:		the transition
 * @event:	its instant, which gets the flows
 */
void perfetto_memory_flows(struct perfetto *p, const struct perfetto_transition *t,
			   struct perfetto_event *event)
{
	const bool is_shared = t->op == OP_SHARE || t->op == OP_UNSHARE;
	const bool is_begin = t->op == OP_SHARE || (t->op == OP_DONATE && t->from == OWNER_HOST);
	const bool is_end = t->op == OP_UNSHARE || t->op == OP_RECLAIM ||
			    (t->op == OP_DONATE && t->to == OWNER_HOST);
	const uint64_t nr = t->nr < PAGES_AT_ONCE ? t->nr : PAGES_AT_ONCE;
	/* a page can be shared with several VMs, but it has one owner */
	const uint32_t handle = is_shared ? t->handle : 0;
	const uint64_t mark = is_shared ? PFN_SHARED : 0;
	struct perfetto_pages *pages = p->pages;
	uint64_t flow = 0, i;

	if (!pages) {
		pages = calloc(1, sizeof(*pages));
		if (!pages)
			die_no_memory();
		grow(pages);
		p->pages = pages;
	}
	if (is_begin) {
		flow = ++pages->last_flow;
		add_flow(event, flow);
	}
	for (i = 0; i < nr; i++) {
		const uint64_t pfn = ((t->pfn + i) & ~PFN_SHARED) | mark;
		struct page *page;

		if (is_begin) {
			insert(pages, pfn, handle, flow);
			continue;
		}
		page = find(pages, pfn, handle);
		if (!page->flow)
			continue;
		add_flow(event, page->flow);
		if (is_end)
			remove_page(pages, page);
	}
}

/**
 * perfetto_memory_free - free what perfetto_memory_flows() has allocated
 * @p:		the export
 */
void perfetto_memory_free(struct perfetto *p)
{
	if (p->pages)
		free(p->pages->slots);
	free(p->pages);
}
