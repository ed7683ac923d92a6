/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of EL2 that are traced. The compiler leaves a NOP at the begin of each function. While
 * the function is traced, the NOP is a branch to its stub, which calls hyptrace_function_enter() and
 * goes on behind the NOP: see function_entry.S. Each build makes the stubs, the list of the places of
 * the NOPs, and that of the names: functions.awk.
 */
#ifndef __HYPTRACE_FUNCTION_H
#define __HYPTRACE_FUNCTION_H

/* Calls of traced functions that a CPU can be in. Those inside them are not recorded. */
#define HYPTRACE_MAX_CALLS	48

/* Of struct hyptrace_calls, for function_entry.S */
#define HYPTRACE_CALL_SHIFT	5
#define HYPTRACE_CALL_RETURN	32
#define HYPTRACE_CALL_ID	48

#ifndef __ASSEMBLY__

#include "env.h"

/**
 * struct hyptrace_calls - the calls of traced functions that a CPU is in
 * @depth:	number of calls
 * @call:	the calls, the outermost first
 * @call.ret:	where the function returns
 * @call.begun:	the counter when it began
 * @call.id:	the function
 */
struct hyptrace_calls {
	u64 depth;
	u64 reserved[3];
	struct {
		u64 ret;
		u64 begun;
		u64 id;
		u64 reserved;
	} call[HYPTRACE_MAX_CALLS];
};

#if defined(CONFIG_HYPTRACE_EL2_FUNCTIONS) && defined(__KVM_NVHE_HYPERVISOR__)

DECLARE_PER_CPU(struct hyptrace_calls, hyptrace_calls);

/* function_entry.S */
void hyptrace_function_return(void);

int hyptrace_function_set(u64 id, u64 on);

/**
 * hyptrace_functions_forget() - forget the calls that this CPU is in
 *
 * Some functions of EL2 never return. The function that calls this one is not traced, and no function
 * that is called it.
 */
static __always_inline void hyptrace_functions_forget(void)
{
	this_cpu_ptr(&hyptrace_calls)->depth = 0;
}

#else

static inline int hyptrace_function_set(u64 id, u64 on)
{
	return -EOPNOTSUPP;
}

static inline void hyptrace_functions_forget(void)
{
}

#endif

#endif /* __ASSEMBLY__ */

#endif /* __HYPTRACE_FUNCTION_H */
