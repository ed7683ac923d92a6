// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace enable and disable: events.
 */
#include <stdlib.h>

#include "cmd.h"

struct words {
	char		**words;
	unsigned int	nr;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct words *words = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		words->words = reallocarray(words->words, words->nr + 1, sizeof(*words->words));
		if (!words->words)
			die_no_memory();
		words->words[words->nr++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which events? names, globs (in quotes) or all");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int set_events(struct context *ctx, const struct words *words, bool enable)
{
	const char *verb = enable ? "enable" : "disable", *unmatched;
	struct hyptrace_remote *remote;
	struct hyptrace_event *events;
	struct hyptrace_error err;
	unsigned int nr_events, nr;
	const char **names;
	int code;

	code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	if (hyptrace_get_events(ctx->nl, remote->name, &events, &nr_events, &err)) {
		code = cmd_fail("cannot list the events of \"%s\": %s", remote->name, err.text);
		goto free_remote;
	}

	names = select_events(events, nr_events, words->words, words->nr, &nr, &unmatched);
	if (!names)
		code = cmd_fail("cannot %s \"%s\": no event matches", verb, unmatched);
	else if (hyptrace_set_events(ctx->nl, remote->name, names, nr, enable, &err))
		code = cmd_fail_verb(verb, nr == 1 ? names[0] : remote->name, &err);
	free(names);
	hyptrace_free_events(events, nr_events);
free_remote:
	hyptrace_free_remotes(remote, 1);
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
		.args_doc = "enable EVENT...",
		.doc = "Enable events. EVENT is a name, a glob such as 'hyp_*', or all. Nothing changes if one of them is unknown.",
	};

	return run(ctx, &argp, argc, argv, true);
}

int cmd_disable(struct context *ctx, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "disable EVENT...",
		.doc = "Disable events. EVENT is a name, a glob such as 'hyp_*', or all. Nothing changes if one of them is unknown.",
	};

	return run(ctx, &argp, argc, argv, false);
}
