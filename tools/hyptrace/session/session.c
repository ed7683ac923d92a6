// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open what the options name, choose events, and run the session of a verb. Hold its events, and
 * say why it fails, what is damaged, and what became of them.
 */
#include "output/die.h"
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

	if (++s->damaged > NOTES_MAX)
		return;
	out_flush(&s->ctx->out);
	if (s->path)
		cmd_note("\"%s\": %s", s->name, err->text);
	else
		cmd_note("%s: the rest of the sub-buffer is skipped", err->text);
	if (s->damaged == NOTES_MAX)
		cmd_note("\"%s\": other damaged places are only counted", s->name);
}

/* Print the last line: @nr of @what ("event"), which were @printed, and what is missing. */
void session_note_counts(const struct session *s, const char *what, uint64_t nr,
			 const char *printed)
{
	auto_free char *name = NULL;
	const struct hyptrace_stream_counts *counts = &s->counts;
	char filtered[FILTER_COUNT_SIZE], discarded[FILTER_COUNT_SIZE] = "";
	const char *lost = "";

	/* not all of them were written */
	if (out_has_failed(&s->ctx->out))
		return;
	if (s->damaged >= NOTES_MAX)
		cmd_note("\"%s\": %" PRIu64 " places are damaged", s->name, s->damaged);
	if (s->quiet && !counts->lost && !counts->lost_more)
		return;
	if (s->stream)
		snprintf(discarded, sizeof(discarded), ", %" PRIu64 " discarded",
			 counts->discarded);
	/* what is lost are events, whatever is printed */
	if (strcmp(what, "event"))
		lost = counts->lost == 1 && !counts->lost_more ? " event" : " events";
	if (s->is_one_of_many)
		name = xasprintf("\"%s\": ", s->name);
	cmd_note("%s%" PRIu64 " %s%s %s%s%s, %" PRIu64 "%s%s lost", name ? name : "", nr, what,
		 nr == 1 ? "" : "s",
		 out_printed(&s->ctx->out, printed),
		 filter_count(choice_is_made(&s->choice) || counts->filtered, counts->filtered,
			      filtered), discarded,
		 counts->lost, counts->lost_more ? " or more" : "", lost);
}

/* Until event_release_all(), or the end of the verb, even if it is killed */
int event_hold(struct hyptrace *h, const struct hyptrace_event *event, bool enable,
	       const struct hyptrace_filter *filter, uint32_t trigger, uint32_t after,
	       struct hyptrace_error *err)
{
	const struct hyptrace_event_options options = {
		.filter = filter,
		.trigger = trigger,
		.after = after,
		.flags = HYPTRACE_EVENT_HOLD,
	};

	return hyptrace_set_events(h, event->remote, (const char *[]){ event->name }, 1, enable,
				   &options, err);
}

/* Let the kernel restore the events that the verb has held. */
void event_release_all(struct hyptrace *h, const char *remote)
{
	struct hyptrace_error err;

	/* if the remote is gone, its events are, too */
	if (hyptrace_release_events(h, remote, &err) && err.errnum != ENODEV)
		cmd_note("cannot restore the events of \"%s\": %s", remote, err.text);
}

/*
 * The events in a file are exactly those that the ring's counter "read" counts while the file is
 * written. The losses are those that its sub-buffers report.
 */

/* The counts of a ring since it was loaded or cleared */
struct ring_counts ring_counts_of(const struct hyptrace_cpu *cpu)
{
	return (struct ring_counts){
		.events = cpu->read,
		.lost = cpu->overrun + cpu->dropped - cpu->unreported,
		.filtered = cpu->filtered,
		.clears = cpu->clears,
	};
}

void ring_counts_add(struct ring_counts *sum, const struct ring_counts *counts)
{
	sum->events += counts->events;
	sum->lost += counts->lost;
	sum->filtered += counts->filtered;
}

/*
 * A file ends: make @counts, which are from its begin, its own, and write them to it. @last: losses
 * after the last event, which no sub-buffer has reported, belong to it. Return false if the ring
 * was cleared: then the counts are 0, and not known.
 */
bool ring_counts_end(struct ring_counts *counts, const struct hyptrace_cpu *cpu, bool last,
		     struct hyptrace_file_writer *w)
{
	const struct ring_counts now = ring_counts_of(cpu), base = *counts;

	*counts = (struct ring_counts){};
	/* a driver that does not count the clears: the counters have begun again */
	if (now.clears != base.clears || now.events < base.events || now.lost < base.lost ||
	    now.filtered < base.filtered)
		return false;
	/* the next file of a rotation could not be begun */
	if (!w)
		return true;
	counts->events = now.events - base.events;
	counts->lost = now.lost - base.lost + (last && !cpu->unread ? cpu->unreported : 0);
	counts->filtered = now.filtered - base.filtered;
	hyptrace_file_set_counts(w, cpu->id, counts->events, counts->lost, counts->filtered);
	return true;
}

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
	if (s->takes & SESSION_SNAPSHOT && s->ctx->is_tracefs) {
		code = cmd_fail("cannot copy the rings of \"%s\": tracefs only lets one read them (use \"hyptrace stream\")",
				s->name);
	} else if (s->takes & SESSION_SNAPSHOT) {
		s->formats = hyptrace_formats_new(s->own_events, s->nr_events, &err);
		if (!s->formats)
			code = session_fail(s, &err);
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
		return child_prepare(&s->child) ?: open_remote(s);
	cmd_make_printer(s->ctx);
	return session_open_file(s);
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
		if (s->events[i]->missing && s->choice.wanted[s->events[i]->id & (CHOICE_IDS - 1)])
			code = cmd_fail("cannot %s \"%s\": it is not in %s kernel",
					s->ctx->verb->name, s->events[i]->name,
					s->path ? "the file's" : "this");
	if (!code && choice_is_made(&s->choice))
		session_set_filter(s, s->file ? accept_event : choice_accept_event, &s->choice);
	return code;
}

/* Hand over all events, until the end. Return an exit code. */
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
