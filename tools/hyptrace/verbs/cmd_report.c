// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace report: print the events of a file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/message.h"
#include "output/pager.h"
#include "output/progress.h"
#include "session/gaps.h"
#include "sink/host_events.h"
#include "session/moment.h"
#include "session/select.h"
#include "sink/lines.h"

#define FILE_DEFAULT	"hyptrace.dat"

/* More damaged places than this are only counted. */
#define NOTES_MAX	20

enum {
	OPT_FROM = 0x200,
	OPT_NO_PAGER,
	OPT_TO,
};

#define FROM_HELP \
	"Print no event before this time: seconds of the file's clock, \"+10ms\" (after the first event) or \"-1s\" (before the last one)"

/**
 * struct report - the settings and the state of the verb
 * @ctx:	the verb's context
 * @path:	name of the file
 * @file:	the file
 * @from:	argument of --from
 * @to:		argument of --to
 * @last:	print only the last so many events; 0 for all
 * @no_pager:	start no pager
 * @damaged:	places of the file that are damaged
 * @lines:	prints the lines
 * @host:	the host's events of the file
 */
struct report {
	struct context		*ctx;
	const char		*path;
	struct hyptrace_file	*file;
	struct moment		from;
	struct moment		to;
	uint64_t		last;
	bool			no_pager;
	uint64_t		damaged;
	struct lines		lines;
	struct host_events	host;
};

static const struct argp_option options[] = {
	{ "last", 'n', "N", 0, "Print only the last N events", 0 },
	{ "from", OPT_FROM, "TIME", 0, FROM_HELP, 0 },
	{ "to", OPT_TO, "TIME", 0, "Print no event after this time, likewise", 0 },
	{ "no-pager", OPT_NO_PAGER, NULL, 0, "Print to the terminal, without a pager", 0 },
	{ 0 }
};

static error_t parse_moment(const char *arg, struct moment *moment)
{
	if (moment_parse(arg, moment))
		return 0;
	return cmd_usage("bad time \"%s\": use seconds, +TIME (after the first event) or -TIME (before the last one), such as 12.5, +10ms or -1s",
			 arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report *r = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &r->lines;
		return 0;
	case 'n':
		if (!parse_number(arg, UINT64_MAX, &r->last) || !r->last)
			return cmd_usage("bad count \"%s\": use a number from 1", arg);
		return 0;
	case OPT_FROM:
		return parse_moment(arg, &r->from);
	case OPT_TO:
		return parse_moment(arg, &r->to);
	case OPT_NO_PAGER:
		r->no_pager = true;
		return 0;
	case ARGP_KEY_ARG:
		if (r->path)
			return cmd_usage("unexpected argument \"%s\"", arg);
		r->path = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &lines_argp, 0, NULL, 0 },
	{ 0 }
};

#define DOC \
	"Print the events of a trace file in the order of time. FILE is " FILE_DEFAULT " if it " \
	"is not given. A file that trace-cmd has recorded is printed, too, and the file of a " \
	"recording that was killed."

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "[FILE]",
	.doc = DOC,
};

static int fail(const struct report *r, const struct hyptrace_error *err)
{
	return cmd_fail("cannot read \"%s\": %s", r->path, err->text);
}

static void note_damage(const struct hyptrace_error *err, void *arg)
{
	struct report *r = arg;

	if (++r->damaged > NOTES_MAX)
		return;
	out_flush(&r->ctx->out);
	cmd_note("\"%s\": %s", r->path, err->text);
	if (r->damaged == NOTES_MAX)
		cmd_note("\"%s\": other damaged places are only counted", r->path);
}

/* When the pager has ended, accept all events: the next write then ends the report. */
static bool accept_event(const struct hyptrace_stream_event *event, void *lines)
{
	return pager_has_ended || lines_accept_event(event, lines);
}

