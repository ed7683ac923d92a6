// SPDX-License-Identifier: GPL-2.0-only
/*
 * What became of a ring's events while a verb was its only consumer.
 *
 * The events in a file are exactly those that the ring's counter "read" counts while the file is
 * written. The losses are those that its sub-buffers report.
 */
#include "session.h"

/* The counts of a ring since it was loaded or cleared */
struct ring_counts ring_counts_of(const struct hyptrace_cpu *cpu)
{
	return (struct ring_counts){
		.events = cpu->read,
		.lost = cpu->overrun + cpu->dropped - cpu->unreported,
		.filtered = cpu->filtered,
		.clears = cpu->clears,
	};
}

void ring_counts_add(struct ring_counts *sum, const struct ring_counts *counts)
{
	sum->events += counts->events;
	sum->lost += counts->lost;
	sum->filtered += counts->filtered;
}

/*
 * A file ends: make @counts, which are from its begin, its own, and write them to it. @last: losses
 * after the last event, which no sub-buffer has reported, belong to it. Return false if the ring
 * was cleared: then the counts are 0, and not known.
 */
bool ring_counts_end(struct ring_counts *counts, const struct hyptrace_cpu *cpu, bool last,
		     struct hyptrace_file_writer *w)
{
	const struct ring_counts now = ring_counts_of(cpu), base = *counts;

	*counts = (struct ring_counts){};
	/* a driver that does not count the clears: the counters have begun again */
	if (now.clears != base.clears || now.events < base.events || now.lost < base.lost ||
	    now.filtered < base.filtered)
		return false;
	/* the next file of a rotation could not be begun */
	if (!w)
		return true;
	counts->events = now.events - base.events;
	counts->lost = now.lost - base.lost + (last && !cpu->unread ? cpu->unreported : 0);
	counts->filtered = now.filtered - base.filtered;
	hyptrace_file_set_counts(w, cpu->id, counts->events, counts->lost, counts->filtered);
	return true;
}
