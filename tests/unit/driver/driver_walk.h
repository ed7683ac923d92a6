/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's walk over records, for tests that also include hyp/. One file cannot include
 * both the kernel's types and those of hyp/env_host.h, so this header includes neither.
 */
#ifndef DRIVER_WALK_H
#define DRIVER_WALK_H

#include <stdbool.h>
#include <stdint.h>

bool driver_walk(const void *data, uint32_t end, uint64_t *time, uint32_t *events);

#endif /* DRIVER_WALK_H */
