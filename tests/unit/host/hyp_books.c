// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each page that EL2 owns or pins belongs to one ring, and is in one place of it. What each CPU
 * records and counts follows from what was selected, and the counts of its ring from its slots.
 */
#include "count_pages.h"
#include "filter_terms.h"
#include "hyp_books.h"

static bool *claimed;
static u32 nr_pinned, nr_owned;

/* No other place may have the page. */
static void claim(const void *page, enum env_owner owner)
{
	u32 index;

	assert_true(env_find(page, &index));
	assert_false(claimed[index]);
	assert_int_equal(env_owner(index), owner);
	claimed[index] = true;
	if (owner == ENV_HYP)
		nr_owned++;
	else
		nr_pinned++;
}

static void claim_pages(struct hyptrace_ring *ring)
{
	u32 i;

	for (i = 0; i < ring->nr_dirs; i++)
		claim(ring->dir[i], ENV_HYP);
	for (i = 0; i < ring->nr_tables; i++)
		claim(hyptrace_slot_at(ring, i * HYPTRACE_SLOTS_PER_TABLE), ENV_HYP);
	for (i = 0; i < ring->nr_loaded; i++)
		claim(hyptrace_slot_at(ring, i)->page, ENV_PINNED);
	if (ring->meta)
		claim(ring->meta, ENV_PINNED);
}

/* Counters of a key must be inside pages that EL2 owns, while the CPU counts. */
static void check_counting(const struct hyptrace_ring *ring)
{
	const struct hyptrace_counting *counting = &ring->counting;
	u32 i, key;

	assert_true(counting->nr_pages <= COUNT_PAIRS);
	for (i = 0; i < counting->nr_pages; i++) {
		assert_true(counting->shared[i] || i == counting->nr_pages - 1);
		claim(counting->pages[i], ENV_HYP);
		if (counting->shared[i])
			claim(counting->shared[i], ENV_PINNED);
	}
	assert_int_equal(counting->events & ~HYPTRACE_COUNTABLE_EVENTS, 0);
	assert_true(!counting->events ||
		    (counting->nr_pages == COUNT_PAIRS && counting->shared[COUNT_PAIRS - 1]));
	assert_int_equal(counting->selected & ~BIT_ULL(HYPTRACE_EVENT_hyp_exit),
			 counting->off ? 0 : counting->events);
	for (key = 0; counting->events && key < HYPTRACE_COUNT_KEYS; key++) {
		u32 page = key / HYPTRACE_COUNT_KEYS_PER_PAGE(PAGE_SIZE);
		u32 number = key % HYPTRACE_COUNT_KEYS_PER_PAGE(PAGE_SIZE);

		assert_ptr_equal(counting->ends[key], counting->pages[page] + number + 1);
		assert_ptr_equal(hyptrace_count_published(counting->ends[key] - 1),
				 counting->shared[page] + number);
	}
}

/* Check a jump of a filter: forward to a term, which is reached then, or the end. */
static void check_jump(u32 from, u8 distance, bool reached[HYPTRACE_FILTER_MAX_TERMS])
{
	if (distance >= HYPTRACE_FILTER_RECORD)
		return;
	assert_true(distance && from + distance < HYPTRACE_FILTER_MAX_TERMS);
	reached[from + distance] = true;
}

/* All filters must load from inside the payload only, and must end. */
static void check_filters(const struct hyptrace_ring *ring)
{
	const struct hyptrace_filter_range *term;
	u32 id, i;

	assert_true(ring->state >= HYPTRACE_RING_DETACHED ||
		    !(ring->has_filter | ring->draft.nr_given));
	assert_int_equal(ring->has_filter & ~HYPTRACE_ALL_EVENTS, 0);
	for (id = 1; id < HYPTRACE_NR_EVENTS; id++) {
		bool reached[HYPTRACE_FILTER_MAX_TERMS] = { ring->has_filter & BIT_ULL(id) };

		for (i = 0, term = ring->filters[id].terms; i < ENV_NR(reached); i++, term++) {
			if (!reached[i])
				continue;
			assert_true(term->start + sizeof(u64) <= filter_payload_size(id));
			check_jump(i, term->inside, reached);
			check_jump(i, term->outside, reached);
		}
	}
}

