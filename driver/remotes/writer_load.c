// SPDX-License-Identifier: GPL-2.0-only
/* Gives pages of rings to a writer and takes them back: EL1 of hyp/load.c. Called by writer.c. */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "../../hyp/abi.h"
#include "writer.h"

#define ENTRIES_PER_TABLE	HYPTRACE_ENTRIES_PER_TABLE(PAGE_SIZE)
#define PAGES_PER_DIR		(HYPTRACE_TABLES_PER_DIR(PAGE_SIZE) * ENTRIES_PER_TABLE)

static int map_page(struct hyptrace_writer *writer, struct page *page)
{
	return writer->map ? writer->map(page) : 0;
}

/**
 * hyptrace_writer_alloc_pair() - allocate two neighbouring pages, to donate the second
 * @writer:	can access both
 *
 * The kernel reads a string by words, and so a few bytes beyond its end: load_unaligned_zeropad().
 * If these are in a page of the hypervisor, Linux before 7.1 panics. No string may end right before
 * a donated page: so the first page must not be used for strings while the writer has the second.
 *
 * Context: sleeps.
 * Return: the first page, both zeroed; or NULL.
 */
struct page *hyptrace_writer_alloc_pair(struct hyptrace_writer *writer)
{
	struct page *pair = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NORETRY |
					__GFP_NOWARN, 1);

	if (pair && (map_page(writer, pair) || map_page(writer, pair + 1))) {
		hyptrace_writer_free_pair(pair);
		return NULL;
	}

	return pair;
}

/**
 * hyptrace_writer_free_pair() - free the pages of hyptrace_writer_alloc_pair()
 * @pair:	the first page; the writer has neither
 */
void hyptrace_writer_free_pair(struct page *pair)
{
	__free_pages(pair, 1);
}

/* Make a table page that lists @nr data pages: the second one of a pair. */
static struct page *list_pages(struct hyptrace_writer *writer, struct page **pages,
			       unsigned int nr)
{
	struct page *pair = hyptrace_writer_alloc_pair(writer);
	struct hyptrace_table_entry *entry;
	unsigned int i;
	int ret;

	if (!pair)
		return ERR_PTR(-ENOMEM);

	entry = page_address(pair + 1);
	for (i = 0; i < nr; i++) {
		entry[i].pfn = page_to_pfn(pages[i]);
		ret = map_page(writer, pages[i]);
		if (ret) {
			hyptrace_writer_free_pair(pair);
			return ERR_PTR(ret);
		}
	}

	return pair;
}

/* Donate the second page of a pair. Return 1 if it lists pages, which are to be shared now. */
static int donate_table(struct hyptrace_writer *writer, u64 op, u64 which,
			struct hyptrace_ring_pages *ring, struct page *pair)
{
	int ret = hyptrace_writer_call(writer, op, which, page_to_pfn(pair + 1), 0);

	if (ret >= 0) {
		set_page_private(pair, (unsigned long)ring->tables);
		ring->tables = pair;
	} else {
		hyptrace_writer_free_pair(pair);
	}

	return ret;
}

/* Share @nr data pages, which a table is to list. */
static int share_table(struct hyptrace_writer *writer, u64 which, struct hyptrace_ring_pages *ring,
		       struct page **pages, unsigned int nr)
{
	struct page *pair = list_pages(writer, pages, nr);
	int ret;

	if (IS_ERR(pair))
		return PTR_ERR(pair);
	ret = donate_table(writer, HYPTRACE_OP_RING_TABLE, which, ring, pair);
	/* Each call shares a page at least. */
	while (ret > 0 && nr--)
		ret = hyptrace_writer_call(writer, HYPTRACE_OP_RING_TABLE, which, 0, 0);

	return ret > 0 ? -EPROTO : ret;
}

/* @which: a CPU, with HYPTRACE_SPARE_RING for its spare ring. A fatal signal stops this. */
static int share_ring(struct hyptrace_writer *writer, u64 which,
		      struct hyptrace_ring_pages *ring)
{
	struct page *pair;
	unsigned int i;
	int ret;

