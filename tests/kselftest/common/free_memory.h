/* SPDX-License-Identifier: GPL-2.0-only */
/* How much memory is free, for tests that look for leaks. */
#ifndef __FREE_MEMORY_H
#define __FREE_MEMORY_H

#include <stdint.h>

uint64_t free_kb(void);

#endif /* __FREE_MEMORY_H */
