// SPDX-License-Identifier: GPL-2.0-only
/* Deliver the events of a stream: in the order of time, up to the limit or the end. */
#include <sys/epoll.h>

#include "stream.h"

/* Edges to take at once; those that are left make the descriptor readable again. */
#define MAX_EDGES	64

/* Does the caller get the event? A refused event becomes a loss, if events were lost before it. */
static bool is_delivered(struct hyptrace_stream *s, struct stream_source *src)
{
	struct hyptrace_record *rec = &src->event.record;

	if (rec->lost)
		hyptrace_stream_count_lost(s, rec->lost);
	if (!s->options.filter || s->options.filter(&src->event, s->options.filter_arg)) {
		s->left--;
		return true;
	}
	s->filtered++;
	rec->data = NULL;
	rec->size = 0;
	return rec->lost;
}

static uint64_t last_time(const struct hyptrace_stream *s)
{
	return s->ending && s->boot_clock ? s->end : UINT64_MAX;
}

static void found(struct hyptrace_stream *s, struct stream_source *src)
{
	const uint64_t ts = src->event.record.ts;
	/* if the writer's clock is ahead of ours, the event must not be held for longer */
	bool same_clock = s->boot_clock && ts < src->asked;
	unsigned int index = src - s->sources;

	/* events after the request to end are not delivered */
	if (ts > last_time(s)) {
		hyptrace_stream_count_discard(s, src);
		src->over = true;
		hyptrace_merge_empty(s->merge, index, src->asked);
		return;
	}
	src->pending = true;
	hyptrace_merge_pending(s->merge, index, ts, same_clock ? ts : src->asked);
}

static int ask(struct hyptrace_stream *s, struct stream_source *src, struct hyptrace_error *err)
{
	int ret = hyptrace_source_next(src, err);

	while (!ret && !src->over) {
		ret = hyptrace_source_read(s, src, err);
		if (ret <= 0)
			break;
		ret = hyptrace_source_next(src, err);
	}
	if (ret > 0)
		found(s, src);
	else if (!ret)
		hyptrace_merge_empty(s->merge, src - s->sources, src->asked);
	return ret < 0 ? ret : 0;
}

/* Is tracing off, with every ring read to its end? */
static bool is_drained(const struct hyptrace_stream *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_sources; i++)
		if (!s->sources[i].pending && !s->sources[i].asleep)
			return false;
	return true;
}

static int ask_again(struct hyptrace_stream *s, struct hyptrace_error *err)
{
	struct epoll_event edges[MAX_EDGES];
	unsigned int i;
	int ret = 0;

	epoll_wait(s->epoll, edges, MAX_EDGES, 0);
	for (i = 0; i < s->nr_sources && !ret; i++)
		if (!s->sources[i].pending)
			ret = ask(s, &s->sources[i], err);
	/* the edges are taken: the next call must look at the other sources */
	s->waiting = ret;
	return ret;
}

/* Deliver the events of @s->run that need no merge step. Return 1, 0 or a negative errno. */
static int deliver_run(struct hyptrace_stream *s, const struct hyptrace_stream_event **event,
		       struct hyptrace_error *err)
{
	struct stream_source *src = s->run;
	int ret = s->decoded ? 1 : hyptrace_source_next(src, err);

	s->decoded = false;
	while (ret > 0 && src->event.record.ts <= s->until) {
		if (is_delivered(s, src)) {
			*event = &src->event;
			/* at the limit nothing more is decoded */
			s->fast = s->options.filter || !s->left ? NULL : src;
			s->finishing |= !s->left && s->options.limit;
			return 1;
		}
		ret = hyptrace_source_next(src, err);
	}
	s->run = NULL;
	if (ret > 0)
		found(s, src);
	return ret < 0 ? ret : 0;
}

/* Deliver the losses after the last events, and detach. */
static int deliver_rest(struct hyptrace_stream *s, const struct hyptrace_stream_event **event)
{
	struct stream_source *src;

	hyptrace_stream_begin_rest(s);
	while (s->rest < s->nr_sources) {
		src = &s->sources[s->rest++];
		if (hyptrace_stream_count_rest(s, src) && (!s->options.limit || s->left)) {
			*event = &src->event;
			return 1;
		}
	}
	hyptrace_stream_close(s);
	return -ENODATA;
}

