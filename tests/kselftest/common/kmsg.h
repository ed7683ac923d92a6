/* SPDX-License-Identifier: GPL-2.0-only */
/* The log of the kernel, for tests that expect a message, or none. */
#ifndef __KMSG_H
#define __KMSG_H

#include <stdbool.h>

int log_open(void);
bool log_has(int fd, const char *text);
bool log_gets(int fd, const char *text);

#endif /* __KMSG_H */
