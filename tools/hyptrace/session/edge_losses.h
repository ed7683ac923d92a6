/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The losses before the first and after the last event of a ring's snapshot. For show and record.
 */
#ifndef EDGE_LOSSES_H
#define EDGE_LOSSES_H

#include <stdint.h>

#include "lib/hyptrace.h"

/* Losses that no record of a snapshot reports */
struct edge_losses {
	uint64_t	begin;	/* events lost before the first one, or HYPTRACE_LOST_UNKNOWN */
	/* events lost before any other one, and after the last one, or HYPTRACE_LOST_UNKNOWN */
	uint64_t	others;
};

void edge_losses_find(struct edge_losses *edge, const struct hyptrace_cpu *before,
		      const struct hyptrace_cpu *after);
uint64_t edge_losses_add(uint64_t lost, uint64_t more);
uint64_t edge_losses_end(const struct edge_losses *edge, uint64_t inner);

#endif /* EDGE_LOSSES_H */
