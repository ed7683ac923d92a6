/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings of hyp/ on the host, and what the driver does with them: it takes sub-buffers and counts.
 * For make_file.c and scenario.c.
 */
#ifndef RINGS_H
#define RINGS_H

#include <stdbool.h>
#include <stdint.h>

#define RINGS_MAX	8

/* Bytes of a sub-buffer */
#define RINGS_SUBBUF	4096

/**
 * struct ring_counts - the counters of a ring
 * @read:	events that were taken
 * @lost:	events that were lost
 * @unreported:	lost events that no sub-buffer has reported
 * @unread:	events that were not taken so far
 */
struct ring_counts {
	uint64_t	read;
	uint64_t	lost;
	uint64_t	unreported;
	uint64_t	unread;
};

/**
 * struct ring_map - a ring, for an observer
 * @pages:	its sub-buffers
 * @nr:		number of @pages
 * @id:		the reader's sub-buffer
 * @consumed:	bytes of it that were taken
 * @begin:	sub-buffers with an earlier time stamp hold nothing
 * @used:	sub-buffers that hold data
 */
struct ring_map {
	const void	*pages;
	unsigned int	nr;
	unsigned int	id;
	unsigned int	consumed;
	uint64_t	begin;
	unsigned int	used;
};

/* rings.c */
void rings_begin(unsigned int cpus, unsigned int pages, bool discard, uint64_t time);
void rings_use(unsigned int cpu);
void rings_pass(uint64_t ns);
uint64_t rings_recorded(unsigned int cpu);
bool rings_take(unsigned int cpu, void *subbuf);
void rings_clear(unsigned int cpu);
void rings_look(unsigned int cpu, struct ring_map *map);
void rings_count(unsigned int cpu, struct ring_counts *counts);

/* scenario.c: what a hypervisor does */

/* The hypercalls: number, name, whether it returns a value, arguments */
#define SCENARIO_TEARDOWN	21

#define SCENARIO_CALLS(CALL)						\
	CALL(4, "__pkvm_host_share_hyp", true, "u64", "pfn")		\
	CALL(5, "__pkvm_host_unshare_hyp", true, "u64", "pfn")		\
	CALL(7, "__kvm_adjust_pc", false, "struct kvm_vcpu *", "vcpu")	\
	CALL(8, "__kvm_vcpu_run", true, "struct kvm_vcpu *", "host_vcpu") \
	CALL(12, "__pkvm_host_map_guest", true, "u64", "pfn")		\
	CALL(17, "__kvm_timer_set_cntvoff", false, "u64", "cntvoff")	\
	CALL(SCENARIO_TEARDOWN, "__pkvm_teardown_vm", true, "pkvm_handle_t", "handle")

void scenario_step(unsigned int cpu, uint64_t limit);
void scenario_only(bool marks);

#endif /* RINGS_H */
