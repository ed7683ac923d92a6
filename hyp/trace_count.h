/* SPDX-License-Identifier: GPL-2.0-only */
/* How an event is counted, and what the PMU counts during it is measured. For trace.c only. */
#ifndef __HYPTRACE_TRACE_COUNT_H
#define __HYPTRACE_TRACE_COUNT_H

#include "hooks.h"

/* Check whether the event can be counted; hyp_exit ends hyp_enter. */
static __always_inline bool can_count(u32 event)
{
	return (HYPTRACE_COUNTABLE_EVENTS | BIT_ULL(HYPTRACE_EVENT_hyp_exit)) & BIT_ULL(event);
}

/* Check whether what the PMU counts during the event can be measured. */
static __always_inline bool can_measure(u32 event)
{
	return HYPTRACE_MEASURED_EVENTS & BIT_ULL(event);
}

/* Check whether the CPU counts an event that it records. */
static __always_inline bool is_counted_aside(struct hyptrace_ring *ring, u32 event)
{
	return can_count(event) && ring->counting.selected & BIT_ULL(event);
}

static __always_inline u64 host_hcall_key(u64 number)
{
	const u64 others = HYPTRACE_COUNT_HCALLS - 1;
	u64 known = number & (others - 1), key;

	static_assert(HYPTRACE_COUNT_HCALLS - 1 == 128);
	/* The compiler must keep the mask: with it no speculation reads beyond the keys. */
	OPTIMIZER_HIDE_VAR(known);
	key = number < others ? known : others;
	/* ... and must not scale the key before it loads. */
	OPTIMIZER_HIDE_VAR(key);

	return key;
}

static __always_inline u64 exit_key(const struct hyptrace_vcpu *vcpu, u64 exit_code)
{
	u64 class = hyptrace_exit_class(vcpu);

	if (likely(exit_code == HYPTRACE_EXIT_TRAP))
		return class;
	/* The compiler must not mask the code before it branches. */
	OPTIMIZER_HIDE_VAR(exit_code);

	return hyptrace_guest_exit_key(exit_code & HYPTRACE_EXIT_CODE, class);
}

/* Begin to count host_hcall. */
static __always_inline void begin_count(struct hyptrace_ring *ring, u64 key)
{
	ring->counting.hcall.end =
		hyptrace_count_end(&ring->counting, HYPTRACE_COUNT_KEY_host_hcall, key);
	ring->counting.hcall.counter = hyptrace_read_counter_synced();
}

/* Count, or begin to (hyp_enter). @begun: if timed. Return: end of the counters of its key */
static __always_inline struct hyptrace_private_count *
count(struct hyptrace_ring *ring, u32 event, u64 key, struct hyptrace_count_begun begun, u64 now)
{
	struct hyptrace_counting *counting = &ring->counting;

	switch (event) {
	case HYPTRACE_EVENT_hyp_enter:
		counting->enter = (struct hyptrace_count_begun) {
			.counter = now,
			.end = hyptrace_count_end(counting, HYPTRACE_COUNT_KEY_hyp_enter, key),
		};
		break;
	case HYPTRACE_EVENT_hyp_exit:
		begun = counting->enter;
		/* Some entries have no hyp_enter: do not count their exit. */
		counting->enter.counter = 0;
		hyptrace_count(begun.end, begun.counter, now);
		hyptrace_count_exit(counting, key, begun.counter, now);
		break;
	case HYPTRACE_EVENT_host_hcall:
		hyptrace_count(begun.end, begun.counter, now);
		break;
	case HYPTRACE_EVENT_guest_exit:
		begun.end = hyptrace_count_end(counting, HYPTRACE_COUNT_KEY_guest_exit, key);
		hyptrace_count(begun.end, begun.counter, now);
		break;
	case HYPTRACE_EVENT_mem_transition:
		begun.end = hyptrace_count_end(counting, HYPTRACE_COUNT_KEY_mem_transition, key);
		hyptrace_count(begun.end, 0, 0);
		break;
	case HYPTRACE_EVENT_lock_wait:
		begun.end = hyptrace_count_end(counting, HYPTRACE_COUNT_KEY_lock_wait, key);
		hyptrace_count(begun.end, begun.counter, now);
		break;
	}

	return begun.end;
}

/*
 * Count an event that the CPU does not record. @span: the counter when it began, if it is one that
 * saves nothing. Without an ISB, it may read the counter some instructions too early, but an ISB
 * would take longer than all of the counting.
 */
static __always_inline void count_only(struct hyptrace_ring *ring, u32 event, u64 span, u64 key)
{
	struct hyptrace_counting *counting = &ring->counting;
	struct hyptrace_count_begun begun = { };

	if (event == HYPTRACE_EVENT_host_hcall)
		begun = counting->hcall;
	else if (event == HYPTRACE_EVENT_guest_exit || event == HYPTRACE_EVENT_lock_wait)
		begun.counter = span;
	count(ring, event, key, begun, event == HYPTRACE_EVENT_mem_transition ? 0 :
	      hyptrace_read_counter_synced());
}

