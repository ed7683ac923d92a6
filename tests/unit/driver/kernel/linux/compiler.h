/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces the kernel's header for files of driver/ that are tested on the host. */
#ifndef KERNEL_COMPILER_H
#define KERNEL_COMPILER_H

#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)

#endif /* KERNEL_COMPILER_H */
