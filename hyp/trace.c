// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording: functions for each event, generated from the list of events. The macros of
 * hooks.h call them if the event is enabled on any CPU.
 */
#include "hooks.h"

#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HE_PROTO
#undef HE_STRUCT
#undef HE_SAVE
#undef HE_ASSIGN
#undef he_field

#define HE_PROTO(...)		__VA_ARGS__
#define HE_STRUCT(fields)	fields
#define HE_SAVE(...)		__VA_ARGS__
#define HE_ASSIGN(...)		__VA_ARGS__

/* The slow path: the CPU's copy of the clock is invalid, or the event does not fit. */
static noinline void record_slowly(struct hyptrace_ring *ring,
				   const void *payload, u32 size)
{
	u64 now = hyptrace_clock_read(&ring->clock);
	void *to = hyptrace_ring_reserve(ring, &now, size);

	if (to) {
		memcpy(to, payload, size);
		hyptrace_ring_commit(ring, to, now, size);
	}
}

/* The payload is not in the ring so far. @filter: of the event, if it has one */
static noinline void record_aside(struct hyptrace_ring *ring, const void *payload, u32 size,
				  const struct hyptrace_ring_filter *filter)
{
	if (filter && !hyptrace_filter_accepts(filter, payload))
		WRITE_ONCE(ring->filtered, ring->filtered + 1);
	else
		record_slowly(ring, payload, size);
}

/*
 * hyp_enter follows an exception entry, or the return from the firmware. Both synchronise
 * the CPU, so it cannot read the counter too early.
 */
static __always_inline u64 read_counter(u32 event)
{
	return event == HYPTRACE_EVENT_hyp_enter ? hyptrace_read_counter_synced() :
						   hyptrace_read_counter();
}

/* Check whether the CPU records the event without looking at a filter. */
static __always_inline bool is_enabled(struct hyptrace_ring *ring, u32 event)
{
	return likely(READ_ONCE(ring->enabled) & BIT_ULL(event));
}

/* Check whether the CPU records the event if its filter accepts it. */
static __always_inline bool must_filter(struct hyptrace_ring *ring, u32 event)
{
	return ring->to_filter & BIT_ULL(event);
}

/*
 * The CPU does not record the event. If it is silent because it serves __hyptrace(), a
 * hyp_exit is the return to the host and ends the silence. hyptrace_smc_exit() records nothing
 * then.
 */
static __always_inline void skip_event(struct hyptrace_ring *ring, u32 event)
{
	if (event == HYPTRACE_EVENT_hyp_exit && ring->silent)
		hyptrace_set_silent(ring, ring->silent & ~HYPTRACE_SILENT_CALL);
}

/*
 * Write the id, and 0 to all bytes that no field covers. @covered: bytes that the fields
 * cover beyond the first word.
 */
static __always_inline void begin_payload(void *payload, u16 id, u32 size, u32 covered)
{
	u16 *word = payload;

	word[0] = id;
	if (size > sizeof(u16))
		word[1] = 0;
	if (size > sizeof(u32) + covered)
		memset(word + 2, 0, size - sizeof(u32));
}

/* Convert a difference of counters to ns. It is wide: a guest may run for a long time. */
static __always_inline u64 cycles_to_ns(struct hyptrace_ring *ring, u64 cycles)
{
	return (__uint128_t)cycles * ring->clock.mult >> HYPTRACE_CLOCK_SHIFT;
}

/*
 * Record an event. @begun: the counter when it began, if it is a timed event, else 0. @...: the
 * code that writes the payload *__entry; it may use duration, in ns since then.
 *
 * The fast path writes the payload to the ring. The slow path builds it on the stack
 * before it calls a function, so that no argument must survive the call: thus the fast
 * path needs no stack frame. No byte of the stack or of an older record may reach the
 * host.
 */
