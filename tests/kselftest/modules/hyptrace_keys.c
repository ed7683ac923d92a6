// SPDX-License-Identifier: GPL-2.0-only
/*
 * For all tests on a hypervisor: keeps the static key of the preemption notifiers switched on, and
 * checks that they are called. KVM depends on them, and switches the key with the first and the
 * last VM. QEMU 7.2 sometimes goes on to execute the code as it was before such a switch: the
 * guest then hangs, whatever was to be tested.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#define NR_SLEEPS	10
#define NR_SWITCHES	10

struct watch {
	struct preempt_notifier	notifier;
	unsigned int		nr_in;
	unsigned int		nr_out;
};

static void sched_in(struct preempt_notifier *notifier, int cpu)
{
	container_of(notifier, struct watch, notifier)->nr_in++;
}

static void sched_out(struct preempt_notifier *notifier, struct task_struct *next)
{
	container_of(notifier, struct watch, notifier)->nr_out++;
}

static struct preempt_ops ops = {
	.sched_in	= sched_in,
	.sched_out	= sched_out,
};

/* Sleep some times. Return how often a notifier was not called. */
static long count_missed(void *unused)
{
	struct watch watch = {};
	unsigned long switches;
	long missed = 0;
	int i;

	preempt_notifier_init(&watch.notifier, &ops);
	preempt_notifier_register(&watch.notifier);
	for (i = 0; i < NR_SLEEPS; i++) {
		watch.nr_in = 0;
		watch.nr_out = 0;
		switches = current->nvcsw;
		schedule_timeout_uninterruptible(1);
		/* The timer may expire before this task is replaced. */
		if (current->nvcsw != switches)
			missed += !watch.nr_in + !watch.nr_out;
	}
	preempt_notifier_unregister(&watch.notifier);

	return missed;
}

/* The same on all CPUs */
static long count_all_missed(void)
{
	unsigned int cpu;
	long missed = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		missed += work_on_cpu(cpu, count_missed, NULL);
	cpus_read_unlock();

	return missed;
}

static int missed_get(char *to, const struct kernel_param *param)
{
	return sysfs_emit(to, "%ld\n", count_all_missed());
}

static const struct kernel_param_ops missed_ops = {
	.get	= missed_get,
};
module_param_cb(missed, &missed_ops, NULL, 0400);
MODULE_PARM_DESC(missed, "how many calls of notifiers are missed now, on all CPUs");

/* Switch the key on. If the emulator has not noticed, do it again: the code is patched anew. */
static int __init hyptrace_keys_init(void)
{
	long missed;
	int i;

	preempt_notifier_inc();
	for (i = 1; i < NR_SWITCHES && (missed = count_all_missed()); i++) {
		pr_info("%ld calls of notifiers were missed: the key is switched again\n", missed);
		preempt_notifier_dec();
		preempt_notifier_inc();
	}

	return 0;
}
module_init(hyptrace_keys_init);

static void __exit hyptrace_keys_exit(void)
{
	preempt_notifier_dec();
}
module_exit(hyptrace_keys_exit);

MODULE_DESCRIPTION("tests of hyptrace: the notifiers of preemption");
MODULE_LICENSE("GPL");
