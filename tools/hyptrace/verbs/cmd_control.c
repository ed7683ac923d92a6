// SPDX-License-Identifier: GPL-2.0-only
/* The verbs that control a remote, its rings and its events, and have it write selftest events. */
#include "output/die.h"
#include "session/select.h"

enum {
	OPT_SIZE = 0x200,
	OPT_MODE,
	OPT_RATE,
	OPT_AFTER,
	OPT_TRIGGER,	/* plus HYPTRACE_TRIGGER_ACTION_...: the last one */
};

/* load takes all but the first one */
static const struct argp_option options[] = {
	{ "rate", OPT_RATE, "N", 0,
	  "Selftest events per second and CPU, which the remote \"test\" writes; 0 for none", 0 },
	{ "size", OPT_SIZE, "SIZE", 0,
	  "Bytes of each CPU's ring, or units of 1024 with K, M, G or T", 0 },
	{ "mode", OPT_MODE, "MODE", 0,
	  "What a full ring drops: overwrite drops the oldest events, discard the newest", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct hyptrace_settings *settings = state->input;
	uint64_t value;

	switch (key) {
	case OPT_SIZE:
		if (!parse_size(arg, &settings->size))
			return cmd_usage("bad size \"%s\": use a number of bytes, or one with K, M, G or T",
					 arg);
		settings->changes |= HYPTRACE_SETTING_SIZE;
		return 0;
	case OPT_MODE:
		if (!parse_mode(arg, &settings->mode))
			return cmd_usage("bad mode \"%s\": use overwrite or discard", arg);
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

struct request {
	const struct verb		*verb;
	struct hyptrace_settings	settings;	/* of load and set */
};

/* Only clear takes --cpu. */
static int request(struct hyptrace *h, const char *remote, int cpu, const void *arg,
		   struct hyptrace_error *err)
{
	const struct request *r = arg;

	return hyptrace_control(h, r->verb->cmd, remote, cpu,
				r->verb->argp.parser ? &r->settings : NULL, err);
}

static int cmd_control(struct context *ctx, int argc, char **argv)
{
	struct request r = { .verb = ctx->verb };

	cmd_parse(ctx, argc, argv, &r.settings, NULL, NULL);
	if (r.verb->cmd == HYPTRACE_CMD_SET && !r.settings.changes) {
		cmd_note("no setting given: use --size, --mode or --rate");
		cmd_exit_usage(ctx->verb);
	}
	return cmd_request(ctx, r.verb->name, HYPTRACE_CPU_ALL, request, &r);
}

#define RANGE_HINT	"use a number from 0 to %" PRIu64

static const struct argp_option mark_options[] = {
	{ "count", 'n', "COUNT", 0, "Write this many events, with the numbers N, N+1, ...", 0 },
	{ 0 }
};

struct mark {
	uint64_t	value;
	uint32_t	count;
	bool		has_value;
};

static error_t parse_mark(int key, char *arg, struct argp_state *state)
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

static int request_mark(struct hyptrace *h, const char *remote, int cpu, const void *arg,
			struct hyptrace_error *err)
{
	const struct mark *mark = arg;

	return hyptrace_mark(h, remote, cpu, mark->value, mark->count, err);
}

static int cmd_mark(struct context *ctx, int argc, char **argv)
{
	struct mark mark = { .count = 1 };

	cmd_parse(ctx, argc, argv, &mark, NULL, NULL);
	return cmd_request(ctx, "mark", HYPTRACE_CPU_CURRENT, request_mark, &mark);
}

struct event_request {
	bool		enable;		/* it is enable, not disable */
	bool		count;		/* have EL2 count the events */
	bool		has_after;	/* --after was given */
	struct words	words;		/* names and globs of events */
	const char	*filter;	/* argument of --filter, or NULL */
	struct hyptrace_event_options options;	/* the trigger, and --after */
};

static const struct argp_option enable_options[] = {
	{ "filter", 'F', "FILTER", 0,
	  "Record only events that meet the condition, such as \"ret == -EPERM || duration > 50us\"",
	  0 },
	{ "start", OPT_TRIGGER + HYPTRACE_TRIGGER_ACTION_START, NULL, 0,
	  "Record nothing else until one of the events is recorded", 0 },
	{ "stop", OPT_TRIGGER + HYPTRACE_TRIGGER_ACTION_STOP, NULL, 0,
	  "Stop the recording of all CPUs when one of the events is recorded", 0 },
	{ "after", OPT_AFTER, "N", 0,
	  "With --stop: record on until a CPU has moved on to the next sub-buffer N times", 0 },
	{ "follow", OPT_TRIGGER + HYPTRACE_TRIGGER_ACTION_FOLLOW, NULL, 0,
	  "With func: record functions only of calls in which a filter or trigger of another event has accepted it",
	  0 },
	{ "count", OPTION_FLAG(struct event_request, count), NULL, 0,
	  "Have EL2 count the events, and do not record them", 0 },
	{ 0 }
};

static const struct argp_option disable_options[] = {
	{ "count", OPTION_FLAG(struct event_request, count), NULL, 0,
	  "Have EL2 count the events no longer", 0 },
	{ 0 }
};

static error_t parse_event(int key, char *arg, struct argp_state *state)
{
	struct event_request *request = state->input;
	uint32_t trigger;
	uint64_t after;

	switch (key) {
	case 'F':
		return cmd_set_filter(&request->filter, arg);
	case OPT_TRIGGER + HYPTRACE_TRIGGER_ACTION_START:
	case OPT_TRIGGER + HYPTRACE_TRIGGER_ACTION_STOP:
	case OPT_TRIGGER + HYPTRACE_TRIGGER_ACTION_FOLLOW:
		trigger = key - OPT_TRIGGER;
		if (request->options.trigger && request->options.trigger != trigger)
			return cmd_usage("--start, --stop and --follow exclude each other");
		request->options.trigger = trigger;
		return 0;
	case OPT_AFTER:
		if (!parse_number(arg, UINT32_MAX, &after))
			return cmd_usage("bad number \"%s\": use a number of sub-buffers up to %u",
					 arg, UINT32_MAX);
		request->options.after = after;
		request->has_after = true;
		return 0;
	case ARGP_KEY_END:
		if (request->count && (request->filter || request->options.trigger))
			return cmd_usage("--count counts all events: use it without --filter, --start, --stop and --follow");
		if (request->has_after && request->options.trigger != HYPTRACE_TRIGGER_ACTION_STOP)
			return cmd_usage("--after needs --stop");
		return 0;
	case ARGP_KEY_ARG:
		cmd_add_word(&request->words, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		return cmd_usage("no event given: use names, globs such as \"hyp_*\", or all");
	}
	return ARGP_ERR_UNKNOWN;
}

static int set_events(struct context *ctx, struct event_request *request)
{
	auto_choice struct event_choice choice = {};
	struct hyptrace_filter *filter auto_filter = NULL;
	struct hyptrace_remote *remote auto_remote = NULL;
	struct hyptrace_event **events auto_events = NULL;
	const char *verb = ctx->verb->name;
	struct hyptrace_error err;
	unsigned int nr;
	int code = cmd_get_events(ctx, &remote, &events, &nr) ?:
		   cmd_choose_events(verb, events, nr, &request->words, &choice);

	if (code)
		return code;
	if (request->enable)
		cmd_leave_out_func(&choice, &request->words);
	if (choice.nr && filter_parse(request->filter, choice.events, choice.nr, NULL, true,
				      &filter))
		return EXIT_USAGE;
	request->options.filter = filter;
	if (!hyptrace_set_events(ctx->h, remote->name, choice.names, choice.nr, request->enable,
				 request->enable ? &request->options : NULL, &err))
		return EXIT_DONE;
	return cmd_fail_verb(verb, choice.nr == 1 ? choice.names[0] : remote->name, &err);
}

static int cmd_event(struct context *ctx, int argc, char **argv)
{
	struct event_request request = { .enable = !strcmp(ctx->verb->name, "enable") };
	int code;

	cmd_parse(ctx, argc, argv, &request, NULL, NULL);
	code = cmd_connect(ctx) ?:
	       (request.count ? counters_switch(ctx, &request.words, request.enable) :
				set_events(ctx, &request));
	free(request.words.words);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "start", cmd_control, "Start tracing: record enabled events.", VERB_CONTROL + 5,
	  .cmd = HYPTRACE_CMD_START },
	{ "stop", cmd_control, "Stop tracing; the events can still be read.", VERB_CONTROL + 6,
	  .cmd = HYPTRACE_CMD_STOP },
	{ "load", cmd_control, "Allocate the rings.", VERB_CONTROL + 7,
	  .cmd = HYPTRACE_CMD_LOAD, .argp = {
		.options = options + 1,
		.parser = parse,
		.doc = "Allocate the rings. Omitted options keep their current value.",
	  } },
	{ "unload", cmd_control, "Stop tracing and free the rings.", VERB_CONTROL + 10,
	  .cmd = HYPTRACE_CMD_UNLOAD },
	{ "reset", cmd_control, "Stop tracing, free the rings, restore defaults.",
	  VERB_CONTROL + 11, .cmd = HYPTRACE_CMD_RESET },
	{ "set", cmd_control, "Change the size, the mode or the rate.", VERB_CONTROL + 8,
	  .cmd = HYPTRACE_CMD_SET, .argp = {
		.options = options,
		.parser = parse,
		.doc = "Change settings. Loaded rings are resized at once and keep the newest events that fit. The mode can change only while the rings are not loaded.",
	  } },
	{ "clear", cmd_control, "Discard events and reset counters.", VERB_CONTROL + 9, true,
	  .cmd = HYPTRACE_CMD_CLEAR },
	{ "mark", cmd_mark, "Write selftest events.", VERB_CONTROL + 12, true, .argp = {
		.options = mark_options,
		.parser = parse_mark,
		.args_doc = "N",
		.doc = "Write a selftest event that carries the number N, on the current CPU or on each CPU of --cpu.",
	  } },
	{ "enable", cmd_event, "Enable events, with a filter or a trigger.", VERB_CONTROL + 3,
	  .argp = {
		.options = enable_options,
		.parser = parse_event,
		.args_doc = "EVENT...",
		.doc = "Enable events. EVENT is a name, a glob such as \"hyp_*\", or all, which is all but func. If one of them is unknown, no event changes. Without --filter, --start, --stop and --follow the events have no filter and no trigger any more. An event with --filter is recorded only if it meets the condition, also before it stops the recording. \"hyptrace start\" arms triggers, \"hyptrace wait\" waits for them.",
	  } },
	{ "disable", cmd_event, "Disable events, with their filters and triggers.",
	  VERB_CONTROL + 4, .argp = {
		.options = disable_options,
		.parser = parse_event,
		.args_doc = "EVENT...",
		.doc = "Disable events, and remove their filters and triggers. EVENT is a name, a glob such as \"hyp_*\", or all. If one of them is unknown, no event changes.",
	  } },
};
