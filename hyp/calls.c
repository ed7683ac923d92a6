// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks that do more than to record one event: calls of the firmware, and runs of a guest.
 * The macros of hooks.h call them if the event is enabled on any CPU.
 */
#include "hooks.h"

/* The first and the last number of FF-A functions, without the bit of the 64-bit ones */
#define FFA_FIRST	0x84000060
#define FFA_LAST	0x840000ff
#define SMC_64		0x40000000
#define FFA_ERROR_ID	0x84000060

/* The field FIPA of HPFAR_EL2: bits 12 and above of the address */
#define HPFAR_FIPA	GENMASK_ULL(47, 4)

/**
 * __hyptrace_psci_begin() - begin to record a PSCI call of the host
 * @func:	function id
 * @arg:	first argument
 */
void __hyptrace_psci_begin(u32 func, u64 arg)
{
	hyptrace_this_ring()->begun.psci_left = false;
	__hyptrace_begin_psci_call(func, arg);
}

/**
 * __hyptrace_psci_leave() - record the PSCI call before EL2 calls the firmware
 */
void __hyptrace_psci_leave(void)
{
	hyptrace_this_ring()->begun.psci_left = true;
	__hyptrace_psci_call(0, false);
}

/**
 * __hyptrace_psci_end() - record the result of a PSCI call
 * @ret:	result; success is not recorded again after hyptrace_psci_leave()
 */
void __hyptrace_psci_end(s64 ret)
{
	if (ret || !hyptrace_this_ring()->begun.psci_left)
		__hyptrace_psci_call(ret, true);
}

/**
 * hyptrace_psci_resume() - record that a PSCI call has suspended the CPU, which runs again
 *
 * The call does not return: the CPU starts anew, with the ring that it has left.
 */
void hyptrace_psci_resume(void)
{
	static const u64 success[1] = { PSCI_RET_SUCCESS };

	hyptrace_psci_end(success[0]);
	hyptrace(host_smc, true, success);
}

/**
 * __hyptrace_ffa() - record the call if it is of FF-A
 * @func:	function id
 * @handled:	whether EL2 has handled it
 * @regs:	registers of the host: the result, if @handled
 */
void __hyptrace_ffa(u32 func, bool handled, const u64 *regs)
{
	static const u64 none[5];
	u32 number = func & ~SMC_64;

	if (number < FFA_FIRST || number > FFA_LAST)
		return;
	if (!handled)
		__hyptrace_host_ffa_call(func, false, 0, none);
	else
		__hyptrace_host_ffa_call(func, true, regs[0] == FFA_ERROR_ID ? regs[2] : 0, regs);
}

#ifdef __KVM_NVHE_HYPERVISOR__

static_assert(HYPTRACE_SMC_HINTS == ARM_SMCCC_CALL_HINTS);

/**
 * __hyptrace_fixup_begin() - EL2 begins to look at an exit of a guest
 * @exit_code:	what __guest_enter() has returned
 */
void __hyptrace_fixup_begin(u64 exit_code)
{
	hyptrace_this_ring()->begun.guest_fixup.counter = 0;
	if (ARM_EXCEPTION_IS_TRAP(exit_code))
		__hyptrace_begin_guest_fixup(ESR_ELx_EC(read_sysreg_el2(SYS_ESR)));
}

/* Newer kernels mark a valid value by a bit that is free; in older ones all are valid. */
static bool is_hpfar_valid(u64 hpfar)
{
#ifdef HPFAR_EL2_NS
	return hpfar & HPFAR_EL2_NS;
#else
	return true;
#endif
}

/**
 * __hyptrace_guest_exit_of() - record that a guest's run has ended
 * @vcpu:	its vCPU
 * @exit_code:	why
 * @protected:	whether the guest is protected
 */
void __hyptrace_guest_exit_of(const struct kvm_vcpu *vcpu, u64 exit_code, bool protected)
{
	const struct kvm_vcpu_fault_info *fault = &vcpu->arch.fault;
	u8 code = ARM_EXCEPTION_CODE(exit_code);
	u64 esr = 0, pc = 0, far = 0, ipa = 0;
	u8 ec = 0;

	if (code == ARM_EXCEPTION_TRAP)
		ec = ESR_ELx_EC(fault->esr_el2);
	if (!protected) {
		pc = read_sysreg_el2(SYS_ELR);
		if (code == ARM_EXCEPTION_TRAP)
			esr = fault->esr_el2;
		/* With an SError pending, EL2 has not looked at the trap, and both are older. */
		if (exit_code == ARM_EXCEPTION_TRAP &&
		    (ec == ESR_ELx_EC_IABT_LOW || ec == ESR_ELx_EC_DABT_LOW)) {
			far = fault->far_el2;
			if (is_hpfar_valid(fault->hpfar_el2))
				ipa = (fault->hpfar_el2 & HPFAR_FIPA) << 8 | (far & (SZ_4K - 1));
		}
	}
	/* An illegal return to any guest has this code, too. */
	if (protected && code == ARM_EXCEPTION_IL)
		hyptrace(vcpu_illegal_trap, fault->esr_el2);
	__hyptrace_guest_exit(code, ec, esr, pc, far, ipa);
}

/**
 * __hyptrace_count_exit_of() - count that a guest's run has ended, or record it
 * @vcpu:	its vCPU
 * @exit_code:	why
 * @protected:	whether the guest is protected
 *
 * The hook calls it only while some CPU counts guest_exit. It counts traps and interrupts at once,
 * without the fields that are not recorded.
 */
void __hyptrace_count_exit_of(const struct kvm_vcpu *vcpu, u64 exit_code, bool protected)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	struct hyptrace_counting *counting = &ring->counting;
	u32 code = ARM_EXCEPTION_CODE(exit_code);
	struct hyptrace_private_count *end;
	u64 number = HYPTRACE_COUNT_CLASSES + ARM_EXCEPTION_IRQ;
	bool counts = READ_ONCE(ring->to_count) & BIT_ULL(HYPTRACE_EVENT_guest_exit);

	if (likely(code == ARM_EXCEPTION_TRAP))
		number = ESR_ELx_EC(vcpu->arch.fault.esr_el2);
	else if (code != ARM_EXCEPTION_IRQ)
		counts = false;
	if (!counts) {
		__hyptrace_guest_exit_of(vcpu, exit_code, protected);
		return;
	}
	end = hyptrace_count_end(counting, HYPTRACE_COUNT_KEY_guest_exit, number);
	hyptrace_count(end, counting->guest_begun, hyptrace_read_counter_synced());
}

#endif
