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

/* An event by which the host gave pages away, or shared them */
struct page_take {
	size_t			pages;	/* pages of it that are in the table */
	struct page_take	*next;	/* the next take of the CPU that waits for its hypercall */
	struct page_take	*prev;	/* the one before, or NULL if this one is the first */
	uint64_t		ts;	/* when */
	uint64_t		order;	/* how many takes there were before */
	unsigned int		cpu;	/* on which CPU */
	uint8_t			owner;	/* enum hyptrace_ownership of the pages since then */
	uint8_t			cause;	/* enum take_cause */
	struct leak_vm		*vm;	/* the VM that took them, or NULL */
	uint64_t		shift;	/* number of a page in the guest minus its number */
	void			*event;	/* the payload of the event */
	unsigned int		event_size;	/* bytes of event */
	void			*call;	/* the payload of the hypercall's event, or NULL */
	unsigned int		call_size;	/* bytes of call */
	uint64_t		call_ts;	/* time of the hypercall's event */
};

/* A page that has not come back */
struct taken_page {
	struct taken_page	*next;	/* the next one in the bucket */
	uint64_t		pfn;	/* its number */
	struct page_take	*take;	/* how it was taken */
};

/* Called when the last page of a take has come back; frees the take. */
typedef void (*page_take_free_fn)(struct page_take *take, void *arg);

/* All pages that have not come back, by a hash of their numbers */
struct page_takes {
	struct taken_page	**buckets;	/* lists of pages */
	size_t			nr_buckets;	/* number of buckets, a power of two */
	/* number of pages; a page that several guests share counts as often */
	size_t			nr;
	size_t			max;	/* no more pages than this are added */
	page_take_free_fn	free_take;	/* frees a take */
	void			*arg;	/* its argument */
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
