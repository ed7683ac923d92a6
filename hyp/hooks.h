/* SPDX-License-Identifier: GPL-2.0-only */
/* The hooks for EL2 code that is traced (empty without CONFIG_HYPTRACE_EL2), and the hypercall. */
#ifndef __HYPTRACE_HOOKS_H
#define __HYPTRACE_HOOKS_H

#ifdef __KVM_NVHE_HYPERVISOR__
#include <nvhe/trap_handler.h>
#endif

#if defined(CONFIG_HYPTRACE_EL2) || !defined(__KVM_NVHE_HYPERVISOR__)

#include "function/function.h"
#include "printk.h"
#include "ring.h"

/* select.c: bit per event id: some CPU records or counts it, or for guest_enter, measures. */
extern u64 hyptrace_events_on;
/*
 * select.c: bit per event id; triggers keep all CPUs from recording these events, which may still
 * be counted. 0 initially: EL2 of Linux 6.12 does not map initialised data.
 */
extern u64 hyptrace_events_barred;

/* trace.c */
void hyptrace_record_payload(struct hyptrace_ring *ring, const void *payload, u32 size,
			     u64 counter);

#define hyptrace_on_bit(event)						\
	(READ_ONCE(hyptrace_events_on) & BIT_ULL(HYPTRACE_EVENT_##event))

/**
 * hyptrace_is_on() - check whether any CPU records or counts an event
 * @event:	its name in events.h
 * Return: whether it is worth to call a function that records it.
 */
#define hyptrace_is_on(event)	unlikely(hyptrace_on_bit(event))

/**
 * hyptrace() - record an event, if it is enabled on this CPU
 * @event:	its name in events.h
 * @...:	its arguments
 * Context: EL2, or the test remote with interrupts off: nothing may interrupt it.
 */
#define hyptrace(event, ...)						\
	do {								\
		if (hyptrace_is_on(event))				\
			__hyptrace_##event(__VA_ARGS__);		\
	} while (0)

/**
 * hyptrace_begin() - begin a timed event, if it is enabled on this CPU
 * @event:	its name in events.h
 * @...:	its first arguments
 * Context: as hyptrace(), which records it later on the same CPU.
 */
#define hyptrace_begin(event, ...)					\
	do {								\
		if (hyptrace_is_on(event))				\
			__hyptrace_begin_##event(__VA_ARGS__);		\
	} while (0)

/**
 * hyptrace_begin_span() - begin a timed event that saves nothing, if it is on
 * @ring:	this CPU's
 * @event:	its name in events.h
 *
 * hyptrace_end_span() records it later on the same CPU, if it is enabled there then. It must be
 * the next hook of this event there, even if the CPU is silent. Both are few instructions in the
 * place itself: with likely(), no branch leads to them and back.
 *
 * Context: as hyptrace().
 */
#define hyptrace_begin_span(ring, event)				\
	do {								\
		if (likely(hyptrace_on_bit(event)))			\
			(ring)->spans.event = hyptrace_read_counter_synced(); \
	} while (0)

/**
 * hyptrace_end_span() - record such an event, if it is enabled on this CPU
 * @ring:	this CPU's
 * @event:	its name in events.h
 * @...:	its arguments
 * Context: as hyptrace().
 */
#define hyptrace_end_span(ring, event, ...)				\
	do {								\
		if (likely(hyptrace_on_bit(event)))			\
			__hyptrace_##event(ring, __VA_ARGS__);		\
	} while (0)

/**
 * hyptrace_timed() - record a timed event, whose time is that of a call
 * @event:	its name in events.h; hyptrace() has one more argument, the result
 * @call:	the call
 * @...:	the first arguments of the event
 * Return: what @call returns.
 */
#define hyptrace_timed(event, call, ...)				\
	({								\
		typeof(call) __result;					\
									\
		hyptrace_begin(event, __VA_ARGS__);			\
		__result = (call);					\
		hyptrace(event, __result);				\
		__result;						\
	})

static __always_inline void hyptrace_host_call_end(const u64 **regs)
{
	hyptrace(host_hcall, *regs);
}

/**
 * hyptrace_host_call() - record a hypercall of the host, until the enclosing block is left
 * @number:	its number
 * @own:	whether it is __hyptrace(), which is not recorded
 * @regs:	registers of the host
 * Context: EL2, right after the exception entry.
 */
#define hyptrace_host_call(number, own, regs)				\
	const u64 *__hyptrace_regs __cleanup(hyptrace_host_call_end) = (regs); \
									\
	if (!(own)) {							\
		hyptrace(hyp_enter, HYPTRACE_REASON_HVC);		\
		hyptrace_begin(host_hcall, number, __hyptrace_regs);	\
	}

/**
 * hyptrace_silence_own_call() - silence the CPU while it serves __hyptrace()
 *
 * While pages change hands, the CPU records that: HYPTRACE_SILENT_LOAD. hyptrace_host_exit() ends
 * the silence, unless no CPU records or counts any event. Then it lasts until the first return to
 * the host after some CPU has begun to.
 */
static inline void hyptrace_silence_own_call(void)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	hyptrace_set_silent(ring, ring->silent | HYPTRACE_SILENT_CALL);
}

/**
 * hyptrace_end_own_call() - end the silence of hyptrace_silence_own_call(), if there is one
 * @ring:	this CPU's
 */
static __always_inline void hyptrace_end_own_call(struct hyptrace_ring *ring)
{
	if (ring->silent)
		hyptrace_set_silent(ring, ring->silent & ~HYPTRACE_SILENT_CALL);
}

/**
 * hyptrace_host_exit() - record that the CPU returns to the host
 */
static __always_inline void hyptrace_host_exit(void)
{
	u64 on = READ_ONCE(hyptrace_events_on);

	/* While nothing is on, this one test is all. */
	if (unlikely(on)) {
		if (on & (BIT_ULL(HYPTRACE_EVENT_func) | BIT_ULL(HYPTRACE_EVENT_NONE)))
			hyptrace_functions_end();
		if (on & BIT_ULL(HYPTRACE_EVENT_hyp_exit))
			__hyptrace_hyp_exit(HYPTRACE_REASON_ERET_HOST);
		else
			hyptrace_end_own_call(hyptrace_this_ring());
	}
#if defined(CONFIG_HYPTRACE_FAULTS) && defined(__KVM_NVHE_HYPERVISOR__)
	if ((read_sysreg_el2(SYS_SPSR) & PSR_MODE_MASK) == PSR_MODE_EL0t)
		hyptrace_may_fault(HYPTRACE_FAULT_USER);
#endif
}

/**
 * hyptrace_smc_exit() - record that EL2 calls the firmware
 *
 * Not while the CPU is silent: skip_event() would take this exit for the end of __hyptrace().
 */
static inline void hyptrace_smc_exit(void)
{
	if (hyptrace_is_on(hyp_exit) && !hyptrace_this_ring()->silent)
		__hyptrace_hyp_exit(HYPTRACE_REASON_SMC);
}

/**
 * hyptrace_smc_enter() - record that the firmware has returned to EL2
 */
static inline void hyptrace_smc_enter(void)
{
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
}

/* calls.c */
void __hyptrace_psci_begin(u32 func, u64 arg);
void __hyptrace_psci_leave(void);
void __hyptrace_psci_end(s64 ret);
void hyptrace_psci_resume(void);
void hyptrace_rings_seal(void);
void __hyptrace_ffa(u32 func, bool handled, const u64 *regs);

/**
 * hyptrace_psci_begin() - begin to record a PSCI call of the host
 * @func:	function id
 * @regs:	registers of the host
 */
static __always_inline void hyptrace_psci_begin(u32 func, const u64 *regs)
{
	if (hyptrace_is_on(psci_call))
		__hyptrace_psci_begin(func, regs[1]);
}

/**
 * hyptrace_psci_leave() - record the PSCI call before EL2 calls the firmware
 *
 * For a call that may not return, or after which another CPU may record before it returns.
 */
static __always_inline void hyptrace_psci_leave(void)
{
	if (hyptrace_is_on(psci_call))
		__hyptrace_psci_leave();
}

/**
 * hyptrace_psci_end() - record the PSCI call, which has returned
 * @ret:	result
 */
static __always_inline void hyptrace_psci_end(s64 ret)
{
	if (hyptrace_is_on(psci_call))
		__hyptrace_psci_end(ret);
}

/**
 * hyptrace_ffa() - record a call of the firmware, if it is of FF-A
 * @func:	function id
 * @handled:	whether EL2 has handled it
 * @regs:	registers of the host: the result, if @handled
 */
static __always_inline void hyptrace_ffa(u32 func, bool handled, const u64 *regs)
{
	if (hyptrace_is_on(host_ffa_call))
		__hyptrace_ffa(func, handled, regs);
}

/**
 * hyptrace_set_vcpu() - note which vCPU this CPU runs
 * @pid:	thread of the vCPU that it is about to run; 0: it runs none any more
 */
static inline void hyptrace_set_vcpu(pid_t pid)
{
	hyptrace_this_ring()->vcpu = (u32)pid;
}

/* calls.c */
void __hyptrace_run_begin(struct hyptrace_ring *ring, u32 handle, u16 index);

/**
 * hyptrace_run_begin() - record that this CPU is about to enter a guest, and begin guest_exit
 * @ring:	this CPU's
 * @handle:	of the VM at EL2
 * @index:	of its vCPU
 *
 * While a CPU measures, guest_enter is on: so its branch can begin to measure guest_exit, and no
 * other event needs an instruction for that.
 */
#define hyptrace_run_begin(ring, handle, index)				\
	do {								\
		if (hyptrace_is_on(guest_enter))			\
			__hyptrace_run_begin(ring, handle, index);	\
		hyptrace_begin_span(ring, guest_exit);			\
	} while (0)

/**
 * hyptrace_guest_begin() - begin a guest's run on this CPU, before its first entry
 * @protected:	whether the guest is protected
 *
 * Exits of a protected guest that EL2 handles itself must stay hidden from the host:
 * record only the outermost entry and exit.
 */
static __always_inline void hyptrace_guest_begin(bool protected)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	hyptrace_functions_flush();
	if (protected) {
		hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
		hyptrace_set_silent(ring, ring->silent | HYPTRACE_SILENT_GUEST);
		/*
		 * (Y) Order the silence before the tickets of locks. Pairs with the acquire by
		 * which a CPU takes its ticket before hyp/lock.c:hyptrace_lock_wait_begin().
		 */
		smp_wmb();
		hyptrace_functions_hide(true);
	}
}

