// SPDX-License-Identifier: GPL-2.0-only
/* EL2 changes an instruction of its own text. Called by function.c. */
#include <nvhe/mm.h>

#include "function.h"

/**
 * hyptrace_write_text() - change an instruction of EL2
 * @at:		its address
 * @old:	what it must be
 * @new:	what it becomes
 *
 * EL2 may only execute its text: this maps the page once more, for this CPU.
 *
 * Context: no other CPU changes text.
 * Return: false if the mapping is not that of the text: nothing has changed.
 */
bool hyptrace_write_text(const u8 *at, u32 old, u32 new)
{
	/* Kernels before 7.1 do not add the offset in the page. */
	u32 *to = hyp_fixmap_map(__hyp_pa(at) & PAGE_MASK) + offset_in_page(at);
	bool is_text;

	/* With E2H, QEMU 7.2 ignores the VALE2IS by which the page before was unmapped. */
	asm volatile("tlbi alle2is\n\tdsb ish\n\tisb" : : : "memory");
	is_text = READ_ONCE(*to) == cpu_to_le32(old);
	if (is_text) {
		WRITE_ONCE(*to, cpu_to_le32(new));
		asm volatile(ALTERNATIVE("dc cvau, %0", "dc civac, %0",
					 ARM64_WORKAROUND_CLEAN_CACHE)
			     "\n\tdsb ish" : : "r" (to) : "memory");
	}
	hyp_fixmap_unmap();
	asm volatile("ic ivau, %0\n\tdsb ish\n\tisb" : : "r" (at) : "memory");

	return is_text;
}
