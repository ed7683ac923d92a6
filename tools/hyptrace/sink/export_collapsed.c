// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export as collapsed stacks, for flame graphs: "el2;hvc;__pkvm_host_share_hyp 1204". A line has
 * what a CPU did, from the outside to the inside, and the sum of its times in ns.
 *
 * Time at EL2 is that between hyp_enter and hyp_exit; hyptrace_nest(3) says how timed events and
 * functions are parts of it. Time in guests has stacks of its own:
 * "guest;VM 0x1000;vCPU 0;DABT_LOW".
 *
 * In a file without hyp_enter, a timed event has its duration without the time in guests. Else one
 * whose hyp_enter was lost does not count: nobody knows since when the CPU was at EL2.
 */
#include <search.h>

#include "output/die.h"
#include "export.h"

/* Stacks at most, so that no file takes all memory: more than these are summed as "(other)" */
#define STACKS_MAX	16384
#define OTHER		"(other)"
#define OTHER_MAX	80

struct sum {
	char		*stack;
	uint64_t	time;
};

struct stacks {
	void	*sums;		/* a tree, sorted by their stacks */
	size_t	nr;
};

static int compare(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return strcmp(x->stack, y->stack);
}

static void add_time(struct stacks *stacks, char *stack, uint64_t time)
{
	struct sum key = { .stack = stack }, **at = tfind(&key, &stacks->sums, compare), *sum;
	char other[OTHER_MAX];

	if (!at && stacks->nr >= STACKS_MAX) {
		snprintf(other, sizeof(other), "%.*s;" OTHER, (int)strcspn(stack, ";"), stack);
		key.stack = other;
		at = tfind(&key, &stacks->sums, compare);
	}
	if (!at) {
		sum = xmalloc(sizeof(*sum));
		*sum = (struct sum){ .stack = xstrdup(key.stack) };
		at = or_die(tsearch(sum, &stacks->sums, compare));
		stacks->nr++;
	}
	(*at)->time += time;
}

static void free_sum(void *arg)
{
	struct sum *sum = arg;

	free(sum->stack);
	free(sum);
}

static void add_sum(const void *node, VISIT visit, void *to)
{
	const struct sum *sum = *(const struct sum *const *)node;

	if (visit == postorder || visit == leaf)
		add_time(to, sum->stack, sum->time);
}

/* Add all sums of other stacks, which are freed. */
static void join(struct stacks *to, struct stacks *from)
{
	if (!to->sums) {
		*to = *from;
		return;
	}
	twalk_r(from->sums, add_sum, to);
	tdestroy(from->sums, free_sum);
}

static void print_sum(const void *node, VISIT visit, void *out)
{
	const struct sum *sum = *(const struct sum *const *)node;
	const char *text = sum->stack;

	if ((visit != postorder && visit != leaf) || !sum->time)
		return;
	/* the names are those of a file: a terminal must not obey them */
	for (; *text; text++)
		out_putc(out, *text >= ' ' && *text <= '~' ? *text : '?');
	out_printf(out, " %" PRIu64 "\n", sum->time);
}

#define STACK_MAX	2048

/* The stacks of a CPU, or of all */
struct collapsed {
	struct hyptrace_nest	*nest;
	struct stacks		stacks;
	struct stacks		alone;		/* of calls outside of visits */
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
			add_time(&state->stacks, stack, span->own);
		else
			add_time(&state->alone, stack, span->own);
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

	state->nest = or_die(hyptrace_nest_new(part->x->model, HYPTRACE_VISIT_KINDS |
							      HYPTRACE_FUNCTION_KINDS));
	part->state = state;
}

static void end_part(struct export_part *part)
{
	struct collapsed *state = part->state, *all = part->x->state;

	hyptrace_nest_end(state->nest);
	put_spans(state);
	join(&all->stacks, &state->stacks);
	join(&all->alone, &state->alone);
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

	twalk_r(all->stacks.sums, print_sum, x->out);
	if (!all->has_visits)
		twalk_r(all->alone.sums, print_sum, x->out);
	tdestroy(all->stacks.sums, free_sum);
	tdestroy(all->alone.sums, free_sum);
	free(all);
	return EXIT_DONE;
}

static const struct export_format format EXPORT_FORMAT = {
	.name = "collapsed",
	.place = 4,
	.endings = (const char *const[]){ ".collapsed", ".folded", NULL },
	.help = "stacks with times, for flame graphs",
	.targets = EXPORT_TO_FILE,
	.by_cpu = true,
	.begin = begin,
	.begin_part = begin_part,
	.events = put_events,
	.end_part = end_part,
	.end = end,
};
