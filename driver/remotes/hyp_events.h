/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declares the events of hyp/events.h for a remote. The hash of hyp_event_list shows
 * whether a writer was built with the same list. A module includes this once.
 */
#ifndef __HYPTRACE_HYP_EVENTS_H
#define __HYPTRACE_HYP_EVENTS_H

#include "../../hyp/abi.h"
#include "../core/remote_event.h"

#define HE_PROTO(...)
#define HE_STRUCT(fields)	RE_STRUCT(fields)
#define he_field(type, name)	re_field(type, name)
#define HE_ASSIGN(...)
#define HE_PRINTK(...)		RE_PRINTK(__VA_ARGS__)

#define HYP_EVENT(name, proto, fields, assign, printk)	HYPTRACE_EVENT_##name,
enum {
	HYPTRACE_EVENT_NONE,
#include "../../hyp/events.h"
};

#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	REMOTE_EVENT(name, HYPTRACE_EVENT_##name, fields, printk);
#include "../../hyp/events.h"

#undef HYP_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	hyptrace_event_##name,
static const hyptrace_event_fn hyp_events[] = {
#include "../../hyp/events.h"
};

#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	#name " " #fields "\n"
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk) \
	#name " " #fields "\n"
#define HYP_SPAN_EVENT(name, proto, fields, assign, printk) \
	#name " " #fields "\n"
static const char hyp_event_list[] =
#include "../../hyp/events.h"
	;
#undef HYP_EVENT

#endif /* __HYPTRACE_HYP_EVENTS_H */
