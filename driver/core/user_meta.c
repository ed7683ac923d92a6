// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mapping of a CPU's ring as user space sees it: the order of the pages, and the meta page, as
 * in the kernel's own ring-buffer mapping. After a load, the reader page has id 0, and the writer
 * starts with id 1. Called by reader.c, state.c, resize.c and device/map.c.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/trace_mmap.h>

#include "../compat.h"
#include "internal.h"
#include "../../hyp/abi.h"

#define META_PAGES	1

/* The last index in struct hyptrace_ring_pages is the first reader page, id 0 in user space. */
static u32 user_id(const struct hyptrace_ring_pages *ring, u32 id)
{
	return (id + 1) % ring->nr_pages;
}

/**
 * hyptrace_reader_nr_user_pages - number of pages that user space can map
 * @reader:	its map_lock or its lock held
 * Return: the number, including the meta page; 0 while unloaded.
 */
unsigned long hyptrace_reader_nr_user_pages(const struct hyptrace_reader *reader)
{
	return reader->ring ? META_PAGES + (unsigned long)reader->ring->nr_pages : 0;
}

/**
 * hyptrace_reader_user_page - get a page of the mapping of a ring
 * @reader:	its map_lock or its lock held
 * @index:	below hyptrace_reader_nr_user_pages(): the meta page, then the sub-buffers by id
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
 * hyptrace_user_meta_alloc - allocate the meta page of a ring's mappings, for free_page()
 *
 * Return: a page, or NULL.
 */
struct hyptrace_map_meta *hyptrace_user_meta_alloc(void)
{
	struct hyptrace_map_meta *user = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);

	if (user) {
		user->buffer.meta_page_size = PAGE_SIZE;
		user->buffer.meta_struct_len = sizeof(*user);
		user->buffer.subbuf_size = PAGE_SIZE;
	}
	return user;
}

/*
 * Sub-buffers older than the reader page were consumed. Sub-buffers older than the writer's
 * begin were cleared, and the reader page may be one of them: return the later of the two.
 */
static u64 user_begin(const struct hyptrace_reader *reader)
{
	const struct hyptrace_meta *meta = page_address(reader->ring->meta);
	const struct hyptrace_subbuf *page = page_address(reader->ring->pages[reader->id]);

	return max(READ_ONCE(meta->begin), READ_ONCE(page->time_stamp));
}

/**
 * hyptrace_user_meta_hide - hide the events of a ring from observers during a clear
 * @reader:	lock held, loaded
 *
 * This lasts until hyptrace_user_meta_update(). After a clear, the writer may reuse the
 * cleared sub-buffers in any order, which observers would mistake for gaps.
 */
void hyptrace_user_meta_hide(struct hyptrace_reader *reader)
{
	WRITE_ONCE(reader->user_meta->begin, U64_MAX);
}

/**
 * hyptrace_user_meta_update - update the meta page
 * @reader:	lock held, loaded
 */
void hyptrace_user_meta_update(struct hyptrace_reader *reader)
{
	const struct hyptrace_meta *meta = page_address(reader->ring->meta);
	struct hyptrace_map_meta *map = reader->user_meta;
	struct trace_buffer_meta *user = &map->buffer;
	u64 dropped = READ_ONCE(meta->dropped);
	u64 written = READ_ONCE(meta->written);

	WRITE_ONCE(user->nr_subbufs, reader->ring->nr_pages);
	WRITE_ONCE(user->reader.id, user_id(reader->ring, reader->id));
	/*
	 * (L) Order reader.id before reader.read: an observer must not apply the new read to
	 * the previous reader page. Pairs with (L) in tools/lib/ring/snapshot.c:try_to_take().
	 */
	smp_store_release(&user->reader.read, reader->consumed);
	WRITE_ONCE(user->reader.lost_events, reader->swap_lost);
	/* As in the kernel's ring buffer, entries do not include dropped events. */
	WRITE_ONCE(user->entries, written > dropped ? written - dropped : 0);
	WRITE_ONCE(user->overrun, READ_ONCE(meta->overrun));
	WRITE_ONCE(user->read, reader->read);
	WRITE_ONCE(user->pages_lost, READ_ONCE(meta->nr_overwritten));
	WRITE_ONCE(user->pages_touched, READ_ONCE(meta->nr_entered));
	/*
	 * (L) Order reader.id before next_lost, for the same reason. Pairs with (L) in
	 * tools/lib/ring/snapshot.c:trim().
	 */
	smp_store_release(&map->next_lost, reader->next_lost);
	/*
	 * (K) Order reader.read before begin: an observer must not apply an old read to the
	 * new reader page. Pairs with (K) in tools/lib/ring/snapshot.c:begin_of().
	 */
	smp_store_release(&map->begin, user_begin(reader));
}

/**
 * hyptrace_reader_forbid_mapping - prevent new mappings of a ring
 * @reader:	control mutex of its remote held
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