/**
 * hyptrace_guest_end() - end a guest's run on this CPU, after its last exit
 * @protected:	as for hyptrace_guest_begin()
 */
static __always_inline void hyptrace_guest_end(bool protected)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	if (protected) {
		hyptrace_functions_hide(false);
		/*
		 * (Z) Order the release of locks before the end of the silence. Pairs with (Z) in
		 * hyp/lock.c:hyptrace_lock_wait_begin().
		 */
		smp_wmb();
		hyptrace_set_silent(ring, ring->silent & ~HYPTRACE_SILENT_GUEST);
		hyptrace(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
	}
}

/**
 * hyptrace_pool_change() - record that EL2 has allocated or freed pages of a pool
 * @left:	free pages of the pool, as far as the host may know: without those that EL2
 *		allocates or frees while it runs a protected guest, whose call may be the cause
 * @op:		HYPTRACE_POOL_*
 * @order:	2^@order pages
 * @pool:	number of the pool's first page
 * Context: the lock of the pool held, or the pool not in use yet.
 */
static __always_inline void hyptrace_pool_change(u32 *left, u8 op, u8 order, u64 pool)
{
	if (hyptrace_this_ring()->silent & HYPTRACE_SILENT_GUEST)
		return;
	*left += op == HYPTRACE_POOL_ALLOC ? -(1U << order) : 1U << order;
	hyptrace(hyp_pool, op, order, *left, pool);
}

