// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace list: print remotes and their events.
 */
#include "output/columns.h"
#include "output/die.h"
#include "output/printer.h"
#include "session/select.h"

static void print_name(struct printer *p, const char *key, const void *row)
{
	printer_styled(p, key, STYLE_NAME, ((const struct hyptrace_event *)row)->name);
}

/* Text has words in place of booleans. */
static void print_enabled(struct printer *p, const char *key, const void *row)
{
	const struct hyptrace_event *event = row;
	const bool enabled = event->enabled;

	if (!printer_is_text(p))
		printer_bool(p, "enabled", enabled);
	else if (event->missing)
		printer_styled(p, key, STYLE_PLAIN, "not in this kernel");
	else if (event->incomplete)
		printer_styled(p, key, STYLE_PLAIN, enabled ?
			       "enabled, without guests" : "disabled, without guests");
	else
		printer_styled(p, key, enabled ? STYLE_GOOD : STYLE_PLAIN,
			       enabled ? "enabled" : "disabled");
}

static void print_counted(struct printer *p, const char *key, const void *row)
{
	const struct hyptrace_event *event = row;

	if (event->can_be_counted)
		printer_bool(p, key, event->counted);
	else
		printer_none(p, key);
}

static void print_trigger(struct printer *p, const char *key, const void *row)
{
	auto_free char *text = NULL;
	const struct hyptrace_event *event = row;

	if (!event->trigger) {
		printer_none(p, key);
	} else if (printer_is_text(p)) {
		text = trigger_text(event);
		printer_str(p, key, text);
	} else {
		printer_str(p, key, hyptrace_trigger_name(event->trigger));
	}
}

#define EVENT(type, member)	COLUMN_OF(COLUMN_##type, struct hyptrace_event, member)

/* HOLDER is the process that has set filter and trigger for as long as it runs. */
static const struct column event_columns[] = {
	{ "remote", "REMOTE", COLUMN_EXTRA | EVENT(CHARS, remote), NULL },
	{ "name", "EVENT", 0, print_name },
	{ "id", "ID", COLUMN_NUMBER | EVENT(U32, id), NULL },
	{ "size", "SIZE", COLUMN_NUMBER | COLUMN_EXTRA | EVENT(U32, size), NULL },
	{ "enabled", "STATE", 0, print_enabled },
	{ "missing", "MISSING", COLUMN_JSON | EVENT(BOOL, missing), NULL },
	{ "incomplete", "INCOMPLETE", COLUMN_JSON | EVENT(BOOL, incomplete), NULL },
	{ "counted", "COUNTED", 0, print_counted },
	{ "trigger", "TRIGGER", 0, print_trigger },
	{ "after", "AFTER", COLUMN_JSON | COLUMN_NUMBER | EVENT(U32, after), NULL },
	{ "filter", "FILTER", COLUMN_TRUNC | EVENT(STRING, filter), NULL },
	{ "holder", "HOLDER", COLUMN_JSON | COLUMN_NUMBER | COLUMN_NOT_0 | EVENT(U32, holder),
	  NULL },
};

static void print_field_symbols(struct printer *p, const char *key, const void *row)
{
	const struct hyptrace_field *field = row;
	char value[24];
	unsigned int i;

	if (!field->nr_symbols)
		return;
	if (printer_is_text(p)) {
		printer_uint(p, key, field->nr_symbols);
		return;
	}
	printer_object(p, key);
	for (i = 0; i < field->nr_symbols; i++) {
		snprintf(value, sizeof(value), "%llu",
			 (unsigned long long)field->symbols[i]->value);
		printer_str(p, value, field->symbols[i]->name);
	}
	printer_end(p);
}

#define FIELD(type, member)	COLUMN_OF(COLUMN_##type, struct hyptrace_field, member)

static const struct column field_columns[] = {
	{ "name", "NAME", FIELD(STRING, name), NULL },
	{ "type", "TYPE", FIELD(STRING, type), NULL },
	{ "offset", "OFFSET", COLUMN_NUMBER | FIELD(U32, offset), NULL },
	{ "size", "SIZE", COLUMN_NUMBER | FIELD(U32, size), NULL },
	{ "signed", "SIGNED", FIELD(BOOL, is_signed), NULL },
	{ "symbols", "NAMES", 0, print_field_symbols },
};

static const struct column name_columns[] = {
	{ "field", "FIELD", 0, NULL },
	{ "value", "VALUE",
	  COLUMN_NUMBER | COLUMN_OF(COLUMN_BITS64, struct hyptrace_symbol, value), NULL },
	{ "name", "NAME", COLUMN_OF(COLUMN_STRING, struct hyptrace_symbol, name), NULL },
};

struct list {
	struct columns	columns;	/* of the events */
	bool		verbose;
	bool		names;
	struct words	words;		/* the arguments; none for all events */
};

