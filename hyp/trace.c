// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording: one function per event, made of the list of events. Called through
 * hyptrace() of hooks.h when the event is enabled.
 */
#include "hooks.h"

#undef HYP_EVENT
#undef HE_PROTO
#undef HE_STRUCT
#undef HE_ASSIGN
#undef he_field

#define HE_PROTO(...)		__VA_ARGS__
#define HE_STRUCT(fields)	fields
#define HE_ASSIGN(...)		__VA_ARGS__
#define he_field(type, name)	type name;

/*
 * The payload has its natural layout, but in the ring only the alignment of a
 * word: the typedef is what tells the compiler.
 */
#define HYP_EVENT(name, proto, fields, assign, printk)			\
	struct hyptrace_entry_##name {					\
		u16 common_type;					\
		fields							\
	};								\
	typedef struct hyptrace_entry_##name				\
		hyptrace_unaligned_##name __aligned(4);			\
	static_assert(sizeof(struct hyptrace_entry_##name) <=		\
		      HYPTRACE_MAX_PAYLOAD);				\
									\
	void __hyptrace_##name(proto)					\
	{								\
		struct hyptrace_ring *ring = hyptrace_this_ring();	\
		hyptrace_unaligned_##name *__entry;			\
									\
		__entry = hyptrace_ring_reserve(ring, hyptrace_clock(),	\
			sizeof(struct hyptrace_entry_##name));		\
		if (!__entry)						\
			return;						\
		__entry->common_type = HYPTRACE_EVENT_##name;		\
		assign							\
		hyptrace_ring_commit(ring);				\
	}

#include "events.h"
