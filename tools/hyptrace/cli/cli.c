// SPDX-License-Identifier: GPL-2.0-only
/* The command line: the options of all verbs, and the parser of a verb's own. */
#include "output/columns.h"
#include "output/die.h"
#include "cli.h"

enum {
	OPT_COLOR = 0x100,
	OPT_COLUMNS,
	OPT_PRETTY,
};

/* Index of --cpu, which is hidden for verbs that do not take it */
#define GLOBAL_CPU	0

static const struct argp_option global_options[] = {
	{ "cpu",	'C',	"LIST",		0, "Only these CPUs, such as 0,2-3 or all", 0 },
	{ "json",	'j',	NULL,		0, "Print JSON", 0 },
	{ "pretty",	OPT_PRETTY, NULL,	0, "Print indented JSON", 0 },
	{ NULL,		'p',	NULL,		OPTION_HIDDEN, NULL, 0 },
	{ "remote",	'r',	"REMOTE",	0, "Use this remote", 0 },
	{ "color",	OPT_COLOR, "WHEN",	0, "Use colours: auto, always or never", 0 },
	{ "help",	'h',	NULL,		0, "Print this help", 0 },
	{ "version",	'V',	NULL,		0, "Print the version", 0 },
	{ 0 }
};

#define NR_GLOBAL_OPTIONS	(sizeof(global_options) / sizeof(global_options[0]))

/* The output is a terminal that shows colours, and NO_COLOR is not set. */
bool cmd_color_auto(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
	       !(term && !strcmp(term, "dumb"));
}

static error_t parse_global(int key, char *arg, struct argp_state *state)
{
	struct context *ctx = state->input;

	switch (key) {
	case 'h':
		/* it exits */
		state->name = xasprintf(ctx->verb ? PROGRAM " %s" : PROGRAM,
					ctx->verb ? ctx->verb->name : NULL);
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case 'V':
		puts(PROGRAM " " HYPTRACE_VERSION);
		exit(EXIT_DONE);
	case 'p':
		return cmd_usage("--pretty has no letter: -p is --pid of strace");
	case OPT_PRETTY:
	case 'j':
		ctx->pretty |= key == OPT_PRETTY;
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
		ctx->color = !strcmp(arg, "always") || (!strcmp(arg, "auto") && cmd_color_auto());
		return ctx->color || !strcmp(arg, "never") || !strcmp(arg, "auto") ? 0 :
		       cmd_usage("bad choice \"%s\": use auto, always or never", arg);
	case ARGP_KEY_ARG:
		/* the parser of the verb has refused it */
		return cmd_usage("unexpected argument \"%s\"", arg);
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp cmd_global_argp = {
	.options = global_options,
	.parser = parse_global,
};

struct verb_input {
	struct context	*ctx;
	void		*input;		/* of the parser of the verb's own options */
	void		*more;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	const struct verb_input *own = state->input;
	const argp_parser_t parser = own->ctx->verb->argp.parser;

	if (cmd_set_flag(key, own->input))
		return 0;
	state->input = own->input;
	return parser ? parser(key, arg, state) : ARGP_ERR_UNKNOWN;
}

static error_t parse_inputs(int key, char *arg, struct argp_state *state)
{
	struct verb_input *both = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = both->more;
		state->child_inputs[1] = both;
		state->child_inputs[2] = (char *)both->input + both->ctx->verb->child_input;
		state->child_inputs[3] = both->ctx;
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
char *cmd_drop_remark(int key, const char *text, void *input)
{
	(void)input;
	return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

void cmd_exit_usage(const struct verb *verb)
{
	fprintf(stderr, "Try \"" PROGRAM " help%s%s\".\n", verb ? " " : "", verb ? verb->name : "");
	exit(EXIT_USAGE);
}

static error_t parse_columns(int key, char *arg, struct argp_state *state)
{
	auto_free char *names = NULL;
	const char *bad;
	size_t len;

	switch (key) {
	case OPT_COLUMNS:
		if (columns_parse(state->input, arg, &bad, &len))
			return 0;
		names = columns_names(state->input, "");
		return cmd_usage("unknown column \"%.*s\": use some of %s", (int)len, bad, names);
	case 'o':
		return cmd_usage("-o and --output write to a file: use --columns=%s", arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static char *help_columns(int key, const char *text, void *input)
{
	return key != OPT_COLUMNS ? (char *)text :
	       columns_names(input, "Print only a table with these columns, of ");
}

static const struct argp_option columns_options[] = {
	{ "columns", OPT_COLUMNS, "COLUMNS", 0, "", 0 },
	{ "output", 'o', "COLUMNS", OPTION_HIDDEN, NULL, 0 },
	{ 0 }
};

const struct argp cmd_columns_argp = {
	.options = columns_options,
	.parser = parse_columns,
	.help_filter = help_columns,
};

/* Exit if an argument is not valid. @more takes its own arguments first; it may be NULL. */
void cmd_parse(struct context *ctx, int argc, char **argv, void *input, const struct argp *more,
	       void *more_input)
{
	static const struct argp none;
	struct argp_option options[NR_GLOBAL_OPTIONS];
	const struct argp global = { .options = options, .parser = parse_global };
	const struct argp *argp = &ctx->verb->argp;
	const struct argp own = { .options = argp->options, .parser = parse_own,
				  .help_filter = argp->help_filter };
	const struct argp_child children[] = {
		{ more ?: &none, 0, NULL, 0 },
		{ &own, 0, NULL, 0 },
		{ ctx->verb->child ?: &none, 0, NULL, 0 },
		{ &global, 0, "Options of all verbs:", 1 },
		{ 0 }
	};
	const struct argp both = {
		.parser = parse_inputs,
		.args_doc = argp->args_doc,
		.doc = argp->doc ? argp->doc : ctx->verb->help,
		.children = children,
		.help_filter = cmd_drop_remark,
	};
	struct verb_input inputs = { ctx, input, more_input };
	unsigned int flags = ARGP_NO_HELP;

	memcpy(options, global_options, sizeof(options));
	/* --cpu is hidden but still parsed, so that the error message can name it */
	if (!ctx->verb->takes_cpus)
		options[GLOBAL_CPU].flags = OPTION_HIDDEN;
	/* a command without "--": name it, and not the first of its options */
	if (argp->args_doc && !strcmp(argp->args_doc, ARGS_COMMAND))
		flags |= ARGP_IN_ORDER;
	if (argp_parse(&both, argc, argv, flags, NULL, &inputs))
		cmd_exit_usage(ctx->verb);
}
