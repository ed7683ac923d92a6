// SPDX-License-Identifier: GPL-2.0-only
/*
 * What user space sees of a CPU's ring in a mapping: which pages, and the meta page.
 * Called by reader.c, state.c, resize.c, and device/map.c.
 *
 * The layout and the ids are those of the kernel's own ring-buffer mapping: on
 * a fresh ring the reader's sub-buffer is 0 and the first to be written is 1.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/trace_mmap.h>

#include "../compat.h"
#include "internal.h"
#include "../../hyp/abi.h"

#define META_PAGES	1

/* From an index in struct hyptrace_ring_pages: its last page was the reader's. */
static u32 user_id(const struct hyptrace_ring_pages *ring, u32 id)
{
	return (id + 1) % ring->nr_pages;
}

/**
 * hyptrace_reader_nr_user_pages - how many pages a mapping of a ring can have
 * @reader:	its map_lock held
 *
 * Return: the number; 0 while unloaded.
 */
unsigned long hyptrace_reader_nr_user_pages(const struct hyptrace_reader *reader)
{
	return reader->ring ? META_PAGES + (unsigned long)reader->ring->nr_pages : 0;
}

/**
 * hyptrace_reader_user_page - a page of a ring, as user space counts them
 * @reader:	its map_lock held
 * @index:	below hyptrace_reader_nr_user_pages(): the meta page, then the sub-buffers
 *		by their ids in user space
 *
 * Return: the page.
 */
struct page *hyptrace_reader_user_page(const struct hyptrace_reader *reader,
				       unsigned long index)
{
	const struct hyptrace_ring_pages *ring = reader->ring;

	if (index < META_PAGES)
		return virt_to_page(reader->user_meta);
	index -= META_PAGES;
	return ring->pages[index ? index - 1 : ring->nr_pages - 1];
}

/**
 * hyptrace_user_meta_alloc - allocate the meta page of a ring's mappings
 *
 * Return: a page, or NULL.
 */
struct hyptrace_map_meta *hyptrace_user_meta_alloc(void)
{
	return (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
}

/**
 * hyptrace_user_meta_free - undo hyptrace_user_meta_alloc()
 * @user:	or NULL
 */
void hyptrace_user_meta_free(struct hyptrace_map_meta *user)
{
	free_page((unsigned long)user);
}

/*
 * What lies before the reader's sub-buffer was consumed, and what lies before the
 * first sub-buffer after a clear was thrown away: of the latter the reader's may
 * be one.
 */
static u64 user_begin(const struct hyptrace_reader *reader)
{
	const struct hyptrace_meta *meta = page_address(reader->ring->meta);
	const struct hyptrace_subbuf *page = page_address(reader->ring->pages[reader->id]);

	return max(READ_ONCE(meta->begin), READ_ONCE(page->time_stamp));
}

/**
 * hyptrace_user_meta_hide - let nobody see what is in the ring while it is cleared
 * @reader:	lock held, loaded
 *
 * Until hyptrace_user_meta_update(): after a clear the writer overwrites what was
 * thrown away in an order of its own, which would look like gaps.
 */
void hyptrace_user_meta_hide(struct hyptrace_reader *reader)
{
	WRITE_ONCE(reader->user_meta->begin, U64_MAX);
}

/**
 * hyptrace_user_meta_update - bring the meta page up to date
 * @reader:	lock held, loaded
 */
void hyptrace_user_meta_update(struct hyptrace_reader *reader)
{
	const struct hyptrace_meta *meta = page_address(reader->ring->meta);
	struct hyptrace_map_meta *map = reader->user_meta;
	struct trace_buffer_meta *user = &map->buffer;
	u64 dropped = READ_ONCE(meta->dropped);
	u64 written = READ_ONCE(meta->written);

	WRITE_ONCE(user->meta_page_size, PAGE_SIZE);
	WRITE_ONCE(user->meta_struct_len, sizeof(*map));
	WRITE_ONCE(user->subbuf_size, PAGE_SIZE);
	WRITE_ONCE(user->nr_subbufs, reader->ring->nr_pages);
	WRITE_ONCE(user->reader.id, user_id(reader->ring, reader->id));
	/* (L) pairs with the acquire of who looks on: not for the sub-buffer before */
	smp_store_release(&user->reader.read, reader->consumed);
	WRITE_ONCE(user->reader.lost_events, reader->swap_lost);
	/* the kernel's ring buffer does not count as an entry what was dropped */
	WRITE_ONCE(user->entries, written > dropped ? written - dropped : 0);
	WRITE_ONCE(user->overrun, READ_ONCE(meta->overrun));
	WRITE_ONCE(user->read, reader->read);
	WRITE_ONCE(user->pages_lost, READ_ONCE(meta->overwritten));
	WRITE_ONCE(user->pages_touched, READ_ONCE(meta->touched));
	/* (L) likewise */
	smp_store_release(&map->next_lost, reader->next_lost);
	/* (K) pairs with the acquire of who looks on: nothing of the sub-buffer before */
	smp_store_release(&map->begin, user_begin(reader));
}

/**
 * hyptrace_reader_forbid_mapping - let nobody map a ring
 * @reader:	control mutex of its remote held
 *
 * Return: 0, or -EBUSY if it is mapped.
 */
int hyptrace_reader_forbid_mapping(struct hyptrace_reader *reader)
{
	guard(mutex)(&reader->map_lock);
	if (reader->mappings)
		return -EBUSY;
	reader->resizing = true;
	return 0;
}

/**
 * hyptrace_reader_allow_mapping - undo hyptrace_reader_forbid_mapping()
 * @reader:	control mutex of its remote held
 */
void hyptrace_reader_allow_mapping(struct hyptrace_reader *reader)
{
	guard(mutex)(&reader->map_lock);
	reader->resizing = false;
}
