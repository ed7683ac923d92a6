// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace enable and disable: enable or disable events.
 */
#include "output/die.h"
#include "session/select.h"

struct request {
	bool		enable;	/* it is enable, not disable */
	struct words	words;	/* names and globs of events */
	const char	*filter;	/* argument of --filter, or NULL */
	/* enum hyptrace_trigger_action, as --start or --stop says */
	uint32_t	trigger;
	uint64_t	after;	/* argument of --after, or 0 */
	bool		has_after;	/* --after was given */
	bool		count;	/* have EL2 count the events */
};

enum {
	OPT_START = 0x200,
	OPT_STOP,
	OPT_AFTER,
};

static const struct argp_option enable_options[] = {
	{ "filter", 'F', "FILTER", 0,
	  "Record only events that meet the condition, such as \"ret == -EPERM || duration > 50us\"",
	  0 },
	{ "start", OPT_START, NULL, 0,
	  "Record nothing else until one of the events is recorded", 0 },
	{ "stop", OPT_STOP, NULL, 0,
	  "Stop the recording of all CPUs when one of the events is recorded", 0 },
	{ "after", OPT_AFTER, "N", 0,
	  "With --stop: record on until a CPU has moved on to the next sub-buffer N times", 0 },
	{ "count", OPTION_FLAG(struct request, count), NULL, 0,
	  "Have EL2 count the events, and do not record them", 0 },
	{ 0 }
};

static const struct argp_option disable_options[] = {
	{ "count", OPTION_FLAG(struct request, count), NULL, 0,
	  "Have EL2 count the events no longer", 0 },
	{ 0 }
};

static error_t parse_trigger(struct request *request, uint32_t trigger)
{
	if (request->trigger && request->trigger != trigger)
		return cmd_usage("--start and --stop exclude each other");
	request->trigger = trigger;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case 'F':
		return cmd_set_filter(&request->filter, arg);
	case OPT_START:
		return parse_trigger(request, HYPTRACE_TRIGGER_ACTION_START);
	case OPT_STOP:
		return parse_trigger(request, HYPTRACE_TRIGGER_ACTION_STOP);
	case OPT_AFTER:
		if (!parse_number(arg, UINT32_MAX, &request->after))
			return cmd_usage("bad number \"%s\": use a number of sub-buffers up to %u",
					 arg, UINT32_MAX);
		request->has_after = true;
		return 0;
	case ARGP_KEY_END:
		if (request->count && (request->filter || request->trigger))
			return cmd_usage("--count counts all events: use it without --filter, --start and --stop");
		if (request->has_after && request->trigger != HYPTRACE_TRIGGER_ACTION_STOP)
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

static int set_chosen(struct context *ctx, const char *verb, const char *remote,
		      const struct request *request, const struct event_choice *choice)
{
	struct hyptrace_event_options options = {
		.trigger = request->trigger,
		.after = request->after,
	};
	auto_filter struct hyptrace_filter *filter = NULL;
	struct hyptrace_error err;

	if (choice->nr && filter_parse(request->filter, choice->events, choice->nr, NULL, true,
				       &filter))
		return EXIT_USAGE;
	options.filter = filter;
	if (!hyptrace_set_events(ctx->h, remote, choice->names, choice->nr, request->enable,
				 request->enable ? &options : NULL, &err))
		return EXIT_DONE;
	return cmd_fail_verb(verb, choice->nr == 1 ? choice->names[0] : remote, &err);
}

static int set_events(struct context *ctx, const struct request *request)
{
	auto_choice struct event_choice choice = {};
	auto_remote struct hyptrace_remote *remote = NULL;
	struct hyptrace_event **events auto_events = NULL;
	const char *verb = ctx->verb->name;
	unsigned int nr;

	return cmd_get_events(ctx, &remote, &events, &nr) ?:
	       cmd_choose_events(verb, events, nr, &request->words, &choice) ?:
	       set_chosen(ctx, verb, remote->name, request, &choice);
}

static int cmd_event(struct context *ctx, int argc, char **argv)
{
	static const struct argp enable = {
		.options = enable_options,
		.parser = parse,
		.args_doc = "EVENT...",
		.doc = "Enable events. EVENT is a name, a glob such as \"hyp_*\", or all. If one of them is unknown, no event changes. Without --filter, --start and --stop the events have no filter and no trigger any more. An event with --filter is recorded only if it meets the condition, also before it stops the recording. \"hyptrace start\" arms triggers, \"hyptrace wait\" waits for them.",
	};
	static const struct argp disable = {
		.options = disable_options,
		.parser = parse,
		.args_doc = "EVENT...",
		.doc = "Disable events, and remove their filters and triggers. EVENT is a name, a glob such as \"hyp_*\", or all. If one of them is unknown, no event changes.",
	};

	struct request request = { .enable = !strcmp(ctx->verb->name, "enable") };
	int code;

	cmd_parse(ctx, request.enable ? &enable : &disable, argc, argv, &request, NULL, NULL);
	code = cmd_connect(ctx);
	if (!code && request.count)
		code = counters_switch(ctx, &request.words, request.enable);
	else if (!code)
		code = set_events(ctx, &request);
	free(request.words.words);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "enable", cmd_event, "Enable events, with a filter or a trigger.",
	  VERB_CONTROL + 3, false },
	{ "disable", cmd_event, "Disable events, with their filters and triggers.",
	  VERB_CONTROL + 4, false },
};