#ifdef __KVM_NVHE_HYPERVISOR__

/**
 * hyptrace_guest_run() - note which vCPU this CPU runs, until the enclosing function returns
 * @vcpu:	the vCPU
 *
 * hyptrace_guest_enter() and hyptrace_guest_exit() use the ring that it has found.
 */
#define hyptrace_guest_run(vcpu)					\
	struct hyptrace_ring *__hyptrace_ring = hyptrace_this_ring();	\
									\
	__hyptrace_ring->vcpu = (u32)hyptrace_pid_of(vcpu)

#if defined(HYPTRACE_TREE_VCPU_PID) || defined(HYPTRACE_HOOK_vcpu_load)
#define hyptrace_pid_of(vcpu_)	((vcpu_)->arch.pid)
#else
/* No hook of this tree copies it when pKVM loads the vCPU. */
#define hyptrace_pid_of(vcpu_)						\
	(is_protected_kvm_enabled() ?					\
	 container_of(vcpu_, struct pkvm_hyp_vcpu, vcpu)->host_vcpu->arch.pid : \
	 (vcpu_)->arch.pid)
#endif

/* calls.c */
void hyptrace_panic(u64 elr, bool has_vcpu);
void __hyptrace_fixup_begin(u64 exit_code);
void __hyptrace_illegal_trap_of(const struct kvm_vcpu *vcpu, u64 exit_code, bool protected);

