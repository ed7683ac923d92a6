// SPDX-License-Identifier: GPL-2.0-only
/* How much memory is free: see free_memory.h. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "free_memory.h"

/*
 * KB that are free once what can be given back is. Each CPU also has a list of free pages, of
 * several MB, that nothing but zoneinfo counts.
 */
uint64_t free_kb(void)
{
	static const char *const parts[] = { "nr_free_pages ", "nr_file_pages ", "count: " };
	uint64_t pages = 0, part;
	unsigned int i;
	char line[256];
	FILE *file;
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	sync();
	if (write(fd, "3", 1) != 1)
		return 0;
	close(fd);
	file = fopen("/proc/zoneinfo", "r");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		for (i = 0; i < 3; i++) {
			const char *at = strstr(line, parts[i]);

			if (at && sscanf(at + strlen(parts[i]), "%lu", &part) == 1)
				pages += part;
		}
	}
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}
