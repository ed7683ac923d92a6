/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats of hyptrace export: cmd_export.c gets the events and gives them to one. */
#ifndef EXPORT_H
#define EXPORT_H

#include "lib/hyptrace_file.h"
#include "lib/hyptrace_model.h"
#include "session/select.h"

/* origin.c: where the events are from. No text is NULL; what is not known is empty. */
struct origin {
	char	*uname;		/* has the next four */
	char	*system;
	char	*machine;	/* its name in the network */
	char	*kernel;	/* its release */
	char	*version;
	char	*arch;
	char	*boot;		/* UUID of the boot */
	char	*csv;		/* values of ORIGIN_COLUMNS */
	char	*json;		/* members of an object, for what is known */
};

/* The last columns of a table, and their types in SQL */
#define ORIGIN_COLUMNS	"machine,boot,kernel"
#define ORIGIN_SQL	"machine VARCHAR, boot VARCHAR, kernel VARCHAR"

struct origin *origin_new(const struct hyptrace_file_info *info);
void origin_free(struct origin *origin);

/* Where a format can write to */
#define EXPORT_TO_FILE		1U	/* one file, or stdout */
#define EXPORT_TO_FOLDER	2U	/* several files in a folder of their own */

/*
 * An export: what all its parts have in common. Between begin() and end(), only flush(),
 * end_part(), and events() after export_wait() change it.
 */
struct export {
	const struct export_format		*format;
	const struct hyptrace_file_info		*info;
	struct hyptrace_formats			*formats;	/* not for the parts */
	const struct hyptrace_model		*model;
	struct hyptrace_event *const		*events;	/* all: see @wanted */
	unsigned int				nr_events;
	struct hyptrace_hypercall *const	*calls;
	unsigned int				nr_calls;
	const bool				*wanted;	/* ids; NULL for all */
	struct origin				*origin;
	unsigned int				nr_cpus;	/* all numbers of CPUs are below */
	uint64_t				first;		/* no event is before; or 0 */
	struct out				*out;		/* NULL: a folder */
	int					folder_fd;
	const char				*name;		/* of the output, for messages */
	bool					is_alone;	/* with no threads of its own */
	/* notes a damaged place of the file, after which reading continues */
	void			(*damage)(const struct hyptrace_error *err, void *arg);
	void					*damage_arg;
	struct work				*works;		/* of export_put() */
	void					*state;		/* the format's own */
};

/* The events of a CPU, or a piece of the order of time. One thread at a time uses it. */
struct export_part {
	struct export				*x;
	unsigned int				cpu;	/* whose events they are, if by_cpu */
	struct hyptrace_formats			*formats;
	struct out				*out;	/* NULL if the output is a folder */
	const struct hyptrace_file_batch	*batch;	/* of the events; NULL in a stream */
	void					*state;	/* the format's own */
};

/*
 * A format. begin() comes first; then begin_part(), events() and flush() any number of times, and
 * end_part() for each part; at last end(), also if begin() or a write has failed. A part begins
 * with its first events, so several threads call begin_part() and events() at the same time. Only
 * one of them at a time calls end_part() or, unless each part has a file, flush(), while others
 * may be in begin_part() and events(). An exit code other than EXIT_DONE comes after a message
 * (cmd_fail()).
 *
 * Errors of @out need no check and no message: cmd_export.c stops and reports them. die_no_memory()
 * may be called; the temporary output is then left behind.
 */
struct export_format {
	const char		*name;
	const char *const	*endings;	/* of the names of its files; ends with NULL */
	const char		*help;		/* a few words: "Chrome's JSON trace events" */
	unsigned int		place;		/* in the help, from 1 on; no other one has it */
	/* EXPORT_TO_...; a folder is meant if OUT ends with "/", is one, or there is only that */
	unsigned int		targets;
	bool			is_binary;	/* not for a terminal */
	bool			by_cpu;		/* a part has the events of a CPU */
	/* of the host's events, which then are beside the others in a TAR; or NULL */
	const struct export_format	*host;
	int			(*begin)(struct export *x);
	void			(*begin_part)(struct export_part *part);
	/* Events were lost before a record whose lost is not 0; one without data is only a loss. */
	void			(*events)(struct export_part *part,
					  const struct hyptrace_stream_event *events,
					  unsigned int nr);
	/*
	 * Write what is not in @out. Return an errno once a file could not be made or written: then
	 * no events follow, and end_part() or end() reports it. May be NULL.
	 */
	int			(*flush)(struct export_part *part);
	void			(*end_part)(struct export_part *part);
	int			(*end)(struct export *x);
};

/* The linker puts the formats of all files together: their alignment must leave no gaps. */
#define EXPORT_FORMAT	__attribute__((used, section("export_formats"), aligned(sizeof(void *))))

/* Where an export is written to */
struct export_output {
	const char	*name;		/* "-" is stdout */
	bool		is_folder;
	const char	*tar;		/* write a TAR of it and of this file, or NULL */
	int		tar_fd;		/* descriptor of that file; -1 to open it by its name */
	char		*part;		/* its temporary name until it is complete; or NULL */
	struct out	out;		/* the buffer of a file */
	/* descriptor of the folder, or of the file that a TAR for stdout is copied from; or -1 */
	int		fd;
};

/* export.c */
const struct export_format *export_next_format(const struct export_format *last);
const struct export_format *export_find_format(const char *name);
bool export_ends_with(const char *name, const char *ending);
const struct export_format *export_guess_format(const char *out);
int export_open(struct export *x, const char *name, struct out *out);
int export_close(struct export *x, const char *name, struct out *out);

/* export_output.c */
int export_output_open(struct export_output *output);
int export_output_finish(struct export_output *output);
void export_output_abandon(struct export_output *output);
int export_tar_check(const char *name);
int export_open_unnamed(void);

/* export_parts.c */
/* Events that come in order, such as those of a stream */
void export_put(struct export *x, const struct hyptrace_stream_event *events, unsigned int nr);
int export_flush(struct export *x);
void export_end_parts(struct export *x);
int export_file(struct export *x, struct hyptrace_file *file, struct hyptrace_error *err);
/* Wait until a struct export_part may write to what it shares with others; flush() need not. */
void export_wait(void *part);

/* export_many.c */
/* Several files at once, each to an output of its own in a folder */
struct export_many {
	char		**files;
	unsigned int	nr;
	const char	*folder;	/* of the outputs; it is made if it does not exist */
	const char	*ending;	/* of their names */
	/* in a process of its own; returns an exit code, after a message that names the file */
	int		(*one)(void *arg, const char *file, const char *out);
	void		*arg;
};

int export_many(const struct export_many *many);

/* host_events.c: events of the host that a file has beside those of the remote; for report, too */
struct host_events {
	struct hyptrace_file	*file;		/* their reader; NULL if the file has none */
	struct choice		choice;		/* which of them are chosen */
	bool			no_remote;	/* no event of the remote is chosen */
	bool			no_host;	/* no event of the host is chosen */
};

int host_events_open(struct host_events *h, struct hyptrace_file *file, const char *path);
void host_events_share(struct host_events *h, struct choice *choice,
		       const struct hyptrace_file *file);
int host_events_choose(struct host_events *h, const char *verb);

#endif /* EXPORT_H */
