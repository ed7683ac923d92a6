// SPDX-License-Identifier: GPL-2.0-only
/*
 * How functions of EL2 nest, and calls with them. EL2 records functions when it returns to the
 * host, in the order in which they have returned, and after the calls that they are in or that are
 * in them. So the spans of a visit are arranged when it has ended.
 *
 * A tick of the clock is longer than many functions, so times do not tell which function has called
 * another one: the depth and the order do. Times only show that a caller was not recorded. For a
 * call and a function, there are only times; and the source of EL2, if these are the same.
 */
#include "nest.h"

/* Begin and end of a function are computed from rounded times: they differ by less, in ns. */
#define ROUNDING	3

/* The calls that a function of the same name handles */
#define HOST_CALLS	(BIT(HYPERCALL) | BIT(SMC) | BIT(MEM_ABORT))

#define NOBODY		UINT32_MAX

/* A span while it is arranged; by index, in the order in which they were recorded */
struct node {
	struct place	place;
	uint64_t	number;		/* of the place */
	uint64_t	depth;		/* of a function: as it was recorded */
	uint64_t	next_begin;	/* the next one inside begins no earlier */
	bool		is_function;
	unsigned int	rank;		/* of equally long ones, the lower is the outer one */
	uint32_t	parent;
	uint32_t	first;		/* the first one inside */
	uint32_t	next;		/* the next one in the same parent */
};

struct arrangement {
	const struct hyptrace_nest	*nest;
	bool				in_visit;
	struct node			*nodes;
	uint32_t			nr;	/* nodes[nr] has all outermost ones inside */
};

/* The functions that have a call inside; all others that take as long are in the call. */
static unsigned int rank_of(const struct hyptrace_span *span)
{
	static const char *const handlers[] = {
		"handle_host_hcall", "handle_host_smc", "handle_host_mem_abort",
	};
	unsigned int i;

	if (span->kind != HYPTRACE_KIND_FUNCTION)
		return HYPTRACE_KIND_BIT(span->kind) & HOST_CALLS ? 1 : 3;
	for (i = 0; span->name && i < COUNT(handlers); i++)
		if (!strcmp(span->name, handlers[i]))
			return 0;
	/* it is in an SMC, and has the PSCI call inside */
	return span->name && !strcmp(span->name, "kvm_host_psci_handler") ? 2 : 4;
}

static bool is_within(const struct hyptrace_span *inner, const struct hyptrace_span *outer)
{
	return inner->begin + ROUNDING >= outer->begin && inner->end <= outer->end + ROUNDING;
}

static bool call_contains(const struct arrangement *a, const struct node *outer,
			  const struct node *inner)
{
	const struct hyptrace_span *in = &inner->place.span, *out = &outer->place.span;

	if (inner > outer)
		return false;
	if (a->in_visit)
		return in->begin >= out->begin;
	return in->end >= out->begin &&
	       a->nest->parents[in->kind] & HYPTRACE_KIND_BIT(out->kind);
}

static bool contains(const struct arrangement *a, uint32_t outer, uint32_t inner)
{
	const struct node *out = &a->nodes[outer], *in = &a->nodes[inner];

	if (!out->is_function && !in->is_function)
		return call_contains(a, out, in);
	if (!is_within(&in->place.span, &out->place.span))
		return false;
	return out->rank < in->rank || !is_within(&out->place.span, &in->place.span);
}

/* Put a function around those that it has called, which are the last ones without a caller. */
static void add_function(struct arrangement *a, uint32_t index, uint32_t *waiting)
{
	struct node *node = &a->nodes[index];

	while (*waiting != NOBODY) {
		struct node *last = &a->nodes[*waiting];
		uint32_t before = last->next;

		if (last->depth <= node->depth ||
		    last->place.span.end + ROUNDING < node->place.span.begin)
			break;
		last->next = node->first;
		node->first = *waiting;
		*waiting = before;
	}
	node->next = *waiting;
	*waiting = index;
}

static void add_functions(struct arrangement *a)
{
	uint32_t waiting = NOBODY, i, before;

	for (i = 0; i < a->nr; i++)
		if (a->nodes[i].is_function)
			add_function(a, i, &waiting);
	for (; waiting != NOBODY; waiting = before) {
		before = a->nodes[waiting].next;
		a->nodes[waiting].next = a->nodes[a->nr].first;
		a->nodes[a->nr].first = waiting;
	}
}

/* Put a call into the innermost span that has it inside, and those into the call that it has. */
static void add_call(struct arrangement *a, uint32_t index)
{
	struct node *nodes = a->nodes, *node = &nodes[index];
	uint32_t parent = a->nr, i, *at, *last = &node->first;

	for (i = nodes[parent].first; i != NOBODY;) {
		bool is_inside = contains(a, i, index);

		parent = is_inside ? i : parent;
		i = is_inside ? nodes[i].first : nodes[i].next;
	}
	for (at = &nodes[parent].first; *at != NOBODY && !contains(a, index, *at) &&
	     nodes[*at].place.span.end <= node->place.span.end; at = &nodes[*at].next)
		;
	for (i = *at; i != NOBODY && contains(a, index, i); i = nodes[i].next) {
		*last = i;
		last = &nodes[i].next;
	}
	*last = NOBODY;
	node->next = i;
	*at = index;
}

