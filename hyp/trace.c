// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording and counting: functions for each event, generated from the list of events. The macros
 * of hooks.h call them if any CPU records or counts the event.
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

/* Check whether the CPU records the event, with no filter to look at and nothing to count. */
static __always_inline bool is_enabled(struct hyptrace_ring *ring, u32 event)
{
	return likely(READ_ONCE(ring->enabled) & BIT_ULL(event));
}

/* Check whether the CPU records the event if its filter accepts it, or records and counts it. */
static __always_inline bool is_aside(struct hyptrace_ring *ring, u32 event)
{
	return ring->aside & BIT_ULL(event);
}

/* Check whether the event can be counted; hyp_exit ends hyp_enter. */
static __always_inline bool can_count(u32 event)
{
	return (HYPTRACE_COUNTABLE_EVENTS | BIT_ULL(HYPTRACE_EVENT_hyp_exit)) & BIT_ULL(event);
}

/* Check whether the CPU counts the event but does not record it. */
static __always_inline bool must_count(struct hyptrace_ring *ring, u32 event)
{
	return can_count(event) && ring->to_count & BIT_ULL(event);
}

/* Check whether the CPU counts the event, which it records. */
static __always_inline bool must_count_aside(struct hyptrace_ring *ring, u32 event)
{
	return can_count(event) && ring->counting.selected & BIT_ULL(event);
}

/* Find the filter of an event of @ring->aside. NULL: it has none, but is counted. */
static __always_inline const struct hyptrace_ring_filter *
filter_of(struct hyptrace_ring *ring, u32 event)
{
	if (can_count(event) && !(READ_ONCE(ring->has_filter) & BIT_ULL(event)))
		return NULL;

	return &ring->filters[event];
}

/*
 * The CPU neither records nor counts the event. If it is silent because it serves __hyptrace(), a
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

/* The key of an event's counters, from the arguments of its function */
#define KEY_hyp_enter		~, first_key(hyp_enter) + (reason & (HYPTRACE_COUNT_REASONS - 1))
#define KEY_guest_exit		~, guest_exit_key(code, ec)
#define KEY_mem_transition	~, first_key(mem_transition) + (op & (HYPTRACE_COUNT_MEM_OPS - 1))
/* ... from those of the function that begins it */
#define BEGIN_KEY_host_hcall	~, hcall_key(number)

#define first_key(name)		HYPTRACE_COUNT_KEY_##name
#define take_second(first, second, ...)	second
#define key_of(key)		take_second(key, 0, )

static __always_inline u32 hcall_key(u64 number)
{
	const u32 others = HYPTRACE_COUNT_HCALLS - 1;

	return first_key(host_hcall) +
	       array_index_nospec(number < others ? number : others, HYPTRACE_COUNT_HCALLS);
}

static __always_inline u32 guest_exit_key(u8 code, u8 ec)
{
	return first_key(guest_exit) + (code == HYPTRACE_EXIT_TRAP ?
		ec & (HYPTRACE_COUNT_CLASSES - 1) :
		HYPTRACE_COUNT_CLASSES + (code & (HYPTRACE_COUNT_CODES - 1)));
}

static __always_inline void begin_count(struct hyptrace_ring *ring, u32 event, u32 key, u64 counter)
{
	struct hyptrace_counting *counting = &ring->counting;
	struct hyptrace_count_begun begun = { .counter = counter, .end = counting->ends[key] };

	if (event == HYPTRACE_EVENT_hyp_enter)
		counting->enter = begun;
	else if (event == HYPTRACE_EVENT_host_hcall)
		counting->hcall = begun;
	else
		counting->guest_begun = counter;
}

/* The counter when an event began that the CPU counts but does not record */
static __always_inline u64 count_begun(struct hyptrace_ring *ring, u32 event)
{
	return event == HYPTRACE_EVENT_host_hcall ? ring->counting.hcall.counter :
						    ring->counting.guest_begun;
}

