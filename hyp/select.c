// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events each CPU records. Called by ring.c; hooks.h and trace.c read the result.
 */
#include "hooks.h"

u64 hyptrace_events_on;

/* How many CPUs record each event. users_lock protects it and hyptrace_events_on. */
static u32 nr_users[HYPTRACE_NR_EVENTS];
static hyptrace_lock_t users_lock = HYPTRACE_LOCK_INIT;

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
	u64 on;
	u32 id;

	if (!changed)
		return;

	ring->selected = events;
	hyptrace_set_silent(ring, ring->silent);

	hyptrace_lock(&users_lock);
	on = hyptrace_events_on;
	for (id = 1; id < HYPTRACE_NR_EVENTS; id++) {
		if (!(changed & BIT_ULL(id)))
			continue;
		nr_users[id] += events & BIT_ULL(id) ? 1 : -1;
		if (nr_users[id])
			on |= BIT_ULL(id);
		else
			on &= ~BIT_ULL(id);
	}
	WRITE_ONCE(hyptrace_events_on, on);
	hyptrace_unlock(&users_lock);
}
