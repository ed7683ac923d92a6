// SPDX-License-Identifier: GPL-2.0-only
/* What the rings of a remote hold, in the order of time and without consuming it. */
#include "output/clock.h"
#include "output/die.h"
#include "session.h"

/*
 * Losses that no record of a snapshot reports: those before the first and after the last event. The
 * ring does not hold them: a consumer learns the former from the swap, and the latter from the
 * sub-buffer that follows. The counters of the ring have both, up to what a consumer has learnt:
 * unreported. While events are lost, the counters do not tell how many were lost at the time of the
 * snapshot.
 */
struct edge_losses {
	uint64_t	begin;	/* before the first event, or HYPTRACE_LOST_UNKNOWN */
	uint64_t	others;	/* before any other event, and after the last one, likewise */
};

struct session_ring {
	unsigned int			cpu;
	struct hyptrace_reader		*reader;
	struct hyptrace_snapshot	*snap;
	struct hyptrace_stream_event	event;		/* the next one of @snap */
	struct hyptrace_cpu		before;		/* counters before @snap was taken */
	struct edge_losses		edge;		/* losses that no record of @snap reports */
	uint64_t			inner;		/* losses that its records have reported */
	/* @event is the losses after the last one */
	bool				has_ended;
};

/* Add losses, whose number may be HYPTRACE_LOST_UNKNOWN. */
uint64_t session_add_lost(uint64_t lost, uint64_t more)
{
	return lost > HYPTRACE_LOST_UNKNOWN - more ? HYPTRACE_LOST_UNKNOWN : lost + more;
}

static int open_rings(struct session *s)
{
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	struct session_ring *ring;
	struct hyptrace_error err;
	unsigned int nr, i;
	int code = cmd_get_cpus(s->ctx, s->name, &cpus, &nr);

	if (code)
		return code;
	s->rings = xcalloc(nr + 1, sizeof(*s->rings));
	for (i = 0; i < nr; i++) {
		ring = &s->rings[s->nr_rings];
		ring->cpu = cpus[i]->id;
		ring->before = *cpus[i];
		ring->reader = hyptrace_reader_open_snapshot_on(s->ctx->h, s->name, ring->cpu,
								&err);
		if (ring->reader)
			s->nr_rings++;
		else if (err.errnum == ENODATA && !(s->takes & SESSION_NO_RINGS))
			return cmd_fail("cannot read \"%s\": the rings are not loaded: use \"hyptrace start\" or \"hyptrace load\"",
					s->name);
		/* "all" means all CPUs that have a ring */
		else if (err.errnum != ENODATA &&
			 (err.errnum != ENXIO || (s->ctx->have_cpus && !s->ctx->cpus.all)))
			return cmd_fail("cannot read CPU %u of \"%s\": %s", ring->cpu, s->name,
					err.text);
	}
	s->has_rings = s->nr_rings;
	if (!s->nr_rings && !(s->takes & SESSION_NO_RINGS))
		return cmd_fail("cannot read \"%s\": no CPU has a ring", s->name);
	return EXIT_DONE;
}

/*
 * By the counters before and after the snapshots: overwritten events are missing before the first
 * one, dropped ones after the last one and before others. If there are both, nobody knows how many
 * are missing in which place.
 */
static void find_edge_losses(struct session *s)
{
	struct session_ring *ring;

	for (ring = s->rings; ring < s->rings + s->nr_rings; ring++) {
		const struct hyptrace_cpu *before = &ring->before;
		struct hyptrace_cpu *after auto_cpu = NULL;
		uint64_t lost;

		if (hyptrace_get_cpu(s->ctx->h, s->name, ring->cpu, &after, NULL))
			continue;
		lost = before->overrun == after->overrun && before->dropped == after->dropped &&
		       before->unreported == after->unreported ? after->unreported :
								 HYPTRACE_LOST_UNKNOWN;
		if (!after->overrun)
			ring->edge.others = lost;
		else
			ring->edge.begin = after->dropped && lost ? HYPTRACE_LOST_UNKNOWN : lost;
		s->consumed += after->read;
		s->refused += after->filtered;
		/* what is before the last events is not wanted, be it lost or not */
		if (s->count)
			ring->edge.begin = 0;
	}
}

