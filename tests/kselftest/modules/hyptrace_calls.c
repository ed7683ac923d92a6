// SPDX-License-Identifier: GPL-2.0-only
/*
 * For the tests of events: makes the hypercalls and SMCs that a test asks for, and returns what
 * EL2 has answered. It also knows each hypercall of this kernel, with arguments that do no
 * harm: invalid numbers and handles, addresses of zeroed memory that is shared with EL2, and the
 * stage 2 of a VM that the test has created. See hyptrace_calls.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/arm-smccc.h>
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/kvm_host.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/arch_timer.h>
#include <asm/kvm_asm.h>

#include "../../hyp/abi.h"
#include "el2.h"
#include "hyptrace_calls.h"

/* A number that is neither the handle of a VM nor a page of memory */
#define NONE		0xdead

/* Memory that is shared with EL2: the structs in it are zero, but for pointers in them. */
struct area {
	struct kvm kvm;
	struct kvm_vcpu vcpu;
	/* a VM that the test creates at EL2, with memory of its choice */
	struct kvm vm;
	struct kvm_vcpu vm_vcpu;
};

static bool panics;
module_param(panics, bool, 0444);
MODULE_PARM_DESC(panics, "have EL2 panic in a hypercall, for the tests of what is left then");

static unsigned int fault;
module_param(fault, uint, 0444);
MODULE_PARM_DESC(fault, "have EL2 panic at a point: enum hyptrace_fault_point");

static unsigned int message;
module_param(message, uint, 0444);
MODULE_PARM_DESC(message, "have EL2 write the event hyp_printk with this number");

static struct area *area;
static struct page *area_pages;
/* The tests use the second half of these. No string of the kernel ends right before it. */
static struct page *fresh_pages;
static unsigned int area_order, nr_shared;

#define FRESH_ORDER	(ilog2(CALLS_FRESH_PAGES) + 1)

/* Registers that may have any value */
#define X1		BIT(1)
#define X2		BIT(2)
#define X3		BIT(3)
#define X4		BIT(4)
#define ANY		(X1 | X2 | X3 | X4)

/* Addresses in the area, until it is allocated */
#define AREA(member)	(offsetof(struct area, member) | IN_AREA)
#define IN_AREA		(0xa5ULL << 56)
/* Stage 2 of the VM: newer kernels map at EL2 what EL2 has pinned, and not all that is shared. */
#define STAGE2		(0xa6ULL << 56)
/* A page of the host that is not shared */
#define HOSTS_PAGE	(0xa7ULL << 56)

