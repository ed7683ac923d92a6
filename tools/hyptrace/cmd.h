/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by all verbs. A verb is a function in a cmd_*.c file and a line in the table
 * of main.c.
 */
#ifndef CMD_H
#define CMD_H

#include <argp.h>
#include <stdarg.h>
#include <stdbool.h>

#include "../lib/hyptrace.h"
#include "args.h"
#include "columns.h"
#include "die.h"
#include "out.h"
#include "printer.h"

struct verb;

/**
 * struct context - the global options and the resources of a verb
 * @h:		the connection, opened by cmd_connect()
 * @p:		the printer
 * @out:	the output that the printer writes to
 * @remote:	argument of --remote, or NULL
 * @cpus:	argument of --cpu, if @have_cpus
 * @have_cpus:	--cpu was given
 * @verb:	the verb, once it is known
 * @json:	print JSON
 * @pretty:	print indented JSON
 * @color:	print text with colours
 */
struct context {
	struct hyptrace		*h;
	struct printer		*p;
	struct out		out;
	const char		*remote;
	struct cpu_list		cpus;
	bool			have_cpus;
	const struct verb	*verb;
	bool			json;
	bool			pretty;
	bool			color;
};

/**
 * struct words - arguments of a verb
 * @words:	the arguments
 * @nr:		number of @words
 */
struct words {
	const char	**words;
	unsigned int	nr;
};

/* The arguments of a verb that takes nothing but a command */
#define ARGS_COMMAND	"[-- COMMAND...]"

/* main.c */
void cmd_parse(struct context *ctx, const struct argp *argp, int argc, char **argv, void *input);
void cmd_no_arguments(struct context *ctx, int argc, char **argv);
error_t cmd_parse_columns(struct columns *columns, const char *list);
error_t cmd_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* events.c: the events that arguments name */
void cmd_add_word(struct words *words, const char *arg);
error_t cmd_add_words(struct words *words, char *list);
int cmd_choose_events(const char *verb, struct hyptrace_event *const *events, unsigned int nr,
		      const struct words *words, struct event_choice *choice);
void cmd_choose_default(const char *what, const char *remote, struct hyptrace_event *const *events,
			unsigned int nr, const struct words *only, bool quiet,
			struct event_choice *choice);

/* hypercalls.c: the names of hypercalls */
struct hyptrace_hypercall **cmd_name_hypercalls(struct context *ctx, const char *remote,
						struct hyptrace_formats *formats);

/* select.c: the remotes and CPUs of a verb, and its error messages */
void cmd_make_printer(struct context *ctx);
int cmd_connect(struct context *ctx);
int cmd_get_remotes(struct context *ctx, bool all, struct hyptrace_remote ***remotes,
		    unsigned int *nr);
int cmd_get_remote(struct context *ctx, struct hyptrace_remote **remote);
int cmd_get_cpus(struct context *ctx, const char *remote, struct hyptrace_cpu ***cpus,
		 unsigned int *nr);
int cmd_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int cmd_fail_verb(const char *verb, const char *subject, const struct hyptrace_error *err);
int cmd_fail_ring(const struct context *ctx, const char *remote, unsigned int cpu,
		  const struct hyptrace_error *err, const char *hint);
extern void (*cmd_note_to)(const char *text);
void cmd_vnote(const char *fmt, va_list ap);
void cmd_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cmd_note_gaps(struct context *ctx, const char *name, const char *const *events,
		   unsigned int nr);

/* The verbs; each returns an exit code */
int cmd_list(struct context *ctx, int argc, char **argv);
int cmd_enable(struct context *ctx, int argc, char **argv);
int cmd_disable(struct context *ctx, int argc, char **argv);
int cmd_start(struct context *ctx, int argc, char **argv);
int cmd_stop(struct context *ctx, int argc, char **argv);
int cmd_load(struct context *ctx, int argc, char **argv);
int cmd_unload(struct context *ctx, int argc, char **argv);
int cmd_clear(struct context *ctx, int argc, char **argv);
int cmd_reset(struct context *ctx, int argc, char **argv);
int cmd_set(struct context *ctx, int argc, char **argv);
int cmd_status(struct context *ctx, int argc, char **argv);
int cmd_stream(struct context *ctx, int argc, char **argv);
int cmd_strace(struct context *ctx, int argc, char **argv);
int cmd_catch(struct context *ctx, int argc, char **argv);
int cmd_record(struct context *ctx, int argc, char **argv);
int cmd_show(struct context *ctx, int argc, char **argv);
int cmd_export(struct context *ctx, int argc, char **argv);
int cmd_report(struct context *ctx, int argc, char **argv);
int cmd_dump(struct context *ctx, int argc, char **argv);
int cmd_monitor(struct context *ctx, int argc, char **argv);
int cmd_wait(struct context *ctx, int argc, char **argv);
int cmd_count(struct context *ctx, int argc, char **argv);
int cmd_stat(struct context *ctx, int argc, char **argv);
int cmd_top(struct context *ctx, int argc, char **argv);
int cmd_who(struct context *ctx, int argc, char **argv);
int cmd_mark(struct context *ctx, int argc, char **argv);

#endif /* CMD_H */
