// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace_bench.ko: times hypercalls. Write the number of calls to
 * parameters/{refused,handled,shared,ours,mainline}, then read how many nanoseconds they took. With
 * parameters/pmu_stopped, which needs a PMU, its counters are stopped meanwhile: EL2 reads them,
 * but adds up nothing.
 */
#include <linux/arm-smccc.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>

#include <asm/kvm_asm.h>

#include "../../driver/remotes/el2.h"
#include "../../hyp/abi.h"

#define NO_SUCH_CALL	0xffff

static u64 took;
static bool pmu_stopped;
/* for call_shared() */
static struct page *page;

/* A hypercall that does not exist: EL2 only enters and returns. */
static void call_refused(u64 i)
{
	struct arm_smccc_res res;

	arm_smccc_1_1_hvc(KVM_HOST_SMCCC_ID(NO_SUCH_CALL), &res);
}

/* EL2 handles it in a few instructions. It changes nothing: the host runs with this offset. */
static void call_handled(u64 i)
{
	struct arm_smccc_res res;

	arm_smccc_1_1_hvc(KVM_HOST_SMCCC_FUNC(__kvm_timer_set_cntvoff), 0, &res);
}

/* Two hypercalls that change who may access a page, through the page tables of host and EL2 */
static void call_shared(u64 i)
{
	struct arm_smccc_res res;

	arm_smccc_1_1_hvc(KVM_HOST_SMCCC_FUNC(__pkvm_host_share_hyp), page_to_pfn(page), &res);
	arm_smccc_1_1_hvc(KVM_HOST_SMCCC_FUNC(__pkvm_host_unshare_hyp), page_to_pfn(page), &res);
}

static void call_ours(u64 i)
{
	hyptrace_el2.call(HYPTRACE_OP_WRITE, i, 0, 0);
}

static void call_mainline(u64 i)
{
#ifdef CONFIG_NVHE_EL2_TRACING
	struct arm_smccc_res res;

	arm_smccc_1_1_hvc(KVM_HOST_SMCCC_FUNC(__tracing_write_event), i, &res);
#endif
}

static int measure(const char *count, void (*call)(u64 i))
{
	unsigned long flags;
	const bool stop = READ_ONCE(pmu_stopped);
	u64 nr, i, start, enabled = 0;
	int ret;

	ret = kstrtou64(count, 0, &nr);
	if (ret)
		return ret;

	local_irq_save(flags);
	if (stop) {
		enabled = read_sysreg(pmcntenset_el0);
		write_sysreg(enabled, pmcntenclr_el0);
		isb();
	}
	start = ktime_get_ns();
	for (i = 0; i < nr; i++)
		call(i);
	took = ktime_get_ns() - start;
	if (stop)
		write_sysreg(enabled, pmcntenset_el0);
	local_irq_restore(flags);

	return 0;
}

static int set(const char *count, const struct kernel_param *param)
{
	return measure(count, param->arg);
}

static int get(char *to, const struct kernel_param *param)
{
	return sysfs_emit(to, "%llu\n", took);
}

static const struct kernel_param_ops ops = { .set = set, .get = get };

module_param(pmu_stopped, bool, 0600);
module_param_cb(refused, &ops, call_refused, 0600);
module_param_cb(handled, &ops, call_handled, 0600);
module_param_cb(shared, &ops, call_shared, 0600);
module_param_cb(ours, &ops, call_ours, 0600);
module_param_cb(mainline, &ops, call_mainline, 0600);

static int __init bench_init(void)
{
	page = alloc_page(GFP_KERNEL);

	return page ? 0 : -ENOMEM;
}
module_init(bench_init);

MODULE_DESCRIPTION("hyptrace: the time that hypercalls take");
MODULE_LICENSE("GPL");
