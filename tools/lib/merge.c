// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of several rings in the order of time.
 *
 * Each source is in one of three states:
 *
 *   UNKNOWN	it may have an event, nobody has looked
 *   PENDING	its next event is known
 *   EMPTY	it had no event at a certain time
 *
 * The earliest pending event is next when no other source can come up with an
 * earlier one: when all are pending, or when each of the others was still empty
 * a bound of time after that event.
 */
#include <stdlib.h>

#include "hyptrace.h"

enum source_state {
	SOURCE_UNKNOWN,
	SOURCE_PENDING,
	SOURCE_EMPTY,
};

struct source {
	enum source_state	state;
	uint64_t		ts;	/* PENDING: of the event */
	uint64_t		since;	/* PENDING: when the bound begins */
	uint64_t		at;	/* EMPTY: when it was */
};

struct hyptrace_merge {
	uint64_t	bound;
	unsigned int	nr;
	unsigned int	nr_pending;
	unsigned int	nr_unknown;
	unsigned int	ask;		/* no source below is unknown */
	bool		finish;
	unsigned int	*heap;		/* the pending ones, the earliest first */
	struct source	sources[];
};

/**
 * hyptrace_merge_new - merge sources
 * @nr_sources:	how many; all are unknown at first
 * @bound:	how long an event may be held back, in the unit of the times that
 *		are given later
 *
 * Return: the merge, NULL without memory.
 */
struct hyptrace_merge *hyptrace_merge_new(unsigned int nr_sources, uint64_t bound)
{
	struct hyptrace_merge *merge = calloc(1, sizeof(*merge) +
					      nr_sources * sizeof(merge->sources[0]));

	if (!merge)
		return NULL;
	merge->heap = calloc(nr_sources ? nr_sources : 1, sizeof(*merge->heap));
	if (!merge->heap) {
		free(merge);
		return NULL;
	}
	merge->bound = bound;
	merge->nr = nr_sources;
	merge->nr_unknown = nr_sources;
	return merge;
}

/**
 * hyptrace_merge_free - free a merge
 * @merge:	the merge, or NULL
 */
void hyptrace_merge_free(struct hyptrace_merge *merge)
{
	if (!merge)
		return;
	free(merge->heap);
	free(merge);
}

/* Of two events at the same time that of the lower source is first. */
static bool earlier(const struct hyptrace_merge *merge, unsigned int a, unsigned int b)
{
	const struct source *x = &merge->sources[a], *y = &merge->sources[b];

	return x->ts != y->ts ? x->ts < y->ts : a < b;
}

static void heap_up(struct hyptrace_merge *merge, unsigned int pos, unsigned int source)
{
	while (pos) {
		unsigned int parent = (pos - 1) / 2;

		if (!earlier(merge, source, merge->heap[parent]))
			break;
		merge->heap[pos] = merge->heap[parent];
		pos = parent;
	}
	merge->heap[pos] = source;
}

static void heap_pop(struct hyptrace_merge *merge)
{
	unsigned int nr = --merge->nr_pending, pos = 0, last = merge->heap[nr];

	for (;;) {
		unsigned int child = 2 * pos + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && earlier(merge, merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!earlier(merge, merge->heap[child], last))
			break;
		merge->heap[pos] = merge->heap[child];
		pos = child;
	}
	merge->heap[pos] = last;
}

/**
 * hyptrace_merge_pending - the next event of a source is known
 * @merge:	the merge
 * @source:	which; must not be pending
 * @ts:		when the event happened, not before the source's last one
 * @since:	from when on the bound counts: @ts if that is of the clock that
 *		hyptrace_merge_empty() is told, else the present time of that clock
 */
void hyptrace_merge_pending(struct hyptrace_merge *merge, unsigned int source, uint64_t ts,
			    uint64_t since)
{
	struct source *src = &merge->sources[source];

	if (src->state == SOURCE_UNKNOWN)
		merge->nr_unknown--;
	src->state = SOURCE_PENDING;
	src->ts = ts;
	src->since = since;
	heap_up(merge, merge->nr_pending++, source);
}

