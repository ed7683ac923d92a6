// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test_leftover.sh: a module that attaches the hypervisor's CPUs to rings and builds
 * spare rings for a resize, but releases none of them when it is removed, nor a trigger. Their
 * memory is leaked: the hypervisor may still write to it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <asm/arch_timer.h>

#include "el2.h"
#include "hyp_events.h"
#include "writer.h"

#define NR_PAGES	8

static u64 counter(void)
{
	return __arch_counter_get_cntpct();
}

static struct hyptrace_writer writer = {
	.name		= "leave",
	.counter	= counter,
	.events		= BIT_ULL(HYPTRACE_EVENT_selftest),
};

static struct hyptrace_buffer rings, spare_rings;

static int alloc_ring(struct hyptrace_ring_pages *ring)
{
	unsigned int i;

	ring->nr_pages = NR_PAGES;
	ring->meta = alloc_page(GFP_KERNEL | __GFP_ZERO);
	ring->pages = kcalloc(NR_PAGES, sizeof(*ring->pages), GFP_KERNEL);
	if (!ring->meta || !ring->pages)
		return -ENOMEM;
	for (i = 0; i < NR_PAGES; i++) {
		ring->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!ring->pages[i])
			return -ENOMEM;
	}

	return 0;
}

static int alloc_rings(struct hyptrace_buffer *buf)
{
	unsigned int cpu;
	int ret = 0;

	buf->ring = kcalloc(nr_cpu_ids, sizeof(*buf->ring), GFP_KERNEL);
	if (!buf->ring)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		ret = ret ?: alloc_ring(&buf->ring[cpu]);

	return ret;
}

/* After an error, too, nothing is released. */
static int __init leave_init(void)
{
	int ret;

	ret = hyptrace_el2.hold() ?: alloc_rings(&rings) ?: alloc_rings(&spare_rings);
	if (ret)
		return ret;

	writer.call = hyptrace_el2.call;
	if (!hyptrace_el2.is_protected())
		writer.map = hyptrace_el2.map;
	writer.frequency = hyptrace_el2.counter_rate();
	writer.parks_offline_cpus = hyptrace_el2.is_protected();
	ret = hyptrace_writer_init(&writer, hyptrace_event_list_hash(hyp_event_list));
	if (ret)
		return ret;

	ret = hyptrace_writer_ops.load_trace_buffer(&rings, &writer) ?:
	      hyptrace_writer_ops.enable_tracing(true, &writer) ?:
	      hyptrace_writer_ops.prepare_resize(&spare_rings, &writer) ?:
	      hyptrace_writer_ops.set_trigger(HYPTRACE_EVENT_hyp_enter, HYPTRACE_TRIGGER_START, 0,
					      &writer);
	if (ret)
		hyptrace_writer_exit(&writer);

	return ret;
}
module_init(leave_init);

/* Free what the hypervisor does not use: the lists of pages, but not the pages. */
static void free_lists(struct hyptrace_buffer *buf)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kfree(buf->ring[cpu].pages);
	kfree(buf->ring);
}

static void __exit leave_exit(void)
{
	hyptrace_writer_exit(&writer);
	hyptrace_el2.release();
	free_lists(&rings);
	free_lists(&spare_rings);
}
module_exit(leave_exit);

MODULE_DESCRIPTION("for tests: leaves rings at the hypervisor");
MODULE_LICENSE("GPL");
