// SPDX-License-Identifier: GPL-2.0-only
/* Hold the events of a session, and say why it fails, what is damaged, and what became of them. */
#include "output/die.h"
#include "session.h"

/* More damaged places than this are only counted. */
#define NOTES_MAX	20

#define BUSY_HINT	" (stop it, or use \"hyptrace show\")"

int session_fail(const struct session *s, const struct hyptrace_error *err)
{
	/* of a stream, the subject is a CPU */
	if (!s->path && err->subject[0])
		return cmd_fail("cannot read %s: %s%s", err->subject, err->text,
				err->errnum == EBUSY ? BUSY_HINT : "");
	return cmd_fail("cannot read \"%s\": %s", s->name, err->text);
}

void session_note_damage(const struct hyptrace_error *err, void *arg)
{
	struct session *s = arg;

	if (++s->damaged > NOTES_MAX + 1)
		return;
	out_flush(&s->ctx->out);
	if (s->damaged > NOTES_MAX)
		cmd_note("\"%s\": other damaged places are only counted", s->name);
	else if (s->path)
		cmd_note("\"%s\": %s", s->name, err->text);
	else
		cmd_note("%s: the rest of the sub-buffer is skipped", err->text);
}

/* Print the last line: @nr of @what ("event"), which were @printed, and what is missing. */
void session_note_counts(const struct session *s, const char *what, uint64_t nr,
			 const char *printed)
{
	auto_free char *text = NULL;
	const struct hyptrace_stream_counts *counts = &s->counts;
	const char *lost = "";
	FILE *f;

	/* not all of them were written */
	if (out_has_failed(&s->ctx->out))
		return;
	if (s->damaged > NOTES_MAX)
		cmd_note("\"%s\": %" PRIu64 " places are damaged", s->name, s->damaged);
	if (s->quiet && !counts->lost && !counts->lost_more)
		return;
	/* what was in the buffer or in a pipe when its reader closed it may not have been read */
	if (s->ctx->out.error)
		printed = "read until the output was closed";
	/* what is lost are events, whatever is printed */
	if (strcmp(what, "event"))
		lost = counts->lost == 1 && !counts->lost_more ? " event" : " events";
	f = text_open(&text);
	if (s->is_one_of_many)
		fprintf(f, "\"%s\": ", s->name);
	fprintf(f, "%" PRIu64 " %s%s %s", nr, what, nr == 1 ? "" : "s", printed);
	if (choice_is_made(&s->choice) || counts->filtered)
		fprintf(f, ", %" PRIu64 " filtered", counts->filtered);
	if (s->stream)
		fprintf(f, ", %" PRIu64 " discarded", counts->discarded);
	fprintf(f, ", %" PRIu64 "%s%s lost", counts->lost, counts->lost_more ? " or more" : "",
		lost);
	text_close(f, &text);
	cmd_note("%s", text);
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

/* Since the ring was loaded or cleared. "read" counts exactly the events that a file gets. */
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
 * Make @counts, which are from a file's begin, its own, and write them. @last: it has the losses
 * that no sub-buffer has reported. Return false if the ring was cleared: they are 0, and not known.
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
