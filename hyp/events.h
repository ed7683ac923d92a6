/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one list of events. EL2 and the driver include it several times, each time with
 * another definition of HYP_EVENT(), so it has no include guard.
 *
 *	HYP_EVENT(name, HE_PROTO(arguments), HE_STRUCT(he_field(type, name) ...),
 *		  HE_ASSIGN(code), HE_PRINTK(format, ...))
 *
 * defines hyptrace(name, arguments), to be called at EL2, and the event <name>, to be
 * enabled by the host. In HE_ASSIGN(), __entry is the payload and running the thread of the vCPU
 * that the CPU runs, or 0. Add new events at the end: the ids count from the top. A silent CPU
 * (struct hyptrace_ring) records no event, so that events reveal nothing about a protected guest.
 *
 *	HYP_TIMED_EVENT(name, HE_PROTO(arguments), HE_SAVE(code),
 *			HE_PROTO(arguments), HE_STRUCT(...), HE_ASSIGN(code), HE_PRINTK(...))
 *
 * also defines hyptrace_begin(name, arguments), with the first arguments, which executes
 * HE_SAVE(). hyptrace(name, arguments) records the event later on the same CPU, as begun last:
 * it takes the fields before the field duration from there, sets duration, in ns since then, and
 * executes HE_ASSIGN(). In HE_SAVE(), ring is the CPU's struct hyptrace_ring. HE_SAVE() may set
 * only fields before duration. HE_ASSIGN() must set all fields after it, and those before it that
 * HE_SAVE() has not set.
 *
 *	HYP_SPAN_EVENT(name, HE_PROTO(arguments), HE_STRUCT(...), HE_ASSIGN(code), HE_PRINTK(...))
 *
 * is a timed event that saves nothing when it begins: hyptrace_begin_span(ring, name) and
 * hyptrace_end_span(ring, name, arguments). It is cheaper: use it if all fields are still known
 * at the end. HE_ASSIGN() sets all fields, and duration is a variable.
 *
 * HYP_PAYLOAD_EVENT() has no hook: only hyptrace_record_payload() records such an event.
 */

#ifndef HYP_TIMED_EVENT
#define HYP_TIMED_EVENT(name, begin, save, proto, fields, assign, printk) \
	HYP_EVENT(name, HE_PROTO(proto), fields, , printk)
#endif

#ifndef HYP_SPAN_EVENT
#define HYP_SPAN_EVENT(name, proto, fields, assign, printk) \
	HYP_EVENT(name, HE_PROTO(proto), fields, , printk)
#endif

#ifndef HYP_PAYLOAD_EVENT
#define HYP_PAYLOAD_EVENT	HYP_EVENT
#endif

#include "names.h"

/* Why a CPU enters or leaves EL2 */
#ifndef HYPTRACE_REASON_SMC
#define HYPTRACE_REASON_SMC		0
#define HYPTRACE_REASON_HVC		1
#define HYPTRACE_REASON_SYS		2
#define HYPTRACE_REASON_PSCI		3
#define HYPTRACE_REASON_HOST_ABORT	4
#define HYPTRACE_REASON_GUEST_EXIT	5
#define HYPTRACE_REASON_ERET_HOST	6
#define HYPTRACE_REASON_ERET_GUEST	7
#define HYPTRACE_REASON_UNKNOWN		8

#define HYPTRACE_REASON_NAMES					\
	{ HYPTRACE_REASON_SMC,		"smc" },		\
	{ HYPTRACE_REASON_HVC,		"hvc" },		\
	{ HYPTRACE_REASON_SYS,		"sys" },		\
	{ HYPTRACE_REASON_PSCI,		"psci" },		\
	{ HYPTRACE_REASON_HOST_ABORT,	"host_abort" },		\
	{ HYPTRACE_REASON_GUEST_EXIT,	"guest_exit" },		\
	{ HYPTRACE_REASON_ERET_HOST,	"eret_host" },		\
	{ HYPTRACE_REASON_ERET_GUEST,	"eret_guest" },		\
	{ HYPTRACE_REASON_UNKNOWN,	"unknown" }

