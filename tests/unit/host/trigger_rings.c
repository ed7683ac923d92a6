// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of three CPUs whose events fire triggers.
 */
#include "count_pages.h"
#include "filter_terms.h"
#include "trigger_rings.h"

struct env_ring trigger_host[CPUS];

void attach(u32 cpu)
{
	env_cpu(cpu);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, cpu, EVENTS, 0), 0);
}

/* Let selftest events with this id pass on a CPU, and printk events with this fmt_id. */
void set_filters(u32 cpu, u64 id)
{
	struct hyptrace_term term = {
		.offset = offsetof(struct hyptrace_entry_selftest, id), .width = 8,
		.op = HYPTRACE_TERM_EQ, .value = id,
		.on_true = HYPTRACE_FILTER_ACCEPT, .on_false = HYPTRACE_FILTER_REJECT,
	};

	env_cpu(cpu);
	assert_int_equal(filter_set(cpu, HYPTRACE_EVENT_selftest, &term, 1), 0);
	term.offset = offsetof(struct hyptrace_entry_hyp_printk, fmt_id);
	term.width = sizeof(((struct hyptrace_entry_hyp_printk *)0)->fmt_id);
	assert_int_equal(filter_set(cpu, HYPTRACE_EVENT_hyp_printk, &term, 1), 0);
}

void start_rings(u32 nr_pages, u32 flags)
{
	u32 pages = env_ring_pages(nr_pages), cpu;

	env_start(2 * CPUS * pages + 2 * COUNT_PAIRS);
	env_counter = 1000;
	for (cpu = 0; cpu < CPUS; cpu++) {
		env_ring_load(&trigger_host[cpu], cpu, cpu * pages, nr_pages, flags);
		attach(cpu);
		set_filters(cpu, 7);
	}
}

int setup_rings(void **state)
{
	(void)state;
	start_rings(NR_PAGES, 0);

	return 0;
}

int setup_full_rings(void **state)
{
	(void)state;
	start_rings(HYPTRACE_RING_MIN_PAGES, HYPTRACE_RING_DISCARD);

	return 0;
}

int teardown_rings(void **state)
{
	u32 cpu;

	(void)state;
	for (cpu = 0; cpu < CPUS; cpu++) {
		env_cpu(cpu);
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, cpu, 0, 0), 0);
		env_ring_free(&trigger_host[cpu]);
	}
	env_stop();

	return 0;
}

s64 set_trigger(u64 event, u64 what, u64 after)
{
	return hyptrace_hcall(HYPTRACE_OP_TRIGGER, event, what, after);
}

void pause_all(void)
{
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_PAUSE, 0, 0, 0), 0);
}

void arm(u64 number)
{
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ARM, number, 0, 0), 0);
}

bool is_recorded(u32 cpu)
{
	u64 before = env_rings[cpu].recorded;

	env_cpu(cpu);
	hyptrace(hyp_enter, 0);

	return env_rings[cpu].recorded > before;
}

void assert_recording(bool recording)
{
	u32 cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(is_recorded(cpu), recording);
}

void selftest_on(u32 cpu, u64 id)
{
	env_cpu(cpu);
	hyptrace(selftest, id);
}

void printk_on(u32 cpu, u32 id)
{
	env_cpu(cpu);
	hyptrace(hyp_printk, id, 0, 0, 0, 0);
}

void assert_fired(const struct hyptrace_fired *fired, u64 number, u32 event, u64 time)
{
	assert_int_equal(fired->arm, number);
	assert_int_equal(fired->event, event);
	assert_int_equal(fired->time, time);
	assert_int_equal(fired->reserved, 0);
}

/* No CPU but @but, if any, has an event that has started or stopped the recording. */
void assert_none_fired_but(u32 but)
{
	u32 cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		if (cpu == but)
			continue;
		assert_fired(&env_ring_meta(&trigger_host[cpu])->started, 0, 0, 0);
		assert_fired(&env_ring_meta(&trigger_host[cpu])->stopped, 0, 0, 0);
	}
}

const struct hyptrace_fired *stopped(u32 cpu)
{
	return &env_ring_meta(&trigger_host[cpu])->stopped;
}

const struct hyptrace_fired *started(u32 cpu)
{
	return &env_ring_meta(&trigger_host[cpu])->started;
}
