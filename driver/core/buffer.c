// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a remote's rings. Called by state.c and resize.c, with the control mutex held.
 *
 * Any pages will do, and never at the price of somebody else's: what is not
 * there is refused before anything is taken, and what is taken is taken without
 * invoking the OOM killer.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "internal.h"

#define GFP_RING	(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN | __GFP_ACCOUNT)

/* Left to the rest of the system: one part in 2^6. */
#define RESERVE_SHIFT	6

/* Data pages are numbered by u32, and their array is one allocation. */
#define MAX_PAGES	(INT_MAX / sizeof(struct page *))

/* Neighbours are wanted, which a writer maps at once: up to what one of its calls takes. */
#define MAX_ORDER_WANTED	(ilog2(SZ_512K) - PAGE_SHIFT)

/**
 * hyptrace_buffer_nr_pages - data pages that a ring of that size has
 * @size:	bytes asked for per CPU
 *
 * Return: the number, the reader's spare included; 0 if @size is 0, or no
 * machine has that many.
 */
unsigned long hyptrace_buffer_nr_pages(u64 size)
{
	u64 nr = (size >> PAGE_SHIFT) + !!(size & ~PAGE_MASK);

	if (!size || nr > MAX_PAGES - HYPTRACE_READER_SUBBUFS)
		return 0;
	return max_t(u64, nr, HYPTRACE_MIN_SUBBUFS) + HYPTRACE_READER_SUBBUFS;
}

static bool memory_is_there(unsigned int nr_pages, unsigned int nr_cpus)
{
	u64 need = (u64)nr_pages * nr_cpus;
	long there = si_mem_available() - (long)(totalram_pages() >> RESERVE_SHIFT);

	return there > 0 && need <= there;
}

static void ring_free(struct hyptrace_ring_pages *ring)
{
	unsigned int i;

	for (i = 0; ring->pages && i < ring->nr_pages; i++) {
		if (!ring->pages[i])
			break;
		__free_page(ring->pages[i]);
		cond_resched();
	}
	kvfree(ring->pages);
	if (ring->meta)
		__free_page(ring->meta);
	memset(ring, 0, sizeof(*ring));
}

/*
 * Neighbours, @max at most and 2^@order, which becomes what there is; in @pages. Only for
 * single pages memory is reclaimed. Returns how many, 0 for none.
 */
static unsigned int alloc_neighbours(struct page **pages, unsigned int max, int node,
				     unsigned int *order)
{
	struct page *page = NULL;
	unsigned int i;

	*order = min_t(unsigned int, *order, ilog2(max));
	while (*order && !page) {
		page = alloc_pages_node(node, (GFP_RING | __GFP_ZERO) & ~__GFP_DIRECT_RECLAIM,
					*order);
		if (!page)
			--*order;
	}
	if (!page)
		page = alloc_pages_node(node, GFP_RING | __GFP_ZERO, 0);
	if (!page)
		return 0;
	split_page(page, *order);
	for (i = 0; i < 1U << *order; i++)
		pages[i] = page + i;
	return i;
}

/* What it has got so far is in @ring in any case. */
static int ring_alloc(struct hyptrace_ring_pages *ring, unsigned int nr_pages, int node)
{
	unsigned int i, got, order = MAX_ORDER_WANTED;

	ring->nr_pages = nr_pages;
	ring->pages = kvcalloc(nr_pages, sizeof(*ring->pages), GFP_RING);
	if (!ring->pages)
		return -ENOMEM;
	ring->meta = alloc_pages_node(node, GFP_RING | __GFP_ZERO, 0);
	if (!ring->meta)
		return -ENOMEM;

	for (i = 0; i < nr_pages; i += got) {
		got = alloc_neighbours(ring->pages + i, nr_pages - i, node, &order);
		if (!got)
			return -ENOMEM;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/**
 * hyptrace_buffer_alloc - allocate rings for all possible CPUs
 * @buf:	all but @discard is filled in
 * @nr_pages:	data pages per CPU, the reader's included
 *
 * Return: 0, -ENOMEM if so much is not there, or -EINTR if the process is being
 * killed; nothing is left allocated then.
 */
int hyptrace_buffer_alloc(struct hyptrace_buffer *buf, unsigned int nr_pages)
{
	unsigned int cpu;
	int err = -ENOMEM;

	if (!memory_is_there(nr_pages, num_possible_cpus()))
		return -ENOMEM;
	if (!zalloc_cpumask_var(&buf->cpus, GFP_KERNEL))
		return -ENOMEM;
	buf->ring = kcalloc(nr_cpu_ids, sizeof(*buf->ring), GFP_KERNEL);
	if (!buf->ring)
		goto err_free;

	for_each_possible_cpu(cpu) {
		cpumask_set_cpu(cpu, buf->cpus);
		err = ring_alloc(&buf->ring[cpu], nr_pages, cpu_to_node(cpu));
		if (err)
			goto err_free;
	}
	return 0;

err_free:
	hyptrace_buffer_free(buf);
	return err;
}

/**
 * hyptrace_buffer_free - give the memory of all rings back
 * @buf:	no writer has any of it
 */
void hyptrace_buffer_free(struct hyptrace_buffer *buf)
{
	unsigned int cpu;

	if (buf->ring) {
		for_each_cpu(cpu, buf->cpus)
			ring_free(&buf->ring[cpu]);
	}
	kfree(buf->ring);
	buf->ring = NULL;
	free_cpumask_var(buf->cpus);
}

/**
 * hyptrace_buffer_lose - forget about pages that the writer may still have
 * @remote:	cannot be loaded again
 * @buf:	its pages are never used again: the host would fault on those that
 *		are not its own, and a writer would write to those of somebody else
 */
void hyptrace_buffer_lose(struct hyptrace_remote *remote, struct hyptrace_buffer *buf)
{
	unsigned int cpu;

	pr_err("hyptrace: remote \"%s\" kept buffers: they are lost, and it cannot be loaded again\n",
	       remote->name);
	remote->broken = true;
	for_each_cpu(cpu, buf->cpus)
		kvfree(buf->ring[cpu].pages);
	kfree(buf->ring);
	buf->ring = NULL;
	free_cpumask_var(buf->cpus);
}