/* Events that have the same fields */
#define HYPTRACE_REASON_EVENT(name)					\
	HYP_EVENT(name,							\
		HE_PROTO(u8 reason),					\
		HE_STRUCT(						\
			he_field(u8, reason)				\
			he_field(pid_t, vcpu)				\
		),							\
		HE_ASSIGN(						\
			__entry->reason = reason;			\
			__entry->vcpu = running;			\
		),							\
		HE_PRINTK("reason=%s vcpu=%d",				\
			  __print_symbolic(__entry->reason, HYPTRACE_REASON_NAMES), \
			  __entry->vcpu)				\
	)

#define HYPTRACE_VCPU_EVENT(name)					\
	HYP_EVENT(name,							\
		HE_PROTO(u32 handle, u16 index, pid_t vcpu),		\
		HE_STRUCT(						\
			he_field(u16, index)				\
			he_field(pid_t, vcpu)				\
			he_field(u32, handle)				\
		),							\
		HE_ASSIGN(						\
			__entry->index = index;				\
			__entry->vcpu = vcpu;				\
			__entry->handle = handle;			\
		),							\
		HE_PRINTK("vcpu=%d handle=0x%x index=%u",		\
			  __entry->vcpu, __entry->handle, __entry->index) \
	)
#endif

/* A CPU has entered EL2; vcpu is the thread of the vCPU that it runs, or 0. */
HYPTRACE_REASON_EVENT(hyp_enter)

/* A CPU is about to leave EL2. */
HYPTRACE_REASON_EVENT(hyp_exit)

/* Written on request; id is the number that the request named. */
HYP_EVENT(selftest,
	HE_PROTO(u64 id),
	HE_STRUCT(
		he_field(u64, id)
	),
	HE_ASSIGN(
		__entry->id = id;
	),
	HE_PRINTK("id=%llu", __entry->id)
)

/*
 * The host has made a hypercall. id is its number, see asm/kvm_asm.h; if the function id is
 * of another range of the SMC calling convention, the whole function id. invalid: EL2 has
 * refused to handle it. ret is x1, where EL2 returns a result: if the call is invalid or returns
 * nothing, it is still what the host passed.
 */
HYP_TIMED_EVENT(host_hcall,
	HE_PROTO(u64 number, const u64 *regs),
	HE_SAVE(
		u64 arg1, arg2, arg3, arg4;

		/* One instruction stores it with the id of the event. */
		__entry->id = number;
		if (unlikely(number >> 16))
			__entry->id = regs[0];
		arg1 = regs[1];
		arg2 = regs[2];
		arg3 = regs[3];
		arg4 = regs[4];
		__entry->arg1 = arg1;
		__entry->arg2 = arg2;
		__entry->arg3 = arg3;
		__entry->arg4 = arg4;
	),
	HE_PROTO(const u64 *regs),
	HE_STRUCT(
		he_field(u8, invalid)
		he_field(u32, id)
		he_field(u64, arg1)
		he_field(u64, arg2)
		he_field(u64, arg3)
		he_field(u64, arg4)
		he_field(u64, duration)
		he_field(s64, ret)
	),
	HE_ASSIGN(
		if (unlikely(regs[0]))
			__entry->invalid = 1;
		__entry->ret = regs[1];
	),
	HE_PRINTK("%s invalid=%u arg1=0x%llx arg2=0x%llx arg3=0x%llx arg4=0x%llx ret=%lld duration=%llu",
		  __print_symbolic(__entry->id, HYPTRACE_HCALL_NAMES), __entry->invalid,
		  __entry->arg1, __entry->arg2, __entry->arg3, __entry->arg4,
		  __entry->ret, __entry->duration)
)

/*
 * The host has called the firmware. id is the function id without its hints. forwarded: EL2 has
 * passed the call on as it is; invalid: EL2 has refused it; else EL2 has handled it, which
 * psci_call and host_ffa_call describe. A call that does not return is
 * recorded when the CPU runs again after it was suspended; CPU_OFF is not recorded.
 */
