// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting: the pages of the counters, which events each CPU counts, and what does not happen per
 * event. The host is not trusted: it can read the counters that EL2 publishes, and EL2 never
 * reads these. Called by hcall.c, hooks.h and trace.c.
 */
#include "hooks.h"

#define KEYS_PER_PAGE	HYPTRACE_COUNT_KEYS_PER_PAGE(PAGE_SIZE)
#define NR_PAGES	HYPTRACE_COUNT_PAGES(PAGE_SIZE)
#define NR_PARTS	DIV_ROUND_UP(HYPTRACE_COUNT_KEY_hyp_exit, HYPTRACE_COUNT_KEYS_PER_RESET)

/* Serializes the ops of all CPUs, and switching CPUs off and on: see ring.h. */
static hyptrace_lock_t count_lock = HYPTRACE_LOCK_INIT;

/* Set what was measured to 0, while the counters change. */
static void reset_measured(struct hyptrace_private_count *counter)
{
	struct hyptrace_count *published = hyptrace_count_published(counter);
	u32 i;

	counter->measured = 0;
	WRITE_ONCE(published->measured, 0);
	for (i = 0; i < HYPTRACE_PMU_COUNTERS; i++) {
		counter->pmu[i] = 0;
		WRITE_ONCE(published->pmu[i], 0);
	}
}

/* Set what was measured to 0 in all counters. hyp_exit is not measured: its times are there. */
static void reset_all_measured(struct hyptrace_counting *counting)
{
	u32 key;

	for (key = 0; key < HYPTRACE_COUNT_KEY_hyp_exit; key++) {
		hyptrace_count_begin_change(counting->ends[key] - 1);
		reset_measured(counting->ends[key] - 1);
		hyptrace_count_end_change(counting->ends[key] - 1);
	}
}

static void reset_counter(struct hyptrace_private_count *counter)
{
	struct hyptrace_count *published = hyptrace_count_published(counter);
	u32 i;

	hyptrace_count_begin_change(counter);
	hyptrace_count_set_max(counter, 0);
	WRITE_ONCE(published->max, 0);
	counter->total = 0;
	WRITE_ONCE(published->total, 0);
	reset_measured(counter);
	for (i = 0; i < HYPTRACE_COUNT_BUCKETS; i++) {
		counter->nr[i] = 0;
		WRITE_ONCE(published->nr[i], 0);
	}
	for (i = 0; i < HYPTRACE_COUNT_PACKED_BUCKETS; i++) {
		counter->packed[i] = 0;
		WRITE_ONCE(published->packed[i], 0);
	}
	hyptrace_count_end_change(counter);
}

/* Check whether this CPU may change what the CPU of the ring counts. */
static bool may_change(struct hyptrace_ring *ring)
{
	return hyptrace_ring_is_local(ring) || ring->counting.off;
}

static bool has_all_pages(const struct hyptrace_counting *counting)
{
	return counting->nr_pages == NR_PAGES && counting->shared[NR_PAGES - 1];
}

/* Give the counters that are in the last pair of pages to their keys. */
static void use_last_page(struct hyptrace_counting *counting)
{
	u32 last = counting->nr_pages - 1, key = last * KEYS_PER_PAGE, i;
	struct hyptrace_private_count *counter = counting->pages[last];
	struct hyptrace_count *shared = counting->shared[last];

	memset(counter, 0, PAGE_SIZE);
	memset(shared, 0, PAGE_SIZE);
	for (i = 0; i < KEYS_PER_PAGE && key < HYPTRACE_COUNT_KEYS; i++, key++) {
		counter[i].distance = (u8 *)shared[i].packed - (u8 *)counter[i].packed;
		counting->ends[key] = &counter[i + 1];
	}
	if (key == HYPTRACE_COUNT_KEYS)
		memset(counting->outside, 0, sizeof(counting->outside));
}

static int take_pair(struct hyptrace_counting *counting, u64 pfn, u64 shared_pfn)
{
	void *page, *shared;
	int ret;

	ret = hyptrace_take_page(pfn, &page);
	if (ret)
		return ret;
	ret = hyptrace_share_pages(shared_pfn, 1, &shared);
	if (ret) {
		memset(page, 0, PAGE_SIZE);
		return hyptrace_release_page(page) ? -ENOTRECOVERABLE : ret;
	}

	counting->pages[counting->nr_pages] = page;
	counting->shared[counting->nr_pages] = shared;
	counting->nr_pages++;
	use_last_page(counting);

	return 0;
}

