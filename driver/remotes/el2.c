// SPDX-License-Identifier: GPL-2.0-only
/* Built in for hyptrace_pkvm.ko: a module can neither call EL2 nor map pages there. */
#include <linux/export.h>
#include <linux/kvm_host.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <asm/arch_timer.h>
#include <asm/cacheflush.h>
#include <asm/hyp_image.h>
#include <asm/hyptrace_tree.h>
#include <asm/insn.h>
#include <asm/kvm_mmu.h>
#include <asm/virt.h>
/* Its name since Linux 6.13 */
#if __has_include("asm/text-patching.h")
#include <asm/text-patching.h>
#else
#include <asm/patching.h>
#endif

#include "../../hyp/abi.h"
#include "../../hyp/function/function_abi.h"
#include "counter.h"
#include "el2.h"

/* kvm_call_hyp_nvhe() warns if it fails. EL2's stub, before hold() and at a reboot, refuses it. */
static s64 el2_call(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	struct arm_smccc_res res;

	arm_smccc_1_1_hvc(KVM_HOST_SMCCC_FUNC(__hyptrace), op, arg1, arg2, arg3, &res);

	return res.a0 == SMCCC_RET_SUCCESS ? res.a1 : -ENODEV;
}

#ifdef HYPTRACE_HOOK_hold
static const bool has_hold = true;
#else
/* KVM of this tree cannot be held, and never removes a protected EL2: see el2_why_not(). */
static const bool has_hold;

int kvm_hold_virtualization(void)
{
	return 0;
}

void kvm_release_virtualization(void)
{
}
#endif

/* The page stays mapped for good: without protection EL2 can access all memory anyway. */
static int el2_map(struct page *page)
{
	void *va = page_address(page);

	return kvm_share_hyp(va, va + PAGE_SIZE);
}

static const char *el2_why_not(void)
{
	if (!is_hyp_mode_available())
		return "the kernel was not booted at EL2";
	if (is_kernel_in_hyp_mode())
		return "the kernel itself is at EL2 (VHE): boot with kvm-arm.mode=protected";
	if (!is_kvm_arm_initialised())
		return "KVM is not initialised";
	if (!has_hold && !is_protected_kvm_enabled())
		return "KVM here removes an unprotected EL2: boot with kvm-arm.mode=protected";
	if (hyptrace_has_counter_erratum(false))
		return "the physical counter needs a workaround that EL2 does not have";

	return NULL;
}

static bool el2_is_protected(void)
{
	return is_protected_kvm_enabled();
}

/* The formats of hyptrace_printk(), see hyp/printk.h */
extern const char kvm_nvhe_sym(hyptrace_formats)[];
extern const char kvm_nvhe_sym(hyptrace_formats_end)[];

static const char *formats;
static size_t formats_size;

/* Copy them now: when pKVM protects itself, the host cannot read them any more. */
static int __init copy_formats(void)
{
	const char *begin = kvm_nvhe_sym(hyptrace_formats);
	const char *end = kvm_nvhe_sym(hyptrace_formats_end);

	formats = kmemdup(begin, end - begin, GFP_KERNEL);
	if (formats)
		formats_size = end - begin;

	return 0;
}
core_initcall(copy_formats);

static const char *el2_formats(size_t *size)
{
	*size = formats_size;

	return formats;
}

#ifdef CONFIG_HYPTRACE_EL2_FUNCTIONS
/* Made by functions.awk: see hyp/function/function.h */
extern const char kvm_nvhe_sym(hyptrace_function_names)[];
extern const char kvm_nvhe_sym(hyptrace_function_names_end)[];
extern const s32 kvm_nvhe_sym(hyptrace_function_places)[];
extern const char kvm_nvhe_sym(hyptrace_function_stubs)[];

static const char *el2_functions(size_t *size)
{
	const char *names = kvm_nvhe_sym(hyptrace_function_names);
	const char *end = kvm_nvhe_sym(hyptrace_function_names_end);

	*size = end - names;

	return names;
}

/* Without protection, EL2 cannot write its text, but this kernel can. */
static int patch_text(u32 id, bool on)
{
	const s32 *place = &kvm_nvhe_sym(hyptrace_function_places)[id];
	const char *stub = &kvm_nvhe_sym(hyptrace_function_stubs)[id * HYPTRACE_STUB_BYTES];
	void *at = (void *)place + *place;
	int err;

	err = aarch64_insn_patch_text_nosync(at, on ?
		aarch64_insn_gen_branch_imm((unsigned long)at, (unsigned long)stub,
					    AARCH64_INSN_BRANCH_NOLINK) :
		aarch64_insn_gen_nop());
	/* EL2 has other addresses for its text. */
	if (!err)
		icache_inval_all_pou();

	return err;
}

static int el2_set_function(u32 id, bool on)
{
	return is_protected_kvm_enabled() ? el2_call(HYPTRACE_OP_FUNCTION, id, on, 0) :
					    patch_text(id, on);
}
#else
static const char *el2_functions(size_t *size)
{
	*size = 0;

	return NULL;
}

static int el2_set_function(u32 id, bool on)
{
	return -EOPNOTSUPP;
}
#endif

const struct hyptrace_el2 hyptrace_el2 = {
	.call		= el2_call,
	.map		= el2_map,
	.why_not	= el2_why_not,
	.is_protected	= el2_is_protected,
	.hold		= kvm_hold_virtualization,
	.release	= kvm_release_virtualization,
	.counter_rate	= arch_timer_get_rate,
	.formats	= el2_formats,
	.functions	= el2_functions,
	.set_function	= el2_set_function,
};
EXPORT_SYMBOL_GPL(hyptrace_el2);