static const struct argp_option options[] = {
	{ "verbose", 'v', NULL, 0, "Also print the fields and the print format", 0 },
	{ "names", OPTION_FLAG(struct list, names), NULL, 0,
	  "Print the names that values of fields have, such as those of hypercalls", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list *list = state->input;

	switch (key) {
	case 'v':
		list->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		cmd_add_word(&list->words, arg);
		return 0;
	case ARGP_KEY_END:
		if (list->verbose + list->names + !!list->columns.nr_chosen > 1)
			return cmd_usage("--columns, --verbose and --names exclude each other");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[EVENT...]",
	.doc = "List the remotes and their events, whether these are enabled and counted, and their filters and triggers. EVENT is a name, a glob such as \"hyp_*\", or all.",
};

/* Print a print format. Text has only the first of the names of each field. */
static void print_format(struct printer *p, const char *fmt)
{
	auto_free char *text = xstrdup(fmt);
	char *to = text;
	const char *next;

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
}

static void print_names(struct printer *p, const struct hyptrace_event *event)
{
	const struct columns columns = COLUMNS(name_columns);
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
			columns_print_values(&columns, p, field->symbols[j]);
			printer_end(p);
		}
	}
	printer_end(p);
	printer_end(p);
}

static void print_event(struct printer *p, const struct hyptrace_event *event)
{
	static const struct printer_label labels[] = { { "enabled", "state" }, { 0 } };
	static const char *const keys[] = {
		"id", "enabled", "missing", "incomplete", "counted", "trigger", "after", "filter",
		"holder", "size",
	};
	const struct columns columns = COLUMNS(field_columns);
	const struct columns all = COLUMNS(event_columns);
	unsigned int i;

	printer_object(p, NULL);
	printer_labels(p, labels);
	printer_heading(p, "name", event->name);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		/* in text, state and trigger say it */
		if (printer_is_json(p) || !strstr("missing incomplete after", keys[i]))
			column_print(columns_find(&all, keys[i]), p, event);
	print_format(p, event->print_fmt);
	printer_table(p, "fields", &columns);
	for (i = 0; i < event->nr_fields; i++)
		columns_print(&columns, p, event->fields[i]);
	printer_end(p);
	printer_end(p);
}

static void print_events(struct printer *p, const struct list *list,
			 struct hyptrace_event *const *events, const struct event_choice *choice)
{
	for (; *events; events++) {
		if (list->words.nr && !event_choice_has(choice, (*events)->name))
			continue;
		if (list->verbose)
			print_event(p, *events);
		else if (list->names)
			print_names(p, *events);
		else
			columns_print(&list->columns, p, *events);
	}
}

static void print_remote(struct printer *p, const struct list *list,
			 const struct hyptrace_remote *remote,
			 struct hyptrace_event *const *events, const struct event_choice *choice)
{
	if (list->columns.nr_chosen) {
		print_events(p, list, events, choice);
		return;
	}
	printer_object(p, NULL);
	printer_heading(p, "name", remote->name);
	printer_str(p, "description", remote->description);
	if (list->verbose || list->names)
		printer_array(p, "events");
	else
		printer_table(p, "events", &list->columns);
	print_events(p, list, events, choice);
	printer_end(p);
	printer_end(p);
}

static int choose(const struct list *list, struct hyptrace_event **const *events, unsigned int nr,
		  struct event_choice *choice)
{
	auto_free struct hyptrace_event **all = NULL;
	unsigned int nr_all = 0, i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; events[i][j]; j++) {
			all = xreallocarray(all, nr_all + 1, sizeof(*all));
			all[nr_all++] = events[i][j];
		}
	}
	return cmd_choose_events("list", all, nr_all, &list->words, choice);
}

static int list_remotes(struct context *ctx, const struct list *list,
			struct hyptrace_remote *const *remotes, unsigned int nr)
{
	auto_free struct hyptrace_event ***events = xcalloc(nr + 1, sizeof(*events));
	struct event_choice choice auto_choice = {};
	unsigned int i, nr_events;
	int code = EXIT_DONE;

	for (i = 0; i < nr && !code; i++)
		code = cmd_list_events(ctx, remotes[i]->name, &events[i], &nr_events);
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
	for (i = 0; i < nr; i++)
		hyptrace_free_events(events[i]);
	return code;
}

static int cmd_list(struct context *ctx, int argc, char **argv)
{
	auto_remotes struct hyptrace_remote **remotes = NULL;
	struct list list = { .columns = COLUMNS(event_columns) };
	unsigned int nr;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &list, &cmd_columns_argp, &list.columns);
	code = cmd_connect(ctx) ?: cmd_get_remotes(ctx, true, &remotes, &nr);
	if (code)
		return code;
	columns_tell_apart(&list.columns, nr);
	code = list_remotes(ctx, &list, remotes, nr);
	free(list.words.words);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "list", cmd_list, "List remotes and their events.", VERB_CONTROL + 1, false },
};
