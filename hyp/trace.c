// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording: one function per event, generated from the list of events. hyptrace() of
 * hooks.h calls it if the event is enabled on any CPU.
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

/*
 * hyp_enter follows an exception entry, or the return from the firmware. Both synchronise
 * the CPU, so it cannot read the counter too early.
 */
static __always_inline u64 read_counter(u32 event)
{
	return event == HYPTRACE_EVENT_hyp_enter ? hyptrace_read_counter_synced() :
						   hyptrace_read_counter();
}

/*
 * Check whether the CPU records the event. If it is silent because it serves __hyptrace(),
 * a hyp_exit is the return to the host and ends the silence. hyptrace_smc_exit() records
 * nothing then.
 */
static __always_inline bool is_enabled(struct hyptrace_ring *ring, u32 event)
{
	if (likely(READ_ONCE(ring->enabled) & BIT_ULL(event)))
		return true;
	if (event == HYPTRACE_EVENT_hyp_exit && ring->silent)
		hyptrace_set_silent(ring, ring->silent & ~HYPTRACE_SILENT_CALL);

	return false;
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

/* The largest payload: the slow path has it on the stack, which at EL2 is one page. */
#define MAX_ENTRY_BYTES		256

/*
 * A payload has its natural layout, but a record in the ring is only aligned to 4 bytes:
 * the typedef declares that.
 *
 * The fast path writes the payload to the ring. The slow path builds it on the stack
 * before it calls a function, so that no argument must survive the call: thus the fast
 * path needs no stack frame. No byte of the stack or of an older record may reach the
 * host.
 */
#define he_field(type, name)	type name;
#define HYP_EVENT(name, proto, fields, assign, printk)			\
	struct hyptrace_entry_##name {					\
		u16 common_type;					\
		fields							\
	};								\
	typedef struct hyptrace_entry_##name				\
		hyptrace_unaligned_##name __aligned(4);			\
	static_assert(sizeof(struct hyptrace_entry_##name) <= MAX_ENTRY_BYTES); \
	/* no padding follows the payload: it would show older bytes to the host */ \
	static_assert(sizeof(struct hyptrace_entry_##name) % sizeof(u32) == 0);

#include "events.h"

/* Expand a field to the number of bytes that it covers beyond the first word. */
#undef HYP_EVENT
#undef he_field
#define he_field(type, name)						\
	+ (offsetof(typeof(*__entry), name) < sizeof(u32) ? 0 : sizeof(__entry->name))
#define HYP_EVENT(name, proto, fields, assign, printk)			\
	void __hyptrace_##name(proto)					\
	{								\
		struct hyptrace_ring *ring = hyptrace_this_ring();	\
		const u32 size = sizeof(struct hyptrace_entry_##name);	\
		u64 now, delta;						\
		bool quick;						\
									\
		if (!is_enabled(ring, HYPTRACE_EVENT_##name))		\
			return;						\
									\
		quick = hyptrace_clock_read_copy(&ring->clock,		\
						 read_counter(HYPTRACE_EVENT_##name), &now); \
		delta = now - ring->last_time;				\
		if (likely(hyptrace_ring_fits(ring, delta, size) & quick)) { \
			hyptrace_unaligned_##name *__entry;		\
									\
			__entry = hyptrace_ring_put(ring, delta, size);	\
			begin_payload(__entry, HYPTRACE_EVENT_##name, size, 0 fields); \
			assign						\
			hyptrace_ring_commit(ring, __entry, now, size);	\
		} else {						\
			struct hyptrace_entry_##name aside, *__entry = &aside; \
									\
			begin_payload(__entry, HYPTRACE_EVENT_##name, size, 0 fields); \
			assign						\
			record_slowly(ring, __entry, size);		\
		}							\
	}

#include "events.h"
