// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choosing which functions of EL2 are traced, and recording what they have done when EL2 returns to
 * the host. EL2 changes its own text: text.c. The host names a function by its id only: where the
 * instruction is, and what it becomes, EL2 takes from its own memory. Called by hcall.c.
 */
#include "function.h"
#include "../hooks.h"

#define NOP		0xd503201fU
#define B(distance)	(0x14000000U | ((distance) >> 2 & GENMASK(25, 0)))

/* Bits of an address that are not the depth */
#define ADDRESS_MASK	GENMASK_ULL(47, 0)
#define DEPTH_SHIFT	48

static_assert(sizeof_field(struct hyptrace_calls, frame[0]) == 1 << HYPTRACE_FRAME_SHIFT);
static_assert(offsetof(struct hyptrace_calls, used) == 8);
static_assert(offsetof(struct hyptrace_calls, frame[0].ret) == HYPTRACE_FRAMES);
static_assert(offsetof(struct hyptrace_calls, frame[0].begun) == HYPTRACE_FRAMES + 8);
static_assert(offsetof(struct hyptrace_calls, frame[0].stub) == HYPTRACE_FRAMES + 16);
static_assert(offsetof(struct hyptrace_calls, call) == HYPTRACE_CALLS);
static_assert(offsetof(struct hyptrace_entry_func, id) == HYPTRACE_FUNC_ID_OFFSET);
static_assert(sizeof(struct hyptrace_call) == HYPTRACE_CALL_BYTES);

DEFINE_PER_CPU(struct hyptrace_calls, hyptrace_calls);

/* Protects the text: no lock is taken inside it */
static hyptrace_lock_t text_lock = HYPTRACE_LOCK_INIT;

/**
 * hyptrace_function_set() - start or stop tracing a function
 * @id:		its number in functions.awk's list
 * @on:		1 or 0
 *
 * A CPU that is in the function stays traced until it returns, or is not. The architecture lets a
 * NOP become a branch while others execute it: they take either.
 *
 * Return: 0, also if it is so already; -EINVAL no such function, or @on is something else;
 * -EOPNOTSUPP without protection: there the host changes the text; -EIO the text is not what it
 * should be.
 */
int hyptrace_function_set(u64 id, u64 on)
{
	u64 nr = hyptrace_function_places_end - hyptrace_function_places;
	const u8 *at, *stub;
	u32 branch, old, new;

	if (!is_protected_kvm_enabled())
		return -EOPNOTSUPP;
	if (id >= nr || on > 1)
		return -EINVAL;
	id = array_index_nospec(id, nr);
	at = (const u8 *)&hyptrace_function_places[id] + hyptrace_function_places[id];
	stub = hyptrace_function_stubs + id * HYPTRACE_STUB_BYTES;
	branch = B((u64)(stub - at));

	hyptrace_guard(&text_lock);
	old = le32_to_cpu(READ_ONCE(*(const __le32 *)at));
	new = on ? branch : NOP;
	if (old == new)
		return 0;

	return old == (on ? NOP : branch) && hyptrace_write_text(at, old, new) ? 0 : -EIO;
}

/* Nothing synchronises these reads of the counter: a later one may be smaller. */
static __always_inline u64 cycles(u64 from, u64 to)
{
	return (s64)(to - from) < 0 ? 0 : to - from;
}

static __always_inline u16 id_of(const struct hyptrace_call *call)
{
	return ((call->stub - (u64)hyptrace_function_stubs) & ADDRESS_MASK) / HYPTRACE_STUB_BYTES;
}

/* For less than the time since the epoch, which is computed in 64 bits, too */
static __always_inline u64 to_ns(u64 cycles, u64 mult)
{
	return cycles * mult >> HYPTRACE_CLOCK_SHIFT;
}

/* Record functions until one does not fit; return that one. */
static const struct hyptrace_call *record_quickly(struct hyptrace_ring *ring,
						  const struct hyptrace_call *call,
						  const struct hyptrace_call *last)
{
	const u32 size = sizeof(struct hyptrace_entry_func);
	u64 counter = hyptrace_read_counter(), now, mult, epoch, delta, nr = 0;
	hyptrace_unaligned_func *entry = NULL;
	u8 *pos = ring->pos;

	if (!hyptrace_clock_read_copy(&ring->clock, counter, &now, &mult, &epoch))
		return call;
	delta = now - ring->last_time;
	for (; call < last && hyptrace_ring_fits(pos, ring->end, delta, size); call++, nr++) {
		/* 64 bits are enough from there on. */
		if (call->begun <= epoch)
			break;
		entry = hyptrace_ring_put(pos, delta, size);
		entry->common_type = HYPTRACE_EVENT_func;
		entry->id = id_of(call);
		*(u32 *)&entry->depth = call->stub >> DEPTH_SHIFT;
		entry->duration = to_ns(cycles(call->begun, call->ended), mult);
		entry->ago = to_ns(cycles(call->ended, counter), mult);
		pos = (u8 *)entry + size;
		delta = 0;
	}
	if (nr)
		hyptrace_ring_commit(ring, ring->commit, ring->recorded + nr - 1, entry, now, size);

	return call;
}

