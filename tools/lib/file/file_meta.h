/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a trace file says about the remote and about its recording: a text between the headers
 * and the sub-buffers. For the files file_*.c.
 */
#ifndef HYPTRACE_FILE_META_H
#define HYPTRACE_FILE_META_H

#include "hyptrace_file.h"

/* The name of the trace buffer that has the host's events, and of their parts */
#define HYPTRACE_FILE_HOST		"host"

/* How the text begins */
#define HYPTRACE_FILE_META_BEGIN	"hyptrace 1\n"

/* What a file says */
struct hyptrace_file_meta {
	struct hyptrace_file_info	info;
	struct hyptrace_file_cpu	**cpus;		/* the text has only their counts */
	unsigned int			nr_cpus;
	struct hyptrace_event		**events;
	unsigned int			nr_events;
	struct hyptrace_hypercall	**calls;
	unsigned int			nr_calls;
	struct hyptrace_file_cpu	**host_cpus;	/* whose host events the file has, too */
	unsigned int			nr_host_cpus;
	/* the recording has ended, and all data is in the file */
	bool				complete;
	/* not yet, but the headers have the places of all data */
	bool				placed;
};

/* file_meta.c: write it */
char *hyptrace_file_meta_text(const struct hyptrace_file_meta *meta, size_t *len);
void hyptrace_file_meta_free(struct hyptrace_file_meta *meta);

/* file_meta_parse.c: read it */
int hyptrace_file_meta_parse(const char *text, size_t len, struct hyptrace_file_meta *meta,
			     struct hyptrace_error *err);

#endif /* HYPTRACE_FILE_META_H */
