// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace stream, show, report: print events as they happen, of the rings, or of a file. */
#include "output/die.h"
#include "session/session.h"
#include "sink/export.h"
#include "sink/lines.h"

struct printing {
	struct session		session;
	struct lines		lines;
	struct words		words;		/* stream: the events to enable */
	bool			no_pager;
	struct host_events	host;		/* report: those beside the events of the remote */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct printing *p = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	cmd_add_word(&p->words, arg);
	return 0;
}

static void print(struct session *s, const struct hyptrace_stream_event *events, unsigned int nr)
{
	struct printing *p = s->arg;

	lines_events(&p->lines, events, nr);
}

/* --json may come after the verb's own options. */
static void parse_arguments(struct printing *p, struct context *ctx, int argc, char **argv)
{
	static const struct session_ops ops = { .batch = print };

	session_parse(&p->session, ctx, &ops, argc, argv, p);
	if (p->lines.csv && ctx->json) {
		cmd_note("--csv and --json exclude each other");
		exit(EXIT_USAGE);
	}
}

static int begin(struct printing *p)
{
	struct session *s = &p->session;
	int code = lines_begin(&p->lines, s, s->clock, s->formats);

	if (code)
		return code;
	host_events_share(&p->host, &s->choice, s->file);
	code = session_choose(s);
	if (!code)
		lines_begin_table(&p->lines, s->choice.wanted, s->events, s->nr_events, true);
	return code;
}

static int end(struct printing *p, int code)
{
	lines_end(&p->lines);
	choice_free(&p->host.choice);
	free(p->words.words);
	return session_close(&p->session, code);
}

static int cmd_stream(struct context *ctx, int argc, char **argv)
{
	static struct printing p;
	int code;

	p.session.child.no_stdout = true;
	parse_arguments(&p, ctx, argc, argv);
	code = session_open(&p.session) ?: begin(&p) ?: session_hold_chosen(&p.session, &p.words);
	if (!code) {
		code = session_run(&p.session);
		out_flush(&ctx->out);
		session_note_counts(&p.session, "event", p.session.counts.delivered, "printed");
	}
	return end(&p, code);
}

static int cmd_show(struct context *ctx, int argc, char **argv)
{
	static struct printing p;
	int code;

	parse_arguments(&p, ctx, argc, argv);
	code = session_open(&p.session) ?: begin(&p) ?: session_run(&p.session);
	out_flush(&ctx->out);
	if (!code)
		session_note_counts(&p.session, "event", p.session.counts.delivered, "printed");
	return end(&p, code);
}

/* The part with the formats of the file has the line printer that is begun, others their own. */
static void begin_part(struct export_part *part)
{
	struct printing *p = part->x->state;
	struct session *s = &p->session;
	struct lines *lines = &p->lines;

	if (part->formats != s->formats) {
		lines = xcalloc(1, sizeof(*lines));
		lines->time = p->lines.time;
		lines->raw = p->lines.raw;
		lines->csv = p->lines.csv;
		lines->nanoseconds = p->lines.nanoseconds;
		if (lines_begin(lines, s, s->clock, part->formats))
			die_no_memory();
		lines_begin_table(lines, p->lines.wanted, s->events, s->nr_events, false);
	}
	lines->out = part->out;
	part->state = lines;
}

static void print_part(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	if (part->batch->has_times)
		lines_resume(part->state, part->batch->first, part->batch->previous);
	lines_events(part->state, events, nr);
}

static void end_part(struct export_part *part)
{
	struct printing *p = part->x->state;

	if (part->state == &p->lines)
		return;
	lines_end(part->state);
	free(part->state);
}

static int print_file(struct printing *p)
{
	static const struct export_format format = {
		.begin_part = begin_part, .events = print_part, .end_part = end_part,
	};
	struct session *s = &p->session;
	struct export x = {
		.format = &format, .out = &s->ctx->out, .state = p,
		.damage = session_note_damage, .damage_arg = s,
	};
	struct hyptrace_error err;
	int ret;

	progress_begin(s->file, !s->quiet && is_stdout_file());
	ret = export_file(&x, s->file, &err);
	progress_end();
	session_count_file(s);
	return ret < 0 ? session_fail(s, &err) : EXIT_DONE;
}

