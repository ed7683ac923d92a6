// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test_host.sh: a hostile host. It makes hypercalls from all CPUs until they have made as many
 * as the parameter "calls" says: "left" is then 0. A write to "finish" ends it, frees all, and
 * checks that; the other parameters have the results. hyptrace_pkvm must not be loaded meanwhile.
 * The module leaves triggers, a pause and the clock as they are: a driver must cope with that.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/smpboot.h>

#include <asm/sysreg.h>

#include "el2.h"
#include "hyptrace_hostile.h"

/* A thread can be parked after so many rounds: its CPU goes off then. */
#define ROUNDS		8
#define BATCH		32	/* scribbles */
#define MAX_STEPS	1000	/* to free what a CPU has */
#define MAX_MESSAGES	20

static ulong seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of all random numbers");

static ulong calls = 100000;
module_param(calls, ulong, 0444);
MODULE_PARM_DESC(calls, "hypercalls that all CPUs make");

unsigned long hostile_limit_ms = 1000;
module_param_named(limit_ms, hostile_limit_ms, ulong, 0444);
MODULE_PARM_DESC(limit_ms, "how long a call may keep a CPU at EL2");

static ulong scribbles;
module_param(scribbles, ulong, 0444);
MODULE_PARM_DESC(scribbles, "how often pages were scribbled over");

static ulong failures;
module_param(failures, ulong, 0444);
MODULE_PARM_DESC(failures, "what was not as it should be; the log has the first ones");

static char failed[160];
module_param_string(failed, failed, sizeof(failed), 0444);
MODULE_PARM_DESC(failed, "the first one");

static ulong accepted[HYPTRACE_NR_OPS];
static unsigned int nr_ops = HYPTRACE_NR_OPS;
module_param_array(accepted, ulong, &nr_ops, 0444);
MODULE_PARM_DESC(accepted, "hypercalls that were accepted, by op; from \"finish\" on");

static ulong worst_ns[HYPTRACE_NR_OPS];
module_param_array(worst_ns, ulong, &nr_ops, 0444);
MODULE_PARM_DESC(worst_ns, "how long the longest one has taken, by op; from \"finish\" on");

static ulong made, unshared, kept, sequence;
module_param(made, ulong, 0444);
MODULE_PARM_DESC(made, "hypercalls that were made; from \"finish\" on");
module_param(unshared, ulong, 0444);
MODULE_PARM_DESC(unshared, "pages that were taken back before EL2 has pinned them; likewise");
module_param(kept, ulong, 0444);
MODULE_PARM_DESC(kept, "pages of which EL2 has said that it keeps them; likewise");
module_param(sequence, ulong, 0444);
MODULE_PARM_DESC(sequence, "equal if the threads have made the same calls; likewise");

static struct attack *attacks;
static struct task_struct *scribbler;
static DEFINE_PER_CPU(struct task_struct *, threads);
static DEFINE_RAW_SPINLOCK(failures_lock);
static bool finished;

/**
 * hostile_failed() - something is not as it should be
 * @attack:	the thread that has found it, or NULL
 * @asked:	the call
 * @what:	in words
 */
void hostile_failed(const struct attack *attack, const struct asked *asked, const char *what)
{
	int cpu = attack ? (int)attack->cpu : -1;
	unsigned long flags;
	char text[sizeof(failed)];

	snprintf(text, sizeof(text), "CPU %d: op %llu (0x%llx, 0x%llx, 0x%llx) = %lld: %s", cpu,
		 asked->op, asked->args[0], asked->args[1], asked->args[2], asked->ret, what);
	raw_spin_lock_irqsave(&failures_lock, flags);
	if (!failures++)
		strscpy(failed, text, sizeof(failed));
	if (failures <= MAX_MESSAGES)
		pr_notice("%s\n", text);
	raw_spin_unlock_irqrestore(&failures_lock, flags);
}

/* The host may program the PMU at any time. */
static void program_pmu(u64 random)
{
	u64 version = read_sysreg(id_aa64dfr0_el1) >> 8 & 0xf;

	if (!version || version == 0xf || !(read_sysreg(pmcr_el0) >> 11 & 0x1f))
		return;
	if (random & 3) {
		write_sysreg(HYPTRACE_PMU_INST_RETIRED, pmevtyper0_el0);
		write_sysreg(BIT(HYPTRACE_PMU_CYCLES) | BIT(0), pmcntenset_el0);
	} else {
		write_sysreg(random >> 2 & 0xff, pmevtyper0_el0);
		write_sysreg(random >> 10, pmcntenclr_el0);
	}
	isb();
}

static int should_run(unsigned int cpu)
{
	return READ_ONCE(attacks[cpu].left) > 0;
}

static void run(unsigned int cpu)
{
	struct attack *attack = &attacks[cpu];
	u64 random;
	u32 i;

	for (i = 0; i < ROUNDS && attack->left > 0; i++) {
		random = attack_random(attack);
		if (random & 3)
			any_call(attack);
		else
			some_script(attack);
		if (!(random >> 8 & 63))
			program_pmu(random >> 16);
	}
	cond_resched();
}

/* While the CPU is off, others may detach and free its ring, and end its counting. */
static void forget(unsigned int cpu)
{
	attacks[cpu].attached = UNKNOWN;
	attacks[cpu].counting = UNKNOWN;
}

static struct smp_hotplug_thread hotplug = {
	.store			= &threads,
	.thread_should_run	= should_run,
	.thread_fn		= run,
	.park			= forget,
	.thread_comm		= "hostile/%u",
};

