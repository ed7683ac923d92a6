/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace_printk(): a format and numbers as an event, from anywhere at EL2. The formats are
 * in a section of their own, so an event has the place of its format there instead of the
 * text. Included by hooks.h.
 */
#ifndef __HYPTRACE_PRINTK_H
#define __HYPTRACE_PRINTK_H

#include "env.h"

#ifndef HYPTRACE_FORMAT_SECTION
#define hyptrace_printk(fmt, ...)	do { } while (0)
#else

/* The first format, and the end of the last; zeros may be between two formats */
extern const char hyptrace_formats[];
extern const char hyptrace_formats_end[];

/* Never called: the compiler checks the numbers against the format. */
__printf(1, 2) void hyptrace_check_printk(const char *fmt, ...);

/*
 * A pointer cannot be multiplied: no address may be recorded by mistake, because the host must
 * not learn where EL2 has its data.
 */
#define __HYPTRACE_FOUR(_, a, b, c, d, ...)	(a) * 1ULL, (b) * 1ULL, (c) * 1ULL, (d) * 1ULL

/**
 * hyptrace_printk() - record a format and numbers
 * @fmt:	a literal, as for printk(), but for numbers only: no %s, no %p
 * @...:	up to four numbers; a pointer does not compile
 * Context: EL2. In the test remote it records nothing.
 */
#define hyptrace_printk(fmt, ...)					\
	do {								\
		static const char __format[] __section(HYPTRACE_FORMAT_SECTION) = fmt; \
									\
		static_assert(sizeof((u64[]){ 0, ##__VA_ARGS__ }) <= 5 * sizeof(u64), \
			      "at most four numbers");			\
		if (0)							\
			hyptrace_check_printk(fmt, ##__VA_ARGS__);	\
		hyptrace(hyp_printk, __format - hyptrace_formats,	\
			 __HYPTRACE_FOUR(0, ##__VA_ARGS__, 0, 0, 0, 0)); \
	} while (0)

#endif /* HYPTRACE_FORMAT_SECTION */

#endif /* __HYPTRACE_PRINTK_H */
