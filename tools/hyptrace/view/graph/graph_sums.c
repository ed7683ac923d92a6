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

/* Find or append. Names are few. A damaged file may have very many numbers that have none. */
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

static const struct column all_columns[] = {
	{ "calls", "CALLS", COLUMN_NUMBER, NULL },
	{ "total", "TOTAL", COLUMN_NUMBER, NULL },
	{ "self", "SELF", COLUMN_NUMBER, NULL },
	{ "mean", "MEAN", COLUMN_NUMBER, NULL },
	{ "longest", "MAX", COLUMN_NUMBER, NULL },
	{ "depth", "DEPTH", COLUMN_JSON, NULL },
	{ "function", "FUNCTION", 0, NULL },
};

static void print_sum(struct printer *p, const struct graph_sum *sum)
{
	auto_free char *name = NULL;
	const int levels = printer_is_text(p) ? MIN(sum->depth, GRAPH_LEVELS_MAX) : 0;

	name = xasprintf("%*s%s", INDENT * levels, "", sum->name);
	printer_row(p);
	printer_uint(p, "calls", sum->calls);
	time_print(p, "total", sum->total);
	time_print(p, "self", sum->self);
	time_print(p, "mean", sum->total / MAX(sum->calls, 1));
	time_print(p, "longest", sum->longest);
	printer_uint(p, "depth", sum->depth);
	printer_str(p, "function", name);
	printer_end(p);
}

void graph_sums_print(struct graph_sums *sums, struct printer *p)
{
	const struct columns columns = COLUMNS(all_columns);
	unsigned int i, *room = xcalloc(sums->nr, sizeof(*room));

	for (i = 0; i < sums->nr; i++)
		sort(sums, i, room);
	free(room);
	printer_table(p, NULL, &columns);
	for (i = sums->list[0].first; i;) {
		const struct graph_sum *sum = &sums->list[i];

		print_sum(p, sum);
		for (i = sum->first; !i && sum != sums->list; sum = &sums->list[sum->parent])
			i = sum->next;
	}
	printer_end(p);
}

void graph_sums_free(struct graph_sums *sums)
{
	unsigned int i;

	for (i = 0; i < sums->nr; i++)
		free(sums->list[i].name);
	free(sums->list);
	map_free(&sums->unnamed);
}
