/* SPDX-License-Identifier: GPL-2.0-only */
/* The hypercall as a function: hcall.c. The kernel's EL2 code and the test remote call it. */
#ifndef __HYPTRACE_HCALL_H
#define __HYPTRACE_HCALL_H

#include <linux/types.h>

s64 hyptrace_hcall(u64 op, u64 arg1, u64 arg2, u64 arg3);

/* only in the test remote */
int hyptrace_alloc_rings(void);
void hyptrace_free_rings(void);
void hyptrace_visit(void *unused);

#endif /* __HYPTRACE_HCALL_H */
