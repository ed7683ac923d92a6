// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace stream: print events as they happen.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/message.h"
#include "session/events.h"
#include "session/gaps.h"
#include "session/select.h"
#include "session/signals.h"
#include "session/trigger.h"
#include "sink/lines.h"

#define NSEC_PER_MSEC		UINT64_C(1000000)
#define BOUND_MSEC_DEFAULT	10
#define BOUND_MSEC_MAX		60000

/* More events than a stream reads ahead of those that it delivers: 8192 of each CPU */
#define READ_AHEAD		(UINT64_C(1) << 20)

enum {
	OPT_BOUND = 0x200,
	OPT_NO_START,
};

#define BOUND_HELP \
	"Print each event at most MS milliseconds (10) after it happened; the delay keeps the events of several CPUs in order"

#define NO_START_HELP \
	"Do not start tracing; end when it is off and the rings are empty"

#define BUSY_HINT	" (stop it, or use \"hyptrace show\")"

static const struct argp_option options[] = {
	{ "count", 'n', "N", 0, "End after N events", 0 },
	{ "order-bound", OPT_BOUND, "MS", 0, BOUND_HELP, 0 },
	{ "no-start", OPT_NO_START, NULL, 0, NO_START_HELP, 0 },
	{ 0 }
};

/**
 * struct stream - the settings and the state of the verb
 * @ctx:	the verb's context
 * @remote:	the remote
 * @stream:	its events
 * @listener:	hears of triggers; NULL without the permission
 * @events:	the events of the remote
 * @words:	the arguments, which name events
 * @limit:	end after so many events; 0 for no limit
 * @bound:	how long an event may be held back to keep the order, in ns
 * @no_start:	do not start tracing
 * @ended:	the end was requested
 * @gaps:	why events are missing
 * @is_changed:	the listener has heard that the remote or an event has changed
 * @not_taken:	count_not_taken() at the beginning, or less after a clear
 * @lines:	prints the lines
 */
struct stream {
	struct context			*ctx;
	const struct hyptrace_remote	*remote;
	struct hyptrace_stream		*stream;
	struct hyptrace_listener	*listener;
	struct hyptrace_event		**events;
	struct words			words;
	uint64_t			limit;
	uint64_t			bound;
	bool				no_start;
	bool				ended;
	struct gaps			gaps;
	bool				is_changed;
	uint64_t			not_taken;
	struct lines			lines;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stream *s = state->input;
	uint64_t msec;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->lines;
		return 0;
	case 'n':
		if (!parse_number(arg, UINT64_MAX, &s->limit) || !s->limit)
			return cmd_usage("bad count \"%s\": use a number from 1", arg);
		return 0;
	case OPT_BOUND:
		if (!parse_number(arg, BOUND_MSEC_MAX, &msec))
			return cmd_usage("bad time \"%s\": use milliseconds from 0 to %d", arg,
					 BOUND_MSEC_MAX);
		s->bound = msec * NSEC_PER_MSEC;
		return 0;
	case OPT_NO_START:
		s->no_start = true;
		return 0;
	case ARGP_KEY_ARG:
		cmd_add_word(&s->words, arg);
		return 0;
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
	.args_doc = "[EVENT...]",
	.doc = "Print events as they happen, until a signal comes. EVENT is a name, a glob such as \"hyp_*\", or all: the stream enables these events and starts tracing. When it ends, the kernel undoes both. Other events that are enabled are printed, too.",
};

static int fail(const struct stream *s, const struct hyptrace_error *err)
{
	/* the subject is a CPU */
	if (err->subject[0])
		return cmd_fail("cannot read %s: %s%s", err->subject, err->text,
				err->errnum == EBUSY ? BUSY_HINT : "");
	return cmd_fail("cannot stream \"%s\": %s", s->remote->name, err->text);
}

static uint32_t after_of(const struct stream *s, const char *name)
{
	struct hyptrace_event *event;
	uint32_t after;

	/* another process may have given the event its trigger since the stream began */
	if (hyptrace_get_event(s->ctx->h, s->remote->name, name, &event, NULL))
		return 0;
	after = event->after;
	hyptrace_free_event(event);
	return after;
}

static int hear(const struct hyptrace_notification *notification, void *arg)
{
	const struct hyptrace_remote *remote = notification->remote;
	struct stream *s = arg;

	s->is_changed |= notification->type == HYPTRACE_NOTIFICATION_REMOTE ||
			 notification->type == HYPTRACE_NOTIFICATION_EVENT;
	if (notification->type != HYPTRACE_NOTIFICATION_TRIGGER || !remote->nr_fired ||
	    strcmp(remote->name, s->remote->name))
		return 0;
	out_flush(&s->ctx->out);
	firing_note(remote, 0, after_of(s, remote->fired[0].event));
	return 0;
}