/* Count an event, or begin to, if it is hyp_enter. @begun: if it is timed. @counter: now */
static __always_inline void count(struct hyptrace_ring *ring, u32 event, u32 key, u64 begun,
				  u64 counter)
{
	struct hyptrace_counting *counting = &ring->counting;

	switch (event) {
	case HYPTRACE_EVENT_hyp_enter:
		begin_count(ring, event, key, counter);
		break;
	case HYPTRACE_EVENT_hyp_exit:
		begun = counting->enter.counter;
		/* Some entries have no hyp_enter: do not count their exit. */
		counting->enter.counter = 0;
		hyptrace_count(counting->enter.end, begun, counter);
		break;
	case HYPTRACE_EVENT_host_hcall:
		hyptrace_count(counting->hcall.end, begun, counter);
		break;
	case HYPTRACE_EVENT_guest_exit:
		hyptrace_count(counting->ends[key], begun, counter);
		break;
	case HYPTRACE_EVENT_mem_transition:
		hyptrace_count_short(counting->ends[key], 0);
		break;
	}
}

/*
 * Read the counter to count an event. Without an ISB, the CPU may read it some instructions too
 * early, but an ISB would take longer than all of the counting.
 */
static __always_inline u64 read_counter_to_count(u32 event)
{
	return event == HYPTRACE_EVENT_mem_transition ? 0 : hyptrace_read_counter_synced();
}

/*
 * Record an event, or count it, or both. @begun: the counter when it began, if it is @timed.
 * @key: of its counters, if it can be counted. @...: the code that writes the payload *__entry; it
 * may use duration, in ns since then.
 *
 * The fast path writes the payload to the ring. The slow path builds it on the stack
 * before it calls a function, so that no argument must survive the call: thus the fast
 * path needs no stack frame. No byte of the stack or of an older record may reach the
 * host.
 */
#define RECORD(name, ring, timed, begun, key, ...)			\
	do {									\
		const u32 size = sizeof(struct hyptrace_entry_##name);		\
		const struct hyptrace_ring_filter *filter = NULL;		\
		u64 counter = 0, now, delta, duration = 0;			\
		bool quick;							\
										\
		(void)duration;	/* only timed events use it */			\
		if (is_enabled(ring, HYPTRACE_EVENT_##name)) {			\
			if (timed && unlikely(!(begun)))			\
				break;						\
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
		} else if (must_count(ring, HYPTRACE_EVENT_##name)) {		\
			count(ring, HYPTRACE_EVENT_##name, key,			\
			      count_begun(ring, HYPTRACE_EVENT_##name),		\
			      read_counter_to_count(HYPTRACE_EVENT_##name));	\
			break;							\
		} else if (is_aside(ring, HYPTRACE_EVENT_##name)) {		\
			if (timed || can_count(HYPTRACE_EVENT_##name))		\
				counter = read_counter(HYPTRACE_EVENT_##name);	\
			if (must_count_aside(ring, HYPTRACE_EVENT_##name))	\
				count(ring, HYPTRACE_EVENT_##name, key, begun, counter); \
			if (timed && unlikely(!(begun)))			\
				break;						\
			duration = cycles_to_ns(ring, counter - (begun));	\
			filter = filter_of(ring, HYPTRACE_EVENT_##name);	\
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
		RECORD(name, ring, false, 0, key_of(KEY_##name),	\
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
		if (!is_enabled(ring, HYPTRACE_EVENT_##name)) {		\
			bool aside = is_aside(ring, HYPTRACE_EVENT_##name); \
									\
			if (must_count(ring, HYPTRACE_EVENT_##name) ||	\
			    (aside && must_count_aside(ring, HYPTRACE_EVENT_##name))) \
				begin_count(ring, HYPTRACE_EVENT_##name, \
					    key_of(BEGIN_KEY_##name),	\
					    hyptrace_read_counter_synced()); \
			if (!aside)					\
				return;					\
		}							\
									\
		begin_payload(__entry, HYPTRACE_EVENT_##name, sizeof(*__entry), 0 fields); \
		save							\
		ring->begun.name.counter = hyptrace_read_counter_synced(); \
	}								\
									\
	void __hyptrace_##name(proto)					\
	{								\
		struct hyptrace_ring *ring = hyptrace_this_ring();	\
									\
		RECORD(name, ring, true, ring->begun.name.counter, key_of(KEY_##name), \
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
