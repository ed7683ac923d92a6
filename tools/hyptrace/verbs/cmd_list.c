// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace list: print remotes and their events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "output/columns.h"
#include "output/die.h"
#include "output/message.h"
#include "output/printer.h"
#include "session/events.h"
#include "session/select.h"
#include "session/trigger.h"
#include "verbs.h"

static const struct column event_columns[] = {
	{ "remote",	"REMOTE",	COLUMN_EXTRA },
	{ "name",	"EVENT",	0 },
	{ "id",		"ID",		COLUMN_NUMBER },
	{ "size",	"SIZE",		COLUMN_NUMBER | COLUMN_EXTRA },
	{ "enabled",	"STATE",	0 },
	{ "counted",	"COUNTED",	0 },
	{ "trigger",	"TRIGGER",	0 },
	{ "after",	"AFTER",	COLUMN_JSON | COLUMN_NUMBER },
	{ "filter",	"FILTER",	COLUMN_TRUNC },
	{ "holder",	"HOLDER",	COLUMN_JSON | COLUMN_NUMBER },
};

static const struct column field_columns[] = {
	{ "name",	"NAME",		0 },
	{ "type",	"TYPE",		0 },
	{ "offset",	"OFFSET",	COLUMN_NUMBER },
	{ "size",	"SIZE",		COLUMN_NUMBER },
	{ "signed",	"SIGNED",	0 },
	{ "symbols",	"NAMES",	0 },
};

static const struct column name_columns[] = {
	{ "field",	"FIELD",	0 },
	{ "value",	"VALUE",	COLUMN_NUMBER },
	{ "name",	"NAME",		0 },
};

#define NR_COLUMNS(columns)	(sizeof(columns) / sizeof((columns)[0]))

/**
 * struct list - the options of the verb
 * @columns:	the columns of the events
 * @verbose:	print the fields and the print format, too
 * @names:	print the names of values instead
 * @words:	the arguments, which name events; none for all
 */
struct list {
	struct columns	columns;
	bool		verbose;
	bool		names;
	struct words	words;
};

enum {
	OPT_NAMES = 0x200,
};

