// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of a remote and the wall clock.
 */
#include <stdio.h>

#include "clock.h"

uint64_t clock_now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* CLOCK_REALTIME minus CLOCK_BOOTTIME, ns */
uint64_t clock_offset(void)
{
	uint64_t before = clock_now(CLOCK_BOOTTIME);
	uint64_t real = clock_now(CLOCK_REALTIME);
	uint64_t after = clock_now(CLOCK_BOOTTIME);

	return real - before - (after - before) / 2;
}

void clock_time_of_day(uint64_t ns, char *text, size_t size)
{
	time_t sec = ns / NSEC_PER_SEC;
	struct tm tm;

	localtime_r(&sec, &tm);
	snprintf(text, size, "%02d:%02d:%02d.%06u", tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (unsigned int)(ns % NSEC_PER_SEC / NSEC_PER_USEC));
}
