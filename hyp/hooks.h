/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the code at EL2 includes to be traced: hyptrace(event, arguments...),
 * the hypercall, and the hooks for a CPU that goes off and comes back. Empty
 * where hyptrace is not configured.
 */
#ifndef __HYPTRACE_HOOKS_H
#define __HYPTRACE_HOOKS_H

#if defined(CONFIG_HYPTRACE_EL2) || !defined(__KVM_NVHE_HYPERVISOR__)

#include "ring.h"

/* Mainline's hypervisor tracing, where it is built too, has the same names. */
#pragma push_macro("HYP_EVENT")
#pragma push_macro("HE_PROTO")
#undef HYP_EVENT
#undef HE_PROTO

#define HE_PROTO(...)	__VA_ARGS__

#define HYP_EVENT(name, proto, fields, assign, printk)	HYPTRACE_EVENT_##name,
enum hyptrace_event_id {
	HYPTRACE_EVENT_NONE,
#include "events.h"
	HYPTRACE_NR_EVENTS
};

static_assert(HYPTRACE_NR_EVENTS <= 64, "one bit per event in a u64");

#define HYPTRACE_ALL_EVENTS (GENMASK_ULL(HYPTRACE_NR_EVENTS - 1, 1))

#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	void __hyptrace_##name(proto);
#include "events.h"

#pragma pop_macro("HE_PROTO")
#pragma pop_macro("HYP_EVENT")

/* trace.c: bit per event id; 0 where no CPU has the event enabled */
extern u64 hyptrace_events_on;

/**
 * hyptrace() - record an event, if it is enabled on this CPU
 * @event:	its name in events.h
 * @...:	its arguments
 *
 * Context: EL2, or what stands for it: nothing interrupts.
 */
#define hyptrace(event, ...)						\
	do {								\
		if (unlikely(READ_ONCE(hyptrace_events_on) &		\
			     BIT_ULL(HYPTRACE_EVENT_##event)))		\
			__hyptrace_##event(__VA_ARGS__);		\
	} while (0)

/**
 * hyptrace_cpu_off() - this CPU is about to be switched off
 *
 * What follows on it is not recorded, and its ring can be taken from it.
 */
static inline void hyptrace_cpu_off(void)
{
	hyptrace_ring_park(hyptrace_this_ring());
}

/**
 * hyptrace_cpu_on() - this CPU was switched on, or could not be switched off
 *
 * It goes on where it left off, unless its ring was taken from it.
 */
static inline void hyptrace_cpu_on(void)
{
	hyptrace_ring_unpark(hyptrace_this_ring());
}

#else

#include <linux/errno.h>
#include <linux/types.h>

#define hyptrace(event, ...)		do { } while (0)

static inline s64 hyptrace_hcall(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	return -EOPNOTSUPP;
}

static inline void hyptrace_cpu_off(void) { }
static inline void hyptrace_cpu_on(void) { }

#endif

#endif /* __HYPTRACE_HOOKS_H */
