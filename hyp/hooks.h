/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hooks for EL2 code that is traced: hyptrace(event, arguments...), the hypercall,
 * and the hooks for a CPU that is switched off and on. The hooks are empty where hyptrace
 * is not configured.
 */
#ifndef __HYPTRACE_HOOKS_H
#define __HYPTRACE_HOOKS_H

#if defined(CONFIG_HYPTRACE_EL2) || !defined(__KVM_NVHE_HYPERVISOR__)

#include "ring.h"

/* Mainline's hypervisor tracing uses the same names, and may be built in, too. */
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

/* select.c: bit per event id; 0 if the event is enabled on no CPU */
extern u64 hyptrace_events_on;

/**
 * hyptrace() - record an event, if it is enabled on this CPU
 * @event:	its name in events.h
 * @...:	its arguments
 *
 * Context: EL2, or the test remote with interrupts off: nothing may interrupt it.
 */
#define hyptrace(event, ...)						\
	do {								\
		if (unlikely(READ_ONCE(hyptrace_events_on) &		\
			     BIT_ULL(HYPTRACE_EVENT_##event)))		\
			__hyptrace_##event(__VA_ARGS__);		\
	} while (0)

/**
 * hyptrace_host_call() - record that the host has made a hypercall
 * @own:	whether it is __hyptrace(), which is not recorded
 *
 * Context: EL2, right after the exception entry.
 */
#define hyptrace_host_call(own)						\
	do {								\
		if (!(own))						\
			hyptrace(hyp_enter, HYPTRACE_REASON_HVC);	\
	} while (0)

/**
 * hyptrace_silence_own_call() - silence the CPU while it serves __hyptrace()
 *
 * hyptrace_host_exit() ends the silence, unless no CPU records any event. Then it lasts
 * until the first return to the host after some CPU has begun to record.
 */
static inline void hyptrace_silence_own_call(void)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	hyptrace_set_silent(ring, ring->silent | HYPTRACE_SILENT_CALL);
}

/**
 * hyptrace_host_exit() - record that the CPU returns to the host
 */
static __always_inline void hyptrace_host_exit(void)
{
	/* Needed even if hyp_exit is off: it ends the silence of hyptrace_silence_own_call(). */
	if (unlikely(READ_ONCE(hyptrace_events_on)))
		__hyptrace_hyp_exit(HYPTRACE_REASON_ERET_HOST);
}

/**
 * hyptrace_smc_exit() - record that EL2 calls the firmware
 *
 * Not while the CPU is silent: is_enabled() would take this exit for the end of
 * __hyptrace().
 */
static inline void hyptrace_smc_exit(void)
{
	if (unlikely(READ_ONCE(hyptrace_events_on)) && !hyptrace_this_ring()->silent)
		__hyptrace_hyp_exit(HYPTRACE_REASON_SMC);
}

/**
 * hyptrace_smc_enter() - record that the firmware has returned to EL2
 */
static inline void hyptrace_smc_enter(void)
{
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
}

/**
 * hyptrace_set_vcpu() - note which vCPU this CPU runs
 * @pid:	thread of the vCPU that it is about to run; 0: it runs none any more
 */
static inline void hyptrace_set_vcpu(pid_t pid)
{
	hyptrace_this_ring()->vcpu = pid;
}

/**
 * hyptrace_guest_begin() - begin a guest's run on this CPU, before its first entry
 * @protected:	whether the guest is protected
 *
 * Exits of a protected guest that EL2 handles itself must stay hidden from the host:
 * record only the outermost entry and exit.
 */
static inline void hyptrace_guest_begin(bool protected)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	if (protected) {
		hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
		hyptrace_set_silent(ring, ring->silent | HYPTRACE_SILENT_GUEST);
	}
}

/**
 * hyptrace_guest_end() - end a guest's run on this CPU, after its last exit
 * @protected:	as for hyptrace_guest_begin()
 */
static inline void hyptrace_guest_end(bool protected)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	if (protected) {
		hyptrace_set_silent(ring, ring->silent & ~HYPTRACE_SILENT_GUEST);
		hyptrace(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
	}
}

/**
 * hyptrace_cpu_off() - park the ring of this CPU, which is about to be switched off
 *
 * From now on the CPU records nothing, and any CPU can detach its ring.
 */
static inline void hyptrace_cpu_off(void)
{
	hyptrace_ring_park(hyptrace_this_ring());
}

/**
 * hyptrace_cpu_on() - attach the CPU again: it was switched on, or did not switch off
 *
 * The CPU records as before, unless its ring was detached meanwhile.
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

#define hyptrace_host_call(own)		do { } while (0)
static inline void hyptrace_silence_own_call(void) { }
static inline void hyptrace_host_exit(void) { }
static inline void hyptrace_smc_exit(void) { }
static inline void hyptrace_smc_enter(void) { }
static inline void hyptrace_set_vcpu(pid_t pid) { }
static inline void hyptrace_guest_begin(bool protected) { }
static inline void hyptrace_guest_end(bool protected) { }
static inline void hyptrace_cpu_off(void) { }
static inline void hyptrace_cpu_on(void) { }

#endif

#endif /* __HYPTRACE_HOOKS_H */
