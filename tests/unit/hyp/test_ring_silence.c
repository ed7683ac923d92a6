// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hypercalls of hyptrace itself leave no events, but for those of memory while pages change
 * hands. EL2 leaves none while it runs a protected guest. Everything else leaves pairs of events.
 * Each event of the list is tried.
 */
#include "ring_decode.h"
#include "hyp_env.h"

#define CPU		1
#define NR_PAGES	4
#define SPARE_PAGES	3

/* Those of the entry and exit of EL2, for the tests that are not about each event */
#define EVENTS		(BIT_ULL(HYPTRACE_EVENT_hyp_enter) | BIT_ULL(HYPTRACE_EVENT_hyp_exit) | \
			 BIT_ULL(HYPTRACE_EVENT_selftest))

static struct env_ring ring;
static const u64 no_regs[31];

/* A guest's run begins before the silence of it. The hook does not look. */
static void begin_guest_exit(void)
{
	if (!hyptrace_this_ring()->silent)
		hyptrace_begin_span(hyptrace_this_ring(), guest_exit);
}

static void record_guest_exit(const struct hyptrace_vcpu *vcpu)
{
	__hyptrace_guest_exit(hyptrace_this_ring(), vcpu, 0);
}

/* One function begins and ends it, so there is no end after the silence of a begin in it. */
static void begin_lock_wait(void)
{
	if (!hyptrace_this_ring()->silent)
		hyptrace_begin_span(hyptrace_this_ring(), lock_wait);
}

static void record_lock_wait(void)
{
	__hyptrace_lock_wait(hyptrace_this_ring(), HYPTRACE_LOCK_VM, -1);
}

/*
 * All functions of the list of events, to be called with any arguments: each is an address, of
 * which a function takes as many bytes as its parameter has. The calling conventions of 64-bit
 * machines pass each of them in a register or stack slot of its own. begin: NULL if the event is
 * not timed
 */
typedef void (*any_event_fn)(u64, u64, u64, u64, u64, u64, u64, u64);

static const struct {
	void *begin;
	void *record;
} all[HYPTRACE_NR_EVENTS] = {
#define HYP_EVENT(name, ...) \
	[HYPTRACE_EVENT_##name] = { .record = __hyptrace_##name },
#define HYP_TIMED_EVENT(name, ...) \
	[HYPTRACE_EVENT_##name] = { .begin = __hyptrace_begin_##name, .record = __hyptrace_##name },
#define HYP_SPAN_EVENT(name, ...) \
	[HYPTRACE_EVENT_##name] = { .begin = begin_##name, .record = record_##name },
#include "events.h"
#undef HYP_EVENT
#undef HYP_TIMED_EVENT
#undef HYP_SPAN_EVENT
};

static void call(void *function)
{
	u64 any = (uintptr_t)no_regs;

	((any_event_fn)function)(any, any, any, any, any, any, any, any);
}

static void begin(u32 id)
{
	if (all[id].begin)
		call(all[id].begin);
}

static void record(u32 id)
{
	call(all[id].record);
}

static int start(void **state)
{
	(void)state;
	env_start(env_ring_pages(NR_PAGES) + env_ring_pages(SPARE_PAGES));
	env_ring_load(&ring, CPU, 0, NR_PAGES, 0);
	env_cpu(CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, EVENTS, 0), 0);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&ring);
	env_stop();

	return 0;
}

/* Handle a hypercall as the kernel's EL2 code does: see hyp/linux. */
static s64 trap(u64 op, u64 arg1, u64 arg2)
{
	s64 ret;

	{
		hyptrace_host_call(0, true, no_regs);
		hyptrace_silence_own_call();
		ret = hyptrace_hcall(op, arg1, arg2, 0);
	}
	hyptrace_host_exit();

	return ret;
}

static void other_trap(void)
{
	{
		hyptrace_host_call(0, false, no_regs);
	}
	hyptrace_host_exit();
}

static u64 written(void)
{
	return env_rings[CPU].recorded;
}

static void own_calls(void **state)
{
	u64 op;

	(void)state;
	for (op = 0; op < HYPTRACE_NR_OPS + 2; op++) {
		if (op == HYPTRACE_OP_WRITE || op == HYPTRACE_OP_DETACH || op == HYPTRACE_OP_CLOCK)
			continue;
		trap(op, CPU, op == HYPTRACE_OP_ATTACH ? EVENTS : 0);
		assert_int_equal(written(), 0);
		assert_int_equal(env_rings[CPU].silent, 0);
	}
	assert_int_equal(trap(HYPTRACE_OP_ATTACH, CPU, EVENTS), 0);
	other_trap();
	assert_int_equal(written(), 2);
}

/* A hypercall of hyptrace may call the firmware: that leaves no events either. */
static void own_calls_to_the_firmware(void **state)
{
	(void)state;
	hyptrace_host_call(0, true, no_regs);
	hyptrace_silence_own_call();
	hyptrace_smc_exit();
	hyptrace_smc_enter();
	hyptrace_host_exit();
	assert_int_equal(written(), 0);
	other_trap();
	assert_int_equal(written(), 2);
	hyptrace_smc_exit();
	hyptrace_smc_enter();
	assert_int_equal(written(), 4);
}

/*
 * The only event that a hypercall of hyptrace may leave is the selftest event that it asks
 * for.
 */
static void selftest(void **state)
{
	struct decoded events[DECODE_MAX];

	(void)state;
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 7, 0), 0);
	assert_int_equal(written(), 1);
	assert_int_equal(decode_both(env_rings[CPU].page, events), 1);
	assert_int_equal(*(u16 *)(env_rings[CPU].page->data + events[0].offset),
			 HYPTRACE_EVENT_selftest);
	assert_int_equal(env_rings[CPU].silent, 0);
	other_trap();
	assert_int_equal(written(), 3);
}

