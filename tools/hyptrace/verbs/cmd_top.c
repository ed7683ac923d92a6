// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace top: the numbers of hyptrace stat as they change, in place. */
#include "output/die.h"
#include "view/top/top.h"

#define INTERVAL_DEFAULT	NSEC_PER_SEC
#define INTERVAL_MIN		(100 * NSEC_PER_MSEC)

static const struct argp_option options[] = {
	{ "batch", 'b', NULL, 0, "Print blocks of text, and read no keys", 0 },
	{ 0 }
};

static error_t check(struct top *top)
{
	struct stat *stat = &top->stat;
	const struct session *s = &stat->session;

	if (!s->path && stat->interval < INTERVAL_MIN)
		return cmd_usage("the interval is too short: use at least 100ms");
	top->is_batch |= s->ctx->json;
	if (!top->is_batch && s->child.argv)
		return cmd_usage("a command would write to the screen: use --batch");
	if (!top->is_batch && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return cmd_usage("top needs a terminal: use -b to print blocks of text");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	(void)arg;
	switch (key) {
	case 'b':
		top->is_batch = true;
		return 0;
	case ARGP_KEY_END:
		return check(top);
	}
	return ARGP_ERR_UNKNOWN;
}

/* The last note of the sources, while they cannot be printed */
static char *last_note;

/* NULL: forget it */
static void keep_note(const char *text)
{
	free(last_note);
	last_note = text ? strdup(text) : NULL;
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

static void update(struct top *top)
{
	top_model_view(&top->model, &top->view);
	top->look.sort = stat_column_has(top->sort, top->stat.by, top->view.is_counted) ?
			 top->sort : COL_RATE;
	sort(top);
}

static void take_input(struct stat *stat)
{
	struct top *top = stat->owner;
	enum top_key key;

	while (top->next == TOP_STAY && (key = top_terminal_key()) != TOP_KEY_NONE) {
		if (key != TOP_KEY_REDRAW)
			keep_note(NULL);
		top_take_key(top, key);
	}
	if (top->next == TOP_STAY) {
		if (!top->look.paused)
			update(top);
		else
			sort(top);
		draw(top);
	}
	stat->is_over |= top->next != TOP_STAY;
}

static void replay_input(struct loop *l)
{
	struct top *top = l->arg;
	const bool was_paused = top->look.paused;

	take_input(&top->stat);
	l->is_over = top->next != TOP_STAY || (was_paused && !top->look.paused);
}

/* Of a file, wait until the next interval has passed; at its end, until the user does something. */
static void wait_for_replay(struct top *top)
{
	static const struct loop_ops ops = { .input = replay_input };

	do {
		struct loop loop = LOOP(top->stat.session.ctx, &ops, top);

		loop.input_fd = top->stat.input_fd;
		if (!top->look.paused && !top->model.view.is_over)
			loop.deadline = clock_now(CLOCK_MONOTONIC) + top->stat.interval;
		loop_run(&loop);
		/* nobody reads the terminal any more */
		if (loop.deadline == UINT64_MAX && !loop.is_over)
			top->next = TOP_QUIT;
	} while ((top->look.paused || top->model.view.is_over) && top->next == TOP_STAY &&
		 !signals_stop);
}

static bool show(struct stat *stat)
{
	struct top *top = stat->owner;
	const bool json = stat->session.ctx->json;
	struct top_screen screen = { .has_utf8 = top->has_utf8 };
	struct out *out = &stat->session.ctx->out;
	unsigned int i;

	/* of a file that is read again, take what was shown before, but do not show it */
	if (stat->session.path) {
		if (!json && top->model.end < stat->end)
			top_model_take(&top->model, stat);
		if (top->shown && stat->end <= top->shown)
			return true;
		top->shown = stat->end;
	}

	/* the begun interval, unless the user wants other rows */
	if (top->next != TOP_STAY) {
		if (top->next == TOP_OTHER_SOURCE && top->stat.by == stat->by && !json)
			top_model_take(&top->model, stat);
		return false;
	}
	top->has_worked = true;
	if (!json && !stat->session.path)
		top_model_take(&top->model, stat);
	if (!json && !top->look.paused)
		update(top);
	if (json) {
		stat_print(stat);
	} else if (!top->is_batch) {
		draw(top);
	} else {
		top_screen_rows(&screen, &top->view, &top->look);
		for (i = 0; i < screen.nr; i++)
			out_printf(out, "%s\n", screen.lines[i].text);
		out_putc(out, '\n');
		out_flush(out);
		top_screen_free(&screen);
	}
	if (stat->session.path && !top->is_batch)
		wait_for_replay(top);
	if (top->stat.session.count && !--top->stat.session.count)
		top->next = TOP_QUIT;
	return top->next == TOP_STAY && !out->error;
}

/* Take numbers until the user wants other ones or the end. Return an exit code. */
static int run_source(struct top *top)
{
	const struct words *words = &top->stat.session.choice.words;
	const uint64_t now = clock_now(CLOCK_MONOTONIC);
	struct stat stat;
	unsigned int i;
	int code;

	top->stat.slow = top->is_detail ? &top->slow : NULL;
	stat = top->stat;
	/* the session of a source frees its own words, and has no use for the command line */
	stat.session.choice.words = (struct words){};
	stat.session.command_line = NULL;
	for (i = 0; i < words->nr; i++)
		cmd_add_word(&stat.session.choice.words, words->words[i]);
	if (top->end)
		stat.session.duration = top->end > now ? top->end - now : 1;
	top->slow.stat = &stat;
	top->next = TOP_STAY;
	top->has_worked = false;
	top->model.view.is_over = false;
	stat.is_over = false;
	if (!top->is_batch)
		draw(top);
	code = stat_run(&stat);
	if (!stat.session.path || code || top->is_batch || top->next != TOP_STAY || signals_stop)
		return code;
	top->model.view.is_over = true;
	update(top);
	draw(top);
	wait_for_replay(top);
	return code;
}

/* If a choice of the user is refused, such as a busy ring, show what was shown before. */
static int run(struct top *top)
{
	bool can_return = false;
	int code;

	do {
		code = run_source(top);
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

static int run_on_terminal(struct top *top)
{
	int code;

	top->stat.input_fd = top_terminal_begin();
	if (top->stat.input_fd < 0)
		return EXIT_REFUSED;
	cmd_note_to = keep_note;
	code = run(top);
	cmd_note_to = NULL;
	top_terminal_end();
	if (code && last_note)
		cmd_note("%s", last_note);
	keep_note(NULL);
	return code;
}

static int cmd_top(struct context *ctx, int argc, char **argv)
{
	auto_remote struct hyptrace_remote *remote = NULL;
	struct top top = {
		.stat = {
			.sort = NR_STAT_COLUMNS, .keys = top_columns, .interval = INTERVAL_DEFAULT,
			.show = show, .owner = &top, .has_buckets = true,
		},
	};
	struct session *s = &top.stat.session;
	int code;

	session_parse(s, ctx, NULL, argc, argv, &top);
	code = s->path ? EXIT_DONE : cmd_connect(ctx) ?: cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	top.model.view.source = remote ? remote->name : s->path;
	top.model.view.by = top.stat.by;
	top.view.by = top.stat.by;
	top.view.source = top.model.view.source;
	top.sort = top.stat.sort == NR_STAT_COLUMNS ? COL_TIME : top.stat.sort;
	top.look.sort = top.sort;
	/* on the screen, percentiles are not worth that events are recorded */
	if (!ctx->json)
		top.stat.sort = COL_SAMPLES;
	s->quiet = !ctx->json;
	s->child.no_stdout = true;
	if (s->duration)
		top.end = clock_now(CLOCK_MONOTONIC) + s->duration;
	top.stat.input = top.is_batch ? NULL : take_input;
	top.has_utf8 = top_terminal_has_utf8();
	code = signals_catch() < 0 ? cmd_fail("cannot catch signals: %s", strerror(errno)) :
	       top.is_batch ? run(&top) : run_on_terminal(&top);
	stat_slow_free(&top.slow);
	top_view_free(&top.view);
	top_model_free(&top.model);
	choice_free(&s->choice);
	free(s->command_line);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "top", cmd_top, "Show where the time goes, in place.", VERB_WATCH + 4, true,
	  .takes = SESSION_INPUT | SESSION_EVENT | SESSION_FILTER | SESSION_TIMES |
		   SESSION_DURATION | SESSION_INTERVALS | SESSION_COMMAND | SESSION_GAPS |
		   SESSION_PMU,
	  .child = &stat_argp, .child_input = offsetof(struct top, stat),
	  .argp = {
		.options = options,
		.parser = parse,
		.args_doc = ARGS_COMMAND,
		.doc = "Show the time of CPUs in the host, at EL2 and in guests, and sorted rows of times with the last minute of each, until you press q. The key h shows all keys. For reason, hcall, cpu and lock EL2 only counts; for other rows, and while a single row is shown, events are recorded and consumed. With FILE, a recording is replayed as fast as it was made.",
	  } },
};
