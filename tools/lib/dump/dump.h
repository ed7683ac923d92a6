/* SPDX-License-Identifier: GPL-2.0-only */
/* A dump of a machine's memory, and what linux/hyptrace_dump.h describes in it */
#ifndef HYPTRACE_DUMP_H
#define HYPTRACE_DUMP_H

#include <linux/hyptrace_dump.h>

#include "../internal.h"

/* Of more, the last one covers all that follow, and what is between them. */
#define GAPS_MAX	64

/* Addresses whose bytes an ELF file promises, and does not have since it was cut */
struct gap {
	uint64_t	from;
	uint64_t	to;
};

struct dump_memory {
	int		fd;
	bool		is_image;	/* of memory that outlives a reset; its rings are sealed */
	uint64_t	base;		/* of an image: the address of its first byte */
	struct _kdump_ctx *ctx;		/* else */
	bool		is_live;	/* /proc/kcore, or /proc/vmcore of a crash kernel */
	int		why;		/* what to return if no page was found */
	struct gap	gaps[GAPS_MAX];
	unsigned int	nr_gaps;
	uint64_t	missing;	/* bytes in them; 0 in another format than ELF */
	unsigned int	nr_missing;	/* pages that could not be read */
};

/* memory.c */
bool hyptrace_has_crc(const void *data, size_t size, uint32_t expected);
struct dump_memory *hyptrace_memory_open(const char *path, struct hyptrace_error *err);
void hyptrace_memory_close(struct dump_memory *mem);
bool hyptrace_memory_read(struct dump_memory *mem, uint64_t address, void *to, size_t size);
int hyptrace_memory_find(struct dump_memory *mem, struct hyptrace_dump **page);

#endif /* HYPTRACE_DUMP_H */
