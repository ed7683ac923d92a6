/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that the linker's --wrap option gives to open(), write() and stat(): see
 * kernel_map.c.
 */
#ifndef __WRAP_H
#define __WRAP_H

#include <sys/stat.h>
#include <sys/types.h>

int __real_open(const char *path, int flags, ...);
ssize_t __real_write(int fd, const void *data, size_t len);
int __real_stat(const char *path, struct stat *stat);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_write(int fd, const void *data, size_t len);
int __wrap_stat(const char *path, struct stat *stat);

#endif /* __WRAP_H */