HYP_TIMED_EVENT(host_smc,
	HE_PROTO(u64 func, const u64 *regs),
	HE_SAVE(
		__entry->id = func & ~HYPTRACE_SMC_HINTS;
		__entry->arg1 = regs[1];
		__entry->arg2 = regs[2];
		__entry->arg3 = regs[3];
	),
	HE_PROTO(int handled, const u64 *regs),
	HE_STRUCT(
		he_field(u8, forwarded)
		he_field(u8, invalid)
		he_field(u32, id)
		he_field(u64, arg1)
		he_field(u64, arg2)
		he_field(u64, arg3)
		he_field(u64, duration)
		he_field(s64, ret)
	),
	HE_ASSIGN(
		__entry->forwarded = !handled;
		__entry->invalid = handled < 0;
		__entry->ret = regs[0];
	),
	HE_PRINTK("id=%s forwarded=%u invalid=%u arg1=0x%llx arg2=0x%llx arg3=0x%llx ret=%lld duration=%llu",
		  __print_symbolic(__entry->id, HYPTRACE_SMC_NAMES), __entry->forwarded,
		  __entry->invalid, __entry->arg1, __entry->arg2, __entry->arg3,
		  __entry->ret, __entry->duration)
)

/*
 * EL2 has handled a PSCI call of the host. arg is the first argument: the MPIDR of a CPU, or a
 * power state. CPU_ON, CPU_OFF and SYSTEM_SUSPEND are recorded before EL2 calls the firmware, with
 * ret and duration 0; if the firmware refuses it, it is recorded again. If EL2 refuses it, it is
 * recorded once. A CPU_SUSPEND that does not return is recorded when the CPU runs again.
 */
HYP_TIMED_EVENT(psci_call,
	HE_PROTO(u64 func, u64 arg),
	HE_SAVE(
		__entry->func = func;
		__entry->arg = arg;
	),
	HE_PROTO(s64 ret, bool is_over),
	HE_STRUCT(
		he_field(u32, func)
		he_field(u64, arg)
		he_field(u64, duration)
		he_field(s64, ret)
	),
	HE_ASSIGN(
		__entry->ret = ret;
		if (!is_over)
			__entry->duration = 0;
	),
	HE_PRINTK("func=%s arg=0x%llx ret=%lld duration=%llu",
		  __print_symbolic(__entry->func, HYPTRACE_SMC_NAMES),
		  __entry->arg, __entry->ret, __entry->duration)
)

/* The host has accessed memory that is not mapped for it. addr is the address of the page. */
HYP_TIMED_EVENT(host_mem_abort,
	HE_PROTO(u64 esr, u64 addr),
	HE_SAVE(
		__entry->esr = esr;
		__entry->addr = addr;
	),
	HE_PROTO(s32 ret),
	HE_STRUCT(
		he_field(s32, ret)
		he_field(u64, esr)
		he_field(u64, addr)
		he_field(u64, duration)
	),
	HE_ASSIGN(
		__entry->ret = ret;
	),
	HE_PRINTK("esr=0x%llx addr=0x%llx ret=%d duration=%llu",
		  __entry->esr, __entry->addr, __entry->ret, __entry->duration)
)

/*
 * EL2 has looked at an FF-A call of the host. err is its error, or 0. If EL2 has not handled
 * the call, it is passed on to the firmware.
 */
HYP_EVENT(host_ffa_call,
	HE_PROTO(u32 func_id, bool handled, s32 err, const u64 *res),
	HE_STRUCT(
		he_field(u8, handled)
		he_field(s32, err)
		he_field(u64, func_id)
		he_field(u64, res_a1)
		he_field(u64, res_a2)
		he_field(u64, res_a3)
		he_field(u64, res_a4)
	),
	HE_ASSIGN(
		__entry->handled = handled;
		__entry->err = err;
		__entry->func_id = func_id;
		__entry->res_a1 = res[1];
		__entry->res_a2 = res[2];
		__entry->res_a3 = res[3];
		__entry->res_a4 = res[4];
	),
	HE_PRINTK("func_id=%s handled=%u err=%d res_a1=0x%llx res_a2=0x%llx res_a3=0x%llx res_a4=0x%llx",
		  __print_symbolic(__entry->func_id, HYPTRACE_SMC_NAMES), __entry->handled,
		  __entry->err, __entry->res_a1, __entry->res_a2, __entry->res_a3,
		  __entry->res_a4)
)

