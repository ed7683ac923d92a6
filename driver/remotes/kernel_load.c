// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives rings to mainline's tracer at EL2 and takes them back. Called by kernel.c.
 *
 * EL2 pins pages that the host shares, and owns its descriptions of them. KVM's own driver counts
 * pages in two ways, so EL2 refuses some sizes. Here, both descriptors are as large as needed.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/simple_ring_buffer.h>
#include <linux/slab.h>
#include <linux/trace_remote_event.h>

#include <asm/kvm_hyptrace.h>

#include "kernel.h"

/*
 * The memory of a load, besides the rings: the descriptor, which EL2 has during the hypercall, and
 * EL2's own descriptions of all pages, which it has until the unload.
 */
static struct {
	struct hyp_trace_desc	*desc;
	size_t			desc_size;
	void			*backing;
	size_t			backing_size;
} given;

/* EL2 needs its descriptions of all pages in contiguous memory. */
unsigned int kernel_rings_max_pages(void)
{
	return (PAGE_SIZE << MAX_PAGE_ORDER) / sizeof(struct simple_buffer_page) /
	       num_possible_cpus();
}

static void *alloc_given(size_t size)
{
	return alloc_pages_exact(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NORETRY |
				 __GFP_NOWARN);
}

static int alloc_all_given(unsigned int nr_pages)
{
	const struct ring_buffer_desc *any_ring;
	unsigned int nr_cpus = num_possible_cpus();

	given.desc_size = PAGE_ALIGN(sizeof(*given.desc) +
				     nr_cpus * struct_size(any_ring, page_va, nr_pages));
	given.backing_size = PAGE_ALIGN(nr_cpus * nr_pages *
					sizeof(struct simple_buffer_page));
	given.desc = alloc_given(given.desc_size);
	if (!given.desc)
		return -ENOMEM;
	given.backing = alloc_given(given.backing_size);
	if (given.backing)
		return 0;
	free_pages_exact(given.desc, given.desc_size);

	return -ENOMEM;
}

/* Let EL2 access a page that the kernel still uses, too. */
static int share_page(const void *page)
{
	return kernel_call(__pkvm_host_share_hyp, virt_to_pfn(page));
}

static int unshare_page(const void *page)
{
	return kernel_call(__pkvm_host_unshare_hyp, virt_to_pfn(page));
}

/* @is_kept: EL2 may still use its page. */
static void ring_free(const struct kernel_ring *ring, bool is_kept)
{
	kvfree(ring->order);
	if (!is_kept)
		free_page((unsigned long)ring->el2);
}

/* After an error the caller frees the ring. */
static int ring_init(struct kernel_ring *ring, const struct hyptrace_ring_pages *pages)
{
	u32 i;

	ring->pages = pages;
	ring->nr_slots = pages->nr_pages - 1;
	ring->reader = ring->nr_slots;
	ring->first = 0;
	ring->swaps = 0;
	ring->is_dead = false;
	ring->el2 = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	ring->order = kvmalloc_array(ring->nr_slots, sizeof(*ring->order), GFP_KERNEL_ACCOUNT);
	if (!ring->el2 || !ring->order)
		return -ENOMEM;
	for (i = 0; i < ring->nr_slots; i++)
		ring->order[i] = i;

	return 0;
}

/* Stop sharing the first @nr pages of a ring. After an error EL2 may have kept some. */
static int unshare(const struct kernel_ring *ring, unsigned int nr)
{
	int ret, first = 0;

	while (nr--) {
		ret = unshare_page(page_address(ring->pages->pages[nr]));
		first = first ?: ret;
		cond_resched();
	}
	ret = unshare_page(ring->el2);

	return first ?: ret;
}

/* Share a ring. After an error nothing is shared, or -ENOTRECOVERABLE. */
static int share(const struct kernel_ring *ring)
{
	unsigned int i;
	int ret;

	ret = share_page(ring->el2);
	if (ret)
		return ret;
	for (i = 0; i < ring->pages->nr_pages; i++) {
		ret = fatal_signal_pending(current) ? -EINTR :
		      share_page(page_address(ring->pages->pages[i]));
		if (ret)
			return unshare(ring, i) ? -ENOTRECOVERABLE : ret;
		cond_resched();
	}

	return 0;
}

