// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace graph: print the functions of a visit of EL2 as calls inside each other, or add them up.
 */
#include <sys/param.h>

#include "output/columns.h"
#include "output/die.h"
#include "output/printer.h"
#include "graph.h"

/* Calls inside each other: EL2 keeps fewer. */
#define DEPTH_MAX	128

/* A function begins before what it has called, and what happens at once is inside it. */
static int by_begin(const void *a, const void *b)
{
	const struct graph_item *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (!x->name != !y->name)
		return x->name ? -1 : 1;
	return x->name ? (x->depth > y->depth) - (x->depth < y->depth) : 0;
}

static void print_head(struct out *out, unsigned int cpu, const struct graph_item *ended)
{
	if (ended)
		out_printf(out, "%3u)  %10.3f us  |  ", cpu, (ended->end - ended->begin) / 1e3);
	else
		out_printf(out, "%3u)                 |  ", cpu);
}

static void print_indented(struct out *out, unsigned int depth, const char *text, const char *end)
{
	out_printf(out, "%*s%s%s\n", (int)(2 * depth), "", text, end);
}

static void add_sum(struct graph *g, const struct graph_item *item)
{
	const uint64_t duration = item->end - item->begin;
	struct graph_sum *sum;
	unsigned int i;

	for (i = 0; i < g->nr_sums && g->sums[i].name != item->name; i++)
		;
	if (i == g->nr_sums) {
		g->sums = xreallocarray(g->sums, ++g->nr_sums, sizeof(*g->sums));
		g->sums[i] = (struct graph_sum){ .name = item->name };
	}
	sum = &g->sums[i];
	sum->calls++;
	sum->total += duration;
	sum->self += duration - MIN(item->inside, duration);
	sum->longest = MAX(sum->longest, duration);
}

/* The functions that have not ended */
struct open {
	struct graph_item	*items[DEPTH_MAX];
	unsigned int		nr;
};

static void end_function(struct graph *g, struct open *open, unsigned int cpu)
{
	struct graph_item *item = open->items[--open->nr];
	struct out *out = &g->session.ctx->out;

	if (open->nr)
		open->items[open->nr - 1]->inside += item->end - item->begin;
	g->nr_functions++;
	if (g->is_flat) {
		add_sum(g, item);
	} else if (item->has_lines) {
		print_head(out, cpu, item);
		print_indented(out, open->nr, "} ", item->name);
	}
}

/* Print what a CPU has done in a visit, or add it up. */
void graph_print(struct graph *g, unsigned int cpu, struct graph_item *items, unsigned int nr)
{
	struct out *out = &g->session.ctx->out;
	struct open open = { .nr = 0 };
	unsigned int i;

	qsort(items, nr, sizeof(*items), by_begin);
	for (i = 0; i < nr; i++) {
		struct graph_item *item = &items[i];

		while (open.nr && (item->name ? open.items[open.nr - 1]->depth >= item->depth :
						open.items[open.nr - 1]->end <= item->begin))
			end_function(g, &open, cpu);
		if (!item->name) {
			print_head(out, cpu, NULL);
			print_indented(out, open.nr, "", item->text);
			continue;
		}
		item->has_lines = i + 1 < nr && (items[i + 1].name ? items[i + 1].depth > item->depth :
						  items[i + 1].begin < item->end);
		if (!g->is_flat) {
			print_head(out, cpu, item->has_lines ? NULL : item);
			print_indented(out, open.nr, item->name, item->has_lines ? "() {" : "();");
		}
		if (open.nr < DEPTH_MAX)
			open.items[open.nr++] = item;
	}
	while (open.nr)
		end_function(g, &open, cpu);
}

static int longest_first(const void *a, const void *b)
{
	const struct graph_sum *x = a, *y = b;

	return x->self == y->self ? 0 : x->self < y->self ? 1 : -1;
}

void graph_print_sums(struct graph *g)
{
	static const struct column all[] = {
		{ "function", "FUNCTION", COLUMN_OF(COLUMN_STRING, struct graph_sum, name), NULL },
		{ "calls", "CALLS", COLUMN_OF(COLUMN_U64, struct graph_sum, calls), NULL },
		{ "total", "TOTAL", COLUMN_OF(COLUMN_U64, struct graph_sum, total), NULL },
		{ "self", "SELF", COLUMN_OF(COLUMN_U64, struct graph_sum, self), NULL },
		{ "longest", "MAX", COLUMN_OF(COLUMN_U64, struct graph_sum, longest), NULL },
	};
	struct columns columns = COLUMNS(all);
	struct printer *p = g->session.ctx->p;
	unsigned int i;

	if (g->nr_sums)
		qsort(g->sums, g->nr_sums, sizeof(*g->sums), longest_first);
	printer_table(p, NULL, &columns);
	for (i = 0; i < g->nr_sums; i++)
		columns_print(&columns, p, &g->sums[i]);
	printer_end(p);
}
