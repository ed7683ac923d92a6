// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace show: print what the rings hold, without consuming it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "output/out.h"
#include "session/edge_losses.h"
#include "session/select.h"
#include "sink/lines.h"

/**
 * struct source - a CPU's ring
 * @cpu:	the CPU
 * @reader:	its observer
 * @snap:	a copy of what it holds
 * @rec:	the next event of @snap
 * @before:	counters of the ring before @snap was taken
 * @edge:	losses that no record of @snap reports
 * @inner:	losses that its records have reported
 * @has_ended:	@rec is the losses after the last event
 */
struct source {
	unsigned int			cpu;
	struct hyptrace_reader		*reader;
	struct hyptrace_snapshot	*snap;
	struct hyptrace_record		rec;
	struct hyptrace_cpu		before;
	struct edge_losses		edge;
	uint64_t			inner;
	bool				has_ended;
};

/**
 * struct show - the options and the state of the verb
 * @ctx:	the verb's context
 * @remote:	the remote
 * @lines:	prints the lines
 * @last:	print only the last so many events; 0 for all
 * @skip:	older events that are still to be skipped
 * @printed:	events printed
 * @filtered:	events after the skipped ones that were not chosen
 * @lost:	events lost
 * @lost_more:	more were lost, but their number is not known
 * @sources:	one per CPU
 * @nr:		number of @sources
 */
struct show {
	struct context			*ctx;
	const struct hyptrace_remote	*remote;
	struct lines			lines;
	uint64_t			last;
	uint64_t			skip;
	uint64_t			printed;
	uint64_t			filtered;
	uint64_t			lost;
	bool				lost_more;
	struct source			*sources;
	unsigned int			nr;
};

static const struct argp_option options[] = {
	{ "last", 'n', "N", 0, "Print only the last N events", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show *show = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &show->lines;
		return 0;
	case 'n':
		if (!parse_number(arg, UINT64_MAX, &show->last) || !show->last)
			return cmd_usage("bad count \"%s\": use a number from 1", arg);
		return 0;
	case ARGP_KEY_ARG:
		return cmd_usage("unexpected argument \"%s\"", arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &lines_argp, 0, NULL, 0 },
	{ 0 }
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.doc = "Print the events in the rings in the order of time, without consuming them. Tracing and other readers are not affected.",
};

static int open_sources(struct show *show, struct hyptrace_cpu *const *cpus, unsigned int nr)
{
	const struct context *ctx = show->ctx;
	const char *remote = show->remote->name;
	struct hyptrace_error err;
	unsigned int i;

	show->sources = calloc(nr ? nr : 1, sizeof(*show->sources));
	if (!show->sources)
		die_no_memory();
	for (i = 0; i < nr; i++) {
		struct source *src = &show->sources[show->nr];

		src->reader = hyptrace_reader_open_snapshot(remote, cpus[i]->id, &err);
		if (src->reader) {
			src->cpu = cpus[i]->id;
			src->before = *cpus[i];
			show->nr++;
			continue;
		}
		if (err.errnum == ENODATA)
			return cmd_fail("cannot show \"%s\": the rings are not loaded: use \"hyptrace start\" or \"hyptrace load\"",
					remote);
		/* "all" means all CPUs that have a ring */
		if (err.errnum != ENXIO || (ctx->have_cpus && !ctx->cpus.all))
			return cmd_fail("cannot show CPU %u of \"%s\": %s", cpus[i]->id, remote,
					err.text);
	}
	if (!show->nr)
		return cmd_fail("cannot show \"%s\": no CPU has a ring", remote);
	return EXIT_DONE;
}

static bool is_met(const struct show *show, const struct hyptrace_record *rec)
{
	return lines_accept(&show->lines, rec);
}

/* Count the events that meet the filter. */
static uint64_t count_met(const struct show *show, struct hyptrace_snapshot *snap)
{
	struct hyptrace_record rec;
	uint64_t met = 0;
	int ret;

	while ((ret = hyptrace_snapshot_next(snap, &rec, NULL)))
		met += ret > 0 && is_met(show, &rec);
	hyptrace_snapshot_rewind(snap);
	return met;
}

/* Find out what was lost before and after the events of the snapshots. */
static void find_edge_losses(struct show *show)
{
	struct hyptrace_cpu *after;
	unsigned int i;

	for (i = 0; i < show->nr; i++) {
		struct source *src = &show->sources[i];

		if (hyptrace_get_cpu(show->ctx->h, show->remote->name, src->cpu, &after, NULL))
			continue;
		edge_losses_find(&src->edge, &src->before, after);
		hyptrace_free_cpu(after);
		/* what is before the last events is not printed, be it lost or not */
		if (show->last)
			src->edge.begin = 0;
	}
}

/* Take all snapshots before printing, so that they are from about the same time. */
static int take_snapshots(struct show *show)
{
	/*
	 * How many of the last events meet the filter is not known yet, nor how many events were
	 * dropped between others.
	 */
	const bool choice = lines_has_choice(&show->lines) ||
			    show->remote->mode == HYPTRACE_MODE_DISCARD;
	const uint64_t last = choice ? 0 : show->last;
	struct hyptrace_error err;
	uint64_t events = 0;
	unsigned int i;

	for (i = 0; i < show->nr; i++) {
		struct source *src = &show->sources[i];

		src->snap = hyptrace_snapshot_take(src->reader, show->remote->mode, last, &err);
		if (!src->snap)
			return cmd_fail("cannot show CPU %u of \"%s\": %s%s", src->cpu,
					show->remote->name, err.text,
					err.errnum == ENOMEM && !choice ? " (use --last)" : "");
	}
	for (i = 0; i < show->nr && show->last; i++)
		events += choice ? count_met(show, show->sources[i].snap) :
				   hyptrace_snapshot_events(show->sources[i].snap);
	if (show->last && events > show->last)
		show->skip = events - show->last;
	find_edge_losses(show);
	return EXIT_DONE;
}

static void print_lost(struct show *show, const struct source *src, uint64_t ts, uint64_t lost)
{
	if (!lost)
		return;
	if (lost == HYPTRACE_LOST_UNKNOWN)
		show->lost_more = true;
	else
		show->lost += lost;
	lines_lost(&show->lines, src->cpu, ts, lost);
}

static void emit(struct show *show, struct source *src)
{
	const bool met = src->rec.data && is_met(show, &src->rec);

	if (show->skip) {
		show->skip -= met;
		return;
	}
	print_lost(show, src, src->rec.ts, src->rec.lost);
	if (!met) {
		show->filtered += !!src->rec.data;
		return;
	}
	lines_event(&show->lines, src->cpu, &src->rec);
	show->printed++;
}

/* Make the losses after the last event a record without data, at the time of that event. */
static bool end_source(struct source *src)
{
	uint64_t lost = hyptrace_snapshot_lost(src->snap);

	src->has_ended = true;
	src->inner = edge_losses_add(src->inner, lost);
	lost = edge_losses_add(lost, src->edge.begin);
	src->rec.lost = edge_losses_add(lost, edge_losses_end(&src->edge, src->inner));
	src->rec.data = NULL;
	/* without events, the time of the losses is not known */
	if (!src->rec.ts)
		src->rec.ts = clock_now(CLOCK_BOOTTIME);
	return src->rec.lost;
}

/* Get the next event of a source, or the losses after the last one; return false at the end. */
static bool next_event(struct show *show, struct source *src)
{
	struct hyptrace_error err;
	int ret;

	if (src->has_ended)
		return false;

	while ((ret = hyptrace_snapshot_next(src->snap, &src->rec, &err)) < 0) {
		out_flush(&show->ctx->out);
		cmd_note("CPU %u: %s: the rest of the sub-buffer is skipped", src->cpu, err.text);
	}
	if (!ret)
		return end_source(src);
	src->inner = edge_losses_add(src->inner, src->rec.lost);
	src->rec.lost = edge_losses_add(src->rec.lost, src->edge.begin);
	src->edge.begin = 0;
	return true;
}

static void print_all(struct show *show)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(show->nr, 0);
	struct out *out = &show->ctx->out;
	enum hyptrace_merge_step step;
	unsigned int i;

	if (!merge)
		die_no_memory();
	hyptrace_merge_finish(merge);
	while (!out->error && (step = hyptrace_merge_step(merge, &i)) != HYPTRACE_MERGE_WAIT) {
		struct source *src = &show->sources[i];

		if (step == HYPTRACE_MERGE_EMIT)
			emit(show, src);
		else if (next_event(show, src))
			hyptrace_merge_pending(merge, i, src->rec.ts, src->rec.ts);
		else
			hyptrace_merge_empty(merge, i, 0);
	}
	hyptrace_merge_free(merge);
	out_flush(out);
}