#define RECORD(name, ring, begun, ...)					\
	do {									\
		const u32 size = sizeof(struct hyptrace_entry_##name);		\
		const struct hyptrace_ring_filter *filter = NULL;		\
		u64 counter, now, delta, duration = 0;				\
		bool quick;							\
										\
		(void)duration;	/* only timed events use it */			\
		if (is_enabled(ring, HYPTRACE_EVENT_##name)) {			\
			counter = read_counter(HYPTRACE_EVENT_##name);		\
			duration = cycles_to_ns(ring, counter - (begun));	\
			quick = hyptrace_clock_read_copy(&(ring)->clock, counter, &now); \
			delta = now - (ring)->last_time;			\
			if (likely(hyptrace_ring_fits(ring, delta, size) & quick)) { \
				hyptrace_unaligned_##name *__entry;		\
										\
				__entry = hyptrace_ring_put(ring, delta, size);	\
				__VA_ARGS__					\
				hyptrace_ring_commit(ring, __entry, now, size);	\
				break;						\
			}							\
		} else if (must_filter(ring, HYPTRACE_EVENT_##name)) {		\
			if (begun) {						\
				counter = read_counter(HYPTRACE_EVENT_##name);	\
				duration = cycles_to_ns(ring, counter - (begun)); \
			}							\
			filter = &(ring)->filters[HYPTRACE_EVENT_##name];	\
		} else {							\
			skip_event(ring, HYPTRACE_EVENT_##name);		\
			break;							\
		}								\
		{								\
			struct hyptrace_entry_##name aside, *__entry = &aside;	\
										\
			__VA_ARGS__						\
			record_aside(ring, __entry, size, filter);		\
		}								\
	} while (0)

/* Expand a field to the number of bytes that it covers beyond the first word. */
#define he_field(type, name)						\
	+ (offsetof(typeof(*__entry), name) < sizeof(u32) ? 0 : sizeof(__entry->name))

#define HYP_EVENT(name, proto, fields, assign, printk)			\
	void __hyptrace_##name(proto)					\
	{								\
		struct hyptrace_ring *ring = hyptrace_this_ring();	\
									\
		RECORD(name, ring, 0,					\
		       begin_payload(__entry, HYPTRACE_EVENT_##name,	\
				     sizeof(*__entry), 0 fields);	\
		       assign						\
		);							\
	}
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk)
#include "events.h"

/*
 * The fields before @duration are saved when the event begins. Nothing but fields may follow
 * them, since padding there would not be written.
 */
#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#define SAVED_SIZE(name)	offsetof(struct hyptrace_entry_##name, duration)
#define HYP_EVENT(name, proto, fields, assign, printk)
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk)	\
	void __hyptrace_begin_##name(begin)				\
	{								\
		struct hyptrace_ring *ring = hyptrace_this_ring();	\
		struct hyptrace_entry_##name *__entry = &ring->begun.name.entry; \
									\
		if (!is_enabled(ring, HYPTRACE_EVENT_##name) &&		\
		    !must_filter(ring, HYPTRACE_EVENT_##name))		\
			return;						\
									\
		begin_payload(__entry, HYPTRACE_EVENT_##name, sizeof(*__entry), 0 fields); \
		save							\
		ring->begun.name.counter = hyptrace_read_counter_synced(); \
	}								\
									\
	void __hyptrace_##name(proto)					\
	{								\
		struct hyptrace_ring *ring = hyptrace_this_ring();	\
		u64 begun = ring->begun.name.counter;			\
									\
		if (unlikely(!begun))					\
			return;						\
									\
		RECORD(name, ring, begun,				\
		       memcpy(__entry, &ring->begun.name.entry, SAVED_SIZE(name)); \
		       __entry->duration = duration;			\
		       assign						\
		);							\
	}
#include "events.h"

/* Expand a field to the number of bytes from @duration on that it covers. */
#undef HYP_TIMED_EVENT
#undef he_field
#define he_field(type, name)						\
	+ (offsetof(typeof(*__entry), name) < offsetof(typeof(*__entry), duration) ? \
	   0 : sizeof(__entry->name))
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk)	\
	static inline void check_##name(const struct hyptrace_entry_##name *__entry) \
	{								\
		static_assert(0 fields == sizeof(*__entry) - SAVED_SIZE(name)); \
	}
#include "events.h"
