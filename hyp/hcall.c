// SPDX-License-Identifier: GPL-2.0-only
/* The hypercall: decodes and executes the ops of abi.h. Called by EL2 and by the test remote. */
#include "function/function.h"
#include "hooks.h"

#ifdef __KVM_NVHE_HYPERVISOR__
DEFINE_PER_CPU(struct hyptrace_ring, hyptrace_rings) __aligned(HYPTRACE_RINGS_ALIGN) = {
	.lock = HYPTRACE_LOCK_INIT,
};

DEFINE_PER_CPU(struct hyptrace_ring, hyptrace_spare_rings) = {
	.lock = HYPTRACE_LOCK_INIT,
};
#endif

#ifdef CONFIG_HYPTRACE_FAULTS
u64 hyptrace_armed_fault;
#endif

#ifdef HYPTRACE_ENV_MODULE
struct hyptrace_ring __percpu *hyptrace_rings;
struct hyptrace_ring __percpu *hyptrace_spare_rings;

/**
 * hyptrace_alloc_rings() - allocate the rings of all CPUs, all of them empty
 *
 * Context: process, sleeps; before the first hyptrace_hcall().
 * Return: 0 or -ENOMEM.
 */
int hyptrace_alloc_rings(void)
{
	unsigned int cpu;

	hyptrace_rings = alloc_percpu(struct hyptrace_ring);
	hyptrace_spare_rings = alloc_percpu(struct hyptrace_ring);
	if (!hyptrace_rings || !hyptrace_spare_rings) {
		hyptrace_free_rings();
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu) {
		raw_spin_lock_init(&per_cpu_ptr(hyptrace_rings, cpu)->lock);
		raw_spin_lock_init(&per_cpu_ptr(hyptrace_spare_rings, cpu)->lock);
	}

	return 0;
}

/**
 * hyptrace_free_rings() - undo hyptrace_alloc_rings()
 *
 * Context: process; after the last hyptrace_hcall().
 */
void hyptrace_free_rings(void)
{
	free_percpu(hyptrace_spare_rings);
	free_percpu(hyptrace_rings);
}

/**
 * hyptrace_visit() - record and count the events of a hypercall that does nothing
 * @unused:	for smp_call_function_single()
 * Context: interrupts are off.
 */
void hyptrace_visit(void *unused)
{
	hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	hyptrace(hyp_exit, HYPTRACE_REASON_ERET_HOST);
}
#endif

/* The list of events as text. The host compares its hash with that of its own list. */
#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#define HYP_EVENT(name, proto, fields, assign, printk)	#name " " #fields "\n"
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk) \
	#name " " #fields "\n"
static const char event_list[] =
#include "events.h"
	;
#undef HYP_EVENT

/* The answer is never negative. */
static_assert(HYPTRACE_NR_EVENTS < 64);

/* No event: changes of guests' memory, which would be mem_transition. No event has the id 0. */
#define HYPTRACE_EVENT_guest_memory	HYPTRACE_EVENT_NONE
#define GUEST_MEMORY			BIT_ULL(HYPTRACE_EVENT_guest_memory)
#define BIT_OF(name)			| BIT_ULL(HYPTRACE_EVENT_##name)
#if defined(__KVM_NVHE_HYPERVISOR__) && !defined(CONFIG_HYPTRACE_EL2_FUNCTIONS)
#define FUNCTIONS			BIT_ULL(HYPTRACE_EVENT_func)
#else
#define FUNCTIONS			0
#endif
#define LACKS				(FUNCTIONS HYPTRACE_TREE_LACKS(BIT_OF))

static s64 get_info(u64 what)
{
	switch (what) {
	case HYPTRACE_INFO_VERSION:
		return HYPTRACE_ABI_VERSION;
	case HYPTRACE_INFO_EVENTS:
		return hyptrace_event_list_hash(event_list);
	case HYPTRACE_INFO_MISSING:
		return LACKS & ~GUEST_MEMORY;
	case HYPTRACE_INFO_INCOMPLETE:
		return LACKS & GUEST_MEMORY ? BIT_ULL(HYPTRACE_EVENT_mem_transition) : 0;
	default:
		return -EINVAL;
	}
}

/*
 * Write the one event that a CPU may record while it serves __hyptrace(). To let only its bit pass
 * takes fewer instructions than to call hyptrace_set_silent() twice.
 */
static s64 write_event(u64 id, u64 what)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	bool quiet = ring->silent == HYPTRACE_SILENT_CALL;
	u64 event;

#ifdef CONFIG_HYPTRACE_FAULTS
	if (what == HYPTRACE_WRITE_FAULT) {
		WRITE_ONCE(hyptrace_armed_fault, id);
		return 0;
	}
#endif
	if (what > HYPTRACE_WRITE_PRINTK)
		return -EINVAL;
	event = what == HYPTRACE_WRITE_SELFTEST ? BIT_ULL(HYPTRACE_EVENT_selftest) :
						  BIT_ULL(HYPTRACE_EVENT_hyp_printk);
	if (!(ring->selected & event & ~READ_ONCE(hyptrace_events_barred)))
		return -ENODATA;

	if (quiet) {
		if (READ_ONCE(ring->has_filter) & event)
			ring->aside = event;
		else
			WRITE_ONCE(ring->enabled, event);
	}
	if (what == HYPTRACE_WRITE_SELFTEST)
		__hyptrace_selftest(id);
	else
		hyptrace_printk("selftest %llu", id);
	if (quiet) {
		ring->aside = 0;
		WRITE_ONCE(ring->enabled, 0);
	}

	return 0;
}

