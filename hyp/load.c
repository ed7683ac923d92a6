// SPDX-License-Identifier: GPL-2.0-only
/*
 * Building a ring from pages that the host lists, and freeing it again. The host is not
 * trusted: EL2 must own a page that lists others before it reads it. Each call handles
 * one such page at most, and a few that it lists. Called by hcall.c.
 */
#include "ring.h"

/*
 * One call shares, or wipes and gives back, at most so many bytes of data pages, or one page:
 * interrupts are off meanwhile, and a page that is not adjacent takes some 1200 instructions.
 */
#define PART_BYTES	(32U << 10)
#define PART_PAGES	DIV_ROUND_UP(PART_BYTES, (u32)PAGE_SIZE)

/* Serializes building, freeing and resizing of all rings, which are rare: see ring.h. */
hyptrace_lock_t hyptrace_load_lock = HYPTRACE_LOCK_INIT;

static u32 count_needed_tables(struct hyptrace_ring *ring)
{
	return DIV_ROUND_UP(ring->nr_pages, (u32)HYPTRACE_SLOTS_PER_TABLE);
}

static bool is_building(struct hyptrace_ring *ring)
{
	return READ_ONCE(ring->state) == HYPTRACE_RING_BUILDING && !ring->freeing;
}

static void set_state(struct hyptrace_ring *ring, enum hyptrace_ring_state state)
{
	hyptrace_guard(&ring->lock);
	hyptrace_ring_set_state(ring, state);
}

/**
 * hyptrace_load_begin() - start building a ring
 * @ring:	any CPU's
 * @nr_pages:	data pages, the reader's included
 * @flags:	HYPTRACE_RING_*
 * Return: 0; -EBUSY not empty; -EINVAL unknown flags, or fewer pages than a ring
 * needs; -E2BIG more pages than a ring can have.
 */
int hyptrace_load_begin(struct hyptrace_ring *ring, u64 nr_pages, u64 flags)
{
	if (flags & ~(u64)HYPTRACE_RING_FLAGS ||
	    nr_pages < HYPTRACE_RING_MIN_PAGES)
		return -EINVAL;
	if (nr_pages > HYPTRACE_RING_MAX_PAGES(PAGE_SIZE))
		return -E2BIG;

	hyptrace_guard(&hyptrace_load_lock);
	if (READ_ONCE(ring->state) != HYPTRACE_RING_EMPTY)
		return -EBUSY;
	ring->nr_pages = nr_pages;
	ring->nr_loaded = 0;
	ring->discard = flags & HYPTRACE_RING_DISCARD;
	ring->kept = flags & HYPTRACE_RING_KEPT;
	ring->freeing = false;
	set_state(ring, HYPTRACE_RING_BUILDING);

	return 0;
}

/**
 * hyptrace_load_dir() - take a page for pointers to the tables that follow
 * @ring:	being built
 * @pfn:	a page of the host, which donates it to EL2
 * Return: 0; -EINVAL not being built, or no directory is needed now; or the error of
 * hyptrace_take_page().
 */
int hyptrace_load_dir(struct hyptrace_ring *ring, u64 pfn)
{
	void *va;
	int ret;

	hyptrace_guard(&hyptrace_load_lock);
	if (!is_building(ring) ||
	    ring->nr_tables != ring->nr_dirs * HYPTRACE_TABLE_PTRS_PER_DIR ||
	    ring->nr_tables == count_needed_tables(ring))
		return -EINVAL;
	ret = hyptrace_take_page(pfn, &va);
	if (ret)
		return ret;
	memset(va, 0, PAGE_SIZE);
	ring->dir[ring->nr_dirs++] = va;

	return 0;
}

/* Count adjacent pages: one walk through the page tables shares them all. */
static u32 count_neighbours(const struct hyptrace_table_entry *entry, u32 nr)
{
	u32 i;

	for (i = 1; i < nr && entry[i].pfn == entry[0].pfn + i; i++)
		;

	return i;
}

/* The same for slots, from the last one before @end back */
static u32 count_neighbours_before(const struct hyptrace_slot *end, u32 nr)
{
	u32 i;

	for (i = 1; i < nr && (void *)(end - i - 1)->page + PAGE_SIZE == (end - i)->page; i++)
		;

	return i;
}

/* EL2 owns the page with the entries by now. Each slot replaces its entry in place. */
static int share_entries(struct hyptrace_slot *slot, u32 nr, u32 id)
{
	u64 pfn = ((struct hyptrace_table_entry *)slot)->pfn;
	void *page;
	u32 i;
	int ret;

	ret = hyptrace_share_pages(pfn, nr, &page);
	if (ret)
		return ret;

	for (i = 0; i < nr; i++) {
		slot[i] = (struct hyptrace_slot) { .page = page + i * PAGE_SIZE, .id = id + i };
		WRITE_ONCE(slot[i].page->time_stamp, 0);
		WRITE_ONCE(slot[i].page->commit, 0);
	}

	return 0;
}

/* Count the pages that the last table lists, and that are not shared yet. */
static u32 count_unshared(struct hyptrace_ring *ring)
{
	u32 listed = ring->nr_tables * HYPTRACE_SLOTS_PER_TABLE;

	return (listed < ring->nr_pages ? listed : ring->nr_pages) - ring->nr_loaded;
}

/* Share the next pages that the last table lists. Return 1 if there are more, 0, or an error. */
static int share_some(struct hyptrace_ring *ring)
{
	struct hyptrace_slot *slot = hyptrace_slot_at(ring, ring->nr_loaded);
	u32 nr = count_unshared(ring), run;
	int ret;

	if (nr > PART_PAGES)
		nr = PART_PAGES;
	while (nr) {
		run = count_neighbours((struct hyptrace_table_entry *)slot, nr);
		ret = share_entries(slot, run, ring->nr_loaded);
		if (ret)
			return ret;
		ring->nr_loaded += run;
		slot += run;
		nr -= run;
	}

	return count_unshared(ring) ? 1 : 0;
}

