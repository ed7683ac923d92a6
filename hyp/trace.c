// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording and counting: functions for each event, generated from the list of events. The macros
 * of hooks.h call them if any CPU records or counts the event.
 */
#include "hooks.h"
#include "trace_count.h"

#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#undef HE_PROTO
#undef HE_STRUCT
#undef HE_SAVE
#undef HE_ASSIGN
#undef he_field

#define HE_PROTO(...)		__VA_ARGS__
#define HE_STRUCT(fields)	fields
#define HE_SAVE(...)		__VA_ARGS__
#define HE_ASSIGN(...)		__VA_ARGS__

/*
 * The slow path: the CPU's copy of the clock is invalid, or the event does not fit. @counter: its
 * time; 0: now. False if the event was dropped.
 */
static noinline bool record_slowly(struct hyptrace_ring *ring, const void *payload, u32 size,
				   u64 counter)
{
	u64 now, mult, epoch;
	void *to;

	if (!counter || !hyptrace_clock_read_copy(&ring->clock, counter, &now, &mult, &epoch))
		now = hyptrace_clock_read(&ring->clock);
	to = hyptrace_ring_reserve(ring, &now, size);
	if (to) {
		memcpy(to, payload, size);
		hyptrace_ring_commit(ring, ring->commit, ring->recorded, to, now, size);
	}

	return to;
}

static __always_inline void count_filtered(struct hyptrace_ring *ring)
{
	WRITE_ONCE(ring->filtered, ring->filtered + 1);
}

/* The payload is not in the ring yet. @filter: of the event, or NULL. @counter: time; 0: now */
static __always_inline void __record_aside(struct hyptrace_ring *ring, const void *payload,
					   u32 size, const struct hyptrace_ring_filter *filter,
					   u64 counter)
{
	u32 event = *(const u16 *)payload, decision = HYPTRACE_FILTER_RECORD;

	if (filter)
		decision = hyptrace_filter_decide(filter, payload);
	if (decision == HYPTRACE_FILTER_ACCEPT)
		ring->accepted = true;
	if (decision == HYPTRACE_FILTER_REJECT)
		count_filtered(ring);
	else if (record_slowly(ring, payload, size, counter) &&
		 decision == HYPTRACE_FILTER_ACCEPT)
		hyptrace_trigger_fire(ring, event, ring->last_time);
}

static noinline void record_aside(struct hyptrace_ring *ring, const void *payload, u32 size,
				  const struct hyptrace_ring_filter *filter, u64 counter)
{
	__record_aside(ring, payload, size, filter, counter);
}

#ifdef __KVM_NVHE_HYPERVISOR__
/* One instruction finds the filter of an event that is recorded often. */
static_assert(offsetof(struct hyptrace_ring, filters[HYPTRACE_EVENT_hyp_exit]) < SZ_4K);
#endif

/* Check whether the CPU records the event if its filter accepts it, or records and counts it. */
static __always_inline bool is_aside(struct hyptrace_ring *ring, u32 event)
{
	return ring->aside & BIT_ULL(event);
}

/**
 * hyptrace_record_payload() - record an event whose payload is complete
 * @ring:	this CPU's, which records the event, or does so if its filter accepts it
 * @payload:	the payload
 * @size:	its bytes
 * @counter:	its time
 * Context: EL2, in no other event.
 */
void hyptrace_record_payload(struct hyptrace_ring *ring, const void *payload, u32 size,
			     u64 counter)
{
	u32 event = *(const u16 *)payload;

	record_aside(ring, payload, size, is_aside(ring, event) ? &ring->filters[event] : NULL,
		     counter);
}

/* These follow an exception entry or return from the firmware, which has synchronised the CPU. */
static __always_inline u64 read_counter(u32 event)
{
	return event == HYPTRACE_EVENT_hyp_enter || event == HYPTRACE_EVENT_guest_exit ?
	       hyptrace_read_counter_synced() : hyptrace_read_counter();
}

/* What a CPU does with its events, as bits per event id */
struct masks {
	u64	enabled;	/* records them, with no filter to look at and nothing to count */
	u64	to_count;	/* counts them */
};

/* One instruction reads both. */
static __always_inline struct masks read_masks(struct hyptrace_ring *ring)
{
	struct masks masks;

	hyptrace_read_pair(&ring->to_count, &masks.to_count, &masks.enabled);

	return masks;
}

