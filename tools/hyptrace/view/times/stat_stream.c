// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take the numbers of hyptrace stat from the events as they happen: hold those that are needed
 * enabled, and read them.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "session/counters.h"
#include "session/gaps.h"
#include "session/select.h"
#include "session/signals.h"
#include "stat.h"
#include "stat_slow.h"

/* How long an event may be held back to keep the order of CPUs */
#define BOUND		(10 * NSEC_PER_MSEC)
/* An interval is printed so long after its end: then all its events were read */
#define LATENESS	(3 * BOUND)

#define BUSY_HINT	" (stop it, or use \"hyptrace stat -i FILE\")"

/* The state while events are read */
struct live {
	struct stat			*stat;
	const struct hyptrace_remote	*remote;
	struct hyptrace_stream		*stream;	/* its events */
	/* the events that are counted */
	const char			*names[NR_STAT_EVENTS + STAT_SLOW_EVENTS];
	unsigned int			nr_names;
	int				signal_fd;	/* readable once a signal has come */
	/* the events have the times of CLOCK_BOOTTIME */
	bool				has_clock;
	bool				ended;	/* the end was requested */
	/* the command has ended, or the verb has requested the end */
	bool				is_over;
	bool				has_begun;	/* the events from begin on are counted */
	uint64_t			begin;	/* when to begin to count */
	/* when the interval ends; UINT64_MAX without --interval */
	uint64_t			next;
	/* when to end; UINT64_MAX without --duration */
	uint64_t			deadline;
};

static int fail(const struct live *live, const struct hyptrace_error *err)
{
	/* the subject is a CPU */
	if (err->subject[0])
		return cmd_fail("cannot read %s: %s%s", err->subject, err->text,
				err->errnum == EBUSY ? BUSY_HINT : "");
	return cmd_fail("cannot count the events of \"%s\": %s", live->remote->name, err->text);
}

