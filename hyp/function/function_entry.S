/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The begin and the end of a traced function: see function.h. A function may be called with any of
 * x0 to x8 in use, and returns with x0 and x1. x9 to x17 are free at both moments.
 */
#include <linux/linkage.h>

#include <asm/asm-bug.h>
#include <asm/assembler.h>

#include "function.h"

	.text

/*
 * The function's stub calls it. x11: where the function returns. Returns to the stub with what is
 * to be the function's x30.
 */
SYM_CODE_START(hyptrace_function_enter)
	adr_this_cpu x10, hyptrace_calls, x12
	ldr	x12, [x10]
	cmp	x12, #HYPTRACE_MAX_FRAMES
	b.hs	1f
	add	x13, x10, x12, lsl #HYPTRACE_FRAME_SHIFT
	mrs	x14, cntpct_el0
	stp	x11, x14, [x13, #HYPTRACE_FRAMES]
	str	x30, [x13, #HYPTRACE_FRAMES + 16]
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
	ldp	x11, x12, [x10]
	sub	x11, x11, #1
	cmp	x11, #HYPTRACE_MAX_FRAMES
	b.hs	2f
	add	x13, x10, x11, lsl #HYPTRACE_FRAME_SHIFT
	mrs	x14, cntpct_el0
	ldp	x30, x15, [x13, #HYPTRACE_FRAMES]
	ldr	x16, [x13, #HYPTRACE_FRAMES + 16]
	/* The depth takes the place of bits that all addresses of the text have in common. */
	bfi	x16, x11, #48, #16
	add	x13, x10, #HYPTRACE_CALLS
	add	x13, x13, x12
	stp	x15, x14, [x13]
	str	x16, [x13, #16]
	add	x12, x12, #HYPTRACE_CALL_BYTES
	stp	x11, x12, [x10]
	cmp	x12, #HYPTRACE_MAX_CALLS * HYPTRACE_CALL_BYTES
	b.hs	1f
	ret

	/* There is no room for another one. */
1:	stp	x0, x1, [sp, #-32]!
	str	x30, [sp, #16]
	bl	hyptrace_functions_record
	ldr	x30, [sp, #16]
	ldp	x0, x1, [sp], #32
	ret

	/* Nobody has called. With HYPTRACE_HIDDEN, nobody can have. */
2:	ASM_BUG()
SYM_CODE_END(hyptrace_function_return)