#define CALL(name_, flags_, random_, ...) \
	{ .name = #name_, .flags = flags_, .random = random_, .x = { 0, __VA_ARGS__ } }

/*
 * How to call each hypercall of any series without effect. Registers of which EL2 reads none
 * may have any value. Pointers may not: EL2 takes them as they are, at least on 6.12. A range
 * of pages to invalidate must be short. __kvm_timer_set_cntvoff() gets the offset that this
 * CPU has: the host's clock uses it. A random handle could be that of the VM. EL2 refuses
 * those before __pkvm_prot_finalize(). To unshare what is no memory makes 6.6 of Android panic.
 */
static const struct calls_known ways[] = {
	CALL(__pkvm_prot_finalize, 0, ANY),
	CALL(__pkvm_host_share_hyp, 0, ANY, 1ULL << 51),
	CALL(__pkvm_host_unshare_hyp, 0, X2 | X3 | X4, HOSTS_PAGE),
	CALL(__kvm_adjust_pc, 0, X2 | X3 | X4, AREA(vcpu)),
	CALL(__kvm_vcpu_run, 0, X2 | X3 | X4, AREA(vcpu)),
	CALL(__kvm_flush_vm_context, 0, ANY),
	CALL(__kvm_tlb_flush_vmid_ipa, 0, X2 | X3 | X4, STAGE2, 0x40000000, 3),
	CALL(__kvm_tlb_flush_vmid_ipa_nsh, 0, X2 | X3 | X4, STAGE2, 0x40000000, 3),
	CALL(__kvm_tlb_flush_vmid, 0, X2 | X3 | X4, STAGE2),
	CALL(__kvm_tlb_flush_vmid_range, 0, X4, STAGE2, 0x40000000, 5),
	CALL(__kvm_flush_cpu_context, 0, X2 | X3 | X4, STAGE2),
	CALL(__kvm_timer_set_cntvoff, 0, X2 | X3 | X4, 0),
	CALL(__hyptrace, CALLS_OWN, 0),
	CALL(__vgic_v3_save_vmcr_aprs, 0, X2 | X3 | X4, AREA(vcpu.arch.vgic_cpu.vgic_v3)),
	CALL(__vgic_v3_save_aprs, 0, X2 | X3 | X4, AREA(vcpu.arch.vgic_cpu.vgic_v3)),
	CALL(__vgic_v3_restore_vmcr_aprs, 0, X2 | X3 | X4, AREA(vcpu.arch.vgic_cpu.vgic_v3)),
	/* Unsafe: EL2 accesses registers that only a machine with a GICv5 has. */
	CALL(__vgic_v5_save_apr, CALLS_UNSAFE, 0),
	CALL(__vgic_v5_restore_vmcr_apr, CALLS_UNSAFE, 0),
	CALL(__pkvm_vcpu_init_traps, 0, X2 | X3 | X4, AREA(vcpu)),
	CALL(__pkvm_init_vm, 0, X2 | X3 | X4, AREA(kvm)),
	CALL(__pkvm_init_vcpu, 0, X4, NONE, AREA(vcpu), AREA(vcpu)),
	CALL(__pkvm_teardown_vm, 0, X2 | X3 | X4, NONE),
	CALL(__tracing_load, 0, X3 | X4, AREA(vcpu), 64),
	CALL(__tracing_unload, 0, ANY),
	CALL(__tracing_enable, 0, X2 | X3 | X4, 0),
	CALL(__tracing_swap_reader, 0, ANY, NONE),
	CALL(__tracing_update_clock, 0, 0, 0),
	CALL(__tracing_reset, 0, ANY, NONE),
	CALL(__tracing_enable_event, 0, X2 | X3 | X4, NONE, 1),
	CALL(__tracing_write_event, 0, ANY, 7),
	CALL(__pkvm_host_donate_guest, 0, ANY, NONE, NONE),
	CALL(__pkvm_host_share_guest, 0, ANY, NONE, NONE, 1, 7),
	CALL(__pkvm_host_unshare_guest, 0, X2 | X3 | X4, NONE, NONE, 1),
	CALL(__pkvm_host_relax_perms_guest, 0, ANY, NONE, 7),
	CALL(__pkvm_host_wrprotect_guest, 0, X2 | X3 | X4, NONE, NONE, 1),
	CALL(__pkvm_host_test_clear_young_guest, 0, X2 | X3 | X4, NONE, NONE, 1, 1),
	CALL(__pkvm_host_mkyoung_guest, 0, ANY, NONE),
	CALL(__pkvm_reserve_vm, CALLS_RESERVES, 0),
	CALL(__pkvm_unreserve_vm, 0, X2 | X3 | X4, NONE),
	CALL(__pkvm_vcpu_in_poison_fault, 0, ANY),
	CALL(__pkvm_force_reclaim_guest_page, 0, X2 | X3 | X4, 0),
	CALL(__pkvm_reclaim_dying_guest_page, 0, X2 | X3 | X4, NONE, NONE),
	CALL(__pkvm_start_teardown_vm, 0, X2 | X3 | X4, NONE),
	CALL(__pkvm_finalize_teardown_vm, 0, X2 | X3 | X4, NONE),
	CALL(__pkvm_vcpu_load, 0, X2 | X3 | X4, NONE, 0, 0),
	CALL(__pkvm_vcpu_put, 0, ANY),
	CALL(__pkvm_vcpu_sync_state, 0, ANY),
	CALL(__pkvm_tlb_flush_vmid, 0, X2 | X3 | X4, NONE),
	/* Android */
	CALL(__pkvm_host_map_guest, 0, ANY, NONE, NONE, 1, 7),
	CALL(__pkvm_host_unmap_guest, 0, X2 | X3 | X4, NONE),
	CALL(__pkvm_relax_perms, 0, ANY, NONE, NONE, 0, 7),
	CALL(__pkvm_wrprotect, 0, X2 | X3 | X4, NONE),
	CALL(__pkvm_dirty_log, 0, ANY, NONE, NONE),
	CALL(__pkvm_host_donate_guest_sglist, 0, ANY),
	CALL(__pkvm_host_split_guest, 0, ANY, NONE, 1),
	CALL(__pkvm_host_map_guest_mmio, 0, ANY, NONE, NONE),
	CALL(__pkvm_host_get_ffa_version, 0, ANY),
	CALL(__pkvm_hyp_alloc_mgt_reclaimable, 0, ANY),
	CALL(__pkvm_teardown_tracing, 0, ANY),
	CALL(__pkvm_enable_tracing, 0, X2 | X3 | X4, 0),
	CALL(__pkvm_reset_tracing, 0, X2 | X3 | X4, NONE),
	CALL(__pkvm_swap_reader_tracing, 0, X2 | X3 | X4, NONE),
	CALL(__pkvm_enable_event, 0, X3 | X4, NONE, 1),
	/* Unsafe: they take pointers, change devices and page tables, or depend on options. */
	CALL(__pkvm_reclaim_dying_guest_ffa_resources, CALLS_UNSAFE, 0),
	CALL(__pkvm_notify_guest_vm_avail, CALLS_UNSAFE, 0),
	CALL(__pkvm_update_clock_tracing, CALLS_UNSAFE, 0),
	CALL(__pkvm_load_tracing, CALLS_UNSAFE, 0),
	CALL(__pkvm_selftest_event, CALLS_UNSAFE, 0),
	CALL(__pkvm_sync_ftrace, CALLS_UNSAFE, 0),
	CALL(__pkvm_disable_ftrace, CALLS_UNSAFE, 0),
	CALL(__pkvm_hyp_alloc_mgt_refill, CALLS_UNSAFE, 0),
	CALL(__pkvm_hyp_alloc_mgt_reclaim, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_alloc_domain, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_free_domain, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_attach_dev, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_attach_dev_nested, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_detach_dev, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_iotlb_inv_nested_domain, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_nested_cfg_sync, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_map_pages, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_unmap_pages, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_iova_to_phys, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_set_identity, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_map_sg, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_iotlb_sync_map, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_iommu_page_response, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_hvc_pd, CALLS_UNSAFE, 0),
	CALL(__pkvm_ptdump, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_donate_hyp_mmio, CALLS_UNSAFE, 0),
	CALL(__pkvm_host_reclaim_hyp_mmio, CALLS_UNSAFE, 0),
	CALL(__pkvm_pviommu_attach, CALLS_UNSAFE, 0),
	CALL(__pkvm_pviommu_add_vsid, CALLS_UNSAFE, 0),
	CALL(__pkvm_stage2_snapshot, CALLS_UNSAFE, 0),
};

/* All hypercalls of this kernel, from its list */
#define HYPERCALL(name_)	{ .name = #name_, .number = __KVM_HOST_SMCCC_FUNC_##name_ },
static const struct calls_known known[] = {
	HYPERCALL(__kvm_hyp_init)
#include "hypercalls.h"
};

static_assert(ARRAY_SIZE(known) <= CALLS_MAX_KNOWN);

static u64 address_of(u64 value, struct kvm *vm)
{
	if (value == STAGE2)
		return vm ? (u64)&vm->arch.mmu : NONE;
	if (value == HOSTS_PAGE)
		return page_to_pfn(fresh_pages);
	if (value >> 56 == IN_AREA >> 56)
		return (u64)area + value - IN_AREA;

	return value;
}

static bool has_call(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].name, name))
			return true;

	return false;
}