/* Continue after a wait, or ask the caller to wait. Return 0, or 1 if it must wait. */
static int wait_for_events(struct hyptrace_stream *s)
{
	if (s->ending) {
		s->finishing = true;
		return 0;
	}
	if (s->options.no_start && is_drained(s)) {
		hyptrace_stream_end(s);
		return 0;
	}
	hyptrace_stream_wait_begin(s);
	return 1;
}

static int next_slowly(struct hyptrace_stream *s, const struct hyptrace_stream_event **event,
		       struct hyptrace_error *err)
{
	unsigned int index;
	int ret = 0;

	while (!ret) {
		if (!s->merge)
			return hyptrace_error_set(err, EINVAL, "the stream was not started");
		if (s->closed)
			return -ENODATA;
		if (s->finishing)
			return deliver_rest(s, event);
		if (s->run || s->waiting) {
			ret = s->run ? deliver_run(s, event, err) : ask_again(s, err);
			continue;
		}
		switch (hyptrace_merge_step(s->merge, &index)) {
		case HYPTRACE_MERGE_ASK:
			ret = ask(s, &s->sources[index], err);
			break;
		case HYPTRACE_MERGE_EMIT:
			s->until = hyptrace_merge_until(s->merge, index);
			s->until = MIN(s->until, last_time(s));
			s->run = &s->sources[index];
			s->run->pending = false;
			s->decoded = true;
			break;
		case HYPTRACE_MERGE_WAIT:
			if (!wait_for_events(s))
				break;
			if (!s->watch_errno)
				return 0;
			/* the caller would not wake up */
			return hyptrace_error_set(err, s->watch_errno,
						  "cannot wait for events: %m");
		}
	}
	return ret;
}

/* Go on after hyptrace_decoder_next() has returned @ret. Not inlined: the other path is hot. */
static __attribute__((noinline)) int
leave_fast_path(struct hyptrace_stream *s, const struct hyptrace_stream_event **event, int ret,
		struct hyptrace_error *err)
{
	struct stream_source *src = s->fast;

	s->fast = NULL;
	s->decoded = ret > 0;
	if (ret > 0 && src->event.record.ts <= s->until)
		/* it was taken for one of those that are left */
		s->left++;
	if (ret >= 0)
		return next_slowly(s, event, err);
	src->damaged = true;
	s->run = NULL;
	return ret;
}

/**
 * hyptrace_stream_next - get the next event
 * @s:		the stream, started
 * @event:	out: the event, or a loss; valid until the next call
 * @err:	the reason if it fails; may be NULL
 * Return: 1; 0 if there is no event at present (wait until hyptrace_stream_fd() is readable);
 * -ENODATA once the stream has ended and detached; -EBADMSG if a sub-buffer is damaged, after
 * which the caller may continue; another negative errno if a ring cannot be read.
 */
int hyptrace_stream_next(struct hyptrace_stream *s, const struct hyptrace_stream_event **event,
			 struct hyptrace_error *err)
{
	struct stream_source *src = s->fast;
	struct hyptrace_record *rec;
	int ret;

	if (__builtin_expect(!src, 0))
		return next_slowly(s, event, err);

	/* nearly all events come this way: only the first record of a sub-buffer reports a loss */
	rec = &src->event.record;
	ret = hyptrace_decoder_next(&src->dec, rec, err);
	if (__builtin_expect(ret > 0 && rec->ts <= s->until && --s->left, 1)) {
		*event = &src->event;
		return 1;
	}
	return leave_fast_path(s, event, ret, err);
}

/**
 * hyptrace_stream_run - get the next events at once, if that is simple
 * @s:		the stream, started
 * @events:	out: the events
 * @max:	how many events at most
 *
 * They are events of one CPU, whose sub-buffer has them. Other CPUs, the next sub-buffer, losses,
 * the limit and errors are left to hyptrace_stream_next().
 *
 * Return: the number of events, valid until the next call; 0 if hyptrace_stream_next() must get the
 * next one.
 */
unsigned int hyptrace_stream_run(struct hyptrace_stream *s, struct hyptrace_stream_event *events,
				 unsigned int max)
{
	struct stream_source *src = s->fast;
	uint64_t before;
	unsigned int nr;

	if (!src)
		return 0;
	/* the last event before the limit ends the stream; without a limit, 0 is left at first */
	max = MIN(max, s->left - 1);
	before = s->until < UINT64_MAX ? s->until + 1 : UINT64_MAX;
	nr = hyptrace_decoder_run(&src->dec, &src->event, before, events, max);
	if (nr)
		src->event.record = events[nr - 1].record;
	s->left -= nr;
	return nr;
}
