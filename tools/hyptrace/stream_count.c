// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a stream printed, what it discarded and what was lost. For stream.c and
 * cmd_stream.c.
 *
 * A record tells only of the losses before it. When the rings are unloaded at the
 * end, no consumer learns of the others any more: the rings' counters have them.
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
	struct hyptrace_cpu *cpus;
	struct stream_count *count;
	unsigned int nr, i;
	int ret = hyptrace_get_cpus(s->ctx->nl, s->remote->name, &cpus, &nr, err);

	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		count = find_count(s, cpus[i].id);
		if (!count)
			continue;
		count->after = cpus[i].overrun + cpus[i].dropped;
		count->unread = cpus[i].unread;
		if (begin)
			count->before = count->after;
	}
	hyptrace_free_cpus(cpus, nr);
	return 0;
}

/**
 * stream_count_begin - remember what was lost before
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
 * stream_count_lost - add what a record or a sub-buffer tells to be lost
 * @s:		the stream
 * @index:	of the source
 * @lost:	how many events, or HYPTRACE_LOST_UNKNOWN
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
	/* should that fail there are the counters of the beginning, which add nothing */
	read_counters(s, false, NULL);
}

static bool is_unloaded(struct stream *s)
{
	struct hyptrace_remote *remotes;
	bool unloaded = true;
	unsigned int nr, i;

	if (hyptrace_get_remotes(s->ctx->nl, &remotes, &nr, NULL))
		return false;
	for (i = 0; i < nr; i++)
		if (!strcmp(remotes[i].name, s->remote->name))
			unloaded = remotes[i].state == HYPTRACE_STATE_UNLOADED;
	hyptrace_free_remotes(remotes, nr);
	return unloaded;
}

/**
 * stream_count_unloaded - if the rings are unloaded, add what was in them
 * @s:		the stream, after stream_close()
 *
 * Rings that stay loaded tell the rest to the next consumer.
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
		/* somebody may have cleared the ring, and its counters, meanwhile */
		if (count->after > count->before + count->told)
			s->lost += count->after - count->before - count->told;
	}
}

/**
 * stream_count_say - say the counts on stderr
 * @s:		the stream, after stream_count_unloaded()
 */
void stream_count_say(const struct stream *s)
{
	cmd_note("%" PRIu64 " event%s printed, %" PRIu64 " discarded, %" PRIu64 "%s lost",
		 s->printed, s->printed == 1 ? "" : "s", s->discarded, s->lost,
		 s->lost_more ? " or more" : "");
}
