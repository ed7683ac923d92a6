// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace stream: print events as they happen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "signals.h"
#include "stream.h"

#define NSEC_PER_MSEC		UINT64_C(1000000)
#define BOUND_MSEC_DEFAULT	10
#define BOUND_MSEC_MAX		60000

enum {
	OPT_BOUND = 0x200,
	OPT_NO_START,
};

#define BOUND_HELP \
	"Print events of several CPUs in order, each so many ms after it happened at most (10)"

#define NO_START_HELP \
	"Do not start tracing; if it is off, print what is there and end"

static const struct argp_option options[] = {
	{ "count", 'n', "N", 0, "End after so many events", 0 },
	{ "order-bound", OPT_BOUND, "MS", 0, BOUND_HELP, 0 },
	{ "no-start", OPT_NO_START, NULL, 0, NO_START_HELP, 0 },
	{ 0 }
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
	.doc = "Print events as they happen, until a signal comes. Starts tracing if it is off, and then stops it at the end.",
};

static void warn_no_event(struct hyptrace_event *const *events, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (events[i]->enabled)
			return;
	cmd_note("no event is enabled; try: hyptrace enable %s", nr ? events[0]->name : "all");
}

static int start(struct stream *s)
{
	struct hyptrace_error err;

	if (s->no_start || s->remote->state == HYPTRACE_STATE_TRACING)
		return EXIT_DONE;
	if (hyptrace_start(s->ctx->h, s->remote->name, &err))
		return cmd_fail_verb("start", s->remote->name, &err);
	s->started = true;
	return EXIT_DONE;
}

/* Restore what the stream has changed. */
static int finish(struct stream *s, int code, bool started)
{
	int ret = stream_stop(s);

	/* read the counters before an unload removes them */
	stream_count_end(s);
	stream_close(s);
	/*
	 * Unload the rings that this stream has loaded, even if unread events are in
	 * them. The driver refuses that while another descriptor is attached.
	 */
	if (started && s->remote->state == HYPTRACE_STATE_UNLOADED)
		hyptrace_unload(s->ctx->h, s->remote->name, NULL);
	stream_count_unloaded(s);
	return code ? code : ret;
}

static int stream_cpus(struct stream *s)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr;
	bool started;
	int code;

	code = cmd_get_cpus(s->ctx, s->remote->name, &cpus, &nr);
	if (code)
		return code;
	code = stream_open(s, cpus, nr);
	hyptrace_free_cpus(cpus);
	if (!code)
		code = start(s);
	if (code) {
		code = finish(s, code, false);
	} else {
		started = s->started;
		code = finish(s, stream_run(s), started);
		stream_count_say(s);
	}
	free(s->counts);
	return code;
}

static int stream_remote(struct stream *s)
{
	struct hyptrace_event **events;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	if (hyptrace_get_events(s->ctx->h, s->remote->name, &events, &nr, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", s->remote->name, err.text);

	s->boot_clock = !strcmp(s->remote->clock, "boot");
	s->formats = hyptrace_formats_new(events, nr, &err);
	if (!s->formats || lines_begin(&s->lines, s->ctx, s->remote, s->formats, &err)) {
		code = cmd_fail("cannot stream \"%s\": %s", s->remote->name, err.text);
	} else {
		if (!s->no_start)
			warn_no_event(events, nr);
		code = stream_cpus(s);
	}
	hyptrace_formats_free(s->formats);
	hyptrace_free_events(events);
	return code;
}

int cmd_stream(struct context *ctx, int argc, char **argv)
{
	struct stream s = {
		.ctx = ctx,
		.bound = BOUND_MSEC_DEFAULT * NSEC_PER_MSEC,
	};
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &s);
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;

	s.remote = remote;
	s.signal_fd = signals_catch();
	if (s.signal_fd < 0)
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	ctx->out.abandon = &signals_abandon;
	/* without a listener the stream polls to notice that tracing is on again */
	s.listener = hyptrace_listener_open(ctx->h, &err);

	code = stream_remote(&s);
	hyptrace_listener_close(s.listener);
	hyptrace_free_remote(remote);
	return code;
}
