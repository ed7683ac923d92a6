// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hyptrace command: global options, the table of verbs, and the exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

const char *argp_program_version = "hyptrace " HYPTRACE_VERSION;

struct verb {
	const char	*name;
	int		(*run)(struct context *ctx, int argc, char **argv);
	const char	*help;
	bool		takes_cpus;
};

static int cmd_help(struct context *ctx, int argc, char **argv);

static const struct verb verbs[] = {
	{ "list",	cmd_list,	"List remotes and their events, enabled or not.", false },
	{ "enable",	cmd_enable,	"Enable events: names, globs or all.", false },
	{ "disable",	cmd_disable,	"Disable events: names, globs or all.", false },
	{ "start",	cmd_start,	"Start tracing.", false },
	{ "stop",	cmd_stop,	"Stop tracing; events can still be read.", false },
	{ "load",	cmd_load,	"Allocate the rings.", false },
	{ "unload",	cmd_unload,	"Stop tracing and free the rings.", false },
	{ "clear",	cmd_clear,	"Throw away events and counters.", true },
	{ "reset",	cmd_reset,	"Stop, unload, disable events, default settings.", false },
	{ "set",	cmd_set,	"Change size, mode or rate.", false },
	{ "status",	cmd_status,	"Show states, sizes and counters.", true },
	{ "stream",	cmd_stream,	"Print events as they happen.", true },
	{ "show",	cmd_show,	"Print what is in the rings, and leave it there.", true },
	{ "monitor",	cmd_monitor,	"Print changes of state as they happen.", false },
	{ "mark",	cmd_mark,	"Have a selftest event written.", true },
	{ "help",	cmd_help,	"Print help: on all verbs, or on one.", false },
};

#define NR_VERBS	(sizeof(verbs) / sizeof(verbs[0]))

enum {
	OPT_COLOR = 0x100,
};

/* Index of --cpu, which is hidden for verbs that do not take it */
#define GLOBAL_CPU	0

static struct argp_option global_options[] = {
	{ "cpu",	'C',	"LIST",		0, "Work on these CPUs: 0,2-3 or all", 0 },
	{ "json",	'j',	NULL,		0, "Print JSON", 0 },
	{ "pretty",	'p',	NULL,		0, "Print JSON, indented", 0 },
	{ "remote",	'r',	"REMOTE",	0, "Work on this remote", 0 },
	{ "color",	OPT_COLOR, "WHEN",	0, "Use colours: auto, always or never", 0 },
	{ 0 }
};

static bool color_auto(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
	       !(term && !strcmp(term, "dumb"));
}

