/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exit of a guest, as guest_exit describes it. Included by entry.h; trace.c and hooks.h use
 * it. Outside EL2 there is no guest: the vCPU is what a test makes of it.
 */
#ifndef __HYPTRACE_EXIT_H
#define __HYPTRACE_EXIT_H

#include "env.h"
#include "names.h"

#ifdef __KVM_NVHE_HYPERVISOR__

#define hyptrace_vcpu	kvm_vcpu

/*
 * Whether a vCPU at EL2 has a VM there. Without pKVM the vCPU is the host's: its kvm is an address
 * of the host, whose top bit is set, unlike that of any address of EL2.
 */
static __always_inline bool hyptrace_has_vm(const struct hyptrace_vcpu *vcpu)
{
	return (s64)vcpu->kvm >= 0;
}

/* The handle of its VM, or 0 */
static __always_inline u32 hyptrace_vm_of(const struct hyptrace_vcpu *vcpu)
{
	return likely(hyptrace_has_vm(vcpu)) ? vcpu->kvm->arch.pkvm.handle : 0;
}

/*
 * Whether the guest of a vCPU that has a VM is protected. The VM is one of pKVM, so
 * kvm_vm_is_protected() need not ask whether pKVM is on.
 */
#define is_protected_kvm_enabled()	true

static __always_inline bool hyptrace_is_protected(const struct hyptrace_vcpu *vcpu)
{
	return kvm_vm_is_protected(vcpu->kvm);
}

#undef is_protected_kvm_enabled

#define hyptrace_fault_of(vcpu)	(&(vcpu)->arch.fault)

/* It is still in the register: this CPU has just left the guest. */
static __always_inline u64 hyptrace_pc_of(const struct hyptrace_vcpu *vcpu)
{
	return read_sysreg_el2(SYS_ELR);
}

#else

struct hyptrace_vcpu {
	u32	handle;
	u32	vcpu_idx;
	bool	protected;
	u64	pc;
	struct hyptrace_fault {
		u64	esr_el2;
		u64	far_el2;
		u64	hpfar_el2;
	} fault;
};

static inline bool hyptrace_has_vm(const struct hyptrace_vcpu *vcpu)
{
	return vcpu->handle;
}

#define hyptrace_vm_of(vcpu)	((vcpu)->handle)
#define hyptrace_is_protected(vcpu)	((vcpu)->protected)
#define hyptrace_fault_of(vcpu)	(&(vcpu)->fault)
#define hyptrace_pc_of(vcpu)	((vcpu)->pc)

#endif

/* What __guest_enter() returns has the code in these bits; the flag above is a pending SError. */
#define HYPTRACE_EXIT_CODE	GENMASK_ULL(7, 0)

#define HYPTRACE_EXIT_EC_SHIFT	26
#define HYPTRACE_EXIT_EC	GENMASK_ULL(5, 0)
/* The classes of an instruction abort and a data abort of a guest differ in one bit. */
#define HYPTRACE_EXIT_DATA_ABORT	0x24
#define HYPTRACE_EXIT_IS_DATA	0x04

#define HYPTRACE_EXIT_IN_PAGE	GENMASK_ULL(11, 0)

/* Newer kernels mark a valid value by a bit that is free; in older ones all are valid. */
#ifdef HPFAR_EL2_NS
#define HYPTRACE_EXIT_VALID	HPFAR_EL2_NS
#else
#define HYPTRACE_EXIT_VALID	0
#endif

struct hyptrace_exit {
	u32	code;
	u32	ec;
	u32	handle;
	u64	esr;
	u64	pc;
	u64	far;
	u64	ipa;
};

static __always_inline u64 hyptrace_exit_class(const struct hyptrace_vcpu *vcpu)
{
	return hyptrace_fault_of(vcpu)->esr_el2 >> HYPTRACE_EXIT_EC_SHIFT & HYPTRACE_EXIT_EC;
}

/* For cold paths. The compiler must not mask the code before it branches to them. */
static __always_inline bool hyptrace_code_is_trap(u64 exit_code)
{
	OPTIMIZER_HIDE_VAR(exit_code);

	return (exit_code & HYPTRACE_EXIT_CODE) == HYPTRACE_EXIT_TRAP;
}

static __always_inline bool hyptrace_class_is_abort(u32 ec)
{
	return (ec | HYPTRACE_EXIT_IS_DATA) == HYPTRACE_EXIT_DATA_ABORT;
}

/* The address that an abort of a guest is about, or 0 if the CPU did not say it */
static __always_inline u64 hyptrace_ipa_of(const struct hyptrace_vcpu *vcpu)
{
	u64 hpfar = hyptrace_fault_of(vcpu)->hpfar_el2;

	if (unlikely(HYPTRACE_EXIT_VALID && !(hpfar & HYPTRACE_EXIT_VALID))) {
		/* Let the compiler keep the branch, which takes one instruction. */
		barrier();
		return 0;
	}

	/* The bits above FIPA are reserved, and 0. */
	hpfar <<= 8;
#ifdef __clang__
	/* Else clang would shift it to the right first. */
	OPTIMIZER_HIDE_VAR(hpfar);
#endif
	return (hpfar & ~HYPTRACE_EXIT_IN_PAGE) |
	       (hyptrace_fault_of(vcpu)->far_el2 & HYPTRACE_EXIT_IN_PAGE);
}

/**
 * hyptrace_exit_of() - collect what guest_exit says about an exit
 * @vcpu:	the vCPU
 * @exit_code:	what __guest_enter() has returned, or why EL2 has ended the run
 *
 * An abort of a guest that is not protected takes no branch.
 *
 * Return: the fields. Those that do not apply are 0.
 */
static __always_inline struct hyptrace_exit
hyptrace_exit_of(const struct hyptrace_vcpu *vcpu, u64 exit_code)
{
	struct hyptrace_exit exit = { .code = exit_code };
	u32 protected = 0;

	if (likely(hyptrace_has_vm(vcpu))) {
		exit.handle = hyptrace_vm_of(vcpu);
		protected = hyptrace_is_protected(vcpu);
		/* Compare it as a number, in one instruction. */
		OPTIMIZER_HIDE_VAR(protected);
	}
	if (unlikely(protected)) {
		if (hyptrace_code_is_trap(exit_code))
			exit.ec = hyptrace_exit_class(vcpu);
	} else {
		exit.pc = hyptrace_pc_of(vcpu);
		if (likely(exit_code == HYPTRACE_EXIT_TRAP)) {
			exit.esr = hyptrace_fault_of(vcpu)->esr_el2;
			exit.ec = hyptrace_exit_class(vcpu);
			/* The compiler must not compare bits of the syndrome instead. */
			OPTIMIZER_HIDE_VAR(exit.ec);
			if (likely(hyptrace_class_is_abort(exit.ec))) {
				exit.far = hyptrace_fault_of(vcpu)->far_el2;
				exit.ipa = hyptrace_ipa_of(vcpu);
			}
		} else if (hyptrace_code_is_trap(exit_code)) {
			/* With an SError pending, EL2 has not looked at the trap. */
			exit.esr = hyptrace_fault_of(vcpu)->esr_el2;
			exit.ec = hyptrace_exit_class(vcpu);
		}
	}
	/* Else the compiler would make a byte of it before it is compared. */
	OPTIMIZER_HIDE_VAR(exit.ec);

	return exit;
}

#endif /* __HYPTRACE_EXIT_H */
