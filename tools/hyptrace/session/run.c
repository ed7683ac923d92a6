// SPDX-License-Identifier: GPL-2.0-only
/* Open what the options name, choose events, and run the session of a verb. */
#include "output/die.h"
#include "session.h"

static int open_remote(struct session *s)
{
	struct hyptrace_error err;
	int code = cmd_connect(s->ctx) ?:
		   cmd_get_events(s->ctx, &s->remote, &s->own_events, &s->nr_events);

	if (code)
		return code;
	s->name = s->remote->name;
	s->clock = s->remote->clock ? s->remote->clock : "";
	s->events = s->own_events;
	if (s->takes & SESSION_SNAPSHOT && s->ctx->is_tracefs)
		return cmd_fail("cannot copy the rings of \"%s\": tracefs only lets one read them (use \"hyptrace stream\")",
				s->name);
	if (s->takes & SESSION_SNAPSHOT) {
		s->formats = hyptrace_formats_new(s->own_events, s->nr_events, &err);
		code = s->formats ? EXIT_DONE : session_fail(s, &err);
	} else {
		code = session_open_stream(s);
	}
	/* without the names of hypercalls, numbers are printed: that is no error */
	if (code || !s->formats ||
	    hyptrace_get_hypercalls(s->ctx->h, s->name, &s->own_calls, &s->nr_calls, NULL))
		return code;
	s->calls = s->own_calls;
	hyptrace_formats_set_hypercalls(s->formats, s->calls, s->nr_calls, NULL);
	return EXIT_DONE;
}

/* Return an exit code; session_close() is for the caller in any case. */
int session_open(struct session *s)
{
	if (!s->path)
		return child_prepare(&s->child) ?: open_remote(s) ?: session_open_pmu(s);
	cmd_make_printer(s->ctx);
	return session_open_file(s) ?: session_open_pmu(s);
}

/* When the pager has ended, or after a signal, accept all events: the next one ends the session. */
static bool accept_event(const struct hyptrace_stream_event *event, void *choice)
{
	return pager_has_ended || signals_stop || choice_accept_event(event, choice);
}

/* Of a snapshot, the session itself chooses. */
void session_set_filter(struct session *s, hyptrace_stream_filter_fn filter, void *arg)
{
	if (s->file) {
		hyptrace_file_options(s->file)->filter = filter;
		hyptrace_file_options(s->file)->filter_arg = arg;
	} else if (s->stream) {
		hyptrace_stream_options(s->stream)->filter = filter;
		hyptrace_stream_options(s->stream)->filter_arg = arg;
	}
}

int session_choose(struct session *s)
{
	unsigned int i;
	int code = choice_make(&s->choice, s->ctx->verb->name, s->events, s->nr_events,
			       s->formats);

	/* refuse an event that a file or a ring cannot have */
	for (i = 0; !code && s->choice.wanted && i < s->nr_events; i++)
		if (s->events[i]->missing && choice_has(s->choice.wanted, s->events[i]))
			code = cmd_fail("cannot %s \"%s\": it is not in %s kernel",
					s->ctx->verb->name, s->events[i]->name,
					s->path ? "the file's" : "this");
	s->choice.also = s->pmu.id;
	if (!code && choice_is_made(&s->choice))
		session_set_filter(s, s->file ? accept_event : choice_accept_event, &s->choice);
	return code;
}

int session_run(struct session *s)
{
	if (s->file)
		return session_run_file(s);
	return s->stream ? session_run_stream(s) : session_run_snapshot(s);
}

/* Return @code or, if that is EXIT_DONE, EXIT_REFUSED of a damaged file, or the command's code. */
int session_close(struct session *s, int code)
{
	if (!code && s->file && s->damaged)
		code = EXIT_REFUSED;
	/* the command may go on for long */
	if (s->stream && s->gaps.own)
		event_release_all(s->ctx->h, s->name);
	session_release_pmu(s);
	gaps_end(&s->gaps);
	choice_free(&s->choice);
	hyptrace_listener_close(s->loop.listener);
	if (s->stream)
		hyptrace_stream_free(s->stream);
	else if (!s->file)
		hyptrace_formats_free(s->formats);
	hyptrace_file_close(s->file);
	hyptrace_free_hypercalls(s->own_calls);
	hyptrace_free_events(s->own_events);
	hyptrace_free_remote(s->remote);
	/* a signal also ends the command */
	child_stop(&s->child);
	free(s->command_line);
	return code ? code : s->child.code;
}
