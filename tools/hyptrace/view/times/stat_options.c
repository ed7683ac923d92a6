// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that stat and top have in common, besides those of the session.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli/args.h"
#include "output/message.h"
#include "stat.h"

enum {
	OPT_BY = 0x400,
	OPT_DELAY,
};

static const struct argp_option options[] = {
	{ "by", OPT_BY, "WHAT", 0,
	  "Print a row for each reason (the default), hcall, exit, vcpu, vm, cpu or memory", 0 },
	{ "interval", 'd', "TIME", 0, "Print the numbers of each such time, such as 1s", 0 },
	{ "delay", OPT_DELAY, "TIME", OPTION_HIDDEN, NULL, 0 },
	{ "key", 'k', "KEY", 0, "", 0 },
	{ 0 }
};

static error_t parse_key(struct stat *stat, const char *key)
{
	char *names;

	if (stat_column_find(stat->keys, key, &stat->sort))
		return 0;
	names = stat_column_names(stat->keys, "");
	cmd_note("unknown key \"%s\": use one of %s", key, names);
	free(names);
	return -EINVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat *stat = state->input;

	switch (key) {
	case OPT_BY:
		if (!stat_by_find(arg, &stat->by))
			return cmd_usage("cannot print rows by \"%s\": use one of " STAT_BY_NAMES,
					 arg);
		return 0;
	case 'd':
		if (!parse_duration(arg, &stat->interval))
			return cmd_usage("bad time \"%s\": use a number and us, ms, s, m or h",
					 arg);
		return 0;
	case OPT_DELAY:
		return cmd_usage("--delay is --interval now: use \"-d %s\"", arg);
	case 'k':
		return parse_key(stat, arg);
	case ARGP_KEY_END:
		if (stat->session.count && !stat->interval)
			return cmd_usage("--count ends after so many intervals: use it with --interval");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static char *help(int key, const char *text, void *input)
{
	const struct stat *stat = input;

	return key == 'k' ? stat_column_names(stat->keys, "Sort the rows by one of ") :
			    (char *)text;
}

const struct argp stat_argp = { .options = options, .parser = parse, .help_filter = help };