static const struct argp_option options[] = {
	{ "output", 'o', "COLUMNS", 0, "", 0 },
	{ "verbose", 'v', NULL, 0, "Also print the fields and the print format", 0 },
	{ "names", OPT_NAMES, NULL, 0,
	  "Print the names that values of fields have, such as those of hypercalls", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list *list = state->input;

	switch (key) {
	case 'o':
		return cmd_parse_columns(&list->columns, arg);
	case 'v':
		list->verbose = true;
		return 0;
	case OPT_NAMES:
		list->names = true;
		return 0;
	case ARGP_KEY_ARG:
		cmd_add_word(&list->words, arg);
		return 0;
	case ARGP_KEY_END:
		if (list->verbose + list->names + !!list->columns.nr_chosen > 1)
			return cmd_usage("--output, --verbose and --names exclude each other");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static char *help(int key, const char *text, void *input)
{
	struct list *list = input;

	return key == 'o' ? columns_help(&list->columns) : (char *)text;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[EVENT...]",
	.doc = "List the remotes and their events, whether these are enabled and counted, and their filters and triggers. EVENT is a name, a glob such as \"hyp_*\", or all.",
	.help_filter = help,
};

static void print_symbols(struct printer *p, const struct hyptrace_field *field)
{
	char value[24];
	unsigned int i;

	if (!printer_is_json(p)) {
		printer_uint(p, "symbols", field->nr_symbols);
		return;
	}
	printer_object(p, "symbols");
	for (i = 0; i < field->nr_symbols; i++) {
		snprintf(value, sizeof(value), "%llu",
			 (unsigned long long)field->symbols[i]->value);
		printer_str(p, value, field->symbols[i]->name);
	}
	printer_end(p);
}

static void print_fields(struct printer *p, const struct hyptrace_event *event)
{
	const struct columns columns = { .all = field_columns, .nr = NR_COLUMNS(field_columns) };
	unsigned int i;

	printer_table(p, "fields", &columns);
	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];

		printer_row(p);
		printer_str(p, "name", field->name);
		printer_str(p, "type", field->type);
		printer_uint(p, "offset", field->offset);
		printer_uint(p, "size", field->size);
		printer_bool(p, "signed", field->is_signed);
		if (field->nr_symbols)
			print_symbols(p, field);
		printer_end(p);
	}
	printer_end(p);
}

static void print_enabled(struct printer *p, const char *key, const struct hyptrace_event *event)
{
	/* JSON has a boolean, text has a word */
	if (printer_is_json(p))
		printer_bool(p, key, event->enabled);
	else
		printer_styled(p, key, event->enabled ? STYLE_GOOD : STYLE_PLAIN,
			       event->enabled ? "enabled" : "disabled");
}

static void print_counted(struct printer *p, const struct hyptrace_event *event)
{
	if (event->can_be_counted)
		printer_bool(p, "counted", event->counted);
	else
		printer_none(p, "counted");
}

static void print_filter(struct printer *p, const struct hyptrace_event *event)
{
	if (event->filter)
		printer_str(p, "filter", event->filter);
	else
		printer_none(p, "filter");
}

/* Print the process that has set filter and trigger for as long as it runs. */
static void print_holder(struct printer *p, const struct hyptrace_event *event)
{
	if (event->holder)
		printer_uint(p, "holder", event->holder);
	else
		printer_none(p, "holder");
}

static void print_trigger(struct printer *p, const struct hyptrace_event *event)
{
	char *text;

	if (printer_is_json(p)) {
		trigger_print_keys(p, event);
		return;
	}
	if (!event->trigger) {
		printer_none(p, "trigger");
		return;
	}
	text = trigger_text(event);
	printer_str(p, "trigger", text);
	free(text);
}

static void print_row(struct printer *p, const char *remote, const struct hyptrace_event *event)
{
	printer_row(p);
	printer_str(p, "remote", remote);
	printer_styled(p, "name", STYLE_NAME, event->name);
	printer_uint(p, "id", event->id);
	printer_uint(p, "size", event->size);
	print_enabled(p, "enabled", event);
	print_counted(p, event);
	print_trigger(p, event);
	if (!printer_is_json(p))
		printer_uint(p, "after", event->after);
	print_filter(p, event);
	print_holder(p, event);
	printer_end(p);
}

/* Print a print format. Text has only the first of the names of each field. */
static void print_format(struct printer *p, const char *fmt)
{
	char *text = strdup(fmt), *to = text;
	const char *next;

	if (!text)
		die_no_memory();
	while (*fmt && !printer_is_json(p)) {
		*to++ = *fmt++;
		next = fmt + strspn(fmt, ", ");
		if (to[-1] != '}' || *next != '{')
			continue;
		while (*next == '{') {
			fmt = next + strcspn(next, "}");
			fmt += *fmt == '}';
			next = fmt + strspn(fmt, ", ");
		}
		to = stpcpy(to, ", ...");
	}
	if (!printer_is_json(p))
		*to = '\0';
	printer_str(p, "print_fmt", text);
	free(text);
}

/* Print the names of values of each field that has some. */
static void print_names(struct printer *p, const struct hyptrace_event *event)
{
	const struct columns columns = { .all = name_columns, .nr = NR_COLUMNS(name_columns) };
	unsigned int i, j, nr = 0;

	for (i = 0; i < event->nr_fields; i++)
		nr += event->fields[i]->nr_symbols;
	if (!nr)
		return;
	printer_object(p, NULL);
	printer_heading(p, "name", event->name);
	printer_table(p, "names", &columns);
	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];

		for (j = 0; j < field->nr_symbols; j++) {
			printer_row(p);
			printer_str(p, "field", field->name);
			printer_u64(p, "value", field->symbols[j]->value);
			printer_str(p, "name", field->symbols[j]->name);
			printer_end(p);
		}
	}
	printer_end(p);
	printer_end(p);
}