/* Stop sharing the rings of all CPUs before @end. */
static int unshare_upto(unsigned int end)
{
	int ret, first = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (cpu >= end)
			break;
		ret = unshare(&kernel_rings[cpu], kernel_rings[cpu].pages->nr_pages);
		first = first ?: ret;
		ring_free(&kernel_rings[cpu], ret);
	}

	return first;
}

static int share_all(const struct hyptrace_buffer *buf)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		ret = ring_init(&kernel_rings[cpu], &buf->ring[cpu]) ?: share(&kernel_rings[cpu]);
		if (ret) {
			ring_free(&kernel_rings[cpu], ret == -ENOTRECOVERABLE);
			return unshare_upto(cpu) ? -ENOTRECOVERABLE : ret;
		}
	}

	return 0;
}

static void describe(const struct hyptrace_buffer *buf)
{
	struct hyp_trace_desc *desc = given.desc;
	struct ring_buffer_desc *ring = __first_ring_buffer_desc(&desc->trace_buffer_desc);
	unsigned int cpu, i;

	desc->bpages_backing_start = (unsigned long)given.backing;
	desc->bpages_backing_size = given.backing_size;
	desc->trace_buffer_desc.nr_cpus = num_possible_cpus();
	desc->trace_buffer_desc.struct_len = given.desc_size;
	for_each_possible_cpu(cpu) {
		const struct hyptrace_ring_pages *pages = &buf->ring[cpu];
		struct page **page = pages->pages;

		ring->cpu = cpu;
		ring->nr_page_va = pages->nr_pages;
		ring->meta_va = (unsigned long)kernel_rings[cpu].el2;
		/* EL2's first page is the reader page. */
		ring->page_va[0] = (unsigned long)page_address(page[pages->nr_pages - 1]);
		for (i = 1; i < pages->nr_pages; i++)
			ring->page_va[i] = (unsigned long)page_address(*page++);
		ring = __next_ring_buffer_desc(ring);
	}
}

int kernel_rings_load(struct hyptrace_buffer *buf, void *priv)
{
	int ret = alloc_all_given(buf->ring[cpumask_first(cpu_possible_mask)].nr_pages);

	if (ret)
		return ret;
	ret = share_all(buf);
	if (ret)
		goto free_given;

	describe(buf);
	ret = kernel_call(__tracing_load, (unsigned long)given.desc, given.desc_size);
	if (!ret) {
		free_pages_exact(given.desc, given.desc_size);
		return 0;
	}
	/* EL2 refuses a good descriptor only if it has rings already. */
	if (ret == -EINVAL)
		ret = -EBUSY;
	if (unshare_upto(nr_cpu_ids))
		ret = -ENOTRECOVERABLE;

free_given:
	free_pages_exact(given.backing, given.backing_size);
	free_pages_exact(given.desc, given.desc_size);

	return ret;
}

int kernel_rings_unload(struct hyptrace_buffer *buf, void *priv)
{
	int ret;

	kernel_call(__tracing_unload);
	ret = unshare_upto(nr_cpu_ids);
	/* If EL2 has kept the rings, it has kept their descriptions, too. */
	if (!ret)
		free_pages_exact(given.backing, given.backing_size);

	return ret;
}

int kernel_rings_init(void)
{
	unsigned int cpu;

	/* EL2 takes descriptions of the CPUs 0 to n - 1 only. */
	if (num_possible_cpus() != nr_cpu_ids) {
		pr_err("hyptrace_kernel: EL2's tracer needs CPU numbers without gaps\n");
		return -EOPNOTSUPP;
	}
	kernel_rings = kcalloc(nr_cpu_ids, sizeof(*kernel_rings), GFP_KERNEL);
	if (!kernel_rings)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		spin_lock_init(&kernel_rings[cpu].lock);

	return 0;
}

void kernel_rings_exit(void)
{
	kfree(kernel_rings);
}
