// SPDX-License-Identifier: GPL-2.0-only
/*
 * The losses before the first and after the last event of a ring's snapshot. For cmd_show.c and
 * record_snapshot.c.
 *
 * The ring does not hold them: a consumer learns the former from the swap, and the latter from
 * the sub-buffer that follows. The counters of the ring have both, up to what a consumer has
 * learnt: unreported. While events are lost, the counters do not tell how many were lost at the
 * time of the snapshot.
 */
#include <stdbool.h>

#include "edge_losses.h"

/*
 * Find out where a ring has lost events that no consumer has learnt of. Overwritten events are
 * missing before the first one of the snapshot, dropped ones after the last one and before others.
 * If there are both, nobody knows how many are missing in which place.
 */
void edge_losses_find(struct edge_losses *edge, const struct hyptrace_cpu *before,
		      const struct hyptrace_cpu *after)
{
	const bool exact = before->overrun == after->overrun &&
			   before->dropped == after->dropped &&
			   before->unreported == after->unreported;
	const uint64_t lost = exact ? after->unreported : HYPTRACE_LOST_UNKNOWN;

	*edge = (struct edge_losses){ 0 };
	if (!after->overrun)
		edge->others = lost;
	else if (!after->dropped || !lost)
		edge->begin = lost;
	else
		edge->begin = HYPTRACE_LOST_UNKNOWN;
}

uint64_t edge_losses_add(uint64_t lost, uint64_t more)
{
	return lost > HYPTRACE_LOST_UNKNOWN - more ? HYPTRACE_LOST_UNKNOWN : lost + more;
}

uint64_t edge_losses_end(const struct edge_losses *edge, uint64_t inner)
{
	if (edge->others == HYPTRACE_LOST_UNKNOWN)
		return HYPTRACE_LOST_UNKNOWN;
	return edge->others > inner ? edge->others - inner : 0;
}
