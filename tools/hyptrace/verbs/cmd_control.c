// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace start, stop, load, unload, clear, reset, set: control a remote.
 */
#include <string.h>

#include "session/select.h"

enum {
	OPT_SIZE = 0x200,
	OPT_MODE,
	OPT_RATE,
};

static const struct argp_option options[] = {
	{ "rate", OPT_RATE, "N", 0,
	  "Selftest events per second and CPU, which the remote \"test\" writes; 0 for none", 0 },
	{ "size", OPT_SIZE, "SIZE", 0,
	  "Bytes of each CPU's ring, or units of 1024 with K, M, G or T", 0 },
	{ "mode", OPT_MODE, "MODE", 0,
	  "What a full ring drops: overwrite drops the oldest events, discard the newest", 0 },
	{ 0 }
};

/* All but the first one, --rate */
#define LOAD_OPTIONS	(&options[1])

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct hyptrace_settings *settings = state->input;
	uint64_t value = 0;
	uint32_t mode = 0;

	switch (key) {
	case OPT_SIZE:
		if (!parse_size(arg, &value))
			return cmd_usage("bad size \"%s\": use a number of bytes, or one with K, M, G or T",
					 arg);
		settings->size = value;
		settings->changes |= HYPTRACE_SETTING_SIZE;
		return 0;
	case OPT_MODE:
		if (!parse_mode(arg, &mode))
			return cmd_usage("bad mode \"%s\": use overwrite or discard", arg);
		settings->mode = mode;
		settings->changes |= HYPTRACE_SETTING_MODE;
		return 0;
	case OPT_RATE:
		if (!parse_number(arg, HYPTRACE_RATE_MAX, &value))
			return cmd_usage("bad rate \"%s\": use a number of events per second up to %u",
					 arg, HYPTRACE_RATE_MAX);
		settings->rate = value;
		settings->changes |= HYPTRACE_SETTING_RATE;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_set(int key, char *arg, struct argp_state *state)
{
	const struct hyptrace_settings *settings = state->input;

	if (key == ARGP_KEY_END && !settings->changes)
		return cmd_usage("no setting given: use --size, --mode or --rate");
	return parse(key, arg, state);
}

struct request {
	const char			*verb;
	int				cmd;
	struct argp			argp;
	struct hyptrace_settings	*settings;	/* of load and set; or NULL */
};

/* Only clear takes --cpu. */
static int request(struct hyptrace *h, const char *remote, int cpu, const void *arg,
		   struct hyptrace_error *err)
{
	const struct request *r = arg;

	return hyptrace_control(h, r->cmd, remote, cpu, r->settings, err);
}

static int cmd_control(struct context *ctx, int argc, char **argv)
{
	static struct hyptrace_settings settings;
	static const struct request requests[] = {
		{ .verb = "start", .cmd = HYPTRACE_CMD_START },
		{ .verb = "stop", .cmd = HYPTRACE_CMD_STOP },
		{ .verb = "unload", .cmd = HYPTRACE_CMD_UNLOAD },
		{ .verb = "reset", .cmd = HYPTRACE_CMD_RESET },
		{ .verb = "clear", .cmd = HYPTRACE_CMD_CLEAR },
		{ "load", HYPTRACE_CMD_LOAD, {
			.options = LOAD_OPTIONS,
			.parser = parse,
			.doc = "Allocate the rings. Omitted options keep their current value.",
		}, &settings },
		{ "set", HYPTRACE_CMD_SET, {
			.options = options,
			.parser = parse_set,
			.doc = "Change settings. Loaded rings are resized at once and keep the newest events that fit. The mode can change only while the rings are not loaded.",
		}, &settings },
	};
	const struct request *r = requests;

	while (strcmp(r->verb, ctx->verb->name))
		r++;
	cmd_parse(ctx, &r->argp, argc, argv, r->settings);
	return cmd_request(ctx, r->verb, HYPTRACE_CPU_ALL, request, r);
}

static const struct verb verbs[] VERBS = {
	{ "start", cmd_control, "Start tracing: record enabled events.", VERB_CONTROL + 5, false },
	{ "stop", cmd_control, "Stop tracing; the events can still be read.",
	  VERB_CONTROL + 6, false },
	{ "load", cmd_control, "Allocate the rings.", VERB_CONTROL + 7, false },
	{ "unload", cmd_control, "Stop tracing and free the rings.", VERB_CONTROL + 10, false },
	{ "reset", cmd_control, "Stop tracing, free the rings, restore defaults.",
	  VERB_CONTROL + 11, false },
	{ "set", cmd_control, "Change the size, the mode or the rate.", VERB_CONTROL + 8, false },
	{ "clear", cmd_control, "Discard events and reset counters.", VERB_CONTROL + 9, true },
};
