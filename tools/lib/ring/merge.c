// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merge the events of several rings in the order of time. By hand: no library waits for a
 * bounded time until a source that is empty can no longer deliver an earlier event.
 *
 * The earliest pending event is emitted once no other source can deliver an earlier one: when all
 * sources are pending, or when each empty source was still empty one bound of time after it.
 */
#include "internal.h"

enum source_state {
	SOURCE_UNKNOWN,		/* the caller has not looked for its next event */
	SOURCE_PENDING,		/* its next event is known */
	SOURCE_EMPTY,		/* it had no event at a certain time */
};

struct source {
	enum source_state	state;
	uint64_t		ts;	/* PENDING: time of the event */
	uint64_t		since;	/* PENDING: when the bound begins */
	uint64_t		at;	/* EMPTY: when it was empty */
};

struct hyptrace_merge {
	uint64_t	bound;
	unsigned int	nr;
	unsigned int	nr_pending;
	unsigned int	nr_unknown;
	unsigned int	ask;		/* no source of a lower index is unknown */
	bool		finish;
	unsigned int	*heap;		/* after @sources: the pending ones, the earliest first */
	struct source	sources[];
};

/**
 * hyptrace_merge_new - make a merge
 * @nr_sources:	number of sources; all are unknown at first
 * @bound:	how long an event may be held back, in the unit of all times that the
 *		caller passes later
 * Return: the merge, NULL if there is no memory.
 */
struct hyptrace_merge *hyptrace_merge_new(unsigned int nr_sources, uint64_t bound)
{
	const size_t each = sizeof(struct source) + sizeof(unsigned int);
	struct hyptrace_merge *merge = calloc(1, sizeof(*merge) + nr_sources * each);

	if (!merge)
		return NULL;
	merge->heap = (unsigned int *)&merge->sources[nr_sources];
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
	free(merge);
}

/* If the times are equal, the source of the lower index is first. */
static bool earlier(const struct hyptrace_merge *merge, unsigned int a, unsigned int b)
{
	const struct source *x = &merge->sources[a], *y = &merge->sources[b];

	return x->ts != y->ts ? x->ts < y->ts : a < b;
}

