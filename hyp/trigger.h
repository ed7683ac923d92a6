/* SPDX-License-Identifier: GPL-2.0-only */
/* Triggers: see trigger.c. Included by ring.h; hcall.c, trace.c and ring.c call the functions. */
#ifndef __HYPTRACE_TRIGGER_H
#define __HYPTRACE_TRIGGER_H

#include "env.h"
#include "abi.h"

struct hyptrace_ring;

/* Bit per event id: its trigger is armed. */
extern u64 hyptrace_armed;
/* In how many sub-buffers the recording stops; 0 if it has stopped, or no event has stopped it */
extern u32 hyptrace_stop_after;
/* Whether func has HYPTRACE_TRIGGER_FOLLOW */
extern bool hyptrace_func_follows;

/* trigger.c */
int hyptrace_trigger_set(u64 event, u64 what, u64 after);
int hyptrace_trigger_pause(void);
int hyptrace_trigger_arm(u64 arm);
void hyptrace_trigger_publish(struct hyptrace_ring *ring);
void hyptrace_trigger_forget(struct hyptrace_ring *ring);
void __hyptrace_trigger_fire(struct hyptrace_ring *ring, u32 event, u64 time);
void __hyptrace_trigger_count_subbuf(struct hyptrace_ring *ring);

/**
 * hyptrace_trigger_fire() - fire the event's trigger, if it is armed
 * @ring:	this CPU's
 * @event:	its id; the CPU has just recorded it, after its filter accepted it
 * @time:	its time, ns
 * Context: the CPU whose ring it is; takes the lock.
 */
static inline void hyptrace_trigger_fire(struct hyptrace_ring *ring, u32 event, u64 time)
{
	/*
	 * (U) Order hyptrace_events_on and hyptrace_events_barred, which let this CPU record the
	 * event, before hyptrace_armed. Pairs with (U) in hyp/select.c.
	 */
	smp_rmb();
	if (unlikely(READ_ONCE(hyptrace_armed) & BIT_ULL(event)))
		__hyptrace_trigger_fire(ring, event, time);
}

/**
 * hyptrace_trigger_count_subbuf() - stop the recording, if this sub-buffer is the last
 * @ring:	this CPU's, its lock held; the CPU has entered the next sub-buffer
 */
static inline void hyptrace_trigger_count_subbuf(struct hyptrace_ring *ring)
{
	if (unlikely(READ_ONCE(hyptrace_stop_after)))
		__hyptrace_trigger_count_subbuf(ring);
}

#endif /* __HYPTRACE_TRIGGER_H */
