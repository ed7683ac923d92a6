// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace list: print remotes and their events.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"

static const struct argp_option options[] = {
	{ "verbose", 'v', NULL, 0, "Also print the fields and the print format", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	bool *verbose = state->input;

	switch (key) {
	case 'v':
		*verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "list",
	.doc = "List the remotes and their events.",
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
	unsigned int i;

	printer_table(p, "fields");
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

static void print_enabled(struct printer *p, const struct hyptrace_event *event)
{
	/* JSON has a boolean, text has a word */
	if (printer_is_json(p))
		printer_bool(p, "enabled", event->enabled);
	else
		printer_styled(p, "state", event->enabled ? STYLE_GOOD : STYLE_PLAIN,
			       event->enabled ? "enabled" : "disabled");
}

static void print_event(struct printer *p, const struct hyptrace_event *event, bool verbose)
{
	if (!verbose) {
		printer_row(p);
		printer_styled(p, printer_is_json(p) ? "name" : "event", STYLE_NAME, event->name);
		printer_uint(p, "id", event->id);
		print_enabled(p, event);
		printer_end(p);
		return;
	}
	printer_object(p, NULL);
	printer_heading(p, "name", event->name);
	printer_uint(p, "id", event->id);
	print_enabled(p, event);
	printer_uint(p, "size", event->size);
	printer_str(p, "print_fmt", event->print_fmt);
	print_fields(p, event);
	printer_end(p);
}

static int print_remote(struct context *ctx, const struct hyptrace_remote *remote, bool verbose)
{
	struct hyptrace_event **events;
	struct hyptrace_error err;
	unsigned int nr, i;
	int code = EXIT_DONE;

	printer_object(ctx->p, NULL);
	printer_heading(ctx->p, "name", remote->name);
	printer_str(ctx->p, "description", remote->description);
	if (verbose)
		printer_array(ctx->p, "events");
	else
		printer_table(ctx->p, "events");
	if (hyptrace_get_events(ctx->h, remote->name, &events, &nr, &err)) {
		code = cmd_fail("cannot list the events of \"%s\": %s", remote->name, err.text);
	} else {
		for (i = 0; i < nr; i++)
			print_event(ctx->p, events[i], verbose);
		hyptrace_free_events(events);
	}
	printer_end(ctx->p);
	printer_end(ctx->p);
	return code;
}

int cmd_list(struct context *ctx, int argc, char **argv)
{
	struct hyptrace_remote **remotes;
	unsigned int nr, i;
	bool verbose = false;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &verbose);
	code = cmd_connect(ctx);
	if (code)
		return code;
	code = cmd_get_remotes(ctx, true, &remotes, &nr);
	if (code)
		return code;

	printer_array(ctx->p, NULL);
	for (i = 0; i < nr && !code; i++)
		code = print_remote(ctx, remotes[i], verbose);
	printer_end(ctx->p);
	hyptrace_free_remotes(remotes);
	return code;
}
