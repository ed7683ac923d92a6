// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session of a verb: open what the options name, and report what became of the events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "output/die.h"
#include "output/message.h"
#include "output/pager.h"
#include "filter.h"
#include "select.h"
#include "session.h"

/* More damaged places than this are only counted. */
#define NOTES_MAX	20

#define BUSY_HINT	" (stop it, or use \"hyptrace show\")"

/* Say why the events cannot be read. Return EXIT_REFUSED. */
int session_fail(const struct session *s, const struct hyptrace_error *err)
{
	/* of a stream, the subject is a CPU */
	if (!s->path && err->subject[0])
		return cmd_fail("cannot read %s: %s%s", err->subject, err->text,
				err->errnum == EBUSY ? BUSY_HINT : "");
	return cmd_fail("cannot read \"%s\": %s", s->name, err->text);
}

/* Note a damaged place, after which reading continues. */
void session_note_damage(const struct hyptrace_error *err, void *arg)
{
	struct session *s = arg;

	if (++s->counts.damaged > NOTES_MAX)
		return;
	out_flush(&s->ctx->out);
	if (s->path)
		cmd_note("\"%s\": %s", s->name, err->text);
	else
		cmd_note("%s: the rest of the sub-buffer is skipped", err->text);
	if (s->counts.damaged == NOTES_MAX)
		cmd_note("\"%s\": other damaged places are only counted", s->name);
}

static int open_remote(struct session *s)
{
	struct hyptrace_error err;
	int code;

	code = cmd_connect(s->ctx);
	if (!code)
		code = cmd_get_remote(s->ctx, &s->remote);
	if (code)
		return code;
	s->name = s->remote->name;
	s->clock = s->remote->clock ? s->remote->clock : "";
	if (hyptrace_get_events(s->ctx->h, s->name, &s->own_events, &s->nr_events, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", s->name, err.text);
	s->events = s->own_events;
	if (s->takes & SESSION_SNAPSHOT) {
		s->formats = hyptrace_formats_new(s->own_events, s->nr_events, &err);
		if (!s->formats)
			code = session_fail(s, &err);
	} else {
		code = session_open_stream(s);
	}
	/* without the names of hypercalls, numbers are printed: that is no error */
	if (code || hyptrace_get_hypercalls(s->ctx->h, s->name, &s->own_calls, &s->nr_calls, NULL))
		return code;
	s->calls = s->own_calls;
	hyptrace_formats_set_hypercalls(s->formats, s->calls, s->nr_calls, NULL);
	return EXIT_DONE;
}

/*
 * Open the file or the remote. Return an exit code; session_close() is for the caller in any case.
 */
int session_open(struct session *s)
{
	int code;

	if (s->path) {
		cmd_make_printer(s->ctx);
		return session_open_file(s);
	}
	code = child_prepare(&s->child);
	return code ? code : open_remote(s);
}

/* When the pager has ended, accept all events: the next write then ends the session. */
static bool accept_event(const struct hyptrace_stream_event *event, void *choice)
{
	return pager_has_ended || choice_accept_event(event, choice);
}

/* Choose the events of -e and -F. Return an exit code. */
int session_choose(struct session *s)
{
	int code = choice_make(&s->choice, s->ctx->verb->name, s->events, s->nr_events,
			       s->formats);

	if (code || !choice_is_made(&s->choice))
		return code;
	if (s->file)
		hyptrace_file_set_filter(s->file, accept_event, &s->choice);
	else if (s->stream)
		hyptrace_stream_set_filter(s->stream, choice_accept_event, &s->choice);
	return EXIT_DONE;
}

/* Hand over all events, until the end. Return an exit code. */
int session_run(struct session *s)
{
	if (s->file)
		return session_run_file(s);
	return s->stream ? session_run_stream(s) : session_run_snapshot(s);
}

/* Print the last line: @nr of @what ("event"), which were @printed, and what is missing. */
void session_note_counts(const struct session *s, const char *what, uint64_t nr,
			 const char *printed)
{
	const struct session_counts *counts = &s->counts;
	char filtered[FILTER_COUNT_SIZE], discarded[FILTER_COUNT_SIZE] = "";

	/* not all of them were written */
	if (out_has_failed(&s->ctx->out))
		return;
	if (counts->damaged >= NOTES_MAX)
		cmd_note("\"%s\": %" PRIu64 " places are damaged", s->name, counts->damaged);
	if (s->quiet && !counts->lost && !counts->lost_more)
		return;
	if (s->stream)
		snprintf(discarded, sizeof(discarded), ", %" PRIu64 " discarded",
			 counts->discarded);
	cmd_note("%" PRIu64 " %s%s %s%s%s, %" PRIu64 "%s lost", nr, what, nr == 1 ? "" : "s",
		 out_printed(&s->ctx->out, printed),
		 filter_count(choice_is_made(&s->choice), counts->filtered, filtered), discarded,
		 counts->lost, counts->lost_more ? " or more" : "");
}

/*
 * Free all, and wait until the command has ended. Return @code or, if that is EXIT_DONE, the
 * command's exit code.
 */
int session_close(struct session *s, int code)
{
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
	return code ? code : s->child.code;
}
