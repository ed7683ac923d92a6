/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own tracer of EL2 in tracefs, as a source of events in place of the driver. Reads of
 * a CPU's pipe block, and poll() does not work on it. So a process per CPU reads it, and turns
 * lines, or the pages of a raw pipe, into sub-buffers, which it writes to a pipe of its own.
 */
#ifndef HYPTRACE_TRACEFS_H
#define HYPTRACE_TRACEFS_H

#include <sys/types.h>

#include "internal.h"

#define TRACEFS_FIELDS_MAX	16
#define TRACEFS_NAME_MAX	HYPTRACE_EVENT_NAME_MAX
/* Bytes of a format file, of a line and of a payload at most: the ID and fields of 8 bytes */
#define TRACEFS_FORMAT_MAX	(16 << 10)
#define TRACEFS_LINE_MAX	1024
#define TRACEFS_PAYLOAD_MAX	(8 * (1 + TRACEFS_FIELDS_MAX))
/* Bytes of the text of an event whose fields cannot be told from it */
#define TRACEFS_TEXT		96

struct tracefs_field {
	char		name[TRACEFS_NAME_MAX + 1];
	char		type[TRACEFS_NAME_MAX + 1];
	uint16_t	from;		/* where it is in a raw record */
	uint16_t	offset;		/* where it is in ours */
	uint16_t	size;
	bool		is_signed;
	bool		is_reason;	/* its values have the names of hyptrace_tracefs_reasons */
	bool		is_unknown;	/* the kernel does not have it */
};

/* A conversion of a print format, and the text before it */
struct tracefs_piece {
	const char			*text;
	size_t				len;
	const struct tracefs_field	*field;	/* NULL: the end */
	char				conversion;
};

struct tracefs_event {
	char			name[TRACEFS_NAME_MAX + 1];
	char			*enable;	/* the file that switches it */
	char			*format;	/* of the format file; the pieces refer to it */
	uint16_t		id;
	uint16_t		size;
	struct tracefs_field	fields[TRACEFS_FIELDS_MAX];
	unsigned int		nr_fields;
	struct tracefs_piece	pieces[TRACEFS_FIELDS_MAX + 1];
	unsigned int		nr_pieces;	/* 0: the text does not tell the fields */
	bool			is_held;	/* enabled for the last readers */
};

/* Names of hypercalls by number; NULL: none */
struct tracefs_names {
	char		**by_id;
	unsigned int	nr;
};

/* Sub-buffers that a process has made, and that nobody has read: at most so many */
#define TRACEFS_UNREAD_MAX	65536

struct tracefs_counts {
	uint64_t	events;
	uint64_t	lost;
};

/* What a process of a CPU and its parent share */
struct tracefs_shared {
	struct tracefs_counts	found;
	bool			is_ending;	/* read what there is, then end */
	uint64_t		nr_begun;	/* sub-buffers that it has begun to write */
	uint64_t		nr_written;	/* ... and written */
	uint64_t		last;		/* time of the last record */
	/* by the number of a sub-buffer: what was found up to its end */
	struct tracefs_counts	at[TRACEFS_UNREAD_MAX];
};

struct tracefs {
	int			dir;
	char			path[4096];	/* of @dir */
	char			name[HYPTRACE_REMOTE_NAME_MAX + 1];	/* of the remote */
	struct tracefs_event	**events;
	unsigned int		nr_events;
	bool			is_raw;		/* there are raw pipes, with records of EL2 */
	struct tracefs_names	names;
	struct tracefs_reader	*readers;	/* a list */
	bool			has_begun;	/* readers count; before, all counters are 0 */
	bool			holds_tracing;
	bool			was_unloaded;	/* when the source was opened */
	int			guard;		/* a socket of the process that restores, or -1 */
	pid_t			guard_pid;
};

struct tracefs_reader {
	struct tracefs		*of;
	struct tracefs_reader	*next;
	struct hyptrace_reader	*reader;
	struct tracefs_shared	*shared;
	unsigned int		cpu;
	pid_t			pid;		/* 0: it has ended */
	bool			has_ended;	/* its descriptor is now a file */
	size_t			rest;		/* bytes of it */
};

/* Sub-buffers in the making */
struct tracefs_page {
	int		fd;		/* where they are written to */
	struct tracefs_shared *shared;
	struct tracefs_counts counts;	/* up to the last record, or the losses after it */
	char		*data;		/* all 0 from @used on */
	size_t		size;
	size_t		used;		/* bytes of records */
	uint64_t	begin;		/* time of the first record */
	uint64_t	last;		/* time of the last one */
	uint64_t	lost;		/* events lost before the first one */
	bool		has_failed;
};

/* tracefs_format.c */
#define TRACEFS_REASON_UNKNOWN	8

extern const char *const hyptrace_tracefs_reasons[TRACEFS_REASON_UNKNOWN + 1];
bool hyptrace_tracefs_parse_format(struct tracefs_event *event, bool is_raw);
bool hyptrace_tracefs_is_call(const struct tracefs_event *event,
			      const struct tracefs_field *field);
char *hyptrace_tracefs_print_fmt(const struct tracefs_event *event,
				 const struct tracefs_names *names);
const struct tracefs_event *hyptrace_tracefs_find(const struct tracefs *t, const char *name,
						  size_t len);

/* tracefs_page.c */
void hyptrace_tracefs_lose(struct tracefs_page *page, uint64_t nr);
void hyptrace_tracefs_flush(struct tracefs_page *page);
bool hyptrace_tracefs_raw(const struct tracefs *t, struct tracefs_page *page, const void *data,
			  size_t size);
void hyptrace_tracefs_line(const struct tracefs *t, struct tracefs_page *page, const char *line,
			   size_t len);

/* tracefs_pump.c */
struct hyptrace_reader *hyptrace_tracefs_open_reader(void *arg, int cpu,
						     struct hyptrace_error *err);
void hyptrace_tracefs_detach(struct hyptrace_reader *reader);
void hyptrace_tracefs_end_readers(struct tracefs *t);
struct tracefs_counts hyptrace_tracefs_count_read(const struct tracefs_reader *r);
void hyptrace_tracefs_isolate(int keep1, int keep2, int keep3);

/* tracefs_state.c */
void hyptrace_tracefs_free_event(struct tracefs_event *event);
int hyptrace_tracefs_load(struct tracefs *t, struct hyptrace_error *err);
bool hyptrace_tracefs_read(int dir, const char *file, char *to, size_t size);
int hyptrace_tracefs_write(int dir, const char *file, const char *text);
void hyptrace_tracefs_drop(const struct tracefs *t);
bool hyptrace_tracefs_is_on(const struct tracefs *t, const struct tracefs_event *event);
int hyptrace_tracefs_enable(const struct tracefs *t, const struct tracefs_event *event, bool on);
int hyptrace_tracefs_hold(struct hyptrace_reader *reader, const uint16_t *ids, unsigned int nr,
			  bool tracing, struct hyptrace_error *err);
void hyptrace_tracefs_release(struct tracefs *t);

#endif /* HYPTRACE_TRACEFS_H */