/* The host can ask for no other event, also not with one of its numbers in the lower half. */
static void no_such_event(void **state)
{
	(void)state;
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 7, HYPTRACE_WRITE_PRINTK + 1), -EINVAL);
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 7, BIT_ULL(32)), -EINVAL);
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 7, ~0ULL), -EINVAL);
	assert_int_equal(written(), 0);
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 7, HYPTRACE_WRITE_SELFTEST), 0);
	assert_int_equal(written(), 1);
}

/* After the selftest event, the hypercall is as silent as before. */
static void silent_after_selftest(void **state)
{
	(void)state;
	hyptrace_silence_own_call();
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_WRITE, 7, HYPTRACE_WRITE_SELFTEST, 0), 0);
	assert_int_equal(written(), 1);
	hyptrace(selftest, 8);
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	assert_int_equal(written(), 1);
	hyptrace_host_exit();
	hyptrace(selftest, 9);
	assert_int_equal(written(), 2);
}

/* Silence ends only with the return to the host. */
static void events_within(void **state)
{
	(void)state;
	hyptrace_silence_own_call();
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	hyptrace(selftest, 1);
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	assert_int_equal(written(), 0);
	assert_int_equal(env_rings[CPU].silent, HYPTRACE_SILENT_CALL);
	hyptrace_host_exit();
	assert_int_equal(written(), 0);
	assert_int_equal(env_rings[CPU].silent, 0);
}

/* The calls that start and stop tracing are silent as well. */
static void first_and_last(void **state)
{
	(void)state;
	assert_int_equal(trap(HYPTRACE_OP_DETACH, CPU, 0), 0);
	other_trap();
	assert_int_equal(trap(HYPTRACE_OP_ATTACH, CPU, EVENTS), 0);
	assert_int_equal(written(), 0);
	other_trap();
	assert_int_equal(written(), 2);
}

/* Silence ends even if hyp_exit, the event of the return to the host, is disabled. */
static void silence_ends_without_hyp_exit(void **state)
{
	(void)state;
	assert_int_equal(trap(HYPTRACE_OP_ATTACH, CPU, BIT_ULL(HYPTRACE_EVENT_selftest)), 0);
	assert_int_equal(env_rings[CPU].silent, 0);
	hyptrace(selftest, 1);
	assert_int_equal(written(), 1);
	other_trap();
	assert_int_equal(written(), 1);
}