/**
 * hyptrace_guest_enter() - record that a CPU is about to enter a guest
 * @vcpu:	its vCPU
 *
 * Before hyptrace_guest_begin(); hyptrace_guest_exit() follows.
 */
#define hyptrace_guest_enter(vcpu)					\
	hyptrace_run_begin(__hyptrace_ring, hyptrace_vm_of(vcpu), (vcpu)->vcpu_idx)

/**
 * hyptrace_fixup() - record that EL2 looks at an exit of a guest, if the exit is a trap
 * @call:	calls the function that looks at it
 * @exit_code:	what __guest_enter() has returned
 * Return: what @call returns: whether the guest continues.
 */
#define hyptrace_fixup(call, exit_code)					\
	({								\
		bool __handled;						\
									\
		if (hyptrace_is_on(guest_fixup))			\
			__hyptrace_fixup_begin(exit_code);		\
		__handled = (call);					\
		hyptrace(guest_fixup, __handled);			\
		__handled;						\
	})

/**
 * hyptrace_guest_exit() - record that a guest's run has ended, after hyptrace_guest_end()
 * @vcpu:	its vCPU
 * @exit_code:	why
 * @protected:	whether the guest is protected
 */
#define hyptrace_guest_exit(vcpu, exit_code, protected)		\
	do {								\
		if (hyptrace_is_on(vcpu_illegal_trap))			\
			__hyptrace_illegal_trap_of(vcpu, exit_code, protected); \
		hyptrace_end_span(__hyptrace_ring, guest_exit, vcpu, exit_code); \
	} while (0)

/**
 * hyptrace_vcpu_load() - record that pKVM has loaded a vCPU
 * @hyp_vcpu:	the vCPU at EL2; NULL: pKVM has refused to load it, which is not recorded
 * @handle:	of its VM
 */
#define hyptrace_vcpu_load(hyp_vcpu, handle)				\
	do {								\
		if (hyp_vcpu) {						\
			hyptrace_take_pid(hyp_vcpu);			\
			hyptrace(vcpu_load, handle, (hyp_vcpu)->vcpu.vcpu_idx, \
				 (hyp_vcpu)->host_vcpu->arch.pid);	\
		}							\
	} while (0)

#ifdef HYPTRACE_TREE_VCPU_PID
/* EL2 of this tree takes it itself, before each run. */
#define hyptrace_take_pid(hyp_vcpu)	do { } while (0)
#else
#define hyptrace_take_pid(hyp_vcpu)					\
	((hyp_vcpu)->vcpu.arch.pid = (hyp_vcpu)->host_vcpu->arch.pid)
#endif

/**
 * hyptrace_vcpu_put() - record that pKVM has put a vCPU
 * @hyp_vcpu:	the vCPU at EL2
 * @handle:	of its VM
 */
#define hyptrace_vcpu_put(hyp_vcpu, handle)				\
	hyptrace(vcpu_put, handle, (hyp_vcpu)->vcpu.vcpu_idx,		\
		 (hyp_vcpu)->host_vcpu->arch.pid)

#include "hooks_memory.h"

#endif /* __KVM_NVHE_HYPERVISOR__ */