/* Give back the last pages, and their table with the first ones that it lists. */
static int free_some(struct hyptrace_ring *ring)
{
	u32 last = ring->nr_tables - 1, first = last * HYPTRACE_SLOTS_PER_TABLE;
	struct hyptrace_slot *table = hyptrace_slot_at(ring, first);
	struct hyptrace_slot *slot = table + (ring->nr_loaded - first);
	u32 nr = ring->nr_loaded - first, run;
	int ret;

	if (nr > PART_PAGES)
		nr = PART_PAGES;
	while (nr) {
		run = count_neighbours_before(slot, nr);
		slot -= run;
		nr -= run;
		ring->nr_loaded -= run;
		memset(slot->page, 0, run * PAGE_SIZE);
		hyptrace_unshare_pages(slot->page, run);
	}
	if (ring->nr_loaded > first)
		return 0;

	memset(table, 0, PAGE_SIZE);
	ret = hyptrace_release_page(table);
	if (!ret)
		ring->nr_tables = last;

	return ret;
}

/**
 * hyptrace_load_table() - take a page that lists the next data pages, or share some of these
 * @ring:	being built
 * @pfn:	a page of the host, which donates it to EL2; 0: share pages of the last one
 * Return: 1 there are pages to be shared; 0 all are shared; -EINVAL not being built, no table is
 * needed now, no page is to be shared, or an invalid page number; -EPERM the host does not own a
 * data page alone; or the error of hyptrace_take_page().
 */
int hyptrace_load_table(struct hyptrace_ring *ring, u64 pfn)
{
	void *va;
	int ret;

	hyptrace_guard(&hyptrace_load_lock);
	if (!is_building(ring))
		return -EINVAL;
	if (!pfn)
		return count_unshared(ring) ? share_some(ring) : -EINVAL;
	if (count_unshared(ring) || ring->nr_loaded == ring->nr_pages ||
	    ring->nr_tables == ring->nr_dirs * HYPTRACE_TABLE_PTRS_PER_DIR)
		return -EINVAL;
	ret = hyptrace_take_page(pfn, &va);
	if (ret)
		return ret;
	ring->dir[ring->nr_tables / HYPTRACE_TABLE_PTRS_PER_DIR]
		 [ring->nr_tables % HYPTRACE_TABLE_PTRS_PER_DIR] = va;
	ring->nr_tables++;

	return 1;
}

/**
 * hyptrace_load_ready() - complete a ring whose pages are all listed
 * @ring:	being built
 * @meta_pfn:	page of the host in which EL2 publishes the state of the ring
 * Return: 0; -EINVAL not being built, pages are missing, or an invalid page number;
 * -EPERM the host does not own the page alone.
 */
int hyptrace_load_ready(struct hyptrace_ring *ring, u64 meta_pfn)
{
	void *va;
	int ret;

	hyptrace_guard(&hyptrace_load_lock);
	if (!is_building(ring) || ring->nr_loaded != ring->nr_pages)
		return -EINVAL;
	ret = hyptrace_share_pages(meta_pfn, 1, &va);
	if (ret)
		return ret;
	hyptrace_guard(&ring->lock);
	ring->meta = va;
	hyptrace_ring_init(ring);

	return 0;
}

/* From DETACHED or RETIRED to BUILDING, to free the ring: no CPU can attach any more. */
static int begin_free(struct hyptrace_ring *ring)
{
	hyptrace_guard(&ring->lock);
	if (ring->state == HYPTRACE_RING_ATTACHED ||
	    ring->state == HYPTRACE_RING_PARKED || ring->nr_unmoved)
		return -EBUSY;
	if (ring->state != HYPTRACE_RING_EMPTY)
		hyptrace_ring_set_state(ring, HYPTRACE_RING_BUILDING);
	hyptrace_filter_clear_all(ring);

	return 0;
}

static int free_dir(struct hyptrace_ring *ring)
{
	void *dir = ring->dir[ring->nr_dirs - 1];
	int ret;

	memset(dir, 0, PAGE_SIZE);
	ret = hyptrace_release_page(dir);
	if (!ret)
		ring->dir[--ring->nr_dirs] = NULL;

	return ret;
}

static int free_step(struct hyptrace_ring *ring)
{
	if (ring->meta) {
		memset(ring->meta, 0, PAGE_SIZE);
		hyptrace_unshare_pages(ring->meta, 1);
		ring->meta = NULL;
		return 0;
	}
	/* Free a directory after all its tables. */
	if (ring->nr_dirs &&
	    ring->nr_tables <= (ring->nr_dirs - 1) * HYPTRACE_TABLE_PTRS_PER_DIR)
		return free_dir(ring);

	return ring->nr_tables ? free_some(ring) : 0;
}

/**
 * hyptrace_load_free() - give back the last pages that were taken or shared
 * @ring:	any CPU's
 * Return: 1 there are more; 0 the ring is empty; -EBUSY a CPU is attached or parked, or
 * events are still to be moved; or the error of hyptrace_release_page().
 */
int hyptrace_load_free(struct hyptrace_ring *ring)
{
	int ret;

	hyptrace_guard(&hyptrace_load_lock);
	ret = begin_free(ring);
	if (ret || READ_ONCE(ring->state) != HYPTRACE_RING_BUILDING)
		return ret;
	ring->freeing = true;
	ret = free_step(ring);
	if (ret)
		return ret;
	if (ring->nr_dirs || ring->nr_tables)
		return 1;
	set_state(ring, HYPTRACE_RING_EMPTY);

	return 0;
}
