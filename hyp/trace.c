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

u64 hyptrace_events_on;

/* For how many CPUs each bit of it stands, and the lock of both */
static u32 nr_users[HYPTRACE_NR_EVENTS];
static hyptrace_lock_t users_lock = HYPTRACE_LOCK_INIT;

/**
 * hyptrace_trace_set() - say which events a CPU records
 * @ring:	the CPU's
 * @events:	bit per event id
 *
 * Where events happen one word is tested that is the same for all CPUs, for it
 * takes fewer instructions; whether an event is for this CPU comes after that.
 *
 * Context: the ring's lock held; this CPU's, or that of one that does not run.
 */
void hyptrace_trace_set(struct hyptrace_ring *ring, u64 events)
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

/* Not at hand: the clock is to be read anew, or there is no room at once. */
static noinline void record_slowly(struct hyptrace_ring *ring,
				   const void *payload, u32 size)
{
	u64 now = hyptrace_clock(&ring->clock);
	void *to = hyptrace_ring_reserve(ring, &now, size);

	if (to) {
		memcpy(to, payload, size);
		hyptrace_ring_commit(ring, to, now, size);
	}
}

/*
 * An exception has just brought the CPU here, or it has come back from the
 * firmware by one: the counter cannot be read too early.
 */
static __always_inline u64 counter_at(u32 event)
{
	return event == HYPTRACE_EVENT_hyp_enter ? hyptrace_counter_synced() :
						   hyptrace_counter();
}

/*
 * Whether the CPU records the event. If it is silent in a call of ours, an exit is that to
 * the host, where the call ends: calls of the firmware do not come here then.
 */
static __always_inline bool is_enabled(struct hyptrace_ring *ring, u32 event)
{
	if (likely(READ_ONCE(ring->enabled) & BIT_ULL(event)))
		return true;
	if (event == HYPTRACE_EVENT_hyp_exit && ring->silent)
		hyptrace_set_silent(ring, ring->silent & ~HYPTRACE_SILENT_CALL);

	return false;
}

/* The id, and 0 in all bytes that no field covers: @covered beyond the first word. */
static __always_inline void begin_payload(void *payload, u16 id, u32 size, u32 covered)
{
	u16 *word = payload;

	word[0] = id;
	if (size > sizeof(u16))
		word[1] = 0;
	if (size > sizeof(u32) + covered)
		memset(word + 2, 0, size - sizeof(u32));
}

/* What the stack at EL2, which is a page, has room for. */
#define MAX_ENTRY	256

/*
 * The payload has its natural layout, but in the ring only the alignment of a
 * word: the typedef is what tells the compiler.
 *
 * Where all is at hand the payload is written to its place. Else it goes through
 * the stack, so that no argument outlives a call: with that the usual way needs
 * no stack frame. No byte of the stack, or of an older record, is for the host.
 */
#define he_field(type, name)	type name;
#define HYP_EVENT(name, proto, fields, assign, printk)			\
	struct hyptrace_entry_##name {					\
		u16 common_type;					\
		fields							\
	};								\
	typedef struct hyptrace_entry_##name				\
		hyptrace_unaligned_##name __aligned(4);			\
	static_assert(sizeof(struct hyptrace_entry_##name) <= MAX_ENTRY); \
	/* a record ends with its payload: no byte behind it shows what was there */ \
	static_assert(sizeof(struct hyptrace_entry_##name) % sizeof(u32) == 0);

#include "events.h"

/* Now the fields are the number of bytes that they cover beyond the first word. */
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
		quick = hyptrace_clock_quick(&ring->clock,		\
					     counter_at(HYPTRACE_EVENT_##name), &now); \
		delta = now - ring->last;				\
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
