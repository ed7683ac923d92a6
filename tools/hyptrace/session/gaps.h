/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why events are missing although none was lost: somebody else has stopped the recording, or has
 * disabled or filtered an event. For the verbs that read rings, and for those that read files.
 */
#ifndef GAPS_H
#define GAPS_H

#include "lib/hyptrace_file.h"
#include "cli/args.h"
#include "cli/cli.h"

struct gap {
	char	*text;
	bool	is_now;	/* the last look has found it */
	bool	was;	/* so had the look before */
	bool	in_file;	/* the file has it */
};

/* What a verb has found so far */
struct gaps {
	struct context			*ctx;	/* the context, connected */
	const char			*remote;	/* name of the remote */
	/* filter that the verb has set itself: only the file has it; or NULL */
	const char			*own;
	/* the verb has set all filters of its events */
	bool				owns_filters;
	/* the verb says itself which trigger has stopped the recording */
	bool				hears_triggers;
	bool				has_looked;
	bool				is_quiet;	/* find them, but say nothing */
	struct hyptrace_file_writer	*file;	/* gets the sentences, too; or NULL */
	/* names of the events of which the verb needs each one */
	const char			**events;
	unsigned int			nr_events;
	uint32_t			state;	/* state of the remote at the last look */
	unsigned int			nr_fired;	/* triggers that had fired then */
	struct gap			*list;
	unsigned int			nr;
};

void gaps_begin(struct gaps *gaps, struct context *ctx, const char *remote,
		const struct event_choice *choice, struct hyptrace_event *const *events,
		unsigned int nr);
void gaps_set_file(struct gaps *gaps, struct hyptrace_file_writer *file);
void gaps_look(struct gaps *gaps, bool all);
void gaps_watch(struct gaps *gaps);
void gaps_end(struct gaps *gaps);
uint64_t gaps_count_filtered(const struct context *ctx, const struct hyptrace_file *file);
void gaps_note_filtered(const char *name, uint64_t nr);
void gaps_note_file(const struct context *ctx, const struct hyptrace_file *file, const char *path);

#endif /* GAPS_H */
