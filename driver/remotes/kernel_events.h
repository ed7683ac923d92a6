/* SPDX-License-Identifier: GPL-2.0-only */
/* Declares the events of mainline's tracer, from the kernel's own list, once per module. */
#ifndef __HYPTRACE_KERNEL_EVENTS_H
#define __HYPTRACE_KERNEL_EVENTS_H

#include <linux/string.h>

#include "../core/remote_event.h"

/* A print format of the kernel calls this function of the kernel. Name the values instead. */
#define __hyp_enter_exit_reason_str(reason)				\
	__print_symbolic(reason,					\
			 { 0, "smc" }, { 1, "hvc" }, { 2, "sys" },	\
			 { 3, "psci" }, { 4, "host_abort" },		\
			 { 5, "guest_exit" }, { 6, "eret_host" },	\
			 { 7, "eret_guest" }, { 8, "unknown" })

#define HYP_EVENT_MULTI_READ
#define HE_PROTO(...)
#define HE_STRUCT(fields)	RE_STRUCT(fields)
#define he_field(type, name)	re_field(type, name)
#define HE_ASSIGN(...)
#define HE_PRINTK(...)		RE_PRINTK(__VA_ARGS__)

enum { KERNEL_EVENT_FIRST = __COUNTER__ + 1 };
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	enum { KERNEL_EVENT_##name = __COUNTER__ - KERNEL_EVENT_FIRST }
#include <asm/kvm_hypevents.h>
enum { KERNEL_NR_EVENTS = __COUNTER__ - KERNEL_EVENT_FIRST };

#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	REMOTE_EVENT(name, KERNEL_EVENT_##name, fields, printk)
#include <asm/kvm_hypevents.h>

static hyptrace_event_fn events[KERNEL_NR_EVENTS];

/* EL2 numbers the events by their names, from 0. Return false if the list has another order. */
static bool __init list_events(void)
{
	unsigned int i;

#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	events[KERNEL_EVENT_##name] = hyptrace_event_##name
#include <asm/kvm_hypevents.h>

	for (i = 1; i < KERNEL_NR_EVENTS; i++) {
		if (strcmp(events[i - 1]()->name, events[i]()->name) >= 0)
			return false;
	}

	return true;
}

#endif /* __HYPTRACE_KERNEL_EVENTS_H */
