// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the events that a stream has discarded and lost. For stream.c and stream_open.c.
 *
 * A record reports only the losses before it. If the rings are unloaded at the end, no
 * consumer sees the later ones: they are taken from the rings' counters.
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

static int read_counters(struct hyptrace_stream *s, bool begin, struct hyptrace_error *err)
{
	struct stream_source *src;
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int ret = hyptrace_get_cpus(s->h, s->remote->name, &cpus, &nr, err);

	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		src = find_source(s, cpus[i]->id);
		if (!src)
			continue;
		src->after = cpus[i]->overrun + cpus[i]->dropped;
		if (begin)
			src->before = src->after;
		else
			src->unread = cpus[i]->unread;
	}
	hyptrace_free_cpus(cpus);
	return 0;
}

/**
 * hyptrace_stream_count_begin - store how many events were lost before the stream
 * @s:		the stream, attached to its rings
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_stream_count_begin(struct hyptrace_stream *s, struct hyptrace_error *err)
{
	return read_counters(s, true, err);
}

/**
 * hyptrace_stream_count_lost - add the losses that a record or a sub-buffer reports
 * @s:		the stream
 * @src:	the source
 * @lost:	number of lost events, or HYPTRACE_LOST_UNKNOWN
 */
void hyptrace_stream_count_lost(struct hyptrace_stream *s, struct stream_source *src,
				uint64_t lost)
{
	if (lost == HYPTRACE_LOST_UNKNOWN) {
		s->lost_more = true;
		return;
	}
	s->lost += lost;
	src->reported += lost;
}

/**
 * hyptrace_stream_count_discard - count a source's next event, which will not be delivered
 * @s:		the stream
 * @src:	the source
 */
void hyptrace_stream_count_discard(struct hyptrace_stream *s, struct stream_source *src)
{
	src->pending = false;
	s->discarded++;
	hyptrace_stream_count_lost(s, src, src->event.record.lost);
}

/**
 * hyptrace_stream_count_rest - count what was read but not delivered
 * @s:		the stream
 * @src:	the source
 *
 * Return: true if events were lost after the last one; @src->event is then that loss.
 */
bool hyptrace_stream_count_rest(struct hyptrace_stream *s, struct stream_source *src)
{
	uint64_t lost;
	int ret;

	if (src->pending || (s->run == src && s->decoded))
		hyptrace_stream_count_discard(s, src);
	while ((ret = hyptrace_source_next(src, NULL))) {
		if (ret > 0)
			hyptrace_stream_count_discard(s, src);
	}
	s->lost_more |= src->damaged;
	lost = hyptrace_decoder_lost(src->dec);
	if (!lost)
		return false;
	hyptrace_stream_count_lost(s, src, lost);
	src->event.record.ts = hyptrace_decoder_time(src->dec);
	src->event.record.lost = lost;
	src->event.record.data = NULL;
	src->event.record.size = 0;
	return true;
}

/**
 * hyptrace_stream_count_end - read the rings' counters for the last time
 * @s:		the stream, still attached to its rings
 */
void hyptrace_stream_count_end(struct hyptrace_stream *s)
{
	/* on failure the counters of the beginning remain, which add nothing */
	read_counters(s, false, NULL);
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

/**
 * hyptrace_stream_count_unloaded - if the rings are unloaded, add what was in them
 * @s:		the stream, detached from its rings
 *
 * If the rings stay loaded, the next consumer sees the rest.
 */
void hyptrace_stream_count_unloaded(struct hyptrace_stream *s)
{
	const struct stream_source *src;
	unsigned int i;

	if (!s->nr_sources || !is_unloaded(s))
		return;
	for (i = 0; i < s->nr_sources; i++) {
		src = &s->sources[i];
		s->discarded += src->unread;
		/* a clear meanwhile may have reset the counters */
		if (src->after > src->before + src->reported)
			s->lost += src->after - src->before - src->reported;
	}
}
