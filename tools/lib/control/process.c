// SPDX-License-Identifier: GPL-2.0-only
/*
 * Name a process.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

/**
 * hyptrace_process_name - name a process, such as the consumer of a ring
 * @pid:	its process id
 * @name:	out: the name
 *
 * Return: @name, such as "process 66 (hyptrace)".
 */
const char *hyptrace_process_name(uint32_t pid, char name[HYPTRACE_PROCESS_NAME_SIZE])
{
	char path[32], comm[32];
	FILE *f;

	snprintf(name, HYPTRACE_PROCESS_NAME_SIZE, "process %u", pid);
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return name;
	if (fgets(comm, sizeof(comm), f)) {
		comm[strcspn(comm, "\n")] = '\0';
		snprintf(name, HYPTRACE_PROCESS_NAME_SIZE, "process %u (%s)", pid, comm);
	}
	fclose(f);
	return name;
}
