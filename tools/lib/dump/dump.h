/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A dump of a machine's memory, and what the driver has described in it: see linux/hyptrace_dump.h.
 */
#ifndef HYPTRACE_DUMP_H
#define HYPTRACE_DUMP_H

#include <linux/hyptrace_dump.h>

#include "../internal.h"

struct dump_memory;

/* memory.c */
bool hyptrace_has_crc(const void *data, size_t size, uint32_t expected);
struct dump_memory *hyptrace_memory_open(const char *path, struct hyptrace_error *err);
void hyptrace_memory_close(struct dump_memory *mem);
bool hyptrace_memory_is_image(const struct dump_memory *mem);
uint64_t hyptrace_memory_missing(const struct dump_memory *mem);
bool hyptrace_memory_read(struct dump_memory *mem, uint64_t address, void *to, size_t size);
int hyptrace_memory_find(struct dump_memory *mem, struct hyptrace_dump **page);

/* list.c */

/* The addresses of a list */
struct dump_list {
	uint64_t	*at;
	unsigned int	nr;
	uint32_t	cpu;
};

int hyptrace_list_read(struct dump_memory *mem, uint64_t address, uint32_t page_size, bool has_sum,
		       struct dump_list *list);

#endif /* HYPTRACE_DUMP_H */
