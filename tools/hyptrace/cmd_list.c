// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace list: print remotes and their events.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "trigger.h"

static const struct column event_columns[] = {
	{ "remote",	"REMOTE",	COLUMN_EXTRA },
	{ "name",	"EVENT",	0 },
	{ "id",		"ID",		COLUMN_NUMBER },
	{ "size",	"SIZE",		COLUMN_NUMBER | COLUMN_EXTRA },
	{ "counted",	"COUNTED",	COLUMN_JSON },
	{ "enabled",	"STATE",	0 },
	{ "trigger",	"TRIGGER",	COLUMN_JSON },
	{ "after",	"AFTER",	COLUMN_JSON | COLUMN_NUMBER },
	{ "filter",	"FILTER",	COLUMN_TRUNC },
};

static const struct column field_columns[] = {
	{ "name",	"NAME",		0 },
	{ "type",	"TYPE",		0 },
	{ "offset",	"OFFSET",	COLUMN_NUMBER },
	{ "size",	"SIZE",		COLUMN_NUMBER },
	{ "signed",	"SIGNED",	0 },
	{ "symbols",	"SYMBOLS",	COLUMN_TRUNC },
};

#define NR_COLUMNS(columns)	(sizeof(columns) / sizeof((columns)[0]))

/**
 * struct list - the options of the verb
 * @columns:	the columns of the events
 * @verbose:	print the fields and the print format, too
 */
struct list {
	struct columns	columns;
	bool		verbose;
};

static const struct argp_option options[] = {
	{ "output", 'o', "COLUMNS", 0, "", 0 },
	{ "verbose", 'v', NULL, 0, "Also print the fields and the print format", 0 },
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
	case ARGP_KEY_ARG:
		return cmd_usage("unexpected argument \"%s\"", arg);
	case ARGP_KEY_END:
		if (list->verbose && list->columns.nr_chosen)
			return cmd_usage("--output and --verbose exclude each other");
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
	.doc = "List the remotes and their events, whether these are enabled, and their filters and triggers.",
	.help_filter = help,
};

static void print_symbols(struct printer *p, const struct hyptrace_field *field)
{
	char value[24];
	unsigned int i;

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

static void print_filter(struct printer *p, const struct hyptrace_event *event)
{
	if (event->filter)
		printer_str(p, "filter", event->filter);
	else
		printer_none(p, "filter");
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
	if (event->can_be_counted)
		printer_bool(p, "counted", event->counted);
	else
		printer_none(p, "counted");
	print_enabled(p, "enabled", event);
	print_trigger(p, event);
	if (!printer_is_json(p))
		printer_uint(p, "after", event->after);
	print_filter(p, event);
	printer_end(p);
}

static void print_event(struct printer *p, const struct hyptrace_event *event)
{
	printer_object(p, NULL);
	printer_heading(p, "name", event->name);
	printer_uint(p, "id", event->id);
	print_enabled(p, printer_is_json(p) ? "enabled" : "state", event);
	print_trigger(p, event);
	print_filter(p, event);
	printer_uint(p, "size", event->size);
	printer_str(p, "print_fmt", event->print_fmt);
	print_fields(p, event);
	printer_end(p);
}

static void print_remote(struct context *ctx, const struct list *list,
			 const struct hyptrace_remote *remote,
			 struct hyptrace_event *const *events, unsigned int nr)
{
	struct printer *p = ctx->p;
	unsigned int i;

	if (list->columns.nr_chosen) {
		for (i = 0; i < nr; i++)
			print_row(p, remote->name, events[i]);
		return;
	}
	printer_object(p, NULL);
	printer_heading(p, "name", remote->name);
	printer_str(p, "description", remote->description);
	if (list->verbose)
		printer_array(p, "events");
	else
		printer_table(p, "events", &list->columns);
	for (i = 0; i < nr; i++) {
		if (list->verbose)
			print_event(p, events[i]);
		else
			print_row(p, remote->name, events[i]);
	}
	printer_end(p);
	printer_end(p);
}

static int list_remote(struct context *ctx, const struct list *list,
		       const struct hyptrace_remote *remote)
{
	struct hyptrace_event **events;
	struct hyptrace_error err;
	unsigned int nr;

	if (hyptrace_get_events(ctx->h, remote->name, &events, &nr, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", remote->name, err.text);
	print_remote(ctx, list, remote, events, nr);
	hyptrace_free_events(events);
	return EXIT_DONE;
}

int cmd_list(struct context *ctx, int argc, char **argv)
{
	struct list list = {
		.columns = { .all = event_columns, .nr = NR_COLUMNS(event_columns) },
	};
	struct hyptrace_remote **remotes;
	unsigned int nr, i;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &list);
	code = cmd_connect(ctx);
	if (code)
		return code;
	code = cmd_get_remotes(ctx, true, &remotes, &nr);
	if (code)
		return code;

	if (list.columns.nr_chosen)
		printer_table(ctx->p, NULL, &list.columns);
	else
		printer_array(ctx->p, NULL);
	for (i = 0; i < nr && !code; i++)
		code = list_remote(ctx, &list, remotes[i]);
	printer_end(ctx->p);
	hyptrace_free_remotes(remotes);
	return code;
}
