// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace graph: which functions EL2 traces, and what belongs to one visit of EL2. The functions
 * of a visit are recorded when it ends: what a CPU has done waits until then.
 */
#include <fnmatch.h>

#include "output/die.h"
#include "sink/row.h"
#include "graph.h"

/* More events of a visit are not kept: the first ones are not printed. */
#define EVENTS_MAX	65536

/* They tell where visits end; functions are printed in another way. */
#define NOT_PRINTED \
	(HYPTRACE_KIND_BIT(HYPTRACE_KIND_ENTER) | HYPTRACE_KIND_BIT(HYPTRACE_KIND_EXIT) | \
	 HYPTRACE_FUNCTION_KINDS)

static const struct hyptrace_meaning *function_of(const struct graph *g)
{
	return hyptrace_model_of_kind(g->model, HYPTRACE_KIND_FUNCTION);
}

/* Names are sorted, so that a glob takes few ranges of ids. Return the number of comparisons. */
static unsigned int add_range(FILE *f, unsigned int first, unsigned int last, bool is_first)
{
	fputs(is_first ? "" : " || ", f);
	if (first == last)
		fprintf(f, "id == %u", first);
	else
		fprintf(f, "(id >= %u && id <= %u)", first, last);
	return first == last ? 1 : 2;
}

static bool is_chosen(const struct graph *g, const char *name, bool *used)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < g->functions.nr; i++)
		if (!fnmatch(g->functions.words[i], name, 0)) {
			used[i] = true;
			found = true;
		}
	return found;
}

static int fail_unknown(const struct graph *g, const struct hyptrace_field *field, const char *word)
{
	const char *near = NULL;
	unsigned int i;

	for (i = 0; i < field->nr_symbols; i++)
		near = hyptrace_nearest(word, near, field->symbols[i]->name);
	if (near && !strpbrk(word, "*?["))
		return cmd_fail("cannot trace \"%s\": no such function; did you mean \"%s\"?", word,
				near);
	return cmd_fail("cannot trace \"%s\": %s (\"hyptrace list -v func\" lists the functions of \"%s\")",
			word, strpbrk(word, "*?[") ? "no function matches" : "no such function",
			g->session->name);
}

/* Write the condition on the id that -e means. */
static int put_functions(const struct graph *g, FILE *f)
{
	bool *used auto_free = xcalloc(g->functions.nr, sizeof(*used));
	const struct hyptrace_field *field = function_of(g)->places[HYPTRACE_ROLE_ID].field;
	unsigned int i, nr = 0, first = 0;
	bool was = false;

	for (i = 0; i <= field->nr_symbols; i++) {
		bool is = i < field->nr_symbols && is_chosen(g, field->symbols[i]->name, used);

		if (is && !was)
			first = i;
		if (was && !is)
			nr += add_range(f, field->symbols[first]->value,
					field->symbols[i - 1]->value, !nr);
		was = is;
	}
	for (i = 0; i < g->functions.nr; i++)
		if (!used[i])
			return fail_unknown(g, field, g->functions.words[i]);
	if (nr > HYPTRACE_FILTER_TERMS_MAX)
		return cmd_fail("cannot trace these functions alone: that takes %u comparisons, and EL2 makes at most %d (one for a function, two for functions whose names follow each other)",
				nr, HYPTRACE_FILTER_TERMS_MAX);
	return EXIT_DONE;
}

static int make_filter(const struct graph *g, struct hyptrace_filter **filter)
{
	auto_free char *text = NULL;
	const struct session *s = g->session;
	const struct hyptrace_event *event = function_of(g)->event;
	FILE *f = text_open(&text);
	int code = EXIT_DONE;

	if (g->functions.nr) {
		fputc('(', f);
		code = put_functions(g, f);
		fputc(')', f);
	}
	if (g->depth)
		fprintf(f, "%sdepth < %" PRIu64, ftell(f) ? " && " : "", g->depth);
	if (g->least)
		fprintf(f, "%sduration >= %" PRIu64, ftell(f) ? " && " : "", g->least);
	text_close(f, &text);
	if (code || !*text)
		return code;
	return filter_parse(text, &event, 1, s->formats, !s->path, filter);
}

