// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of libgcc that big-endian programs need: Debian's library is
 * little-endian only. Only printf() and strtod() use long double arithmetic, for numbers
 * that no test prints or reads. So these functions abort.
 */
#include <stdint.h>
#include <stdlib.h>

#define NEVER(name)		\
	void name(void);	\
	void name(void)		\
	{			\
		abort();	\
	}

NEVER(__addtf3)
NEVER(__subtf3)
NEVER(__multf3)
NEVER(__divtf3)
NEVER(__eqtf2)
NEVER(__netf2)
NEVER(__lttf2)
NEVER(__letf2)
NEVER(__gttf2)
NEVER(__getf2)
NEVER(__extendsftf2)
NEVER(__extenddftf2)
NEVER(__trunctfsf2)
NEVER(__trunctfdf2)
NEVER(__fixtfsi)
NEVER(__fixunstfsi)
NEVER(__floatsitf)
NEVER(__floatunsitf)

/* Step by the smallest cache line that the architecture allows. */
#define LINE		4

void __clear_cache(void *begin, void *end)
{
	uintptr_t at;

	for (at = (uintptr_t)begin & -LINE; at < (uintptr_t)end; at += LINE)
		asm volatile("dc cvau, %0" : : "r" (at) : "memory");
	asm volatile("dsb ish" : : : "memory");
	for (at = (uintptr_t)begin & -LINE; at < (uintptr_t)end; at += LINE)
		asm volatile("ic ivau, %0" : : "r" (at) : "memory");
	asm volatile("dsb ish\n\tisb" : : : "memory");
}
