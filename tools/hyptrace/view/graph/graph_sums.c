// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace graph --flat and --tree: the sums of functions, and of stacks. */
#include <sys/param.h>

#include "output/clock.h"
#include "output/columns.h"
#include "output/die.h"
#include "output/printer.h"
#include "graph.h"

#define INDENT	2

static unsigned int append(struct graph_sums *sums, unsigned int parent, const char *name)
{
	struct graph_sum *sum = xappend(sums->list, sums->nr);

	sum->name = xstrdup(name);
	sum->parent = parent;
	sum->depth = parent ? sums->list[parent].depth + 1 : 0;
	sum->next = sums->list[parent].first;
	sums->list[parent].first = sums->nr - 1;
	return sums->nr - 1;
}

/*
 * Find a function among those that another one has called, or append it. Names are few. A damaged
 * file may have very many numbers that have none.
 */
static unsigned int find(struct graph_sums *sums, unsigned int parent,
			 const struct hyptrace_span *span)
{
	char number[FUNCTION_NAME_SIZE];
	const char *name = function_name(span, number);
	struct map_entry *entry;
	unsigned int i;

	if (!span->name) {
		entry = map_add(&sums->unnamed, (unsigned int)span->key, parent);
		/* the first one of the list is no function */
		if (!entry->value)
			entry->value = append(sums, parent, name);
		return entry->value;
	}
	/* static functions of several files may have the same name */
	for (i = sums->list[parent].first; i; i = sums->list[i].next)
		if (!strcmp(sums->list[i].name, name))
			return i;
	return append(sums, parent, name);
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

static int compare(const void *a, const void *b, void *arg)
{
	const struct graph_sums *sums = arg;
	const unsigned int i = *(const unsigned int *)a, j = *(const unsigned int *)b;
	const struct graph_sum *x = &sums->list[i], *y = &sums->list[j];
	const uint64_t left = sums->is_tree ? x->total : x->self;
	const uint64_t right = sums->is_tree ? y->total : y->self;

	if (left != right)
		return left < right ? 1 : -1;
	/* the last one of the list was appended first */
	return i < j ? 1 : -1;
}

/* Sort what a function has called: what took longest comes first. @room is for all of the list. */
static void sort(struct graph_sums *sums, unsigned int parent, unsigned int *room)
{
	unsigned int nr = 0, i, *at = &sums->list[parent].first;

	for (i = *at; i; i = sums->list[i].next)
		room[nr++] = i;
	qsort_r(room, nr, sizeof(*room), compare, sums);
	for (i = 0; i < nr; i++) {
		*at = room[i];
		at = &sums->list[room[i]].next;
	}
	*at = 0;
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

static char *indented(const struct graph_sum *sum)
{
	const int levels = MIN(sum->depth, GRAPH_LEVELS_MAX);

	return xasprintf("%*s%s", INDENT * levels, "", sum->name);
}

void graph_sums_print(struct graph_sums *sums, struct printer *p)
{
	struct columns columns = COLUMNS(all_columns);
	unsigned int i, *room;

	if (!sums->nr)
		xappend(sums->list, sums->nr);
	room = xcalloc(sums->nr, sizeof(*room));
	for (i = 0; i < sums->nr; i++)
		sort(sums, i, room);
	free(room);
	printer_table(p, NULL, &columns);
	for (i = sums->list[0].first; i;) {
		struct graph_sum *sum = &sums->list[i];

		if (sums->is_tree)
			sum->text = indented(sum);
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
	map_free(&sums->unnamed);
}