static void check_masks(const struct hyptrace_ring *ring)
{
	const struct hyptrace_counting *counting = &ring->counting;
	u64 audible = hyptrace_audible(ring->silent);
	u64 selected = ring->selected & audible, counted = counting->selected & audible;
	u64 measured = counted & counting->pmu.measured;

	assert_true(ring->state == HYPTRACE_RING_ATTACHED || !ring->selected);
	assert_int_equal(ring->aside, (selected & (ring->has_filter | counted)) | measured);
	assert_int_equal(ring->enabled, selected & ~ring->aside);
	assert_int_equal(ring->to_count, counted & ~selected & ~measured);
}

/* The host, which can write to commit of a sub-buffer, must have no say in it. */
static void check_size(u64 bytes)
{
	assert_true(bytes <= HYPTRACE_SUBBUF_DATA_SIZE);
	assert_int_equal(bytes % sizeof(u32), 0);
}

/* A ring that a CPU has, or had, attached: what it counts is what its slots say. */
static void check_slots(struct hyptrace_ring *ring)
{
	u32 nr = ring->nr_pages - 1, at, id, i;
	u64 unread = 0, events = 0;
	u8 ids[64] = { };

	assert_true(ring->head < nr && ring->tail < nr);
	for (at = ring->head; at != ring->tail; at = hyptrace_next_position(ring, at)) {
		check_size(hyptrace_slot_at(ring, at)->commit);
		unread += hyptrace_slot_at(ring, at)->commit;
		events += hyptrace_slot_at(ring, at)->entries;
	}
	assert_int_equal(ring->unread, unread);
	check_size(ring->reader_commit);
	events += ring->recorded - ring->page_first + ring->overrun;
	if (!ring->writer_in_reader_page)
		events += ring->reader_entries;
	assert_true(events <= ring->recorded || ring->moves_pending);
	assert_true(ring->pending <= ring->dropped);
	at = ring->writer_in_reader_page ? ring->nr_pages - 1 : ring->tail;
	assert_ptr_equal(ring->page, hyptrace_slot_at(ring, at)->page);
	assert_ptr_equal(ring->commit, &ring->page->commit);
	assert_true(ring->pos >= ring->page->data && ring->pos <= ring->end &&
		    ring->end <= ring->page->data + HYPTRACE_SUBBUF_DATA_SIZE);
	/* The slots of a small ring have all its ids. */
	for (i = 0; i < ring->nr_pages && ring->nr_pages <= ENV_NR(ids); i++) {
		id = hyptrace_slot_at(ring, i)->id;
		assert_true(id < ring->nr_pages && !ids[id]);
		ids[id] = 1;
	}
}

static void check_ring(struct hyptrace_ring *ring, bool is_spare)
{
	claim_pages(ring);
	check_counting(ring);
	check_filters(ring);
	check_masks(ring);
	assert_int_equal(ring->lock, 0);
	assert_true(ring->state != HYPTRACE_RING_EMPTY ||
		    !(ring->nr_dirs + ring->nr_tables + ring->nr_loaded));
	assert_true(ring->state < HYPTRACE_RING_DETACHED || ring->meta);
	assert_true(ring->nr_loaded <= ring->nr_pages || ring->state == HYPTRACE_RING_EMPTY);
	if (!is_spare && ring->state >= HYPTRACE_RING_DETACHED)
		check_slots(ring);
}

/* No event is on that no CPU records or counts, and some bit is on while one records any. */
static void check_events_on(void)
{
	u64 selected = 0, counted = 0, on;	/* @counted: or measured */
	u32 i;

	for (i = 0; i < ENV_CPUS; i++) {
		selected |= env_rings[i].selected;
		counted |= env_rings[i].counting.selected;
		if (env_rings[i].counting.pmu.measured)
			counted |= BIT_ULL(HYPTRACE_EVENT_guest_enter);
	}
	on = (selected & ~hyptrace_events_barred) | counted;
	if (selected && (!on || selected & ~on & BIT_ULL(HYPTRACE_EVENT_func)))
		on |= BIT_ULL(HYPTRACE_EVENT_NONE);
	assert_int_equal(hyptrace_events_on, on);
}

void books_check(u32 nr_kept)
{
	u32 i;

	nr_pinned = 0;
	nr_owned = 0;
	claimed = calloc(env_nr_pages(), sizeof(*claimed));
	assert_non_null(claimed);
	for (i = 0; i < ENV_CPUS; i++) {
		check_ring(&env_rings[i], false);
		check_ring(&env_spare_rings[i], true);
	}
	free(claimed);
	check_events_on();
	assert_int_equal(env_count(ENV_PINNED), nr_pinned);
	assert_int_equal(env_count(ENV_HYP), nr_owned + nr_kept);
	assert_int_equal(env_violations, 0);
}