static int scribble(void *unused)
{
	u64 random = seed - 1;
	u32 i;

	while (!kthread_should_stop()) {
		for (i = 0; i < BATCH; i++)
			hostile_scribble(&random);
		scribbles += BATCH;
		usleep_range(200, 400);
	}

	return 0;
}

static int get_left(char *to, const struct kernel_param *param)
{
	s64 left = 0;
	u32 cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		left += max_t(s64, READ_ONCE(attacks[cpu].left), 0);

	return sysfs_emit(to, "%lld\n", left);
}

static const struct kernel_param_ops left_ops = {
	.get	= get_left,
};
module_param_cb(left, &left_ops, NULL, 0444);
MODULE_PARM_DESC(left, "hypercalls that are still to be made");

static int look(const char *value, const struct kernel_param *param)
{
	hostile_pages_look(false);

	return 0;
}

static const struct kernel_param_ops look_ops = {
	.set	= look,
};
module_param_cb(look, &look_ops, NULL, 0200);
MODULE_PARM_DESC(look, "a write looks for pages that EL2 and guests have now, to offer them to EL2");

/* Repeat the op until it returns 0. */
static void repeat(struct attack *attack, u64 op, u64 which)
{
	struct asked asked = { .op = op, .args = { which } };
	u32 steps = 0;

	do {
		asked.ret = call(attack, op, which, 0, 0);
	} while (asked.ret == 1 && ++steps < MAX_STEPS);
	if (asked.ret)
		hostile_failed(attack, &asked, "not all was freed at the end");
}

static void expect_done(struct attack *attack, u64 op, u64 arg1, u64 arg2)
{
	struct asked asked = { .op = op, .args = { arg1, arg2 } };

	asked.ret = call(attack, op, arg1, arg2, 0);
	if (asked.ret)
		hostile_failed(attack, &asked, "refused at the end");
}

/* On each CPU: free what it has. */
static void free_all(void *unused)
{
	struct attack *attack = &attacks[smp_processor_id()];
	u32 moves = 0;

	call(attack, HYPTRACE_OP_DETACH, attack->cpu, 0, 0);
	repeat(attack, HYPTRACE_OP_RING_FREE, attack->cpu);
	while (call(attack, HYPTRACE_OP_MOVE, attack->cpu, 0, 0) > 0 && moves++ < MAX_STEPS)
		;
	repeat(attack, HYPTRACE_OP_RING_FREE, attack->cpu | HYPTRACE_SPARE_RING);
	expect_done(attack, HYPTRACE_OP_COUNT, attack->cpu, 0);
	expect_done(attack, HYPTRACE_OP_PMU, attack->cpu, HYPTRACE_PMU_NONE);
	repeat(attack, HYPTRACE_OP_COUNT_FREE, attack->cpu);
	program_pmu(~0ULL << 10);
}

static void sum_up(void)
{
	u32 cpu, op;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		const struct attack *attack = &attacks[cpu];

		made += attack->made;
		unshared += attack->unshared;
		kept += attack->kept;
		sequence += attack->seed;
		for (op = 0; op < HYPTRACE_NR_OPS; op++) {
			accepted[op] += attack->accepted[op];
			worst_ns[op] = max_t(ulong, worst_ns[op], attack->worst_ns[op]);
		}
	}
}

static void stop_threads(void)
{
	smpboot_unregister_percpu_thread(&hotplug);
	kthread_stop(scribbler);
}

static int finish(const char *value, const struct kernel_param *param)
{
	if (finished || !attacks)
		return -EBUSY;
	finished = true;
	stop_threads();
	sum_up();
	cpus_read_lock();
	on_each_cpu(free_all, NULL, true);
	cpus_read_unlock();
	hostile_pages_check(unshared, kept);

	return 0;
}

static const struct kernel_param_ops finish_ops = {
	.set	= finish,
};
module_param_cb(finish, &finish_ops, NULL, 0200);
MODULE_PARM_DESC(finish, "a write ends all, and checks that; all CPUs must be on");

static int start_threads(void)
{
	int ret;

	scribbler = kthread_run(scribble, NULL, "scribbler");
	if (IS_ERR(scribbler))
		return PTR_ERR(scribbler);
	ret = smpboot_register_percpu_thread(&hotplug);
	if (ret)
		kthread_stop(scribbler);

	return ret;
}

static int __init hostile_init(void)
{
	u32 cpu;
	int ret;

	if (hyptrace_el2.why_not() || !hyptrace_el2.is_protected()) {
		pr_err("no hypervisor in protected mode\n");
		return -ENODEV;
	}
	attacks = kcalloc(nr_cpu_ids, sizeof(*attacks), GFP_KERNEL);
	if (!attacks)
		return -ENOMEM;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		attacks[cpu].seed = seed + cpu;
		attacks[cpu].cpu = cpu;
		attacks[cpu].left = calls / nr_cpu_ids;
	}
	ret = hostile_pages_init();
	if (ret)
		goto free;
	hostile_pages_look(true);
	ret = start_threads();
	if (ret)
		goto exit;

	return 0;

exit:
	hostile_pages_exit();
free:
	kfree(attacks);

	return ret;
}
module_init(hostile_init);

static void __exit hostile_exit(void)
{
	if (!finished)
		stop_threads();
	hostile_pages_exit();
	kfree(attacks);
}
module_exit(hostile_exit);

MODULE_DESCRIPTION("for tests: a host that attacks the hypervisor");
MODULE_LICENSE("GPL");
