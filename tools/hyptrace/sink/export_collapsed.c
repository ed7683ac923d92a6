// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export as collapsed stacks, for flame graphs: "el2;hvc;__pkvm_host_share_hyp 1204". A line has
 * what a CPU did, from the outside to the inside, and the sum of its times in ns.
 *
 * Time at EL2 is that between hyp_enter and hyp_exit; hyptrace_nest(3) says how timed events are
 * parts of it. Time in guests has stacks of its own: "guest;VM 0x1000;vCPU 0;DABT_LOW".
 *
 * In a file without hyp_enter, a timed event has its duration without the time in guests. Else one
 * whose hyp_enter was lost does not count: nobody knows since when the CPU was at EL2.
 */
#include <stdlib.h>

#include "output/die.h"
#include "output/out.h"
#include "export.h"
#include "stacks.h"

#define STACK_MAX	2048

/* The stacks of a CPU, or of all */
struct collapsed {
	struct hyptrace_nest	*nest;
	struct stacks		*stacks;
	struct stacks		*alone;		/* of calls outside of visits */
	bool			has_visits;	/* then @alone does not count */
};

static void put_spans(struct collapsed *state)
{
	const struct hyptrace_span *span, *root;
	char stack[STACK_MAX];

	while ((span = hyptrace_nest_next(state->nest, 0))) {
		if (!hyptrace_span_stack(span, stack, sizeof(stack)))
			continue;
		for (root = span; root->parent; root = root->parent)
			;
		state->has_visits |= root->kind == HYPTRACE_KIND_ENTER;
		if (root->kind == HYPTRACE_KIND_ENTER || span->kind == HYPTRACE_KIND_GUEST_EXIT)
			stacks_add(state->stacks, stack, span->own);
		else
			stacks_add(state->alone, stack, span->own);
	}
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	struct collapsed *state = part->state;
	const struct hyptrace_stream_event *event;

	for (event = events; event < events + nr; event++) {
		if (hyptrace_nest_add(state->nest, event, true, 0))
			die_no_memory();
		put_spans(state);
	}
}

static void begin_part(struct export_part *part)
{
	struct collapsed *state = xcalloc(1, sizeof(*state));

	state->nest = hyptrace_nest_new(part->x->model, HYPTRACE_VISIT_KINDS);
	if (!state->nest)
		die_no_memory();
	state->stacks = stacks_new();
	state->alone = stacks_new();
	part->state = state;
}

static void end_part(struct export_part *part)
{
	struct collapsed *state = part->state, *all = part->x->state;

	hyptrace_nest_end(state->nest);
	put_spans(state);
	all->stacks = stacks_join(all->stacks, state->stacks);
	all->alone = stacks_join(all->alone, state->alone);
	all->has_visits |= state->has_visits;
	hyptrace_nest_free(state->nest);
	free(state);
}

static int begin(struct export *x)
{
	x->state = xcalloc(1, sizeof(struct collapsed));
	return EXIT_DONE;
}

static int end(struct export *x)
{
	struct collapsed *all = x->state;

	if (all->stacks)
		stacks_print(all->stacks, x->out);
	if (all->alone && !all->has_visits)
		stacks_print(all->alone, x->out);
	stacks_free(all->stacks);
	stacks_free(all->alone);
	free(all);
	return EXIT_DONE;
}

static const char *const endings[] = { ".collapsed", ".folded", NULL };

const struct export_format export_collapsed = {
	.name = "collapsed",
	.endings = endings,
	.help = "stacks with times, for flame graphs",
	.targets = EXPORT_TO_FILE,
	.by_cpu = true,
	.begin = begin,
	.begin_part = begin_part,
	.events = put_events,
	.end_part = end_part,
	.end = end,
};
