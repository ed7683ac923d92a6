// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of a remote and the wall clock.
 */
#include "clock.h"

/**
 * clock_now - read a clock
 * @id:		the clock
 *
 * Return: its time in ns.
 */
uint64_t clock_now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/**
 * clock_offset - compare CLOCK_REALTIME to CLOCK_BOOTTIME
 *
 * Return: the difference in ns; CLOCK_BOOTTIME plus this is CLOCK_REALTIME.
 */
uint64_t clock_offset(void)
{
	uint64_t before = clock_now(CLOCK_BOOTTIME);
	uint64_t real = clock_now(CLOCK_REALTIME);
	uint64_t after = clock_now(CLOCK_BOOTTIME);

	return real - before - (after - before) / 2;
}
