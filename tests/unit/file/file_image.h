/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace files made by hand, of any version, byte order and size of sub-buffers. For the tests of
 * the reader.
 */
#ifndef FILE_IMAGE_H
#define FILE_IMAGE_H

#include "lib/file/file_meta.h"

#define IMAGE_CPUS	4
#define IMAGE_ID	3
/* Bytes of a record of image_event() */
#define IMAGE_RECORD	20

/* Kinds of compression */
enum image_kind {
	IMAGE_VERSION_6,
	IMAGE_VERSION_7,
	IMAGE_ZSTD,
};

/**
 * struct image - a trace file
 * @kind:	its version
 * @swap:	its byte order is not that of this machine
 * @subbuf:	bytes of a sub-buffer
 * @nr_cpus:	CPUs 0 to @nr_cpus - 1
 * @incomplete:	the recording was not finished
 * @has_counts:	the description has the counts of the CPUs
 * @no_text:	the file has no description
 * @per_chunk:	sub-buffers in a compressed chunk; 2 if the test does not change it
 * @cpus:	the sub-buffers of each CPU, and the losses that the description says
 */
struct image {
	enum image_kind	kind;
	bool		swap;
	uint32_t	subbuf;
	unsigned int	nr_cpus;
	bool		incomplete;
	bool		has_counts;
	bool		no_text;
	unsigned int	per_chunk;
	struct {
		char		*data;
		size_t		size;
		uint64_t	lost;
		uint32_t	used;	/* bytes of records of the last sub-buffer */
	} cpus[IMAGE_CPUS];
};

void image_init(struct image *image, enum image_kind kind, bool swap, uint32_t subbuf,
		unsigned int nr_cpus);
void image_free(struct image *image);
void image_subbuf(struct image *image, unsigned int cpu, uint64_t ts);
bool image_event(struct image *image, unsigned int cpu, uint32_t delta, uint64_t value);
void image_lost(struct image *image, unsigned int cpu, uint64_t lost);
char *image_make(struct image *image, size_t *size);
char *image_part(struct image *image, unsigned int cpu, size_t *size);

#endif /* FILE_IMAGE_H */