/*
 * 7.2 maps at EL2 only what EL2 has pinned, but uses these pointers without pinning them: EL2 would
 * panic. It has a tracer, as 7.3, but not this call of 7.3.
 */
static bool needs_pinned(const char *name)
{
	return (!strcmp(name, "__kvm_adjust_pc") || !strncmp(name, "__vgic_v3_", 10)) &&
	       is_protected_kvm_enabled() &&
	       has_call("__tracing_load") && !has_call("__pkvm_vcpu_sync_state");
}

static void know(struct calls_known *call, struct kvm *vm)
{
	unsigned int i, x;

	call->flags = CALLS_UNKNOWN;
	if (call->number < __KVM_HOST_SMCCC_FUNC___pkvm_prot_finalize) {
		call->flags = CALLS_REFUSED;
		call->random = ANY;
		if (is_protected_kvm_enabled())
			return;
	}
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (strcmp(ways[i].name, call->name))
			continue;
		call->flags = ways[i].flags;
		call->random = ways[i].random;
		if ((!vm && ways[i].x[1] == STAGE2) || needs_pinned(call->name))
			call->flags = CALLS_UNSAFE;
		for (x = 1; x < ARRAY_SIZE(call->x); x++)
			call->x[x] = address_of(ways[i].x[x], vm);
	}
}

/*
 * Not arm_smccc_1_1_hvc(): that clears the high half of x0. An FF-A call also returns results in
 * x5 to x17.
 */