/* Each span is in its parent, and begins when the one before it has ended, or later. */
static void fit(const struct arrangement *a, struct node *node)
{
	struct node *parent = &a->nodes[node->parent];
	struct hyptrace_span *span = &node->place.span;

	if (node->parent != a->nr) {
		span->begin = MAX(span->begin, parent->next_begin);
		span->begin = MIN(span->begin, parent->place.span.end);
		span->end = MAX(MIN(span->end, parent->place.span.end), span->begin);
		parent->next_begin = span->end;
		span->depth = parent->place.span.depth + 1;
		parent->place.span.own -= MIN(length_of(span), parent->place.span.own);
	}
	node->next_begin = span->begin;
	span->own = span->kind == HYPTRACE_KIND_GUEST_EXIT ? node->place.whole : length_of(span);
}

/* Go to the first one of those inside, after all that contain it have been there. */
static uint32_t go_inside(struct arrangement *a, uint32_t index)
{
	struct node *node = &a->nodes[index];

	while (node->first != NOBODY) {
		a->nodes[node->first].parent = index;
		index = node->first;
		node = &a->nodes[index];
		fit(a, node);
	}
	return index;
}

/* Put the spans into the same places in another order: each is before the one that it is in. */
static void put_back(struct arrangement *a, const uint64_t *numbers)
{
	struct node *nodes = a->nodes;
	uint32_t index = go_inside(a, a->nr), i;

	for (i = 0; index != a->nr; i++) {
		nodes[index].number = numbers[i];
		if (nodes[index].next == NOBODY) {
			index = nodes[index].parent;
			continue;
		}
		nodes[nodes[index].next].parent = nodes[index].parent;
		index = nodes[index].next;
		fit(a, &nodes[index]);
		index = go_inside(a, index);
	}
	for (i = 0; i < a->nr; i++) {
		struct place *place = place_of(a->nest, nodes[i].number);
		uint64_t before = place->before;

		*place = nodes[i].place;
		place->before = before;
		place->parent = nodes[i].parent == a->nr ? NONE : nodes[nodes[i].parent].number;
	}
}

static void begin_node(struct node *node, const struct place *place)
{
	struct hyptrace_record rec = place->span.record;

	rec.data = place->data;
	node->place = *place;
	node->place.span.depth = 0;
	node->is_function = place->span.kind == HYPTRACE_KIND_FUNCTION;
	node->rank = rank_of(&place->span);
	if (node->is_function)
		node->depth = hyptrace_meaning_value(place->span.meaning, HYPTRACE_ROLE_DEPTH,
						     &rec);
}

/* Is a span to be arranged? What EL2 does in a visit is not in the guest's run before. */
static bool is_arranged(const struct nest_cpu *cpu, const struct place *place)
{
	return !place->is_dropped &&
	       !(cpu->is_open && place->span.kind == HYPTRACE_KIND_GUEST_EXIT);
}

/* Arrange the functions of a CPU that wait, all of which have returned, and the calls. */
int hyptrace_nest_functions_arrange(struct hyptrace_nest *nest, struct nest_cpu *cpu)
{
	const uint64_t stop = cpu->is_open ? cpu->first : cpu->final;
	struct arrangement a = { .nest = nest, .in_visit = cpu->is_open };
	uint64_t number, *numbers;
	uint32_t i;

	if (!cpu->has_functions)
		return 0;
	cpu->has_functions = false;
	for (number = cpu->last; number >= nest->head && number > stop;
	     number = place_of(nest, number)->before)
		a.nr += is_arranged(cpu, place_of(nest, number));
	a.nodes = calloc(a.nr + 1, sizeof(*a.nodes));
	numbers = calloc(a.nr + 1, sizeof(*numbers));
	if (!a.nodes || !numbers) {
		free(a.nodes);
		free(numbers);
		return -ENOMEM;
	}
	for (i = 0; i <= a.nr; i++) {
		a.nodes[i].parent = NOBODY;
		a.nodes[i].first = NOBODY;
		a.nodes[i].next = NOBODY;
	}
	for (number = cpu->last, i = a.nr; number >= nest->head && number > stop;
	     number = place_of(nest, number)->before) {
		if (!is_arranged(cpu, place_of(nest, number)))
			continue;
		numbers[--i] = number;
		begin_node(&a.nodes[i], place_of(nest, number));
	}
	add_functions(&a);
	/* the outer ones first, which were recorded later */
	for (i = a.nr; i--;)
		if (!a.nodes[i].is_function)
			add_call(&a, i);
	put_back(&a, numbers);
	free(a.nodes);
	free(numbers);
	return 0;
}
