/* SPDX-License-Identifier: GPL-2.0-only */
/* What events.h declares at EL2: ids, payloads and functions that record. Included by ring.h. */
#ifndef __HYPTRACE_ENTRY_H
#define __HYPTRACE_ENTRY_H

#include "env.h"
#include "exit.h"

/* Mainline's hypervisor tracing uses the same names, and may be built in, too. */
#pragma push_macro("HYP_EVENT")
#pragma push_macro("HYP_TIMED_EVENT")
#pragma push_macro("HYP_SPAN_EVENT")
#pragma push_macro("HE_PROTO")
#pragma push_macro("HE_STRUCT")
#pragma push_macro("he_field")
#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#undef HE_PROTO
#undef HE_STRUCT
#undef he_field

#define HE_PROTO(...)		__VA_ARGS__
#define HE_STRUCT(fields)	fields
#define he_field(type, name)	type name;

#define HYP_EVENT(name, ...)		HYPTRACE_EVENT_##name,
#define HYP_TIMED_EVENT(name, ...)	HYPTRACE_EVENT_##name,
#define HYP_SPAN_EVENT(name, ...)	HYPTRACE_EVENT_##name,
enum hyptrace_event_id {
	HYPTRACE_EVENT_NONE,
#include "events.h"
	HYPTRACE_NR_EVENTS
};

static_assert(HYPTRACE_NR_EVENTS <= 64, "one bit per event in a u64");

#define HYPTRACE_ALL_EVENTS (GENMASK_ULL(HYPTRACE_NR_EVENTS - 1, 1))

/* The slow path has a payload in struct hyptrace_ring. */
#define HYPTRACE_MAX_ENTRY_BYTES	256

/* A payload has its natural layout, but a record is only aligned to 4 bytes: so is the typedef. */
#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)			\
	struct hyptrace_entry_##name {					\
		u16 common_type;					\
		fields							\
	};								\
	typedef struct hyptrace_entry_##name				\
		hyptrace_unaligned_##name __aligned(4);			\
	static_assert(sizeof(struct hyptrace_entry_##name) <= HYPTRACE_MAX_ENTRY_BYTES); \
	/* filter.h loads 8 bytes from anywhere inside it */		\
	static_assert(sizeof(struct hyptrace_entry_##name) >= sizeof(u64)); \
	/* no padding follows the payload: it would show older bytes to the host */ \
	static_assert(sizeof(struct hyptrace_entry_##name) % sizeof(u32) == 0); \
									\
	void __hyptrace_##name(proto);
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk)	\
	HYP_EVENT(name, HE_PROTO(proto), fields, , )			\
	void __hyptrace_begin_##name(begin);
#define HYP_SPAN_EVENT(name, proto, fields, assign, printk)		\
	HYP_EVENT(name, HE_PROTO(struct hyptrace_ring *ring, proto), fields, , )
#include "events.h"

/*
 * The timed events that a CPU has begun: each the counter then, or 0, and the saved fields.
 * psci_left: psci_call is recorded already, since the call may not return.
 */
#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define HYP_EVENT(name, ...)
#define HYP_TIMED_EVENT(name, ...)					\
	struct {							\
		u64 counter;						\
		struct hyptrace_entry_##name entry;			\
	} name;
#define HYP_SPAN_EVENT(name, ...)
struct hyptrace_begun {
#include "events.h"
	bool psci_left;
};

/* The same for timed events that save nothing */
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define HYP_TIMED_EVENT(name, ...)
#define HYP_SPAN_EVENT(name, ...)	u64 name;
struct hyptrace_spans {
#include "events.h"
};

#pragma pop_macro("he_field")
#pragma pop_macro("HE_STRUCT")
#pragma pop_macro("HE_PROTO")
#pragma pop_macro("HYP_SPAN_EVENT")
#pragma pop_macro("HYP_TIMED_EVENT")
#pragma pop_macro("HYP_EVENT")

#endif /* __HYPTRACE_ENTRY_H */