#define CALL_EL2(instruction, call)					\
	do {								\
		/* KCSAN and KASAN call a function for each access to memory. */ \
		u64 in[] = { (call)->x[0], (call)->x[1], (call)->x[2],	\
			     (call)->x[3], (call)->x[4] };		\
		u64 ret0, ret1;						\
		register u64 x0 asm("x0") = in[0];			\
		register u64 x1 asm("x1") = in[1];			\
		register u64 x2 asm("x2") = in[2];			\
		register u64 x3 asm("x3") = in[3];			\
		register u64 x4 asm("x4") = in[4];			\
									\
		asm volatile(instruction				\
			     : "+r" (x0), "+r" (x1), "+r" (x2), "+r" (x3), "+r" (x4) \
			     : : "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", \
				 "x13", "x14", "x15", "x16", "x17", "memory"); \
		ret0 = x0;						\
		ret1 = x1;						\
		(call)->ret[0] = ret0;					\
		(call)->ret[1] = ret1;					\
	} while (0)

static void make_call(struct calls_one *call)
{
	u64 start = __arch_counter_get_cntpct(), word;

	switch (call->how) {
	case CALLS_HVC:
		CALL_EL2("hvc #0", call);
		break;
	case CALLS_SMC:
		CALL_EL2("smc #0", call);
		break;
	case CALLS_SET_HANDLE:
		area->vm.arch.pkvm.handle = call->x[1];
		break;
	case CALLS_READ:
		call->ret[0] = copy_from_kernel_nofault(&word, (void *)call->x[1], sizeof(word));
		break;
	}
	call->cycles = __arch_counter_get_cntpct() - start;
	call->cpu = smp_processor_id();
}

static s64 hvc(u64 number, u64 arg)
{
	struct calls_one call = { .x = { KVM_HOST_SMCCC_ID(0) + number, arg } };

	CALL_EL2("hvc #0", &call);

	return call.ret[0] == SMCCC_RET_SUCCESS ? call.ret[1] : -EOPNOTSUPP;
}

static long make(void __user *argument)
{
	struct calls_one *calls __free(kfree) = NULL;
	struct calls_make request;
	unsigned int i;

	if (copy_from_user(&request, argument, sizeof(request)))
		return -EFAULT;
	if (request.nr > CALLS_BATCH)
		return -E2BIG;
	calls = memdup_array_user(u64_to_user_ptr(request.calls), request.nr, sizeof(*calls));
	if (IS_ERR(calls))
		return PTR_ERR(calls);

	/* With interrupts off no other code of this CPU makes a call in between. */
	local_irq_disable();
	for (i = 0; i < request.nr; i++)
		make_call(&calls[i]);
	local_irq_enable();

	return copy_to_user(u64_to_user_ptr(request.calls), calls,
			    array_size(request.nr, sizeof(*calls))) ? -EFAULT : 0;
}

static long tell(struct file *file, int vm_fd, void __user *argument)
{
	struct calls_info *info __free(kfree) = kzalloc(sizeof(*info), GFP_KERNEL);
	struct kvm *vm = NULL;
	unsigned int i;

	if (!info)
		return -ENOMEM;
	if (file->private_data)
		return -EBUSY;
	if (vm_fd != (int)CALLS_NO_VM) {
		/* Keep the VM, whose address the tests use, until this descriptor is closed. */
		file->private_data = fget(vm_fd);
		if (!file->private_data)
			return -EBADF;
		vm = ((struct file *)file->private_data)->private_data;
		/* In protected mode EL2 must not tell what is at an address of the host. */
		atomic64_set(&vm->arch.mmu.vmid.id, CALLS_VMID);
	}

	info->base = KVM_HOST_SMCCC_ID(0);
	info->hints = ARM_SMCCC_CALL_HINTS;
	info->rate = hyptrace_el2.counter_rate();
	info->fresh = (u64)page_address(fresh_pages + CALLS_FRESH_PAGES);
	info->fresh_pfn = page_to_pfn(fresh_pages) + CALLS_FRESH_PAGES;
	info->vm = (u64)&area->vm;
	info->vcpu = (u64)&area->vm_vcpu;
	info->nr_known = ARRAY_SIZE(known);
	memcpy(info->known, known, sizeof(known));
	for (i = 0; i < ARRAY_SIZE(known); i++)
		know(&info->known[i], vm);

	return copy_to_user(argument, info, sizeof(*info)) ? -EFAULT : 0;
}

static int calls_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;

	return 0;
}

static int calls_release(struct inode *inode, struct file *file)
{
	if (file->private_data)
		fput(file->private_data);

	return 0;
}