static error_t parse_global(int key, char *arg, struct argp_state *state)
{
	struct context *ctx = state->input;

	switch (key) {
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
			argp_error(state, "bad CPU list \"%s\": write 0,2-3 or all", arg);
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
			argp_error(state, "bad choice \"%s\": write auto, always or never", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The options of all verbs */
static const struct argp global_argp = {
	.options = global_options,
	.parser = parse_global,
};

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
		return 0;
	case ARGP_KEY_SUCCESS:
		if (both->ctx->have_cpus && !both->ctx->takes_cpus)
			argp_error(state, "this verb does not take --cpu");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/**
 * cmd_parse - parse the arguments of a verb
 * @ctx:	receives the global options
 * @argp:	the verb's own options and arguments
 * @argc:	as given to the verb
 * @argv:	as given to the verb
 * @input:	input of the verb's parser
 *
 * The parser exits with a message if an argument is not valid.
 */
void cmd_parse(struct context *ctx, const struct argp *argp, int argc, char **argv, void *input)
{
	struct argp_child children[] = {
		{ argp, 0, NULL, 0 },
		{ &global_argp, 0, "Options of all verbs:", 1 },
		{ 0 }
	};
	struct argp both = {
		.parser = parse_inputs,
		.args_doc = argp->args_doc,
		.doc = argp->doc ? argp->doc : ctx->help,
		.children = children,
	};
	struct argp own = *argp;
	struct verb_input inputs = { ctx, input };

	/* the outer parser prints these */
	own.args_doc = NULL;
	own.doc = NULL;
	children[0].argp = &own;
	/* --cpu is hidden but still parsed, so that the error message can name it */
	if (!ctx->takes_cpus)
		global_options[GLOBAL_CPU].flags = OPTION_HIDDEN;
	argp_parse(&both, argc, argv, 0, NULL, &inputs);
	global_options[GLOBAL_CPU].flags = 0;
}

static error_t parse_nothing(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	argp_error(state, "unexpected argument \"%s\"", arg);
	return 0;
}

/**
 * cmd_no_arguments - parse the arguments of a verb that takes only global options
 * @ctx:	receives the global options
 * @doc:	the verb; the table of verbs says what it does
 * @argc:	as given to the verb
 * @argv:	as given to the verb
 */
void cmd_no_arguments(struct context *ctx, const char *doc, int argc, char **argv)
{
	const struct argp argp = { .parser = parse_nothing, .args_doc = doc };

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
		return 0;
	case ARGP_KEY_ARG:
		/* the verb parses the rest */
		input->verb = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a verb is missing");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static char *list_verbs(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t len, i;
	FILE *f;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	f = open_memstream(&list, &len);
	if (!f)
		die_no_memory();
	fputs("Verbs:\n", f);
	for (i = 0; i < NR_VERBS; i++)
		fprintf(f, "  %-10s %s\n", verbs[i].name, verbs[i].help);
	fputs("\n\"hyptrace help VERB\" tells more of a verb.", f);
	fclose(f);
	return list;
}

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
	const char *names[NR_VERBS], *near;
	size_t i;

	for (i = 0; i < NR_VERBS; i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		names[i] = verbs[i].name;
	}

	near = nearest(name, names, NR_VERBS);
	if (near)
		cmd_note("unknown verb \"%s\"; did you mean \"%s\"?", name, near);
	else
		cmd_note("unknown verb \"%s\"; see hyptrace --help", name);
	return NULL;
}

static int run_verb(struct context *ctx, const struct verb *verb, int argc, char **argv)
{
	ctx->takes_cpus = verb->takes_cpus;
	ctx->help = verb->help;
	/* argp begins its messages with argv[0] */
	argv[0] = "hyptrace";
	return verb->run(ctx, argc, argv);
}

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	char **verb = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*verb)
		argp_error(state, "unexpected argument \"%s\"", arg);
	*verb = arg;
	return 0;
}

static int cmd_help(struct context *ctx, int argc, char **argv)
{
	static const struct argp argp = { .parser = parse_help, .args_doc = "help [VERB]" };
	char option[] = "--help", *help[] = { argv[0], option, NULL };
	struct main_input input = { .ctx = ctx };
	const struct verb *verb;
	char *name = NULL;

	cmd_parse(ctx, &argp, argc, argv, &name);
	/* argp exits after it has printed the help, here and below */
	if (!name)
		return argp_parse(&main_argp, 2, help, 0, NULL, &input);
	verb = find_verb(name);
	return verb ? run_verb(ctx, verb, 2, help) : EXIT_USAGE;
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
	/* a closed pipe is no failure: its reader has seen enough */
	if (!ctx->out.error || ctx->out.error == EPIPE)
		return code;
	return cmd_fail("cannot write the output: %s", strerror(ctx->out.error));
}

int main(int argc, char **argv)
{
	static struct context ctx;
	struct main_input input = { .ctx = &ctx };
	const struct verb *verb;
	int code;

	occupy_standard_fds();
	argp_err_exit_status = EXIT_USAGE;
	atexit(close_stdout);
	signal(SIGPIPE, SIG_IGN);
	ctx.color = color_auto();

	argv[0] = "hyptrace";
	argp_parse(&main_argp, argc, argv, ARGP_IN_ORDER, NULL, &input);
	verb = find_verb(argv[input.verb]);
	if (!verb)
		return EXIT_USAGE;

	out_init(&ctx.out, STDOUT_FILENO);
	code = run_verb(&ctx, verb, argc - input.verb, argv + input.verb);

	code = finish_output(&ctx, code);
	printer_free(ctx.p);
	hyptrace_close(ctx.h);
	cpu_list_free(&ctx.cpus);
	return code;
}
