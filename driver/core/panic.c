// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the last events of each remote into the kernel's log when the kernel panics, which it does
 * also after a panic of EL2: so pstore keeps them. Called by the panic notifiers.
 *
 * Another CPU may have been stopped with any lock held and any struct half changed, and a bug may
 * have overwritten any page. So this takes no lock, does not wait or allocate, and makes no
 * hypercall. It copies a sub-buffer before it looks, and skips one that cannot be right.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/panic_notifier.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "internal.h"
#include "../../hyp/abi.h"

#define MAX_EVENTS		4096
#define MAX_PAYLOAD_BYTES	256
#define MAX_REMOTES		16
/* Sub-buffers of a ring without an event, after which the rest is skipped: each look takes long. */
#define MAX_EMPTY		8
#define TEXT_BYTES		512

/* How far a time may be ahead of the clock: the writer gives each sub-buffer a time of its own. */
#define MAX_LEAD_NS		NSEC_PER_SEC

static unsigned int panic_events = 32;
module_param(panic_events, uint, 0444);
MODULE_PARM_DESC(panic_events, "how many of the last events a panic prints, at most 4096; 0: none");

/* An event that will be printed */
struct last {
	u64			time;
	u64			begin;	/* of its sub-buffer, which no other of its ring has */
	unsigned int		cpu;
	const struct hyptrace_event *event;
	u64			payload[MAX_PAYLOAD_BYTES / sizeof(u64)];
};

/* Allocated in advance: the last events, the oldest first, the order of their places, a page */
static struct last *last;
static struct last **order;
static struct hyptrace_subbuf *copy;

static unsigned int nr_last, nr_damaged, nr_unfinished;

/* The last event of a sub-buffer and the first of the next one may have the same time. */
static bool is_later(const struct last *at, u64 time, u64 begin)
{
	return at->time > time || (at->time == time && at->begin > begin);
}

/* Put an event in its place by time, and drop the oldest if there are too many. */
static void add_event(const struct hyptrace_event *event, u64 time, u64 begin, unsigned int cpu,
		      const void *payload)
{
	struct last *to;
	unsigned int i;

	if (nr_last < panic_events) {
		to = &last[nr_last++];
	} else {
		to = order[0];
		if (is_later(to, time, begin))
			return;
		memmove(order, order + 1, (panic_events - 1) * sizeof(*order));
	}
	for (i = nr_last - 1; i && is_later(order[i - 1], time, begin); i--)
		order[i] = order[i - 1];
	order[i] = to;
	to->time = time;
	to->begin = begin;
	to->cpu = cpu;
	to->event = event;
	memcpy(to->payload, payload, event->size);
}

static const struct hyptrace_event *find_event(const struct hyptrace_remote_desc *desc,
					       const void *payload, u32 size)
{
	const struct hyptrace_event *event;
	u32 id;

	if (size < sizeof(u32))
		return NULL;
	id = *(const u16 *)payload;
	if (!id || id > desc->nr_events)
		return NULL;
	event = desc->events[id - 1]();
	return event->id == id && ALIGN(event->size, sizeof(u32)) == size &&
	       event->size <= MAX_PAYLOAD_BYTES ? event : NULL;
}

static struct hyptrace_subbuf *subbuf_at(const struct hyptrace_ring_pages *ring, u32 id)
{
	struct page *page;

	if (get_kernel_nofault(page, &ring->pages[id]) || !pfn_valid(page_to_pfn(page)))
		return NULL;
	return page_address(page);
}

/* Consumed sub-buffers count, too, until the writer reuses them. */
static struct hyptrace_subbuf *find_newest(const struct hyptrace_ring_pages *ring, u64 from, u64 to)
{
	struct hyptrace_subbuf *subbuf, *newest = NULL;
	u64 time, commit, latest = 0;
	u32 id, nr = READ_ONCE(ring->nr_pages);

	for (id = 0; id < nr; id++) {
		subbuf = subbuf_at(ring, id);
		if (!subbuf || get_kernel_nofault(time, &subbuf->time_stamp) ||
		    get_kernel_nofault(commit, &subbuf->commit))
			continue;
		if (!commit || time < from || time > to || (newest && time < latest))
			continue;
		newest = subbuf;
		latest = time;
	}
	return newest;
}

/* Add the last @max events of a sub-buffer. Return how many it has; 0 if it is damaged or empty. */
static u32 add_events(const struct hyptrace_remote_desc *desc, unsigned int cpu,
		      const struct hyptrace_subbuf *subbuf, u32 max)
{
	const struct hyptrace_event *event;
	struct hyptrace_walk walk;
	const void *payload;
	u32 size, end, nr;

	if (copy_from_kernel_nofault(copy, subbuf, PAGE_SIZE))
		goto damaged;
	end = copy->commit & HYPTRACE_COMMIT_MASK;
	walk = (struct hyptrace_walk){ .time = copy->time_stamp };
	if (end > HYPTRACE_SUBBUF_DATA_SIZE)
		goto damaged;
	while ((payload = hyptrace_subbuf_next(copy->data, end, &walk, &size)))
		if (!find_event(desc, payload, size))
			goto damaged;
	if (walk.pos != end)
		goto damaged;

	nr = walk.events;
	walk = (struct hyptrace_walk){ .time = copy->time_stamp };
	while ((payload = hyptrace_subbuf_next(copy->data, end, &walk, &size))) {
		event = find_event(desc, payload, size);
		if (nr - walk.events < max)
			add_event(event, walk.time, copy->time_stamp, cpu, payload);
	}
	return nr;

damaged:
	nr_damaged++;
	return 0;
}

