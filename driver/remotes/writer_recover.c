// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frees the rings and counters that an earlier module failed to take back, and removes its
 * triggers. Called by writer.c. Without this, the writer would refuse each load with -EBUSY until a
 * reboot. The memory of the rings stays lost: no record of their pages is left.
 */
#define pr_fmt(fmt) "hyptrace: " fmt

#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "../../hyp/abi.h"
#include "writer.h"

/*
 * No CPU needs more calls: each moves, or frees, at least one page of a ring, and the calls for a
 * ring's tables are far fewer than its pages.
 */
#define MAX_STEPS	(4 * HYPTRACE_RING_MAX_PAGES(PAGE_SIZE))

/* A ring is detached on its own CPU, unless parked. Ignore errors: it cannot be freed then. */
static void detach_all(struct hyptrace_writer *writer)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_DETACH, 0);
}

static void clear_triggers(struct hyptrace_writer *writer)
{
	unsigned int id;

	/* The writer refuses ids above those of its events. */
	for (id = 1; id < HYPTRACE_MAX_EVENT_ID; id++)
		writer->call(HYPTRACE_OP_TRIGGER, id, HYPTRACE_TRIGGER_NONE, 0);
}

/* Repeat an op until it returns 0 or a negative errno. *@steps counts the repetitions. */
static s64 repeat_op(struct hyptrace_writer *writer, u64 op, u64 which, unsigned long *steps)
{
	s64 ret;

	while ((ret = writer->call(op, which, 0, 0)) > 0) {
		if (++*steps > MAX_STEPS)
			return -EPROTO;
		cond_resched();
	}

	return ret;
}

/* Free both rings of a CPU. A retired ring can be freed only after all its events are moved. */
static s64 free_rings(struct hyptrace_writer *writer, unsigned int cpu, unsigned long *steps)
{
	s64 ret;

	ret = repeat_op(writer, HYPTRACE_OP_MOVE, cpu, steps);
	/* -ENODEV: no ring is retired. */
	if (ret && ret != -ENODEV)
		return ret;

	return repeat_op(writer, HYPTRACE_OP_RING_FREE, cpu | HYPTRACE_SPARE_RING, steps) ?:
	       repeat_op(writer, HYPTRACE_OP_RING_FREE, cpu, steps);
}

/**
 * hyptrace_writer_recover() - free what an earlier module left, and remove its triggers
 * @writer:	answers calls, and has no other user
 * Context: process, sleeps.
 * Return: 0 or the errno of the writer; -EBUSY: a ring is attached, its CPU offline. See the log.
 */
int hyptrace_writer_recover(struct hyptrace_writer *writer)
{
	unsigned int cpu, nr_found = 0;
	unsigned long steps;
	s64 ret;

	clear_triggers(writer);
	cpus_read_lock();
	ret = hyptrace_writer_recover_counters(writer);
	if (ret) {
		cpus_read_unlock();
		return ret;
	}
	detach_all(writer);
	for_each_possible_cpu(cpu) {
		steps = 0;
		ret = free_rings(writer, cpu, &steps);
		if (ret)
			break;
		nr_found += !!steps;
	}
	cpus_read_unlock();

	if (nr_found)
		pr_warn("%s: freed the rings of %u CPUs that an earlier module left\n",
			writer->name, nr_found);
	if (ret == -EBUSY)
		pr_err("%s: CPU %u is off and still attached to a ring of an earlier module: bring it online, then load this module again\n",
		       writer->name, cpu);
	else if (ret)
		pr_err("%s: the ring that an earlier module left on CPU %u cannot be freed: %lld\n",
		       writer->name, cpu, ret);

	return ret;
}
