/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces the kernel's header for files of driver/ that are tested on the host. */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

#include_next <linux/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef long long s64;

#endif /* KERNEL_TYPES_H */
