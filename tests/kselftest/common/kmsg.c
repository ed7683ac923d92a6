// SPDX-License-Identifier: GPL-2.0-only
/* The log of the kernel: see kmsg.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kmsg.h"

/* Return a descriptor at the end of the log, or -1. */
int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	lseek(fd, 0, SEEK_END);
	return fd;
}

/* Return true if a message of the kernel since log_open(), or since the last call, has the text. */
bool log_has(int fd, const char *text)
{
	static char line[8192];
	bool found = false;
	ssize_t len;

	while ((len = read(fd, line, sizeof(line) - 1)) > 0 || (len < 0 && errno == EPIPE)) {
		line[len > 0 ? len : 0] = 0;
		found |= !!strstr(line, text);
	}
	return found;
}

/* The same, but wait a second for it: another processor may be writing a message before it. */
bool log_gets(int fd, const char *text)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		if (log_has(fd, text))
			return true;
		usleep(10000);
	}
	return false;
}