/* A CPU is about to enter a guest. handle: of the VM at EL2, 0 without pKVM; index: of its vCPU */
HYP_EVENT(guest_enter,
	HE_PROTO(u32 handle, u16 index),
	HE_STRUCT(
		he_field(u16, index)
		he_field(pid_t, vcpu)
		he_field(u32, handle)
	),
	HE_ASSIGN(
		__entry->index = index;
		__entry->vcpu = running;
		__entry->handle = handle;
	),
	HE_PRINTK("vcpu=%d handle=0x%x index=%u",
		  __entry->vcpu, __entry->handle, __entry->index)
)

/*
 * A CPU has left a guest, and returns to the host. duration is the time from the first entry
 * of the guest until EL2 has looked at the last exit. It includes the traps that EL2 has handled
 * meanwhile: guest_fixup has the time of each. ec is the exception class if the exit is a trap.
 * esr, pc, far and ipa are 0 if the guest is protected; far and ipa are those of an abort, and 0
 * if an SError was pending. ipa is also 0 if the CPU did not say it.
 */
HYP_SPAN_EVENT(guest_exit,
	HE_PROTO(const struct hyptrace_vcpu *vcpu, u64 exit_code),
	HE_STRUCT(
		he_field(u8, code)
		he_field(u8, ec)
		he_field(pid_t, vcpu)
		he_field(u32, handle)
		he_field(u32, index)
		he_field(u64, duration)
		he_field(u64, esr)
		he_field(u64, pc)
		he_field(u64, far)
		he_field(u64, ipa)
	),
	HE_ASSIGN(
		struct hyptrace_exit exit = hyptrace_exit_of(vcpu, exit_code);

		__entry->code = exit.code;
		__entry->ec = exit.ec;
		__entry->vcpu = running;
		__entry->handle = exit.handle;
		__entry->index = vcpu->vcpu_idx;
		__entry->duration = duration;
		__entry->esr = exit.esr;
		__entry->pc = exit.pc;
		__entry->far = exit.far;
		__entry->ipa = exit.ipa;
	),
	HE_PRINTK("vcpu=%d handle=0x%x index=%u code=%s ec=%s esr=0x%llx pc=0x%llx far=0x%llx ipa=0x%llx duration=%llu",
		  __entry->vcpu, __entry->handle, __entry->index,
		  __print_symbolic(__entry->code, HYPTRACE_EXIT_NAMES),
		  __print_symbolic(__entry->ec, HYPTRACE_EC_NAMES), __entry->esr,
		  __entry->pc, __entry->far, __entry->ipa, __entry->duration)
)

/* EL2 has looked at a trap of a guest. If it has handled the trap, the guest continues. */
HYP_TIMED_EVENT(guest_fixup,
	HE_PROTO(u8 ec),
	HE_SAVE(
		__entry->ec = ec;
		__entry->vcpu = ring->vcpu;
	),
	HE_PROTO(bool handled),
	HE_STRUCT(
		he_field(u8, handled)
		he_field(u8, ec)
		he_field(pid_t, vcpu)
		he_field(u64, duration)
	),
	HE_ASSIGN(
		__entry->handled = handled;
	),
	HE_PRINTK("vcpu=%d ec=%s handled=%u duration=%llu", __entry->vcpu,
		  __print_symbolic(__entry->ec, HYPTRACE_EC_NAMES), __entry->handled,
		  __entry->duration)
)

/* The host has loaded a vCPU on this CPU. */
HYPTRACE_VCPU_EVENT(vcpu_load)

/* The host has put the vCPU that was loaded on this CPU. */
HYPTRACE_VCPU_EVENT(vcpu_put)

/*
 * A protected guest has done what it may not do, such as to run AArch32 code, and EL2 has ended
 * its run. esr is ESR_EL2 as it was then, which an interrupt does not change.
 */
HYP_EVENT(vcpu_illegal_trap,
	HE_PROTO(u64 esr),
	HE_STRUCT(
		he_field(pid_t, vcpu)
		he_field(u64, esr)
	),
	HE_ASSIGN(
		__entry->vcpu = running;
		__entry->esr = esr;
	),
	HE_PRINTK("vcpu=%d esr=0x%llx", __entry->vcpu, __entry->esr)
)

