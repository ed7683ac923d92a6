/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of a ring's events while a verb was its only consumer, by the driver's counters.
 */
#ifndef RING_COUNTS_H
#define RING_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hyptrace_file.h"

struct ring_counts {
	uint64_t	events;		/* read */
	uint64_t	lost;		/* as the sub-buffers report it */
	uint64_t	filtered;	/* refused by filters at EL2 */
	uint64_t	clears;		/* of the ring */
};

struct ring_counts ring_counts_of(const struct hyptrace_cpu *cpu);
void ring_counts_add(struct ring_counts *sum, const struct ring_counts *counts);
bool ring_counts_end(struct ring_counts *counts, const struct hyptrace_cpu *cpu, bool last,
		     struct hyptrace_file_writer *w);

#endif /* RING_COUNTS_H */
