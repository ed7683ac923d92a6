/* SPDX-License-Identifier: GPL-2.0-only */
/* Access to EL2, exported to hyptrace_pkvm.ko by a kernel that has hyptrace's hooks. */
#ifndef __HYPTRACE_EL2_H
#define __HYPTRACE_EL2_H

#include <linux/mm_types.h>
#include <linux/types.h>

/**
 * struct hyptrace_el2 - access to EL2
 * @call:	the hypercall __hyptrace(): see hyp/abi.h. -ENODEV if there is no hypervisor
 * @map:	map a page of the linear map at EL2; only without protection. Returns 0 or an errno
 * @why_not:	returns NULL if EL2 can be called, else the reason why not, for a message
 * @is_protected: EL2 does not trust this kernel
 * @hold:	keep the hypervisor while there is no VM: KVM removes an unprotected one with the
 *		last VM if kvm.enable_virt_at_load=0. Sleeps; returns 0 or an errno
 * @release:	undo one successful hold(). Sleeps
 * @counter_rate: frequency in Hz that this kernel assumes for the physical counter. The
 *		device tree's clock-frequency takes precedence over CNTFRQ_EL0
 * @formats:	the formats of hyp/printk.h, strings one after the other with any number of
 *		zeros between two; sets @size to their bytes. NULL if there was no memory
 * @functions:	the names of EL2's functions that can be traced, in the order of their ids, with a
 *		zero behind each; sets @size to their bytes. NULL if this kernel cannot trace any
 * @set_function: start or stop tracing a function of EL2. Returns 0 or a negative errno
 */
struct hyptrace_el2 {
	s64		(*call)(u64 op, u64 arg1, u64 arg2, u64 arg3);
	int		(*map)(struct page *page);
	const char	*(*why_not)(void);
	bool		(*is_protected)(void);
	int		(*hold)(void);
	void		(*release)(void);
	u32		(*counter_rate)(void);
	const char	*(*formats)(size_t *size);
	const char	*(*functions)(size_t *size);
	int		(*set_function)(u32 id, bool on);
};

extern const struct hyptrace_el2 hyptrace_el2;

/* virt/kvm/kvm_main.c, a hook: enable KVM as long as there is one more hold than releases */
int kvm_hold_virtualization(void);
void kvm_release_virtualization(void);

#endif /* __HYPTRACE_EL2_H */
