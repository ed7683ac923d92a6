// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace enable and disable: enable or disable events.
 */
#include <stdlib.h>

#include "cmd.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct words *words = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		cmd_add_word(words, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		return cmd_usage("no event given: use names, globs such as \"hyp_*\", or all");
	}
	return ARGP_ERR_UNKNOWN;
}

static int set_events(struct context *ctx, const struct words *words, bool enable)
{
	const char *verb = enable ? "enable" : "disable";
	struct hyptrace_remote *remote;
	struct hyptrace_event **events;
	struct event_choice choice;
	struct hyptrace_error err;
	unsigned int nr_events;
	int code;

	code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	if (hyptrace_get_events(ctx->h, remote->name, &events, &nr_events, &err)) {
		code = cmd_fail("cannot list the events of \"%s\": %s", remote->name, err.text);
		goto free_remote;
	}

	code = cmd_choose_events(verb, events, nr_events, words, &choice);
	if (!code && hyptrace_set_events(ctx->h, remote->name, choice.names, choice.nr, enable,
					 &err))
		code = cmd_fail_verb(verb, choice.nr == 1 ? choice.names[0] : remote->name, &err);
	event_choice_free(&choice);
	hyptrace_free_events(events);
free_remote:
	hyptrace_free_remote(remote);
	return code;
}

static int run(struct context *ctx, const struct argp *argp, int argc, char **argv, bool enable)
{
	struct words words = {};
	int code;

	cmd_parse(ctx, argp, argc, argv, &words);
	code = cmd_connect(ctx);
	if (!code)
		code = set_events(ctx, &words, enable);
	free(words.words);
	return code;
}

int cmd_enable(struct context *ctx, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "EVENT...",
		.doc = "Enable events. EVENT is a name, a glob such as \"hyp_*\", or all. If one of them is unknown, no event changes.",
	};

	return run(ctx, &argp, argc, argv, true);
}

int cmd_disable(struct context *ctx, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "EVENT...",
		.doc = "Disable events. EVENT is a name, a glob such as \"hyp_*\", or all. If one of them is unknown, no event changes.",
	};

	return run(ctx, &argp, argc, argv, false);
}
