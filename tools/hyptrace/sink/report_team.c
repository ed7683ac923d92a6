// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the events of a file in several threads. For cmd_report.c.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "lib/event/format_foreign.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/out.h"
#include "output/printer.h"
#include "session/select.h"
#include "report_team.h"

#define THREADS_MAX	4
/* A file with fewer bytes of sub-buffers is printed before all threads run. */
#define BYTES_MIN	(2 << 20)

/**
 * report_wait - wait until the pieces before that of a worker are written
 * @w:		the worker
 *
 * If they have failed, the piece is not written.
 */
void report_wait(struct worker *w)
{
	struct report_team *team = w->team;

	pthread_mutex_lock(&team->writing);
	while (team->turn != w->number)
		pthread_cond_wait(&team->changed, &team->writing);
	pthread_mutex_unlock(&team->writing);
	if (team->ret || team->error)
		w->ctx.out.error = ECANCELED;
}

/* The output of a worker writes to the descriptor. */
static void before_write(struct out *out)
{
	report_wait((struct worker *)((char *)out - offsetof(struct worker, ctx.out)));
}

static void stop(struct report_team *team)
{
	pthread_mutex_lock(&team->reading);
	team->over = true;
	pthread_mutex_unlock(&team->reading);
}

/**
 * report_write - write the lines of a worker when its turn has come
 * @w:		the worker
 */
void report_write(struct worker *w)
{
	report_wait(w);
	out_flush(&w->ctx.out);
	if (!w->ctx.out.error || w->ctx.out.error == ECANCELED)
		return;
	w->team->error = w->ctx.out.error;
	stop(w->team);
}

/**
 * report_fail - report that a piece could not be read
 * @w:		the worker, after report_write()
 * @ret:	a negative errno: after -EBADMSG, a damaged place, reading can continue
 * @err:	the reason
 */
void report_fail(struct worker *w, int ret, const struct hyptrace_error *err)
{
	struct report_team *team = w->team;

	if (w->ctx.out.error)
		return;
	if (ret == -EBADMSG) {
		team->note(err, team->arg);
		return;
	}
	team->ret = ret;
	team->err = *err;
	stop(team);
}

/**
 * report_pass - pass the turn on
 * @w:		the worker, which has written its piece
 */
void report_pass(struct worker *w)
{
	struct report_team *team = w->team;

	pthread_mutex_lock(&team->writing);
	team->turn++;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->writing);
}

/* Make formats as those of the file. */
static struct hyptrace_formats *copy_formats(const struct hyptrace_file *file)
{
	struct hyptrace_hypercall *const *calls;
	struct hyptrace_event *const *events;
	struct hyptrace_formats *formats;
	unsigned int nr, nr_calls;

	events = hyptrace_file_events(file, &nr);
	calls = hyptrace_file_hypercalls(file, &nr_calls);
	formats = hyptrace_formats_new(events, nr, NULL);
	if (!formats || hyptrace_formats_set_hypercalls(formats, calls, nr_calls, NULL))
		die_no_memory();
	hyptrace_formats_distrust(formats);
	return formats;
}

/* Make a line printer with the settings of the caller's. */
static void begin_lines(struct worker *w)
{
	const struct hyptrace_file *file = w->team->file;
	const struct hyptrace_remote remote = { .clock = hyptrace_file_info(file)->clock };
	struct hyptrace_event *const *events;
	struct hyptrace_error err;
	unsigned int nr;

	if (!w->formats)
		w->formats = copy_formats(file);
	events = hyptrace_file_events(file, &nr);
	if (lines_begin_as(&w->lines, w->team->lines, &w->ctx, &remote, w->formats, events, nr,
			   &err))
		die_no_memory();
}

static void *work(void *arg)
{
	struct worker *w = arg;

	begin_lines(w);
	while (w->team->in_parts ? report_part(w) : report_batch(w))
		;
	return NULL;
}

static struct worker *worker_new(struct report_team *team, struct hyptrace_formats *formats)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		die_no_memory();
	w->team = team;
	w->formats = formats;
	w->text = malloc(PIECE_TEXT);
	if (!w->text)
		die_no_memory();
	w->ctx.pretty = team->ctx->pretty;
	w->ctx.json = team->ctx->json;
	w->ctx.color = team->ctx->color;
	out_init(&w->ctx.out, team->ctx->out.fd);
	out_set_buffer(&w->ctx.out, w->text, PIECE_TEXT);
	w->ctx.out.before = before_write;
	cmd_make_printer(&w->ctx);
	if (team->in_parts)
		report_part_init(w);
	else
		report_batch_init(w);
	return w;
}

static void worker_free(struct worker *w)
{
	lines_end(&w->lines);
	if (w->formats != hyptrace_file_formats(w->team->file))
		hyptrace_formats_free(w->formats);
	printer_free(w->ctx.p);
	hyptrace_file_part_free(w->part);
	free(w->batch);
	free(w->text);
	free(w);
}

static unsigned int count_threads(void)
{
	cpu_set_t set;
	unsigned int nr;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	nr = CPU_COUNT(&set);
	return nr < THREADS_MAX ? nr : THREADS_MAX;
}

/**
 * report_team_helps - is a file printed faster by several threads?
 * @lines:	the line printer
 * @ctx:	the context
 * @file:	the file
 *
 * Return: true if it is.
 */
bool report_team_helps(const struct lines *lines, const struct context *ctx,
		       const struct hyptrace_file *file)
{
	const struct hyptrace_file_cpu *const *cpus;
	uint64_t size = 0;
	unsigned int nr, i;

	/* libtraceevent prints the events with tasks */
	if (ctx->pretty || lines->tasks || count_threads() < 2)
		return false;
	cpus = hyptrace_file_cpus(file, &nr);
	for (i = 0; i < nr; i++)
		size += cpus[i]->size;
	return size >= BYTES_MIN;
}

/**
 * report_team_run - print the events of a file
 * @lines:	the line printer, after lines_choose()
 * @ctx:	the context, whose output is empty
 * @file:	the file, with all its settings
 * @note:	prints a note about a damaged place; the threads call it one by one
 * @arg:	its second argument
 * @err:	the reason if it fails
 *
 * Return: 0 or a negative errno. An error of the output is in that of @ctx.
 */
int report_team_run(struct lines *lines, struct context *ctx, struct hyptrace_file *file,
		    void (*note)(const struct hyptrace_error *err, void *arg), void *arg,
		    struct hyptrace_error *err)
{
	struct report_team team = {
		.lines = lines, .ctx = ctx, .file = file, .note = note, .arg = arg,
		.reading = PTHREAD_MUTEX_INITIALIZER, .writing = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	struct worker *workers[THREADS_MAX] = {};
	unsigned int nr = count_threads(), i;

	team.in_parts = report_parts_begin(&team);
	/* before a thread changes the file */
	for (i = 0; i < nr; i++)
		workers[i] = worker_new(&team, i ? NULL : hyptrace_file_formats(file));
	for (i = 1; i < nr; i++) {
		/* fewer threads take longer */
		if (!pthread_create(&workers[i]->thread, NULL, work, workers[i]))
			continue;
		while (nr > i)
			worker_free(workers[--nr]);
	}
	work(workers[0]);
	for (i = 0; i < nr; i++) {
		if (i)
			pthread_join(workers[i]->thread, NULL);
		worker_free(workers[i]);
	}
	ctx->out.error = team.error;
	if (team.ret)
		*err = team.err;
	return team.ret;
}
