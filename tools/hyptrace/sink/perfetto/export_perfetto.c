// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: the format. Each event goes to the track that suits it; all events but
 * hyp_enter and hyp_exit are on one of hyptrace's own tracks.
 *
 * Memory transitions have flows from the one that gives a page away to the one that returns it. The
 * CPUs share these, so transitions wait in a file until all CPUs have ended.
 */
#include "output/die.h"
#include "export_perfetto.h"

/* Bytes of the text of a loss */
#define TEXT_SIZE	64

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

	nr = MIN(nr, PAGES_AT_ONCE);
	if (is_begin)
		add_flow(event, ++p->last_flow);
	for (i = 0; i < nr; i++) {
		const uint64_t pfn = ((first + i) & ~PFN_SHARED) | mark;
		struct map_entry *page;

		if (is_begin) {
			if (p->pages.nr < PAGES_MAX)
				map_add(&p->pages, pfn, handle)->value = p->last_flow;
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
	saved = xmalloc(sizeof(head) + head.size);
	*saved = head;
	if (!fread(saved + 1, head.size, 1, f)) {
		free(saved);
		return NULL;
	}
	return saved;
}

/* Export the transitions of all CPUs in the order of time, and close their files. */
static void put_waiting(struct perfetto *p, FILE **waiting, unsigned int nr)
{
	auto_free struct saved **next = xcalloc(nr + 1, sizeof(*next));
	struct hyptrace_record rec = {};
	unsigned int i, first;

	for (i = 0; i < nr; i++) {
		if (!waiting[i])
			continue;
		rewind(waiting[i]);
		next[i] = load(waiting[i]);
	}
	for (;;) {
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
	}
	for (i = 0; i < nr; i++)
		if (waiting[i])
			fclose(waiting[i]);
}

static int begin(struct export *x)
{
	/* the memory transitions of each CPU */
	x->state = xcalloc(x->nr_cpus + 1, sizeof(FILE *));
	perfetto_put_clocks(x);
	perfetto_put_origin(x);
	return EXIT_DONE;
}

static void begin_part(struct export_part *part)
{
	struct perfetto *p = xcalloc(1, sizeof(*p));

	part->state = p;
	p->x = part->x;
	p->formats = part->formats;
	p->out = part->out;
	p->cpu = part->cpu;
	p->index = part->cpu;
	p->bundle.cpu = part->cpu;
	p->unknown.put = perfetto_put_unknown;
}

static void put_loss(struct perfetto *p, uint64_t ts, uint64_t lost)
{
	struct perfetto_event event = { .begin = p->last ? p->last : ts, .text = "LOST events" };
	char text[TEXT_SIZE];

	/* whether the CPU has left EL2 and the guest meanwhile is not known */
	perfetto_ftrace_close(p);
	perfetto_bundle_flush(&p->bundle, p->out);
	p->bundle.has_lost = true;
	perfetto_guest_close(p);
	p->calls.end = 0;

	event.begin = MAX(event.begin, p->losses.end);
	event.end = MAX(ts, event.begin);
	event.is_instant = event.begin == event.end;
	if (lost != HYPTRACE_LOST_UNKNOWN) {
		snprintf(text, sizeof(text), "LOST %" PRIu64 " event%s", lost,
			 lost == 1 ? "" : "s");
		event.text = text;
		perfetto_add_arg(&event, perfetto_name(p, "lost"), PERFETTO_UINT, lost);
	}
	if (!p->losses.uuid)
		p->losses.uuid = perfetto_cpu_track(p, PERFETTO_LOSSES, "Losses");
	perfetto_put(p, &p->losses, &event);
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	struct perfetto *p = part->state;
	const struct hyptrace_stream_event *event;
	struct hyptrace_record short_rec;
	char room[PLACE_WORD] = {};

	for (event = events; event < events + nr; event++) {
		const struct hyptrace_record *rec = &event->record;
		struct perfetto_kind *kind;

		if (__builtin_expect(!!p->functions.nest, 0))
			functions_add(&p->functions, event);
		if (__builtin_expect(!!rec->lost, 0))
			put_loss(p, rec->ts, rec->lost);
		if (__builtin_expect(!rec->data, 0))
			continue;
		if (__builtin_expect(rec->size < sizeof(room), 0)) {
			short_rec = *rec;
			short_rec.data = memcpy(room, rec->data, rec->size);
			rec = &short_rec;
		}
		kind = perfetto_kind(p, rec);
		if (kind->message)
			perfetto_ftrace_put(p, kind, rec);
		if (kind->waits) {
			const struct saved saved = { rec->ts, p->cpu, rec->size };

			p->waiting = p->waiting ?: tmpfile();
			if (!p->waiting || !fwrite(&saved, sizeof(saved), 1, p->waiting) ||
			    !fwrite(rec->data, rec->size, 1, p->waiting))
				die_no_memory();
		} else if (kind->put) {
			kind->put(p, kind, rec);
		}
		p->last = rec->ts;
	}
}

static void end_part(struct export_part *part)
{
	struct perfetto *p = part->state;
	FILE **waiting = p->x->state;

	perfetto_ftrace_close(p);
	perfetto_bundle_flush(&p->bundle, p->out);
	perfetto_guest_end(p);
	functions_finish(&p->functions);
	functions_end(&p->functions);
	if (p->waiting)
		waiting[p->index] = p->waiting;
	free(p->functions_track.known);
	free(p->calls.outer.known);
	free(p->calls.inner.known);
	free(p->events.known);
	free(p->losses.known);
	free(p->memory.known);
	free(p->bundle.events);
	map_free(&p->pages);
	map_free(&p->names.numbers);
	free(p->names.texts);
	perfetto_free_kinds(p);
	free(p);
}

static int end(struct export *x)
{
	struct export_part part = {
		.x = x, .cpu = x->nr_cpus, .formats = x->formats, .out = x->out,
	};

	begin_part(&part);
	put_waiting(part.state, x->state, x->nr_cpus);
	end_part(&part);
	free(x->state);
	return EXIT_DONE;
}

static const struct export_format format EXPORT_FORMAT = {
	.name = "perfetto",
	.place = 1,
	.endings = (const char *const[]){ ".pftrace", ".perfetto-trace", NULL },
	.help = "a timeline for ui.perfetto.dev",
	.targets = EXPORT_TO_FILE,
	.is_binary = true,
	.by_cpu = true,
	.host = &export_perfetto_host,
	.begin = begin,
	.begin_part = begin_part,
	.events = put_events,
	.end_part = end_part,
	.end = end,
};