static void guest(bool protected, u32 entries)
{
	hyptrace_host_call(0, false, no_regs);
	hyptrace_set_vcpu(42);
	hyptrace_guest_begin(protected);
	while (entries--) {
		hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
		hyptrace(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
		/* EL2 calls the firmware for the guest. */
		hyptrace(hyp_exit, HYPTRACE_REASON_SMC);
		hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	}
	hyptrace_guest_end(protected);
	hyptrace_set_vcpu(0);
	hyptrace_host_exit();
}

/* The host must see only the first entry to and the last exit from a protected guest. */
static void guests(void **state)
{
	(void)state;
	guest(true, 5);
	assert_int_equal(written(), 4);
	guest(false, 5);
	assert_int_equal(written(), 4 + 2 + 20);
	guest(true, 1);
	assert_int_equal(written(), 26 + 4);
	assert_int_equal(env_rings[CPU].silent, 0);
}

/* Events have the vCPU's thread only while the CPU runs the vCPU. */
static void vcpu_thread(void **state)
{
	static const pid_t due[] = { 0, 42, 42, 0 };
	struct decoded events[DECODE_MAX];
	pid_t vcpu;
	u32 i;

	(void)state;
	guest(true, 1);
	assert_int_equal(decode_both(env_rings[CPU].page, events), ENV_NR(due));
	for (i = 0; i < ENV_NR(due); i++) {
		memcpy(&vcpu, env_rings[CPU].page->data + events[i].offset + 4, sizeof(vcpu));
		assert_int_equal(vcpu, due[i]);
	}
}

/* Events that are enabled during silence are recorded only once it has ended. */
static void attach_does_not_end_silence(void **state)
{
	(void)state;
	hyptrace_guest_begin(true);
	assert_int_equal(written(), 1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, EVENTS, 0), 0);
	hyptrace(selftest, 1);
	assert_int_equal(written(), 1);
	hyptrace_guest_end(true);
	assert_int_equal(written(), 2);
}

/* Switching a CPU on ends its silence. */
static void power_on_ends_silence(void **state)
{
	(void)state;
	hyptrace_silence_own_call();
	hyptrace_cpu_off();
	hyptrace_cpu_on();
	hyptrace(selftest, 1);
	assert_int_equal(written(), 1);
}

static void try_all(void)
{
	u32 id;

	for (id = 1; id < HYPTRACE_NR_EVENTS; id++) {
		begin(id);
		record(id);
	}
}

/* Enable all events, and give the counter a value that is not that of an event never begun. */
static void enable_all(void)
{
	env_counter = 1000;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);
}

/* Without silence each event of the list leaves one record. */
static void each_event(void **state)
{
	struct decoded events[DECODE_MAX];
	u32 id;

	(void)state;
	enable_all();
	for (id = 1; id < HYPTRACE_NR_EVENTS; id++) {
		begin(id);
		assert_int_equal(written(), id - 1);
		record(id);
		assert_int_equal(written(), id);
		assert_int_equal(decode_both(env_rings[CPU].page, events), id);
		assert_int_equal(*(u16 *)(env_rings[CPU].page->data + events[id - 1].offset), id);
	}
}

/* While EL2 runs a protected guest, no event of the list is recorded, nor begun. */
static void each_event_in_a_protected_guest(void **state)
{
	u64 before;
	u32 id;

	(void)state;
	enable_all();
	hyptrace_guest_begin(true);
	before = written();
	try_all();
	try_all();
	assert_int_equal(written(), before);
	assert_int_equal(env_rings[CPU].silent, HYPTRACE_SILENT_GUEST);
	hyptrace_guest_end(true);
	assert_int_equal(written(), before + 1);
	for (id = 1; id < HYPTRACE_NR_EVENTS; id++) {
		if (all[id].begin)
			record(id);
	}
	assert_int_equal(written(), before + 1);
}

/* An event that has begun before the guest's run is not recorded in it. */
static void each_event_begun_before_a_protected_guest(void **state)
{
	u64 before;
	u32 id;

	(void)state;
	enable_all();
	for (id = 1; id < HYPTRACE_NR_EVENTS; id++) {
		if (!all[id].begin)
			continue;
		begin(id);
		hyptrace_guest_begin(true);
		before = written();
		record(id);
		assert_int_equal(written(), before);
		hyptrace_guest_end(true);
	}
}

/* While EL2 serves __hyptrace(), no event is recorded either, until the return to the host. */
static void each_event_in_an_own_call(void **state)
{
	u32 id;

	(void)state;
	enable_all();
	hyptrace_silence_own_call();
	for (id = 1; id < HYPTRACE_NR_EVENTS; id++) {
		if (id == HYPTRACE_EVENT_hyp_exit)
			continue;
		begin(id);
		record(id);
		assert_int_equal(written(), 0);
	}
	hyptrace_host_exit();
	assert_int_equal(written(), 0);
	assert_int_equal(env_rings[CPU].silent, 0);
}