static int hold(struct graph *g)
{
	const struct hyptrace_event *event = function_of(g)->event;
	const char *names[HYPTRACE_NR_KINDS];
	struct event_choice choice = { .names = names };
	struct session *s = g->session;
	struct hyptrace_error err;

	names[choice.nr++] = event->name;
	if (!g->caught) {
		const bool follows = event->trigger == HYPTRACE_TRIGGER_ACTION_FOLLOW;

		names[choice.nr++] = hyptrace_kind_event(HYPTRACE_KIND_ENTER);
		names[choice.nr++] = hyptrace_kind_event(HYPTRACE_KIND_EXIT);
		if ((g->filter || event->filter || follows) &&
		    event_hold(s->ctx->h, event, true, g->filter,
			       follows ? HYPTRACE_TRIGGER_ACTION_NONE : event->trigger,
			       event->after, &err))
			return cmd_fail_verb("filter", event->name, &err);
	} else {
		/* EL2 records nothing of the other calls. With this trigger it accepts all. */
		names[choice.nr++] = g->caught->name;
		if (event_hold(s->ctx->h, g->caught, true, g->condition, g->condition ?
			       HYPTRACE_TRIGGER_ACTION_NONE : HYPTRACE_TRIGGER_ACTION_NOTIFY,
			       0, &err))
			return cmd_fail_verb("catch", g->caught->name, &err);
		if (event_hold(s->ctx->h, event, true, g->filter, HYPTRACE_TRIGGER_ACTION_FOLLOW,
			       0, &err))
			return cmd_fail_verb("catch", event->name, &err);
	}
	return session_hold(s, &choice);
}

int graph_begin(struct graph *g)
{
	struct session *s = g->session;
	int code = lines_begin(&g->lines, s, s->clock, s->formats);

	if (code)
		return code;
	g->model = or_die(hyptrace_model_new(s->formats, NULL));
	g->sums.is_tree = g->is_tree;
	xappend(g->sums.list, g->sums.nr);
	if (!function_of(g))
		return cmd_fail("cannot trace functions: \"%s\" has no event func", s->name);
	if (function_of(g)->event->missing && s->path)
		return cmd_fail("\"%s\" has no functions: the kernel that recorded it was built without CONFIG_HYPTRACE_EL2_FUNCTIONS",
				s->path);
	if (function_of(g)->event->missing)
		return cmd_fail("cannot trace functions: this kernel was built without CONFIG_HYPTRACE_EL2_FUNCTIONS");
	return make_filter(g, &g->filter) ?: (s->path ? EXIT_DONE : hold(g));
}

static void forget_events(struct graph_cpu *cpu)
{
	while (cpu->nr)
		free((void *)cpu->events[--cpu->nr].data);
}

/* The functions of a visit are known. */
static void show(void *arg)
{
	struct graph_cpu *cpu = arg;
	struct graph *g = cpu->g;
	const bool is_wanted = !g->caught ||
			       (cpu->has_caught && (!g->limit || g->nr_caught < g->limit));

	cpu->has_caught = false;
	g->nr_caught += is_wanted;
	g->session->loop.is_over |= g->limit && g->nr_caught >= g->limit;
	if (is_wanted && (g->is_flat || g->is_tree)) {
		g->nr_functions += cpu->functions.nr;
		graph_sums_add(&g->sums, &cpu->functions);
	} else if (is_wanted) {
		graph_print(g, cpu);
	}
	forget_events(cpu);
}

static struct graph_cpu *cpu_of(struct graph *g, unsigned int id)
{
	struct graph_cpu *cpu;

	while (id >= g->nr_cpus)
		xappend(g->cpus, g->nr_cpus);
	if (g->cpus[id])
		return g->cpus[id];
	cpu = xcalloc(1, sizeof(*cpu));
	cpu->g = g;
	cpu->id = id;
	functions_begin(&cpu->functions, g->model, show, cpu);
	g->cpus[id] = cpu;
	return cpu;
}