/*
 * The CPU neither records nor counts the event. If it is silent because it serves __hyptrace(), a
 * hyp_exit is the return to the host and ends the silence. hyptrace_smc_exit() records nothing
 * then.
 */
static __always_inline void skip_event(struct hyptrace_ring *ring, u32 event)
{
	if (event == HYPTRACE_EVENT_hyp_exit)
		hyptrace_end_own_call(ring);
}

/* Write the id, and 0 where no field is. @covered: bytes that fields cover beyond the first word */
static __always_inline void begin_payload(void *payload, u16 id, u32 size, u32 covered)
{
	u16 *word = payload;

	word[0] = id;
	if (size > sizeof(u16))
		word[1] = 0;
	if (size > sizeof(u32) + covered) {
		/* Let the compiler write the word as a whole. */
		barrier();
		memset(word + 2, 0, size - sizeof(u32));
	}
}

/* By its end, which wide fields are a multiple of 8 bytes before: one instruction stores two. */
#define find_by_end(entry)						\
	({								\
		typeof(entry) __end = (entry) + 1;			\
									\
		OPTIMIZER_HIDE_VAR(__end);				\
		__end - 1;						\
	})

/*
 * Copy what was saved when an event began. clang would add the size of the record's header to each
 * offset, and copy 8 bytes before the rest: then it could not store pairs.
 */
#ifdef __clang__
#define copy_saved(entry, saved, size)					\
	do {								\
		OPTIMIZER_HIDE_VAR(entry);				\
		memcpy(entry, saved, (size) & ~31);			\
		memcpy((void *)(entry) + ((size) & ~31),		\
		       (void *)(saved) + ((size) & ~31), (size) & 31);	\
	} while (0)
#else
#define copy_saved(entry, saved, size)	memcpy(entry, saved, size)
#endif

/*
 * Check whether a timed event began after the epoch of the clock: its duration is shorter than the
 * time since then, which hyptrace_clock_read_copy() computes in 64 bits. Also false if it has not
 * begun.
 */
static __always_inline bool began_after(bool timed, u64 begun, u64 epoch)
{
	return !timed || begun > epoch;
}

/* The number of an event's key among those of the event, from the arguments of its function */
#define KEY_hyp_enter		~, reason & (HYPTRACE_COUNT_REASONS - 1)
#define KEY_hyp_exit		~, reason & (HYPTRACE_COUNT_EXITS - 1)
#define KEY_guest_exit		~, exit_key(vcpu, exit_code)
#define KEY_mem_transition	~, op & (HYPTRACE_COUNT_MEM_OPS - 1)
#define KEY_lock_wait		~, lock & (HYPTRACE_COUNT_LOCKS - 1)
/* ... from those of the function that begins it */
#define BEGIN_KEY_host_hcall	~, host_hcall_key(number)

#define take_second(first, second, ...)	second
#define key_of(key)		take_second(key, 0, )

/* Like __record_aside(), for an event that can be counted */
static __always_inline void __record_counted(struct hyptrace_ring *ring, const void *payload,
					     u32 size, const struct hyptrace_ring_filter *filter,
					     u64 counter)
{
	u64 event = BIT_ULL(*(const u16 *)payload);

	if (ring->counting.selected & event) {
		count_aside(ring, payload, counter);
		if (!(READ_ONCE(ring->has_filter) & event))
			filter = NULL;
	}
	/* The hooks call for events that are only counted, too. */
	if ((READ_ONCE(hyptrace_events_barred) | ~ring->selected) & event)
		return;
	__record_aside(ring, payload, size, filter, counter);
}

static noinline void record_counted(struct hyptrace_ring *ring, const void *payload, u32 size,
				    const struct hyptrace_ring_filter *filter, u64 counter)
{
	__record_counted(ring, payload, size, filter, counter);
}

/* An update of the clock may have changed its rate. Then the CPU's copy is not valid. */
static __always_inline bool is_rate_valid(struct hyptrace_ring *ring)
{
	return likely(READ_ONCE(ring->clock.valid_cycles));
}

static __always_inline bool lacks_result(u32 event, const void *entry)
{
	return event == HYPTRACE_EVENT_host_hcall && !hyptrace_has_result(entry);
}

/* Like record_counted(), for a timed event. @duration_at: where in the payload its duration is */
static noinline void record_timed(struct hyptrace_ring *ring, void *payload, u32 size,
				  const struct hyptrace_ring_filter *filter, u64 counter,
				  u64 begun, u32 duration_at)
{
	u64 *duration = payload + duration_at;

	if (!is_rate_valid(ring))
		hyptrace_clock_read(&ring->clock);
	/* 0: the event is recorded before it is over */
	if (*duration)
		*duration = hyptrace_cycles_to_ns(counter - begun, ring->clock.mult);
	__record_counted(ring, payload, size, filter, counter);
}

