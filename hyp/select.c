// SPDX-License-Identifier: GPL-2.0-only
/* Which events each CPU records and counts. For ring.c and count.c; hooks.h and trace.c read it. */
#include "hooks.h"

u64 hyptrace_events_on;
u64 hyptrace_events_barred;

/*
 * How many CPUs record or count each event, or need its hook; bit per event id: the events with
 * such CPUs. users_lock protects all of this, hyptrace_events_on and hyptrace_events_barred.
 */
struct users {
	u32 nr[HYPTRACE_NR_EVENTS];
	u64 used;
};

static struct users recorders;
static struct users counters;
static hyptrace_lock_t users_lock = HYPTRACE_LOCK_INIT;

static void update_events_on(void)
{
	u64 on = (recorders.used & ~hyptrace_events_barred) | counters.used;

	/*
	 * While none is allowed, a return to the host must end the silence of __hyptrace(), and
	 * while func is not, forget what functions have done.
	 */
	if (recorders.used && (!on || recorders.used & ~on & BIT_ULL(HYPTRACE_EVENT_func)))
		on |= BIT_ULL(HYPTRACE_EVENT_NONE);
	/*
	 * (U) Order hyptrace_armed before the events that it lets CPUs record. Pairs with (U) in
	 * hyp/trigger.h:hyptrace_trigger_fire().
	 */
	smp_store_release(&hyptrace_events_on, on);
}

/* This CPU uses other events than before: those that have changed, unless in @events, no more. */
static void change_users(struct users *users, u64 changed, u64 events)
{
	u32 id;

	hyptrace_guard(&users_lock);
	for (id = 1; id < HYPTRACE_NR_EVENTS; id++) {
		if (!(changed & BIT_ULL(id)))
			continue;
		users->nr[id] += events & BIT_ULL(id) ? 1 : -1;
		if (users->nr[id])
			users->used |= BIT_ULL(id);
		else
			users->used &= ~BIT_ULL(id);
	}
	update_events_on();
}

/**
 * hyptrace_allow_events() - allow all CPUs to record these events, and no others
 * @events:	bit per event id
 *
 * No hook needs more instructions for this. What may still be recorded: see HYPTRACE_OP_PAUSE.
 */
void hyptrace_allow_events(u64 events)
{
	hyptrace_guard(&users_lock);
	/* (U) as in update_events_on(): events that are counted let CPUs record only by this */
	smp_store_release(&hyptrace_events_barred, ~events);
	update_events_on();
}

/**
 * hyptrace_select_events() - select the events that a CPU records
 * @ring:	the CPU's
 * @events:	bit per event id
 *
 * A hook first tests hyptrace_events_on, one word for all CPUs: that takes fewer
 * instructions than to find the CPU's ring. The event's function then tests @ring->enabled.
 *
 * Context: the ring's lock held; this CPU's ring, or one that is not attached, with
 * @events 0.
 */
void hyptrace_select_events(struct hyptrace_ring *ring, u64 events)
{
	u64 changed = ring->selected ^ events;

	if (!changed)
		return;

	if (changed & events & BIT_ULL(HYPTRACE_EVENT_func))
		hyptrace_functions_forget(ring);
	ring->selected = events;
	hyptrace_set_silent(ring, ring->silent);
	change_users(&recorders, changed, events);
}

/**
 * hyptrace_select_measured() - a CPU begins to measure what the PMU counts, or ends
 * @begins:	whether it begins
 *
 * The hook of guest_enter, which nobody counts, begins to measure guest_exit.
 */
void hyptrace_select_measured(bool begins)
{
	const u64 event = BIT_ULL(HYPTRACE_EVENT_guest_enter);

	change_users(&counters, event, begins ? event : 0);
}

/**
 * hyptrace_select_counted() - select the events that this CPU counts
 * @ring:	this CPU's
 * @events:	bit per event id
 */
void hyptrace_select_counted(struct hyptrace_ring *ring, u64 events)
{
	u64 changed = ring->counting.selected ^ events;

	ring->counting.selected = events;
	hyptrace_set_silent(ring, ring->silent);
	change_users(&counters, changed, events);
}
