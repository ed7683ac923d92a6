// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace show: print what the rings hold, without consuming it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "stream.h"

enum {
	OPT_LAST = 0x200,
	OPT_NS,
};

/**
 * struct source - a CPU's ring
 * @cpu:	the CPU
 * @reader:	its observer
 * @snap:	a copy of what it holds
 * @rec:	the next event of @snap
 */
struct source {
	unsigned int			cpu;
	struct hyptrace_reader		*reader;
	struct hyptrace_snapshot	*snap;
	struct hyptrace_record		rec;
};

/**
 * struct show - the state of the verb
 * @lines:	prints the lines
 * @last:	print only the last so many events; 0 for all
 * @skip:	older events that are still to be skipped
 * @sources:	one per CPU
 * @nr:		number of @sources
 */
struct show {
	struct stream	lines;
	uint64_t	last;
	uint64_t	skip;
	struct source	*sources;
	unsigned int	nr;
};

static const struct argp_option options[] = {
	{ "last", OPT_LAST, "N", 0, "Only the last N events", 0 },
	{ "ns", OPT_NS, NULL, 0, "Print times with nanoseconds", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show *show = state->input;

	switch (key) {
	case OPT_LAST:
		if (!parse_number(arg, UINT64_MAX, &show->last) || !show->last)
			argp_error(state, "bad count \"%s\": write a number from 1", arg);
		return 0;
	case OPT_NS:
		show->lines.nanoseconds = true;
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
	.args_doc = "show",
	.doc = "Print the events that are in the rings, and leave them there. Whoever reads the rings, and what is traced, goes on as if nothing had happened.",
};

static int open_sources(struct show *show, struct hyptrace_cpu *const *cpus, unsigned int nr)
{
	const struct context *ctx = show->lines.ctx;
	const char *remote = show->lines.remote->name;
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
			show->nr++;
			continue;
		}
		if (err.errnum == ENODATA)
			return cmd_fail("cannot show \"%s\": %s", remote, err.text);
		/* "all" means all CPUs that have a ring */
		if (err.errnum != ENXIO || (ctx->have_cpus && !ctx->cpus.all))
			return cmd_fail("cannot show CPU %u of \"%s\": %s", cpus[i]->id, remote,
					err.text);
	}
	if (!show->nr)
		return cmd_fail("cannot show \"%s\": no CPU has a ring", remote);
	return EXIT_DONE;
}

/* Take all snapshots before printing, so that they are from about the same time. */
static int take_snapshots(struct show *show)
{
	struct hyptrace_error err;
	uint64_t events = 0;
	unsigned int i;

	for (i = 0; i < show->nr; i++) {
		struct source *src = &show->sources[i];

		src->snap = hyptrace_snapshot_take(src->reader, show->lines.remote->mode,
						   show->last, &err);
		if (!src->snap)
			return cmd_fail("cannot show CPU %u of \"%s\": %s%s", src->cpu,
					show->lines.remote->name, err.text,
					err.errnum == ENOMEM ? "; try --last" : "");
		events += hyptrace_snapshot_events(src->snap);
	}
	if (events > show->last)
		show->skip = events - show->last;
	return EXIT_DONE;
}

static void tell_lost(struct show *show, struct source *src, uint64_t lost)
{
	if (!lost)
		return;
	if (lost == HYPTRACE_LOST_UNKNOWN)
		show->lines.lost_more = true;
	else
		show->lines.lost += lost;
	stream_print_lost(&show->lines, src->cpu, lost);
}

static void emit(struct show *show, struct source *src)
{
	if (show->skip) {
		show->skip--;
		return;
	}
	tell_lost(show, src, src->rec.lost);
	stream_print_event(&show->lines, src->cpu, &src->rec);
	show->lines.printed++;
}

/* Get the next event of a source; return false if there is none. */
static bool next_event(struct source *src)
{
	struct hyptrace_error err;
	int ret;

	while ((ret = hyptrace_snapshot_next(src->snap, &src->rec, &err)) < 0)
		cmd_note("CPU %u: %s; the rest of it is passed over", src->cpu, err.text);
	return ret > 0;
}

static void print_all(struct show *show)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(show->nr, 0);
	const struct out *out = &show->lines.ctx->out;
	enum hyptrace_merge_step step;
	unsigned int i;

	if (!merge)
		die_no_memory();
	hyptrace_merge_finish(merge);
	while (!out->error && (step = hyptrace_merge_step(merge, &i)) != HYPTRACE_MERGE_WAIT) {
		struct source *src = &show->sources[i];

		if (step == HYPTRACE_MERGE_EMIT)
			emit(show, src);
		else if (next_event(src))
			hyptrace_merge_pending(merge, i, src->rec.ts, src->rec.ts);
		else
			hyptrace_merge_empty(merge, i, 0);
	}
	hyptrace_merge_free(merge);
	/* losses after the last event of a ring */
	for (i = 0; i < show->nr; i++)
		tell_lost(show, &show->sources[i], hyptrace_snapshot_lost(show->sources[i].snap));
	out_flush(&show->lines.ctx->out);
}

static void say_how_many(const struct show *show)
{
	const struct stream *lines = &show->lines;
	const char *s = lines->printed == 1 ? "" : "s";

	if (lines->lost || lines->lost_more)
		cmd_note("%" PRIu64 " event%s shown, %" PRIu64 "%s lost in between",
			 lines->printed, s, lines->lost, lines->lost_more ? " or more" : "");
	else
		cmd_note("%" PRIu64 " event%s shown", lines->printed, s);
}

static int show_cpus(struct show *show)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	code = cmd_get_cpus(show->lines.ctx, show->lines.remote->name, &cpus, &nr);
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
		say_how_many(show);
	}
	for (i = 0; i < show->nr; i++)
		hyptrace_snapshot_free(show->sources[i].snap);
	free(show->sources);
	return code;
}

static int show_remote(struct show *show)
{
	const char *name = show->lines.remote->name;
	struct hyptrace_event **events;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	if (hyptrace_get_events(show->lines.ctx->h, name, &events, &nr, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", name, err.text);
	show->lines.formats = hyptrace_formats_new(events, nr, &err);
	if (!show->lines.formats || stream_print_begin(&show->lines, &err))
		code = cmd_fail("cannot show \"%s\": %s", name, err.text);
	else
		code = show_cpus(show);
	hyptrace_formats_free(show->lines.formats);
	hyptrace_free_events(events);
	return code;
}

int cmd_show(struct context *ctx, int argc, char **argv)
{
	struct show show = { .lines.ctx = ctx };
	struct hyptrace_remote *remote;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &show);
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	show.lines.remote = remote;
	code = show_remote(&show);
	hyptrace_free_remote(remote);
	return code;
}
