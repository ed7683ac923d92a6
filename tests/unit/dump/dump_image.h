/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that has outlived a reset, for the tests of tools/lib/dump: pages as
 * linux/hyptrace_dump.h describes them. Their addresses begin at BASE.
 */
#ifndef DUMP_IMAGE_H
#define DUMP_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/hyptrace.h>
#include <linux/hyptrace_dump.h>

#define PAGE		4096
#define BASE		UINT64_C(0x1000000)
#define IMAGE_PAGES	64
/* Of a ring that holds @nr sub-buffers: the pages before the first one, and the list */
#define RING_PAGES(nr)	(HYPTRACE_DUMP_SUBBUFS + (nr) + 1)

/* Where the counters are in their page */
enum { AT_OVERRUN = 8, AT_DROPPED = 24, AT_FILTERED = 40, AT_BEGIN = 4088 };

struct dump_image {
	_Alignas(8) unsigned char data[IMAGE_PAGES * PAGE];
	unsigned int		nr;	/* pages in use */
};

uint32_t image_crc(const void *of, size_t size);
void *image_page(struct dump_image *image, uint64_t address);
struct hyptrace_dump *image_head(struct dump_image *image);
uint64_t image_add(struct dump_image *image, const void *data, size_t size);
uint64_t image_list(struct dump_image *image, const uint64_t *at, unsigned int nr, unsigned int cpu,
		    uint64_t next);
void image_sign_list(struct dump_image *image, uint64_t address);
void image_sign(struct dump_image *image);
void image_seal(void *subbuf);
void image_build(struct dump_image *image, unsigned int nr_cpus, unsigned int nr_subbufs);
int image_open(const struct dump_image *image, char path[static 32]);

#endif /* DUMP_IMAGE_H */
