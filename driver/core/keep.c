// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that outlives a warm reset of the machine, for rings and for what describes them (dump.c):
 * "reserve_mem=SIZE:ALIGN:hyptrace" on the kernel's command line, or a node of /reserved-memory in
 * the device tree that is compatible with "hyptrace". What the boot before has left in it is copied
 * before it is used again. Called by dump.c, buffer.c and device/previous.c.
 *
 * Without such memory, pages come from the rest of memory, and are not kept.
 */
#include <linux/cpumask.h>
#include <linux/crc32.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <linux/hyptrace_dump.h>

#include "../compat.h"
#include "dump.h"
#include "internal.h"

#define NAME			"hyptrace"

/* In order: pages for descriptions, made anew before the old ones are freed, and for rings */
static struct page *first;
static unsigned long nr_pages, nr_described;

/* Protects the lists of the pages that are not in use */
static DEFINE_SPINLOCK(unused_lock);
static struct list_head unused[2];

static struct hyptrace_dump *previous;

static bool is_kept(const struct page *page)
{
	return first && page >= first && page < first + nr_pages;
}

/* A list has the address of each page of a ring, and each CPU has a list. */
static unsigned long description_pages(unsigned long nr)
{
	return (SZ_512K >> PAGE_SHIFT) + 16 + 2 * num_possible_cpus() + nr / 256;
}

/**
 * hyptrace_keep_exists - whether there is memory that outlives a reset
 *
 * Return: true or false.
 */
bool hyptrace_keep_exists(void)
{
	return first;
}

/**
 * hyptrace_keep_ring_bytes - the size of the rings that fit in memory that outlives a reset
 *
 * Return: bytes per CPU, at least those of the smallest ring; U64_MAX without such memory.
 */
u64 hyptrace_keep_ring_bytes(void)
{
	unsigned long each = (nr_pages - nr_described) / num_possible_cpus();

	return first ? (u64)(each - 1 - HYPTRACE_READER_SUBBUFS) << PAGE_SHIFT : U64_MAX;
}

/* A process may still hold a page that it had mapped. */
static bool is_unused(const struct page *page)
{
	return page_ref_count(page) == 1;
}

/**
 * hyptrace_keep_has_room - whether rings fit in what is not in use of memory that outlives a reset
 * @nr:		pages of all rings
 * Return: true or false.
 */
bool hyptrace_keep_has_room(unsigned long nr)
{
	struct page *page;

	guard(spinlock)(&unused_lock);
	list_for_each_entry(page, &unused[HYPTRACE_KEEP_RING], lru)
		nr -= nr && is_unused(page);
	return !nr;
}

/**
 * hyptrace_keep_alloc - allocate a page that outlives a reset
 * @what:	what it is for
 * Return: a zeroed page, or NULL.
 */
struct page *hyptrace_keep_alloc(enum hyptrace_keep what)
{
	struct page *page, *found = NULL;

	if (!first)
		return NULL;
	scoped_guard(spinlock, &unused_lock) {
		list_for_each_entry(page, &unused[what], lru)
			if (is_unused(page)) {
				found = page;
				break;
			}
		if (found)
			list_del(&found->lru);
	}
	if (!found) {
		pr_warn_once("hyptrace: a reset will lose some of what it should not: the memory that outlives it is too small\n");
		return NULL;
	}
	/* What was there, such as a sub-buffer with its seal, must not come back after a reset. */
	clear_page(page_address(found));
	hyptrace_keep_clean(page_address(found), PAGE_SIZE);
	return found;
}

/**
 * hyptrace_keep_free - free a page
 * @page:	from hyptrace_keep_alloc() or alloc_page(), or NULL
 */
void hyptrace_keep_free(struct page *page)
{
	enum hyptrace_keep what;

	if (!page)
		return;
	if (!is_kept(page)) {
		__free_page(page);
		return;
	}
	what = page < first + nr_described ? HYPTRACE_KEEP_DESCRIPTION : HYPTRACE_KEEP_RING;
	guard(spinlock)(&unused_lock);
	list_add(&page->lru, &unused[what]);
}

/**
 * hyptrace_keep_clean - write to memory what caches have of it, if it outlives a reset
 * @at:		the data
 * @size:	its bytes
 */
void hyptrace_keep_clean(const void *at, size_t size)
{
#ifdef CONFIG_ARM64
	const unsigned long line = 4UL << (read_sysreg(ctr_el0) >> 16 & 0xf);
	const void *line_at = PTR_ALIGN_DOWN(at, line);

	if (!is_kept(virt_to_page((void *)at)))
		return;
	for (; line_at < at + size; line_at += line)
		asm volatile("dc cvac, %0" : : "r" (line_at) : "memory");
	dsb(sy);
#endif
}

