// SPDX-License-Identifier: GPL-2.0-only
/* The remote "test": the writer of hyp/ in a module. It writes selftest events, also at a rate. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "../../hyp/hcall.h"
#include "hyp_events.h"
#include "writer.h"

/* Period in which the events that are due at the set rate are written */
#define RATE_PERIOD_MS		10
/* Most events per CPU in one period. A late period skips the events above this limit. */
#define RATE_MAX_BATCH_EVENTS	100000

static struct hyptrace_remote *remote;

/* Act as a hypervisor that does not do what it is asked for. */
static int fault_op = -1;
module_param(fault_op, int, 0644);
MODULE_PARM_DESC(fault_op, "the operation of the writer that is not done, for tests");
static int fault_ret;
module_param(fault_ret, int, 0644);
MODULE_PARM_DESC(fault_ret, "what that operation returns; with 0, it is done");
static int fault_cpu = -1;
module_param(fault_cpu, int, 0644);
MODULE_PARM_DESC(fault_cpu, "the only CPU of which it is not done");

/* The writer runs with interrupts off, as at EL2. */
static s64 call(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	s64 ret = READ_ONCE(fault_ret);
	unsigned long flags;

	/* The driver would believe success, and free memory that the writer uses. */
	if (ret && (s64)op == READ_ONCE(fault_op) &&
	    (READ_ONCE(fault_cpu) < 0 || arg1 == READ_ONCE(fault_cpu)))
		return ret;
	local_irq_save(flags);
	ret = hyptrace_hcall(op, arg1, arg2, arg3);
	local_irq_restore(flags);

	return ret;
}

static struct hyptrace_writer writer = {
	.name		= "test",
	.call		= call,
	.counter	= ktime_get_raw_fast_ns,
	.frequency	= NSEC_PER_SEC,
};

/* Protected by the remote's control mutex; rate_work() is cancelled before what it uses changes. */
static struct {
	struct delayed_work	work;
	u32			per_second;
	u64			start_ns;
	u64			written;
	bool			tracing;
} rate;

static void rate_work(struct work_struct *work)
{
	u64 passed = ktime_get_raw_fast_ns() - rate.start_ns;
	u64 due = mul_u64_u64_div_u64(passed, rate.per_second, NSEC_PER_SEC);
	u32 count = min_t(u64, due - rate.written, RATE_MAX_BATCH_EVENTS);
	unsigned int cpu;

	/* Ignore -ENXIO: the CPU has just gone offline. */
	for_each_online_cpu(cpu)
		hyptrace_writer_ops.write_selftest(cpu, rate.written, count, &writer);
	rate.written = due;

	schedule_delayed_work(&rate.work, msecs_to_jiffies(RATE_PERIOD_MS));
}

static void rate_restart(u32 per_second)
{
	cancel_delayed_work_sync(&rate.work);
	rate.per_second = per_second;
	rate.start_ns = ktime_get_raw_fast_ns();
	rate.written = 0;
	if (rate.tracing && per_second)
		schedule_delayed_work(&rate.work, msecs_to_jiffies(RATE_PERIOD_MS));
}

static int set_rate(u32 per_second, void *priv)
{
	rate_restart(per_second);

	return 0;
}

static int enable_tracing(bool enable, void *priv)
{
	int ret = hyptrace_writer_ops.enable_tracing(enable, priv);

	if (!ret) {
		rate.tracing = enable;
		rate_restart(rate.per_second);
	}

	return ret;
}

static struct hyptrace_remote_ops ops __ro_after_init;

/* Act as a hypervisor whose kernel has no place for some hooks. */
static unsigned long missing;
module_param(missing, ulong, 0444);
MODULE_PARM_DESC(missing, "bit per id of an event that cannot be recorded, for tests");
static unsigned long incomplete;
module_param(incomplete, ulong, 0444);
MODULE_PARM_DESC(incomplete, "bit per id of an event that is not recorded each time, for tests");

static bool counts;
module_param(counts, bool, 0444);
MODULE_PARM_DESC(counts, "count events: each mark is also a visit of EL2, for tests");

static int write_and_visit(unsigned int cpu, u64 value, u32 count, void *priv)
{
	int ret = hyptrace_writer_ops.write_selftest(cpu, value, count, priv);

	for (; !ret && count; count--) {
		ret = signal_pending(current) ? -EINTR :
			smp_call_function_single(cpu, hyptrace_visit, NULL, true);
		cond_resched();
	}

	return ret;
}

static bool kept;
module_param(kept, bool, 0444);
MODULE_PARM_DESC(kept, "use memory that outlives a reset for the rings");

static char *trace;
module_param(trace, charp, 0444);
MODULE_PARM_DESC(trace, "events and options of a trace that starts at once: see hyptrace-boot(7)");

static struct hyptrace_remote_desc desc = {
	.name		= "test",
	.description	= "loopback: writes selftest events on request",
	.owner		= THIS_MODULE,
	.ops		= &ops,
	.priv		= &writer,
	.events		= hyp_events,
	.nr_events	= ARRAY_SIZE(hyp_events),
	.print		= hyptrace_print_event,
	.max_pages	= HYPTRACE_RING_MAX_PAGES(PAGE_SIZE),
};

static int __init hyptrace_test_init(void)
{
	int ret;

	INIT_DELAYED_WORK(&rate.work, rate_work);
	ret = hyptrace_alloc_rings();
	if (ret)
		return ret;
	ret = hyptrace_writer_init(&writer, hyptrace_event_list_hash(hyp_event_list));
	if (ret)
		goto free_rings;

	ops = hyptrace_writer_ops;
	ops.enable_tracing = enable_tracing;
	ops.set_rate = set_rate;
	desc.missing = writer.missing | missing;
	desc.incomplete = writer.incomplete | incomplete;
	desc.boot = trace;
	desc.is_kept = kept;
	if (counts) {
		ops.write_selftest = write_and_visit;
		desc.counting = &hyptrace_writer_counting;
	}
	remote = hyptrace_remote_register(&desc);
	if (IS_ERR(remote)) {
		ret = PTR_ERR(remote);
		goto exit_writer;
	}

	return 0;

exit_writer:
	hyptrace_writer_exit(&writer);
free_rings:
	hyptrace_free_rings();

	return ret;
}
module_init(hyptrace_test_init);

static void __exit hyptrace_test_exit(void)
{
	hyptrace_remote_unregister(remote);
	hyptrace_writer_exit(&writer);
	hyptrace_free_rings();
}
module_exit(hyptrace_test_exit);

MODULE_DESCRIPTION("hyptrace remote: a loopback for tests");
MODULE_LICENSE("GPL");
