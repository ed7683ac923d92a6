// SPDX-License-Identifier: GPL-2.0-only
/* The hyptrace command: find and run a verb. */
#include <fcntl.h>

#include "lib/hyptrace.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/printer.h"

/* The linker puts the verbs of all files together. */
extern const struct verb __start_all_verbs[], __stop_all_verbs[];

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
	static const char *const titles[] = {
		[VERB_CONTROL / VERBS_OF_GROUP]	= "Control:",
		[VERB_WATCH / VERBS_OF_GROUP]	= "Watch, as it happens:",
		[VERB_FILES / VERBS_OF_GROUP]	= "Files; strace, stat, top, catch, page and leaks read them, too:",
	};
	const struct verb *verb;
	unsigned int group, i;
	char *list;
	FILE *f;

	if (key != ARGP_KEY_HELP_POST_DOC)
		return cmd_drop_remark(key, text, input);
	f = text_open(&list);
	fputs("Verbs:\n", f);
	for (group = 0; group < sizeof(titles) / sizeof(titles[0]); group++) {
		fprintf(f, " %s\n", titles[group]);
		for (i = group * VERBS_OF_GROUP; i < (group + 1) * VERBS_OF_GROUP; i++)
			for (verb = __start_all_verbs; verb < __stop_all_verbs; verb++)
				if (verb->place == i)
					fprintf(f, "  %-10s %s\n", verb->name, verb->help);
	}
	fputs("\n\"" PROGRAM " help VERB\" prints the help on a verb.", f);
	text_close(f, &list);
	return list;
}

static const struct argp main_argp = {
	.parser = parse_main,
	.args_doc = "VERB [ARGUMENT...]",
	.doc = "Trace the pKVM hypervisor.\v.",
	.children = (const struct argp_child[]){ { &cmd_global_argp, 0, NULL, 0 }, { 0 } },
	.help_filter = list_verbs,
};

static const struct verb *find_verb(const char *name)
{
	const struct verb *verb;
	const char *near = NULL;

	for (verb = __start_all_verbs; verb < __stop_all_verbs; verb++) {
		if (!strcmp(verb->name, name))
			return verb;
		near = hyptrace_nearest(name, near, verb->name);
	}
	cmd_note(near ? "unknown verb \"%s\"; did you mean \"%s\"?" : "unknown verb \"%s\"", name,
		 near);
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

	if (key != ARGP_KEY_ARG || *verb)
		return ARGP_ERR_UNKNOWN;
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
	char option[] = "--help", *help[] = { argv[0], option, NULL };
	struct main_input input = { .ctx = ctx };
	char *name = NULL;

	cmd_parse(ctx, argc, argv, &name, NULL, NULL);
	/* the parser exits after it has printed the help, here and below */
	if (name)
		return run_verb(ctx, find_verb(name), 2, help);
	ctx->verb = NULL;
	parse_main_arguments(&input, 2, help);
	return EXIT_DONE;
}

static const struct verb verbs[] VERBS = {
	{ "help", cmd_help, "Print help on all verbs or on one.", .place = VERB_CONTROL + 13,
	  .argp = { .parser = parse_help, .args_doc = "[VERB]" } },
};

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

int main(int argc, char **argv)
{
	static struct context ctx;
	struct main_input input = { .ctx = &ctx };
	int code;

	occupy_standard_fds();
	atexit(close_stdout);
	/* a closed pipe and a limit of the file size are errors of write() */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* who started this may ignore it, and then no child leaves its exit code */
	signal(SIGCHLD, SIG_DFL);
	ctx.color = cmd_color_auto();

	argv[0] = PROGRAM;
	parse_main_arguments(&input, argc, argv);
	out_init(&ctx.out, STDOUT_FILENO);
	code = run_verb(&ctx, find_verb(argv[input.verb]), argc - input.verb, argv + input.verb);

	out_flush(&ctx.out);
	if (out_has_failed(&ctx.out))
		code = cmd_fail("cannot write the output: %s", strerror(ctx.out.error));
	printer_free(ctx.p);
	out_free(&ctx.out);
	hyptrace_close(ctx.h);
	cpu_list_free(&ctx.cpus);
	return code;
}
