/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings of three CPUs whose events fire triggers: set them up, record, and see what has fired.
 * Events whose number is 7 pass the filters. For test_ring_trigger.c, test_ring_trigger_after.c and
 * test_ring_trigger_notify.c.
 */
#ifndef TRIGGER_RINGS_H
#define TRIGGER_RINGS_H

#include "hyp_env.h"

#define CPUS		3
#define NR_PAGES	6
#define ARM		77
#define EVENTS		(BIT_ULL(HYPTRACE_EVENT_selftest) | BIT_ULL(HYPTRACE_EVENT_hyp_enter) | \
			 BIT_ULL(HYPTRACE_EVENT_hyp_exit) | BIT_ULL(HYPTRACE_EVENT_hyp_printk) | \
			 BIT_ULL(HYPTRACE_EVENT_host_mem_abort))

extern struct env_ring trigger_host[CPUS];

void attach(u32 cpu);
void start_rings(u32 nr_pages, u32 flags);
int setup_rings(void **state);
int setup_full_rings(void **state);
int teardown_rings(void **state);
s64 set_trigger(u64 event, u64 what, u64 after);
void pause_all(void);
void arm(u64 number);
bool is_recorded(u32 cpu);
void assert_recording(bool recording);
void selftest_on(u32 cpu, u64 id);
void printk_on(u32 cpu, u32 id);
void assert_fired(const struct hyptrace_fired *fired, u64 number, u32 event, u64 time);
void assert_none_fired_but(u32 but);
const struct hyptrace_fired *stopped(u32 cpu);
const struct hyptrace_fired *started(u32 cpu);
void set_filters(u32 cpu, u64 id);

#endif /* TRIGGER_RINGS_H */
