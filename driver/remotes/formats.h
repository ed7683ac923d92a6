/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The formats of hyptrace_printk() as names of values: see formats.c. Included by pkvm.c.
 */
#ifndef __HYPTRACE_FORMATS_H
#define __HYPTRACE_FORMATS_H

#include <linux/types.h>

char *hyptrace_formats_print_fmt(const char *formats, size_t size);

#endif /* __HYPTRACE_FORMATS_H */
