// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the events that a stream has discarded and lost. For stream.c and stream_open.c.
 *
 * A sub-buffer reports only the losses before it. Later ones, of a ring that was full when
 * tracing stopped, are taken from the ring's counters.
 */
#include <errno.h>

#include "stream.h"

static struct stream_source *find_source(struct hyptrace_stream *s, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < s->nr_sources; i++)
		if (s->sources[i].event.cpu == cpu)
			return &s->sources[i];
	return NULL;
}

void hyptrace_stream_count_lost(struct hyptrace_stream *s, uint64_t lost)
{
	if (lost == HYPTRACE_LOST_UNKNOWN)
		s->lost_more = true;
	else
		s->lost += lost;
}

/* Count a source's next event, which will not be delivered. */
void hyptrace_stream_count_discard(struct hyptrace_stream *s, struct stream_source *src)
{
	src->pending = false;
	s->discarded++;
	hyptrace_stream_count_lost(s, src->event.record.lost);
}

/* Losses that the sub-buffers have reported to the ring's consumers */
static uint64_t count_reported(const struct hyptrace_cpu *cpu)
{
	return cpu->overrun + cpu->dropped - cpu->unreported;
}

/* The losses since the stream began that no sub-buffer has reported */
static uint64_t count_pending(const struct stream_source *src, const struct hyptrace_cpu *cpu)
{
	/* the next sub-buffer reports what was pending before; an earlier stream has, too */
	if (count_reported(cpu) == src->reported && cpu->unreported >= src->unreported)
		return cpu->unreported - src->unreported;
	return cpu->unreported;
}

int hyptrace_stream_count_begin(struct hyptrace_stream *s, struct hyptrace_error *err)
{
	struct stream_source *src;
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int ret;

	ret = hyptrace_get_cpus(s->h, s->remote->name, &cpus, &nr, err);
	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		src = find_source(s, cpus[i]->id);
		if (!src)
			continue;
		src->reported = count_reported(cpus[i]);
		/* else they come after events that this stream reads */
		src->unreported = cpus[i]->unread ? 0 : cpus[i]->unreported;
	}
	hyptrace_free_cpus(cpus);
	return 0;
}

/*
 * Read the rings' counters. Without them, which is if the remote was unregistered, no later losses
 * are known.
 */
void hyptrace_stream_count_end(struct hyptrace_stream *s)
{
	struct stream_source *src;
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;

	if (hyptrace_get_cpus(s->h, s->remote->name, &cpus, &nr, NULL)) {
		for (i = 0; i < s->nr_sources; i++)
			s->sources[i].unreported = 0;
		return;
	}
	for (i = 0; i < nr; i++) {
		src = find_source(s, cpus[i]->id);
		if (!src)
			continue;
		src->unread = cpus[i]->unread;
		src->unreported = count_pending(src, cpus[i]);
	}
	hyptrace_free_cpus(cpus);
}

/* Take the losses after the last event of a ring: no sub-buffer reports them in time. */
static uint64_t take_last_losses(struct stream_source *src)
{
	uint64_t lost = hyptrace_decoder_lost(src->dec);

	if (src->unread || lost == HYPTRACE_LOST_UNKNOWN)
		return lost;
	lost += src->unreported;
	src->unreported = 0;
	return lost;
}

void hyptrace_stream_count_undelivered(struct hyptrace_stream *s)
{
	struct stream_source *src;
	uint64_t time;
	int ret;

	s->last = 0;
	for (src = s->sources; src < s->sources + s->nr_sources; src++) {
		if (src->pending)
			hyptrace_stream_count_discard(s, src);
		while ((ret = hyptrace_source_next(src, NULL))) {
			if (ret > 0)
				hyptrace_stream_count_discard(s, src);
		}
		s->lost_more |= src->damaged;
		time = hyptrace_decoder_time(src->dec);
		if (time > s->last)
			s->last = time;
	}
	if (!s->last && s->boot_clock)
		s->last = s->end;
}

/*
 * Count the losses after the last event of a source. Return true if events were lost after the last
 * one; src->event is then that loss. It has the time of the last event of all sources: the losses
 * are in the order of time, too.
 */
bool hyptrace_stream_count_rest(struct hyptrace_stream *s, struct stream_source *src)
{
	uint64_t lost = take_last_losses(src);

	if (!lost)
		return false;
	hyptrace_stream_count_lost(s, lost);
	src->event.record.ts = s->last;
	src->event.record.lost = lost;
	src->event.record.data = NULL;
	src->event.record.size = 0;
	return true;
}

/* Are the rings unloaded? Also if the remote was unregistered. */
static bool is_unloaded(struct hyptrace_stream *s)
{
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	bool unloaded;

	if (hyptrace_get_remote(s->h, s->remote->name, &remote, &err))
		return err.errnum == ENODEV;
	unloaded = remote->state == HYPTRACE_STATE_UNLOADED;
	hyptrace_free_remote(remote);
	return unloaded;
}

/*
 * If the rings are unloaded, add what was in them. If the rings stay loaded, the next consumer sees
 * the rest.
 */
void hyptrace_stream_count_unloaded(struct hyptrace_stream *s)
{
	unsigned int i;

	if (!s->nr_sources || !is_unloaded(s))
		return;
	for (i = 0; i < s->nr_sources; i++) {
		s->discarded += s->sources[i].unread;
		s->lost += s->sources[i].unreported;
	}
}
