// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace graph: print which functions of EL2 have called each other, and how long they took. */
#include "output/die.h"
#include "view/graph/graph.h"

static const struct argp_option options[] = {
	{ "event", 'e', "FUNCTIONS", 0,
	  "Trace only these functions: names or globs, with commas between them; may be repeated",
	  0 },
	{ "depth", 'D', "N", 0, "Trace only functions that at most N-1 others have called", 0 },
	{ "min", 'm', "TIME", 0, "Trace only functions that took so long, such as 10us", 0 },
	{ "flat", OPTION_FLAG(struct graph, is_flat), NULL, 0,
	  "Print no calls, but the sums of each function", 0 },
	{ "tree", OPTION_FLAG(struct graph, is_tree), NULL, 0,
	  "Print no calls, but the sums of each function, apart for those that have called it", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct graph *g = state->input;
	char *end;

	switch (key) {
	case 'e':
		return cmd_add_words(&g->functions, arg);
	case 'D':
		g->depth = strtoul(arg, &end, 10);
		return !*end && g->depth && g->depth <= UINT16_MAX ? 0 :
		       cmd_usage("bad depth \"%s\": use a number from 1 to %u", arg, UINT16_MAX);
	case 'm':
		/* People know other units for a number without one from other tools. */
		return *arg && isalpha(arg[strlen(arg) - 1]) && parse_duration(arg, &g->least) ? 0 :
		       cmd_usage("bad time \"%s\": use a number and a unit, such as 10us",
				 arg);
	case ARGP_KEY_END:
		return g->is_flat && g->is_tree ?
		       cmd_usage("--flat and --tree exclude each other") : 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int cmd_graph(struct context *ctx, int argc, char **argv)
{
	static struct session s;
	static struct graph g = { .session = &s };

	session_parse(&s, ctx, &graph_ops, argc, argv, &g);
	s.child.no_stdout = true;
	return session_close(&s, session_open(&s) ?: graph_run(&g));
}

static const struct verb verbs[] VERBS = {
	{ "graph", cmd_graph, "Print which functions of EL2 have called each other.",
	  VERB_WATCH + 6, true,
	  .takes = SESSION_QUIET | SESSION_INPUT | SESSION_TIMES | SESSION_DURATION |
		   SESSION_COMMAND | SESSION_BOUND | SESSION_HOLDS_FILTERS | SESSION_GAPS,
	  .argp = {
		.options = options,
		.parser = parse,
		.args_doc = ARGS_COMMAND,
		.doc = "Print which functions of EL2 have called each other, how long they took, and the events where they happened, until a signal comes, or COMMAND has ended. With --input, those of a file. At the end the functions are traced as before. With COMMAND, its exit code is returned.",
	  } },
};