static void print_event(struct printer *p, const struct hyptrace_event *event)
{
	printer_object(p, NULL);
	printer_heading(p, "name", event->name);
	printer_uint(p, "id", event->id);
	print_enabled(p, printer_is_json(p) ? "enabled" : "state", event);
	print_counted(p, event);
	print_trigger(p, event);
	print_filter(p, event);
	print_holder(p, event);
	printer_uint(p, "size", event->size);
	print_format(p, event->print_fmt);
	print_fields(p, event);
	printer_end(p);
}

static bool is_chosen(const struct event_choice *choice, const struct hyptrace_event *event)
{
	unsigned int i;

	for (i = 0; i < choice->nr; i++)
		if (!strcmp(choice->names[i], event->name))
			return true;
	return false;
}

static void print_events(struct printer *p, const struct list *list, const char *remote,
			 struct hyptrace_event *const *events, const struct event_choice *choice)
{
	for (; *events; events++) {
		if (list->words.nr && !is_chosen(choice, *events))
			continue;
		if (list->verbose)
			print_event(p, *events);
		else if (list->names)
			print_names(p, *events);
		else
			print_row(p, remote, *events);
	}
}

static void print_remote(struct printer *p, const struct list *list,
			 const struct hyptrace_remote *remote,
			 struct hyptrace_event *const *events, const struct event_choice *choice)
{
	if (list->columns.nr_chosen) {
		print_events(p, list, remote->name, events, choice);
		return;
	}
	printer_object(p, NULL);
	printer_heading(p, "name", remote->name);
	printer_str(p, "description", remote->description);
	if (list->verbose || list->names)
		printer_array(p, "events");
	else
		printer_table(p, "events", &list->columns);
	print_events(p, list, remote->name, events, choice);
	printer_end(p);
	printer_end(p);
}

/* Find the events that arguments name, in any of the remotes. Return an exit code. */
static int choose(const struct list *list, struct hyptrace_event **const *events, unsigned int nr,
		  struct event_choice *choice)
{
	struct hyptrace_event **all = NULL;
	unsigned int nr_all = 0, i, j;
	int code;

	for (i = 0; i < nr; i++) {
		for (j = 0; events[i][j]; j++) {
			all = reallocarray(all, nr_all + 1, sizeof(*all));
			if (!all)
				die_no_memory();
			all[nr_all++] = events[i][j];
		}
	}
	code = cmd_choose_events("list", all, nr_all, &list->words, choice);
	free(all);
	return code;
}

static int list_remotes(struct context *ctx, const struct list *list,
			struct hyptrace_remote *const *remotes, unsigned int nr)
{
	struct hyptrace_event ***events = calloc(nr + 1, sizeof(*events));
	struct event_choice choice = {};
	struct hyptrace_error err;
	unsigned int i, nr_events;
	int code = EXIT_DONE;

	if (!events)
		die_no_memory();
	for (i = 0; i < nr && !code; i++)
		if (hyptrace_get_events(ctx->h, remotes[i]->name, &events[i], &nr_events, &err))
			code = cmd_fail("cannot list the events of \"%s\": %s", remotes[i]->name,
					err.text);
	if (!code && nr && list->words.nr)
		code = choose(list, events, nr, &choice);
	if (!code) {
		if (list->columns.nr_chosen)
			printer_table(ctx->p, NULL, &list->columns);
		else
			printer_array(ctx->p, NULL);
		for (i = 0; i < nr; i++)
			print_remote(ctx->p, list, remotes[i], events[i], &choice);
		printer_end(ctx->p);
	}
	event_choice_free(&choice);
	for (i = 0; i < nr; i++)
		hyptrace_free_events(events[i]);
	free(events);
	return code;
}

int cmd_list(struct context *ctx, int argc, char **argv)
{
	struct list list = {
		.columns = { .all = event_columns, .nr = NR_COLUMNS(event_columns) },
	};
	struct hyptrace_remote **remotes;
	unsigned int nr;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &list);
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remotes(ctx, true, &remotes, &nr);
	if (code)
		return code;
	columns_tell_apart(&list.columns, nr);
	code = list_remotes(ctx, &list, remotes, nr);
	hyptrace_free_remotes(remotes);
	free(list.words.words);
	return code;
}
