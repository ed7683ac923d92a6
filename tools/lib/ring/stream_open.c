// SPDX-License-Identifier: GPL-2.0-only
/* Make a stream, start it, request its end, detach, and count what was discarded and lost. */
#include "stream.h"

#define BOUND_DEFAULT	(10 * NSEC_PER_MSEC)
/* tracefs looks at the rings every 100 ms. */
#define BOUND_TRACEFS	(800 * NSEC_PER_MSEC)

/*
 * An event is held for this part of the bound, until the other CPUs were empty so long after it. By
 * then a writer with an earlier time stamp has committed its event. The rest of the bound is for
 * noticing that and for printing.
 */
#define HELD_PART	4

/**
 * hyptrace_stream_new - make a stream
 * @h:		the connection; must stay open as long as the stream
 * @remote:	name of the remote
 * @err:	the reason if it fails; may be NULL
 *
 * With its first options it delivers the events of all CPUs that have a ring, in order within 10
 * ms, until hyptrace_stream_end() is called, and holds tracing on.
 *
 * Return: the stream, for hyptrace_stream_free(), or NULL.
 */
struct hyptrace_stream *hyptrace_stream_new(struct hyptrace *h, const char *remote,
					    struct hyptrace_error *err)
{
	struct hyptrace_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return hyptrace_error_null(hyptrace_error_memory(err));
	s->h = h;
	s->options.bound = BOUND_DEFAULT;
	s->epoll = -1;
	s->timer = -1;
	if (!hyptrace_get_remote(h, remote, &s->remote, err) &&
	    !hyptrace_get_events(h, remote, &s->events, &s->nr_events, err)) {
		s->boot_clock = !strcmp(s->remote->clock, "boot");
		s->formats = hyptrace_formats_new(s->events, s->nr_events, err);
	}
	if (s->formats)
		return s;
	hyptrace_stream_free(s);
	return NULL;
}

/**
 * hyptrace_stream_free - detach from the rings and free a stream
 * @s:		the stream, or NULL
 */
void hyptrace_stream_free(struct hyptrace_stream *s)
{
	if (!s)
		return;
	hyptrace_stream_detach(s);
	free(s->sources);
	hyptrace_merge_free(s->merge);
	hyptrace_formats_free(s->formats);
	hyptrace_free_events(s->events);
	hyptrace_free_remote(s->remote);
	free(s);
}

/**
 * hyptrace_stream_options - get the options of a stream
 * @s:		the stream, not started
 * Return: the options, for the caller to change.
 */
struct hyptrace_stream_options *hyptrace_stream_options(struct hyptrace_stream *s)
{
	return &s->options;
}

/**
 * hyptrace_stream_set_events - choose the events that the stream holds enabled
 * @s:		the stream, not started
 * @names:	their exact names
 * @nr:		number of @names; 0 to hold none
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * The stream also delivers the other events that are enabled.
 *
 * Return: 0 or a negative errno: -ENOENT if there is no such event.
 */
int hyptrace_stream_set_events(struct hyptrace_stream *s, const char *const *names,
			       unsigned int nr, struct hyptrace_error *err)
{
	unsigned int i, j;

	s->nr_hold = 0;
	if (nr > HYPTRACE_HOLD_EVENTS_MAX)
		return hyptrace_error_set(err, E2BIG, "at most %u events can be named at once",
					  HYPTRACE_HOLD_EVENTS_MAX);
	for (i = 0; i < nr; i++) {
		for (j = 0; j < s->nr_events && strcmp(s->events[j]->name, names[i]); j++)
			;
		if (j == s->nr_events) {
			hyptrace_error_set(err, ENOENT, "no such event");
			hyptrace_error_subject(err, "%s", names[i]);
			return -ENOENT;
		}
		s->hold[i] = s->events[j]->id;
	}
	s->nr_hold = nr;
	return 0;
}

/* A sub-buffer reports only the losses before it: later ones are in the ring's counters. */

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