/* Build or free a ring: the CPU's, or its spare one. */
static s64 call_load(u64 op, u64 which, u64 arg2, u64 arg3)
{
	u64 cpu = which & ~HYPTRACE_SPARE_RING;
	struct hyptrace_ring *ring = which & HYPTRACE_SPARE_RING ?
		hyptrace_spare_ring_of(cpu) : hyptrace_ring_of(cpu);

	if (!ring)
		return -ENXIO;

	switch (op) {
	case HYPTRACE_OP_RING_BEGIN:
		return hyptrace_load_begin(ring, arg2, arg3);
	case HYPTRACE_OP_RING_DIR:
		return hyptrace_load_dir(ring, arg2);
	case HYPTRACE_OP_RING_TABLE:
		return hyptrace_load_table(ring, arg2);
	case HYPTRACE_OP_RING_READY:
		return hyptrace_load_ready(ring, arg2);
	default:
		return hyptrace_load_free(ring);
	}
}

static s64 call_filter(u64 where, u64 what, u64 value)
{
	struct hyptrace_ring *ring = hyptrace_ring_of((u32)where);

	return ring ? hyptrace_filter_set(ring, where, what, value) : -ENXIO;
}

static s64 call_count(u64 op, u64 cpu, u64 arg2, u64 arg3)
{
	struct hyptrace_ring *ring = hyptrace_ring_of(cpu);

	if (!ring)
		return -ENXIO;

	switch (op) {
	case HYPTRACE_OP_COUNT_PAGE:
		return hyptrace_count_page(ring, arg2, arg3);
	case HYPTRACE_OP_COUNT_FREE:
		return hyptrace_count_free(ring);
	case HYPTRACE_OP_COUNT:
		return hyptrace_count_set(ring, arg2);
	case HYPTRACE_OP_PMU:
		return hyptrace_count_pmu(ring, arg2);
	default:
		return hyptrace_count_reset(ring, arg2);
	}
}

/* Execute an op that takes or gives back pages: the CPU records that like any change of owners. */
static s64 change_pages(u64 op, u64 which, u64 arg2, u64 arg3)
{
	struct hyptrace_ring *recorder = hyptrace_this_ring();
	bool audible = recorder->silent == HYPTRACE_SILENT_CALL;
	s64 ret;

	if (audible)
		hyptrace_set_silent(recorder, HYPTRACE_SILENT_LOAD);
	if (op == HYPTRACE_OP_COUNT_PAGE || op == HYPTRACE_OP_COUNT_FREE)
		ret = call_count(op, which, arg2, arg3);
	else
		ret = call_load(op, which, arg2, arg3);
	if (audible)
		hyptrace_set_silent(recorder, HYPTRACE_SILENT_CALL);

	return ret;
}

static s64 call_ring(u64 op, u64 cpu, u64 arg2)
{
	struct hyptrace_ring *ring = hyptrace_ring_of(cpu);

	if (!ring)
		return -ENXIO;

	switch (op) {
	case HYPTRACE_OP_ATTACH:
		if (arg2 & ~HYPTRACE_ALL_EVENTS)
			return -EINVAL;
		return hyptrace_ring_attach(ring, arg2);
	case HYPTRACE_OP_DETACH:
		return hyptrace_ring_detach(ring);
	case HYPTRACE_OP_SWAP:
		return hyptrace_ring_swap(ring, arg2);
	case HYPTRACE_OP_RESET:
		return hyptrace_ring_reset(ring);
	case HYPTRACE_OP_SYNC:
		return hyptrace_ring_sync(ring);
	case HYPTRACE_OP_EXCHANGE:
		return hyptrace_ring_exchange(ring, hyptrace_spare_ring_of(cpu));
	case HYPTRACE_OP_MOVE:
		return hyptrace_ring_move(ring, hyptrace_spare_ring_of(cpu));
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * hyptrace_hcall() - execute an op of __hyptrace()
 * @op:		enum hyptrace_op
 * @arg1:	first argument of the op
 * @arg2:	second
 * @arg3:	third
 * Context: EL2, or with interrupts off; @op and the arguments are untrusted.
 * Return: as the op; -EOPNOTSUPP no such op; -ENXIO no such CPU.
 */
s64 hyptrace_hcall(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	switch (op) {
	case HYPTRACE_OP_INFO:
		return get_info(arg1);
	case HYPTRACE_OP_RING_BEGIN:
	case HYPTRACE_OP_RING_DIR:
	case HYPTRACE_OP_RING_TABLE:
	case HYPTRACE_OP_RING_READY:
	case HYPTRACE_OP_RING_FREE:
	case HYPTRACE_OP_COUNT_PAGE:
	case HYPTRACE_OP_COUNT_FREE:
		return change_pages(op, arg1, arg2, arg3);
	case HYPTRACE_OP_CLOCK:
		return hyptrace_clock_set(arg1, arg2, arg3);
	case HYPTRACE_OP_WRITE:
		return write_event(arg1, arg2);
	case HYPTRACE_OP_FILTER:
		return call_filter(arg1, arg2, arg3);
	case HYPTRACE_OP_COUNT:
	case HYPTRACE_OP_COUNT_RESET:
	case HYPTRACE_OP_PMU:
		return call_count(op, arg1, arg2, arg3);
	case HYPTRACE_OP_TRIGGER:
		return hyptrace_trigger_set(arg1, arg2, arg3);
	case HYPTRACE_OP_PAUSE:
		return hyptrace_trigger_pause();
	case HYPTRACE_OP_ARM:
		return hyptrace_trigger_arm(arg1);
	case HYPTRACE_OP_PAGE:
		return hyptrace_page_owner(arg1);
	case HYPTRACE_OP_VOID_HCALLS:
		return hyptrace_filter_set_void(arg1, arg2);
	case HYPTRACE_OP_FUNCTION:
		return hyptrace_function_set(arg1, arg2);
	default:
		return call_ring(op, arg1, arg2);
	}
}
