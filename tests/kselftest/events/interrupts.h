/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts, for the tests that count exits of a guest: each interrupt may be one more exit. */
#ifndef __INTERRUPTS_H
#define __INTERRUPTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return the number of interrupts that the CPU has taken since boot. */
static inline uint64_t interrupts(unsigned int cpu)
{
	static char line[4096];
	uint64_t sum = 0;
	FILE *file = fopen("/proc/interrupts", "r");

	if (!file || !fgets(line, sizeof(line), file))
		abort();
	while (fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':');
		uint64_t count = 0;
		unsigned int i;

		for (i = 0; at && i <= cpu; i++)
			count = strtoull(at + (i == 0), &at, 10);
		sum += count;
	}
	fclose(file);
	return sum;
}

#endif /* __INTERRUPTS_H */
