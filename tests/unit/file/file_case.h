/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace files with events whose number tells their time and CPU, and what is read of them. For the
 * tests of the reader.
 */
#ifndef FILE_CASE_H
#define FILE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/hyptrace_file.h"
#include "file_image.h"

/* The number of an event: its time and CPU */
#define NUMBER(ts, cpu)	((ts) * 10 + (cpu))

static char folder[] = "/tmp/hyptrace-file-XXXXXX";
static char path[64];
static struct hyptrace_error err;

static inline int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/t.dat", folder);
	return 0;
}

static inline int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static inline void write_file(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

static inline void read_times(struct hyptrace_file *file, uint64_t from, uint64_t to)
{
	hyptrace_file_options(file)->from = from;
	hyptrace_file_options(file)->to = to;
}

static inline void write_image(struct image *image)
{
	size_t size;
	char *data = image_make(image, &size);

	write_file(path, data, size);
	free(data);
}

static inline struct hyptrace_file *open_image(struct image *image)
{
	struct hyptrace_file *file;

	write_image(image);
	file = hyptrace_file_open(path, &err);
	if (!file)
		fail_msg("%s", err.text);
	return file;
}

/* Add an event of a time, in a new sub-buffer if necessary. */
static inline void add_event(struct image *image, unsigned int cpu, uint64_t *last, uint64_t ts)
{
	if (!image_event(image, cpu, ts - *last, NUMBER(ts, cpu))) {
		image_subbuf(image, cpu, ts);
		assert_true(image_event(image, cpu, 0, NUMBER(ts, cpu)));
	}
	*last = ts;
}

/* Fill CPUs with events at random times from @first on. */
static inline void fill(struct image *image, unsigned int nr, uint64_t first)
{
	uint64_t last[IMAGE_CPUS] = {}, ts = first;
	uint32_t seed = 1;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		unsigned int cpu;

		seed = seed * 1664525 + 1013904223;
		cpu = (seed >> 10) % image->nr_cpus;
		/* some at the same time */
		ts += (seed >> 20) % 3;
		/* the numbers of a CPU are different */
		if (ts == last[cpu])
			ts++;
		add_event(image, cpu, &last[cpu], ts);
	}
}

static inline uint64_t number_of(const struct hyptrace_stream_event *event)
{
	uint64_t number;

	assert_int_equal(event->record.size, 16);
	memcpy(&number, (const char *)event->record.data + 8, sizeof(number));
	assert_true(number == NUMBER(event->record.ts, event->cpu));
	return number;
}

/* Read the numbers of all events, which must be in order. Return how many there are. */
static inline unsigned int read_numbers(struct hyptrace_file *file, uint64_t *numbers,
					unsigned int max)
{
	const struct hyptrace_stream_event *event;
	unsigned int nr = 0;
	int ret;

	while ((ret = hyptrace_file_next(file, &event, &err)) == 1) {
		assert_in_range(nr, 0, max - 1);
		assert_true(event->record.lost == 0);
		numbers[nr] = number_of(event);
		assert_true(!nr || numbers[nr] > numbers[nr - 1]);
		nr++;
	}
	assert_int_equal(ret, -ENODATA);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	return nr;
}

/* Get the next event, which must be this one; without data it is only a loss. */
static inline void expect(struct hyptrace_file *file, unsigned int cpu, uint64_t ts,
			  bool has_data, uint64_t lost)
{
	const struct hyptrace_stream_event *event;
	int ret = hyptrace_file_next(file, &event, &err);

	if (ret != 1)
		fail_msg("%d: %s", ret, err.text);
	assert_int_equal(event->cpu, cpu);
	assert_true(event->record.ts == ts);
	assert_int_equal(!!event->record.data, has_data);
	assert_int_equal(!!event->record.size, has_data);
	assert_true(event->record.lost == lost);
}

#endif /* FILE_CASE_H */
