// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last events of each CPU are kept. An event that is found gets copies of those, and of the
 * events that follow it. It is complete when enough have followed.
 */
#include "output/die.h"
#include "catch.h"

struct history {
	/* the events; the data of each is its own */
	struct hyptrace_stream_event	events[CATCH_BEFORE];
	uint64_t			nr;	/* events so far: number n is at n % CATCH_BEFORE */
	uint64_t			found;	/* events of the CPU that were found */
};

struct catch_finder {
	unsigned int	nr_cpus;
	unsigned int	after;	/* number of events to collect after each one */
	unsigned int	nr_waiting;	/* events that were found and not taken yet */
	struct caught	*first;	/* these events, in their order */
	struct caught	**last;	/* where the next one is added */
	struct history	cpus[];
};

struct catch_finder *catch_finder_new(unsigned int nr_cpus, unsigned int after)
{
	struct catch_finder *finder;

	finder = xcalloc(1, sizeof(*finder) + nr_cpus * sizeof(finder->cpus[0]));
	finder->nr_cpus = nr_cpus;
	finder->after = after;
	finder->last = &finder->first;
	return finder;
}

void caught_free(struct caught *caught)
{
	unsigned int i;

	if (!caught)
		return;
	free((void *)caught->event.record.data);
	for (i = 0; i < NR_AROUND; i++) {
		while (caught->around[i].nr)
			free((void *)caught->around[i].events[--caught->around[i].nr].record.data);
		free(caught->around[i].events);
	}
	free(caught);
}

void catch_finder_free(struct catch_finder *finder)
{
	struct caught *caught;
	unsigned int i, j;

	if (!finder)
		return;
	while ((caught = catch_finder_next(finder, true)))
		caught_free(caught);
	for (i = 0; i < finder->nr_cpus; i++)
		for (j = 0; j < CATCH_BEFORE; j++)
			free((void *)finder->cpus[i].events[j].record.data);
	free(finder);
}

/* Copy an event to memory of its own, which that of the event before becomes. */
static void copy(struct hyptrace_stream_event *to, const struct hyptrace_stream_event *from)
{
	void *data = xreallocarray((void *)to->record.data, from->record.size + 1, 1);

	memcpy(data, from->record.data, from->record.size);
	*to = *from;
	to->record.data = data;
}

static void append(struct catch_events *events, const struct hyptrace_stream_event *event)
{
	copy(xappend(events->events, events->nr), event);
}

static uint64_t oldest(const struct history *cpu)
{
	return cpu->nr > CATCH_BEFORE ? cpu->nr - CATCH_BEFORE : 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct hyptrace_stream_event *x = a, *y = b;

	if (x->record.ts != y->record.ts)
		return x->record.ts < y->record.ts ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Add what a CPU has recorded since @begin, or else its last event. */
static void add_other(struct caught *caught, const struct history *cpu, uint64_t begin)
{
	const struct hyptrace_stream_event *event;
	uint64_t i;

	for (i = oldest(cpu); i < cpu->nr; i++) {
		event = &cpu->events[i % CATCH_BEFORE];
		if (event->record.ts >= begin)
			append(&caught->around[AROUND_OTHERS], event);
		else if (i + 1 == cpu->nr)
			append(&caught->around[AROUND_EARLIER], event);
	}
}

static void found(struct catch_finder *finder, unsigned int index,
		  const struct hyptrace_stream_event *event, uint64_t begin)
{
	const struct history *cpu = &finder->cpus[index];
	struct caught *caught = xcalloc(1, sizeof(*caught));
	unsigned int i;
	uint64_t j;

	copy(&caught->event, event);
	for (j = oldest(cpu); j < cpu->nr; j++)
		append(&caught->around[AROUND_BEFORE], &cpu->events[j % CATCH_BEFORE]);
	for (i = 0; i < finder->nr_cpus; i++)
		if (i != index)
			add_other(caught, &finder->cpus[i], begin);
	for (i = AROUND_EARLIER; i <= AROUND_OTHERS; i++)
		if (caught->around[i].nr)
			qsort(caught->around[i].events, caught->around[i].nr, sizeof(*event),
			      compare_times);
	*finder->last = caught;
	finder->last = &caught->next;
	finder->nr_waiting++;
	finder->cpus[index].found++;
}

/* The events of all CPUs must be added in the order of time. */
void catch_finder_add(struct catch_finder *finder, unsigned int index,
		      const struct hyptrace_stream_event *event, bool is_match, uint64_t begin)
{
	struct history *cpu = &finder->cpus[index];
	struct catch_events *after;
	struct caught *caught;

	for (caught = finder->first; caught; caught = caught->next) {
		after = &caught->around[AROUND_AFTER];
		if (caught->event.cpu == event->cpu && after->nr < finder->after)
			append(after, event);
	}
	if (is_match)
		found(finder, index, event, begin);
	copy(&cpu->events[cpu->nr++ % CATCH_BEFORE], event);
}

void catch_finder_age(struct catch_finder *finder)
{
	struct caught *caught;

	for (caught = finder->first; caught; caught = caught->next)
		caught->age++;
}

bool catch_finder_waits(const struct catch_finder *finder)
{
	return finder->first;
}

/* For caught_free(); NULL if none is complete; @all: also others */
struct caught *catch_finder_next(struct catch_finder *finder, bool all)
{
	struct caught *caught = finder->first;

	if (!caught || (!all && caught->around[AROUND_AFTER].nr < finder->after &&
			caught->age < CATCH_AGE_MAX && finder->nr_waiting <= CATCH_WAITING_MAX))
		return NULL;
	finder->nr_waiting--;
	finder->first = caught->next;
	if (!finder->first)
		finder->last = &finder->first;
	caught->next = NULL;
	return caught;
}

uint64_t catch_finder_found(const struct catch_finder *finder, unsigned int index)
{
	return finder->cpus[index].found;
}