/*
 * EL2 was asked to change who may access pages: from is their owner before, to is who gets
 * or loses them. With a guest, handle is that of its VM and gfn the page there. ret is 0, or
 * a negative errno and nothing has changed. After __pkvm_host_reclaim_page_guest() the host gets 0
 * for -EHWPOISON.
 *
 * From Linux 7 on, what EL2 refuses before it takes the locks is not recorded: page numbers that
 * are not valid (__pkvm_host_donate_hyp, __pkvm_hyp_donate_host, __pkvm_host_share_ffa,
 * __pkvm_host_unshare_ffa, __pkvm_host_share_guest), numbers of pages and alignments
 * (__pkvm_host_share_guest, __pkvm_host_unshare_guest), and permissions and pages that are no
 * memory (__pkvm_host_share_guest).
 */
HYP_EVENT(mem_transition,
	HE_PROTO(u8 op, u8 from, u8 to, u64 pfn, u64 nr, u64 gfn, u32 handle, s32 ret),
	HE_STRUCT(
		he_field(u8, op)
		he_field(u8, from)
		he_field(u32, to)
		he_field(u32, handle)
		he_field(s32, ret)
		he_field(u64, pfn)
		he_field(u64, nr)
		he_field(u64, gfn)
	),
	HE_ASSIGN(
		__entry->op = op;
		__entry->from = from;
		__entry->to = to;
		__entry->handle = handle;
		__entry->ret = ret;
		__entry->pfn = pfn;
		__entry->nr = nr;
		__entry->gfn = gfn;
	),
	HE_PRINTK("op=%s from=%s to=%s pfn=0x%llx nr=%llu gfn=0x%llx handle=0x%x ret=%d",
		  __print_symbolic(__entry->op, HYPTRACE_MEM_OP_NAMES),
		  __print_symbolic(__entry->from, HYPTRACE_OWNER_NAMES),
		  __print_symbolic(__entry->to, HYPTRACE_OWNER_NAMES), __entry->pfn,
		  __entry->nr, __entry->gfn, __entry->handle, __entry->ret)
)

/*
 * EL2 invalidates TLB entries: those of nr pages from ipa on, or all of a VMID, or all. In
 * protected mode vmid is 0 unless EL2 changes the mappings of a guest: the address that the host
 * passes for a VM may be any.
 */
HYP_EVENT(tlbi,
	HE_PROTO(u8 op, u32 vmid, u64 ipa, u64 nr),
	HE_STRUCT(
		he_field(u8, op)
		he_field(u32, vmid)
		he_field(u64, ipa)
		he_field(u64, nr)
	),
	HE_ASSIGN(
		__entry->op = op;
		__entry->vmid = vmid;
		__entry->ipa = ipa;
		__entry->nr = nr;
	),
	HE_PRINTK("op=%s vmid=%u ipa=0x%llx nr=%llu",
		  __print_symbolic(__entry->op, HYPTRACE_TLBI_NAMES), __entry->vmid,
		  __entry->ipa, __entry->nr)
)

/*
 * EL2 has allocated or freed 2^order pages of a pool, which has left free pages now: without those
 * that it has allocated or freed while it ran a protected guest. A page that was allocated then and
 * is freed later counts, so left may exceed the pages of the pool. pool is the number of the first
 * page of the pool. That of a VM's pool is also in the mem_transition by which the host has donated
 * it.
 */
HYP_EVENT(hyp_pool,
	HE_PROTO(u8 op, u8 order, u32 left, u64 pool),
	HE_STRUCT(
		he_field(u8, op)
		he_field(u8, order)
		he_field(u32, left)
		he_field(u64, pool)
	),
	HE_ASSIGN(
		__entry->op = op;
		__entry->order = order;
		__entry->left = left;
		__entry->pool = pool;
	),
	HE_PRINTK("op=%s order=%u left=%u pool=0x%llx",
		  __print_symbolic(__entry->op, HYPTRACE_POOL_NAMES), __entry->order,
		  __entry->left, __entry->pool)
)

/*
 * hyptrace_printk() was called at EL2. fmt_id is the place of its format among all formats,
 * whose texts the print format of the remote has; a to d are the numbers.
 */
