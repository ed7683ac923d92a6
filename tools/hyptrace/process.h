/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Name a process. For messages and status.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdint.h>

/* Bytes of "process 4194304 (hyptrace)" at most, its NUL included */
#define PROCESS_NAME_MAX	64

const char *process_name(uint32_t pid, char name[PROCESS_NAME_MAX]);

#endif /* PROCESS_H */
