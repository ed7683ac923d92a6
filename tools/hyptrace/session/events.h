/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events that arguments name.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <argp.h>

#include "lib/hyptrace.h"
#include "cli/args.h"

/**
 * struct words - arguments of a verb
 * @words:	the arguments
 * @nr:		number of @words
 */
struct words {
	const char	**words;
	unsigned int	nr;
};

void cmd_add_word(struct words *words, const char *arg);
error_t cmd_add_words(struct words *words, char *list);
int cmd_choose_events(const char *verb, struct hyptrace_event *const *events, unsigned int nr,
		      const struct words *words, struct event_choice *choice);
void cmd_choose_default(const char *what, const char *remote, struct hyptrace_event *const *events,
			unsigned int nr, const struct words *only, bool quiet,
			struct event_choice *choice);

#endif /* EVENTS_H */
