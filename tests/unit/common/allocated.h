/* SPDX-License-Identifier: GPL-2.0-only */
/* How much memory is allocated, by ASan; "make mutate" compiles without it first. */
#ifndef ALLOCATED_H
#define ALLOCATED_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__

/* gcc has no header with it */
size_t __sanitizer_get_current_allocated_bytes(void);

static inline size_t allocated(void)
{
	return __sanitizer_get_current_allocated_bytes();
}

#else

static inline size_t allocated(void)
{
	skip();
	return 0;
}

#endif

#endif /* ALLOCATED_H */