HYP_EVENT(hyp_printk,
	HE_PROTO(u32 fmt_id, u64 a, u64 b, u64 c, u64 d),
	HE_STRUCT(
		he_field(u32, fmt_id)
		he_field(u64, a)
		he_field(u64, b)
		he_field(u64, c)
		he_field(u64, d)
	),
	HE_ASSIGN(
		__entry->fmt_id = fmt_id;
		__entry->a = a;
		__entry->b = b;
		__entry->c = c;
		__entry->d = d;
	),
	HE_PRINTK("fmt_id=%u a=0x%llx b=0x%llx c=0x%llx d=0x%llx", __entry->fmt_id,
		  __entry->a, __entry->b, __entry->c, __entry->d)
)

/* EL2 has panicked on this CPU, with these registers of EL2. vcpu: thread of its vCPU, or 0 */
HYP_EVENT(hyp_panic,
	HE_PROTO(u64 esr, u64 elr, u64 far),
	HE_STRUCT(
		he_field(pid_t, vcpu)
		he_field(u64, esr)
		he_field(u64, elr)
		he_field(u64, far)
	),
	HE_ASSIGN(
		__entry->vcpu = running;
		__entry->esr = esr;
		__entry->elr = elr;
		__entry->far = far;
	),
	HE_PRINTK("vcpu=%d esr=0x%llx elr=0x%llx far=0x%llx", __entry->vcpu, __entry->esr,
		  __entry->elr, __entry->far)
)

/*
 * A function of EL2 that is traced has returned: see function/function.h. The functions of a call
 * are recorded when it ends, in the order in which they have returned: ago is how long before that
 * one did, ns. depth is the number of traced functions that have called each other to call it.
 */
HYP_PAYLOAD_EVENT(func,
	HE_PROTO(u16 id, u16 depth, u64 took, u64 ago),
	HE_STRUCT(
		he_field(u16, id)
		he_field(u16, depth)
		he_field(u64, duration)
		he_field(u64, ago)
	),
	HE_ASSIGN(
		__entry->id = id;
		__entry->depth = depth;
		__entry->duration = took;
		__entry->ago = ago;
	),
	HE_PRINTK("id=%u depth=%u duration=%llu ago=%llu", __entry->id, __entry->depth,
		  __entry->duration, __entry->ago)
)

/*
 * What a counter of the CPU's PMU has counted during an event, which is counted: see pmu.h. It is
 * recorded before that event, if the CPU records it, and after all others of before its end.
 * counter is the number of what the PMU has counted: PMEVTYPER<n>_EL0.evtCount.
 */
HYP_PAYLOAD_EVENT(pmu,
	HE_PROTO(u16 what, u32 event, u64 total),
	HE_STRUCT(
		he_field(u16, counter)
		he_field(u32, of)
		he_field(u64, count)
	),
	HE_ASSIGN(
		__entry->counter = what;
		__entry->of = event;
		__entry->count = total;
	),
	HE_PRINTK("counter=%s of=%s count=%llu",
		  __print_symbolic(__entry->counter, HYPTRACE_PMU_NAMES),
		  __print_symbolic(__entry->of, HYPTRACE_PMU_OF_NAMES), __entry->count)
)

/*
 * EL2 had to wait for a spinlock, and has it now. owner is the CPU that held it as the wait began;
 * -1: not known. With two CPUs it is always known, else only if that CPU had to wait for the lock,
 * too. Waits that began while another CPU ran a protected guest could tell what EL2 does for it:
 * they are not recorded, nor do they make an owner known, nor are those recorded that were over
 * before EL2 knew. The locks of hyptrace itself are not traced.
 */
HYP_SPAN_EVENT(lock_wait,
	HE_PROTO(u8 lock, s32 owner),
	HE_STRUCT(
		he_field(u8, lock)
		he_field(s32, owner)
		he_field(u64, duration)
	),
	HE_ASSIGN(
		__entry->lock = lock;
		__entry->owner = owner;
		__entry->duration = duration;
	),
	HE_PRINTK("lock=%s owner=%d duration=%llu",
		  __print_symbolic(__entry->lock, HYPTRACE_LOCK_NAMES), __entry->owner,
		  __entry->duration)
)
