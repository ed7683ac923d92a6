// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: trace a remote. For cmd_strace.c.
 *
 * The stream holds the events of the calls enabled and tracing on. What -e and -F allow becomes a
 * filter at EL2, so that other calls leave no events; the kernel restores the filters that the
 * events had before at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "session/event_hold.h"
#include "session/gaps.h"
#include "session/select.h"
#include "session/signals.h"
#include "strace_run.h"

/* Descriptors to wait for */
#define FDS		4

/* Events to take before looking whether the trace is to end */
#define EVENTS_AT_ONCE	1024

#define BUSY_HINT	" (stop it, or use another --cpu)"

/**
 * struct live - the remote that is traced
 * @s:		the verb
 * @remote:	the remote
 * @list:	its events
 * @nr:		number of @list
 * @hypercalls:	its hypercalls, or NULL
 * @nr_hypercalls: number of @hypercalls
 * @stream:	its events as they happen
 * @signal_fd:	readable after a signal
 * @ended:	the end was requested
 * @begin:	when the trace began; 0 if the events have no times of CLOCK_BOOTTIME
 */
struct live {
	struct strace			*s;
	struct hyptrace_remote		*remote;
	struct hyptrace_event		**list;
	unsigned int			nr;
	struct hyptrace_hypercall	**hypercalls;
	unsigned int			nr_hypercalls;
	struct hyptrace_stream		*stream;
	int				signal_fd;
	bool				ended;
	uint64_t			begin;
};

static int fail(const struct live *live, const struct hyptrace_error *err)
{
	/* the subject is a CPU */
	if (err->subject[0])
		return cmd_fail("cannot read %s: %s%s", err->subject, err->text,
				err->errnum == EBUSY ? BUSY_HINT : "");
	return cmd_fail("cannot trace \"%s\": %s", live->remote->name, err->text);
}

/* The events that say which vCPU is on a CPU */
static const enum hyptrace_kind witnesses[] = {
	HYPTRACE_KIND_VCPU_LOAD, HYPTRACE_KIND_VCPU_PUT, HYPTRACE_KIND_GUEST_EXIT,
};

#define NR_WITNESSES	(sizeof(witnesses) / sizeof(witnesses[0]))

static const struct hyptrace_event *event_of(const struct strace *s, enum hyptrace_kind kind)
{
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(s->events.model, kind);

	return meaning ? meaning->event : NULL;
}

static bool is_witness(const struct strace *s, const struct hyptrace_event *event)
{
	unsigned int i;

	for (i = 0; i < NR_WITNESSES && s->vms.nr; i++)
		if (event == event_of(s, witnesses[i]))
			return true;
	return false;
}

/* Parse a filter of two conditions, of which each may be NULL, or NULL if it does not fit. */
static struct hyptrace_filter *parse_both(const struct hyptrace_event *event, const char *one,
					  const char *other)
{
	struct hyptrace_filter *filter;
	char *text;
	size_t at;
	int ret;

	if (!one && !other)
		return NULL;
	if (one && other)
		ret = asprintf(&text, "(%s) && (%s)", one, other);
	else
		ret = asprintf(&text, "%s", one ? one : other);
	if (ret < 0)
		die_no_memory();
	filter = hyptrace_filter_parse(event, text, &at, NULL);
	free(text);
	return filter;
}

/* Make the filter at EL2 of an event. NULL: EL2 records all, and the command chooses. */
static struct hyptrace_filter *make_filter(const struct strace *s, enum hyptrace_kind kind)
{
	const struct hyptrace_event *event = event_of(s, kind);
	struct hyptrace_filter *filter;
	char *choice;

	if (is_witness(s, event))
		return NULL;
	choice = strace_choice_filter(&s->choice, &s->events, kind);
	filter = parse_both(event, choice, s->filter);
	/* together they may have too many comparisons, or the event has not all of the fields */
	if (!filter)
		filter = parse_both(event, choice, NULL);
	if (!filter)
		filter = parse_both(event, NULL, s->filter);
	free(choice);
	return filter;
}

/* Give an event its filter at EL2, unless it has none and needs none. Return an exit code. */
static int set_filter(struct live *live, const struct hyptrace_event *event,
		      struct hyptrace_filter *filter)
{
	struct hyptrace_error err;
	int code = EXIT_DONE;

