// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: memory transitions, and flows from the one that gives a page away to the one
 * that returns it. The CPUs share these, so transitions wait in a file until all CPUs have ended.
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

/* Connect a transition that has succeeded with others of its pages. */
static void add_flows(struct perfetto *p, const struct hyptrace_meaning *meaning,
		      const struct hyptrace_record *rec, struct perfetto_event *event)
{
	const uint64_t op = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_OP, rec);
	const uint64_t from = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_FROM, rec);
	const uint64_t to = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_TO, rec);
	const uint64_t first = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_PAGE, rec);
	uint64_t nr = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_COUNT, rec), i;
	const bool is_shared = op == OP_SHARE || op == OP_UNSHARE;
	const bool is_begin = op == OP_SHARE || (op == OP_DONATE && from == OWNER_HOST);
	const bool is_end = op == OP_UNSHARE || op == OP_RECLAIM ||
			    (op == OP_DONATE && to == OWNER_HOST);
	/* a page can be shared with several VMs, but it has one owner */
	const uint32_t handle = is_shared ?
				hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VM, rec) : 0;
	const uint64_t mark = is_shared ? PFN_SHARED : 0;

	if (nr > PAGES_AT_ONCE)
		nr = PAGES_AT_ONCE;
	if (is_begin)
		add_flow(event, ++p->last_flow);
	for (i = 0; i < nr; i++) {
		const uint64_t pfn = ((first + i) & ~PFN_SHARED) | mark;
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

static void put_transition(struct perfetto *p, const struct hyptrace_record *rec)
{
	struct perfetto_kind *kind = perfetto_kind(p, rec);
	struct perfetto_event event;

	perfetto_begin_event(&event, rec->ts, rec->ts, true);
	perfetto_fill(p, &event, kind, rec);
	perfetto_add_arg(&event, perfetto_name(p, "cpu"), PERFETTO_UINT, p->cpu);
	if (!hyptrace_meaning_value(kind->meaning, HYPTRACE_ROLE_RESULT, rec))
		add_flows(p, kind->meaning, rec, &event);
	if (!p->memory.uuid)
		p->memory.uuid = perfetto_group(p, PERFETTO_MEMORY);
	perfetto_put(p, &p->memory, &event);
}

/* A transition that waits in a file; its payload follows */
struct saved {
	uint64_t	ts;
	uint32_t	cpu;
	uint32_t	size;
};

/* The next transition of a file; NULL at the end */
static struct saved *load(FILE *f)
{
	struct saved head, *saved = NULL;

	if (!fread(&head, sizeof(head), 1, f))
		return NULL;
	saved = malloc(sizeof(head) + head.size);
	if (!saved)
		die_no_memory();
	*saved = head;
	if (!fread(saved + 1, head.size, 1, f)) {
		free(saved);
		return NULL;
	}
	return saved;
}

/* Keep a transition until those of the other CPUs are known. */
void perfetto_memory_wait(struct perfetto *p, const struct hyptrace_record *rec)
{
	const struct saved saved = { rec->ts, p->cpu, rec->size };

	if (!p->waiting)
		p->waiting = tmpfile();
	if (!p->waiting || !fwrite(&saved, sizeof(saved), 1, p->waiting) ||
	    !fwrite(rec->data, rec->size, 1, p->waiting))
		die_no_memory();
}

/* Export the transitions of all CPUs in the order of time, and close their files. */
void perfetto_memory_put(struct perfetto *p, FILE **waiting, unsigned int nr)
{
	struct saved **next = calloc(nr + 1, sizeof(*next));
	struct hyptrace_record rec = {};
	unsigned int i, first;

	if (!next)
		die_no_memory();
	for (i = 0; i < nr; i++) {
		if (!waiting[i])
			continue;
		rewind(waiting[i]);
		next[i] = load(waiting[i]);
	}
	do {
		for (i = 0, first = nr; i < nr; i++)
			if (next[i] && (first == nr || next[i]->ts < next[first]->ts))
				first = i;
		if (first == nr)
			break;
		p->cpu = next[first]->cpu;
		rec.ts = next[first]->ts;
		rec.data = next[first] + 1;
		rec.size = next[first]->size;
		put_transition(p, &rec);
		free(next[first]);
		next[first] = load(waiting[first]);
	} while (true);
	for (i = 0; i < nr; i++)
		if (waiting[i])
			fclose(waiting[i]);
	free(next);
}
