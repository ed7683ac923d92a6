/* SPDX-License-Identifier: GPL-2.0-only */
/* Drop privileges until the end of the test's process. */
#ifndef __PRIVILEGE_H
#define __PRIVILEGE_H

#include <stdint.h>

#include <linux/capability.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif

#define NOBODY		65534

#define CAPABILITY(cap)	(1ULL << (cap))

int capabilities_keep(uint64_t capabilities);
int become_nobody(void);
int become_nobody_with(uint64_t capabilities);

#endif /* __PRIVILEGE_H */