/* Print the events. Return an exit code. */
static int run(struct report *r)
{
	struct hyptrace_error err;
	int ret;

	if (r->host.file) {
		ret = report_host_run(&r->host, &r->lines, r->file, note_damage, r, &err);
		if (ret)
			return fail(r, &err);
		return r->damaged ? EXIT_REFUSED : EXIT_DONE;
	}
	out_flush(&r->ctx->out);
	ret = report_team_run(&r->lines, r->ctx, r->file, note_damage, r, &err);
	if (ret)
		return fail(r, &err);
	return r->damaged ? EXIT_REFUSED : EXIT_DONE;
}

static void print_counts(const struct report *r)
{
	struct hyptrace_file_counts counts;
	char filtered[FILTER_COUNT_SIZE];

	/* not all of them were written */
	if (out_has_failed(&r->ctx->out))
		return;
	hyptrace_file_counts(r->file, &counts, sizeof(counts));
	report_host_counts(&r->host, &counts);
	if (r->damaged >= NOTES_MAX)
		cmd_note("\"%s\": %" PRIu64 " places are damaged", r->path, r->damaged);
	if (r->lines.quiet && !counts.lost && !counts.lost_more)
		return;
	cmd_note("%" PRIu64 " event%s %s%s, %" PRIu64 "%s lost", counts.delivered,
		 counts.delivered == 1 ? "" : "s", out_printed(&r->ctx->out, "printed"),
		 lines_filter_count(&r->lines, counts.filtered, filtered), counts.lost,
		 counts.lost_more ? " or more" : "");
}

/* Apply the options to the file. */
static int configure(struct report *r)
{
	const struct cpu_list *list = &r->ctx->cpus;
	struct hyptrace_event *const *events;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	if (r->ctx->have_cpus && !list->all &&
	    hyptrace_file_set_cpus(r->file, list->ids, list->nr, &err))
		return fail(r, &err);
	if (moment_set_times(r->file, &r->from, &r->to, &err))
		return fail(r, &err);
	hyptrace_file_set_last(r->file, r->last);
	events = hyptrace_file_events(r->file, &nr);
	host_events_share(&r->host, &r->lines, r->file);
	code = lines_choose(&r->lines, "report", events, nr);
	if (!code && lines_has_choice(&r->lines))
		hyptrace_file_set_filter(r->file, accept_event, &r->lines);
	if (!code && r->host.file)
		code = report_host_configure(&r->host, &r->lines, r->ctx, r->file, &err);
	return code < 0 ? fail(r, &err) : code;
}

static int report_events(struct report *r)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(r->file);
	const struct hyptrace_remote remote = { .clock = info->clock ? info->clock : "" };
	struct hyptrace_error err;
	int code;

	r->lines.has_offset = info->offset;
	r->lines.offset = info->offset;
	if (lines_begin(&r->lines, r->ctx, &remote, hyptrace_file_formats(r->file), &err))
		return fail(r, &err);
	code = configure(r);
	if (code)
		return code;
	progress_begin(r->file, !r->lines.quiet && is_stdout_file());
	code = run(r);
	progress_end();
	pager_end(&r->ctx->out);
	out_flush(&r->ctx->out);
	print_counts(r);
	return code;
}

int cmd_report(struct context *ctx, int argc, char **argv)
{
	struct report r = { .ctx = ctx };
	struct hyptrace_error err;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &r);
	code = lines_check(&r.lines, ctx);
	if (code)
		return code;
	if (!r.path)
		r.path = FILE_DEFAULT;
	cmd_make_printer(ctx);
	r.file = hyptrace_file_open(r.path, &err);
	if (!r.file)
		return fail(&r, &err);
	if (!r.lines.quiet)
		gaps_note_file(r.file, r.path);
	code = host_events_open(&r.host, r.file, r.path);
	if (!r.no_pager && !code)
		pager_begin(&ctx->out);
	if (!code)
		code = report_events(&r);
	pager_end(&ctx->out);
	lines_end(&r.lines);
	host_events_close(&r.host);
	hyptrace_file_close(r.file);
	return code;
}
