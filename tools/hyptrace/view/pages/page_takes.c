// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages that the host has given away or shared, in a hash table: see page_takes.h.
 */
#include <stdlib.h>

#include <linux/hyptrace_netlink.h>

#include "output/die.h"
#include "page_takes.h"

#define FIRST_BUCKETS	1024

void page_takes_init(struct page_takes *takes, size_t max, page_take_free_fn free_take, void *arg)
{
	*takes = (struct page_takes){
		.nr_buckets = FIRST_BUCKETS, .max = max, .free_take = free_take, .arg = arg,
	};
	takes->buckets = calloc(FIRST_BUCKETS, sizeof(*takes->buckets));
	if (!takes->buckets)
		die_no_memory();
}

/* Neighbouring pages are in neighbouring buckets. */
static struct taken_page **bucket_of(const struct page_takes *takes, uint64_t pfn)
{
	return &takes->buckets[pfn & (takes->nr_buckets - 1)];
}

/* Remove a page from the table. */
static void drop(struct page_takes *takes, struct taken_page **at)
{
	struct taken_page *page = *at;

	*at = page->next;
	if (!--page->take->pages)
		takes->free_take(page->take, takes->arg);
	free(page);
	takes->nr--;
}

void page_takes_free(struct page_takes *takes)
{
	size_t i;

	for (i = 0; i < takes->nr_buckets; i++)
		while (takes->buckets[i])
			drop(takes, &takes->buckets[i]);
	free(takes->buckets);
	takes->buckets = NULL;
}

static void grow(struct page_takes *takes)
{
	struct page_takes larger = *takes;
	struct taken_page *page;
	size_t i;

	larger.nr_buckets *= 2;
	larger.buckets = calloc(larger.nr_buckets, sizeof(*larger.buckets));
	if (!larger.buckets)
		die_no_memory();
	for (i = 0; i < takes->nr_buckets; i++) {
		while ((page = takes->buckets[i])) {
			struct taken_page **bucket = bucket_of(&larger, page->pfn);

			takes->buckets[i] = page->next;
			page->next = *bucket;
			*bucket = page;
		}
	}
	free(takes->buckets);
	*takes = larger;
}

uint64_t page_takes_add(struct page_takes *takes, uint64_t pfn, uint64_t nr, struct page_take *take)
{
	for (; nr && takes->nr < takes->max; pfn++, nr--) {
		struct taken_page *page = malloc(sizeof(*page));
		struct taken_page **bucket;

		if (!page)
			die_no_memory();
		if (takes->nr == takes->nr_buckets)
			grow(takes);
		bucket = bucket_of(takes, pfn);
		*page = (struct taken_page){ .next = *bucket, .pfn = pfn, .take = take };
		*bucket = page;
		take->pages++;
		takes->nr++;
	}
	return nr;
}

static void drop_in_bucket(struct page_takes *takes, struct taken_page **at, uint64_t pfn,
			   uint64_t nr, uint8_t owner)
{
	while (*at) {
		const struct taken_page *page = *at;

		if (page->pfn >= pfn && page->pfn - pfn < nr &&
		    (owner == PAGE_TAKES_ALL || page->take->owner == owner))
			drop(takes, at);
		else
			at = &(*at)->next;
	}
}

void page_takes_drop(struct page_takes *takes, uint64_t pfn, uint64_t nr, uint8_t owner)
{
	size_t i;

	if (nr < takes->nr_buckets) {
		for (; nr; pfn++, nr--)
			drop_in_bucket(takes, bucket_of(takes, pfn), pfn, 1, owner);
		return;
	}
	/* more pages than buckets: look at each bucket once */
	for (i = 0; i < takes->nr_buckets; i++)
		drop_in_bucket(takes, &takes->buckets[i], pfn, nr, owner);
}

/* Find a page that is shared with a guest, at its place in the guest if it is there. */
static struct taken_page **find_shared(const struct page_takes *takes, uint64_t pfn,
				       const struct leak_vm *vm, uint64_t shift)
{
	struct taken_page **at, **found = NULL;

	for (at = bucket_of(takes, pfn); *at; at = &(*at)->next) {
		const struct page_take *take = (*at)->take;

		if ((*at)->pfn != pfn || take->vm != vm ||
		    take->owner != HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST)
			continue;
		if (take->shift == shift)
			return at;
		found = at;
	}
	return found;
}

/*
 * Remove pages that a guest has lost. Several guests can share a page, and one guest can have it in
 * several places: one take of each page is removed.
 */
void page_takes_drop_shared(struct page_takes *takes, uint64_t pfn, uint64_t nr,
			    const struct leak_vm *vm, uint64_t shift)
{
	struct taken_page **at;

	/* A damaged event may have any number. */
	if (nr > takes->max)
		nr = takes->max;
	for (; nr && takes->nr; pfn++, nr--) {
		at = find_shared(takes, pfn, vm, shift);
		if (at)
			drop(takes, at);
	}
}