static void keep_event(struct graph_cpu *cpu, const struct hyptrace_record *rec)
{
	struct hyptrace_record *copy;

	if (cpu->nr == EVENTS_MAX)
		forget_events(cpu);
	if (cpu->nr == cpu->max) {
		cpu->max = cpu->max ? 2 * cpu->max : 64;
		cpu->events = xreallocarray(cpu->events, cpu->max, sizeof(*cpu->events));
	}
	copy = &cpu->events[cpu->nr++];
	*copy = *rec;
	copy->data = memcpy(xmalloc(rec->size), rec->data, rec->size);
}

/* Does EL2 return to the host? Else the CPU comes back, from a guest or from the firmware. */
static bool is_return(const struct hyptrace_meaning *meaning, const struct hyptrace_record *rec)
{
	const uint64_t reason = hyptrace_meaning_key(meaning, rec);
	const char *name = hyptrace_meaning_name(meaning, reason);

	return meaning->kind == HYPTRACE_KIND_EXIT && reason != meaning->into_guest &&
	       !(name && !strcmp(name, "smc"));
}

static void add(struct graph *g, const struct hyptrace_stream_event *event)
{
	const struct hyptrace_record *rec = &event->record;
	struct graph_cpu *cpu = cpu_of(g, event->cpu);
	struct hyptrace_stream_event alone = *event;
	const struct hyptrace_meaning *meaning;

	if (rec->lost) {
		const struct hyptrace_stream_event loss = {
			.cpu = event->cpu, .record = { .ts = rec->ts, .lost = rec->lost },
		};

		functions_add(&cpu->functions, &loss);
		forget_events(cpu);
		/* the sums have no place for it: the last line counts it */
		if (!g->is_flat && !g->is_tree)
			lines_lost(&g->lines, event->cpu, rec->ts, rec->lost);
	}
	if (!rec->data)
		return;
	meaning = hyptrace_model_meaning(g->model, rec);
	if (meaning->kind == HYPTRACE_KIND_FUNCTION && g->session->path && g->filter &&
	    !hyptrace_filter_match(g->filter, rec))
		return;
	/* the loss is known already */
	alone.record.lost = 0;
	functions_add(&cpu->functions, &alone);
	if (g->caught && row_record_id(rec) == g->caught->id &&
	    (!g->condition || hyptrace_filter_match(g->condition, rec)))
		cpu->has_caught = true;
	if (is_return(meaning, rec))
		forget_events(cpu);
	else if (!(HYPTRACE_KIND_BIT(meaning->kind) & NOT_PRINTED) && !g->is_flat && !g->is_tree)
		keep_event(cpu, &alone.record);
}

static void batch(struct session *session, const struct hyptrace_stream_event *events,
		  unsigned int nr)
{
	struct graph *g = session->arg;
	unsigned int i;

	for (i = 0; i < nr; i++)
		add(g, &events[i]);
	/* no hyp_exit follows: do not wait for the next call */
	for (i = 0; g->caught && !g->session->path && i < g->nr_cpus; i++)
		if (g->cpus[i])
			functions_returned(&g->cpus[i]->functions, i);
}

const struct session_ops graph_ops = { .batch = batch };

/* Print what still waits, the sums, and the last line. */
void graph_finish(struct graph *g)
{
	const bool has_sums = g->is_flat || g->is_tree;
	unsigned int i;

	for (i = 0; i < g->nr_cpus; i++)
		if (g->cpus[i])
			functions_finish(&g->cpus[i]->functions);
	if (has_sums)
		graph_sums_print(&g->sums, g->session->ctx->p);
	out_flush(&g->session->ctx->out);
	session_note_counts(g->session, "function", g->nr_functions, has_sums ? "counted" : "printed");
}

void graph_free(struct graph *g)
{
	unsigned int i;

	for (i = 0; i < g->nr_cpus; i++) {
		if (!g->cpus[i])
			continue;
		functions_end(&g->cpus[i]->functions);
		forget_events(g->cpus[i]);
		free(g->cpus[i]->events);
		free(g->cpus[i]);
	}
	free(g->cpus);
	graph_sums_free(&g->sums);
	free(g->functions.words);
	lines_end(&g->lines);
	hyptrace_filter_free(g->filter);
	hyptrace_model_free(g->model);
}

int graph_run(struct graph *g)
{
	int code = graph_begin(g);

	if (!code) {
		code = session_run(g->session);
		graph_finish(g);
	}
	graph_free(g);
	return code;
}