/* Does this CPU record pmu? A hook has not said so, as for other events. */
static __always_inline bool records_pmu(const struct hyptrace_ring *ring)
{
	return (ring->enabled | ring->aside) & ~READ_ONCE(hyptrace_events_barred) &
	       BIT_ULL(HYPTRACE_EVENT_pmu);
}

/* End to measure an event, and record what was counted. @time: of the event */
static noinline void end_measure(struct hyptrace_ring *ring, u32 of,
				 struct hyptrace_private_count *counter, u64 time)
{
	const struct hyptrace_pmu *pmu = &ring->counting.pmu;
	u64 counts[HYPTRACE_PMU_COUNTERS];
	u32 i;

	if (!hyptrace_pmu_end(ring, of, counter, counts))
		return;
	for (i = 0; records_pmu(ring) && i < pmu->nr; i++) {
		const struct hyptrace_entry_pmu entry = {
			.common_type = HYPTRACE_EVENT_pmu, .counter = pmu->events[i], .of = of,
			.count = counts[i],
		};

		static_assert(sizeof(entry) == 2 * sizeof(u16) + sizeof(u32) + sizeof(u64));
		hyptrace_record_payload(ring, &entry, sizeof(entry), time);
	}
}

/* An event was counted: end to measure it. */
static __always_inline void measure(struct hyptrace_ring *ring, u32 event,
				    struct hyptrace_private_count *end, u64 counter)
{
	switch (event) {
	case HYPTRACE_EVENT_hyp_exit:
		end_measure(ring, HYPTRACE_PMU_OF_VISIT, end - 1, counter);
		break;
	case HYPTRACE_EVENT_host_hcall:
		end_measure(ring, HYPTRACE_PMU_OF_CALL, end - 1, counter);
		break;
	case HYPTRACE_EVENT_guest_exit:
		end_measure(ring, HYPTRACE_PMU_OF_GUEST, end - 1, counter);
		break;
	}
}

/* Read the counters first, as an event that is measured ends, or hyp_enter begins one. */
static __always_inline void read_measured(struct hyptrace_ring *ring, u32 event)
{
	if (event == HYPTRACE_EVENT_hyp_enter)
		hyptrace_pmu_begin(ring, HYPTRACE_PMU_OF_VISIT);
	else
		hyptrace_pmu_read(ring);
}

/* Begin to measure a call as the last thing that its hook does. @counter: out: when it begins */
static noinline void begin_measured_call(struct hyptrace_ring *ring, u64 *counter)
{
	hyptrace_pmu_begin(ring, HYPTRACE_PMU_OF_CALL);
	*counter = hyptrace_read_counter_synced();
}

/* Count an event that the CPU also records, or measures. @counter: as its duration ended */
static noinline void count_aside(struct hyptrace_ring *ring, const void *payload, u64 counter)
{
	u32 event = *(const u16 *)payload;
	const struct hyptrace_entry_hyp_enter *enter = payload;
	const struct hyptrace_entry_hyp_exit *leave = payload;
	const struct hyptrace_entry_guest_exit *exit = payload;
	const struct hyptrace_entry_mem_transition *mem = payload;
	const struct hyptrace_entry_lock_wait *wait = payload;
	struct hyptrace_private_count *end;
	struct hyptrace_count_begun begun = { };
	u64 key = 0;

	switch (event) {
	case HYPTRACE_EVENT_hyp_enter:
		key = enter->reason & (HYPTRACE_COUNT_REASONS - 1);
		break;
	case HYPTRACE_EVENT_hyp_exit:
		key = leave->reason & (HYPTRACE_COUNT_EXITS - 1);
		break;
	case HYPTRACE_EVENT_host_hcall:
		begun.counter = ring->begun.host_hcall.counter;
		begun.end = ring->counting.hcall.end;
		break;
	case HYPTRACE_EVENT_guest_exit:
		begun.counter = ring->spans.guest_exit;
		key = hyptrace_guest_exit_key(exit->code, exit->ec);
		break;
	case HYPTRACE_EVENT_mem_transition:
		key = mem->op & (HYPTRACE_COUNT_MEM_OPS - 1);
		break;
	case HYPTRACE_EVENT_lock_wait:
		begun.counter = ring->spans.lock_wait;
		key = wait->lock & (HYPTRACE_COUNT_LOCKS - 1);
		break;
	}
	end = count(ring, event, key, begun, counter);
	if (hyptrace_is_measured(ring, event))
		measure(ring, event, end, counter);
}

#endif /* __HYPTRACE_TRACE_COUNT_H */
