// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace graph: which functions EL2 traces, and what belongs to one visit of EL2. The functions of a
 * visit are recorded when it ends: what a CPU has done waits until then.
 */
#include <fnmatch.h>

#include "output/die.h"
#include "graph.h"

/* A visit in which no function is traced is not kept longer than this. */
#define ITEMS_MAX	65536

static const struct hyptrace_meaning *function_of(const struct graph *g)
{
	return hyptrace_model_of_kind(g->model, HYPTRACE_KIND_FUNCTION);
}

/* Add a range of ids to the condition. Names are sorted, so that a glob takes few ranges. */
static void add_range(FILE *f, unsigned int first, unsigned int last, unsigned int *nr)
{
	if (first == last)
		fprintf(f, "%sid == %u", (*nr)++ ? " || " : "", first);
	else
		fprintf(f, "%s(id >= %u && id <= %u)", (*nr)++ ? " || " : "", first, last);
}

static bool is_chosen(const struct graph *g, const char *name, bool *used)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < g->functions.nr; i++)
		if (!fnmatch(g->functions.words[i], name, 0))
			found = used[i] = true;
	return found;
}

/* Write the condition on the id that -e means. */
static int put_functions(const struct graph *g, FILE *f)
{
	const struct hyptrace_field *field = function_of(g)->places[HYPTRACE_ROLE_ID].field;
	auto_free bool *used = xcalloc(g->functions.nr, sizeof(*used));
	unsigned int i, nr = 0, first = 0;
	bool was = false;

	for (i = 0; i <= field->nr_symbols; i++) {
		bool is = i < field->nr_symbols && is_chosen(g, field->symbols[i]->name, used);

		if (is && !was)
			first = i;
		if (was && !is)
			add_range(f, field->symbols[first]->value, field->symbols[i - 1]->value, &nr);
		was = is;
	}
	for (i = 0; i < g->functions.nr; i++)
		if (!used[i])
			return cmd_fail("no function \"%s\" of EL2 can be traced: \"hyptrace list -r %s func --fields\" lists those that can",
					g->functions.words[i], g->session.name);
	return EXIT_DONE;
}

/* Write the filter at EL2, or nothing. */
static int put_filter(const struct graph *g, FILE *f)
{
	const char *between = "";
	int code;

	if (g->functions.nr) {
		fputc('(', f);
		code = put_functions(g, f);
		fputc(')', f);
		if (code)
			return code;
		between = " && ";
	}
	if (g->depth) {
		fprintf(f, "%sdepth < %" PRIu64, between, g->depth);
		between = " && ";
	}
	if (g->least)
		fprintf(f, "%sduration >= %" PRIu64, between, g->least);
	return EXIT_DONE;
}

int graph_begin(struct graph *g)
{
	struct session *s = &g->session;
	auto_filter struct hyptrace_filter *filter = NULL;
	const char *names[] = { "func", "hyp_enter", "hyp_exit" };
	const struct event_choice choice = { .names = names, .nr = sizeof(names) / sizeof(*names) };
	const struct hyptrace_event *event;
	struct hyptrace_error err;
	auto_free char *text = NULL;
	FILE *f;
	int code;

	g->model = or_die(hyptrace_model_new(s->formats, NULL));
	if (!function_of(g))
		return cmd_fail("\"%s\" has no event of functions of EL2", s->name);
	event = function_of(g)->event;
	if (event->missing)
		return cmd_fail("cannot trace functions: this kernel was built without CONFIG_HYPTRACE_EL2_FUNCTIONS");
	f = text_open(&text);
	code = put_filter(g, f);
	text_close(f);
	if (!code && *text)
		code = filter_parse(text, &event, 1, s->formats, !s->path, &filter);
	if (code)
		return code;
	if (s->path) {
		g->filter = filter;
		filter = NULL;
		return EXIT_DONE;
	}
	if ((filter || event->filter) &&
	    event_hold(s->ctx->h, event, true, filter, event->trigger, event->after, &err))
		return cmd_fail_verb("filter", event->name, &err);
	return session_hold(s, &choice);
}

static struct graph_cpu *cpu_of(struct graph *g, unsigned int cpu)
{
	if (cpu >= g->nr_cpus) {
		g->cpus = xreallocarray(g->cpus, cpu + 1, sizeof(*g->cpus));
		memset(g->cpus + g->nr_cpus, 0, (cpu + 1 - g->nr_cpus) * sizeof(*g->cpus));
		g->nr_cpus = cpu + 1;
	}
	return &g->cpus[cpu];
}

static void flush(struct graph *g, unsigned int cpu)
{
	struct graph_cpu *at = &g->cpus[cpu];
	unsigned int i;

	if (at->has_functions)
		graph_print(g, cpu, at->items, at->nr);
	for (i = 0; i < at->nr; i++)
		free(at->items[i].text);
	at->nr = 0;
	at->has_functions = false;
}

static void add(struct graph *g, const struct hyptrace_stream_event *event)
{
	const struct hyptrace_record *rec = &event->record;
	const struct hyptrace_meaning *meaning = hyptrace_model_meaning(g->model, rec);
	struct graph_cpu *at = cpu_of(g, event->cpu);
	struct graph_item item = { .begin = rec->ts, .end = rec->ts };
	size_t len;

	if (meaning->kind == HYPTRACE_KIND_FUNCTION) {
		if (g->filter && !hyptrace_filter_match(g->filter, rec))
			return;
		item.end -= hyptrace_meaning_value(meaning, HYPTRACE_ROLE_AGO, rec);
		item.begin = item.end - hyptrace_meaning_value(meaning, HYPTRACE_ROLE_DURATION, rec);
		item.depth = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_DEPTH, rec);
		item.name = hyptrace_meaning_name(meaning, hyptrace_meaning_key(meaning, rec));
		item.name = item.name ?: "?";
		at->has_functions = true;
	} else if (meaning->event && !g->is_flat) {
		const char *text = hyptrace_formats_text(g->session.formats, meaning->event, rec, &len);

		item.text = xasprintf("%s: %.*s", meaning->event->name, (int)len, text);
	}
	if (item.name || item.text) {
		if (at->nr == at->max) {
			at->max = at->max ? 2 * at->max : 256;
			at->items = xreallocarray(at->items, at->max, sizeof(*at->items));
		}
		at->items[at->nr++] = item;
	}
	if (meaning->kind == HYPTRACE_KIND_EXIT || at->nr >= ITEMS_MAX)
		flush(g, event->cpu);
}

static void batch(struct session *session, const struct hyptrace_stream_event *events,
		  unsigned int nr)
{
	struct graph *g = session->arg;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (events[i].record.data)
			add(g, &events[i]);
}

const struct session_ops graph_ops = { .batch = batch };

/* Print what still waits, the sums, and the last line. */
void graph_finish(struct graph *g)
{
	unsigned int cpu;

	for (cpu = 0; cpu < g->nr_cpus; cpu++) {
		flush(g, cpu);
		free(g->cpus[cpu].items);
	}
	if (g->is_flat)
		graph_print_sums(g);
	out_flush(&g->session.ctx->out);
	session_note_counts(&g->session, "function", g->nr_functions, g->is_flat ? "counted" : "printed");
	free(g->cpus);
	free(g->sums);
	hyptrace_filter_free(g->filter);
	hyptrace_model_free(g->model);
}
