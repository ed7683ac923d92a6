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
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/map.h"
#include "output/out.h"
#include "export.h"

/* Stacks at most, so that no file takes all memory: more than these are summed as "(other)" */
#define STACKS_MAX	16384
#define OTHER		"(other)"
#define OTHER_MAX	80

struct sum {
	char		*stack;
	uint64_t	time;
	struct sum	*next;		/* with the same hash */
};

struct stacks {
	struct map	sums;		/* by the hash of the stack */
	size_t		nr;
};

static struct stacks *stacks_new(void)
{
	struct stacks *stacks = xcalloc(1, sizeof(*stacks));

	return stacks;
}

static void stacks_free(struct stacks *stacks)
{
	struct map_entry *entry = NULL;
	struct sum *sum, *next;

	if (!stacks)
		return;
	while ((entry = map_next(&stacks->sums, entry))) {
		for (sum = entry->ptr; sum; sum = next) {
			next = sum->next;
			free(sum->stack);
			free(sum);
		}
	}
	map_free(&stacks->sums);
	free(stacks);
}

/* FNV-1a */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static struct sum *find(const struct stacks *stacks, const char *stack)
{
	const struct map_entry *entry = map_find(&stacks->sums, hash_of(stack), 0);
	struct sum *sum = entry ? entry->ptr : NULL;

	while (sum && strcmp(sum->stack, stack))
		sum = sum->next;
	return sum;
}

static struct sum *add(struct stacks *stacks, const char *stack)
{
	struct map_entry *entry = map_add(&stacks->sums, hash_of(stack), 0);
	struct sum *sum = xmalloc(sizeof(*sum));

	*sum = (struct sum){ .stack = xstrdup(stack), .next = entry->ptr };
	entry->ptr = sum;
	stacks->nr++;
	return sum;
}

/* If there are too many stacks, the time of a new one is added to "(other)" of its first frame. */
static void stacks_add(struct stacks *stacks, const char *stack, uint64_t time)
{
	struct sum *sum = find(stacks, stack);
	char other[OTHER_MAX];

	if (!sum && stacks->nr >= STACKS_MAX) {
		snprintf(other, sizeof(other), "%.*s;" OTHER, (int)strcspn(stack, ";"), stack);
		stack = other;
		sum = find(stacks, stack);
	}
	if (!sum)
		sum = add(stacks, stack);
	sum->time += time;
}

/* Add all sums of other stacks, which are freed; @to may be NULL. Return where they are now. */
static struct stacks *stacks_join(struct stacks *to, struct stacks *from)
{
	struct map_entry *entry = NULL;
	const struct sum *sum;

	if (!to)
		return from;
	while ((entry = map_next(&from->sums, entry)))
		for (sum = entry->ptr; sum; sum = sum->next)
			stacks_add(to, sum->stack, sum->time);
	stacks_free(from);
	return to;
}

static int compare(const void *a, const void *b)
{
	const struct sum *const *x = a, *const *y = b;

	return strcmp((*x)->stack, (*y)->stack);
}

/* The names are those of a file: a terminal must not obey them. */
static void put_plain(struct out *out, const char *text)
{
	for (; *text; text++)
		out_putc(out, *text >= ' ' && *text <= '~' ? *text : '?');
}

/* A line per stack, sorted */
static void stacks_print(const struct stacks *stacks, struct out *out)
{
	const struct sum **sorted = xcalloc(stacks->nr + 1, sizeof(*sorted)), *sum;
	struct map_entry *entry = NULL;
	size_t i, nr = 0;

	while ((entry = map_next(&stacks->sums, entry)))
		for (sum = entry->ptr; sum; sum = sum->next)
			if (sum->time)
				sorted[nr++] = sum;
	qsort(sorted, nr, sizeof(*sorted), compare);
	for (i = 0; i < nr; i++) {
		put_plain(out, sorted[i]->stack);
		out_printf(out, " %" PRIu64 "\n", sorted[i]->time);
	}
	free(sorted);
}

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

static const struct export_format format EXPORT_FORMAT = {
	.name = "collapsed",
	.place = 4,
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
