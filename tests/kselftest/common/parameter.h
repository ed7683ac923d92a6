/* SPDX-License-Identifier: GPL-2.0-only */
/* The parameters of a module, by their paths in sysfs. For the tests that make a remote fail. */
#ifndef __PARAMETER_H
#define __PARAMETER_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>

/* Return 0 or a negative errno. */
static inline int set_parameter(const char *path, int value)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -errno;
	fprintf(file, "%d", value);
	return fclose(file) ? -errno : 0;
}

/* Return ULONG_MAX if there is no such parameter. */
static inline unsigned long get_parameter(const char *path)
{
	unsigned long value = ULONG_MAX;
	FILE *file = fopen(path, "r");

	if (file && fscanf(file, "%lu", &value) != 1)
		value = ULONG_MAX;
	if (file)
		fclose(file);
	return value;
}

#endif /* __PARAMETER_H */
