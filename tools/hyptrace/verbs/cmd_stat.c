// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace stat: where the time of CPUs goes, and times by reason, hypercall, exit, vCPU or VM.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/message.h"
#include "session/select.h"
#include "session/signals.h"
#include "view/times/stat_columns.h"

enum {
	OPT_BY = 0x200,
	OPT_COUNTERS,
	OPT_CSV,
	OPT_DURATION,
	OPT_EXACT,
	OPT_FROM,
	OPT_HIST,
	OPT_PER_CPU,
	OPT_TO,
};

#define BY_HELP \
	"Print a row for each reason (the default), hcall, exit, vcpu, vm, cpu or memory"

#define FROM_HELP \
	"With a file, count no event before this time: seconds of the file's clock, \"+10ms\" (after the first event) or \"-1s\" (before the last one)"

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Take the numbers from a file, not from the machine", 0 },
	{ "by", OPT_BY, "WHAT", 0, BY_HELP, 0 },
	{ "per-cpu", OPT_PER_CPU, NULL, 0, "Print the rows of each CPU", 0 },
	{ "key", 'k', "KEY", 0, "", 0 },
	{ "exact", OPT_EXACT, NULL, 0,
	  "Live, take the numbers from events even if EL2 can count", 0 },
	{ "counters", OPT_COUNTERS, NULL, 0,
	  "Print the counters of EL2 as they are: see \"hyptrace enable --count\"", 0 },
	{ "histogram", OPT_HIST, NULL, 0, "Print a histogram of each row", 0 },
	{ "csv", OPT_CSV, NULL, 0, "Print the rows as comma-separated values", 0 },
	{ "from", OPT_FROM, "TIME", 0, FROM_HELP, 0 },
	{ "to", OPT_TO, "TIME", 0, "Count no event after this time, likewise", 0 },
	{ "duration", OPT_DURATION, "TIME", 0, "End after so many s, ms, m or h", 0 },
	{ "interval", 'd', "TIME", 0, "Print the numbers of each such time", 0 },
	{ "count", 'n', "COUNT", 0, "End after so many intervals", 0 },
	{ "quiet", 'q', NULL, 0, "Print no notes; losses and errors are still printed", 0 },
	{ 0 }
};

/* The columns that --key takes */
static const enum stat_column keys[] = {
	COL_SAMPLES, COL_TIME, COL_MIN, COL_MAX, COL_MEAN, COL_P50, COL_P90, COL_P99, COL_P99_9,
	COL_GUEST, COL_NAME, NR_STAT_COLUMNS
};

static error_t parse_key(const char *key, enum stat_column *column)
{
	char *names;

	if (stat_column_find(keys, key, column))
		return 0;
	names = stat_column_names(keys, "");
	cmd_note("unknown key \"%s\": use one of %s", key, names);
	free(names);
	return -EINVAL;
}

static error_t check(struct stat *stat)
{
	const bool is_live = stat->duration || stat->child.argv;

	if (stat->counters && (stat->path || is_live || stat->interval || stat->exact ||
			       stat->csv || stat->per_cpu || stat->sort != NR_STAT_COLUMNS))
		return cmd_usage("--counters prints what EL2 has counted so far: use it with --cpu, --histogram and --json only");
	if (stat->path && is_live)
		return cmd_usage("--input reads a file: it takes no --duration and no command");
	if (stat->count && !stat->interval)
		return cmd_usage("--count ends after so many intervals: use it with --interval");
	if (!stat->path && (stat->from.kind || stat->to.kind))
		return cmd_usage("--from and --to choose times of a file: name it with --input");
	if (stat->path && stat->ctx->remote)
		return cmd_usage("--remote is for the machine: a file has the events of one remote");
	if (stat->csv && (stat->ctx->json || stat->histogram))
		return cmd_usage("--csv prints the rows only: use it without --json and --histogram");
	if (stat->sort == NR_STAT_COLUMNS)
		stat->sort = stat_by_has_time(stat->by) ? COL_TIME : COL_SAMPLES;
	stat->child.no_stdout = stat->csv || stat->ctx->json;
	return 0;
}

