// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hyptrace command: the table of verbs, and the exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/hyptrace.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/message.h"
#include "output/printer.h"
#include "output/text.h"
#include "verbs/verbs.h"

static int cmd_help(struct context *ctx, int argc, char **argv);

/* A row without a name is the title of a group. */
static const struct verb verbs[] = {
	{ .help = "Watch, as it happens:" },
	{ "stream",	cmd_stream,	"Print events as they happen, and consume them.", true },
	{ "strace",	cmd_strace,	"Print hypercalls, firmware calls and guest exits.", true },
	{ "stat",	cmd_stat,	"Print where the time goes, live or from a file.", true },
	{ "top",	cmd_top,	"Show where the time goes, in place.", true },
	{ "catch",	cmd_catch,	"Wait for events, and print what surrounds them.", true },
	{ "count",	cmd_count,	"Count events at EL2, and print the counters.", true },
	{ "show",	cmd_show,	"Print what is in the rings without consuming it.", true },
	{ "who",	cmd_who,	"Print who owns a page, and how it got there.", false },
	{ "wait",	cmd_wait,	"Wait until triggers have fired.", false },
	{ "monitor",	cmd_monitor,	"Print changes of state as they happen.", false },
	{ .help = "Files; strace, stat and who read them, too:" },
	{ "record",	cmd_record,	"Write events to a file, and consume them.", true },
	{ "report",	cmd_report,	"Print the events of a file.", true },
	{ "export",	cmd_export,	"Write the events of a file for another program.", true },
	{ "dump",	cmd_dump,	"Print what a file says and how it is made.", true },
	{ .help = "Control:" },
	{ "list",	cmd_list,	"List remotes and their events.", false },
	{ "status",	cmd_status,	"Print states, sizes and counters.", true },
	{ "enable",	cmd_enable,	"Enable events, with a filter or a trigger.", false },
	{ "disable",	cmd_disable,	"Disable events, with their filters and triggers.", false },
	{ "start",	cmd_start,	"Start tracing: record enabled events.", false },
	{ "stop",	cmd_stop,	"Stop tracing; the events can still be read.", false },
	{ "load",	cmd_load,	"Allocate the rings.", false },
	{ "set",	cmd_set,	"Change the size, the mode or the rate.", false },
	{ "clear",	cmd_clear,	"Discard events and reset counters.", true },
	{ "unload",	cmd_unload,	"Stop tracing and free the rings.", false },
	{ "reset",	cmd_reset,	"Stop tracing, free the rings, restore defaults.", false },
	{ "mark",	cmd_mark,	"Write selftest events.", true },
	{ "help",	cmd_help,	"Print help on all verbs or on one.", false },
};

#define NR_VERBS	(sizeof(verbs) / sizeof(verbs[0]))

struct main_input {
	struct context	*ctx;
	int		verb;		/* its index in argv, 0 if there is none */
};

static error_t parse_main(int key, char *arg, struct argp_state *state)
{
	struct main_input *input = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = input->ctx;
		state->err_stream = NULL;
		return 0;
	case ARGP_KEY_ARG:
		/* the verb parses the rest */
		input->verb = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		return cmd_usage("a verb is missing");
	}
	return ARGP_ERR_UNKNOWN;
}

static char *list_verbs(int key, const char *text, void *input)
{
	size_t len, i;
	char *list;
	FILE *f;

	if (key != ARGP_KEY_HELP_POST_DOC)
		return cmd_drop_remark(key, text, input);
	f = text_open(&list, &len);
	fputs("Verbs:\n", f);
	for (i = 0; i < NR_VERBS; i++)
		if (verbs[i].name)
			fprintf(f, "  %-10s %s\n", verbs[i].name, verbs[i].help);
		else
			fprintf(f, " %s\n", verbs[i].help);
	fputs("\n\"" PROGRAM " help VERB\" prints the help on a verb.", f);
	text_close(f);
	return list;
}

static const struct argp_child main_children[] = {
	{ &cmd_global_argp, 0, NULL, 0 },
	{ 0 }
};

static const struct argp main_argp = {
	.parser = parse_main,
	.args_doc = "VERB [ARGUMENT...]",
	.doc = "Trace the pKVM hypervisor.\v.",
	.children = main_children,
	.help_filter = list_verbs,
};

static const struct verb *find_verb(const char *name)
{
	const char *near = NULL;
	size_t i;

	for (i = 0; i < NR_VERBS; i++) {
		if (!verbs[i].name)
			continue;
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		near = hyptrace_nearest(name, near, verbs[i].name);
	}

	if (near)
		cmd_note("unknown verb \"%s\"; did you mean \"%s\"?", name, near);
	else
		cmd_note("unknown verb \"%s\"", name);
	cmd_exit_usage(NULL);
}

static int run_verb(struct context *ctx, const struct verb *verb, int argc, char **argv)
{
	ctx->verb = verb;
	/* getopt begins its messages with argv[0] */
	argv[0] = PROGRAM;
	return verb->run(ctx, argc, argv);
}

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	char **verb = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*verb)
		return cmd_usage("unexpected argument \"%s\"", arg);
	*verb = arg;
	return 0;
}

static void parse_main_arguments(struct main_input *input, int argc, char **argv)
{
	if (argp_parse(&main_argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, input))
		cmd_exit_usage(NULL);
}

static int cmd_help(struct context *ctx, int argc, char **argv)
{
	static const struct argp argp = { .parser = parse_help, .args_doc = "[VERB]" };
	char option[] = "--help", *help[] = { argv[0], option, NULL };
	struct main_input input = { .ctx = ctx };
	char *name = NULL;

	cmd_parse(ctx, &argp, argc, argv, &name);
	/* the parser exits after it has printed the help, here and below */
	if (name)
		return run_verb(ctx, find_verb(name), 2, help);
	ctx->verb = NULL;
	parse_main_arguments(&input, 2, help);
	return EXIT_DONE;
}

/* argp prints help through stdio: report it if that cannot be written. */
static void close_stdout(void)
{
	if (fflush(stdout) && errno != EPIPE) {
		cmd_note("cannot write the output: %s", strerror(errno));
		_exit(EXIT_REFUSED);
	}
}

/*
 * Open /dev/null in place of each closed standard descriptor: a socket must not become
 * the standard output. It is open in the wrong direction, so that using it still fails.
 */
static void occupy_standard_fds(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static int finish_output(struct context *ctx, int code)
{
	out_flush(&ctx->out);
	if (!out_has_failed(&ctx->out))
		return code;
	return cmd_fail("cannot write the output: %s", strerror(ctx->out.error));
}

int main(int argc, char **argv)
{
	static struct context ctx;
	struct main_input input = { .ctx = &ctx };
	int code;

	occupy_standard_fds();
	atexit(close_stdout);
	signal(SIGPIPE, SIG_IGN);
	ctx.color = cmd_color_auto();

	argv[0] = PROGRAM;
	parse_main_arguments(&input, argc, argv);
	out_init(&ctx.out, STDOUT_FILENO);
	code = run_verb(&ctx, find_verb(argv[input.verb]), argc - input.verb, argv + input.verb);

	code = finish_output(&ctx, code);
	printer_free(ctx.p);
	hyptrace_close(ctx.h);
	cpu_list_free(&ctx.cpus);
	return code;
}
