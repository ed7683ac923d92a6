// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace graph: print the functions of a visit of EL2 inside each other, with other events. */
#include <sys/param.h>

#include "output/clock.h"
#include "output/die.h"
#include "output/printer.h"
#include "graph.h"

#define INDENT		2
#define TIME_WIDTH	11

struct printing {
	struct graph		*g;
	struct graph_cpu	*cpu;
	unsigned int		next;	/* event */
	uint64_t		depth;	/* of what happens now */
};

/* Print what is before a function or an event; @time is how long a function took, or NULL. */
static void put_head(const struct printing *p, uint64_t depth, const uint64_t *time)
{
	struct out *out = &p->g->session->ctx->out;
	char text[TIME_TEXT_SIZE] = "";

	if (time)
		time_text(text, *time);
	out_printf(out, "%3u) %*s |  ", p->cpu->id, TIME_WIDTH, text);
	out_spaces(out, INDENT * MIN(depth, GRAPH_LEVELS_MAX));
}

static void put_event(const struct printing *p, const struct hyptrace_record *rec)
{
	struct hyptrace_formats *formats = p->g->session->formats;
	struct out *out = &p->g->session->ctx->out;
	const struct hyptrace_event *of;
	size_t len;

	if (p->g->lines.json) {
		lines_event(&p->g->lines, p->cpu->id, rec);
		return;
	}
	of = hyptrace_formats_event(formats, rec);
	put_head(p, p->depth, NULL);
	out_puts(out, "/* ");
	out_puts(out, of ? of->name : "unknown event");
	if (of) {
		out_puts(out, ": ");
		text_put_plain(out, hyptrace_formats_text(formats, of, rec, &len));
	}
	out_puts(out, " */\n");
}

static void put_events(struct printing *p, uint64_t until)
{
	while (p->next < p->cpu->nr && p->cpu->events[p->next].ts <= until)
		put_event(p, &p->cpu->events[p->next++]);
}

static void put_row(const struct printing *p, const struct function *function)
{
	const struct hyptrace_span *span = &function->span;
	struct printer *printer = p->g->session->ctx->p;
	char number[FUNCTION_NAME_SIZE];

	printer_line(printer, STYLE_PLAIN, "%s", "");
	printer_uint(printer, "cpu", p->cpu->id);
	printer_u64(printer, "ts", span->begin);
	printer_str(printer, "event", "func");
	printer_str(printer, "name", function_name(span, number));
	printer_uint(printer, "depth", function->recorded_depth);
	printer_u64(printer, "duration", span->end - span->begin);
	printer_u64(printer, "self", span->own);
	printer_end(printer);
}

/* Does a function have lines inside: other functions, or events? */
static bool has_lines(const struct printing *p, const struct function *function)
{
	return function_is_caller(&p->cpu->functions, function) ||
	       (p->next < p->cpu->nr && p->cpu->events[p->next].ts <= function->span.end);
}

static void begin(void *arg, const struct function *function)
{
	const struct hyptrace_span *span = &function->span;
	const uint64_t time = span->end - span->begin;
	struct printing *p = arg;
	struct out *out = &p->g->session->ctx->out;
	char number[FUNCTION_NAME_SIZE];
	bool is_open;

	/* what happens in the tick in which a function begins is in the function */
	if (span->begin)
		put_events(p, span->begin - 1);
	p->depth = function->recorded_depth + 1;
	if (p->g->lines.json) {
		put_row(p, function);
		return;
	}
	is_open = has_lines(p, function);
	put_head(p, function->recorded_depth, is_open ? NULL : &time);
	text_put_plain(out, function_name(span, number));
	out_puts(out, is_open ? "() {\n" : "();\n");
}

static void end(void *arg, const struct function *function)
{
	const struct hyptrace_span *span = &function->span;
	const uint64_t time = span->end - span->begin;
	struct printing *p = arg;
	const bool is_caller = function_is_caller(&p->cpu->functions, function);
	const bool is_open = is_caller || has_lines(p, function);
	char text[TIME_TEXT_SIZE];

	put_events(p, span->end);
	p->depth = function->recorded_depth;
	p->g->nr_functions++;
	if (!is_open || p->g->lines.json)
		return;
	put_head(p, p->depth, &time);
	time_text(text, span->own);
	out_printf(&p->g->session->ctx->out, is_caller ? "} /* self %s */\n" : "}\n", text);
}

void graph_print(struct graph *g, struct graph_cpu *cpu)
{
	struct printing p = { .g = g, .cpu = cpu };

	functions_walk(&cpu->functions, begin, end, &p);
	/* after the last function of the visit */
	put_events(&p, UINT64_MAX);
}
