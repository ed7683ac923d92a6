// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting by a writer that implements hyp/abi.h. Called by core, writer.c and writer_recover.c.
 * Each CPU has counters of its own: the writer keeps them in pages that are donated to it, and
 * publishes them in pages that it shares with this kernel.
 */
#define pr_fmt(fmt) "hyptrace: " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "../../hyp/abi.h"
#include "writer.h"

/* The ids of the events */
#define HYP_EVENT(name, ...)	HYPTRACE_EVENT_##name,
enum {
	HYPTRACE_EVENT_NONE,
#include "../../hyp/events.h"
};

#define NR_PAGES	HYPTRACE_COUNT_PAGES(PAGE_SIZE)
#define KEYS_PER_PAGE	HYPTRACE_COUNT_KEYS_PER_PAGE(PAGE_SIZE)

/* How often a counter is read at most, first at once and then with pauses */
#define READ_TRIES	1000
#define READ_TRIES_FAST	100
#define READ_PAUSE_US	20

static_assert(HYPTRACE_COUNTER_BUCKETS == HYPTRACE_COUNT_BUCKETS);

/* Pages of a CPU's counters */
struct hyptrace_counter_pages {
	/* the first is published, the second the writer's */
	struct page	*pairs[NR_PAGES];
	unsigned int	nr;	/* pairs that the writer has */
};

static int give_pair(struct hyptrace_writer *writer, unsigned int cpu,
		     struct hyptrace_counter_pages *pages)
{
	struct page *pair = hyptrace_writer_alloc_pair(writer);
	int ret;

	if (!pair)
		return -ENOMEM;
	ret = hyptrace_writer_call(writer, HYPTRACE_OP_COUNT_PAGE, cpu, page_to_pfn(pair + 1),
				   page_to_pfn(pair));
	if (!ret)
		pages->pairs[pages->nr++] = pair;
	else if (ret != -ENOTRECOVERABLE)	/* then the writer keeps the second for good */
		hyptrace_writer_free_pair(pair);

	return ret;
}

/* Take the pages of a CPU back. Each call returns a pair, which bounds the number of calls. */
static s64 take_back(struct hyptrace_writer *writer, unsigned int cpu, unsigned int *nr)
{
	unsigned int steps;
	s64 ret;

	for (steps = 0; steps <= NR_PAGES; steps++) {
		ret = hyptrace_writer_call(writer, HYPTRACE_OP_COUNT_FREE, cpu, 0, 0);
		if (ret <= 0)
			break;
		*nr += 1;
	}

	return ret > 0 ? -EPROTO : ret;
}

static void free_pages_of(struct hyptrace_writer *writer, unsigned int cpu,
			  struct hyptrace_counter_pages *pages)
{
	unsigned int nr = 0;
	s64 ret = take_back(writer, cpu, &nr);

	if (ret)
		pr_err("%s: the writer keeps counters of CPU %u: %lld\n", writer->name, cpu, ret);
	else
		nr = pages->nr;
	for (; nr && pages->nr; nr--)
		hyptrace_writer_free_pair(pages->pairs[--pages->nr]);
}

static void free_counters(void *priv)
{
	struct hyptrace_writer *writer = priv;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		free_pages_of(writer, cpu, &writer->counters[cpu]);
	kfree(writer->counters);
	writer->counters = NULL;
}

static int alloc_counters(struct hyptrace_writer *writer)
{
	struct hyptrace_counter_pages *pages;
	unsigned int cpu;
	int ret;

	writer->counters = kcalloc(nr_cpu_ids, sizeof(*writer->counters), GFP_KERNEL);
	if (!writer->counters)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		pages = &writer->counters[cpu];
		while (pages->nr < NR_PAGES) {
			ret = give_pair(writer, cpu, pages);
			if (ret) {
				free_counters(writer);
				return ret;
			}
		}
	}

	return 0;
}

/* -EBUSY: an offline CPU was not seen going. hyptrace_writer_count_online() sets it later. */
static int count_all(struct hyptrace_writer *writer, u64 events)
{
	int ret, first = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		ret = hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_COUNT, events);
		if (ret != -EBUSY || cpu_online(cpu))
			first = first ?: ret;
	}

	return first;
}

static int set_events(u64 events, void *priv)
{
	struct hyptrace_writer *writer = priv;
	bool is_first = !writer->counters;
	int ret;

	if (is_first) {
		ret = alloc_counters(writer);
		if (ret)
			return ret;
	}

	cpus_read_lock();
	ret = count_all(writer, events);
	if (ret)
		count_all(writer, writer->counted);
	else
		writer->counted = events;
	cpus_read_unlock();

	if (ret && is_first)
		free_counters(writer);

	return ret;
}

