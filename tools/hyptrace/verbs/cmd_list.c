// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace list: remotes and their events. hyptrace names: names of hypercalls, for tracefs. */
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
		return list->verbose + list->names + !!list->columns.nr_chosen <= 1 ? 0 :
		       cmd_usage("--columns, --verbose and --names exclude each other");
	}
	return ARGP_ERR_UNKNOWN;
}

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
	columns_print_all(&columns, p, "fields", event->fields, event->nr_fields);
	printer_end(p);
}

/* Print a remote with its events. With --columns, they are rows of one table of all remotes. */
static void print_remote(struct printer *p, const struct list *list,
			 const struct hyptrace_remote *remote,
			 struct hyptrace_event *const *events, const struct event_choice *choice)
{
	const bool is_object = !list->columns.nr_chosen;

	if (is_object) {
		printer_object(p, NULL);
		printer_heading(p, "name", remote->name);
		printer_str(p, "description", remote->description);
	}
	if (list->verbose || list->names)
		printer_array(p, "events");
	else if (is_object)
		printer_table(p, "events", &list->columns);
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
	if (!is_object)
		return;
	printer_end(p);
	printer_end(p);
}

static int cmd_list(struct context *ctx, int argc, char **argv)
{
	auto_free struct hyptrace_event ***events = NULL, **all = NULL;
	struct hyptrace_remote **remotes auto_remotes = NULL;
	struct event_choice choice auto_choice = {};
	struct list list = { .columns = COLUMNS(event_columns) };
	unsigned int nr, nr_all = 0, i, j;
	int code;

	cmd_parse(ctx, argc, argv, &list, &cmd_columns_argp, &list.columns);
	code = cmd_connect(ctx) ?: cmd_get_remotes(ctx, true, &remotes, &nr);
	if (code)
		return code;
	columns_tell_apart(&list.columns, nr);
	events = xcalloc(nr + 1, sizeof(*events));
	for (i = 0; i < nr && !code; i++) {
		code = cmd_list_events(ctx, remotes[i]->name, &events[i], &j);
		for (j = 0; !code && events[i][j]; j++)
			*xappend(all, nr_all) = events[i][j];
	}
	if (!code && nr && list.words.nr)
		code = cmd_choose_events("list", all, nr_all, &list.words, &choice);
	if (!code) {
		if (list.columns.nr_chosen)
			printer_table(ctx->p, NULL, &list.columns);
		else
			printer_array(ctx->p, NULL);
		for (i = 0; i < nr; i++)
			print_remote(ctx->p, &list, remotes[i], events[i], &choice);
		printer_end(ctx->p);
	}
	for (i = 0; i < nr; i++)
		hyptrace_free_events(events[i]);
	free(list.words.words);
	return code;
}

#define HEADER		"arch/arm64/include/asm/kvm_asm.h"
#define ENUM		"enum __kvm_host_smccc_func {"
#define FUNC		"__KVM_HOST_SMCCC_FUNC_"
/* Android: modules register the hypercalls from here on, in the order in which they are loaded. */
#define DYNAMIC		"__dynamic_hcalls"
#define NR_DYNAMIC	128

static const struct argp_option names_options[] = {
	{ "from", 'f', "TREE", 0, "Read the sources of the kernel in this folder", 0 },
	{ 0 }
};

static error_t parse_names(int key, char *arg, struct argp_state *state)
{
	const char **tree = state->input;

	switch (key) {
	case 'f':
		*tree = arg;
		return 0;
	case ARGP_KEY_END:
		return *tree ? 0 : cmd_usage("no kernel tree given: use --from");
	}
	return ARGP_ERR_UNKNOWN;
}

/* A line of the enum. Return false if the number of a hypercall cannot be told. */
static bool print_line(FILE *to, const char *line, int *id)
{
	char name[64];
	int len = 0, i;

	if (sscanf(line, " " FUNC "%63[A-Za-z0-9_]%n", name, &len) != 1)
		/* with a directive, the configuration decides */
		return line[strspn(line, " \t")] != '#';
	++*id;
	/* the first hypercall has the number 0, and the second one refers to it */
	if (line[len + strspn(line + len, " ")] == '=' &&
	    sscanf(line + len, " = %i", id) != 1 &&
	    sscanf(line + len, " = " FUNC "__kvm_hyp_init + %i", id) != 1)
		return false;
	if (strcmp(name, DYNAMIC)) {
		fprintf(to, "%d %s\n", *id, name);
		return true;
	}
	for (i = 0; i < NR_DYNAMIC; i++)
		fprintf(to, "%d module_hcall_%d\n", *id + i, i);
	return true;
}

static int cmd_names(struct context *ctx, int argc, char **argv)
{
	const char *tree = NULL;
	auto_free char *line = NULL, *path = NULL, *makefile = NULL, *table = NULL;
	bool is_inside = false, is_good = true;
	int id = 0, version, patchlevel, sublevel;
	char extra[64] = "";
	size_t size = 0;
	FILE *from, *to;

	cmd_parse(ctx, argc, argv, &tree, NULL, NULL);
	path = xasprintf("%s/" HEADER, tree);
	makefile = xasprintf("%s/Makefile", tree);
	to = text_open(&table);
	/* the release, as far as the sources know it: the configuration may add to it */
	from = fopen(makefile, "re");
	if (from && fscanf(from, "#%*[^\n] VERSION = %d PATCHLEVEL = %d SUBLEVEL = %d EXTRAVERSION =%*[ ]%63[^\n]",
			   &version, &patchlevel, &sublevel, extra) >= 3)
		fprintf(to, NAMES_RELEASE "%d.%d.%d%s\n", version, patchlevel, sublevel, extra);
	if (from)
		fclose(from);
	fputs("0 __kvm_hyp_init\n", to);
	from = fopen(path, "re");
	if (!from) {
		text_close(to, &table);
		return cmd_fail("cannot read %s: %s", path, strerror(errno));
	}
	while (is_good && getline(&line, &size, from) > 0 && !(is_inside && strchr(line, '}'))) {
		is_good = !is_inside || print_line(to, line, &id);
		is_inside |= !strncmp(line, ENUM, strlen(ENUM));
	}
	text_close(to, &table);
	fclose(from);
	if (!is_good || !id)
		return cmd_fail("%s: cannot tell the numbers of the hypercalls", path);
	out_puts(&ctx->out, table);
	return EXIT_DONE;
}

static const struct verb verbs[] VERBS = {
	{ "list", cmd_list, "List remotes and their events.", VERB_CONTROL + 1, false, .argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[EVENT...]",
		.doc = "List the remotes and their events, whether these are enabled and counted, and their filters and triggers. EVENT is a name, a glob such as \"hyp_*\", or all.",
	  } },
	{ "names", cmd_names, "Print the names of the hypercalls of a kernel tree.",
	  VERB_CONTROL + 13, false, .argp = {
		.options = names_options,
		.parser = parse_names,
		.doc = "Print the names of the hypercalls of a kernel, for HYPTRACE_NAMES.",
	  } },
};