static void print_counts(const struct show *show)
{
	const char *s = show->printed == 1 ? "" : "s";
	const char *shown = out_printed(&show->ctx->out, "shown");
	char filtered[FILTER_COUNT_SIZE];

	/* not all of them were written */
	if (out_has_failed(&show->ctx->out))
		return;
	lines_filter_count(&show->lines, show->filtered, filtered);
	if (show->lost || show->lost_more)
		cmd_note("%" PRIu64 " event%s %s%s, %" PRIu64 "%s lost", show->printed, s, shown,
			 filtered, show->lost, show->lost_more ? " or more" : "");
	else if (!show->lines.quiet)
		cmd_note("%" PRIu64 " event%s %s%s", show->printed, s, shown, filtered);
}

static int show_cpus(struct show *show)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	code = cmd_get_cpus(show->ctx, show->remote->name, &cpus, &nr);
	if (code)
		return code;
	code = open_sources(show, cpus, nr);
	hyptrace_free_cpus(cpus);
	if (!code)
		code = take_snapshots(show);
	/* detach before printing: an observer keeps others from unloading or resizing */
	for (i = 0; i < show->nr; i++)
		hyptrace_reader_close(show->sources[i].reader);
	if (!code) {
		print_all(show);
		print_counts(show);
	}
	for (i = 0; i < show->nr; i++)
		hyptrace_snapshot_free(show->sources[i].snap);
	free(show->sources);
	return code;
}

static int show_remote(struct show *show)
{
	const char *name = show->remote->name;
	struct hyptrace_hypercall **calls = NULL;
	struct hyptrace_formats *formats;
	struct hyptrace_event **events;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	if (hyptrace_get_events(show->ctx->h, name, &events, &nr, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", name, err.text);
	formats = hyptrace_formats_new(events, nr, &err);
	if (formats)
		calls = cmd_name_hypercalls(show->ctx, name, formats);
	if (!formats || lines_begin(&show->lines, show->ctx, show->remote, formats, &err))
		code = cmd_fail("cannot show \"%s\": %s", name, err.text);
	else
		code = lines_choose(&show->lines, "show", events, nr);
	if (!code)
		code = show_cpus(show);
	lines_end(&show->lines);
	hyptrace_formats_free(formats);
	hyptrace_free_hypercalls(calls);
	hyptrace_free_events(events);
	return code;
}

int cmd_show(struct context *ctx, int argc, char **argv)
{
	struct show show = { .ctx = ctx };
	struct hyptrace_remote *remote;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &show);
	code = lines_check(&show.lines, ctx);
	if (!code)
		code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	show.remote = remote;
	code = show_remote(&show);
	hyptrace_free_remote(remote);
	return code;
}
