// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace count: have EL2 count events, and print the counters.
 */
#include <stdlib.h>

#include "view/times/stat.h"

struct count {
	const struct context	*ctx;
	struct words		words;
	struct columns		columns;	/* the columns of the table */
	bool			off;	/* no longer count the events */
	bool			reset;	/* set the counters to 0 */
	bool			histogram;	/* print the histograms, too */
};

static const struct argp_option options[] = {
	{ "off", OPTION_FLAG(struct count, off), NULL, 0, "Do not count these events any more", 0 },
	{ "reset", OPTION_FLAG(struct count, reset), NULL, 0,
	  "Set the counters to 0, and free them if no event is counted", 0 },
	{ "histogram", OPTION_FLAG(struct count, histogram), NULL, 0,
	  "Print how long the events have taken", 0 },
	{ 0 }
};

static error_t check(const struct count *count)
{
	bool prints = !count->words.nr && !count->off && !count->reset;

	if (count->off && !count->words.nr)
		return cmd_usage("no event given: use names, globs such as \"hyp_*\", or all");
	if (count->reset && count->words.nr)
		return cmd_usage("--reset takes no event: it resets all counters");
	if (count->histogram && count->columns.nr_chosen)
		return cmd_usage("--columns and --histogram exclude each other");
	if (!prints && (count->histogram || count->columns.nr_chosen))
		return cmd_usage("--columns and --histogram need the verb \"count\" without an event");
	if (count->words.nr && count->ctx->have_cpus)
		return cmd_usage("--cpu chooses what to print or reset; events are counted on all CPUs");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct count *count = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		cmd_add_word(&count->words, arg);
		return 0;
	case ARGP_KEY_END:
		return check(count);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[EVENT...]",
	.doc = "Have EL2 count events, without recording them; without EVENT print the counters. EVENT is a name, a glob such as \"host_*\", or all.",
};

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

	cmd_parse_more(ctx, &argp, argc, argv, &count, &cmd_columns_argp, &count.columns);
	code = cmd_connect(ctx);
	if (!code && count.words.nr)
		code = counters_switch(ctx, &count.words, !count.off);
	else if (!code && count.reset)
		code = cmd_request(ctx, "reset the counters of", HYPTRACE_CPU_ALL, reset, NULL);
	else if (!code)
		code = stat_raw(ctx, &count.columns, count.histogram);
	free(count.words.words);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "count", cmd_count, "Count events at EL2, and print the counters.",
	  VERB_WATCH + 6, true },
};
