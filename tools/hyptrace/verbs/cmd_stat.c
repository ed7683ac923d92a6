// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace stat: where the time of CPUs goes. hyptrace count: have EL2 count events. */
#include "output/die.h"
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
	       stat->interval || stat->exact || stat->csv || stat->per_cpu || stat->key ||
	       s->pmu.nr;
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

static error_t parse(int key, char *arg __attribute__((unused)), struct argp_state *state)
{
	return key == ARGP_KEY_END ? check(state->input) : ARGP_ERR_UNKNOWN;
}

static bool show(struct stat *stat)
{
	struct session *s = &stat->session;

	return !stat->is_over && stat_print(stat) && (!s->count || --s->count);
}

static int cmd_stat(struct context *ctx, int argc, char **argv)
{
	struct stat stat = { .show = show, .sort = NR_STAT_COLUMNS, .keys = stat_keys };

	session_parse(&stat.session, ctx, NULL, argc, argv, &stat);
	if (stat.metrics)
		return cmd_connect(ctx) ?: stat_metrics(ctx);
	if (stat.counters)
		return cmd_connect(ctx) ?: stat_raw(ctx, &stat_raw_columns, stat.histogram);
	ctx->csv = stat.csv;
	return stat_run(&stat);
}

struct count {
	const struct context	*ctx;
	struct words		words;
	struct columns		columns;	/* the columns of the table */
	bool			off;	/* no longer count the events */
	bool			reset;	/* set the counters to 0 */
	bool			histogram;	/* print the histograms, too */
};

static const struct argp_option count_options[] = {
	{ "off", OPTION_FLAG(struct count, off), NULL, 0, "Do not count these events any more", 0 },
	{ "reset", OPTION_FLAG(struct count, reset), NULL, 0,
	  "Set the counters to 0, and free them if no event is counted", 0 },
	{ "histogram", OPTION_FLAG(struct count, histogram), NULL, 0,
	  "Print how long the events have taken", 0 },
	{ 0 }
};

static error_t check_count(const struct count *count)
{
	if (count->off && !count->words.nr)
		return cmd_usage("no event given: use names, globs such as \"hyp_*\", or all");
	if (count->reset && count->words.nr)
		return cmd_usage("--reset takes no event: it resets all counters");
	if (count->histogram && count->columns.nr_chosen)
		return cmd_usage("--columns and --histogram exclude each other");
	if ((count->words.nr || count->off || count->reset) &&
	    (count->histogram || count->columns.nr_chosen))
		return cmd_usage("--columns and --histogram need the verb \"count\" without an event");
	if (count->words.nr && count->ctx->have_cpus)
		return cmd_usage("--cpu chooses what to print or reset; events are counted on all CPUs");
	return 0;
}

static error_t parse_count(int key, char *arg, struct argp_state *state)
{
	struct count *count = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		cmd_add_word(&count->words, arg);
		return 0;
	case ARGP_KEY_END:
		return check_count(count);
	}
	return ARGP_ERR_UNKNOWN;
}

static int reset(struct hyptrace *h, const char *remote, int cpu, const void *arg,
		 struct hyptrace_error *err)
{
	(void)arg;
	return hyptrace_control(h, HYPTRACE_CMD_COUNT_RESET, remote, cpu, NULL, err);
}

static int cmd_count(struct context *ctx, int argc, char **argv)
{
	struct count count = { .ctx = ctx, .columns = stat_raw_columns };
	int code;

	cmd_parse(ctx, argc, argv, &count, &cmd_columns_argp, &count.columns);
	code = cmd_connect(ctx) ?:
	       (count.words.nr ? counters_switch(ctx, &count.words, !count.off) :
		count.reset ? cmd_request(ctx, "reset the counters of", HYPTRACE_CPU_ALL, reset,
					  NULL) :
			      stat_raw(ctx, &count.columns, count.histogram));
	free(count.words.words);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "stat", cmd_stat, "Print where the time goes, live or from a file.",
	  VERB_WATCH + 3, true,
	  .takes = SESSION_INPUT | SESSION_EVENT | SESSION_FILTER | SESSION_TIMES |
		   SESSION_DURATION | SESSION_INTERVALS | SESSION_COMMAND | SESSION_QUIET |
		   SESSION_GAPS | SESSION_PMU,
	  .child = &stat_argp,
	  .argp = {
		.options = options,
		.parser = parse,
		.args_doc = ARGS_COMMAND,
		.doc = "Print the time of each CPU in the host, at EL2 and in guests, and a table of times. Without FILE, enable the events that this needs until COMMAND or the time has ended, or a signal comes. With COMMAND, its exit code is returned.",
	  } },
	{ "count", cmd_count, "Count events at EL2, and print the counters.",
	  VERB_WATCH + 7, true, .argp = {
		.options = count_options,
		.parser = parse_count,
		.args_doc = "[EVENT...]",
		.doc = "Have EL2 count events, without recording them; without EVENT print the counters. EVENT is a name, a glob such as \"host_*\", or all.",
	  } },
};
