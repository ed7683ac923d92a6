/* SPDX-License-Identifier: GPL-2.0-only */
/* The hooks where CONFIG_HYPTRACE_EL2 is not set: empty. Included by hooks.h. */
#ifndef __HYPTRACE_HOOKS_OFF_H
#define __HYPTRACE_HOOKS_OFF_H

#include <linux/errno.h>
#include <linux/types.h>

int __pkvm_host_share_hyp_range(u64 pfn, u64 nr_pages);
int __pkvm_host_unshare_hyp_range(u64 pfn, u64 nr_pages);

#define hyptrace(event, ...)		do { } while (0)
#define hyptrace_printk(fmt, ...)	do { } while (0)

static inline s64 hyptrace_hcall(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	return -EOPNOTSUPP;
}

#define hyptrace_begin(event, ...)	do { } while (0)
#define hyptrace_host_call(number, own, regs)	do { } while (0)
static inline void hyptrace_psci_call(u32 func, const u64 *regs) { }
static inline void hyptrace_psci_leave(void) { }
static inline void hyptrace_psci_return(u32 func, s64 ret) { }
static inline void hyptrace_psci_resume(void) { }
static inline void hyptrace_ffa(u32 func, bool handled, const u64 *regs) { }
static inline void hyptrace_silence_own_call(void) { }
static inline void hyptrace_host_exit(void) { }
static inline void hyptrace_smc_exit(void) { }
static inline void hyptrace_smc_enter(void) { }
static inline void hyptrace_set_vcpu(pid_t pid) { }
#define hyptrace_guest_run(vcpu)	do { } while (0)
static inline void hyptrace_guest_begin(bool protected) { }
#define hyptrace_timed(event, call, ...)	(call)
#define hyptrace_guest_enter(vcpu)	do { } while (0)
#define hyptrace_fixup(call, exit_code)	(call)
#define hyptrace_guest_exit(vcpu, exit_code, protected)	do { } while (0)
static inline void hyptrace_guest_end(bool protected) { }
#define hyptrace_vcpu_load(hyp_vcpu, handle)	do { } while (0)
#define hyptrace_vcpu_put(hyp_vcpu, handle)	do { } while (0)
#define hyptrace_mem(...)			do { } while (0)
#define hyptrace_guest_mem(...)			do { } while (0)
#define hyptrace_relinquish(...)		do { } while (0)
#define hyptrace_tlbi(...)			do { } while (0)
#define hyptrace_pool_init(pool)		do { } while (0)
#define hyptrace_pool_alloc(pool, order)	do { } while (0)
#define hyptrace_pool_free(pool, order)		do { } while (0)
static inline void hyptrace_cpu_off(void) { }
static inline void hyptrace_panic(u64 elr, bool has_vcpu) { }
static inline void hyptrace_cpu_entry(void) { }

#endif /* __HYPTRACE_HOOKS_OFF_H */
