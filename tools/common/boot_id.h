/* SPDX-License-Identifier: GPL-2.0-only */
/* The UUID that the kernel has made for this boot. For the library and the command. */
#ifndef BOOT_ID_H
#define BOOT_ID_H

#include <stdbool.h>
#include <stdio.h>

/* Bytes of a UUID as text */
#define BOOT_ID_SIZE	37

/* Return false if it cannot be read. */
static inline bool read_boot_id(char id[BOOT_ID_SIZE])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	const bool is_read = f && fgets(id, BOOT_ID_SIZE, f);

	if (f)
		fclose(f);
	return is_read;
}

#endif /* BOOT_ID_H */