static void add_ring(const struct hyptrace_remote *remote, unsigned int cpu)
{
	const struct hyptrace_reader *reader = remote->readers[cpu];
	const struct hyptrace_ring_pages *ring = reader ? READ_ONCE(reader->ring) : NULL;
	u64 from, to = ktime_get_boot_fast_ns() + MAX_LEAD_NS;
	const struct hyptrace_meta *meta;
	struct hyptrace_subbuf *subbuf;
	u32 left = panic_events, nr, empty = 0;
	u64 unfinished;

	if (!ring)
		return;
	if (READ_ONCE(reader->is_exchanging)) {
		pr_emerg("hyptrace: the ring of CPU %u is being resized: skipped\n", cpu);
		return;
	}
	meta = page_address(ring->meta);
	if (get_kernel_nofault(from, &meta->begin))
		return;
	if (!get_kernel_nofault(unfinished, &meta->unfinished))
		nr_unfinished += !!unfinished;
	while (left && empty < MAX_EMPTY) {
		subbuf = find_newest(ring, from, to);
		if (!subbuf || get_kernel_nofault(to, &subbuf->time_stamp))
			return;
		nr = add_events(remote->desc, cpu, subbuf, left);
		empty += !nr;
		left -= min(left, nr);
		/* No two sub-buffers of a ring have the same time stamp. */
		if (!to--)
			return;
	}
}

static void print_last(const struct hyptrace_remote_desc *desc, const char *whose)
{
	static char text[TEXT_BYTES];
	const struct last *at;
	unsigned int i;
	u64 seconds;
	u32 ns;

	if (nr_last || nr_damaged)
		pr_emerg("hyptrace: remote \"%s\": the last events of %s:\n", desc->name, whose);
	for (i = 0; i < nr_last; i++) {
		at = order[i];
		text[0] = 0;
		desc->print(at->payload, text, sizeof(text));
		seconds = div_u64_rem(at->time, NSEC_PER_SEC, &ns);
		pr_emerg("hyptrace: [%03u] %5llu.%09u: %s: %s\n", at->cpu, seconds, ns,
			 at->event->name, text);
	}
	if (nr_damaged)
		pr_emerg("hyptrace: sub-buffers that are damaged, and were skipped: %u\n",
			 nr_damaged);
	if (nr_unfinished)
		pr_emerg("hyptrace: events that EL2 was recording when it panicked, and that are left out: %u\n",
			 nr_unfinished);
	nr_last = 0;
	nr_damaged = 0;
	nr_unfinished = 0;
}

static bool has_other_rings(const struct hyptrace_remote *remote, unsigned int cpu)
{
	unsigned int other;

	for_each_possible_cpu(other)
		if (other != cpu && remote->readers[other] && remote->readers[other]->ring)
			return true;
	return false;
}

static void print_remote(const struct hyptrace_remote *remote)
{
	unsigned int this = raw_smp_processor_id(), cpu;
	char whose[sizeof("CPU 4294967295, which panics")];

	add_ring(remote, this);
	snprintf(whose, sizeof(whose), "CPU %u, which panics", this);
	print_last(remote->desc, whose);
	if (!has_other_rings(remote, this))
		return;
	for_each_possible_cpu(cpu)
		add_ring(remote, cpu);
	print_last(remote->desc, "all CPUs");
}

static int on_panic(struct notifier_block *block, unsigned long action, void *data)
{
	const struct hyptrace_remote *remote;
	static bool has_run;
	unsigned int nr = 0;

	/* A fault in here is a panic, too. */
	if (has_run)
		return NOTIFY_DONE;
	has_run = true;
	list_for_each_entry(remote, &hyptrace_remotes, node) {
		if (remote->desc->print)
			print_remote(remote);
		if (++nr == MAX_REMOTES)
			break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block panic_block = { .notifier_call = on_panic };

/**
 * hyptrace_panic_init - get ready to print events at a panic
 *
 * Return: 0 or -ENOMEM.
 */
int hyptrace_panic_init(void)
{
	if (!panic_events)
		return 0;
	panic_events = min(panic_events, MAX_EVENTS);
	last = vcalloc(panic_events, sizeof(*last));
	order = vcalloc(panic_events, sizeof(*order));
	copy = (void *)__get_free_page(GFP_KERNEL);
	if (!last || !order || !copy) {
		hyptrace_panic_exit();
		return -ENOMEM;
	}
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	return 0;
}

/**
 * hyptrace_panic_exit - undo hyptrace_panic_init()
 */
void hyptrace_panic_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	free_page((unsigned long)copy);
	vfree(order);
	vfree(last);
}
