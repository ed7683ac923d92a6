// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: flows from the memory transition that gives a page away to the one that
 * returns it.
 */
#include "output/map.h"
#include "export_perfetto.h"

/* Values of the fields op, from and to: HYPTRACE_MEM_* and HYPTRACE_OWNER_* of hyp/events.h */
#define OP_SHARE	0
#define OP_UNSHARE	1
#define OP_DONATE	2
#define OP_RECLAIM	3
#define OWNER_HOST	0

/* Pages of a transition that are followed at most, and pages in all: 32 MiB */
#define PAGES_AT_ONCE	1024
#define PAGES_MAX	(1U << 19)

#define PFN_SHARED	(UINT64_C(1) << 63)

static void insert(struct map *pages, uint64_t pfn, uint32_t handle, uint64_t flow)
{
	if (pages->nr < PAGES_MAX)
		map_add(pages, pfn, handle)->value = flow;
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

/* Connect a memory transition that has succeeded with others of its pages. */
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
	uint64_t i;

	if (is_begin)
		add_flow(event, ++p->last_flow);
	for (i = 0; i < nr; i++) {
		const uint64_t pfn = ((t->pfn + i) & ~PFN_SHARED) | mark;
		struct map_entry *page;

		if (is_begin) {
			insert(&p->pages, pfn, handle, p->last_flow);
			continue;
		}
		page = map_find(&p->pages, pfn, handle);
		if (!page)
			continue;
		add_flow(event, page->value);
		if (is_end)
			map_remove(&p->pages, page);
	}
}