/* Before the first event is used: from about the same time; @skip: events before the last ones */
static int take_snapshots(struct session *s, uint64_t *skip)
{
	/* not known yet: how many of the last events are chosen, or were dropped between others */
	const bool choice = choice_is_made(&s->choice) ||
			    s->remote->mode == HYPTRACE_MODE_DISCARD;
	const uint64_t last = choice ? 0 : s->count;
	struct hyptrace_stream_event event;
	struct hyptrace_error err;
	struct session_ring *ring;
	uint64_t events = 0;
	int ret;

	for (ring = s->rings; ring < s->rings + s->nr_rings; ring++) {
		ring->snap = hyptrace_snapshot_take(ring->reader, s->remote->mode, last, &err);
		if (!ring->snap)
			return cmd_fail("cannot read CPU %u of \"%s\": %s%s", ring->cpu, s->name,
					err.text, err.errnum == ENOMEM && !choice &&
					(s->takes & SESSION_LAST) ? " (use --count)" : "");
	}
	for (ring = s->rings; ring < s->rings + s->nr_rings && s->count; ring++) {
		if (!choice) {
			events += hyptrace_snapshot_events(ring->snap);
			continue;
		}
		event = (struct hyptrace_stream_event){ .cpu = ring->cpu };
		while ((ret = hyptrace_snapshot_next(ring->snap, &event.record, NULL)))
			events += ret > 0 && choice_accept_event(&event, &s->choice);
		hyptrace_snapshot_rewind(ring->snap);
	}
	*skip = s->count && events > s->count ? events - s->count : 0;
	find_edge_losses(s);
	return EXIT_DONE;
}

/* Get the next event of a ring, or the losses after the last one; return false at the end. */
static bool next_event(struct session *s, struct session_ring *ring)
{
	struct hyptrace_record *rec = &ring->event.record;
	struct hyptrace_error err;
	uint64_t lost, others;
	int ret;

	if (ring->has_ended)
		return false;
	ring->event.cpu = ring->cpu;
	while ((ret = hyptrace_snapshot_next(ring->snap, rec, &err)) < 0) {
		char text[HYPTRACE_ERROR_TEXT];

		memcpy(text, err.text, sizeof(text));
		snprintf(err.text, sizeof(err.text), "CPU %u: %.300s", ring->cpu, text);
		session_note_damage(&err, s);
	}
	if (!ret) {
		/* the losses after the last event: a record without data, at its time */
		lost = hyptrace_snapshot_lost(ring->snap);
		others = ring->edge.others;
		ring->has_ended = true;
		ring->inner = session_add_lost(ring->inner, lost);
		lost = session_add_lost(lost, ring->edge.begin);
		/* records of the snapshot have reported the inner ones */
		if (others != HYPTRACE_LOST_UNKNOWN)
			others -= others > ring->inner ? ring->inner : others;
		rec->lost = session_add_lost(lost, others);
		rec->data = NULL;
		rec->size = 0;
		/* without events, the time of the losses is not known */
		rec->ts = rec->ts ?: clock_now(CLOCK_BOOTTIME);
		return rec->lost;
	}
	ring->inner = session_add_lost(ring->inner, rec->lost);
	rec->lost = session_add_lost(rec->lost, ring->edge.begin);
	ring->edge.begin = 0;
	return true;
}

static void deliver(struct session *s, struct hyptrace_stream_event *event, uint64_t *skip)
{
	struct hyptrace_record *rec = &event->record;
	const bool is_chosen = rec->data && choice_accept_event(event, &s->choice);

	if (*skip) {
		*skip -= is_chosen;
		return;
	}
	if (rec->lost == HYPTRACE_LOST_UNKNOWN)
		s->counts.lost_more = true;
	else
		s->counts.lost += rec->lost;
	s->counts.delivered += is_chosen;
	s->counts.filtered += rec->data && !is_chosen;
	if (!is_chosen) {
		rec->data = NULL;
		rec->size = 0;
	}
	if (is_chosen || rec->lost)
		s->ops->batch(s, event, 1);
}

static void merge(struct session *s, uint64_t skip)
{
	struct hyptrace_merge *merge = or_die(hyptrace_merge_new(s->nr_rings, 0));
	enum hyptrace_merge_step step;
	unsigned int i;

	hyptrace_merge_finish(merge);
	while (!s->ctx->out.error &&
	       (step = hyptrace_merge_step(merge, &i)) != HYPTRACE_MERGE_WAIT) {
		struct session_ring *ring = &s->rings[i];

		if (step == HYPTRACE_MERGE_EMIT)
			deliver(s, &ring->event, &skip);
		else if (next_event(s, ring))
			hyptrace_merge_pending(merge, i, ring->event.record.ts,
					       ring->event.record.ts);
		else
			hyptrace_merge_empty(merge, i, 0);
	}
	hyptrace_merge_free(merge);
}

int session_run_snapshot(struct session *s)
{
	const struct event_choice all_enabled = {};
	uint64_t skip = 0;
	unsigned int i;
	int code;

	if (!s->quiet && s->takes & SESSION_EVENT && !s->gaps.ctx) {
		gaps_begin(&s->gaps, s->ctx, s->name, &all_enabled, s->events, s->nr_events);
		gaps_look(&s->gaps, false);
	}
	code = open_rings(s) ?: take_snapshots(s, &skip);
	/* detach before printing: an observer keeps others from unloading or resizing */
	for (i = 0; i < s->nr_rings; i++)
		hyptrace_reader_close(s->rings[i].reader);
	if (!code && s->nr_rings)
		merge(s, skip);
	for (i = 0; i < s->nr_rings; i++)
		hyptrace_snapshot_free(s->rings[i].snap);
	free(s->rings);
	s->rings = NULL;
	s->nr_rings = 0;
	return code;
}
