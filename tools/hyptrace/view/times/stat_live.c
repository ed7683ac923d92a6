// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take the numbers of stat and top from a live remote: from the counters of EL2, or from events,
 * which are then held enabled and read.
 */
#include <errno.h>
#include <string.h>

#include "cli/args.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "session/counters.h"
#include "session/gaps.h"
#include "session/loop.h"
#include "session/select.h"
#include "session/signals.h"
#include "stat.h"
#include "stat_slow.h"

/* How long an event may be held back to keep the order of CPUs */
#define BOUND		(10 * NSEC_PER_MSEC)
/* An interval is printed so long after its end: then all its events were read */
#define LATENESS	(3 * BOUND)

/* Events to take before looking whether something else has happened */
#define EVENTS_AT_ONCE	4096

#define BUSY_HINT	" (stop it, or use \"hyptrace stat -i FILE\")"

/* The state while events are read */
struct live {
	struct stat			*stat;
	const struct hyptrace_remote	*remote;
	struct hyptrace_stream		*stream;
	const char			*names[HYPTRACE_NR_KINDS];	/* the events it needs */
	unsigned int			nr_names;
	bool				has_begun;	/* the events from begin on are counted */
	uint64_t			begin;
};

static int fail(const struct live *live, const struct hyptrace_error *err)
{
	/* the subject is a CPU */
	if (err->subject[0])
		return cmd_fail("cannot read %s: %s%s", err->subject, err->text,
				err->errnum == EBUSY ? BUSY_HINT : "");
	return cmd_fail("cannot count the events of \"%s\": %s", live->remote->name, err->text);
}

static void note_gaps(const struct live *live)
{
	cmd_note_gaps(live->stat->ctx, live->remote->name, live->names, live->nr_names);
}

/*
 * Earlier events, such as the visits of stat_cost_measure(), only say where the CPUs are at the
 * begin.
 */
static void begin_counting(struct live *live)
{
	struct stat *stat = live->stat;
	const uint64_t end = stat->end;

	if (live->has_begun)
		return;
	live->has_begun = true;
	stat_cut(stat, live->begin);
	if (end)
		stat->end = end;
	if (stat->slow)
		stat->slow->nr = 0;
}

static void show_interval(struct loop *l)
{
	struct live *live = l->arg;

	begin_counting(live);
	if (!l->has_ended)
		note_gaps(live);
	stat_show_interval(live->stat);
	l->is_over |= live->stat->is_over;
}

static void feed(struct loop *l, const struct hyptrace_stream_event *event)
{
	struct live *live = l->arg;

	if (event->record.ts >= live->begin)
		begin_counting(live);
	else if (live->has_begun && live->stat->has_clock)
		return;
	while (event->record.ts >= live->stat->next)
		show_interval(l);
	stat_feed(live->stat, event, 1);
}

static int take(struct loop *l)
{
	struct live *live = l->arg;
	const struct hyptrace_stream_event *event;
	struct hyptrace_error err;
	unsigned int i;
	int ret = 1;

	for (i = 0; i < EVENTS_AT_ONCE && ret > 0; i++) {
		ret = hyptrace_stream_next(live->stream, &event, &err);
		if (ret > 0)
			feed(l, event);
	}
	if (ret == -ENODATA)
		return EXIT_DONE;
	if (ret == -EBADMSG)
		cmd_note("%s: the rest of the sub-buffer is skipped", err.text);
	else if (ret < 0)
		return fail(live, &err);
	return ret ? LOOP_AGAIN : LOOP_WAIT;
}

/* Show the intervals whose events were all read. */
static uint64_t tick(struct loop *l, uint64_t now)
{
	struct stat *stat = ((struct live *)l->arg)->stat;
	const uint64_t time = clock_now(CLOCK_BOOTTIME);

	/* events that are held back to keep the order of CPUs */
	if (l->has_ended)
		return now + BOUND;
	if (stat->next == UINT64_MAX)
		return UINT64_MAX;
	while (time >= LATENESS && time - LATENESS >= stat->next)
		show_interval(l);
	return now + stat->next + LATENESS - time;
}

static void input(struct loop *l)
{
	struct stat *stat = ((struct live *)l->arg)->stat;

	stat->input(stat);
	l->is_over |= stat->is_over;
}

/* Stop to record events; those that were recorded are still read. */
static bool stop(struct loop *l)
{
	struct live *live = l->arg;

	note_gaps(live);
	if (live->stat->has_clock)
		live->stat->end = clock_now(CLOCK_BOOTTIME);
	hyptrace_stream_end(live->stream);
	return true;
}

/*
 * Add the CPUs that are online. If nobody has traced before, each of them switches its ring on
 * while it is in the host.
 */
