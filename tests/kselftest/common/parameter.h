/* SPDX-License-Identifier: GPL-2.0-only */
/* The parameters of a module, by their paths in sysfs. For the tests that make a remote fail. */
#ifndef __PARAMETER_H
#define __PARAMETER_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PARAMETER_SIZE	4096

/* Return 0 or a negative errno. */
static inline int write_parameter(const char *path, const char *value)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -errno;
	fputs(value, file);
	return fclose(file) ? -errno : 0;
}

/* Return 0 or a negative errno. */
static inline int set_parameter(const char *path, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	return write_parameter(path, text);
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

/* Return the value of a parameter, which is a text; an empty one if there is none. */
static inline const char *read_parameter(const char *path, char text[PARAMETER_SIZE])
{
	FILE *file = fopen(path, "r");

	text[0] = 0;
	if (file && fgets(text, PARAMETER_SIZE, file))
		text[strcspn(text, "\n")] = 0;
	if (file)
		fclose(file);
	return text;
}

#endif /* __PARAMETER_H */
