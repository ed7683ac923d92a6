// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace top: the numbers of hyptrace stat as they change, in place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "output/out.h"
#include "session/select.h"
#include "session/signals.h"
#include "view/top/top.h"

#define INTERVAL_DEFAULT	NSEC_PER_SEC
#define INTERVAL_MIN		(100 * NSEC_PER_MSEC)

enum {
	OPT_BY = 0x200,
};

#define BY_HELP \
	"Show a row for each reason (the default), hcall, exit, vcpu, vm, cpu or memory"

static const struct argp_option options[] = {
	{ "by", OPT_BY, "WHAT", 0, BY_HELP, 0 },
	{ "delay", 'd', "TIME", 0, "Show the numbers of each such time (1s); at least 100ms", 0 },
	{ "key", 'k', "COLUMN", 0,
	  "Sort by name, rate, time, mean, max, p99, samples, total or guest", 0 },
	{ "batch", 'b', NULL, 0, "Print blocks of text, and read no keys", 0 },
	{ "count", 'n', "COUNT", 0, "End after so many intervals", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case OPT_BY:
		if (!stat_by_find(arg, &top->stat.by))
			return cmd_usage("cannot show rows by \"%s\": use one of " STAT_BY_NAMES,
					 arg);
		return 0;
	case 'd':
		if (!parse_duration(arg, &top->stat.interval))
			return cmd_usage("bad time \"%s\": use a number and s, ms, m or h", arg);
		if (top->stat.interval < INTERVAL_MIN)
			return cmd_usage("the time \"%s\" is too short: use at least 100ms", arg);
		return 0;
	case 'k':
		top->has_sort = true;
		if (!stat_column_find(top_columns, arg, &top->look.sort))
			return cmd_usage("unknown column \"%s\": use one of name, rate, time, mean, max, p99, samples, total, guest",
					 arg);
		return 0;
	case 'b':
		top->is_batch = true;
		return 0;
	case 'n':
		if (!parse_number(arg, UINT64_MAX, &top->count) || !top->count)
			return cmd_usage("bad --count \"%s\": use 1 or more", arg);
		return 0;
	case ARGP_KEY_ARG:
		return cmd_usage("unexpected argument \"%s\"", arg);
	case ARGP_KEY_END:
		if (top->ctx->json && top->has_sort)
			return cmd_usage("--key sorts the rows of the screen and of --batch: use it without --json");
		top->is_batch |= top->ctx->json;
		if (!top->is_batch && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
			return cmd_usage("top needs a terminal: use -b to print blocks of text");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Show the time of CPUs in the host, at EL2 and in guests, and sorted rows of times with the last minute of each, until you press q. The key h shows all keys. For reason, hcall and cpu EL2 only counts; for other rows, and while a single row is shown, events are recorded and consumed.",
};

/* The last note of the sources, while they cannot be printed */
static char *last_note;

static void keep_note(const char *text)
{
	free(last_note);
	last_note = strdup(text);
}

static void forget_note(void)
{
	free(last_note);
	last_note = NULL;
}

/* Print a block, followed by an empty line. */
static void print_block(struct top *top)
{
	struct top_screen screen = { .has_utf8 = top->has_utf8 };
	struct out *out = &top->ctx->out;
	unsigned int i;

	top_screen_rows(&screen, &top->view, &top->look);
	for (i = 0; i < screen.nr; i++) {
		out_puts(out, screen.lines[i].text);
		out_putc(out, '\n');
	}
	out_putc(out, '\n');
	out_flush(out);
	top_screen_free(&screen);
}

static void draw(struct top *top)
{
	struct top_screen screen = { .has_utf8 = top->has_utf8 };
	const struct top_row *row = NULL;
	unsigned int i;

	for (i = 0; i < top->view.nr_rows; i++)
		if (stat_key_is(top->view.rows[i].line.key, top->slow.key))
			row = &top->view.rows[i];
	top->look.note = last_note;
	top_terminal_size(&screen);
	if (top->is_help)
		top_screen_help(&screen);
	else if (top->is_detail)
		top_screen_detail(&screen, &top->view, row,
				  stat_rows_find(&top->model.sums, top->slow.key), &top->slow,
				  last_note);
	else
		top_screen_rows(&screen, &top->view, &top->look);
	top_terminal_show(&screen);
	top_screen_free(&screen);
}

static void sort(struct top *top)
{
	stat_lines_sort(top->view.rows, top->view.nr_rows, sizeof(*top->view.rows), top->look.sort);
}

/* Show what the model has now. */
static void update(struct top *top)
{
	top_model_view(&top->model, &top->view);
	if (!stat_column_has(top->look.sort, top->stat.by, top->view.is_counted))
		top->look.sort = COL_RATE;
	sort(top);
}

/* An interval has ended. */
static bool show(struct stat *stat)
{
	struct top *top = stat->owner;

	/* the begun interval, unless the user wants other rows */
	if (top->next != TOP_STAY) {
		if (top->next == TOP_OTHER_SOURCE && top->stat.by == stat->by && !top->ctx->json)
			top_model_take(&top->model, stat);
		return false;
	}
	top->has_worked = true;
	if (top->ctx->json) {
		stat_print(stat);
	} else {
		top_model_take(&top->model, stat);
		if (!top->look.paused)
			update(top);
		if (top->is_batch)
			print_block(top);
		else
			draw(top);
	}
	if (top->count && !--top->count)
		top->next = TOP_QUIT;
	return top->next == TOP_STAY && !top->ctx->out.error;
}

/* Take the keys. */
static bool take_input(struct stat *stat)
{
	struct top *top = stat->owner;
	enum top_key key;

	while (top->next == TOP_STAY) {
		key = top_terminal_key();
		if (key == TOP_KEY_NONE)
			break;
		if (key != TOP_KEY_REDRAW)
			forget_note();
		top_take_key(top, key);
	}
	if (top->next == TOP_STAY) {
		if (!top->look.paused)
			update(top);
		else
			sort(top);
		draw(top);
	}
	return top->next == TOP_STAY;
}

/* Take numbers until the user wants other ones or the end. Return an exit code. */
static int run_source(struct top *top, int signal_fd, int input_fd)
{
	struct stat stat = top->stat;

	stat.slow = top->is_detail ? &top->slow : NULL;
	stat.input_fd = input_fd;
	top->slow.stat = &stat;
	top->next = TOP_STAY;
	top->has_worked = false;
	if (!top->is_batch)
		draw(top);
	return stat_stream(&stat, signal_fd);
}

/* If a choice of the user is refused, such as a busy ring, show what was shown before. */
static int run(struct top *top, int signal_fd, int input_fd)
{
	bool can_return = false;
	int code;

	do {
		code = run_source(top, signal_fd, input_fd);
		if (code && !top->has_worked && can_return) {
			top_return(top);
			can_return = false;
			code = EXIT_DONE;
			continue;
		}
		can_return = true;
	} while (!code && top->next == TOP_OTHER_SOURCE && !signals_stop);
	return code;
}

static int run_on_terminal(struct top *top, int signal_fd)
{
	int input_fd = top_terminal_begin(), code;

	if (input_fd < 0)
		return EXIT_REFUSED;
	cmd_note_to = keep_note;
	code = run(top, signal_fd, input_fd);
	cmd_note_to = NULL;
	top_terminal_end();
	if (code && last_note)
		cmd_note("%s", last_note);
	forget_note();
	return code;
}

int cmd_top(struct context *ctx, int argc, char **argv)
{
	struct top top = {
		.ctx = ctx,
		.stat = {
			.ctx = ctx, .sort = COL_SAMPLES, .interval = INTERVAL_DEFAULT,
			.child.pidfd = -1, .show = show, .owner = &top, .has_buckets = true,
		},
	};
	struct hyptrace_remote *remote;
	int code, signal_fd;

	cmd_parse(ctx, &argp, argc, argv, &top);
	if (!top.has_sort)
		top.look.sort = COL_TIME;
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	top.model.view.source = remote->name;
	top.model.view.by = top.stat.by;
	top.view.by = top.stat.by;
	top.view.source = remote->name;
	top.stat.quiet = !ctx->json;
	top.stat.input = top.is_batch ? NULL : take_input;
	top.has_utf8 = top_terminal_has_utf8();
	signal_fd = signals_catch();
	if (signal_fd < 0)
		code = cmd_fail("cannot catch signals: %s", strerror(errno));
	else if (top.is_batch)
		code = run(&top, signal_fd, -1);
	else
		code = run_on_terminal(&top, signal_fd);
	stat_slow_free(&top.slow);
	top_view_free(&top.view);
	top_model_free(&top.model);
	hyptrace_free_remote(remote);
	return code;
}
