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

/**
 * struct gap - a sentence
 * @text:	the sentence
 * @is_now:	the last look has found it
 * @was:	so had the look before
 * @in_file:	the file has it
 */
struct gap {
	char	*text;
	bool	is_now;
	bool	was;
	bool	in_file;
};

/**
 * struct gaps - what a verb has found so far
 * @ctx:	the context, connected
 * @remote:	name of the remote
 * @own:	filter that the verb has set itself: only the file has it; or NULL
 * @hears_triggers: the verb says itself which trigger has stopped the recording
 * @file:	gets the sentences, too; or NULL
 * @events:	names of the events of which the verb needs each one
 * @nr_events:	number of @events
 * @state:	state of the remote at the last look
 * @nr_fired:	triggers that had fired then
 * @list:	the sentences
 * @nr:		number of @list
 */
struct gaps {
	struct context			*ctx;
	const char			*remote;
	const char			*own;
	bool				hears_triggers;
	struct hyptrace_file_writer	*file;
	const char			**events;
	unsigned int			nr_events;
	uint32_t			state;
	unsigned int			nr_fired;
	struct gap			*list;
	unsigned int			nr;
};

void gaps_begin(struct gaps *gaps, struct context *ctx, const char *remote,
		const struct event_choice *choice, struct hyptrace_event *const *events,
		unsigned int nr);
void gaps_set_file(struct gaps *gaps, struct hyptrace_file_writer *file);
void gaps_look(struct gaps *gaps);
void gaps_look_at_events(struct gaps *gaps);
void gaps_watch(struct gaps *gaps);
void gaps_end(struct gaps *gaps);
void gaps_note_file(const struct hyptrace_file *file, const char *path);
void cmd_note_gaps(struct context *ctx, const char *name, const char *const *events,
		   unsigned int nr);

#endif /* GAPS_H */
