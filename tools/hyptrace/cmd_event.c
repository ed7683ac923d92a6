// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace enable and disable: enable or disable events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "text.h"

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
		return cmd_usage("no event given: use names, globs such as \"hyp_*\", or all");
	}
	return ARGP_ERR_UNKNOWN;
}

static int fail_unknown(const char *verb, const struct event_choice *choice)
{
	unsigned int i;
	size_t len;
	char *list;
	FILE *f;

	if (choice->nr_unknown == 1)
		return cmd_fail("cannot %s \"%s\": %s", verb, choice->unknown[0],
				strpbrk(choice->unknown[0], "*?[") ? "no event matches" :
				"no such event");
	f = text_open(&list, &len);
	for (i = 0; i < choice->nr_unknown; i++)
		fprintf(f, "%s\"%s\"", i ? ", " : "", choice->unknown[i]);
	text_close(f);
	cmd_note("cannot %s %s: no such events", verb, list);
	free(list);
	return EXIT_REFUSED;
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

	select_events(events, nr_events, words->words, words->nr, &choice);
	if (choice.nr_unknown)
		code = fail_unknown(verb, &choice);
	else if (hyptrace_set_events(ctx->h, remote->name, choice.names, choice.nr, enable, &err))
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
