/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: the options of all verbs, and the parser of a verb's own.
 */
#ifndef CLI_H
#define CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "output/out.h"
#include "args.h"

#define PROGRAM	"hyptrace"

/* What "hyptrace names" has printed, and the line in it that says of which kernel it is */
#define NAMES_VARIABLE	"HYPTRACE_NAMES"
#define NAMES_RELEASE	"# hypercalls of Linux "

struct context;
struct printer;

/* The groups of verbs in the help */
#define VERBS_OF_GROUP	100
#define VERB_CONTROL	0
#define VERB_WATCH	VERBS_OF_GROUP
#define VERB_FILES	(2 * VERBS_OF_GROUP)

struct verb {
	const char	*name;
	int		(*run)(struct context *ctx, int argc, char **argv);	/* exit code */
	const char	*help;		/* what it does, in one sentence */
	unsigned int	place;		/* in the help: group, and place in it */
	bool		takes_cpus;	/* --cpu */
};

/*
 * Each file with verbs has a table of them:
 *
 *	static const struct verb verbs[] VERBS = {
 *		{ "mark", cmd_mark, "Write selftest events.", VERB_CONTROL + 12, true },
 *	};
 *
 * The linker puts the tables together, so their alignment must leave no gaps.
 */
#define VERBS	__attribute__((used, section("all_verbs"), aligned(sizeof(void *))))

/* The global options and the resources of a verb */
struct context {
	struct hyptrace		*h;	/* the connection, opened by cmd_connect() */
	struct printer		*p;
	struct out		out;	/* the output that the printer writes to */
	const char		*remote;	/* --remote, or NULL */
	struct cpu_list		cpus;	/* --cpu, if have_cpus */
	bool			have_cpus;
	bool			is_tracefs;	/* the connection is to a tracer in tracefs */
	bool			is_dump;	/* it is to a dump of memory */
	const struct verb	*verb;
	bool			json;
	bool			pretty;	/* indented JSON */
	bool			color;
	bool			csv;	/* tables, without json */
};

/* The key of an option without a letter that sets a bool in the input of the verb's parser */
#define OPTION_FLAG(type, member)	((int)(FLAGS_BEGIN + offsetof(type, member)))
#define FLAGS_BEGIN	0x10000
#define FLAGS_END	0x800000

/* Set the bool if the key is such a key, else return false. */
static inline bool cmd_set_flag(int key, void *input)
{
	const bool is_flag = key >= FLAGS_BEGIN && key < FLAGS_END;

	if (is_flag)
		((bool *)input)[key - FLAGS_BEGIN] = true;
	return is_flag;
}

/* The arguments of a verb that takes nothing but a command */
#define ARGS_COMMAND	"[-- COMMAND...]"

extern const struct argp cmd_global_argp;
/* --columns: a child of the parser of each verb with a table; its input is struct columns */
extern const struct argp cmd_columns_argp;

bool cmd_color_auto(void);
char *cmd_drop_remark(int key, const char *text, void *input);
void cmd_exit_usage(const struct verb *verb) __attribute__((noreturn));
void cmd_parse(struct context *ctx, const struct argp *argp, int argc, char **argv, void *input);
void cmd_parse_more(struct context *ctx, const struct argp *argp, int argc, char **argv,
		    void *input, const struct argp *more, void *more_input);
error_t cmd_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* CLI_H */
