// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a remote's rings. Called by state.c, resize.c and release.c.
 *
 * An allocation must not harm the rest of the system: it fails before it takes any page if too
 * little memory is available, and never invokes the OOM killer.
 *
 * A user without privileges can have as much as the ring buffers of perf allow: an amount per CPU,
 * and beyond it RLIMIT_MEMLOCK. Rings stay when the process exits, so they count for the user.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/resource.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "internal.h"

#define GFP_RING	(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN | __GFP_ACCOUNT)

/* The sysctl kernel.perf_event_mlock_kb has the same default; no module can read it. */
static unsigned int mlock_kb = 512 + PAGE_SIZE / SZ_1K;
module_param(mlock_kb, uint, 0644);
MODULE_PARM_DESC(mlock_kb, "KB per CPU that each user may pin in addition to RLIMIT_MEMLOCK");

/* Leave 1/2^5 of all memory: with half of that, the OOM killer has been seen to end programs. */
#define RESERVE_SHIFT	5

#define META_PAGES	2	/* of each ring: the writer's, and that of the mappings */

/* A u32 numbers the data pages, and their array is one allocation of at most INT_MAX bytes. */
#define MAX_PAGES	(INT_MAX / sizeof(struct page *))

/* A writer maps contiguous pages in one step, at most HYPTRACE_TABLE_BYTES per hypercall. */
#define MAX_ORDER_WANTED	(ilog2(SZ_512K) - PAGE_SHIFT)

/**
 * hyptrace_buffer_nr_pages - compute the number of data pages of a ring
 * @size:	requested bytes per CPU
 * Return: the number, including the reader page; 0 if @size is 0 or larger than any ring can be.
 */
unsigned long hyptrace_buffer_nr_pages(u64 size)
{
	u64 nr = (size >> PAGE_SHIFT) + !!(size & ~PAGE_MASK);

	if (!size || nr > MAX_PAGES - HYPTRACE_READER_SUBBUFS)
		return 0;
	return max_t(u64, nr, HYPTRACE_MIN_SUBBUFS) + HYPTRACE_READER_SUBBUFS;
}

static bool is_memory_available(unsigned int nr_pages, unsigned int nr_cpus)
{
	u64 need = (u64)nr_pages * nr_cpus;
	long available = si_mem_available() - (long)(totalram_pages() >> RESERVE_SHIFT);

	return available > 0 && need <= available;
}

static unsigned long charged_pages(const struct hyptrace_ring_pages *ring)
{
	return ring->nr_pages + META_PAGES;
}

/* Charge the rings to the user of the current process, or return -EDQUOT. */
static int charge(struct hyptrace_buffer *buf, struct netlink_ext_ack *extack)
{
	u64 bytes = (u64)mlock_kb * SZ_1K * num_online_cpus(), new;
	u64 max = check_add_overflow(bytes, (u64)rlimit(RLIMIT_MEMLOCK), &bytes) ? U64_MAX : bytes;
	struct user_struct *user = current_user();
	long locked = atomic_long_read(&user->locked_vm);
	unsigned int cpu;
	u64 pages = 0;

	if (capable(CAP_IPC_LOCK) || capable(CAP_SYS_ADMIN))
		return 0;
	for_each_possible_cpu(cpu)
		pages += charged_pages(&buf->ring[cpu]);
	do {
		new = (locked + pages) << PAGE_SHIFT;
		if (new > max) {
			NL_SET_ERR_MSG_FMT(extack,
					   "pinning %llu KB exceeds your limit of %llu KB (RLIMIT_MEMLOCK, mlock_kb)",
					   new / SZ_1K, max / SZ_1K);
			return -EDQUOT;
		}
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &locked, locked + pages));
	for_each_possible_cpu(cpu)
		buf->ring[cpu].user = get_uid(user);
	return 0;
}

static void uncharge(const struct hyptrace_ring_pages *ring)
{
	if (!ring->user)
		return;
	atomic_long_sub(charged_pages(ring), &ring->user->locked_vm);
	free_uid(ring->user);
}

static void ring_free(struct hyptrace_ring_pages *ring)
{
	unsigned int i;

	for (i = 0; ring->pages && i < ring->nr_pages; i++) {
		if (!ring->pages[i])
			break;
		hyptrace_keep_free(ring->pages[i]);
		cond_resched();
	}
	kvfree(ring->pages);
	hyptrace_keep_free(ring->meta);
	uncharge(ring);
	memset(ring, 0, sizeof(*ring));
}

/*
 * Store up to 2^@order contiguous pages, at most @max, in @pages, and lower @order to what is
 * available. Reclaim only for single pages. Return the number of pages, or 0.
 */