	for (i = 0; i < ring->nr_pages; i += ENTRIES_PER_TABLE) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!(i % PAGES_PER_DIR)) {
			pair = hyptrace_writer_alloc_pair(writer);
			if (!pair)
				return -ENOMEM;
			ret = donate_table(writer, HYPTRACE_OP_RING_DIR, which, ring, pair);
			if (ret)
				return ret;
		}

		ret = share_table(writer, which, ring, ring->pages + i,
				  min(ring->nr_pages - i, ENTRIES_PER_TABLE));
		if (ret)
			return ret;
		cond_resched();
	}

	return map_page(writer, ring->meta) ?:
	       hyptrace_writer_call(writer, HYPTRACE_OP_RING_READY, which,
				    page_to_pfn(ring->meta), 0);
}

/* Free a ring: each call frees a page at least, which bounds the number of calls. */
static int free_ring(struct hyptrace_writer *writer, u64 which, unsigned int nr_pages)
{
	unsigned long steps = 2 + nr_pages + DIV_ROUND_UP(nr_pages, PAGES_PER_DIR);
	s64 ret;

	do {
		ret = hyptrace_writer_call(writer, HYPTRACE_OP_RING_FREE, which, 0, 0);
		cond_resched();
	} while (ret > 0 && --steps);

	return ret > 0 ? -EPROTO : ret;
}

static void free_tables(struct hyptrace_ring_pages *ring)
{
	struct page *pair;

	while ((pair = ring->tables)) {
		ring->tables = (struct page *)page_private(pair);
		set_page_private(pair, 0);
		hyptrace_writer_free_pair(pair);
	}
}

/* Take the pages of the rings of the first CPUs back. Return 0, or the first error. */
static int take_back_upto(struct hyptrace_writer *writer, struct hyptrace_buffer *buf,
			  u64 spare, unsigned int nr_cpus)
{
	int ret, first = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (cpu >= nr_cpus)
			break;
		ret = free_ring(writer, cpu | spare, buf->ring[cpu].nr_pages);
		if (!ret)
			free_tables(&buf->ring[cpu]);
		first = first ?: ret;
	}

	return first;
}

/* The writer has no such rings. After -ENOTRECOVERABLE it has kept some pages, else none. */
static int share_all(struct hyptrace_writer *writer, struct hyptrace_buffer *buf, u64 spare)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		ret = hyptrace_writer_call(writer, HYPTRACE_OP_RING_BEGIN, cpu | spare,
					   buf->ring[cpu].nr_pages,
					   (buf->discard ? HYPTRACE_RING_DISCARD : 0) |
					   (buf->kept ? HYPTRACE_RING_KEPT : 0));
		/* A ring that the writer already has for this CPU is not of this load. */
		if (ret)
			goto err_take_back;

		ret = share_ring(writer, cpu | spare, &buf->ring[cpu]);
		if (ret) {
			cpu++;
			goto err_take_back;
		}
	}

	return 0;

err_take_back:
	return take_back_upto(writer, buf, spare, cpu) ? -ENOTRECOVERABLE : ret;
}

int hyptrace_writer_load(struct hyptrace_buffer *buf, void *priv)
{
	struct hyptrace_writer *writer = priv;
	int ret = share_all(writer, buf, 0);

	if (!ret)
		writer->buf = buf;

	return ret;
}

int hyptrace_writer_unload(struct hyptrace_buffer *buf, void *priv)
{
	struct hyptrace_writer *writer = priv;

	writer->buf = NULL;

	return take_back_upto(writer, buf, 0, nr_cpu_ids);
}

int hyptrace_writer_prepare_resize(struct hyptrace_buffer *buf, void *priv)
{
	return share_all(priv, buf, HYPTRACE_SPARE_RING);
}

int hyptrace_writer_finish_resize(struct hyptrace_buffer *buf, void *priv)
{
	return take_back_upto(priv, buf, HYPTRACE_SPARE_RING, nr_cpu_ids);
}
