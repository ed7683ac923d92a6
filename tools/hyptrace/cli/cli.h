/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: options of all verbs and of one; numbers, sizes, CPU lists, event names. */
#ifndef CLI_H
#define CLI_H

#include <argp.h>
#include <stdint.h>
#include <string.h>

#include "output/out.h"

#define PROGRAM	"hyptrace"

/* What "hyptrace names" has printed, and the line in it that says of which kernel it is */
#define NAMES_VARIABLE	"HYPTRACE_NAMES"
#define NAMES_RELEASE	"# hypercalls of Linux "

struct context;

/* args.c */

#define CPU_LIMIT	65536

/* The CPUs that --cpu names */
struct cpu_list {
	bool		all;		/* @ids is then empty */
	unsigned int	*ids;		/* ascending and each once */
	unsigned int	nr;
};

/* The events that words name; auto_choice: event_choice_free() at the end of the scope */
#define auto_choice	__attribute__((cleanup(event_choice_free)))

struct event_choice {
	const char	**names;	/* of the matching events, each once */
	const struct hyptrace_event	**events;	/* likewise */
	unsigned int	nr;
	const char	**unknown;	/* words that match no event, each once */
	unsigned int	nr_unknown;
};

bool parse_number(const char *s, uint64_t max, uint64_t *value);
bool parse_size(const char *s, uint64_t *bytes);
bool parse_time(const char *text, uint64_t *nsec);
bool parse_duration(const char *text, uint64_t *nsec);
bool parse_mode(const char *s, uint32_t *mode);
bool parse_cpu_list(const char *s, struct cpu_list *list);
bool cpu_list_has(const struct cpu_list *list, unsigned int cpu);
void cpu_list_free(struct cpu_list *list);

void select_events(struct hyptrace_event *const *events, unsigned int nr_events,
		   const char *const *words, unsigned int nr_words, struct event_choice *choice);
void event_choice_free(struct event_choice *choice);

static inline bool has_name(const char *const *names, unsigned int nr, const char *name)
{
	while (nr && strcmp(names[nr - 1], name))
		nr--;
	return nr;
}

static inline bool event_choice_has(const struct event_choice *choice, const char *name)
{
	return has_name(choice->names, choice->nr, name);
}

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
	int		cmd;		/* of the driver, if the verb only sends that */
	unsigned int	takes;		/* enum session_takes, if it has a session */
	struct argp	argp;		/* its own options and arguments, and longer help */
	const struct argp *child;	/* options that it shares with other verbs, or NULL */
	size_t		child_input;	/* place of their input in that of its parser */
};

/* For the table in each file with verbs. The linker joins the tables: there must be no gaps. */
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
	const char		*dump;	/* the dump of memory that it is to, or NULL */
	char			**missing;	/* what the dump lacks, as sentences */
	unsigned int		nr_missing;
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
void cmd_parse(struct context *ctx, int argc, char **argv, void *input, const struct argp *more,
	       void *more_input);
/* Say what is wrong with the command line: the error is for the parser to return. */
#define cmd_usage(...)	(cmd_note(__VA_ARGS__), -EINVAL)

#endif /* CLI_H */