/* What a protected guest's own call makes EL2 allocate is not seen later either. */
static void pool_of_a_protected_guest(void **state)
{
	struct hyptrace_entry_hyp_pool entry;
	struct decoded events[DECODE_MAX];
	u64 pool = BIT_ULL(HYPTRACE_EVENT_hyp_pool);
	u32 left = 0, i;

	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, pool, 0), 0);
	hyptrace_pool_change(&left, HYPTRACE_POOL_FREE, 4, 1);
	hyptrace_guest_begin(true);
	hyptrace_pool_change(&left, HYPTRACE_POOL_ALLOC, 1, 1);
	hyptrace_guest_end(true);
	hyptrace_pool_change(&left, HYPTRACE_POOL_ALLOC, 0, 1);
	/* What EL2 allocates while it runs another guest counts. */
	hyptrace_guest_begin(false);
	hyptrace_pool_change(&left, HYPTRACE_POOL_ALLOC, 2, 1);
	hyptrace_guest_end(false);

	assert_int_equal(decode_both(env_rings[CPU].page, events), 3);
	for (i = 0; i < 3; i++) {
		memcpy(&entry, env_rings[CPU].page->data + events[i].offset, sizeof(entry));
		assert_int_equal(entry.left, ((u32[]){ 16, 15, 11 })[i]);
	}
}

static u32 nr_changes;

static void try_all_in_a_change(void)
{
	nr_changes++;
	try_all();
}

/* Load and unload the spare ring. Return how often pages have changed hands. */
static u32 load_and_unload(void)
{
	struct env_ring spare;

	nr_changes = 0;
	env_pages_hook = try_all_in_a_change;
	hyptrace_silence_own_call();
	env_ring_load(&spare, CPU | HYPTRACE_SPARE_RING, env_ring_pages(NR_PAGES), SPARE_PAGES, 0);
	record(HYPTRACE_EVENT_mem_transition);
	env_ring_free(&spare);
	record(HYPTRACE_EVENT_mem_transition);
	hyptrace_host_exit();
	env_pages_hook = NULL;

	return nr_changes;
}

/* While __hyptrace() takes pages or gives them back, the events of memory are recorded. */
static void each_event_while_a_ring_is_loaded(void **state)
{
	static const u16 due[] = {
		HYPTRACE_EVENT_mem_transition, HYPTRACE_EVENT_tlbi, HYPTRACE_EVENT_hyp_pool,
	};
	struct decoded events[DECODE_MAX];
	u32 nr, i;

	(void)state;
	enable_all();
	nr = load_and_unload() * ENV_NR(due);
	/* each data page, the meta page, the directory and the table: taken, and given back */
	assert_int_equal(nr, 2 * (SPARE_PAGES + 1 + 1 + 1) * ENV_NR(due));
	assert_int_equal(written(), nr);
	assert_int_equal(decode_both(env_rings[CPU].page, events), nr);
	for (i = 0; i < nr; i++)
		assert_int_equal(*(u16 *)(env_rings[CPU].page->data + events[i].offset),
				 due[i % ENV_NR(due)]);
	assert_int_equal(env_rings[CPU].silent, 0);
	other_trap();
	assert_int_equal(written(), nr + 3);
}

/* In a protected guest's run there are no such calls. If there were, they would be silent. */
static void a_ring_that_is_loaded_in_a_protected_guest(void **state)
{
	u64 before;

	(void)state;
	enable_all();
	hyptrace_guest_begin(true);
	before = written();
	assert_int_not_equal(load_and_unload(), 0);
	assert_int_equal(written(), before);
	assert_int_equal(env_rings[CPU].silent, HYPTRACE_SILENT_GUEST);
	hyptrace_guest_end(true);
}

#define WITH_RING(test)	cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RING(own_calls),
		WITH_RING(own_calls_to_the_firmware),
		WITH_RING(selftest),
		WITH_RING(no_such_event),
		WITH_RING(silent_after_selftest),
		WITH_RING(events_within),
		WITH_RING(first_and_last),
		WITH_RING(silence_ends_without_hyp_exit),
		WITH_RING(guests),
		WITH_RING(vcpu_thread),
		WITH_RING(attach_does_not_end_silence),
		WITH_RING(power_on_ends_silence),
		WITH_RING(each_event),
		WITH_RING(each_event_in_a_protected_guest),
		WITH_RING(each_event_begun_before_a_protected_guest),
		WITH_RING(pool_of_a_protected_guest),
		WITH_RING(each_event_in_an_own_call),
		WITH_RING(each_event_while_a_ring_is_loaded),
		WITH_RING(a_ring_that_is_loaded_in_a_protected_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
