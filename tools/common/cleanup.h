/* SPDX-License-Identifier: GPL-2.0-only */
/* Free what a local variable holds when its scope ends. For the library and for the command. */
#ifndef CLEANUP_H
#define CLEANUP_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For a local pointer, which must have a value: its memory is freed at the end of its scope. */
#define auto_free	__attribute__((cleanup(free_local)))
/* The same for a descriptor, which is closed unless it is negative */
#define auto_close	__attribute__((cleanup(close_local)))

static inline void free_local(void *at)
{
	void *memory;

	memcpy(&memory, at, sizeof(memory));
	free(memory);
}

static inline void close_local(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#endif /* CLEANUP_H */
