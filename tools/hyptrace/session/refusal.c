// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a module could not be loaded: the kernel tells this only in its log.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "refusal.h"

#define KERNEL_LOG	"/dev/kmsg"
/* Bytes of a record at most, as the kernel has it */
#define RECORD_MAX	8192
#define LEVEL_MASK	7
#define LEVEL_ERROR	3

/* Return the message in a record if it is an error of the module, else NULL. */
static char *error_of(char *record, const char *module)
{
	/* level,sequence,time,flags;module: message */
	unsigned long level = strtoul(record, NULL, 10) & LEVEL_MASK;
	char *message = strchr(record, ';');
	size_t len = strlen(module);

	if (!message || level > LEVEL_ERROR)
		return NULL;
	message++;
	if (strncmp(message, module, len) || strncmp(message + len, ": ", 2))
		return NULL;
	message[strcspn(message, "\n")] = '\0';
	return message + len + 2;
}

/**
 * refusal_read - find a module's last error in the kernel log
 * @module:	name of the module
 * @text:	out: the error
 * @size:	bytes of @text
 *
 * Return: true if there is one and the log can be read.
 */
bool refusal_read(const char *module, char *text, size_t size)
{
	char record[RECORD_MAX + 1], *message;
	bool found = false;
	ssize_t len;
	int fd;

	fd = open(KERNEL_LOG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	/* each read gets one record; EPIPE means that older ones were overwritten */
	while ((len = read(fd, record, RECORD_MAX)) > 0 || (len < 0 && errno == EPIPE)) {
		record[len > 0 ? len : 0] = '\0';
		message = error_of(record, module);
		if (message) {
			snprintf(text, size, "%s", message);
			found = true;
		}
	}
	close(fd);
	return found;
}
