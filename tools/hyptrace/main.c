// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hyptrace command: global options, the table of verbs, and the exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/internal.h"
#include "cmd.h"
#include "text.h"

#define PROGRAM	"hyptrace"

struct verb {
	const char	*name;
	int		(*run)(struct context *ctx, int argc, char **argv);
	const char	*help;
	bool		takes_cpus;
};

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

enum {
	OPT_COLOR = 0x100,
};

/* Index of --cpu, which is hidden for verbs that do not take it */
#define GLOBAL_CPU	0

static const struct argp_option global_options[] = {
	{ "cpu",	'C',	"LIST",		0, "Only these CPUs, such as 0,2-3 or all", 0 },
	{ "json",	'j',	NULL,		0, "Print JSON", 0 },
	{ "pretty",	'p',	NULL,		0, "Print indented JSON", 0 },
	{ "remote",	'r',	"REMOTE",	0, "Use this remote", 0 },
	{ "color",	OPT_COLOR, "WHEN",	0, "Use colours: auto, always or never", 0 },
	{ "help",	'h',	NULL,		0, "Print this help", 0 },
	{ "version",	'V',	NULL,		0, "Print the version", 0 },
	{ 0 }
};

#define NR_GLOBAL_OPTIONS	(sizeof(global_options) / sizeof(global_options[0]))

static bool color_auto(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
	       !(term && !strcmp(term, "dumb"));
}

static void print_help(const struct context *ctx, struct argp_state *state)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", PROGRAM, ctx->verb ? " " : "",
		 ctx->verb ? ctx->verb->name : "");
	state->name = name;
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
}

static error_t parse_global(int key, char *arg, struct argp_state *state)
{
	struct context *ctx = state->input;

	switch (key) {
	case 'h':
		print_help(ctx, state);
		return 0;
	case 'V':
		puts(PROGRAM " " HYPTRACE_VERSION);
		exit(EXIT_DONE);
	case 'p':
		ctx->pretty = true;
		ctx->json = true;
		return 0;
	case 'j':
		ctx->json = true;
		return 0;
	case 'r':
		ctx->remote = arg;
		return 0;
	case 'C':
		cpu_list_free(&ctx->cpus);
		if (!parse_cpu_list(arg, &ctx->cpus))
			return cmd_usage("bad CPU list \"%s\": use a list such as 0,2-3 or all",
					 arg);
		ctx->have_cpus = true;
		return 0;
	case OPT_COLOR:
		if (!strcmp(arg, "always"))
			ctx->color = true;
		else if (!strcmp(arg, "never"))
			ctx->color = false;
		else if (!strcmp(arg, "auto"))
			ctx->color = color_auto();
		else
			return cmd_usage("bad choice \"%s\": use auto, always or never", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

struct verb_input {
	struct context	*ctx;
	void		*input;
};

/* Give each of the two parsers its own input. */
static error_t parse_inputs(int key, char *arg, struct argp_state *state)
{
	struct verb_input *both = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = both->input;
		state->child_inputs[1] = both->ctx;
		/* argp must not add its own hint to errors */
		state->err_stream = NULL;
		return 0;
	case ARGP_KEY_END:
		if (both->ctx->have_cpus && !both->ctx->verb->takes_cpus)
			return cmd_usage("the verb \"%s\" does not take --cpu",
					 both->ctx->verb->name);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Drop argp's remark that short options take the arguments of long ones. */
static char *drop_remark(int key, const char *text, void *input)
{
	(void)input;
	return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

static __attribute__((noreturn)) void exit_usage(const struct verb *verb)
{
	fprintf(stderr, "Try \"%s help%s%s\".\n", PROGRAM, verb ? " " : "",
		verb ? verb->name : "");
	exit(EXIT_USAGE);
}

/**
 * cmd_usage - print what is wrong with the command line
 * @fmt:	as for printf()
 *
 * Return: the error for the parser to return.
 */
error_t cmd_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cmd_vnote(fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/**
 * cmd_parse_columns - parse the argument of --output
 * @columns:	the columns of the table
 * @list:	the argument
 *
 * Return: the error for the parser to return, 0 if the list is valid.
 */
error_t cmd_parse_columns(struct columns *columns, const char *list)
{
	const char *bad;
	char *names;
	size_t len;

	if (columns_parse(columns, list, &bad, &len))
		return 0;
	names = columns_names(columns, "");
	cmd_note("unknown column \"%.*s\": use some of %s", (int)len, bad, names);
	free(names);
	return -EINVAL;
}

/**
 * cmd_parse - parse the arguments of a verb
 * @ctx:	receives the global options
 * @argp:	the verb's own options and arguments
 * @argc:	as given to the verb
 * @argv:	as given to the verb
 * @input:	input of the verb's parser
 *
 * The function exits if an argument is not valid.
 */
void cmd_parse(struct context *ctx, const struct argp *argp, int argc, char **argv, void *input)
{
	struct argp_option options[NR_GLOBAL_OPTIONS];
	const struct argp global = { .options = options, .parser = parse_global };
	struct argp own = *argp;
	const struct argp_child children[] = {
		{ &own, 0, NULL, 0 },
		{ &global, 0, "Options of all verbs:", 1 },
		{ 0 }
	};
	const struct argp both = {
		.parser = parse_inputs,
		.args_doc = argp->args_doc,
		.doc = argp->doc ? argp->doc : ctx->verb->help,
		.children = children,
		.help_filter = drop_remark,
	};
	struct verb_input inputs = { ctx, input };
	unsigned int flags = ARGP_NO_HELP;

	/* the outer parser prints these */
	own.args_doc = NULL;
	own.doc = NULL;
	memcpy(options, global_options, sizeof(options));
	/* --cpu is hidden but still parsed, so that the error message can name it */
	if (!ctx->verb->takes_cpus)
		options[GLOBAL_CPU].flags = OPTION_HIDDEN;
	/* a command without "--": name it, and not the first of its options */
	if (argp->args_doc && !strcmp(argp->args_doc, ARGS_COMMAND))
		flags |= ARGP_IN_ORDER;
	if (argp_parse(&both, argc, argv, flags, NULL, &inputs))
		exit_usage(ctx->verb);
}

static error_t parse_nothing(int key, char *arg, struct argp_state *state)
{
	(void)state;
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	return cmd_usage("unexpected argument \"%s\"", arg);
}

/**
 * cmd_no_arguments - parse the arguments of a verb that takes only global options
 * @ctx:	receives the global options
 * @argc:	as given to the verb
 * @argv:	as given to the verb
 */
void cmd_no_arguments(struct context *ctx, int argc, char **argv)
{
	const struct argp argp = { .parser = parse_nothing };

	cmd_parse(ctx, &argp, argc, argv, NULL);
}

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
		return drop_remark(key, text, input);
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

static const struct argp global_argp = {
	.options = global_options,
	.parser = parse_global,
};

static const struct argp_child main_children[] = {
	{ &global_argp, 0, NULL, 0 },
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
	struct hyptrace_nearest near;
	size_t i;

	hyptrace_nearest_begin(&near, name, strlen(name));
	for (i = 0; i < NR_VERBS; i++) {
		if (!verbs[i].name)
			continue;
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		hyptrace_nearest_try(&near, verbs[i].name);
	}

	if (near.found)
		cmd_note("unknown verb \"%s\"; did you mean \"%s\"?", name, near.found);
	else
		cmd_note("unknown verb \"%s\"", name);
	exit_usage(NULL);
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
		exit_usage(NULL);
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
	ctx.color = color_auto();

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
