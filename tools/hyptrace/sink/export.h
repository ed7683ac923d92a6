/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The formats of hyptrace export. A format is a struct export_format in an export_*.c file and
 * a line in the table of export.c; cmd_export.c reads the file and calls the format's functions.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include "lib/hyptrace_file.h"
#include "output/out.h"

/* Where a format can write to */
#define EXPORT_TO_FILE		1U	/* one file, or stdout */
#define EXPORT_TO_FOLDER	2U	/* several files in a folder of their own */

/**
 * struct export - an export, for the functions of its format
 * @file:	the file, for hyptrace_file_*() that do not read events
 * @info:	what it says about itself
 * @formats:	formats of its events, with the names of its hypercalls
 * @events:	its events: all of them, not only those that are exported
 * @nr_events:	number of @events
 * @wanted:	which ids of events are exported; NULL for all
 * @cpus:	the CPUs that are exported
 * @nr_cpus:	number of @cpus
 * @out:	output to one file; NULL if the output is a folder
 * @folder:	the folder, still under its temporary name; NULL if the output is one file
 * @folder_fd:	a descriptor of it, for openat()
 * @name:	name of the output, for messages
 * @state:	the format's own
 */
struct export {
	const struct hyptrace_file		*file;
	const struct hyptrace_file_info		*info;
	struct hyptrace_formats			*formats;
	struct hyptrace_event *const		*events;
	unsigned int				nr_events;
	const bool				*wanted;
	const struct hyptrace_file_cpu *const	*cpus;
	unsigned int				nr_cpus;
	struct out				*out;
	const char				*folder;
	int					folder_fd;
	const char				*name;
	void					*state;
};

/**
 * struct export_format - a format
 * @name:	its name, for --format
 * @endings:	how the names of its files end, such as ".json"; ends with NULL
 * @help:	what it is for, in a few words: "Chrome's JSON trace events"
 * @targets:	EXPORT_TO_FILE, EXPORT_TO_FOLDER or both; a folder is meant if OUT ends with "/",
 *		is a folder, or if the format writes only folders
 * @is_binary:	must not be written to a terminal
 * @by_cpu:	call the functions for all events of the first CPU, then for those of the next
 *		one: that is faster than all events in the order of time
 * @begin:	before the first event: make @state, write a header; return an exit code, after
 *		a message (cmd_fail()) if it is not EXIT_DONE
 * @event:	an event. If it follows a loss, @loss is called before.
 * @loss:	@lost events, or HYPTRACE_LOST_UNKNOWN, were lost right before the time @ts, or
 *		after it if no event follows
 * @end:	after the last event, and also if begin() or a write has failed: write what is
 *		left, close files, free @state; return an exit code as begin() does
 *
 * Errors of @out need no check and no message: cmd_export.c stops and reports them. die_no_memory()
 * may be called; the temporary output is then left behind.
 */
struct export_format {
	const char		*name;
	const char *const	*endings;
	const char		*help;
	unsigned int		targets;
	bool			is_binary;
	bool			by_cpu;
	int			(*begin)(struct export *x);
	void			(*event)(struct export *x, unsigned int cpu,
					 const struct hyptrace_record *rec);
	void			(*loss)(struct export *x, unsigned int cpu, uint64_t ts,
					uint64_t lost);
	int			(*end)(struct export *x);
};

/* export.c: the table of formats */
extern const struct export_format *const export_formats[];

const struct export_format *export_find_format(const char *name);
const struct export_format *export_guess_format(const char *out);
int export_open(struct export *x, const char *name, struct out *out);
int export_close(struct export *x, const char *name, struct out *out);

/* export_*.c: the formats */
extern const struct export_format export_perfetto, export_csv, export_jsonl, export_ctf;
extern const struct export_format export_chrome, export_collapsed;

#endif /* EXPORT_H */