static int read_counters(struct hyptrace_stream *s, bool at_end, struct hyptrace_error *err)
{
	struct stream_source *src, *const end = s->sources + s->nr_sources;
	struct hyptrace_cpu **cpus = NULL;
	unsigned int nr, i;
	int ret = hyptrace_get_cpus(s->h, s->remote->name, &cpus, &nr, err);

	for (i = 0; !ret && i < nr; i++) {
		for (src = s->sources; src < end && src->event.cpu != cpus[i]->id; src++)
			;
		if (src == end)
			continue;
		if (at_end) {
			src->unread = cpus[i]->unread;
			src->unreported = count_pending(src, cpus[i]);
		} else {
			src->reported = count_reported(cpus[i]);
			/* else they come after events that this stream reads */
			src->unreported = cpus[i]->unread ? 0 : cpus[i]->unreported;
		}
	}
	hyptrace_free_cpus(cpus);
	return ret;
}

static void count_undelivered(struct hyptrace_stream *s)
{
	struct stream_source *src;
	int ret;

	s->last = 0;
	for (src = s->sources; src < s->sources + s->nr_sources; src++) {
		if (src->pending)
			hyptrace_stream_count_discard(s, src);
		while ((ret = hyptrace_source_next(src, NULL)))
			if (ret > 0)
				hyptrace_stream_count_discard(s, src);
		s->lost_more |= src->damaged;
		s->last = MAX(s->last, src->dec.ts);
	}
	if (!s->last && s->boot_clock)
		s->last = s->end;
}

/* If losses follow a source's last event, src->event becomes one, after those of all sources. */
bool hyptrace_stream_count_rest(struct hyptrace_stream *s, struct stream_source *src)
{
	uint64_t lost = hyptrace_decoder_lost(&src->dec);

	/* no sub-buffer reports them in time */
	if (!src->unread && lost != HYPTRACE_LOST_UNKNOWN) {
		lost += src->unreported;
		src->unreported = 0;
	}
	if (!lost)
		return false;
	hyptrace_stream_count_lost(s, lost);
	src->event.record.ts = s->last;
	src->event.record.lost = lost;
	src->event.record.data = NULL;
	src->event.record.size = 0;
	return true;
}

static int open_sources(struct hyptrace_stream *s, struct hyptrace_error *err)
{
	const unsigned int *chosen = s->options.cpus;
	unsigned int nr = s->options.nr_cpus, i;
	struct hyptrace_cpu **cpus = NULL;
	int ret = chosen ? 0 : hyptrace_get_cpus(s->h, s->remote->name, &cpus, &nr, err);

	if (ret)
		return ret;
	s->sources = calloc(nr ? nr : 1, sizeof(*s->sources));
	if (!s->sources)
		ret = hyptrace_error_memory(err);
	for (i = 0; i < nr && !ret; i++) {
		ret = hyptrace_source_open(s, chosen ? chosen[i] : cpus[i]->id, err);
		/* without a choice of CPUs, those that have a ring are meant */
		if (ret == -ENXIO && !chosen)
			ret = 0;
	}
	hyptrace_free_cpus(cpus);
	if (!ret && !s->nr_sources)
		ret = hyptrace_error_set(err, ENXIO, "no CPU has a ring");
	return ret;
}

/**
 * hyptrace_stream_start - attach to the rings and hold events and tracing
 * @s:		the stream; it can be started once
 * @err:	the reason if it fails, its subject the CPU or the event at fault; may be NULL
 * Return: 0 or a negative errno. After a failure the stream can only be freed.
 */
int hyptrace_stream_start(struct hyptrace_stream *s, struct hyptrace_error *err)
{
	struct hyptrace_error own;
	int ret;

	/* the errno decides what to do */
	if (!err)
		err = &own;
	if (s->sources)
		return hyptrace_error_set(err, EALREADY, "the stream was started already");
	s->left = s->options.limit;
	ret = open_sources(s, err);
	if (!ret)
		ret = read_counters(s, false, err);
	if (ret)
		return ret;
	s->is_tracefs = s->sources[0].reader->backend;
	if (s->is_tracefs && s->options.bound < BOUND_TRACEFS)
		s->options.bound = BOUND_TRACEFS;
	s->merge = hyptrace_merge_new(s->nr_sources, s->options.bound / HELD_PART);
	if (!s->merge)
		return hyptrace_error_memory(err);
	ret = hyptrace_stream_wait_open(s, err);
	if (ret || (s->options.no_start && !s->nr_hold))
		return ret;
	ret = hyptrace_reader_hold(s->sources[0].reader, s->hold, s->nr_hold,
				   !s->options.no_start, err);
	s->holding = !ret;
	return ret;
}