/**
 * hyptrace_count_page() - take the next pair of pages for the counters of a CPU
 * @ring:	any CPU's
 * @pfn:	a page of the host, which donates it to EL2
 * @shared_pfn:	a page of the host in which EL2 publishes the counters
 * Return: 0; -EBUSY all are there, or half of the last pair was freed; -EINVAL not a valid page
 * number; -EPERM the host does not own a page alone; or the error of hyptrace_take_page(). For who
 * has the pages then see HYPTRACE_OP_COUNT_PAGE.
 */
int hyptrace_count_page(struct hyptrace_ring *ring, u64 pfn, u64 shared_pfn)
{
	struct hyptrace_counting *counting = &ring->counting;

	hyptrace_guard(&count_lock);
	if (counting->nr_pages == NR_PAGES ||
	    (counting->nr_pages && !counting->shared[counting->nr_pages - 1]))
		return -EBUSY;

	return take_pair(counting, pfn, shared_pfn);
}

/* Give back the last pair. If that fails half way, the next call gives back the other half. */
static int free_pair(struct hyptrace_counting *counting)
{
	u32 last = counting->nr_pages - 1;
	int ret;

	if (counting->shared[last]) {
		memset(counting->shared[last], 0, PAGE_SIZE);
		hyptrace_unshare_pages(counting->shared[last], 1);
		counting->shared[last] = NULL;
	}
	memset(counting->pages[last], 0, PAGE_SIZE);
	ret = hyptrace_release_page(counting->pages[last]);
	if (ret)
		return ret;
	counting->nr_pages = last;

	return last ? 1 : 0;
}

/**
 * hyptrace_count_free() - give back the last pair of pages
 * @ring:	any CPU's
 * Return: 1 there are more; 0 there are none; -EBUSY the CPU counts an event; or the error of
 * hyptrace_release_page().
 */
int hyptrace_count_free(struct hyptrace_ring *ring)
{
	struct hyptrace_counting *counting = &ring->counting;

	hyptrace_guard(&count_lock);
	if (counting->events)
		return -EBUSY;

	return counting->nr_pages ? free_pair(counting) : 0;
}

static u64 *published_outside(struct hyptrace_counting *counting)
{
	return hyptrace_count_published(counting->ends[HYPTRACE_COUNT_KEY_hyp_exit] - 1)->outside;
}

/* The CPU is at EL2 for the host: that is the host's time until the next hyp_enter. */
static void begin_outside(struct hyptrace_counting *counting, u64 now)
{
	if (counting->published)
		return;
	counting->left = HYPTRACE_REASON_ERET_HOST;
	counting->published = published_outside(counting);
	hyptrace_count_add_outside(counting, counting->published, counting->left, -now);
}

static void end_outside(struct hyptrace_counting *counting, u64 now)
{
	if (!counting->published)
		return;
	hyptrace_count_add_outside(counting, counting->published, counting->left,
				   counting->enter.counter ?: now);
	counting->published = NULL;
}

/* Set the times of a CPU to 0, whose counters are there. */
static void reset_outside(struct hyptrace_counting *counting)
{
	u64 *published = published_outside(counting);
	u32 i;

	for (i = 0; i < HYPTRACE_COUNT_EXITS; i++) {
		counting->outside[i] = 0;
		WRITE_ONCE(published[i], 0);
	}
	if (counting->published)
		hyptrace_count_add_outside(counting, published, counting->left,
					   -hyptrace_read_counter_synced());
}

/*
 * Select what this CPU counts. No event that has begun before is counted. hyptrace_count() needs
 * the address of some counters even then.
 */
static void select_counted(struct hyptrace_ring *ring, u64 events)
{
	struct hyptrace_counting *counting = &ring->counting;
	u64 now = hyptrace_read_counter_synced();

	if (events & BIT_ULL(HYPTRACE_EVENT_hyp_enter))
		begin_outside(counting, now);
	else
		end_outside(counting, now);
	counting->enter = (struct hyptrace_count_begun) {
		.end = counting->ends[HYPTRACE_COUNT_KEY_hyp_enter],
	};
	counting->hcall = (struct hyptrace_count_begun) {
		.end = counting->ends[HYPTRACE_COUNT_KEY_host_hcall],
	};
	ring->spans.guest_exit = 0;
	/* hyp_exit ends hyp_enter. */
	if (events & BIT_ULL(HYPTRACE_EVENT_hyp_enter))
		events |= BIT_ULL(HYPTRACE_EVENT_hyp_exit);
	hyptrace_select_counted(ring, events);
}

