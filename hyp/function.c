// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choosing which functions of EL2 are traced: EL2 changes its own text. The host names a function by
 * its id only: where the instruction is, and what it becomes, EL2 takes from its own memory. Called by
 * hcall.c.
 */
#include <nvhe/mm.h>

#include "function.h"
#include "ring.h"

/* Made by functions.awk: of each function, how far its NOP is from here; and the stubs, in this order */
extern const s32 hyptrace_function_places[];
extern const s32 hyptrace_function_places_end[];
extern const u8 hyptrace_function_stubs[];

#define NOP		0xd503201fU
#define B(distance)	(0x14000000U | ((distance) >> 2 & GENMASK(25, 0)))

static_assert(sizeof_field(struct hyptrace_calls, call[0]) == 1 << HYPTRACE_CALL_SHIFT);
static_assert(offsetof(struct hyptrace_calls, call[0].ret) == HYPTRACE_CALL_RETURN);
static_assert(offsetof(struct hyptrace_calls, call[0].begun) == HYPTRACE_CALL_RETURN + 8);
static_assert(offsetof(struct hyptrace_calls, call[0].id) == HYPTRACE_CALL_ID);

DEFINE_PER_CPU(struct hyptrace_calls, hyptrace_calls);

/* Protects the text: no lock is taken inside it */
static hyptrace_lock_t text_lock = HYPTRACE_LOCK_INIT;

/* EL2 may only execute its text: this maps the page once more, for this CPU. */
static void write_text(const u8 *at, u32 instruction)
{
	/* Kernels before 7.1 do not add the offset in the page. */
	u32 *to = hyp_fixmap_map(__hyp_pa(at) & PAGE_MASK) + offset_in_page(at);

	WRITE_ONCE(*to, cpu_to_le32(instruction));
	asm volatile("dc cvau, %0\n\tdsb ish" : : "r" (to) : "memory");
	hyp_fixmap_unmap();
	asm volatile("ic ivau, %0\n\tdsb ish\n\tisb" : : "r" (at) : "memory");
}

/**
 * hyptrace_function_set() - trace a function, or cease to
 * @id:		its number in functions.awk's list
 * @on:		1 or 0
 *
 * A CPU that is in the function stays traced until it returns, or is not. The architecture lets a NOP
 * become a branch while others execute it: they take either.
 *
 * Return: 0, also if it is so already; -EINVAL no such function, or @on is something else;
 * -EOPNOTSUPP without protection: there the host changes the text.
 */
int hyptrace_function_set(u64 id, u64 on)
{
	u64 nr = hyptrace_function_places_end - hyptrace_function_places;
	const u8 *at, *stub;
	u32 branch;

	if (!is_protected_kvm_enabled())
		return -EOPNOTSUPP;
	if (id >= nr || on > 1)
		return -EINVAL;
	id = array_index_nospec(id, nr);
	at = (const u8 *)&hyptrace_function_places[id] + hyptrace_function_places[id];
	stub = hyptrace_function_stubs + id * HYPTRACE_STUB_BYTES;
	branch = B((u64)(stub - at));

	hyptrace_guard(&text_lock);
	if (le32_to_cpu(*(const __le32 *)at) != (on ? branch : NOP))
		write_text(at, on ? branch : NOP);

	return 0;
}