/* On failure the kernel releases the hold when the stream detaches. */
static void release_hold(struct hyptrace_stream *s)
{
	/* tracefs delivers the rest only then */
	if (s->holding || s->is_tracefs)
		hyptrace_reader_hold(s->sources[0].reader, NULL, 0, false, NULL);
	s->holding = false;
}

/* Return the remote's state now, or a negative errno. */
static int state_of(const struct hyptrace_stream *s)
{
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	int state;

	if (hyptrace_get_remote(s->h, s->remote->name, &remote, &err))
		return -err.errnum;
	state = remote->state;
	hyptrace_free_remote(remote);
	return state;
}

/**
 * hyptrace_stream_end - request the end of a stream
 * @s:		the stream, started
 *
 * The stream delivers only the events that happened so far. If the clock of the remote
 * cannot tell which these are and tracing continues, it delivers those that it has read.
 */
void hyptrace_stream_end(struct hyptrace_stream *s)
{
	unsigned int i;
	bool endless;
	int state;

	if (s->ending || s->closed || !s->merge)
		return;
	s->ending = true;
	s->end = hyptrace_now(CLOCK_BOOTTIME);
	release_hold(s);
	hyptrace_merge_finish(s->merge);
	state = s->boot_clock ? 0 : state_of(s);
	endless = !s->boot_clock && (state < 0 || state == HYPTRACE_STATE_TRACING);
	for (i = 0; i < s->nr_sources; i++)
		s->sources[i].over = endless;
	/* the next event needs a merge step: sources that were empty may have earlier ones */
	s->until = 0;
}

void hyptrace_stream_begin_rest(struct hyptrace_stream *s)
{
	unsigned int i;

	if (s->rest_begun)
		return;
	s->rest_begun = true;
	release_hold(s);
	/* before the kernel unloads the rings; without a remote, no later losses are known */
	if (read_counters(s, true, NULL))
		for (i = 0; i < s->nr_sources; i++)
			s->sources[i].unreported = 0;
	count_undelivered(s);
}

/* Rings that stay loaded keep the rest for the next consumer. What tracefs has given is gone. */
static void count_unloaded(struct hyptrace_stream *s)
{
	const int state = state_of(s);
	unsigned int i;

	/* without its driver, a remote has no rings */
	if (state != HYPTRACE_STATE_UNLOADED && state != -ENODEV && !s->is_tracefs)
		return;
	for (i = 0; i < s->nr_sources; i++) {
		s->discarded += s->sources[i].unread;
		s->lost += s->sources[i].unreported;
	}
}

/**
 * hyptrace_stream_close - end a stream at once
 * @s:		the stream, started
 *
 * The stream detaches from its rings, and delivers nothing more. The events that it has read
 * count as discarded. hyptrace_stream_next() does this at the end of the stream.
 */
void hyptrace_stream_close(struct hyptrace_stream *s)
{
	if (s->closed)
		return;
	s->closed = true;
	s->fast = NULL;
	hyptrace_stream_begin_rest(s);
	for (; s->rest < s->nr_sources; s->rest++)
		hyptrace_stream_count_rest(s, &s->sources[s->rest]);
	hyptrace_stream_detach(s);
	count_unloaded(s);
}

/**
 * hyptrace_stream_counts - get what became of the events
 * @s:		the stream
 * @counts:	filled in; exact once the stream has ended or is closed
 * @size:	sizeof(*@counts)
 */
void hyptrace_stream_counts(const struct hyptrace_stream *s,
			    struct hyptrace_stream_counts *counts, size_t size)
{
	const struct hyptrace_stream_counts all = {
		.delivered = s->sources ? s->options.limit - s->left : 0,
		.filtered = s->filtered,
		.discarded = s->discarded,
		.lost = s->lost,
		.lost_more = s->lost_more,
	};

	memset(counts, 0, size);
	memcpy(counts, &all, size < sizeof(all) ? size : sizeof(all));
}

/**
 * hyptrace_stream_formats - get the formats of the remote's events
 * @s:		the stream
 * Return: the formats; valid as long as the stream.
 */
struct hyptrace_formats *hyptrace_stream_formats(const struct hyptrace_stream *s)
{
	return s->formats;
}
