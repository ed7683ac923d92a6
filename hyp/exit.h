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
 * The handle of the VM of a vCPU at EL2. Without pKVM the vCPU is the host's, and has none: its kvm
 * is an address of the host, whose top bit is set, unlike that of any address of EL2.
 */
static __always_inline u32 hyptrace_vm_of(const struct hyptrace_vcpu *vcpu)
{
	return unlikely((s64)vcpu->kvm < 0) ? 0 : vcpu->kvm->arch.pkvm.handle;
}

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
	u64	pc;
	struct hyptrace_fault {
		u64	esr_el2;
		u64	far_el2;
		u64	hpfar_el2;
	} fault;
};

#define hyptrace_vm_of(vcpu)	((vcpu)->handle)
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

/* The field FIPA of HPFAR_EL2: bits 12 and above of the address */
#define HYPTRACE_EXIT_FIPA	GENMASK_ULL(47, 4)
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

static __always_inline u32 hyptrace_exit_class(const struct hyptrace_vcpu *vcpu)
{
	return hyptrace_fault_of(vcpu)->esr_el2 >> HYPTRACE_EXIT_EC_SHIFT & HYPTRACE_EXIT_EC;
}

/**
 * hyptrace_exit_of() - collect what guest_exit says about an exit
 * @vcpu:	the vCPU
 * @exit_code:	what __guest_enter() has returned, or why EL2 has ended the run
 * @protected:	whether the guest is protected
 *
 * Return: the fields. Those that do not apply are 0.
 */
static __always_inline struct hyptrace_exit
hyptrace_exit_of(const struct hyptrace_vcpu *vcpu, u64 exit_code, u64 protected)
{
	struct hyptrace_exit exit = {
		.code = exit_code & HYPTRACE_EXIT_CODE,
		.handle = hyptrace_vm_of(vcpu),
	};
	bool is_trap = exit.code == HYPTRACE_EXIT_TRAP;
	u64 hpfar;

	if (unlikely(protected)) {
		exit.ec = is_trap ? hyptrace_exit_class(vcpu) : 0;
		return exit;
	}

	exit.pc = hyptrace_pc_of(vcpu);
	if (unlikely(!is_trap))
		return exit;

	exit.esr = hyptrace_fault_of(vcpu)->esr_el2;
	exit.ec = hyptrace_exit_class(vcpu);
	/* With an SError pending, EL2 has not looked at the trap, and both are older. */
	if (likely((exit.ec | HYPTRACE_EXIT_IS_DATA) == HYPTRACE_EXIT_DATA_ABORT &&
		   exit_code == HYPTRACE_EXIT_TRAP)) {
		exit.far = hyptrace_fault_of(vcpu)->far_el2;
		hpfar = hyptrace_fault_of(vcpu)->hpfar_el2;
		if (likely(!HYPTRACE_EXIT_VALID || hpfar & HYPTRACE_EXIT_VALID))
			exit.ipa = (hpfar & HYPTRACE_EXIT_FIPA) << 8 |
				   (exit.far & HYPTRACE_EXIT_IN_PAGE);
	}

	return exit;
}

#endif /* __HYPTRACE_EXIT_H */