/* A filter looks at it, it does not fit, or the copy of the clock is not valid. */
static void record_slowly(struct hyptrace_ring *ring, const struct hyptrace_call *call)
{
	struct hyptrace_entry_func entry;
	u64 counter, now, mult, epoch;

	if (!hyptrace_clock_read_copy(&ring->clock, hyptrace_read_counter(), &now, &mult, &epoch))
		hyptrace_clock_read(&ring->clock);
	/* Its time and how long ago it was are of one moment. */
	counter = hyptrace_read_counter();
	memset(&entry, 0, sizeof(entry));
	entry.common_type = HYPTRACE_EVENT_func;
	entry.id = id_of(call);
	entry.depth = call->stub >> DEPTH_SHIFT;
	entry.duration = hyptrace_cycles_to_ns(cycles(call->begun, call->ended), ring->clock.mult);
	entry.ago = hyptrace_cycles_to_ns(cycles(call->ended, counter), ring->clock.mult);
	hyptrace_record_payload(ring, &entry, sizeof(entry), counter);
}

/* Record the functions that have returned on this CPU. */
static void record(struct hyptrace_ring *ring, struct hyptrace_calls *calls)
{
	const struct hyptrace_call *call = calls->call;
	const struct hyptrace_call *last = (void *)call + calls->used;
	u64 forgotten = calls->forgotten;

	calls->used = 0;
	calls->forgotten = 0;
	/* The CPU is silent, or func is on for others only. */
	if (!((ring->enabled | ring->aside) & BIT_ULL(HYPTRACE_EVENT_func)))
		return;
	if (forgotten && hyptrace_is_on(func))
		hyptrace_ring_drop(ring, forgotten);
	/* A trigger may stop the recording. Functions call here also while it is stopped. */
	while (call < last && hyptrace_is_on(func)) {
		if (ring->enabled & BIT_ULL(HYPTRACE_EVENT_func))
			call = record_quickly(ring, call, last);
		if (call < last)
			record_slowly(ring, call++);
	}
}

/*
 * Make room: forget the functions that most others have called, at least a quarter. They count as
 * dropped, whatever a filter of func would say of them.
 */
static void forget_deepest(struct hyptrace_calls *calls)
{
	struct hyptrace_call *call, *to = calls->call;
	struct hyptrace_call *last = (void *)to + calls->used;
	u16 nr[HYPTRACE_MAX_FRAMES] = { }, depth = HYPTRACE_MAX_FRAMES, sum = 0;

	for (call = to; call < last; call++)
		nr[min_t(u64, call->stub >> DEPTH_SHIFT, HYPTRACE_MAX_FRAMES - 1)]++;
	while (sum < HYPTRACE_MAX_CALLS / 4 && depth)
		sum += nr[--depth];
	for (call = to; call < last; call++) {
		if (call->stub >> DEPTH_SHIFT >= depth)
			calls->forgotten++;
		else
			*to++ = *call;
	}
	calls->used = (void *)to - (void *)calls->call;
}

/**
 * hyptrace_functions_record() - record the functions that have returned on this CPU so far
 *
 * If func follows other events, only the end of the call tells whether they are recorded.
 *
 * Context: EL2, in no event.
 */
void hyptrace_functions_record(void)
{
	struct hyptrace_calls *calls = this_cpu_ptr(&hyptrace_calls);

	if (!READ_ONCE(hyptrace_func_follows))
		record(hyptrace_this_ring(), calls);
	else if (calls->used >= sizeof(calls->call))
		forget_deepest(calls);
}

/**
 * hyptrace_functions_forget() - forget the functions that have returned on this CPU
 * @ring:	its ring
 *
 * They belong to a time when they were not recorded.
 */
void hyptrace_functions_forget(struct hyptrace_ring *ring)
{
	struct hyptrace_calls *calls = this_cpu_ptr(&hyptrace_calls);

	calls->used = 0;
	calls->forgotten = 0;
	/* Also by filters of func */
	ring->accepted = false;
}

/**
 * __hyptrace_functions_end() - record the functions of a call, or forget them
 *
 * Context: as for hyptrace_functions_end()
 */
void __hyptrace_functions_end(void)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	if (ring->accepted || !READ_ONCE(hyptrace_func_follows))
		record(ring, this_cpu_ptr(&hyptrace_calls));
	hyptrace_functions_forget(ring);
}
