/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages that the host has given away or shared, and the events by which it did. For
 * page_leaks.c.
 */
#ifndef PAGE_TAKES_H
#define PAGE_TAKES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leak_vm;

/* Which hypercall took pages */
enum take_cause {
	TAKE_WAITS,	/* its event, the next one of the CPU, may still be added */
	TAKE_KNOWN,	/* it is in the take */
	TAKE_NONE,	/* hyptrace itself, or another hypercall that is not about VMs */
	TAKE_LOST,	/* its event may be among those that were lost */
};

/**
 * struct page_take - an event by which the host gave pages away, or shared them
 * @pages:	pages of it that are in the table
 * @next:	the next take of the CPU that waits for its hypercall
 * @prev:	the one before, or NULL if this one is the first
 * @ts:		when
 * @order:	how many takes there were before
 * @cpu:	on which CPU
 * @owner:	enum hyptrace_ownership of the pages since then
 * @cause:	enum take_cause
 * @vm:		the VM that took them, or NULL
 * @shift:	number of a page in the guest minus its number
 * @event:	the payload of the event
 * @event_size:	bytes of @event
 * @call:	the payload of the hypercall's event, or NULL
 * @call_size:	bytes of @call
 * @call_ts:	time of the hypercall's event
 */
struct page_take {
	size_t			pages;
	struct page_take	*next;
	struct page_take	*prev;
	uint64_t		ts;
	uint64_t		order;
	unsigned int		cpu;
	uint8_t			owner;
	uint8_t			cause;
	struct leak_vm		*vm;
	uint64_t		shift;
	void			*event;
	unsigned int		event_size;
	void			*call;
	unsigned int		call_size;
	uint64_t		call_ts;
};

/**
 * struct taken_page - a page that has not come back
 * @next:	the next one in the bucket
 * @pfn:	its number
 * @take:	how it was taken
 */
struct taken_page {
	struct taken_page	*next;
	uint64_t		pfn;
	struct page_take	*take;
};

/* Called when the last page of a take has come back; frees the take. */
typedef void (*page_take_free_fn)(struct page_take *take, void *arg);

/**
 * struct page_takes - all pages that have not come back, by a hash of their numbers
 * @buckets:	lists of pages
 * @nr_buckets:	number of @buckets, a power of two
 * @nr:		number of pages; a page that several guests share counts as often
 * @max:	no more pages than this are added
 * @free_take:	frees a take
 * @arg:	its argument
 */
struct page_takes {
	struct taken_page	**buckets;
	size_t			nr_buckets;
	size_t			nr;
	size_t			max;
	page_take_free_fn	free_take;
	void			*arg;
};

/* Any owner */
#define PAGE_TAKES_ALL	UINT8_MAX

void page_takes_init(struct page_takes *takes, size_t max, page_take_free_fn free_take, void *arg);
void page_takes_free(struct page_takes *takes);
uint64_t page_takes_add(struct page_takes *takes, uint64_t pfn, uint64_t nr,
			struct page_take *take);
void page_takes_drop(struct page_takes *takes, uint64_t pfn, uint64_t nr, uint8_t owner);
void page_takes_drop_shared(struct page_takes *takes, uint64_t pfn, uint64_t nr,
			    const struct leak_vm *vm, uint64_t shift);

#endif /* PAGE_TAKES_H */
