/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop that reads the counters of the PMU: see pmu.c. The instructions that read a register
 * name it, so there is code for each one, HYPTRACE_PMU_CODE_BYTES long.
 */
#include <linux/linkage.h>

#include "pmu.h"

.macro read_counter, count, type
.Lbegin\@:
	bti	j
	mrs	x6, \count
	mrs	x7, \type
	b	2b
	.if	. - .Lbegin\@ != HYPTRACE_PMU_CODE_BYTES
	.error	"HYPTRACE_PMU_CODE_BYTES is wrong"
	.endif
.endm

	.text

/*
 * hyptrace_pmu_read_counters() - x0: the first struct hyptrace_pmu_counter, x1: end of the last,
 * x2: where what they have counted goes. Return: bits in which one is programmed unlike its type
 */
SYM_FUNC_START(hyptrace_pmu_read_counters)
	mov	x3, #0
	adr	x8, 3f
	cmp	x0, x1
	b.hs	4f
1:	ldp	x4, x5, [x0], #HYPTRACE_PMU_COUNTER_BYTES
	add	x4, x8, x4
	br	x4
2:	str	x6, [x2], #8
	eor	x7, x7, x5
	orr	x3, x3, x7
	cmp	x0, x1
	b.lo	1b
4:	mov	x0, x3
	ret

3:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	read_counter pmevcntr\n\()_el0, pmevtyper\n\()_el0
	.endr
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	read_counter pmevcntr\n\()_el0, pmevtyper\n\()_el0
	.endr
	read_counter pmccntr_el0, pmccfiltr_el0
	/* PMICNTR_EL0 and PMICFILTR_EL0, which not all assemblers know */
	read_counter s3_3_c9_c4_0, s3_3_c9_c6_0
SYM_FUNC_END(hyptrace_pmu_read_counters)
