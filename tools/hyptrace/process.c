// SPDX-License-Identifier: GPL-2.0-only
/*
 * Name a process.
 */
#include <stdio.h>
#include <string.h>

#include "process.h"

/**
 * process_name - describe a process
 * @pid:	its process id
 * @name:	out: the description
 *
 * Return: @name, such as: process 66 (hyptrace). The name is missing if it cannot be read.
 */
const char *process_name(uint32_t pid, char name[PROCESS_NAME_MAX])
{
	char path[32], comm[32];
	FILE *f;

	snprintf(name, PROCESS_NAME_MAX, "process %u", pid);
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return name;
	if (fgets(comm, sizeof(comm), f)) {
		comm[strcspn(comm, "\n")] = '\0';
		snprintf(name, PROCESS_NAME_MAX, "process %u (%s)", pid, comm);
	}
	fclose(f);
	return name;
}
