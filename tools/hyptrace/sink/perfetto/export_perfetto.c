// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: the format, for cmd_export.c. Each event goes to the track that suits it;
 * all events but hyp_enter and hyp_exit are on one of hyptrace's own tracks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/die.h"
#include "export_perfetto_kind.h"

/* Bytes of the name of a track or of a loss */
#define NAME_SIZE	64

static struct perfetto_cpu *new_cpu(struct perfetto *p, unsigned int id)
{
	struct perfetto_cpu *cpu = calloc(1, sizeof(*cpu));
	unsigned int nr = p->nr_cpus;

	if (id >= nr) {
		nr = id + 1;
		p->cpus = reallocarray(p->cpus, nr, sizeof(*p->cpus));
	}
	if (!cpu || !p->cpus)
		die_no_memory();
	memset(p->cpus + p->nr_cpus, 0, (nr - p->nr_cpus) * sizeof(*p->cpus));
	p->nr_cpus = nr;
	cpu->id = id;
	p->cpus[id] = cpu;
	return cpu;
}

static inline struct perfetto_cpu *get_cpu(struct perfetto *p, unsigned int id, uint64_t ts)
{
	struct perfetto_cpu *cpu = id < p->nr_cpus ? p->cpus[id] : NULL;

	if (__builtin_expect(!!cpu, 1))
		return cpu;
	if (!p->base)
		perfetto_begin(p, ts);
	return new_cpu(p, id);
}

/**
 * perfetto_cpu_track - get the number of a CPU's track
 * @p:		the export
 * @cpu:	the CPU
 * @group:	the group of the track
 * @prefix:	the start of its name
 *
 * Return: the number. The track is described, so call this once for each track.
 */
uint64_t perfetto_cpu_track(struct perfetto *p, const struct perfetto_cpu *cpu,
			    enum perfetto_group group, const char *prefix)
{
	const uint64_t uuid = perfetto_uuid(group, cpu->id + 1);
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s CPU %u", prefix, cpu->id);
	perfetto_describe(p, uuid, perfetto_group(p, group), name);
	return uuid;
}

static int begin(struct export *x)
{
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		die_no_memory();
	p->x = x;
	p->out = x->out;
	x->state = p;
	perfetto_kinds(p);
	return EXIT_DONE;
}

static struct perfetto_kind *find_kind(struct perfetto *p, const struct hyptrace_record *rec)
{
	struct perfetto_kind *kind;
	uint16_t id;

	if (rec->size < sizeof(id))
		return p->unknown;
	memcpy(&id, rec->data, sizeof(id));
	kind = id < p->nr_kinds ? &p->kinds[id] : p->unknown;
	return kind->event && rec->size >= kind->event->size ? kind : p->unknown;
}

static void put_event(struct export *x, unsigned int id, const struct hyptrace_record *rec)
{
	struct perfetto *p = x->state;
	struct perfetto_cpu *cpu = get_cpu(p, id, rec->ts);
	struct perfetto_kind *kind = find_kind(p, rec);

	if (kind->message)
		perfetto_ftrace_put(p, cpu, kind->message, kind->details, rec);
	if (kind->put)
		kind->put(p, cpu, kind, rec);
	cpu->last = rec->ts;
}

static void put_loss(struct export *x, unsigned int id, uint64_t ts, uint64_t lost)
{
	struct perfetto *p = x->state;
	struct perfetto_cpu *cpu = get_cpu(p, id, ts);
	struct perfetto_event event = { .begin = cpu->last ? cpu->last : ts, .end = ts };
	char text[NAME_SIZE];

	/* whether the CPU has left EL2 and the guest meanwhile is not known */
	perfetto_ftrace_close(p, cpu);
	perfetto_ftrace_flush(p, cpu);
	cpu->has_lost = true;
	perfetto_guest_close(p, cpu);
	cpu->calls.end = 0;

	if (event.begin < cpu->losses.end)
		event.begin = cpu->losses.end;
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
	if (!cpu->losses.uuid)
		cpu->losses.uuid = perfetto_cpu_track(p, cpu, PERFETTO_LOSSES, "Losses");
	perfetto_put(p, &cpu->losses, &event);
}

static int end(struct export *x)
{
	struct perfetto *p = x->state;
	unsigned int i;

	/* no viewer opens a file of 0 bytes */
	if (!p->base)
		perfetto_begin(p, 0);
	for (i = 0; i < p->nr_cpus; i++) {
		if (!p->cpus[i])
			continue;
		perfetto_ftrace_close(p, p->cpus[i]);
		perfetto_ftrace_flush(p, p->cpus[i]);
		perfetto_guest_close(p, p->cpus[i]);
	}
	perfetto_guest_describe(p);
	perfetto_free_tracks(p);
	perfetto_free_kinds(p);
	free(p);
	return EXIT_DONE;
}

static const char *const endings[] = { ".pftrace", ".perfetto-trace", NULL };

const struct export_format export_perfetto = {
	.name = "perfetto",
	.endings = endings,
	.help = "a timeline for ui.perfetto.dev",
	.targets = EXPORT_TO_FILE,
	.is_binary = true,
	.begin = begin,
	.event = put_event,
	.loss = put_loss,
	.end = end,
};