static void heap_pop(struct hyptrace_merge *merge)
{
	unsigned int nr = --merge->nr_pending, pos = 0, last = merge->heap[nr], child;

	for (child = 1; child < nr; child = 2 * pos + 1) {
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
 * hyptrace_merge_pending - report the next event of a source
 * @merge:	the merge
 * @source:	its index; it must not be pending
 * @ts:		time of the event, not before the source's previous one
 * @since:	when the bound begins, by the clock of hyptrace_merge_empty(): @ts if it
 *		is of that clock, else the current time
 */
void hyptrace_merge_pending(struct hyptrace_merge *merge, unsigned int source, uint64_t ts,
			    uint64_t since)
{
	struct source *src = &merge->sources[source];
	unsigned int pos = merge->nr_pending++, parent;

	merge->nr_unknown -= src->state == SOURCE_UNKNOWN;
	src->state = SOURCE_PENDING;
	src->ts = ts;
	src->since = since;
	for (; pos; pos = parent) {
		parent = (pos - 1) / 2;
		if (!earlier(merge, source, merge->heap[parent]))
			break;
		merge->heap[pos] = merge->heap[parent];
	}
	merge->heap[pos] = source;
}

/**
 * hyptrace_merge_empty - report that a source has no event
 * @merge:	the merge
 * @source:	its index; it must not be pending
 * @at:		a time before the caller looked for the event
 */
void hyptrace_merge_empty(struct hyptrace_merge *merge, unsigned int source, uint64_t at)
{
	struct source *src = &merge->sources[source];

	merge->nr_unknown -= src->state == SOURCE_UNKNOWN;
	src->state = SOURCE_EMPTY;
	src->at = at;
}

/**
 * hyptrace_merge_finish - request to look at the empty sources for the last time
 * @merge:	the merge
 *
 * Each of them is asked once more. After that, the merge holds no event back because of them.
 */
void hyptrace_merge_finish(struct hyptrace_merge *merge)
{
	unsigned int i;

	merge->finish = true;
	merge->ask = 0;
	for (i = 0; i < merge->nr; i++) {
		if (merge->sources[i].state != SOURCE_EMPTY)
			continue;
		merge->sources[i].state = SOURCE_UNKNOWN;
		merge->nr_unknown++;
	}
}

/* No empty source can have an event that is earlier than one bound before this time. */
static uint64_t quiet_until(const struct hyptrace_merge *merge)
{
	uint64_t until = UINT64_MAX;
	unsigned int i;

	if (merge->finish)
		return until;
	for (i = 0; i < merge->nr; i++)
		if (merge->sources[i].state == SOURCE_EMPTY)
			until = MIN(until, merge->sources[i].at);
	return until;
}

/**
 * hyptrace_merge_step - get what the caller must do next
 * @merge:	the merge
 * @source:	out: the source of EMIT and ASK
 *
 * After EMIT the source is unknown: the caller takes its event.
 *
 * Return: EMIT, ASK or WAIT. For ASK the caller looks at the source and calls
 * hyptrace_merge_pending() or hyptrace_merge_empty(). For WAIT it waits until
 * hyptrace_merge_due() or until a source has an event, then looks at all empty sources.
 */
enum hyptrace_merge_step hyptrace_merge_step(struct hyptrace_merge *merge, unsigned int *source)
{
	struct source *src;
	uint64_t until;

	if (merge->nr_unknown) {
		while (merge->sources[merge->ask].state != SOURCE_UNKNOWN)
			merge->ask++;
		*source = merge->ask;
		return HYPTRACE_MERGE_ASK;
	}
	if (!merge->nr_pending)
		return HYPTRACE_MERGE_WAIT;

	src = &merge->sources[merge->heap[0]];
	until = merge->nr_pending < merge->nr ? quiet_until(merge) : UINT64_MAX;
	/* was each empty source still empty one bound after the event? */
	if (until < UINT64_MAX && (until < src->since || until - src->since < merge->bound))
		return HYPTRACE_MERGE_WAIT;

	*source = merge->heap[0];
	heap_pop(merge);
	src->state = SOURCE_UNKNOWN;
	merge->nr_unknown++;
	merge->ask = *source;
	return HYPTRACE_MERGE_EMIT;
}

/**
 * hyptrace_merge_until - get up to what time a source's events need no further step
 * @merge:	the merge
 * @source:	the source of the last step, which was EMIT
 * Return: a time. The source's next events are also next in the merge while they are
 * not later than it.
 */
uint64_t hyptrace_merge_until(const struct hyptrace_merge *merge, unsigned int source)
{
	const struct source *src = &merge->sources[source];
	uint64_t until = UINT64_MAX, quiet;

	/* no wrap: at time 0 the lower index would have been first */
	if (merge->nr_pending)
		until = merge->sources[merge->heap[0]].ts - (merge->heap[0] < source);
	quiet = quiet_until(merge);
	if (quiet == UINT64_MAX)
		return until;
	/* the source's times and the bound are not of the same clock */
	if (src->since != src->ts)
		return src->ts;
	return MIN(quiet - merge->bound, until);
}

/**
 * hyptrace_merge_due - get the time until which the earliest event may be held back
 * @merge:	the merge
 * Return: that time, UINT64_MAX if no event is pending.
 */
uint64_t hyptrace_merge_due(const struct hyptrace_merge *merge)
{
	uint64_t since = UINT64_MAX;

	if (merge->nr_pending)
		since = merge->sources[merge->heap[0]].since;
	return since > UINT64_MAX - merge->bound ? UINT64_MAX : since + merge->bound;
}
