/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats of hyptrace_printk() and names of functions: see formats.c. Included by pkvm.c. */
#ifndef __HYPTRACE_FORMATS_H
#define __HYPTRACE_FORMATS_H

#include <linux/types.h>

/* Which event has the names */
enum hyptrace_names {
	HYPTRACE_NAMES_PRINTK,
	HYPTRACE_NAMES_FUNC,
};

char *hyptrace_formats_print_fmt(enum hyptrace_names of, const char *formats, size_t size);

#endif /* __HYPTRACE_FORMATS_H */
