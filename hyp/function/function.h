/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of EL2 that are traced. The compiler leaves a NOP at the begin of each function. While
 * the function is traced, the NOP is a branch to its stub, which calls hyptrace_function_enter()
 * and goes on behind the NOP: see function_entry.S. Each build makes the stubs, the list of the
 * places of the NOPs, and that of the names: functions.awk. What the functions have done is kept
 * until EL2 returns to the host. Then it is recorded: function.c.
 */
#ifndef __HYPTRACE_FUNCTION_H
#define __HYPTRACE_FUNCTION_H

#include "function_abi.h"

/* Traced functions that a CPU can be in. Those that they call are not recorded. */
#define HYPTRACE_MAX_FRAMES	48
/* Functions that have returned, until they are recorded */
#define HYPTRACE_MAX_CALLS	512

/* Of struct hyptrace_calls, for function_entry.S */
#define HYPTRACE_FRAME_SHIFT	5
#define HYPTRACE_FRAMES		16
#define HYPTRACE_CALLS		(HYPTRACE_FRAMES + (HYPTRACE_MAX_FRAMES << HYPTRACE_FRAME_SHIFT))
#define HYPTRACE_CALL_BYTES	24

#ifndef __ASSEMBLY__

#include "../env.h"

/* No frame has this depth: so functions are not recorded. */
#define HYPTRACE_HIDDEN		BIT_ULL(16)

/* A traced function that has returned */
struct hyptrace_call {
	u64 begun;	/* the counter then */
	u64 ended;	/* the counter then */
	u64 stub;	/* what comes after the call of its stub; from bit 48 on, its depth */
};

/* The traced functions that a CPU is in, and those that have returned */
struct hyptrace_calls {
	u64 depth;			/* how many it is in, and HYPTRACE_HIDDEN */
	u64 used;			/* bytes of @call that are used */
	struct {
		u64 ret;		/* where the function returns */
		u64 begun;		/* the counter then */
		u64 stub;		/* as in struct hyptrace_call */
		u64 reserved;
	} frame[HYPTRACE_MAX_FRAMES];	/* those that it is in, the outermost first */
	struct hyptrace_call call[HYPTRACE_MAX_CALLS];	/* those that have returned */
	u64 forgotten;			/* likewise in this call, but there was no room */
};

#if defined(CONFIG_HYPTRACE_EL2_FUNCTIONS) && \
	(defined(__KVM_NVHE_HYPERVISOR__) || defined(HYPTRACE_ENV_HOST))

DECLARE_PER_CPU(struct hyptrace_calls, hyptrace_calls);

/* Made by functions.awk: how far each function's NOP is from here; and the stubs, in this order */
extern const s32 hyptrace_function_places[];
extern const s32 hyptrace_function_places_end[];
extern const u8 hyptrace_function_stubs[];

bool hyptrace_write_text(const u8 *at, u32 old, u32 new);
int hyptrace_function_set(u64 id, u64 on);
void hyptrace_functions_record(void);
void __hyptrace_functions_end(void);
void hyptrace_functions_forget(struct hyptrace_ring *ring);

/**
 * hyptrace_functions_end() - the call ends whose functions have returned on this CPU
 *
 * Some functions never return: they are forgotten.
 *
 * Context: no function that is traced has called the function that calls this one.
 */
static __always_inline void hyptrace_functions_end(void)
{
	this_cpu_ptr(&hyptrace_calls)->depth = 0;
	__hyptrace_functions_end();
}

/**
 * hyptrace_functions_flush() - record the functions that have returned in this call so far
 *
 * Context: before the CPU enters a guest, which may run for long.
 */
#define hyptrace_functions_flush()					\
	do {								\
		if (hyptrace_is_on(func) && this_cpu_ptr(&hyptrace_calls)->used)	\
			hyptrace_functions_record();			\
	} while (0)

/**
 * hyptrace_functions_hide() - do not record the functions that are called from now on, or do it
 * again
 * @hide:	whether it begins
 */
static __always_inline void hyptrace_functions_hide(bool hide)
{
	this_cpu_ptr(&hyptrace_calls)->depth += hide ? HYPTRACE_HIDDEN : -HYPTRACE_HIDDEN;
}

#else

#define hyptrace_function_set(id, on)		((void)(id), (void)(on), -EOPNOTSUPP)
#define hyptrace_functions_end()		do { } while (0)
#define hyptrace_functions_flush()		do { } while (0)
#define hyptrace_functions_forget(ring)		((void)(ring))
#define hyptrace_functions_hide(hide)		((void)(hide))

#endif

#endif /* __ASSEMBLY__ */

#endif /* __HYPTRACE_FUNCTION_H */
