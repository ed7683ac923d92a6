// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the events that a stream printed, discarded and lost. For stream.c and
 * cmd_stream.c.
 *
 * A record reports only the losses before it. If the rings are unloaded at the end, no
 * consumer sees the later ones: they are taken from the rings' counters.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

static struct stream_count *find_count(struct stream *s, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < s->nr_sources; i++)
		if (s->counts[i].cpu == cpu)
			return &s->counts[i];
	return NULL;
}

static int read_counters(struct stream *s, bool begin, struct hyptrace_error *err)
{
	struct hyptrace_cpu **cpus;
	struct stream_count *count;
	unsigned int nr, i;
	int ret = hyptrace_get_cpus(s->ctx->h, s->remote->name, &cpus, &nr, err);

	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		count = find_count(s, cpus[i]->id);
		if (!count)
			continue;
		count->after = cpus[i]->overrun + cpus[i]->dropped;
		if (begin)
			count->before = count->after;
		else
			count->unread = cpus[i]->unread;
	}
	hyptrace_free_cpus(cpus);
	return 0;
}

/**
 * stream_count_begin - store how many events were lost before the stream
 * @s:		the stream, attached to its rings
 *
 * Return: an exit code.
 */
int stream_count_begin(struct stream *s)
{
	struct hyptrace_error err;

	if (read_counters(s, true, &err))
		return cmd_fail("cannot list the CPUs of \"%s\": %s", s->remote->name, err.text);
	return EXIT_DONE;
}

/**
 * stream_count_lost - add the losses that a record or a sub-buffer reports
 * @s:		the stream
 * @index:	index of the source
 * @lost:	number of lost events, or HYPTRACE_LOST_UNKNOWN
 */
void stream_count_lost(struct stream *s, unsigned int index, uint64_t lost)
{
	if (lost == HYPTRACE_LOST_UNKNOWN) {
		s->lost_more = true;
		return;
	}
	s->lost += lost;
	s->counts[index].told += lost;
}

/**
 * stream_count_end - read the rings' counters for the last time
 * @s:		the stream, still attached to its rings
 */
void stream_count_end(struct stream *s)
{
	/* on failure the counters of the beginning remain, which add nothing */
	read_counters(s, false, NULL);
}

static bool is_unloaded(struct stream *s)
{
	struct hyptrace_remote **remotes;
	bool unloaded = true;
	unsigned int nr, i;

	if (hyptrace_get_remotes(s->ctx->h, &remotes, &nr, NULL))
		return false;
	for (i = 0; i < nr; i++)
		if (!strcmp(remotes[i]->name, s->remote->name))
			unloaded = remotes[i]->state == HYPTRACE_STATE_UNLOADED;
	hyptrace_free_remotes(remotes);
	return unloaded;
}

/**
 * stream_count_unloaded - if the rings are unloaded, add what was in them
 * @s:		the stream, after stream_close()
 *
 * If the rings stay loaded, the next consumer sees the rest.
 */
void stream_count_unloaded(struct stream *s)
{
	const struct stream_count *count;
	unsigned int i;

	if (!s->nr_sources || !is_unloaded(s))
		return;
	for (i = 0; i < s->nr_sources; i++) {
		count = &s->counts[i];
		s->discarded += count->unread;
		/* a clear meanwhile may have reset the counters */
		if (count->after > count->before + count->told)
			s->lost += count->after - count->before - count->told;
	}
}

/**
 * stream_count_say - print the counts on stderr
 * @s:		the stream, after stream_count_unloaded()
 */
void stream_count_say(const struct stream *s)
{
	cmd_note("%" PRIu64 " event%s printed, %" PRIu64 " discarded, %" PRIu64 "%s lost",
		 s->printed, s->printed == 1 ? "" : "s", s->discarded, s->lost,
		 s->lost_more ? " or more" : "");
}
