// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace mark: have the remote write selftest events.
 */
#include <inttypes.h>

#include "session/select.h"

#define RANGE_HINT	"use a number from 0 to %" PRIu64

static const struct argp_option options[] = {
	{ "count", 'n', "COUNT", 0, "Write this many events, with the numbers N, N+1, ...", 0 },
	{ 0 }
};

struct mark {
	uint64_t	value;
	uint32_t	count;
	bool		has_value;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct mark *mark = state->input;
	uint64_t count;

	switch (key) {
	case 'n':
		if (!parse_number(arg, HYPTRACE_MARK_COUNT_MAX, &count) || !count)
			return cmd_usage("bad count \"%s\": use a number from 1 to %u", arg,
					 HYPTRACE_MARK_COUNT_MAX);
		mark->count = count;
		return 0;
	case ARGP_KEY_ARG:
		if (mark->has_value)
			break;
		if (!parse_number(arg, UINT64_MAX, &mark->value))
			return cmd_usage("bad number \"%s\": " RANGE_HINT, arg, UINT64_MAX);
		mark->has_value = true;
		return 0;
	case ARGP_KEY_NO_ARGS:
		return cmd_usage("no number given: " RANGE_HINT, UINT64_MAX);
	case ARGP_KEY_END:
		/* the numbers must not wrap around to 0 */
		if (mark->count - 1 > UINT64_MAX - mark->value)
			return cmd_usage("number %" PRIu64 " is too large for a count of %u: "
					 RANGE_HINT,
					 mark->value, mark->count, UINT64_MAX - (mark->count - 1));
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "N",
	.doc = "Write a selftest event that carries the number N, on the current CPU or on each CPU of --cpu.",
};

static int request(struct hyptrace *h, const char *remote, int cpu, const void *arg,
		   struct hyptrace_error *err)
{
	const struct mark *mark = arg;

	return hyptrace_mark(h, remote, cpu, mark->value, mark->count, err);
}

static int cmd_mark(struct context *ctx, int argc, char **argv)
{
	struct mark mark = { .count = 1 };

	cmd_parse(ctx, &argp, argc, argv, &mark);
	return cmd_request(ctx, "mark", HYPTRACE_CPU_CURRENT, request, &mark);
}

static const struct verb verbs[] VERBS = {
	{ "mark", cmd_mark, "Write selftest events.", VERB_CONTROL + 12, true },
};