/**
 * hyptrace_count_set() - select the events that a CPU counts
 * @ring:	this CPU's, or that of a CPU that is off
 * @events:	bit per event id
 * Return: 0; -EINVAL one of them cannot be counted; -ENODATA pages are missing; -EBUSY another
 * CPU, which is not off.
 */
int hyptrace_count_set(struct hyptrace_ring *ring, u64 events)
{
	struct hyptrace_counting *counting = &ring->counting;

	if (events & ~HYPTRACE_COUNTABLE_EVENTS)
		return -EINVAL;

	hyptrace_guard(&count_lock);
	if (!may_change(ring))
		return -EBUSY;
	if (events && !has_all_pages(counting))
		return -ENODATA;
	counting->events = events;
	if (!counting->off)
		select_counted(ring, events);

	return 0;
}

/**
 * hyptrace_count_reset() - set some counters of a CPU to 0
 * @ring:	this CPU's, or that of a CPU that is off or counts no event
 * @part:	which ones, as in HYPTRACE_OP_COUNT_RESET
 * Return: 1 there is a part after this one; 0 there is none; -EINVAL no such part; -ENODATA pages
 * are missing; -EBUSY another CPU, which counts.
 */
int hyptrace_count_reset(struct hyptrace_ring *ring, u64 part)
{
	struct hyptrace_counting *counting = &ring->counting;
	u32 key, end;

	if (part >= NR_PARTS)
		return -EINVAL;
	part = array_index_nospec(part, NR_PARTS);

	hyptrace_guard(&count_lock);
	if (counting->events && !may_change(ring))
		return -EBUSY;
	if (!has_all_pages(counting))
		return -ENODATA;
	key = part * HYPTRACE_COUNT_KEYS_PER_RESET;
	end = key + HYPTRACE_COUNT_KEYS_PER_RESET;
	if (end > HYPTRACE_COUNT_KEY_hyp_exit)
		end = HYPTRACE_COUNT_KEY_hyp_exit;
	if (!key)
		reset_outside(counting);
	for (; key < end; key++)
		reset_counter(counting->ends[key] - 1);

	return end < HYPTRACE_COUNT_KEY_hyp_exit ? 1 : 0;
}

/**
 * hyptrace_count_pmu() - measure the events that a CPU counts with a counter, too, or with none
 * @ring:	this CPU's, or that of a CPU that is off if with none
 * @what:	as in HYPTRACE_OP_PMU
 * Return: as HYPTRACE_OP_PMU; -ENODATA pages are missing, but the CPU measures nothing after
 * HYPTRACE_PMU_RESET; -EBUSY another CPU.
 */
int hyptrace_count_pmu(struct hyptrace_ring *ring, u64 what)
{
	bool is_end = what == HYPTRACE_PMU_NONE || what == HYPTRACE_PMU_RESET;
	struct hyptrace_counting *counting = &ring->counting;
	int ret;

	hyptrace_guard(&count_lock);
	if (!may_change(ring) || (counting->off && !is_end))
		return -EBUSY;
	/* Switching the CPU off has ended it. */
	if (is_end && !counting->off) {
		hyptrace_pmu_clear(ring);
		hyptrace_set_silent(ring, ring->silent);
	}
	if (what == HYPTRACE_PMU_NONE)
		return 0;
	if (!has_all_pages(counting))
		return -ENODATA;
	if (what == HYPTRACE_PMU_RESET) {
		reset_all_measured(counting);
		return 0;
	}
	ret = hyptrace_pmu_set(ring, what);
	if (!ret)
		hyptrace_set_silent(ring, ring->silent);

	return ret;
}

/**
 * hyptrace_count_off() - cease to count before this CPU is switched off
 * @ring:	this CPU's
 *
 * From now on any CPU can change what it counts, and free its counters.
 */
void hyptrace_count_off(struct hyptrace_ring *ring)
{
	hyptrace_guard(&count_lock);
	hyptrace_pmu_clear(ring);
	select_counted(ring, 0);
	ring->counting.off = true;
}

/**
 * hyptrace_count_on() - count again: this CPU was switched on, or did not switch off
 * @ring:	this CPU's
 */
void hyptrace_count_on(struct hyptrace_ring *ring)
{
	hyptrace_guard(&count_lock);
	if (!ring->counting.off)
		return;
	ring->counting.off = false;
	/* as in hyptrace_ring_unpark() */
	WRITE_ONCE(ring->silent, 0);
	select_counted(ring, ring->counting.events);
}