static int add_cpus(struct stat *stat, const char *remote, bool in_host)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	code = cmd_get_cpus(stat->ctx, remote, &cpus, &nr);
	if (code)
		return code;
	for (i = 0; i < nr; i++)
		if (cpus[i]->online)
			stat_add_cpu(stat, cpus[i]->id)->times.now = in_host ? STAT_HOST :
									       STAT_UNKNOWN;
	hyptrace_free_cpus(cpus);
	return EXIT_DONE;
}

/* Choose the CPUs and the events of the stream. Return an exit code. */
static int configure(struct live *live)
{
	struct stat *stat = live->stat;
	const struct cpu_list *list = &stat->ctx->cpus;
	struct hyptrace_error err;
	enum hyptrace_kind kind;

	if (stat->ctx->have_cpus && !list->all &&
	    hyptrace_stream_set_cpus(live->stream, list->ids, list->nr, &err))
		return fail(live, &err);

	for (kind = 0; kind < HYPTRACE_NR_KINDS; kind++) {
		const bool is_known = hyptrace_model_of_kind(stat->model, kind);

		if (stat_by_needs(stat->by, kind) || kind == HYPTRACE_KIND_ENTER ||
		    kind == HYPTRACE_KIND_EXIT) {
			if (!is_known)
				return cmd_fail("the remote \"%s\" has no event %s",
						live->remote->name, hyptrace_kind_event(kind));
		} else if (!is_known || !stat->slow || !stat_slow_needs(stat->by, kind)) {
			continue;
		}
		live->names[live->nr_names++] = hyptrace_kind_event(kind);
	}
	hyptrace_stream_set_bound(live->stream, BOUND);
	if (hyptrace_stream_set_events(live->stream, live->names, live->nr_names, &err))
		return fail(live, &err);
	return EXIT_DONE;
}

static int take_events(struct live *live)
{
	static const struct loop_ops ops = {
		.take = take, .tick = tick, .input = input, .stop = stop,
	};
	struct stat *stat = live->stat;
	struct loop loop = LOOP(stat->ctx, &ops, live);
	struct hyptrace_error err;
	int code;

	if (hyptrace_stream_start(live->stream, &err))
		return fail(live, &err);
	stat_cost_measure(stat, live->remote->name);
	live->begin = clock_now(CLOCK_BOOTTIME);
	live->has_begun = !stat->has_clock;
	stat->begin = stat->has_clock ? live->begin : 0;
	stat->next = stat->interval ? live->begin + stat->interval : UINT64_MAX;
	loop.fd = hyptrace_stream_fd(live->stream);
	loop.input_fd = stat->input ? stat->input_fd : -1;
	loop.child = &stat->child;
	code = child_start(&stat->child);
	if (stat->duration)
		loop.deadline = clock_now(CLOCK_MONOTONIC) + stat->duration;
	if (!code)
		code = loop_run(&loop);
	hyptrace_stream_close(live->stream);
	if (code)
		return code;
	begin_counting(live);
	stat_limits(stat);
	if (stat->end > stat->begin || !stat->interval)
		stat->show(stat);
	return EXIT_DONE;
}

int stat_live(struct stat *stat)
{
	struct live live = { .stat = stat };
	struct hyptrace_hypercall **calls = NULL;
	struct hyptrace_event **events;
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	int code;

	code = cmd_get_events(stat->ctx, &remote, &events);
	if (code)
		return code;
	stat->ctx->out.abandon = &signals_abandon;
	live.remote = remote;
	stat->has_clock = remote->clock && !strcmp(remote->clock, "boot");
	live.stream = hyptrace_stream_new(stat->ctx->h, remote->name, &err);
	if (!live.stream) {
		code = fail(&live, &err);
		goto free_events;
	}
	stat->formats = hyptrace_stream_formats(live.stream);
	calls = cmd_name_hypercalls(stat->ctx, remote->name, stat->formats);
	stat->model = hyptrace_model_new(stat->formats, &err);
	if (!stat->model)
		die_no_memory();
	code = add_cpus(stat, remote->name,
			stat->has_clock && remote->state != HYPTRACE_STATE_TRACING);
	/* Others must not see the visits among their events. */
	if (!code && remote->state != HYPTRACE_STATE_TRACING && !counters_any_counted(events))
		stat_cost_prepare(stat, remote->name);
	if (!code && stat_can_count(stat, events))
		code = stat_counters(stat, remote->name);
	else if (!code)
		code = configure(&live) ?: take_events(&live);
	stat_free(stat);
	hyptrace_stream_free(live.stream);
	hyptrace_free_hypercalls(calls);
free_events:
	hyptrace_free_events(events);
	hyptrace_free_remote(remote);
	return code;
}
