/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The begin and the end of a traced function: see function.h. A function may be called with any of x0
 * to x8 in use, and returns with x0 and x1. x9 to x17 are free at both moments.
 */
#include <linux/linkage.h>

#include <asm/asm-bug.h>
#include <asm/assembler.h>

#include "function.h"

	.text

/*
 * The function's stub calls it. x9: the function's id; x11: where the function returns. Returns to the
 * stub with what is to be the function's x30.
 */
SYM_CODE_START(hyptrace_function_enter)
	adr_this_cpu x10, hyptrace_calls, x12
	ldr	x12, [x10]
	cmp	x12, #HYPTRACE_MAX_CALLS
	b.hs	1f
	add	x13, x10, x12, lsl #HYPTRACE_CALL_SHIFT
	mrs	x14, cntpct_el0
	stp	x11, x14, [x13, #HYPTRACE_CALL_RETURN]
	str	x9, [x13, #HYPTRACE_CALL_ID]
	add	x12, x12, #1
	str	x12, [x10]
	adr	x11, hyptrace_function_return
1:	mov	x12, x30
	mov	x30, x11
	ret	x12
SYM_CODE_END(hyptrace_function_enter)

/* A traced function returns here. */
SYM_CODE_START(hyptrace_function_return)
	adr_this_cpu x10, hyptrace_calls, x12
	ldr	x3, [x10]
	cbz	x3, 1f
	sub	x3, x3, #1
	add	x13, x10, x3, lsl #HYPTRACE_CALL_SHIFT
	str	x3, [x10]
	ldr	x9, [x13, #HYPTRACE_CALL_RETURN]
	stp	x0, x1, [sp, #-32]!
	str	x9, [sp, #16]
	ldp	x1, x2, [x13, #HYPTRACE_CALL_RETURN + 8]
	/* x12 is this CPU's offset. hyptrace_rings has the alignment of adrp. */
	adrp	x0, hyptrace_rings
	add	x0, x0, x12
	bl	__hyptrace_func
	ldr	x30, [sp, #16]
	ldp	x0, x1, [sp], #32
	ret
	/* Nobody has called. */
1:	ASM_BUG()
SYM_CODE_END(hyptrace_function_return)
