/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of a remote and the wall clock. For the lines, status and monitor.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC	UINT64_C(1000000000)
#define NSEC_PER_MSEC	UINT64_C(1000000)
#define NSEC_PER_USEC	1000

uint64_t clock_now(clockid_t id);
uint64_t clock_offset(void);
void clock_time_of_day(uint64_t ns, char *text, size_t size);

#endif /* CLOCK_H */