	if ((filter || event->filter) &&
	    event_hold(live->s->ctx->h, event, filter, event->trigger, event->after, &err))
		code = cmd_fail_verb("filter", event->name, &err);
	hyptrace_filter_free(filter);
	return code;
}

/* Choose the events to hold enabled, and set their filters. Return an exit code. */
static int hold_events(struct live *live)
{
	struct strace *s = live->s;
	const char *names[STRACE_LAST - STRACE_FIRST + 1 + NR_WITNESSES];
	const struct hyptrace_event *event;
	struct hyptrace_error err;
	enum hyptrace_kind kind;
	unsigned int i, nr = 0;
	int code = EXIT_DONE;

	for (kind = STRACE_FIRST; kind <= STRACE_LAST && !code; kind++) {
		if (!(s->needed & HYPTRACE_KIND_BIT(kind)))
			continue;
		names[nr++] = event_of(s, kind)->name;
		code = set_filter(live, event_of(s, kind), make_filter(s, kind));
	}
	for (i = 0; i < NR_WITNESSES && s->vms.nr && !code; i++) {
		event = event_of(s, witnesses[i]);
		if (!event || s->needed & HYPTRACE_KIND_BIT(witnesses[i]))
			continue;
		names[nr++] = event->name;
		code = set_filter(live, event, NULL);
	}
	if (!code && hyptrace_stream_set_events(live->stream, names, nr, &err))
		code = fail(live, &err);
	return code;
}

/* Apply --cpu. Return an exit code. */
static int set_cpus(struct live *live)
{
	struct context *ctx = live->s->ctx;
	struct hyptrace_cpu **cpus;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	/* this checks that the remote has the CPUs */
	code = cmd_get_cpus(ctx, live->remote->name, &cpus, &nr);
	if (code)
		return code;
	hyptrace_free_cpus(cpus);
	if (ctx->have_cpus && !ctx->cpus.all &&
	    hyptrace_stream_set_cpus(live->stream, ctx->cpus.ids, ctx->cpus.nr, &err))
		return fail(live, &err);
	return EXIT_DONE;
}

/* Return how long to wait for events, in ms; -1 for ever. */
static int timeout_of(const struct strace *s, uint64_t now)
{
	uint64_t since;

	if (hyptrace_nest_waits(s->nest, &since))
		return (since + STRACE_HOLD_TIME - now) / NSEC_PER_MSEC + 1;
	/* the processes of VMs may end without an event */
	return s->vms.nr ? (int)(STRACE_HOLD_TIME / NSEC_PER_MSEC) : -1;
}

/* Stop to record; what was recorded is still taken. */
static void request_end(struct live *live)
{
	if (!live->ended)
		cmd_note_gaps(live->s->ctx, live->remote->name, NULL, 0);
	live->ended = true;
	hyptrace_stream_end(live->stream);
}

/*
 * Print what has waited long enough, look whether the trace is to end, and with @wait wait for
 * events. Return false if nobody reads the output any more.
 */
static bool look(struct live *live, bool wait)
{
	struct strace *s = live->s;
	struct pollfd fds[FDS] = {
		{ .fd = hyptrace_stream_fd(live->stream), .events = POLLIN },
		{ .fd = live->signal_fd, .events = POLLIN },
		/* an error or a hang-up: nobody reads the output any more */
		{ .fd = s->ctx->out.fd },
		/* poll() ignores a negative one */
		{ .fd = s->child.pidfd, .events = POLLIN },
	};
	uint64_t now = clock_now(CLOCK_MONOTONIC);

	if (now > STRACE_HOLD_TIME)
		strace_flush(s, now - STRACE_HOLD_TIME);
	out_flush(&s->ctx->out);
	if (s->ctx->out.error)
		return false;
	/* if a signal interrupts it, no revents are set */
	poll(fds, FDS, wait ? timeout_of(s, now) : 0);
	if (fds[3].revents || signals_stop || strace_vms_have_ended(&s->vms))
		request_end(live);
	return !(fds[2].revents & (POLLERR | POLLHUP | POLLNVAL));
}