static int reset(unsigned int cpu, void *priv)
{
	unsigned int part = 0;
	int ret;

	cpus_read_lock();
	do {
		ret = hyptrace_writer_call_on(priv, cpu, HYPTRACE_OP_COUNT_RESET, part);
	} while (ret > 0 && ++part < HYPTRACE_COUNT_KEYS);
	if (ret > 0)
		ret = -EPROTO;
	if (ret == -EBUSY && !cpu_online(cpu))
		ret = -ENXIO;
	cpus_read_unlock();

	return ret;
}

/* Copy a counter. Return false if it changed meanwhile. */
static bool copy_counter(const struct hyptrace_count *from, struct hyptrace_count *to)
{
	unsigned int i;
	/*
	 * (Q) Order seq before the values. Pairs with (Q) in
	 * hyp/count.h:hyptrace_count_end_change().
	 */
	u64 seq = smp_load_acquire(&from->seq);

	if (seq & 1)
		return false;
	to->max = READ_ONCE(from->max);
	to->total = READ_ONCE(from->total);
	to->measured = READ_ONCE(from->measured);
	for (i = 0; i < HYPTRACE_PMU_COUNTERS; i++)
		to->pmu[i] = READ_ONCE(from->pmu[i]);
	for (i = 0; i < HYPTRACE_COUNT_BUCKETS; i++)
		to->nr[i] = READ_ONCE(from->nr[i]);
	for (i = 0; i < HYPTRACE_COUNT_PACKED_BUCKETS; i++)
		to->packed[i] = READ_ONCE(from->packed[i]);
	/*
	 * (Q) Order the values before seq. Pairs with (Q) in
	 * hyp/count.h:hyptrace_count_begin_change().
	 */
	smp_rmb();

	return READ_ONCE(from->seq) == seq;
}

static u64 ticks_to_ns(const struct hyptrace_writer *writer, u64 ticks)
{
	return mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, writer->frequency);
}

static void add_up(const struct hyptrace_writer *writer, const struct hyptrace_count *count,
		   struct hyptrace_event_counter *counter)
{
	u64 total = count->total;
	unsigned int i;

	*counter = (struct hyptrace_event_counter) { .measured = count->measured };
	memcpy(counter->pmu, count->pmu, sizeof(counter->pmu));
	for (i = 0; i < HYPTRACE_COUNT_BUCKETS; i++) {
		counter->buckets[i] = count->nr[i];
		if (i < HYPTRACE_COUNT_PACKED_BUCKETS) {
			counter->buckets[i] += count->packed[i] >> HYPTRACE_COUNT_TICK_BITS;
			total += count->packed[i] & (BIT_ULL(HYPTRACE_COUNT_TICK_BITS) - 1);
		}
		counter->count += counter->buckets[i];
	}
	counter->total = ticks_to_ns(writer, total);
	counter->longest = ticks_to_ns(writer, count->max);
}

static const struct hyptrace_count *find_counter(const struct hyptrace_writer *writer,
						 unsigned int cpu, unsigned int key)
{
	const struct hyptrace_count *page;

	page = page_address(writer->counters[cpu].pairs[key / KEYS_PER_PAGE]);

	return page + key % KEYS_PER_PAGE;
}

/*
 * Read the time outside of the hypervisor since the exits with a reason. If the CPU has entered the
 * hypervisor meanwhile, this includes the time since then, until it leaves.
 */
static void read_outside(const struct hyptrace_writer *writer, const struct hyptrace_count *from,
			 unsigned int reason, struct hyptrace_event_counter *counter)
{
	unsigned int tries = READ_TRIES_FAST;
	u64 outside, now;

	/* After another exit, the counter was read too late. */
	do {
		outside = READ_ONCE(from->outside[reason]);
		now = writer->counter();
	} while (READ_ONCE(from->outside[reason]) != outside && --tries);

	*counter = (struct hyptrace_event_counter) { };
	if (!outside)
		return;
	if ((s64)outside < 0)
		outside += now;
	counter->total = (s64)outside > 0 ? ticks_to_ns(writer, outside) : 0;
	counter->now = ticks_to_ns(writer, now);
}

static int read_counter(unsigned int cpu, unsigned int number,
			struct hyptrace_event_counter *counter, void *priv)
{
	struct hyptrace_writer *writer = priv;
	const struct hyptrace_count *from;
	struct hyptrace_count copy;
	unsigned int tries;
	bool is_stale;

	if (!number)
		hyptrace_writer_pmu_follow(writer, cpu);