static int tell_pfn(void __user *argument)
{
	struct page *page;
	__u64 word;
	int ret;

	if (copy_from_user(&word, argument, sizeof(word)))
		return -EFAULT;
	ret = get_user_pages_fast(word, 1, 0, &page);
	if (ret < 0)
		return ret;
	word = page_to_pfn(page);
	put_page(page);

	return copy_to_user(argument, &word, sizeof(word)) ? -EFAULT : 0;
}

static long calls_ioctl(struct file *file, unsigned int cmd, unsigned long argument)
{
	__u32 vm_fd;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;

	switch (cmd) {
	case CALLS_PFN:
		return tell_pfn((void __user *)argument);
	case CALLS_MAKE:
		return make((void __user *)argument);
	case CALLS_INFO:
		return get_user(vm_fd, (__u32 __user *)argument) ?:
		       tell(file, vm_fd, (void __user *)argument);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations fops = {
	.owner		= THIS_MODULE,
	.open		= calls_open,
	.release	= calls_release,
	.unlocked_ioctl	= calls_ioctl,
};

static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "hyptrace_calls",
	.fops	= &fops,
	.mode	= 0600,
};

/* Memory that EL2 keeps cannot be freed: it is left to EL2. */
static bool unshare_area(void)
{
	while (nr_shared) {
		u64 pfn = page_to_pfn(area_pages) + nr_shared - 1;

		if (hvc(__KVM_HOST_SMCCC_FUNC___pkvm_host_unshare_hyp, pfn)) {
			pr_err("EL2 does not give page 0x%llx back\n", pfn);
			return false;
		}
		nr_shared--;
	}

	return true;
}

static int share_area(void)
{
	s64 ret;

	while (nr_shared < 1U << area_order) {
		ret = hvc(__KVM_HOST_SMCCC_FUNC___pkvm_host_share_hyp,
			  page_to_pfn(area_pages) + nr_shared);
		if (ret)
			return ret;
		nr_shared++;
	}

	return 0;
}

/* A test that was killed may not have given them back. Only a page of the host can be shared. */
static bool has_fresh_pages(void)
{
	u64 pfn = page_to_pfn(fresh_pages) + CALLS_FRESH_PAGES, end = pfn + CALLS_FRESH_PAGES;

	for (; pfn < end; pfn++) {
		if (hvc(__KVM_HOST_SMCCC_FUNC___pkvm_host_share_hyp, pfn) ||
		    hvc(__KVM_HOST_SMCCC_FUNC___pkvm_host_unshare_hyp, pfn)) {
			pr_err("EL2 has page 0x%llx\n", pfn);
			return false;
		}
	}

	return true;
}

static void free_pages_of_tests(void)
{
	if (unshare_area())
		__free_pages(area_pages, area_order);
	if (has_fresh_pages())
		__free_pages(fresh_pages, FRESH_ORDER);
}

static int __init calls_init(void)
{
	int ret;

	/* The module is not needed for more than this. */
	if (fault)
		return hyptrace_el2.call(HYPTRACE_OP_WRITE, fault, HYPTRACE_WRITE_FAULT, 0) ?:
		       -ECANCELED;
	if (hyptrace_el2.why_not() || !hyptrace_el2.is_protected()) {
		pr_err("no hypervisor in protected mode\n");
		return -ENODEV;
	}
	area_order = get_order(sizeof(*area));
	area_pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, area_order);
	if (!area_pages)
		return -ENOMEM;
	fresh_pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, FRESH_ORDER);
	if (!fresh_pages) {
		__free_pages(area_pages, area_order);
		return -ENOMEM;
	}
	/* EL2 believes that this is the stage 2 of a VM. The page is not mapped there. */
	if (panics)
		hvc(__KVM_HOST_SMCCC_FUNC___kvm_tlb_flush_vmid, (u64)page_address(fresh_pages));
	area = page_address(area_pages);
	area->vcpu.kvm = &area->kvm;
	area->vm_vcpu.kvm = &area->vm;
	area->vm.created_vcpus = 1;
	set_bit(KVM_ARCH_FLAG_ID_REGS_INITIALIZED, &area->vm.arch.flags);
	ret = share_area() ?: misc_register(&device);
	if (ret)
		free_pages_of_tests();
	else if (message)
		hyptrace_el2.call(HYPTRACE_OP_WRITE, message, HYPTRACE_WRITE_PRINTK, 0);

	return ret;
}
module_init(calls_init);

static void __exit calls_exit(void)
{
	misc_deregister(&device);
	free_pages_of_tests();
}
module_exit(calls_exit);

MODULE_DESCRIPTION("for tests: makes hypercalls and SMCs");
MODULE_LICENSE("GPL");
