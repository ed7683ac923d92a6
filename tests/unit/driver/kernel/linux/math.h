/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces the kernel's header for files of driver/ that are tested on the host. */
#ifndef KERNEL_MATH_H
#define KERNEL_MATH_H

#define round_up(x, a)	(((x) + (a) - 1) & ~((a) - 1))

#endif /* KERNEL_MATH_H */