/* When the pager has ended, accept all events: the next write then ends the session. */
static bool accept_event(const struct hyptrace_stream_event *event, void *arg)
{
	struct printing *p = arg;

	return pager_has_ended ||
	       choice_accept_event(event, event->is_host ? &p->host.choice : &p->session.choice);
}

/* Print the chosen events of the host, too. CSV has no columns for them. */
static int begin_host(struct printing *p)
{
	struct host_events *h = &p->host;
	struct session *s = &p->session;
	struct hyptrace_file_options *options = hyptrace_file_options(s->file);
	int code = EXIT_DONE;

	h->no_host |= p->lines.csv;
	if (!h->no_host)
		code = lines_begin_host(&p->lines, s, hyptrace_file_info(h->file)) ?:
		       host_events_choose(h, s->ctx->verb->name);
	options->sides = (h->no_remote ? 0 : HYPTRACE_SIDE_REMOTE) |
			 (h->no_host ? 0 : HYPTRACE_SIDE_HOST);
	options->filter = accept_event;
	options->filter_arg = p;
	return code;
}

static int cmd_report(struct context *ctx, int argc, char **argv)
{
	static struct printing p;
	struct session *s = &p.session;
	int code;

	parse_arguments(&p, ctx, argc, argv);
	code = session_open(s) ?: host_events_open(&p.host, s->file, s->path);
	if (!p.no_pager && !code)
		pager_begin(&ctx->out);
	code = code ?: begin(&p);
	if (!code && p.host.file)
		code = begin_host(&p);
	if (!code) {
		code = print_file(&p);
		pager_end(&ctx->out);
		out_flush(&ctx->out);
		session_note_counts(s, "event", s->counts.delivered, "printed");
	}
	pager_end(&ctx->out);
	return end(&p, code);
}

static const struct argp_option options[] = {
	{ "no-pager", OPTION_FLAG(struct printing, no_pager), NULL, 0,
	  "Print to the terminal, without a pager", 0 },
	{ 0 }
};

#define TAKES	(SESSION_QUIET | SESSION_EVENT | SESSION_FILTER)
#define CHILD	.child = &lines_argp, .child_input = offsetof(struct printing, lines)

static const struct verb verbs[] VERBS = {
	{ "stream", cmd_stream, "Print events as they happen, and consume them.",
	  VERB_WATCH + 1, true,
	  .takes = TAKES | SESSION_FIRST | SESSION_BOUND | SESSION_NO_START | SESSION_DURATION |
		   SESSION_COMMAND | SESSION_WORDS,
	  CHILD, .argp = {
		.parser = parse,
		.args_doc = "[EVENT...] [-- COMMAND...]",
		.doc = "Print events as they happen, until a signal comes, or COMMAND has ended. EVENT is a name, a glob such as \"hyp_*\", or all: the stream enables these events and starts tracing. When it ends, the kernel undoes both. Other events that are enabled are printed, too. COMMAND writes to the standard error, and its exit code is returned.",
	  } },
	{ "show", cmd_show, "Print what is in the rings without consuming it.",
	  VERB_WATCH + 8, true, .takes = TAKES | SESSION_LAST | SESSION_SNAPSHOT | SESSION_INPUT,
	  CHILD, .argp = {
		.parser = parse,
		.doc = "Print the events in the rings in the order of time, without consuming them. Tracing and other readers are not affected.",
	  } },
	{ "report", cmd_report, "Print the events of a file.", VERB_FILES + 2, true,
	  .takes = TAKES | SESSION_FILE | SESSION_INPUT | SESSION_TIMES | SESSION_LAST,
	  CHILD, .argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Print the events of a trace file in the order of time. FILE is "
		       FILE_DEFAULT " if it is not given. A file that trace-cmd has recorded is printed, too, and the file of a recording that was killed.",
	  } },
};