/* Count what the rings have as read, but the stream has not taken. May wrap around. */
static uint64_t count_not_taken(const struct stream *s)
{
	const struct context *ctx = s->ctx;
	struct hyptrace_stream_counts counts;
	struct hyptrace_cpu **cpus;
	uint64_t nr_read = 0;
	unsigned int nr, i;

	hyptrace_stream_counts(s->stream, &counts, sizeof(counts));
	if (hyptrace_get_cpus(ctx->h, s->remote->name, &cpus, &nr, NULL))
		return s->not_taken;
	for (i = 0; i < nr; i++)
		if (!ctx->have_cpus || cpu_list_has(&ctx->cpus, cpus[i]->id))
			nr_read += cpus[i]->read;
	hyptrace_free_cpus(cpus);
	return nr_read - counts.delivered - counts.filtered;
}

/* There are never fewer than at the beginning, unless a clear has set the counters to 0. */
static void note_clear(struct stream *s)
{
	const uint64_t not_taken = count_not_taken(s);

	if ((int64_t)(not_taken - s->not_taken) >= 0)
		return;
	/* what was read before the clear is still taken */
	s->not_taken = not_taken - READ_AHEAD;
	cmd_note("the rings were cleared: events that were not printed yet are missing");
}

/* Say what the stream cannot print: it must not just fall silent. */
static void look(struct stream *s)
{
	if (s->lines.quiet)
		return;
	out_flush(&s->ctx->out);
	if (s->no_start)
		gaps_look_at_events(&s->gaps);
	else
		gaps_look(&s->gaps);
	note_clear(s);
}

/* Take the notifications. */
static void listen(struct stream *s)
{
	int ret;

	if (!s->listener)
		return;
	/* if some were lost, there may be more of them */
	do {
		ret = hyptrace_listener_read(s->listener, hear, s, NULL);
		s->is_changed |= ret == -ENOBUFS;
	} while (ret == -ENOBUFS);
	if (s->is_changed && !s->ended)
		look(s);
	s->is_changed = false;
}

