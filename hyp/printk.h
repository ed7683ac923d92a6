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

#define __HYPTRACE_FOUR(_, a, b, c, d, ...)	(u64)(a), (u64)(b), (u64)(c), (u64)(d)
#define __HYPTRACE_FIFTH(_, a, b, c, d, e, ...)	e

/**
 * hyptrace_printk() - record a format and numbers
 * @fmt:	a literal, as for printk(), but for numbers only: no %s, no %p
 * @...:	up to four numbers
 *
 * Context: EL2. In the test remote it records nothing.
 */
#define hyptrace_printk(fmt, ...)					\
	do {								\
		static const char __format[] __section(HYPTRACE_FORMAT_SECTION) = fmt; \
									\
		static_assert(__HYPTRACE_FIFTH(0, ##__VA_ARGS__, 0, 0, 0, 0, 0) == 0, \
			      "at most four numbers");			\
		if (0)							\
			hyptrace_check_printk(fmt, ##__VA_ARGS__);	\
		hyptrace(hyp_printk, __format - hyptrace_formats,	\
			 __HYPTRACE_FOUR(0, ##__VA_ARGS__, 0, 0, 0, 0)); \
	} while (0)

#endif /* HYPTRACE_FORMAT_SECTION */

#endif /* __HYPTRACE_PRINTK_H */
