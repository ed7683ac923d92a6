// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks that do more than to record one event: calls of the firmware, runs of a guest, and a panic.
 * The macros of hooks.h call them if the event is enabled on any CPU.
 */
#include "hooks.h"

/* The first and the last number of FF-A functions, without the bit of the 64-bit ones */
#define FFA_FIRST	0x84000060
#define FFA_LAST	0x840000ff
#define SMC_64		0x40000000
#define FFA_ERROR_ID	0x84000060

void __hyptrace_psci_begin(u32 func, u64 arg)
{
	hyptrace_this_ring()->begun.psci_left = false;
	__hyptrace_begin_psci_call(func, arg);
}

void __hyptrace_psci_leave(void)
{
	hyptrace_this_ring()->begun.psci_left = true;
	__hyptrace_psci_call(0, false);
}

/* Success is not recorded again after hyptrace_psci_leave(). */
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

/* Record guest_enter, unless only a measurement needs it, and begin that. */
void __hyptrace_run_begin(struct hyptrace_ring *ring, u32 handle, u16 index)
{
	if (!(READ_ONCE(hyptrace_events_barred) & BIT_ULL(HYPTRACE_EVENT_guest_enter)))
		__hyptrace_guest_enter(handle, index);
	/* Else the CPU may have no PMU: then it has no registers of it, either. */
	if (hyptrace_is_measured(ring, HYPTRACE_EVENT_guest_exit)) {
		hyptrace_pmu_run(ring);
		hyptrace_pmu_begin(ring, HYPTRACE_PMU_OF_GUEST);
	}
}

#ifdef __KVM_NVHE_HYPERVISOR__

static_assert(HYPTRACE_SMC_HINTS == ARM_SMCCC_CALL_HINTS);

void __hyptrace_fixup_begin(u64 exit_code)
{
	hyptrace_this_ring()->begun.guest_fixup.counter = 0;
	if (ARM_EXCEPTION_IS_TRAP(exit_code))
		__hyptrace_begin_guest_fixup(ESR_ELx_EC(read_sysreg_el2(SYS_ESR)));
}

/* An illegal return to any guest has this code, too. */
void __hyptrace_illegal_trap_of(const struct kvm_vcpu *vcpu, u64 exit_code, bool protected)
{
	if (protected && ARM_EXCEPTION_CODE(exit_code) == ARM_EXCEPTION_IL)
		__hyptrace_vcpu_illegal_trap(vcpu->arch.fault.esr_el2);
}

/* A lock is held for some thousand instructions at most, unless its holder has panicked. */
#define MAX_LOOKS	100000

/**
 * hyptrace_rings_seal() - seal all rings before the machine is reset
 */
void hyptrace_rings_seal(void)
{
	u32 cpu, looks;

	for (cpu = 0; cpu < hyptrace_nr_cpus(); cpu++) {
		struct hyptrace_ring *ring = hyptrace_ring_of(cpu);

		if (!ring || !READ_ONCE(ring->kept))
			continue;
		for (looks = 0; hyp_spin_is_locked(&ring->lock) && looks < MAX_LOOKS; looks++)
			;
		/* Only one whose holder panics right now would be waited for without end. */
		if (!hyp_spin_is_locked(&ring->lock))
			hyptrace_ring_sync(ring);
	}
}

/* Was an event being recorded at this address of EL2? */
static bool is_in_writer(u64 elr)
{
#ifdef HYPTRACE_HOOK_writer_text
	extern const char hyptrace_writer[], hyptrace_writer_end[];

	return elr >= (u64)hyptrace_writer && elr < (u64)hyptrace_writer_end;
#else
	return false;
#endif
}

/*
 * While a program of the host runs, its kernel's text may be unmapped (CONFIG_UNMAP_KERNEL_AT_EL0):
 * map it, as the kernel's own entry from user space does. Its panic is in that text. If EL2 runs
 * with HCR_EL2.E2H, ttbr1_el1 is its own: the host's has another name.
 */
static void map_kernel(void)
{
#ifdef CONFIG_UNMAP_KERNEL_AT_EL0
	u64 ttbr = read_sysreg_el1(SYS_TTBR1);

	if (arm64_kernel_unmapped_at_el0() && ttbr & USER_ASID_FLAG)
		write_sysreg_el1((ttbr + TRAMP_SWAPPER_OFFSET) & ~USER_ASID_FLAG, SYS_TTBR1);
#endif
}

/**
 * hyptrace_panic() - record that EL2 has panicked, and stop the recording on all CPUs
 * @elr:	ELR_EL2 at the panic
 * @has_vcpu:	a vCPU ran, whose state is in the registers of EL1
 *
 * The host then prints what led to the panic: nothing may overwrite it, and its text must be
 * mapped. This CPU may hold any lock, and may have been interrupted anywhere: so the event is left
 * out if the ring is locked, or if a new sub-buffer would take the lock of the triggers. A fault in
 * here ends here again, and is left alone then. While EL2 runs a protected guest, nothing is
 * recorded. A host that goes on to change the events or triggers can start the recording again.
 */
void hyptrace_panic(u64 elr, bool has_vcpu)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	if (!has_vcpu)
		map_kernel();
	if (ring->panicked)
		return;
	ring->panicked = true;
	/* EL2 calls functions still: they must not record, whatever the panic has interrupted. */
	hyptrace_functions_hide(true);
	if (ring->selected && !(ring->silent & HYPTRACE_SILENT_GUEST) &&
	    !hyp_spin_is_locked(&ring->lock) && !READ_ONCE(hyptrace_stop_after)) {
		hyptrace_set_silent(ring, 0);
		/* A filter or a trigger could wait for a lock. */
		ring->enabled |= ring->aside & BIT_ULL(HYPTRACE_EVENT_hyp_panic);
		hyptrace(hyp_panic, read_sysreg_el2(SYS_ESR), elr, read_sysreg_el2(SYS_FAR));
	}
	WRITE_ONCE(hyptrace_events_barred, ~0ULL);
	WRITE_ONCE(hyptrace_events_on, 0);
	/* Else another CPU may be freeing it. */
	if (READ_ONCE(ring->state) == HYPTRACE_RING_ATTACHED) {
		if (is_in_writer(elr))
			WRITE_ONCE(ring->meta->unfinished, 1);
		hyptrace_ring_seal(ring);
	}
}

#endif
