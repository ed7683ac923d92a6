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

/* What rings leave to the descriptions, which are made anew before the old ones are freed */
#define DESCRIPTION_PAGES	(SZ_256K >> PAGE_SHIFT)

static struct page *first;
static unsigned long nr_pages;

/* Protects the list of the pages that are not in use */
static DEFINE_SPINLOCK(free_lock);
static LIST_HEAD(unused);
static unsigned long nr_free;

static struct hyptrace_dump *previous;

static bool is_kept(const struct page *page)
{
	return first && page >= first && page < first + nr_pages;
}

static unsigned long free_for_rings(void)
{
	return nr_free > DESCRIPTION_PAGES ? nr_free - DESCRIPTION_PAGES : 0;
}

/**
 * hyptrace_keep_ring_bytes - the size of the rings that fit in memory that outlives a reset
 *
 * Return: bytes per CPU, at least those of the smallest ring; U64_MAX without such memory.
 */
u64 hyptrace_keep_ring_bytes(void)
{
	unsigned long each = (max(nr_pages, DESCRIPTION_PAGES) - DESCRIPTION_PAGES) /
			     num_possible_cpus();

	return first ? (u64)(each - 1 - HYPTRACE_READER_SUBBUFS) << PAGE_SHIFT : U64_MAX;
}

/**
 * hyptrace_keep_has_room - whether rings fit in memory that outlives a reset
 * @nr:		pages of all rings
 * @name:	of their remote
 *
 * If they do not, the log says so, unless there is no such memory.
 *
 * Return: true or false.
 */
bool hyptrace_keep_has_room(unsigned long nr, const char *name)
{
	unsigned long room;

	guard(spinlock)(&free_lock);
	room = free_for_rings();
	if (first && nr > room)
		pr_warn("hyptrace: remote \"%s\": a reset will lose its rings: they take %lu KB, and the memory that outlives it has %lu KB for them\n",
			name, nr << (PAGE_SHIFT - 10), room << (PAGE_SHIFT - 10));
	return first && nr <= room;
}

/**
 * hyptrace_keep_alloc - allocate a page that outlives a reset
 *
 * Return: a zeroed page, or NULL.
 */
struct page *hyptrace_keep_alloc(void)
{
	struct page *page;

	scoped_guard(spinlock, &free_lock) {
		page = list_first_entry_or_null(&unused, struct page, lru);
		if (!page)
			return NULL;
		list_del(&page->lru);
		nr_free--;
	}
	clear_page(page_address(page));
	return page;
}

/**
 * hyptrace_keep_free - free a page
 * @page:	from hyptrace_keep_alloc() or alloc_page(), or NULL
 */
void hyptrace_keep_free(struct page *page)
{
	if (page && !is_kept(page))
		__free_page(page);
	if (!page || !is_kept(page))
		return;
	guard(spinlock)(&free_lock);
	list_add(&page->lru, &unused);
	nr_free++;
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
	unsigned long pfn = PHYS_PFN(start);

	if (!PAGE_ALIGNED(start) || !PAGE_ALIGNED(size))
		return "it is not aligned to pages";
	if (PHYS_PFN(size) < DESCRIPTION_PAGES + least * num_possible_cpus())
		return "it is too small";
	for (; pfn < PHYS_PFN(start + size); pfn++)
		if (!pfn_valid(pfn) || !PageReserved(pfn_to_page(pfn)))
			return "not all of it is reserved RAM";
	return NULL;
}

/* Copy what the boot before has left. */
static void copy_previous(void)
{
	const struct hyptrace_dump *old = page_address(first);
	u32 sum;

	if (memcmp(old->magic, HYPTRACE_DUMP_MAGIC, sizeof(old->magic)) ||
	    old->address != page_to_phys(first) || old->page_size != PAGE_SIZE)
		return;
	previous = vmalloc(nr_pages << PAGE_SHIFT);
	if (!previous) {
		pr_warn("hyptrace: no memory to copy what the previous boot has left\n");
		return;
	}
	memcpy(previous, old, nr_pages << PAGE_SHIFT);
	sum = previous->sum;
	previous->sum = 0;
	if (~crc32_le(~0, (void *)previous, PAGE_SIZE) != sum) {
		pr_warn("hyptrace: what the previous boot has left is damaged\n");
		vfree(previous);
		previous = NULL;
		return;
	}
	previous->sum = sum;
	pr_info("hyptrace: copied what the previous boot has left\n");
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
	nr_pages = PHYS_PFN(size);
	first = pfn_to_page(PHYS_PFN(start));
	pr_info("hyptrace: %llu KB at %pa outlive a reset\n", (u64)size >> 10, &start);
	copy_previous();
	for (i = 0; i < nr_pages; i++)
		list_add_tail(&pfn_to_page(PHYS_PFN(start) + i)->lru, &unused);
	nr_free = nr_pages;
}

/**
 * hyptrace_keep_exit - undo hyptrace_keep_init()
 */
void hyptrace_keep_exit(void)
{
	vfree(previous);
	previous = NULL;
	first = NULL;
	INIT_LIST_HEAD(&unused);
}

/**
 * hyptrace_keep_previous - get what the boot before has left
 * @size:	out: its bytes
 *
 * Return: a copy of its memory, which begins with struct hyptrace_dump, or NULL.
 */
const void *hyptrace_keep_previous(size_t *size)
{
	*size = nr_pages << PAGE_SHIFT;
	return previous;
}