/* Take the input of the user, also if there are always events to read. */
static void take_input(struct live *live)
{
	struct stat *stat = live->stat;
	struct pollfd fd = { .fd = stat->input_fd, .events = POLLIN };

	if (!live->ended && stat->input && poll(&fd, 1, 0) > 0 && !stat->input(stat))
		live->is_over = true;
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

static void show_interval(struct live *live)
{
	struct stat *stat = live->stat;
	uint64_t end;

	begin_counting(live);
	end = stat->end;
	if (!live->ended)
		cmd_note_gaps(stat->ctx, live->remote->name, live->names, live->nr_names);
	stat->end = live->has_clock ? live->next : 0;
	stat_limits(stat);
	if (!stat->show(stat))
		live->is_over = true;
	stat_cut(stat, stat->end);
	live->next += stat->interval;
	/* after the end, the last events may still belong to several intervals */
	if (end > stat->end)
		stat->end = end;
	take_input(live);
}

static void feed(struct live *live, const struct hyptrace_stream_event *event)
{
	if (event->record.ts >= live->begin)
		begin_counting(live);
	else if (live->has_begun && live->has_clock)
		return;
	while (event->record.ts >= live->next)
		show_interval(live);
	stat_feed(stat_add_cpu(live->stat, event->cpu), &event->record);
}

/* Show the intervals whose events were all read. */
static void show_intervals(struct live *live)
{
	uint64_t now = live->next < UINT64_MAX ? clock_now(CLOCK_BOOTTIME) : 0;

	while (now >= LATENESS && now - LATENESS >= live->next)
		show_interval(live);
}

/* Wait until there may be events, or something ends. */
static void wait_for_events(struct live *live)
{
	uint64_t now = clock_now(CLOCK_BOOTTIME), until = live->deadline;
	struct pollfd fds[] = {
		{ .fd = hyptrace_stream_fd(live->stream), .events = POLLIN },
		/* poll() ignores a negative one: once the end is requested, these stay readable */
		{ .fd = live->ended ? -1 : live->signal_fd, .events = POLLIN },
		{ .fd = live->ended ? -1 : live->stat->child.pidfd, .events = POLLIN },
		{ .fd = live->stat->input && !live->ended ? live->stat->input_fd : -1,
		  .events = POLLIN },
	};
	int msec = -1;

	if (live->ended)
		until = now + BOUND;
	else if (live->next < UINT64_MAX && live->next + LATENESS < until)
		until = live->next + LATENESS;
	if (until < UINT64_MAX)
		msec = now < until ? (until - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC : 0;
	if (poll(fds, 4, msec) > 0 && fds[2].revents)
		live->is_over = true;
	take_input(live);
	show_intervals(live);
}

/* Stop to record events; those that were recorded are still read. */
static void request_end(struct live *live)
{
	cmd_note_gaps(live->stat->ctx, live->remote->name, live->names, live->nr_names);
	live->ended = true;
	if (live->has_clock)
		live->stat->end = clock_now(CLOCK_BOOTTIME);
	hyptrace_stream_end(live->stream);
}

static bool is_over(const struct live *live)
{
	return signals_stop || live->is_over ||
	       (live->deadline < UINT64_MAX && clock_now(CLOCK_BOOTTIME) >= live->deadline);
}

/* Read events until the stream has ended. Return an exit code. */
static int run(struct live *live)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_error err;
	int ret;

	while (!signals_abandon && !live->stat->ctx->out.error) {
		ret = hyptrace_stream_next(live->stream, &event, &err);
		if (ret == -ENODATA)
			return EXIT_DONE;
		if (ret == -EBADMSG)
			cmd_note("%s: the rest of the sub-buffer is skipped", err.text);
		else if (ret < 0)
			return fail(live, &err);
		if (ret > 0)
			feed(live, event);
		else if (!ret)
			wait_for_events(live);
		if (!live->ended && is_over(live))
			request_end(live);
	}
	return EXIT_DONE;
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
static int configure(struct live *live, struct hyptrace_event *const *events)
{
	struct stat *stat = live->stat;
	const struct cpu_list *list = &stat->ctx->cpus;
	struct hyptrace_error err;
	enum stat_event event;

	if (stat->ctx->have_cpus && !list->all &&
	    hyptrace_stream_set_cpus(live->stream, list->ids, list->nr, &err))
		return fail(live, &err);

	for (event = STAT_NONE + 1; event < NR_STAT_EVENTS; event++) {
		if (!stat_by_needs(stat->by, event) && event != STAT_ENTER && event != STAT_EXIT)
			continue;
		if (!stat->kinds.events[event])
			return cmd_fail("the remote \"%s\" has no event %s", live->remote->name,
					stat_event_name(event));
		live->names[live->nr_names++] = stat_event_name(event);
	}
	if (stat->slow)
		live->nr_names += stat_slow_events(stat->by, events,
						   &live->names[live->nr_names]);
	hyptrace_stream_set_bound(live->stream, BOUND);
	if (hyptrace_stream_set_events(live->stream, live->names, live->nr_names, &err))
		return fail(live, &err);
	return EXIT_DONE;
}

static int count_events(struct live *live)
{
	struct stat *stat = live->stat;
	struct hyptrace_error err;
	int code;

	if (hyptrace_stream_start(live->stream, &err))
		return fail(live, &err);
	stat_cost_measure(stat, live->remote->name);
	stat->begin = clock_now(CLOCK_BOOTTIME);
	live->begin = stat->begin;
	live->next = stat->interval ? stat->begin + stat->interval : UINT64_MAX;
	live->deadline = stat->duration ? stat->begin + stat->duration : UINT64_MAX;
	if (!live->has_clock) {
		stat->begin = 0;
		live->has_begun = true;
	}
	code = child_start(&stat->child);
	if (!code)
		code = run(live);
	hyptrace_stream_close(live->stream);
	if (code)
		return code;
	begin_counting(live);
	stat_limits(stat);
	if (stat->end > stat->begin || !stat->interval)
		stat->show(stat);
	return EXIT_DONE;
}

/* Show the numbers of the machine, from now on until the end is requested. */
int stat_stream(struct stat *stat, int signal_fd)
{
	struct live live = { .stat = stat, .signal_fd = signal_fd };
	struct hyptrace_hypercall **calls = NULL;
	struct hyptrace_event **events = NULL;
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	code = cmd_get_remote(stat->ctx, &remote);
	if (code)
		return code;
	stat->ctx->out.abandon = &signals_abandon;
	live.remote = remote;
	live.has_clock = remote->clock && !strcmp(remote->clock, "boot");
	live.stream = hyptrace_stream_new(stat->ctx->h, remote->name, &err);
	if (!live.stream) {
		code = fail(&live, &err);
	} else if (hyptrace_get_events(stat->ctx->h, remote->name, &events, &nr, &err)) {
		code = cmd_fail("cannot list the events of \"%s\": %s", remote->name, err.text);
	} else {
		stat->formats = hyptrace_stream_formats(live.stream);
		calls = cmd_name_hypercalls(stat->ctx, remote->name, stat->formats);
		stat_kinds_init(&stat->kinds, events, nr);
		code = add_cpus(stat, remote->name, live.has_clock &&
				remote->state != HYPTRACE_STATE_TRACING);
		/* Others must not see the visits among their events. */
		if (!code && remote->state != HYPTRACE_STATE_TRACING &&
		    !counters_any_counted(events))
			stat_cost_prepare(stat, remote->name);
		if (!code && stat_can_count(stat, events))
			code = stat_counters(stat, remote->name, signal_fd);
		else if (!code)
			code = configure(&live, events) ?: count_events(&live);
	}
	stat_free(stat);
	hyptrace_stream_free(live.stream);
	hyptrace_free_hypercalls(calls);
	hyptrace_free_events(events);
	hyptrace_free_remote(remote);
	return code;
}