/**
 * hyptrace_merge_empty - a source has no event
 * @merge:	the merge
 * @source:	which; must not be pending
 * @at:		a time before it was looked for
 */
void hyptrace_merge_empty(struct hyptrace_merge *merge, unsigned int source, uint64_t at)
{
	struct source *src = &merge->sources[source];

	if (src->state == SOURCE_UNKNOWN)
		merge->nr_unknown--;
	src->state = SOURCE_EMPTY;
	src->at = at;
}

/**
 * hyptrace_merge_finish - there will be no more events of the empty sources
 * @merge:	the merge
 *
 * From now on nothing is held back on their account.
 */
void hyptrace_merge_finish(struct hyptrace_merge *merge)
{
	merge->finish = true;
}

/* Up to what time no empty source can have an event: a bound before it was asked. */
static uint64_t quiet_until(const struct hyptrace_merge *merge)
{
	uint64_t until = UINT64_MAX;
	unsigned int i;

	if (merge->finish)
		return until;
	for (i = 0; i < merge->nr; i++) {
		const struct source *src = &merge->sources[i];

		if (src->state == SOURCE_EMPTY && src->at < until)
			until = src->at;
	}
	return until;
}

/* Was each source that is empty still so a bound after the event? */
static bool is_due(const struct hyptrace_merge *merge, const struct source *event)
{
	uint64_t until = quiet_until(merge);

	return until == UINT64_MAX ||
	       (until >= event->since && until - event->since >= merge->bound);
}

/**
 * hyptrace_merge_step - what is to be done next
 * @merge:	the merge
 * @source:	for EMIT and ASK: which source
 *
 * After EMIT the source counts as unknown: its event has been taken.
 *
 * Return: EMIT, ASK (then hyptrace_merge_pending() or hyptrace_merge_empty()), or
 * WAIT until hyptrace_merge_due() or until a source has an event; all empty
 * sources are then to be asked again.
 */
enum hyptrace_merge_step hyptrace_merge_step(struct hyptrace_merge *merge, unsigned int *source)
{
	struct source *src;

	if (merge->nr_unknown) {
		while (merge->sources[merge->ask].state != SOURCE_UNKNOWN)
			merge->ask++;
		*source = merge->ask;
		return HYPTRACE_MERGE_ASK;
	}
	if (!merge->nr_pending)
		return HYPTRACE_MERGE_WAIT;

	src = &merge->sources[merge->heap[0]];
	if (merge->nr_pending < merge->nr && !is_due(merge, src))
		return HYPTRACE_MERGE_WAIT;

	*source = merge->heap[0];
	heap_pop(merge);
	src->state = SOURCE_UNKNOWN;
	merge->nr_unknown++;
	merge->ask = *source;
	return HYPTRACE_MERGE_EMIT;
}

/**
 * hyptrace_merge_until - how far a source may go on without a step for each event
 * @merge:	the merge
 * @source:	the one of the last step, which was EMIT
 *
 * Return: a time; the events of the source that follow are next, too, as long as
 * they are not after it.
 */
uint64_t hyptrace_merge_until(const struct hyptrace_merge *merge, unsigned int source)
{
	const struct source *src = &merge->sources[source];
	uint64_t until = UINT64_MAX, quiet;
	unsigned int first;

	if (merge->nr_pending) {
		first = merge->heap[0];
		/* were it 0 at that time, the other one would have been first */
		until = merge->sources[first].ts - (first < source);
	}
	quiet = quiet_until(merge);
	if (quiet == UINT64_MAX)
		return until;
	/* the times of the source and those of the bound are not of the same clock */
	if (src->since != src->ts)
		return src->ts;
	return quiet - merge->bound < until ? quiet - merge->bound : until;
}

/**
 * hyptrace_merge_due - when the earliest event need not be held any longer
 * @merge:	the merge
 *
 * Return: that time, UINT64_MAX if there is no event.
 */
uint64_t hyptrace_merge_due(const struct hyptrace_merge *merge)
{
	uint64_t since;

	if (!merge->nr_pending)
		return UINT64_MAX;
	since = merge->sources[merge->heap[0]].since;
	return since > UINT64_MAX - merge->bound ? UINT64_MAX : since + merge->bound;
}