static unsigned int alloc_neighbours(struct page **pages, unsigned int max, int node, bool kept,
				     unsigned int *order)
{
	struct page *page = NULL;
	unsigned int i;

	if (kept) {
		*pages = hyptrace_keep_alloc(HYPTRACE_KEEP_RING);
		return *pages ? 1 : 0;
	}
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

/* After an error, the caller must free the pages that @ring already has. */
static int ring_alloc(struct hyptrace_ring_pages *ring, int node, bool kept)
{
	unsigned int nr_pages = ring->nr_pages, i, got, order = MAX_ORDER_WANTED;

	ring->pages = kvcalloc(nr_pages, sizeof(*ring->pages), GFP_RING);
	if (!ring->pages)
		return -ENOMEM;
	ring->meta = kept ? hyptrace_keep_alloc(HYPTRACE_KEEP_RING) :
			    alloc_pages_node(node, GFP_RING | __GFP_ZERO, 0);
	if (!ring->meta)
		return -ENOMEM;

	for (i = 0; i < nr_pages; i += got) {
		got = alloc_neighbours(ring->pages + i, nr_pages - i, node, kept, &order);
		if (!got)
			return -ENOMEM;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* Allocate rings for all possible CPUs, or nothing after an error. */
static int buffer_alloc(struct hyptrace_buffer *buf, unsigned int nr_pages,
			struct netlink_ext_ack *extack)
{
	unsigned int cpu;
	int err;

	if (!buf->kept && !is_memory_available(nr_pages, num_possible_cpus()))
		return -ENOMEM;
	buf->ring = kcalloc(nr_cpu_ids, sizeof(*buf->ring), GFP_KERNEL);
	if (!buf->ring)
		return -ENOMEM;

	for_each_possible_cpu(cpu)
		buf->ring[cpu].nr_pages = nr_pages;
	err = charge(buf, extack);
	if (err)
		goto err_free;
	for_each_possible_cpu(cpu) {
		err = ring_alloc(&buf->ring[cpu], cpu_to_node(cpu), buf->kept);
		if (err)
			goto err_free;
	}
	return 0;

err_free:
	hyptrace_buffer_free(buf);
	return err;
}

/**
 * hyptrace_buffer_free - free the memory of all rings
 * @buf:	no writer owns or shares any of its pages
 */
void hyptrace_buffer_free(struct hyptrace_buffer *buf)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		ring_free(&buf->ring[cpu]);
	kfree(buf->ring);
	buf->ring = NULL;
}

/**
 * hyptrace_buffer_leak - leak pages that the writer may still own
 * @remote:	cannot be loaded again
 * @buf:	never freed: the host would fault on a page that the writer owns, or the writer
 *		would overwrite data of the next user of a shared page
 */
void hyptrace_buffer_leak(struct hyptrace_remote *remote, struct hyptrace_buffer *buf)
{
	unsigned int cpu;

	pr_err("hyptrace: remote \"%s\" kept its rings: their memory is lost, and it cannot be loaded again\n",
	       remote->name);
	remote->broken = true;
	/* The next load of this module would take all of the memory that outlives a reset. */
	if (buf->kept)
		__module_get(THIS_MODULE);
	for_each_possible_cpu(cpu) {
		kvfree(buf->ring[cpu].pages);
		uncharge(&buf->ring[cpu]);
	}
	kfree(buf->ring);
	buf->ring = NULL;
}

/* After -ENOTRECOVERABLE the writer may own some of the pages. After other errors, all are free. */
static int alloc_and_give(const struct hyptrace_remote_desc *desc, struct hyptrace_buffer *buf,
			  unsigned int nr_pages, int (*op)(struct hyptrace_buffer *buf, void *priv),
			  struct netlink_ext_ack *extack)
{
	int err = buffer_alloc(buf, nr_pages, extack);

	if (err == -EDQUOT)
		return err;
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "%s for %llu bytes for each of %u CPUs",
				   err == -EINTR ? "killed while allocating" :
						   "not enough free memory",
				   (u64)nr_pages << PAGE_SHIFT, num_possible_cpus());
		return err;
	}
	err = op(buf, desc->priv);
	if (!err)
		return 0;
	if (err == -ENOMEM)
		NL_SET_ERR_MSG(extack, "not enough free memory to give the rings to the remote");
	else if (err == -EBUSY && desc->busy)
		NL_SET_ERR_MSG_FMT(extack, "%s", desc->busy);
	else
		NL_SET_ERR_MSG_FMT(extack, "the remote refused the rings (error %d)", -err);
	if (err != -ENOTRECOVERABLE)
		hyptrace_buffer_free(buf);
	return err;
}

/**
 * hyptrace_buffer_give - allocate rings for all possible CPUs, and give them to the writer
 * @remote:	control mutex held; this releases it meanwhile
 * @buf:	out: everything but @discard
 * @nr_pages:	data pages per CPU, including the reader page
 * @op:		load_trace_buffer or prepare_resize of the remote
 * @extack:	out: the reason of an error; may be NULL
 *
 * A resize moves pages from the old rings to the new ones: all outlive a reset, or none does.
 *
 * Return: 0; -ENOMEM if too little memory is available, -EDQUOT if the user may not pin so much,
 * -EINTR if the process is being killed, or the error of @op. After an error, nothing is allocated.
 */
int hyptrace_buffer_give(struct hyptrace_remote *remote, struct hyptrace_buffer *buf,
			 unsigned int nr_pages, int (*op)(struct hyptrace_buffer *buf, void *priv),
			 struct netlink_ext_ack *extack)
{
	const unsigned long nr_kept = (nr_pages + 1UL) * num_possible_cpus();
	const bool is_resize = remote->state != HYPTRACE_STATE_UNLOADED;
	int err;

	buf->kept = is_resize ? remote->buf.kept :
				remote->desc->is_kept && hyptrace_keep_exists();
	if (buf->kept && !hyptrace_keep_has_room(nr_kept)) {
		if (is_resize) {
			NL_SET_ERR_MSG(extack,
				       "the memory that outlives a reset has no room for the old and the new rings: unload them first");
			return -ENOMEM;
		}
		pr_warn("hyptrace: remote \"%s\": a reset will lose its rings: the memory that outlives it has no room for %lu KB\n",
			remote->name, nr_kept << (PAGE_SHIFT - 10));
		buf->kept = false;
	}
	mutex_unlock(&remote->control);
	err = alloc_and_give(remote->desc, buf, nr_pages, op, extack);
	mutex_lock(&remote->control);
	if (err == -ENOTRECOVERABLE)
		hyptrace_buffer_leak(remote, buf);
	return err;
}
