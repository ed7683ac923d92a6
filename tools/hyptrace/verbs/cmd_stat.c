// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace stat: where the time of CPUs goes, and times by reason, hypercall, exit, vCPU or VM.
 */
#include "view/times/stat.h"

#define FLAG(member)	OPTION_FLAG(struct stat, member)

static const struct argp_option options[] = {
	{ "per-cpu", FLAG(per_cpu), NULL, 0, "Print the rows of each CPU", 0 },
	{ "exact", FLAG(exact), NULL, 0,
	  "Live, take the numbers from events even if EL2 can count", 0 },
	{ "counters", FLAG(counters), NULL, 0,
	  "Print the counters of EL2 as they are: see \"hyptrace enable --count\"", 0 },
	{ "openmetrics", FLAG(metrics), NULL, 0,
	  "Print the counters of EL2 and of the rings as metrics for Prometheus", 0 },
	{ "histogram", FLAG(histogram), NULL, 0, "Print a histogram of each row", 0 },
	{ "csv", FLAG(csv), NULL, 0, "Print the rows as comma-separated values", 0 },
	{ 0 }
};

/* Options for what is not the counters as they are */
static bool has_choice(const struct stat *stat)
{
	const struct session *s = &stat->session;

	return s->path || s->duration || s->child.argv || s->choice.words.nr || s->choice.filter ||
	       stat->interval || stat->exact || stat->csv || stat->per_cpu ||
	       stat->sort != NR_STAT_COLUMNS;
}

static error_t check(struct stat *stat)
{
	struct session *s = &stat->session;

	if (stat->metrics && (has_choice(stat) || stat->counters || stat->histogram ||
			      s->ctx->json || s->ctx->have_cpus))
		return cmd_usage("--openmetrics prints all counters so far: use it without other options");
	if (stat->counters && has_choice(stat))
		return cmd_usage("--counters prints what EL2 has counted so far: use it with --cpu, --histogram and --json only");
	if (stat->csv && (s->ctx->json || stat->histogram))
		return cmd_usage("--csv prints the rows only: use it without --json and --histogram");
	s->child.no_stdout = stat->csv || s->ctx->json;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat *stat = state->input;

	(void)arg;
	if (key == ARGP_KEY_END)
		return check(stat);
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = stat;
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = ARGS_COMMAND,
	.doc = "Print the time of each CPU in the host, at EL2 and in guests, and a table of times. Without FILE, enable the events that this needs until COMMAND or the time has ended, or a signal comes. With COMMAND, its exit code is returned.",
	.children = (const struct argp_child[]){ { &stat_argp, 0, NULL, 0 }, { 0 } },
};

static bool show(struct stat *stat)
{
	struct session *s = &stat->session;

	if (stat->is_over)
		return false;
	return stat_print(stat) && (!s->count || --s->count);
}

static int cmd_stat(struct context *ctx, int argc, char **argv)
{
	struct stat stat = {
		.session = {
			.ctx = ctx,
			.takes = SESSION_INPUT | SESSION_EVENT | SESSION_FILTER | SESSION_TIMES |
				 SESSION_DURATION | SESSION_INTERVALS | SESSION_COMMAND |
				 SESSION_QUIET | SESSION_GAPS,
		},
		.show = show, .sort = NR_STAT_COLUMNS, .keys = stat_keys,
	};

	session_parse(&stat.session, &argp, argc, argv, &stat);
	if (stat.metrics)
		return cmd_connect(ctx) ?: stat_metrics(ctx);
	if (stat.counters)
		return cmd_connect(ctx) ?: stat_raw(ctx, &stat_raw_columns, stat.histogram);
	ctx->csv = stat.csv;
	return stat_run(&stat);
}

static const struct verb verbs[] VERBS = {
	{ "stat", cmd_stat, "Print where the time goes, live or from a file.",
	  VERB_WATCH + 3, true },
};
