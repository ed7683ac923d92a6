// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the events of a file as lines, with a line printer and a buffer for each thread that the
 * library starts. For cmd_report.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/hyptrace_file.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/out.h"
#include "output/printer.h"
#include "session/select.h"
#include "session/session.h"
#include "lines.h"

/* Bytes of the lines of a piece; if there are more, they are written in parts */
#define PIECE_TEXT	(1 << 20)

struct team {
	struct session		*session;
	struct lines		*lines;		/* of the caller, whose settings all have */
	bool			is_begun;	/* a thread uses the caller's line printer */
	int			error;		/* an errno once a write has failed */
};

struct worker {
	struct team				*team;
	struct lines				*lines;
	struct out				*out;
	const struct hyptrace_file_batch	*batch;
	struct context				own_ctx;
	struct lines				own_lines;
	char					text[PIECE_TEXT];
};

static void before_write(void *arg)
{
	struct worker *w = arg;

	if (w->batch && hyptrace_file_wait(w->batch))
		w->out->error = ECANCELED;
}

/* Make a line printer with the settings of the caller's. */
static void begin_lines(struct worker *w, struct hyptrace_formats *formats)
{
	const struct team *team = w->team;
	const struct session *s = team->session;
	struct context *ctx = &w->own_ctx;
	struct hyptrace_error err;

	ctx->json = s->ctx->json;
	ctx->color = s->ctx->color;
	out_init(&ctx->out, s->ctx->out.fd);
	cmd_make_printer(ctx);
	lines_set_like(&w->own_lines, team->lines);
	if (lines_begin(&w->own_lines, ctx, s->clock, formats, &err))
		die_no_memory();
	lines_begin_table(&w->own_lines, team->lines->wanted, s->events, s->nr_events, false);
	w->lines = &w->own_lines;
	w->out = &ctx->out;
}

static void *begin(struct hyptrace_formats *formats, void *arg)
{
	struct worker *w = xcalloc(1, sizeof(*w));

	w->team = arg;
	w->lines = w->team->lines;
	w->out = &w->team->session->ctx->out;
	if (w->team->is_begun)
		begin_lines(w, formats);
	w->team->is_begun = true;
	out_set_buffer(w->out, w->text, sizeof(w->text));
	w->out->before = before_write;
	w->out->before_arg = w;
	return w;
}

static int print(void *state, const struct hyptrace_file_batch *batch)
{
	struct worker *w = state;

	w->batch = batch;
	if (batch->has_times)
		lines_resume(w->lines, batch->first, batch->previous);
	lines_events(w->lines, batch->events, batch->nr);
	return w->out->error;
}

static int flush(void *state)
{
	struct worker *w = state;

	out_flush(w->out);
	if (w->out->error && w->out->error != ECANCELED)
		w->team->error = w->out->error;
	return w->out->error;
}

static void end(void *state)
{
	struct worker *w = state;

	out_set_buffer(w->out, w->out->own, sizeof(w->out->own));
	w->out->before = NULL;
	if (w->lines == &w->own_lines) {
		lines_end(&w->own_lines);
		printer_free(w->own_ctx.p);
	}
	free(w);
}

static void damage(const struct hyptrace_error *err, void *arg)
{
	struct team *team = arg;

	session_note_damage(err, team->session);
}

/*
 * Print the events of the session's file. Return 0 or a negative errno. An error of the output is
 * in that of its context.
 */
int report_team_run(struct session *s, struct lines *lines, struct hyptrace_error *err)
{
	struct team team = { .session = s, .lines = lines };
	const struct hyptrace_file_work work = {
		.begin = begin, .batch = print, .flush = flush, .damage = damage, .end = end,
		.arg = &team,
		/* the time of a line depends on that of another line */
		.flags = (lines->time == LINES_TIME_REL || lines->time == LINES_TIME_DELTA ?
			  HYPTRACE_FILE_TIMES : 0) |
			 (s->ctx->pretty ? HYPTRACE_FILE_ALONE : 0),
	};
	int ret = hyptrace_file_run(s->file, &work, sizeof(work), err);

	s->ctx->out.error = team.error;
	return ret < 0 ? ret : 0;
}