/**
 * hyptrace_cpu_off() - park the ring of this CPU, which is about to be switched off
 *
 * From now on the CPU records and counts nothing, and any CPU can detach its ring.
 */
static inline void hyptrace_cpu_off(void)
{
	hyptrace_ring_park(hyptrace_this_ring());
	hyptrace_count_off(hyptrace_this_ring());
}

/**
 * hyptrace_cpu_on() - attach the CPU again: it was switched on, or did not switch off
 *
 * The CPU records and counts as before, unless another CPU has changed that meanwhile.
 */
static inline void hyptrace_cpu_on(void)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	/*
	 * This runs at each resume from deep idle. It takes no lock then, above all not count_lock,
	 * for which the CPUs would wait for each other. Only this CPU parks its ring and sets @off,
	 * so it cannot miss that it has. Other CPUs can only detach its parked ring: ring.c tests
	 * again with the lock held.
	 */
	if (READ_ONCE(ring->state) == HYPTRACE_RING_PARKED)
		hyptrace_ring_unpark(ring);
	if (ring->counting.off)
		hyptrace_count_on(ring);
}

#ifdef __KVM_NVHE_HYPERVISOR__

/**
 * hyptrace_cpu_entry() - attach the CPU again, which has entered EL2 from the firmware
 *
 * The functions that have called the firmware never return.
 */
static inline void hyptrace_cpu_entry(void)
{
	hyptrace_cpu_on();
	hyptrace_functions_end();
}

/* Whether a PSCI call switches this CPU off */
static inline bool hyptrace_psci_is_cpu_off(u32 func)
{
	if (kvm_host_psci_config.version != PSCI_VERSION(0, 1))
		return func == PSCI_0_2_FN_CPU_OFF;

	return kvm_host_psci_config.psci_0_1_cpu_off_implemented &&
	       func == kvm_host_psci_config.function_ids_0_1.cpu_off;
}

/* Whether a PSCI call resets the machine. PSCI 0.1 has none that does. */
static inline bool hyptrace_psci_is_reset(u32 func)
{
	return func == PSCI_0_2_FN_SYSTEM_RESET || func == PSCI_1_1_FN_SYSTEM_RESET2 ||
	       func == PSCI_1_1_FN64_SYSTEM_RESET2;
}

/**
 * hyptrace_psci_call() - begin to record a PSCI call of the host, and leave EL2 if it is CPU_OFF
 * @func:	function id
 * @regs:	registers of the host
 */
static inline void hyptrace_psci_call(u32 func, const u64 *regs)
{
	hyptrace_psci_begin(func, regs);
	if (hyptrace_psci_is_reset(func)) {
		hyptrace_psci_leave();
		hyptrace_rings_seal();
	} else if (hyptrace_psci_is_cpu_off(func)) {
		hyptrace_psci_leave();
		hyptrace(hyp_exit, HYPTRACE_REASON_SMC);
		hyptrace_cpu_off();
	}
}

/**
 * hyptrace_psci_return() - record the PSCI call, which has returned
 * @func:	function id; CPU_OFF returns only on an error
 * @ret:	result
 */
static inline void hyptrace_psci_return(u32 func, s64 ret)
{
	if (hyptrace_psci_is_cpu_off(func)) {
		hyptrace_cpu_on();
		hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	}
	hyptrace_psci_end(ret);
}

#endif /* __KVM_NVHE_HYPERVISOR__ */

#else

#include "hooks_off.h"

#endif

#ifdef __KVM_NVHE_HYPERVISOR__

/**
 * handle___hyptrace() - handle the hypercall __hyptrace(op, three arguments)
 * @host_ctxt:	registers of the host
 */
static inline void handle___hyptrace(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, op, host_ctxt, 1);
	DECLARE_REG(u64, arg1, host_ctxt, 2);
	DECLARE_REG(u64, arg2, host_ctxt, 3);
	DECLARE_REG(u64, arg3, host_ctxt, 4);

	hyptrace_silence_own_call();
	cpu_reg(host_ctxt, 1) = hyptrace_hcall(op, arg1, arg2, arg3);
}

#endif /* __KVM_NVHE_HYPERVISOR__ */

#endif /* __HYPTRACE_HOOKS_H */