/* Wait until there may be events. Return false if nobody reads the output any more. */
static bool wait_for_events(struct stream *s, int signal_fd)
{
	struct pollfd fds[] = {
		{ .fd = hyptrace_stream_fd(s->stream), .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
		/* an error or a hang-up: nobody reads the output any more */
		{ .fd = STDOUT_FILENO },
		/* poll() ignores a negative one */
		{ .fd = s->listener ? hyptrace_listener_fd(s->listener) : -1, .events = POLLIN },
	};

	out_flush(&s->ctx->out);
	if (s->ctx->out.error)
		return false;
	if (poll(fds, 4, -1) <= 0)
		return true;
	if (fds[3].revents)
		listen(s);
	return !(fds[2].revents & (POLLERR | POLLHUP | POLLNVAL));
}

/* Print events until the stream has ended. Return an exit code. */
static int run(struct stream *s, int signal_fd)
{
	struct hyptrace_error err;
	int ret;

	while (!s->ctx->out.error && !signals_abandon) {
		ret = lines_stream(&s->lines, s->stream, &err);
		if (ret == -ENODATA)
			return EXIT_DONE;
		if (ret == -EBADMSG) {
			out_flush(&s->ctx->out);
			cmd_note("%s: the rest of the sub-buffer is skipped", err.text);
		} else if (ret < 0) {
			return fail(s, &err);
		}
		if (!ret && !wait_for_events(s, signal_fd))
			return EXIT_DONE;
		if (signals_stop && !s->ended) {
			look(s);
			s->ended = true;
			hyptrace_stream_end(s->stream);
		}
	}
	return EXIT_DONE;
}

static void print_counts(const struct stream *s)
{
	struct hyptrace_stream_counts counts;
	char filtered[FILTER_COUNT_SIZE];

	/* not all of them were written */
	if (out_has_failed(&s->ctx->out))
		return;
	hyptrace_stream_counts(s->stream, &counts, sizeof(counts));
	if (s->lines.quiet && !counts.lost && !counts.lost_more)
		return;
	cmd_note("%" PRIu64 " event%s %s%s, %" PRIu64 " discarded, %" PRIu64 "%s lost",
		 counts.delivered, counts.delivered == 1 ? "" : "s",
		 out_printed(&s->ctx->out, "printed"),
		 lines_filter_count(&s->lines, counts.filtered, filtered), counts.discarded,
		 counts.lost, counts.lost_more ? " or more" : "");
}

static bool has_name(const struct event_choice *choice, const char *name)
{
	unsigned int i;

	for (i = 0; i < choice->nr; i++)
		if (!strcmp(choice->names[i], name))
			return true;
	return false;
}

/* One of the events that will be enabled must have the fields of --filter. */
static int check_filter(const struct stream *s, const struct event_choice *choice,
			struct hyptrace_event *const *events, unsigned int nr)
{
	struct hyptrace_event **enabled = calloc(nr + 1, sizeof(struct hyptrace_event *));
	struct hyptrace_filters *filters = NULL;
	unsigned int nr_enabled = 0, i;
	int code = EXIT_DONE;

	if (!enabled)
		die_no_memory();
	for (i = 0; i < nr; i++)
		if (events[i]->enabled || has_name(choice, events[i]->name))
			enabled[nr_enabled++] = events[i];
	/* if none is, somebody else may enable any later */
	if (nr_enabled)
		code = filter_parse(s->lines.filter, enabled, nr_enabled, s->lines.formats,
				    &filters);
	hyptrace_filters_free(filters);
	free(enabled);
	return code;
}

/* Choose the events that the stream holds enabled. */
static int hold_events(struct stream *s, struct hyptrace_event *const *events, unsigned int nr)
{
	struct event_choice choice = {};
	struct hyptrace_error err;
	int code = EXIT_DONE;

	if (s->words.nr)
		code = cmd_choose_events("stream", events, nr, &s->words, &choice);
	else if (!s->no_start)
		cmd_choose_default("stream", s->remote->name, events, nr, &s->lines.words,
				   s->lines.quiet, &choice);
	if (!code)
		code = check_filter(s, &choice, events, nr);
	gaps_begin(&s->gaps, s->ctx, s->remote->name, &choice, events, nr);
	if (!code && hyptrace_stream_set_events(s->stream, choice.names, choice.nr, &err))
		code = fail(s, &err);
	event_choice_free(&choice);
	return code;
}

static int set_filter(struct stream *s, struct hyptrace_event *const *events, unsigned int nr)
{
	int code = lines_choose(&s->lines, "stream", events, nr);

	if (!code && lines_has_choice(&s->lines))
		hyptrace_stream_set_filter(s->stream, lines_accept_event, &s->lines);
	return code;
}

/* Apply the options to the stream. */
static int configure(struct stream *s)
{
	const struct cpu_list *list = &s->ctx->cpus;
	struct hyptrace_cpu **cpus;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	/* this checks that the remote has the CPUs of --cpu */
	code = cmd_get_cpus(s->ctx, s->remote->name, &cpus, &nr);
	if (code)
		return code;
	hyptrace_free_cpus(cpus);
	/* without a list the library takes all CPUs that have a ring */
	if (s->ctx->have_cpus && !list->all &&
	    hyptrace_stream_set_cpus(s->stream, list->ids, list->nr, &err))
		return fail(s, &err);
	hyptrace_stream_set_limit(s->stream, s->limit);
	hyptrace_stream_set_bound(s->stream, s->bound);
	hyptrace_stream_set_start(s->stream, !s->no_start);

	if (hyptrace_get_events(s->ctx->h, s->remote->name, &s->events, &nr, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", s->remote->name, err.text);
	code = set_filter(s, s->events, nr);
	return code ? code : hold_events(s, s->events, nr);
}

static int stream_events(struct stream *s, int signal_fd)
{
	struct hyptrace_error err;
	int code;

	if (lines_begin(&s->lines, s->ctx, s->remote, hyptrace_stream_formats(s->stream), &err))
		return fail(s, &err);
	code = configure(s);
	if (code)
		return code;
	if (!s->lines.quiet)
		s->listener = hyptrace_listener_open(s->ctx->h, &err);
	s->gaps.hears_triggers = s->listener;
	if (hyptrace_stream_start(s->stream, &err))
		return fail(s, &err);
	s->not_taken = count_not_taken(s);
	look(s);
	code = run(s, signal_fd);
	s->ended = true;
	listen(s);
	hyptrace_stream_close(s->stream);
	out_flush(&s->ctx->out);
	print_counts(s);
	return code;
}

int cmd_stream(struct context *ctx, int argc, char **argv)
{
	struct stream s = {
		.ctx = ctx,
		.bound = BOUND_MSEC_DEFAULT * NSEC_PER_MSEC,
	};
	struct hyptrace_hypercall **calls = NULL;
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	int code, signal_fd;

	cmd_parse(ctx, &argp, argc, argv, &s);
	code = lines_check(&s.lines, ctx);
	if (!code)
		code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;

	s.remote = remote;
	signal_fd = signals_catch();
	if (signal_fd < 0)
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	ctx->out.abandon = &signals_abandon;

	s.stream = hyptrace_stream_new(ctx->h, remote->name, &err);
	if (s.stream)
		calls = cmd_name_hypercalls(ctx, remote->name, hyptrace_stream_formats(s.stream));
	code = s.stream ? stream_events(&s, signal_fd) : fail(&s, &err);
	lines_end(&s.lines);
	gaps_end(&s.gaps);
	hyptrace_listener_close(s.listener);
	hyptrace_stream_free(s.stream);
	hyptrace_free_hypercalls(calls);
	hyptrace_free_events(s.events);
	hyptrace_free_remote(remote);
	free(s.words.words);
	return code;
}
