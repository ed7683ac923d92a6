// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace graph --flat and --tree: the sums of functions, and of stacks.
 */
#include <sys/param.h>

#include "output/clock.h"
#include "output/columns.h"
#include "output/die.h"
#include "output/printer.h"
#include "graph.h"

#define INDENT	2

/* Find a function among those that another one has called, or append it. */
static unsigned int find(struct graph_sums *sums, unsigned int parent,
			 const struct hyptrace_span *span)
{
	char number[FUNCTION_NAME_SIZE];
	const char *name = function_name(span, number);
	struct graph_sum *sum;
	unsigned int i;

	/* static functions of several files may have the same name */
	for (i = sums->list[parent].first; i; i = sums->list[i].next)
		if (!strcmp(sums->list[i].name, name))
			return i;
	i = sums->nr;
	sum = xappend(sums->list, sums->nr);
	sum->name = xstrdup(name);
	sum->parent = parent;
	sum->depth = parent ? sums->list[parent].depth + 1 : 0;
	sum->next = sums->list[parent].first;
	sums->list[parent].first = i;
	return i;
}

static void begin(void *arg, const struct function *function)
{
	struct graph_sums *sums = arg;

	sums->at = find(sums, sums->is_tree ? sums->at : 0, &function->span);
}

static void end(void *arg, const struct function *function)
{
	const uint64_t duration = function->span.end - function->span.begin;
	struct graph_sums *sums = arg;
	struct graph_sum *sum;

	if (!sums->is_tree)
		sums->at = find(sums, 0, &function->span);
	sum = &sums->list[sums->at];
	sum->calls++;
	sum->total += duration;
	sum->self += function->span.own;
	sum->longest = MAX(sum->longest, duration);
	sums->at = sum->parent;
}

void graph_sums_add(struct graph_sums *sums, struct functions *functions)
{
	if (!sums->nr)
		xappend(sums->list, sums->nr);
	functions_walk(functions, begin, end, sums);
}

static uint64_t rank_of(const struct graph_sums *sums, const struct graph_sum *sum)
{
	return sums->is_tree ? sum->total : sum->self;
}

/* Sort what a function has called: what took longest comes first. */
static void sort(struct graph_sums *sums, unsigned int parent)
{
	struct graph_sum *list = sums->list;
	unsigned int sorted = 0, i, next, *at;

	for (i = list[parent].first; i; i = next) {
		next = list[i].next;
		for (at = &sorted; *at && rank_of(sums, &list[*at]) >= rank_of(sums, &list[i]);
		     at = &list[*at].next)
			;
		list[i].next = *at;
		*at = i;
	}
	list[parent].first = sorted;
}

static void print_total(struct printer *p, const char *key, const void *row)
{
	time_print(p, key, ((const struct graph_sum *)row)->total);
}

static void print_self(struct printer *p, const char *key, const void *row)
{
	time_print(p, key, ((const struct graph_sum *)row)->self);
}

static void print_mean(struct printer *p, const char *key, const void *row)
{
	const struct graph_sum *sum = row;

	time_print(p, key, sum->total / MAX(sum->calls, 1));
}

static void print_longest(struct printer *p, const char *key, const void *row)
{
	time_print(p, key, ((const struct graph_sum *)row)->longest);
}

static void print_name(struct printer *p, const char *key, const void *row)
{
	const struct graph_sum *sum = row;

	printer_str(p, key, printer_is_text(p) && sum->text ? sum->text : sum->name);
}

static const struct column all_columns[] = {
	{ "calls", "CALLS", COLUMN_OF(COLUMN_U64, struct graph_sum, calls) | COLUMN_NUMBER, NULL },
	{ "total", "TOTAL", COLUMN_NUMBER, print_total },
	{ "self", "SELF", COLUMN_NUMBER, print_self },
	{ "mean", "MEAN", COLUMN_NUMBER, print_mean },
	{ "longest", "MAX", COLUMN_NUMBER, print_longest },
	{ "depth", "DEPTH", COLUMN_OF(COLUMN_U32, struct graph_sum, depth) | COLUMN_JSON, NULL },
	{ "function", "FUNCTION", 0, print_name },
};

void graph_sums_print(struct graph_sums *sums, struct printer *p)
{
	struct columns columns = COLUMNS(all_columns);
	unsigned int i;

	if (!sums->nr)
		xappend(sums->list, sums->nr);
	for (i = 0; i < sums->nr; i++)
		sort(sums, i);
	printer_table(p, NULL, &columns);
	for (i = sums->list[0].first; i;) {
		struct graph_sum *sum = &sums->list[i];

		if (sums->is_tree)
			sum->text = xasprintf("%*s%s", (int)(INDENT * sum->depth), "", sum->name);
		columns_print(&columns, p, sum);
		for (i = sum->first; !i && sum != sums->list; sum = &sums->list[sum->parent])
			i = sum->next;
	}
	printer_end(p);
}

void graph_sums_free(struct graph_sums *sums)
{
	unsigned int i;

	for (i = 0; i < sums->nr; i++) {
		free(sums->list[i].name);
		free(sums->list[i].text);
	}
	free(sums->list);
}
