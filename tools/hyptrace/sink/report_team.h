/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads that print the events of a file. For report_*.c.
 *
 * Each thread takes the next piece of the file, makes its lines, waits for its turn, and writes
 * them. So the output is that of one thread. A piece is a batch of events that are read one by
 * one (report_batch.c), or a part of the file that the thread reads itself (report_part.c).
 */
#ifndef REPORT_TEAM_H
#define REPORT_TEAM_H

#include <pthread.h>

#include "lib/file/read/file.h"
#include "lines.h"

/* Bytes of the lines of a piece; if there are more, they are written in parts */
#define PIECE_TEXT	(1 << 20)

struct batch;

/**
 * struct worker - a thread
 * @team:	its team
 * @thread:	the thread; the first worker is that of the caller
 * @ctx:	a copy of the context, with an output of its own
 * @lines:	its line printer
 * @formats:	its formats; the first worker uses those of the file
 * @text:	buffer of its output
 * @number:	of its piece; from 0 on
 * @batch:	report_batch.c: the events
 * @part:	report_part.c: the reader
 */
struct worker {
	struct report_team		*team;
	pthread_t			thread;
	struct context			ctx;
	struct lines			lines;
	struct hyptrace_formats		*formats;
	char				*text;
	uint64_t			number;
	struct batch			*batch;
	struct hyptrace_file		*part;
};

/**
 * struct report_team - the threads and what they share
 * @lines:	the line printer of the caller, whose settings all have
 * @ctx:	the context
 * @file:	the file
 * @note:	prints a note about a damaged place
 * @arg:	its second argument
 * @in_parts:	the file is read in parts
 * @end:	where the last part ends
 * @reading:	protects @file and what follows
 * @next:	number of the next piece
 * @first:	time of the first line
 * @previous:	time of the last line of the batches so far
 * @at:		where the next part begins
 * @over:	there are no more pieces
 * @writing:	protects what follows
 * @changed:	@turn has changed
 * @turn:	number of the piece that can be written
 * @rest:	what the part before that leaves to it
 * @ret:	a negative errno once reading has failed for good
 * @err:	the reason
 * @error:	an errno once a write has failed
 */
struct report_team {
	const struct lines	*lines;
	const struct context	*ctx;
	struct hyptrace_file	*file;
	void			(*note)(const struct hyptrace_error *err, void *arg);
	void			*arg;
	bool			in_parts;
	uint64_t		end;
	pthread_mutex_t		reading;
	uint64_t		next;
	uint64_t		first;
	uint64_t		previous;
	uint64_t		at;
	bool			over;
	pthread_mutex_t		writing;
	pthread_cond_t		changed;
	uint64_t		turn;
	struct file_rest	rest;
	int			ret;
	struct hyptrace_error	err;
	int			error;
};

/* report_team.c */
void report_wait(struct worker *w);
void report_write(struct worker *w);
void report_fail(struct worker *w, int ret, const struct hyptrace_error *err);
void report_pass(struct worker *w);

/* report_batch.c */
void report_batch_init(struct worker *w);
bool report_batch(struct worker *w);

/* report_part.c */
bool report_parts_begin(struct report_team *team);
void report_part_init(struct worker *w);
bool report_part(struct worker *w);

#endif /* REPORT_TEAM_H */