/* Take some events. Return what hyptrace_stream_next() has returned last. */
static int take_events(struct live *live, struct hyptrace_error *err)
{
	const uint64_t now = clock_now(CLOCK_MONOTONIC);
	const struct hyptrace_stream_event *event;
	unsigned int left;
	int ret = 1;

	for (left = EVENTS_AT_ONCE; left && ret > 0; left--) {
		ret = hyptrace_stream_next(live->stream, &event, err);
		/* what was recorded before is not of this trace */
		if (ret > 0 && event->record.ts >= live->begin) {
			strace_event(live->s, event, now);
			strace_flush(live->s, 0);
		}
	}
	return ret;
}

/* Take events until the stream has ended. Return an exit code. */
static int run(struct live *live)
{
	struct strace *s = live->s;
	struct hyptrace_error err;
	int ret;

	while (!s->ctx->out.error && !signals_abandon) {
		ret = take_events(live, &err);
		if (ret == -ENODATA)
			return EXIT_DONE;
		if (ret == -EBADMSG) {
			out_flush(&s->ctx->out);
			cmd_note("%s: the rest of the sub-buffer is skipped", err.text);
		} else if (ret < 0) {
			return fail(live, &err);
		}
		if (!look(live, !ret))
			return EXIT_DONE;
	}
	return EXIT_DONE;
}

static void print_counts(const struct live *live)
{
	struct hyptrace_stream_counts counts;
	char discarded[40] = "";

	hyptrace_stream_counts(live->stream, &counts, sizeof(counts));
	if (counts.discarded)
		snprintf(discarded, sizeof(discarded), ", %" PRIu64 " discarded",
			 counts.discarded);
	strace_print_counts(live->s, discarded, counts.lost, counts.lost_more);
}

static int trace(struct live *live)
{
	struct strace *s = live->s;
	struct hyptrace_error err;
	int code;

	code = hold_events(live);
	if (!code && hyptrace_stream_start(live->stream, &err))
		code = fail(live, &err);
	if (live->remote->clock && !strcmp(live->remote->clock, "boot"))
		live->begin = clock_now(CLOCK_BOOTTIME);
	if (!code)
		code = child_start(&s->child);
	if (!code) {
		code = run(live);
		hyptrace_stream_close(live->stream);
		/* before the output, which may block */
		event_release_all(s->ctx->h, live->remote->name);
		strace_finish(s);
		print_counts(live);
	}
	return code;
}

static int begin(struct live *live)
{
	struct context *ctx = live->s->ctx;
	struct hyptrace_formats *formats = hyptrace_stream_formats(live->stream);
	const char *name = live->remote->name;
	struct hyptrace_error err;
	int code;

	if (hyptrace_get_events(ctx->h, name, &live->list, &live->nr, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", name, err.text);
	/* without their names, numbers are printed */
	if (!hyptrace_get_hypercalls(ctx->h, name, &live->hypercalls, &live->nr_hypercalls, NULL))
		hyptrace_formats_set_hypercalls(formats, live->hypercalls, live->nr_hypercalls,
						NULL);
	if (lines_begin(&live->s->lines, ctx, live->remote->clock, formats, &err))
		return fail(live, &err);
	code = strace_begin(live->s, name, formats, live->hypercalls, live->nr_hypercalls);
	if (!code)
		code = strace_vms_open(&live->s->vms);
	return code ? code : set_cpus(live);
}

/**
 * strace_live - trace a remote until a signal comes, or the command or the VM has ended
 * @s:		the verb, connected, with a prepared command
 *
 * Return: an exit code.
 */
int strace_live(struct strace *s)
{
	struct live live = { .s = s };
	struct hyptrace_error err;
	int code;

	code = cmd_get_remote(s->ctx, &live.remote);
	if (code)
		return code;
	live.signal_fd = signals_catch();
	if (live.signal_fd < 0)
		code = cmd_fail("cannot catch signals: %s", strerror(errno));
	s->ctx->out.abandon = &signals_abandon;
	if (!code) {
		live.stream = hyptrace_stream_new(s->ctx->h, live.remote->name, &err);
		code = live.stream ? begin(&live) : fail(&live, &err);
	}
	if (!code)
		code = trace(&live);
	lines_end(&s->lines);
	hyptrace_stream_free(live.stream);
	hyptrace_free_hypercalls(live.hypercalls);
	hyptrace_free_events(live.list);
	hyptrace_free_remote(live.remote);
	return code;
}
