// SPDX-License-Identifier: GPL-2.0-only
/* The parts of an export: of events that come in order, or of a file that several threads read. */
#include "output/die.h"
#include "session/loop.h"
#include "export.h"

/* Bytes of what threads write at once; if there are more, they are written in turns, too */
#define PIECE_MAX	(1 << 20)

/* A part, and the buffer of its output */
struct work {
	struct export_part			part;	/* the first: see export_wait() */
	bool					is_begun;
	struct work				*next;
	struct out				out;
};

void export_wait(void *part)
{
	struct work *w = part;

	if (w->part.batch && hyptrace_file_wait(w->part.batch))
		w->out.error = ECANCELED;
}

static struct work *work_new(struct export *x, struct hyptrace_formats *formats)
{
	struct work *w = xcalloc(1, sizeof(*w));

	w->part.x = x;
	w->part.formats = formats;
	if (!x->out)
		return w;
	/* what begin() has written comes first */
	if (x->out->len)
		out_flush(x->out);
	w->part.out = &w->out;
	out_init(&w->out, x->out->fd);
	w->out.abandon = x->out->abandon;
	return w;
}

/* A CPU without events has no part. */
static void put(struct work *w, const struct hyptrace_stream_event *events, unsigned int nr)
{
	if (!w->is_begun) {
		w->part.cpu = events->cpu;
		w->part.x->format->begin_part(&w->part);
	}
	w->is_begun = true;
	w->part.x->format->events(&w->part, events, nr);
}

/* Return an errno once a write has failed. */
static int flush(void *state)
{
	struct work *w = state;
	const struct export_format *format = w->part.x->format;
	const int error = w->is_begun && format->flush ? format->flush(&w->part) : 0;

	if (!w->part.out)
		return error;
	out_flush(w->part.out);
	return w->part.out->error;
}

static void end_work(struct work *w)
{
	struct out *out = w->part.x->out;

	w->part.batch = NULL;
	flush(w);
	if (w->is_begun)
		w->part.x->format->end_part(&w->part);
	/* empty if the format has no buffer */
	out_flush(&w->out);
	if (out && !out->error && w->out.error != ECANCELED)
		out->error = w->out.error;
	out_free(&w->out);
	free(w);
}

void export_put(struct export *x, const struct hyptrace_stream_event *events, unsigned int nr)
{
	const struct hyptrace_stream_event *end = events + nr;

	for (; events < end; events += nr) {
		struct work **w = &x->works;

		nr = end - events;
		if (x->format->by_cpu)
			for (nr = 1; events + nr < end && events[nr].cpu == events->cpu; nr++)
				;
		while (*w && x->format->by_cpu && (*w)->part.cpu != events->cpu)
			w = &(*w)->next;
		if (!*w)
			*w = work_new(x, x->formats);
		/* one thread writes: a buffer of each CPU would be flushed amid another's object */
		(*w)->part.out = x->out;
		put(*w, events, nr);
	}
}

/* Write what is in the buffers. Return an errno once a write has failed. */
int export_flush(struct export *x)
{
	struct work *w;
	int error = 0;

	for (w = x->works; w && !error; w = w->next)
		error = flush(w);
	return error;
}

void export_end_parts(struct export *x)
{
	struct work *w, *next;

	for (w = x->works; w; w = next) {
		next = w->next;
		end_work(w);
	}
	x->works = NULL;
}

static void *begin_work(struct hyptrace_formats *formats, void *x)
{
	struct work *w = work_new(x, formats);

	if (w->part.out)
		out_make_room(&w->out, PIECE_MAX);
	w->out.before = export_wait;
	w->out.before_arg = &w->part;
	return w;
}

static int put_batch(void *state, const struct hyptrace_file_batch *batch)
{
	struct work *w = state;

	w->part.batch = batch;
	put(w, batch->events, batch->nr);
	return w->out.error || signals_stop;
}

static void report_damage(const struct hyptrace_error *err, void *arg)
{
	const struct export *x = arg;

	x->damage(err, x->damage_arg);
}

/* After a signal, other parts may be missing before what this one has not written. */
static void free_work(void *state)
{
	struct work *w = state;

	if (signals_stop && !w->out.error)
		w->out.error = ECANCELED;
	end_work(w);
}

/* Export the events of a file. Return as hyptrace_file_run(). */
int export_file(struct export *x, struct hyptrace_file *file, struct hyptrace_error *err)
{
	const struct export_format *format = x->format;
	const struct hyptrace_file_work work = {
		/* in a folder, each CPU has a file */
		.flags = (!format->by_cpu ? 0 : HYPTRACE_FILE_TURNS |
			  (format->targets & EXPORT_TO_FILE ? 0 : HYPTRACE_FILE_BY_CPU)) |
			 (x->is_alone ? HYPTRACE_FILE_ALONE : 0),
		.arg = x,
		.begin = begin_work,
		.batch = put_batch,
		.flush = flush,
		.damage = report_damage,
		.end = free_work,
	};

	return hyptrace_file_run(file, &work, sizeof(work), err);
}