	if (number >= HYPTRACE_COUNT_KEY_hyp_exit) {
		from = find_counter(writer, cpu, HYPTRACE_COUNT_KEY_hyp_exit);
		read_outside(writer, from, number - HYPTRACE_COUNT_KEY_hyp_exit, counter);
		return 0;
	}
	from = find_counter(writer, cpu, number);
	is_stale = hyptrace_writer_pmu_is_stale(writer, cpu);
	for (tries = 0; tries < READ_TRIES; tries++) {
		if (copy_counter(from, &copy)) {
			add_up(writer, &copy, counter);
			if (is_stale) {
				memset(counter->pmu, 0, sizeof(counter->pmu));
				counter->measured = 0;
			}
			return 0;
		}
		/* The writer's CPU may be a virtual one that does not run at the moment. */
		if (tries < READ_TRIES_FAST)
			cpu_relax();
		else
			usleep_range(READ_PAUSE_US, 2 * READ_PAUSE_US);
	}

	return -EIO;
}

static u64 frequency(void *priv)
{
	const struct hyptrace_writer *writer = priv;

	return writer->frequency;
}

/* As in hyp/abi_count.h; hyp_exit has a number for each of its times. */
static const struct hyptrace_count_keys keys[] = {
	{ HYPTRACE_EVENT_hyp_enter, "reason", HYPTRACE_COUNT_REASONS, .has_time = true },
	{ HYPTRACE_EVENT_host_hcall, "id", HYPTRACE_COUNT_HCALLS, .has_others = true,
	  .has_time = true },
	{ HYPTRACE_EVENT_guest_exit, "ec", HYPTRACE_COUNT_CLASSES, .has_time = true },
	{ HYPTRACE_EVENT_guest_exit, "code", HYPTRACE_COUNT_CODES, .has_time = true },
	{ HYPTRACE_EVENT_mem_transition, "op", HYPTRACE_COUNT_MEM_OPS },
	{ HYPTRACE_EVENT_lock_wait, "lock", HYPTRACE_COUNT_LOCKS, .has_time = true },
	{ HYPTRACE_EVENT_hyp_exit, "reason", HYPTRACE_COUNT_EXITS, .has_time = true,
	  .is_outside = true },
};

/* With the writer as priv */
const struct hyptrace_counting hyptrace_writer_counting = {
	.keys		= keys,
	.nr_keys	= ARRAY_SIZE(keys),
	.frequency	= frequency,
	.set_events	= set_events,
	.reset		= reset,
	.read		= read_counter,
	.free		= free_counters,
	.set_pmu	= hyptrace_writer_set_pmu,
};
EXPORT_SYMBOL_GPL(hyptrace_writer_counting);

/**
 * hyptrace_writer_count_online() - count on a CPU that is coming online
 * @writer:	the writer
 * Context: a callback of CPU hotplug, on that CPU.
 */
void hyptrace_writer_count_online(struct hyptrace_writer *writer)
{
	unsigned int cpu = smp_processor_id();

	if (writer->counted &&
	    hyptrace_writer_call(writer, HYPTRACE_OP_COUNT, cpu, writer->counted, 0))
		pr_warn("%s: CPU %u is online, but the writer does not count on it\n",
			writer->name, cpu);
}

/**
 * hyptrace_writer_count_offline() - cease to count on a CPU that goes offline, if necessary
 * @writer:	the writer
 * Context: a callback of CPU hotplug, on that CPU.
 */
void hyptrace_writer_count_offline(struct hyptrace_writer *writer)
{
	if (writer->counted && !writer->parks_offline_cpus)
		hyptrace_writer_call(writer, HYPTRACE_OP_COUNT, smp_processor_id(), 0, 0);
}

/**
 * hyptrace_writer_recover_counters() - free the counters that an earlier module left
 * @writer:	answers calls, and has no other user
 * Context: process, sleeps; cpus_read_lock() held.
 * Return: 0, also if there are none; or the errno of the writer. The log has the details.
 */
s64 hyptrace_writer_recover_counters(struct hyptrace_writer *writer)
{
	unsigned int cpu, nr = 0;
	s64 ret = 0;

	/* Ignore errors: pages of a CPU that still counts cannot be freed. */
	count_all(writer, 0);
	for_each_possible_cpu(cpu) {
		hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_PMU, HYPTRACE_PMU_NONE);
		ret = take_back(writer, cpu, &nr);
		if (ret) {
			pr_err("%s: the counters that an earlier module left on CPU %u cannot be freed: %lld\n",
			       writer->name, cpu, ret);
			break;
		}
	}
	if (nr)
		pr_warn("%s: freed the counters that an earlier module left\n", writer->name);

	return ret;
}
