// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: the functions of EL2 as slices inside each other, on a track for each CPU.
 * EL2 records the inner ones first, but a slice must begin before those inside.
 */
#include "output/die.h"
#include "export_perfetto.h"

static void begin_function(void *arg, const struct function *function)
{
	const char *name = function->span.name ?: function->span.meaning->event->name;
	struct perfetto *p = arg;

	perfetto_begin_slice(p, &p->functions_track, function->span.begin, perfetto_name(p, name));
}

static void end_function(void *arg, const struct function *function)
{
	struct perfetto *p = arg;

	perfetto_end_slice(p, &p->functions_track, function->span.end);
}

static void put(struct perfetto *p)
{
	if (!p->functions_track.uuid)
		p->functions_track.uuid = perfetto_cpu_track(p, PERFETTO_FUNCTIONS, "Functions");
	functions_walk(&p->functions, begin_function, end_function, p);
}

/* An event of the CPU: when EL2 returns to the host, its functions are known. */
void perfetto_see_event(struct perfetto *p, const struct hyptrace_stream_event *event)
{
	if (functions_add(&p->functions, event))
		put(p);
}

/* The first function of the CPU; perfetto_see_event() has the others. */
void perfetto_put_function(struct perfetto *p, struct perfetto_kind *kind,
			   const struct hyptrace_record *rec)
{
	const struct hyptrace_stream_event event = { .cpu = p->cpu, .record = *rec };

	(void)kind;
	if (p->functions.nest)
		return;
	functions_begin(&p->functions, p->x->model);
	perfetto_see_event(p, &event);
}

void perfetto_end_functions(struct perfetto *p)
{
	if (!p->functions.nest)
		return;
	if (functions_finish(&p->functions))
		put(p);
	functions_end(&p->functions);
	free(p->functions_track.known);
}
