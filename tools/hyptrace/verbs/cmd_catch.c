// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace catch: wait for certain events, and print each of them with what surrounds it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/text.h"
#include "session/choice.h"
#include "session/select.h"
#include "view/catch/catch.h"

/* Events after each one at most */
#define AFTER_MAX	1000

enum {
	OPT_AFTER = 0x200,
	OPT_FROM,
	OPT_TO,
};

#define FROM_HELP \
	"With --input: begin at this time: 12.5 (of the clock), +10ms (after the first event) or -1s (before the last one)"

#define EVENT_HELP \
	"Enable these events, too: names, globs or all, with commas between them; may be repeated"

static const struct argp_option options[] = {
	{ "after", OPT_AFTER, "N", 0, "Print N events that its CPU records after it, too", 0 },
	{ "count", 'n', "N", 0, "End after N events", 0 },
	{ "event", 'e', "EVENT", 0, EVENT_HELP, 0 },
	{ "file", 'o', "FILE", 0, "Save what the rings hold around each event to FILE", 0 },
	{ "input", 'i', "FILE", 0, "Find the events in a trace file", 0 },
	{ "from", OPT_FROM, "TIME", 0, FROM_HELP, 0 },
	{ "to", OPT_TO, "TIME", 0, "With --input: end at this time, likewise", 0 },
	{ "quiet", 'q', NULL, 0, "Print no notes; losses and errors are still printed", 0 },
	{ 0 }
};

static error_t parse_moment(const char *arg, struct moment *moment)
{
	if (moment_parse(arg, moment))
		return 0;
	return cmd_usage("bad time \"%s\": use seconds, +TIME (after the first event) or -TIME (before the last one), such as 12.5, +10ms or -1s",
			 arg);
}

/* Parse "EVENT && FILTER": whoever evaluates the filter parses that. */
static error_t parse_condition(struct catcher *c, const char *arg)
{
	static const char blanks[] = " \t\n";
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const char *begin = arg + strspn(arg, blanks), *rest;

	c->what = arg;
	c->name = strndup(begin, strspn(begin, letters));
	if (!c->name)
		die_no_memory();
	rest = begin + strlen(c->name);
	rest += strspn(rest, blanks);
	if (*c->name && !*rest)
		return 0;
	if (!*c->name || strncmp(rest, "&&", 2))
		return cmd_usage("bad condition \"%s\": use EVENT, or EVENT && FILTER, such as \"host_hcall && duration > 50us\"",
				 arg);
	c->text = rest + 2;
	return 0;
}

static error_t parse_argument(struct catcher *c, char *arg, struct argp_state *state)
{
	/* argp has moved the arguments before "--" behind it, in their order */
	if (state->quoted && state->next > state->argc - c->command_len) {
		c->child.argv = &state->argv[state->argc - c->command_len];
		state->next = state->argc;
		return 0;
	}
	if (c->what)
		return cmd_usage("unexpected argument \"%s\": quote the condition, and put \"--\" before a command",
				 arg);
	return parse_condition(c, arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct catcher *c = state->input;

	switch (key) {
	case 'q':
		c->lines.quiet = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->lines;
		return 0;
	case OPT_AFTER:
		if (!parse_number(arg, AFTER_MAX, &c->after))
			return cmd_usage("bad --after \"%s\": use a number of events up to %d", arg,
					 AFTER_MAX);
		return 0;
	case OPT_FROM:
		return parse_moment(arg, &c->from);
	case OPT_TO:
		return parse_moment(arg, &c->to);
	case 'i':
		c->input = arg;
		return *arg ? 0 : cmd_usage("the name of the file is empty");
	case 'n':
		if (!parse_number(arg, UINT64_MAX, &c->limit) || !c->limit)
			return cmd_usage("bad count \"%s\": use a number from 1", arg);
		return 0;
	case 'e':
		return cmd_add_words(&c->words, arg);
	case 'o':
		c->path = arg;
		if (!*arg)
			return cmd_usage("the name of the file is empty");
		if (!strcmp(arg, "-"))
			return cmd_usage("the standard output has the events that are caught: name a file");
		return 0;
	case ARGP_KEY_ARG:
		return parse_argument(c, arg, state);
	case ARGP_KEY_END:
		if (c->input && (c->path || c->words.nr || c->child.argv))
			return cmd_usage("--input reads a file: it takes no --file, no --event and no command");
		if (!c->input && (c->from.kind || c->to.kind))
			return cmd_usage("--from and --to are for --input");
		if (!c->what)
			return cmd_usage("no event given: use a name, or a name and a condition, such as \"host_hcall && duration > 50us\"");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &lines_time_argp, 0, NULL, 0 },
	{ 0 }
};

#define DOC \
	"Wait for events that meet a condition, until a signal comes, or COMMAND has ended. Print each of them with what its CPU recorded before, what the other CPUs recorded meanwhile, and how long such events usually take. EL2 itself looks for them, and the recording does not stop. At the end all events are enabled and filtered as before. With --input, find such events in a file instead. With COMMAND, its exit code is returned."

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "'EVENT [&& FILTER]' [-- COMMAND...]",
	.doc = DOC,
};

/* Put the words of the command line together. */
static char *join(int argc, char **argv)
{
	char *text;
	size_t len;
	FILE *f = text_open(&text, &len);
	int i;

	fputs("hyptrace catch", f);
	for (i = 0; i < argc; i++)
		fprintf(f, " %s", argv[i]);
	text_close(f);
	return text;
}

/* Count the words after "--". */
static int count_command(int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return argc - i - 1;
	return 0;
}

/* Catch them while they happen. Return an exit code. */
static int run_live(struct catcher *c)
{
	int code;

	/* the standard output has the events */
	c->child.no_stdout = true;
	code = child_prepare(&c->child);
	if (!code)
		code = cmd_connect(c->ctx);
	if (!code)
		code = catch_live(c);
	/* a signal also ends the command */
	child_stop(&c->child);
	return code ? code : c->child.code;
}

static void free_catcher(struct catcher *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_cpus; i++)
		hyptrace_decoder_free(c->cpus[i].dec);
	free(c->cpus);
	catch_finder_free(c->finder);
	hyptrace_filter_free(c->filter);
	free(c->words.words);
	free(c->name);
	free(c->command);
}

static int cmd_catch(struct context *ctx, int argc, char **argv)
{
	struct catcher c = { .ctx = ctx, .child.pidfd = -1 };
	int code;

	c.command = join(argc - 1, argv + 1);
	c.command_len = count_command(argc, argv);
	cmd_parse(ctx, &argp, argc, argv, &c);
	code = c.input ? catch_file(&c) : run_live(&c);
	free_catcher(&c);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "catch", cmd_catch, "Wait for events, and print what surrounds them.",
	  VERB_WATCH + 5, true },
};
