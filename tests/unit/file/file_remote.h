/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A remote and sub-buffers for the tests of the file writer, in a folder of their own.
 */
#ifndef FILE_REMOTE_H
#define FILE_REMOTE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file/write/file_write.h"

#define SUBBUF	4096
#define CPUS	3

/* The CPUs have these numbers. */
static const unsigned int cpu_ids[CPUS] = { 1, 2, 5 };

static char folder[] = "/tmp/hyptrace-test.XXXXXX";
static struct hyptrace_error err;

static inline int enter_folder(void **state)
{
	(void)state;
	strcpy(strrchr(folder, '.'), ".XXXXXX");
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static inline int leave_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") || system(command);
}

static inline void **new_list(void *item)
{
	void **list = calloc(2, sizeof(*list));

	list[0] = item;
	return list;
}

/* An event with one field, the number of the event */
static inline struct hyptrace_event *new_event(void)
{
	struct hyptrace_event *event = calloc(1, sizeof(*event));
	struct hyptrace_field *field = calloc(1, sizeof(*field));

	strcpy(event->name, "mark");
	event->id = 3;
	event->size = 8;
	event->print_fmt = strdup("\"%u\", REC->number");
	field->name = strdup("number");
	field->type = strdup("u32");
	field->offset = 4;
	field->size = 4;
	event->fields = (struct hyptrace_field **)new_list(field);
	event->nr_fields = 1;
	return event;
}

static inline void describe(struct hyptrace_file_meta *meta)
{
	unsigned int i;

	memset(meta, 0, sizeof(*meta));
	meta->info.remote = strdup("test");
	meta->info.clock = strdup("boot");
	meta->info.recorder = strdup("hyptrace 1");
	meta->info.uname = strdup("Linux");
	meta->info.subbuf_size = SUBBUF;
	meta->info.events = (struct hyptrace_event **)new_list(new_event());
	meta->info.nr_events = 1;
	meta->info.cpus = calloc(CPUS + 1, sizeof(*meta->info.cpus));
	for (i = 0; i < CPUS; i++) {
		meta->info.cpus[i] = calloc(1, sizeof(**meta->info.cpus));
		/* in any order */
		meta->info.cpus[i]->id = cpu_ids[CPUS - 1 - i];
	}
	meta->info.nr_cpus = CPUS;
}

static inline struct hyptrace_file_writer *begin(const char *path, unsigned int flags)
{
	struct hyptrace_file_meta meta;

	describe(&meta);
	return hyptrace_file_writer_new(path, &meta, flags, NULL, &err);
}

/* A sub-buffer with @nr marks, the first of which has the number @first */
static inline void fill(char *subbuf, uint64_t ts, uint32_t first, unsigned int nr)
{
	struct hyptrace_subbuf *to = (void *)subbuf;
	unsigned int i;

	memset(subbuf, 0, SUBBUF);
	to->time_stamp = ts;
	to->commit = nr * 12;
	for (i = 0; i < nr; i++) {
		const uint32_t record[] = { hyptrace_record_header(2, 1), 3, first + i };

		memcpy(to->data + 12 * i, record, sizeof(record));
	}
}

/* A whole file in memory */
static inline char *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	char *data;

	if (!f || fstat(fileno(f), &st))
		return NULL;
	data = calloc(1, st.st_size + 1);
	*size = fread(data, 1, st.st_size, f);
	fclose(f);
	return data;
}

static inline bool exists(const char *path)
{
	return !access(path, F_OK);
}

#endif /* FILE_REMOTE_H */