static error_t parse_argument(struct stat *stat, char *arg, struct argp_state *state)
{
	/* argp has the place of the first argument after "--" */
	if (!state->quoted || state->next <= state->quoted)
		return cmd_usage("unexpected argument \"%s\": a file follows --input, and a command follows \"--\"",
				 arg);
	if (!stat->child.argv)
		stat->child.argv = &state->argv[state->next - 1];
	state->next = state->argc;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat *stat = state->input;

	switch (key) {
	case 'i':
		stat->path = arg;
		return *arg ? 0 : cmd_usage("the name of the file is empty");
	case OPT_BY:
		if (!stat_by_find(arg, &stat->by))
			return cmd_usage("cannot print rows by \"%s\": use one of " STAT_BY_NAMES,
					 arg);
		return 0;
	case OPT_PER_CPU:
		stat->per_cpu = true;
		return 0;
	case 'k':
		return parse_key(arg, &stat->sort);
	case OPT_EXACT:
		stat->exact = true;
		return 0;
	case OPT_COUNTERS:
		stat->counters = true;
		return 0;
	case OPT_HIST:
		stat->histogram = true;
		return 0;
	case OPT_CSV:
		stat->csv = true;
		return 0;
	case OPT_FROM:
	case OPT_TO:
		if (!moment_parse(arg, key == OPT_FROM ? &stat->from : &stat->to))
			return cmd_usage("bad time \"%s\": use seconds, +TIME (after the first event) or -TIME (before the last one), such as 12.5, +10ms or -1s",
					 arg);
		return 0;
	case 'n':
		if (!parse_number(arg, UINT64_MAX, &stat->count) || !stat->count)
			return cmd_usage("bad --count \"%s\": use 1 or more", arg);
		return 0;
	case OPT_DURATION:
	case 'd':
		if (!parse_duration(arg, key == OPT_DURATION ? &stat->duration : &stat->interval))
			return cmd_usage("bad time \"%s\": use a number and s, ms, m or h", arg);
		return 0;
	case 'q':
		stat->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		return parse_argument(stat, arg, state);
	case ARGP_KEY_END:
		return check(stat);
	}
	return ARGP_ERR_UNKNOWN;
}

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 'k' ? stat_column_names(keys, "Sort the rows by one of ") : (char *)text;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = ARGS_COMMAND,
	.doc = "Print the time of each CPU in the host, at EL2 and in guests, and a table of times. Without FILE, enable the events that this needs until COMMAND or the time has ended, or a signal comes. With COMMAND, its exit code is returned.",
	.help_filter = help,
};

static int run_live(struct stat *stat)
{
	int code;

	if (signals_catch() < 0)
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	code = child_prepare(&stat->child);
	if (!code)
		code = stat_live(stat);
	/* as perf: a signal also ends the command */
	child_stop(&stat->child);
	return code ? code : stat->child.code;
}

/* Print the numbers, unless there were enough intervals. */
static bool show(struct stat *stat)
{
	if (stat->is_over)
		return false;
	return stat_print(stat) && (!stat->count || --stat->count);
}

static int cmd_stat(struct context *ctx, int argc, char **argv)
{
	struct stat stat = { .ctx = ctx, .child.pidfd = -1, .show = show,
			     .sort = NR_STAT_COLUMNS };
	const struct columns columns = { .all = stat_raw_columns, .nr = stat_nr_raw_columns };
	int code;

	cmd_parse(ctx, &argp, argc, argv, &stat);
	if (stat.path) {
		cmd_make_printer(ctx);
		return stat_file(&stat);
	}
	code = cmd_connect(ctx);
	if (code)
		return code;
	return stat.counters ? stat_raw(ctx, &columns, stat.histogram) : run_live(&stat);
}

static const struct verb verbs[] VERBS = {
	{ "stat", cmd_stat, "Print where the time goes, live or from a file.",
	  VERB_WATCH + 3, true },
};
