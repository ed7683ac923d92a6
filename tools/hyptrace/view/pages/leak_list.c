// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which of the pages that have not come back are leaks: see page_leaks.c.
 */
#include <stdlib.h>

#include "output/die.h"
#include "page_leaks.h"

/* Count a page that has not come back. Return whether it is a leak. */
static bool judge(const struct page_leaks *leaks, const struct page_take *take,
		  struct leak_counts *counts)
{
	if (take->vm) {
		counts->pending += take->vm->state == LEAK_VM_IS_TORN_DOWN;
		return take->vm->state == LEAK_VM_IS_GONE;
	}
	/* At the end of the history a take waits if its hypercall still runs, or if it has none. */
	if (take->cause == TAKE_NONE || take->cause == TAKE_WAITS || leaks->last_gone <= take->ts)
		return false;
	if (take->cause == TAKE_LOST)
		counts->unknown++;
	else if (leaks->vms)
		counts->undecided++;
	else
		return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct page_leak *x = a, *y = b;

	if (x->pfn != y->pfn)
		return x->pfn < y->pfn ? -1 : 1;
	return x->take->order < y->take->order ? -1 : x->take->order > y->take->order;
}

/*
 * List the pages that have not come back after the teardown of their VM. Return the list, one page
 * in each entry, in the order of their numbers; to be freed.
 */
struct page_leak *page_leaks_list(const struct page_leaks *leaks, struct leak_counts *counts)
{
	struct page_leak *list = calloc(leaks->takes.nr + 1, sizeof(*list));
	const struct taken_page *page;
	size_t i;

	if (!list)
		die_no_memory();
	*counts = (struct leak_counts){ 0 };
	for (i = 0; i < leaks->takes.nr_buckets; i++)
		for (page = leaks->takes.buckets[i]; page; page = page->next)
			if (judge(leaks, page->take, counts))
				list[counts->leaked++] = (struct page_leak){
					.pfn = page->pfn, .nr = 1, .take = page->take,
				};
	qsort(list, counts->leaked, sizeof(*list), compare);
	return list;
}

static int compare_takes(const void *a, const void *b)
{
	const struct page_leak *x = a, *y = b;

	if (x->take->order != y->take->order)
		return x->take->order < y->take->order ? -1 : 1;
	return x->pfn < y->pfn ? -1 : x->pfn > y->pfn;
}

/* Merge neighbouring pages that were taken at once. */
uint64_t page_leaks_merge(struct page_leak *list, uint64_t nr)
{
	uint64_t i, nr_ranges = 0;

	qsort(list, nr, sizeof(*list), compare_takes);
	for (i = 0; i < nr; i++) {
		struct page_leak *last = nr_ranges ? &list[nr_ranges - 1] : NULL;

		if (last && last->take == list[i].take && last->pfn + last->nr == list[i].pfn)
			last->nr += list[i].nr;
		else
			list[nr_ranges++] = list[i];
	}
	return nr_ranges;
}
