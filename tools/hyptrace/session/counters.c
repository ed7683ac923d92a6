// SPDX-License-Identifier: GPL-2.0-only
/* Compare the counters of CPUs, add them up, and put them in order. */
#include "output/die.h"
#include "select.h"

static struct counter_sum *new_sum(struct counter_sums *sums, const struct hyptrace_event *event)
{
	struct counter_sum *sum = xappend(sums->sums, sums->nr);

	sum->event = event;
	return sum;
}

bool counters_any_counted(struct hyptrace_event *const *events)
{
	while (*events && !(*events)->counted)
		events++;
	return *events;
}

bool counters_have_same_key(const struct hyptrace_event_counter *a,
			    const struct hyptrace_event_counter *b)
{
	return a->value == b->value && a->is_others == b->is_others &&
	       a->nr_buckets == b->nr_buckets && !strcmp(a->event, b->event) &&
	       !strcmp(a->field, b->field);
}

void counter_sums_add(struct counter_sums *sums, struct hyptrace_event *const *events,
		      const struct hyptrace_event_counter *counter, bool all_cpus)
{
	struct counter_sum *sum = NULL;
	unsigned int i;

	for (i = 0; i < sums->nr && all_cpus && !sum; i++)
		if (sums->sums[i].all_cpus && counters_have_same_key(sums->sums[i].of, counter))
			sum = &sums->sums[i];
	if (!sum) {
		while (*events && strcmp((*events)->name, counter->event))
			events++;
		if (!*events)
			return;
		sum = new_sum(sums, *events);
		sum->of = counter;
		sum->all_cpus = all_cpus;
		sum->buckets = xcalloc(counter->nr_buckets + 1, sizeof(*sum->buckets));
	}
	sum->count += counter->count;
	sum->total += counter->total;
	if (counter->longest > sum->longest)
		sum->longest = counter->longest;
	for (i = 0; i < counter->nr_buckets; i++)
		sum->buckets[i] += counter->buckets[i];
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_sums(const void *a, const void *b)
{
	const struct counter_sum *x = a, *y = b;
	const bool were_counted = x->of && y->of;
	const bool have_cpus = were_counted && !x->all_cpus && !y->all_cpus;

	return compare(x->event->id, y->event->id) ?:
	       (have_cpus ? compare(x->of->cpu, y->of->cpu) : 0) ?:
	       compare(y->total, x->total) ?: compare(y->count, x->count) ?:
	       (were_counted ? compare(x->of->value, y->of->value) : 0);
}

void counter_sums_add_unused(struct counter_sums *sums, struct hyptrace_event *const *events)
{
	unsigned int i, j, nr = sums->nr;

	for (i = 0; events[i]; i++) {
		for (j = 0; j < nr && sums->sums[j].event != events[i]; j++)
			;
		if (events[i]->counted && j == nr)
			new_sum(sums, events[i])->all_cpus = true;
	}
}

void counter_sums_sort(struct counter_sums *sums)
{
	if (sums->nr)
		qsort(sums->sums, sums->nr, sizeof(*sums->sums), compare_sums);
}

void counter_sums_free(struct counter_sums *sums)
{
	while (sums->nr)
		free(sums->sums[--sums->nr].buckets);
	free(sums->sums);
	sums->sums = NULL;
}
