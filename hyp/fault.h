/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fault points: where a kernel for tests has EL2 panic, to show what is left of the ring then, or
 * wait, to show that the slow function is found. Other kernels have no code for it.
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

/**
 * hyptrace_may_delay() - wait for a sixteenth of a second if this point is armed
 * @point:	enum hyptrace_fault_point
 */
static __always_inline void hyptrace_may_delay(u64 point)
{
	u64 begin;

	if (likely(READ_ONCE(hyptrace_armed_fault) != point))
		return;
	WRITE_ONCE(hyptrace_armed_fault, 0);
	begin = hyptrace_read_counter();
	while (hyptrace_read_counter() - begin < read_sysreg(cntfrq_el0) / 16)
		cpu_relax();
}

#else

#define hyptrace_may_fault(point)	do { } while (0)
#define hyptrace_may_delay(point)	do { } while (0)

#endif

#endif /* __HYPTRACE_FAULT_H */
