/* SPDX-License-Identifier: GPL-2.0-only */
/* What a trace file says about the remote and its recording: a text between headers and data. */
#ifndef HYPTRACE_FILE_META_H
#define HYPTRACE_FILE_META_H

#include "hyptrace_file.h"

/* All CPU numbers are below this limit. */
#define FILE_CPU_LIMIT		65536

/* The name of the trace buffer that has the host's events, and of their parts */
#define HYPTRACE_FILE_HOST		"host"

/* Numbers of options of trace.dat; in version 7 also those of the sections that they point to */
enum file_option {
	OPTION_DONE,
	OPTION_CPUSTAT		= 2,
	OPTION_BUFFER,
	OPTION_CLOCK,
	OPTION_UNAME,
	OPTION_CPUCOUNT		= 8,
	OPTION_RECORDER,
	OPTION_HEADER_INFO	= 16,
	/* the formats of events, and what libtraceevent needs to print them */
	OPTION_FTRACE_EVENTS,
	OPTION_EVENT_FORMATS,
	OPTION_KALLSYMS,
	OPTION_PRINTK,
	OPTION_CMDLINES,
	NR_FILE_SECTIONS
};

/* The flag of a section whose content is compressed */
#define SECTION_COMPRESSED		1

#define HYPTRACE_FILE_META_BEGIN	"hyptrace 1\n"

/* How far a recording is */
enum file_state {
	FILE_RECORDING,
	FILE_COMPLETE,	/* it has ended, and all data is in the file */
	FILE_PLACED,	/* not yet, but the headers have the places of all data */
};

struct hyptrace_file_meta {
	struct hyptrace_file_info	info;		/* of CPUs, the text has only the counts */
	struct hyptrace_file_cpu	**host_cpus;	/* whose host events the file has, too */
	unsigned int			nr_host_cpus;
	uint32_t			state;		/* enum file_state */
};

/* file_meta.c */
bool hyptrace_file_make_cpus(struct hyptrace_file_cpu ***cpus, unsigned int *nr_cpus,
			     unsigned int nr);
void hyptrace_file_meta_free(struct hyptrace_file_meta *meta);
int hyptrace_file_meta_parse(const char *text, size_t len, struct hyptrace_file_meta *meta,
			     struct hyptrace_error *err);
char *hyptrace_file_meta_text(const struct hyptrace_file_meta *meta, size_t *len);

#endif /* HYPTRACE_FILE_META_H */
