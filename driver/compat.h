/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the supported kernels. Included by any file of driver/.
 */
#ifndef __HYPTRACE_COMPAT_H
#define __HYPTRACE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* Fields of struct trace_buffer_meta. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define pages_lost	Reserved1
#define pages_touched	Reserved2
#endif

#endif /* __HYPTRACE_COMPAT_H */
