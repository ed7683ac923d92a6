// SPDX-License-Identifier: GPL-2.0-only
/* Calls of a writer on a CPU. Called by the other files of a writer. */
#include <linux/cpu.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include "writer.h"

/* Most selftest events that one call on a CPU writes, with interrupts off */
#define SELFTEST_BATCH_EVENTS	64

struct cpu_call {
	struct hyptrace_writer	*writer;
	u64			op;
	u64			arg1;
	u64			arg2;
	u64			count;	/* calls to make: arg1 grows by 1, an error ends them */
	s64			ret;
};

static void do_call(void *arg)
{
	struct cpu_call *call = arg;
	u64 i;

	for (i = 0; i < call->count && !call->ret; i++)
		call->ret = hyptrace_writer_call(call->writer, call->op, call->arg1 + i,
						 call->arg2, 0);
}

/**
 * hyptrace_writer_call_on() - call an op on its CPU, or from this CPU if that CPU is offline
 * @writer:	the writer
 * @cpu:	the CPU, and the first argument of @op
 * @op:		enum hyptrace_op
 * @arg2:	second argument
 * Context: cpus_read_lock() held, or a callback of CPU hotplug.
 * Return: as the op.
 */
s64 hyptrace_writer_call_on(struct hyptrace_writer *writer, unsigned int cpu, u64 op, u64 arg2)
{
	struct cpu_call call = {
		.writer = writer, .op = op, .arg1 = cpu, .arg2 = arg2, .count = 1,
	};

	if (cpu_online(cpu))
		smp_call_function_single(cpu, do_call, &call, true);
	else
		do_call(&call);

	return call.ret;
}

int hyptrace_writer_write_selftest(unsigned int cpu, u64 id, u32 count, void *priv)
{
	struct cpu_call call = {
		.writer = priv, .op = HYPTRACE_OP_WRITE, .arg1 = id,
	};
	int ret = 0;

	while (count && !ret) {
		call.count = min(count, SELFTEST_BATCH_EVENTS);
		if (smp_call_function_single(cpu, do_call, &call, true))
			return -ENXIO;
		call.arg1 += call.count;
		count -= call.count;
		ret = call.ret;
		if (!ret && count && signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}

	return ret;
}