static bool find_memory(phys_addr_t *start, phys_addr_t *size)
{
#ifdef CONFIG_OF_RESERVED_MEM
	struct device_node *node = of_find_compatible_node(NULL, NULL, NAME);
	struct reserved_mem *mem = node ? of_reserved_mem_lookup(node) : NULL;
	const bool is_mapped = mem && !of_property_read_bool(node, "no-map");

	of_node_put(node);
	if (mem && !is_mapped)
		pr_warn("hyptrace: the reserved memory in the device tree is not used: it is \"no-map\"\n");
	if (is_mapped) {
		*start = mem->base;
		*size = mem->size;
		return true;
	}
#endif
	return reserve_mem_find_by_name(NAME, start, size);
}

/* Return why the memory cannot be used, or NULL. */
static const char *check_memory(phys_addr_t start, phys_addr_t size)
{
	const unsigned long least = 1 + HYPTRACE_READER_SUBBUFS + HYPTRACE_MIN_SUBBUFS;
	unsigned long pfn = PHYS_PFN(start), nr = PHYS_PFN(size);

	if (!PAGE_ALIGNED(start) || !PAGE_ALIGNED(size))
		return "it is not aligned to pages";
	if (nr < description_pages(nr) + least * num_possible_cpus())
		return "it is too small";
	for (; pfn < PHYS_PFN(start + size); pfn++)
		if (!pfn_valid(pfn) || !PageReserved(pfn_to_page(pfn)))
			return "not all of it is reserved RAM";
	return NULL;
}

/* Copy what the boot before has left. */
static void copy_previous(void)
{
	struct hyptrace_dump *old = page_address(first);
	u32 sum = old->sum;

	if (memcmp(old->magic, HYPTRACE_DUMP_MAGIC, sizeof(old->magic)) ||
	    old->address != page_to_phys(first) || old->page_size != PAGE_SIZE)
		return;
	old->sum = 0;
	if (~crc32_le(~0, (void *)old, PAGE_SIZE) != sum) {
		pr_warn("hyptrace: what the previous boot has left is damaged\n");
		return;
	}
	old->sum = sum;
	previous = vmalloc(nr_pages << PAGE_SHIFT);
	if (!previous) {
		pr_warn("hyptrace: no memory to copy what the previous boot has left\n");
		return;
	}
	memcpy(previous, old, nr_pages << PAGE_SHIFT);
	pr_info("hyptrace: copied what boot %.40s has left\n", previous->boot);
}

/**
 * hyptrace_keep_init - find memory that outlives a reset
 */
void __init hyptrace_keep_init(void)
{
	phys_addr_t start, size;
	const char *why;
	unsigned long i;

	if (!find_memory(&start, &size))
		return;
	why = check_memory(start, size);
	if (why) {
		pr_warn("hyptrace: the reserved memory at %pa (%llu KB) is not used: %s\n", &start,
			(u64)size >> 10, why);
		return;
	}
	pr_info("hyptrace: %llu KB at %pa outlive a reset\n", (u64)size >> 10, &start);
	nr_pages = PHYS_PFN(size);
	nr_described = description_pages(nr_pages);
	first = pfn_to_page(PHYS_PFN(start));
	copy_previous();
	/* Nobody may find what others have left. */
	memset(page_address(first), 0, nr_pages << PAGE_SHIFT);
	hyptrace_keep_clean(page_address(first), nr_pages << PAGE_SHIFT);
	INIT_LIST_HEAD(&unused[HYPTRACE_KEEP_DESCRIPTION]);
	INIT_LIST_HEAD(&unused[HYPTRACE_KEEP_RING]);
	for (i = 0; i < nr_pages; i++)
		list_add_tail(&pfn_to_page(PHYS_PFN(start) + i)->lru,
			      &unused[i < nr_described ? HYPTRACE_KEEP_DESCRIPTION :
							 HYPTRACE_KEEP_RING]);
}

/**
 * hyptrace_keep_exit - undo hyptrace_keep_init()
 */
void hyptrace_keep_exit(void)
{
	vfree(previous);
	previous = NULL;
	first = NULL;
}

/**
 * hyptrace_keep_previous - get what the boot before has left
 * @size:	out: its bytes
 * Return: a copy of its memory, which begins with struct hyptrace_dump, or NULL.
 */
const void *hyptrace_keep_previous(size_t *size)
{
	*size = nr_pages << PAGE_SHIFT;
	return previous;
}
