/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of a remote, and their requests. For the tests of counting. A function that returns
 * a number returns a negative errno if it fails.
 */
#ifndef __COUNTERS_H
#define __COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/hyptrace_netlink.h>

#include "nl.h"

#define COUNTER_BUCKETS	32
#define COUNTER_MESSAGE	256

struct counter {
	uint32_t	cpu;
	char		event[16];
	char		field[8];
	bool		is_others;
	uint64_t	value;
	uint64_t	count;
	bool		has_time;
	uint64_t	total;
	uint64_t	longest;
	uint64_t	frequency;
	uint64_t	buckets[COUNTER_BUCKETS];
	uint64_t	now;		/* for hyp_exit, which has only this and total */
	uint64_t	measured;
	uint64_t	pmu[HYPTRACE_PMU_COUNTER_MAX];
};

/* "hypervisor" unless a test changes it */
extern const char *counters_remote;

int counters_load_test(void);
int counters_set(struct nl *nl, const char *event, bool count);
int counters_hold(struct nl *nl, const char *event, bool hold);
int counters_measure(struct nl *nl, const char *event, const uint32_t *pmu, unsigned int nr,
		     char message[COUNTER_MESSAGE]);
int counters_reset(struct nl *nl, int cpu);
ssize_t counters_get(struct nl *nl, int cpu, struct counter *counters, size_t room);
const struct counter *counters_find(const struct counter *counters, size_t nr, uint32_t cpu,
				    const char *event, const char *field, uint64_t value);
const char *counters_message(void);
bool counter_is_plausible(const struct counter *counter);

#endif /* __COUNTERS_H */
