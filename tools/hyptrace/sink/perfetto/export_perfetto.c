// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: the format. Each event goes to the track that suits it; all events but
 * hyp_enter and hyp_exit are on one of hyptrace's own tracks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "export_perfetto.h"

/* Bytes of the text of a loss */
#define TEXT_SIZE	64

static int begin(struct export *x)
{
	/* the memory transitions of each CPU, to be exported at the end */
	x->state = calloc(x->nr_cpus + 1, sizeof(FILE *));
	if (!x->state)
		die_no_memory();
	perfetto_put_clocks(x);
	return EXIT_DONE;
}

static void begin_part(struct export_part *part)
{
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		die_no_memory();
	part->state = p;
	p->x = part->x;
	p->formats = part->formats;
	p->out = part->out;
	p->index = part->index;
	p->cpu = part->cpu;
	p->bundle.cpu = part->cpu;
	perfetto_kinds(p);
}

static void put_loss(struct perfetto *p, uint64_t ts, uint64_t lost)
{
	struct perfetto_event event = { .begin = p->last ? p->last : ts, .end = ts };
	char text[TEXT_SIZE];

	/* whether the CPU has left EL2 and the guest meanwhile is not known */
	perfetto_ftrace_close(p);
	perfetto_bundle_flush(&p->bundle, p->out);
	p->bundle.has_lost = true;
	perfetto_guest_close(p);
	p->calls.end = 0;

	if (event.begin < p->losses.end)
		event.begin = p->losses.end;
	if (event.end < event.begin)
		event.end = event.begin;
	event.is_instant = event.begin == event.end;
	if (lost == HYPTRACE_LOST_UNKNOWN)
		snprintf(text, sizeof(text), "LOST events");
	else
		snprintf(text, sizeof(text), "LOST %" PRIu64 " event%s", lost,
			 lost == 1 ? "" : "s");
	event.text = text;
	if (lost != HYPTRACE_LOST_UNKNOWN)
		perfetto_add_arg(&event, perfetto_name(p, "lost"), PERFETTO_UINT, lost);
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
		if (kind->waits)
			perfetto_memory_wait(p, rec);
		else if (kind->put)
			kind->put(p, kind, rec);
		p->last = rec->ts;
	}
}

static void free_track(struct perfetto_track *track)
{
	free(track->known);
}

static void end_part(struct export_part *part)
{
	struct perfetto *p = part->state;
	FILE **waiting = p->x->state;

	perfetto_ftrace_close(p);
	perfetto_bundle_flush(&p->bundle, p->out);
	perfetto_guest_end(p);
	if (p->waiting)
		waiting[p->index] = p->waiting;
	free_track(&p->calls.outer);
	free_track(&p->calls.inner);
	free_track(&p->events);
	free_track(&p->losses);
	free_track(&p->memory);
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
		.x = x, .index = x->nr_cpus, .formats = x->formats, .out = x->out,
	};

	begin_part(&part);
	perfetto_memory_put(part.state, x->state, x->nr_cpus);
	end_part(&part);
	free(x->state);
	return EXIT_DONE;
}

static const char *const endings[] = { ".pftrace", ".perfetto-trace", NULL };

const struct export_format export_perfetto = {
	.name = "perfetto",
	.endings = endings,
	.help = "a timeline for ui.perfetto.dev",
	.targets = EXPORT_TO_FILE,
	.is_binary = true,
	.by_cpu = true,
	.begin = begin,
	.begin_part = begin_part,
	.events = put_events,
	.end_part = end_part,
	.end = end,
};