/*
 * Record an event that can be measured, or count it, or both, if the hook cannot do so by itself.
 * This is in a function of its own: the hook needs no stack frame if its fast path calls nothing
 * and all the rest calls one function only, at one place. If the event is measured, the PMU is
 * read before the payload is written. If the hook has looked at the event with a filter, it has
 * written the payload, and the event is not counted. The parameters are those of RECORD().
 */
#define FINISH(name, ring, duration_at, begun, counter, filter, ...)		\
	do {									\
		struct hyptrace_entry_##name *__entry = (void *)(ring)->payload; \
		u64 duration, running = (ring)->vcpu;				\
										\
		if (!(filter) || is_counted_aside(ring, HYPTRACE_EVENT_##name)) { \
			if (hyptrace_is_measured(ring, HYPTRACE_EVENT_##name))	\
				read_measured(ring, HYPTRACE_EVENT_##name);	\
			duration = hyptrace_cycles_to_ns((counter) - (begun), (ring)->clock.mult); \
			(void)running;	/* only some events use them */		\
			(void)duration;						\
			__VA_ARGS__						\
			if ((filter) && lacks_result(HYPTRACE_EVENT_##name, __entry)) \
				(filter) = &(ring)->filters[HYPTRACE_FILTER_NO_RESULT]; \
		}								\
		if (duration_at)						\
			record_timed(ring, __entry, sizeof(*__entry), filter, counter, begun, \
				     duration_at);				\
		else								\
			record_counted(ring, __entry, sizeof(*__entry), filter, counter); \
	} while (0)

/* ... its call. The arguments of the event's function come first: the fast path moves none. */
#define FINISH_hyp_enter	~, finish_hyp_enter(reason, ring, counter, filter)
#define FINISH_hyp_exit		~, finish_hyp_exit(reason, ring, counter, filter)
#define FINISH_host_hcall	~, finish_host_hcall(regs, ring, counter, filter)
#define FINISH_guest_exit	~, finish_guest_exit(ring, vcpu, exit_code, counter, filter)

/* An event that can be measured must have such a call. */
#define lacks_finish(name)						\
	({ static_assert(!(HYPTRACE_MEASURED_EVENTS & BIT_ULL(HYPTRACE_EVENT_##name))); })
#define finish_of(name, call)	take_second(call, lacks_finish(name), )

/* One branch for all comparisons of the condition. For gcc, objects.mk has an option. */
#ifdef __clang__
#define likely_all(condition)	__builtin_unpredictable(likely(condition))
#else
#define likely_all(condition)	likely(condition)
#endif

/*
 * Record an event, or count it, or both. @enabled, @to_count: as in struct masks. @duration_at: if
 * it is timed, where in the payload its duration is, else 0. @begun: the counter when it began, if
 * it is timed. @key: the number of its key, if it can be counted. @finish: the call that ends the
 * hook if the event can be measured. @...: the code that writes the payload *__entry; it may use
 * duration, in ns since then, and running, which is the vCPU of struct hyptrace_ring.
 *
 * The fast path writes the payload to the ring. The slow path builds it in private memory
 * before it calls a function, or leaves that to the function, so that no argument must survive the
 * call: thus the fast path, counting, and most events that a filter rejects need no stack frame. No
 * byte of an older payload may reach the host.
 */
#define RECORD(name, ring, enabled, to_count, duration_at, begun, key, finish, ...) \
	do {									\
		const bool timed = duration_at;					\
		const u32 size = sizeof(struct hyptrace_entry_##name);		\
		const struct hyptrace_ring_filter *filter = NULL, *first = NULL; \
		u64 counter = 0, now, mult, last, pos, end, commit, delta, duration = 0; \
		u64 epoch, recorded, running;					\
		bool counted, quick, recent;					\
										\
		(void)duration;	/* only timed events use it */			\
		(void)running;							\
		if (likely((enabled) & BIT_ULL(HYPTRACE_EVENT_##name))) {	\
			counter = read_counter(HYPTRACE_EVENT_##name);		\
			quick = hyptrace_clock_read_copy(&(ring)->clock, counter, &now, &mult, \
							 &epoch);		\
			recent = began_after(timed, begun, epoch);		\
			/* if recent: 64 bits are enough */			\
			duration = (counter - (begun)) * mult >> HYPTRACE_CLOCK_SHIFT; \
			hyptrace_read_pair(&(ring)->last_time, &last, &pos);	\
			hyptrace_read_pair((u64 *)&(ring)->end, &end, &commit);	\
			delta = now - last;					\
			if (likely_all(hyptrace_ring_fits((u8 *)pos, (u8 *)end, delta, size) & \
				       quick & recent)) {			\
				hyptrace_unaligned_##name *__entry;		\
										\
				hyptrace_read_pair(&(ring)->recorded, &recorded, &running); \
				__entry = hyptrace_ring_put((u8 *)pos, delta, size); \
				__VA_ARGS__					\
				hyptrace_ring_commit(ring, (u64 *)commit, recorded, __entry, \
						     now, size);		\
				break;						\
			}							\
		} else if (can_count(HYPTRACE_EVENT_##name) &&			\
			   (to_count) & BIT_ULL(HYPTRACE_EVENT_##name)) {	\
			count_only(ring, HYPTRACE_EVENT_##name, begun, key);	\
			break;							\
		} else if (is_aside(ring, HYPTRACE_EVENT_##name)) {		\
			counted = is_counted_aside(ring, HYPTRACE_EVENT_##name); \
			if (timed || counted)					\
				counter = read_counter(HYPTRACE_EVENT_##name);	\
			filter = &(ring)->filters[HYPTRACE_EVENT_##name];	\
			first = counted ? NULL : filter;			\
		} else {							\
			skip_event(ring, HYPTRACE_EVENT_##name);		\
			break;							\
		}								\
		{								\
			struct hyptrace_entry_##name *__entry = (void *)(ring)->payload; \
										\
			if (timed && unlikely(!(begun)))			\
				break;						\
			if (first || !can_measure(HYPTRACE_EVENT_##name)) {	\
				duration = hyptrace_cycles_to_ns(counter - (begun), \
								 (ring)->clock.mult); \
				running = (ring)->vcpu;				\
				__VA_ARGS__					\
			}							\
			if (first && lacks_result(HYPTRACE_EVENT_##name, __entry)) { \
				filter = &(ring)->filters[HYPTRACE_FILTER_NO_RESULT]; \
				first = filter;					\
			}							\
			if (first && (!timed || is_rate_valid(ring)) &&		\
			    hyptrace_filter_rejects_at_once(first, __entry)) {	\
				count_filtered(ring);				\
				break;						\
			}							\
			if (can_measure(HYPTRACE_EVENT_##name))			\
				finish;						\
			else if (timed)						\
				record_timed(ring, __entry, size, filter, counter, begun, \
					     duration_at);			\
			else if (can_count(HYPTRACE_EVENT_##name))		\
				record_counted(ring, __entry, size, filter, counter); \
			else							\
				record_aside(ring, __entry, size, filter, counter); \
		}								\
	} while (0)

/* One instruction reads both, if it is the first span: guest_exit. */
#define READ_SPAN(ring, name, events, begun_at)				\
	do {								\
		if (offsetof(struct hyptrace_spans, name)) {		\
			*(events) = (ring)->enabled;			\
			*(begun_at) = (ring)->spans.name;		\
		} else {						\
			hyptrace_read_pair(&(ring)->enabled, events, begun_at); \
		}							\
	} while (0)

#define DURATION_AT(name)	offsetof(struct hyptrace_entry_##name, duration)

/* Expand a field to the number of bytes that it covers beyond the first word. */
#define he_field(type, name)						\
	+ (offsetof(typeof(*__entry), name) < sizeof(u32) ? 0 : sizeof(__entry->name))

/* The code that writes a payload */
#define PAYLOAD(name, fields, ...)					\
	begin_payload(__entry, HYPTRACE_EVENT_##name, sizeof(*__entry), 0 fields); \
	__VA_ARGS__
#define SPAN_PAYLOAD(name, fields, ...)					\
	PAYLOAD(name, fields, __entry = find_by_end(__entry); __VA_ARGS__)
#define TIMED_PAYLOAD(name, ...)						\
	copy_saved(__entry, &ring->begun.name.entry, DURATION_AT(name)); \
	__entry->duration = duration;					\
	__VA_ARGS__

#define HYP_EVENT(name, proto, fields, assign, printk)			\
	static noinline __maybe_unused void				\
	finish_##name(proto, struct hyptrace_ring *ring, u64 counter,	\
		      const struct hyptrace_ring_filter *filter)	\
	{								\
		FINISH(name, ring, 0, 0, counter, filter,	\
		       PAYLOAD(name, fields, assign));			\
	}								\
									\
	void __hyptrace_##name(proto)					\
	{								\
		struct hyptrace_ring *ring = hyptrace_this_ring();	\
		const struct masks masks = read_masks(ring);		\
									\
		RECORD(name, ring, masks.enabled, masks.to_count, 0, 0, key_of(KEY_##name),	\
		       finish_of(name, FINISH_##name), PAYLOAD(name, fields, assign)); \
	}
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk)
#define HYP_SPAN_EVENT(name, proto, fields, assign, printk)		\
	static noinline __maybe_unused void				\
	finish_##name(struct hyptrace_ring *ring, proto, u64 counter,	\
		      const struct hyptrace_ring_filter *filter)	\
	{								\
		FINISH(name, ring, DURATION_AT(name), ring->spans.name, counter, filter, \
		       SPAN_PAYLOAD(name, fields, assign));		\
	}								\
									\
	void __hyptrace_##name(struct hyptrace_ring *ring, proto)	\
	{								\
		u64 begun, enabled;					\
									\
		READ_SPAN(ring, name, &enabled, &begun);		\
		RECORD(name, ring, enabled, ring->to_count, DURATION_AT(name), begun, \
		       key_of(KEY_##name), finish_of(name, FINISH_##name),	\
		       SPAN_PAYLOAD(name, fields, assign));		\
	}
/* Host programs record them like any other event. */
#ifndef HYPTRACE_ENV_HOST
#undef HYP_PAYLOAD_EVENT
#define HYP_PAYLOAD_EVENT(...)
#endif
#include "events.h"

/*
 * The fields before @duration are saved when the event begins. Nothing but fields may follow
 * them, since padding there would not be written. An event that is measured saves them in its own
 * branch, whose end is a call: so the others need no test and no stack frame.
 */
#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)
#define HYP_SPAN_EVENT(name, proto, fields, assign, printk)
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk)	\
	void __hyptrace_begin_##name(begin)				\
	{								\
		struct hyptrace_ring *ring = hyptrace_this_ring();	\
		struct hyptrace_entry_##name *__entry = &ring->begun.name.entry; \
		const struct masks masks = read_masks(ring);		\
									\
		if (unlikely(!(masks.enabled & BIT_ULL(HYPTRACE_EVENT_##name)))) { \
			if (can_count(HYPTRACE_EVENT_##name) &&		\
			    masks.to_count & BIT_ULL(HYPTRACE_EVENT_##name)) { \
				begin_count(ring, key_of(BEGIN_KEY_##name)); \
				return;					\
			}						\
			if (!is_aside(ring, HYPTRACE_EVENT_##name))	\
				return;					\
			if (is_counted_aside(ring, HYPTRACE_EVENT_##name)) \
				begin_count(ring, key_of(BEGIN_KEY_##name)); \
			if (can_measure(HYPTRACE_EVENT_##name) &&	\
			    hyptrace_is_measured(ring, HYPTRACE_EVENT_##name)) { \
				PAYLOAD(name, fields, save)		\
				begin_measured_call(ring, &ring->begun.name.counter); \
				return;					\
			}						\
		}							\
									\
		PAYLOAD(name, fields, save)				\
		ring->begun.name.counter = hyptrace_read_counter_synced(); \
	}								\
									\
	static noinline __maybe_unused void				\
	finish_##name(proto, struct hyptrace_ring *ring, u64 counter,	\
		      const struct hyptrace_ring_filter *filter)	\
	{								\
		FINISH(name, ring, DURATION_AT(name), ring->begun.name.counter, counter, filter, \
		       TIMED_PAYLOAD(name, assign));			\
	}								\
									\
	void __hyptrace_##name(proto)					\
	{								\
		struct hyptrace_ring *ring = hyptrace_this_ring();	\
		const struct masks masks = read_masks(ring);		\
									\
		RECORD(name, ring, masks.enabled, masks.to_count, DURATION_AT(name), \
		       ring->begun.name.counter, key_of(KEY_##name),	\
		       finish_of(name, FINISH_##name),			\
		       TIMED_PAYLOAD(name, assign));			\
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
		static_assert(0 fields == sizeof(*__entry) - DURATION_AT(name)); \
	}
#include "events.h"
