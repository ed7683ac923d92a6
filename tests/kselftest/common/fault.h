/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults: the kernel lets the Nth allocation of memory, or copy from or to user space, of this
 * process fail; or some of other processes, at random. See Documentation/fault-injection of the
 * kernel.
 */
#ifndef __FAULT_H
#define __FAULT_H

#include <stdbool.h>

bool fault_init(bool copies);

/* No calls but those that may fail between these two: each copy to user space is counted. */
void fault_begin(unsigned int nth);
bool fault_end(void);

bool fault_prepare_storm(unsigned int percent);
void fault_join_storm(void);

#endif /* __FAULT_H */
