/* SPDX-License-Identifier: GPL-2.0-only */
/* How much memory is allocated. gcc has no header with what ASan offers for that. */
#ifndef ALLOCATED_H
#define ALLOCATED_H

#include <stddef.h>

/* Not there without ASan, as "make mutate" compiles first */
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

static inline size_t allocated(void)
{
	if (!__sanitizer_get_current_allocated_bytes)
		skip();
	return __sanitizer_get_current_allocated_bytes();
}

#endif /* ALLOCATED_H */
