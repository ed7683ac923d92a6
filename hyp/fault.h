/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fault points: where a kernel for tests has EL2 panic, to show what is left of the ring then.
 * Other kernels have no code for it.
 */
#ifndef __HYPTRACE_FAULT_H
#define __HYPTRACE_FAULT_H

#include "abi.h"

#ifdef CONFIG_HYPTRACE_FAULTS

/* the armed point, 0: none */
extern u64 hyptrace_armed_fault;

/**
 * hyptrace_may_fault() - panic if this point is armed
 * @point:	enum hyptrace_fault_point
 *
 * What is recorded of the panic must not panic: a point is armed once.
 */
static __always_inline void hyptrace_may_fault(u64 point)
{
	if (unlikely(READ_ONCE(hyptrace_armed_fault) == point)) {
		WRITE_ONCE(hyptrace_armed_fault, 0);
		BUG();
	}
}

#else

#define hyptrace_may_fault(point)	do { } while (0)

#endif

#endif /* __HYPTRACE_FAULT_H */
