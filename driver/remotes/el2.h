/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a kernel with the hooks exports for hyptrace_pkvm.ko: the way to EL2.
 */
#ifndef __HYPTRACE_EL2_H
#define __HYPTRACE_EL2_H

#include <linux/mm_types.h>
#include <linux/types.h>

/**
 * struct hyptrace_el2 - the way to EL2
 * @call:	the hypercall __hyptrace(): see hyp/abi.h. -ENODEV: nobody is there
 * @map:	where EL2 is not protected: map a page of the kernel's linear map there;
 *		negative errno
 * @why_not:	NULL if there is an EL2 to be called, else a sentence that says
 *		why there is none
 * @is_protected: EL2 does not trust this kernel
 * @hold:	keep the hypervisor at EL2 while there is no VM: without protection, and with
 *		kvm.enable_virt_at_load=0, KVM removes it with the last VM. Sleeps; 0 or a
 *		negative errno
 * @release:	undo one successful hold(). Sleeps
 * @counter_rate: Hz of the physical counter, as this kernel counts its own time by it:
 *		the device tree's clock-frequency goes before CNTFRQ_EL0
 */
struct hyptrace_el2 {
	s64		(*call)(u64 op, u64 arg1, u64 arg2, u64 arg3);
	int		(*map)(struct page *page);
	const char	*(*why_not)(void);
	bool		(*is_protected)(void);
	int		(*hold)(void);
	void		(*release)(void);
	u32		(*counter_rate)(void);
};

extern const struct hyptrace_el2 hyptrace_el2;

#endif /* __HYPTRACE_EL2_H */
