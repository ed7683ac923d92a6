/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace: which calls -e chooses, and the filter at EL2 that follows from it.
 */
#ifndef STRACE_CHOICE_H
#define STRACE_CHOICE_H

#include "strace.h"

struct strace_word {
	const char	*text;		/* name or glob of calls or of events */
	bool		is_negated;	/* it excludes them */
};

struct strace_choice {
	struct strace_word	*words;
	unsigned int		nr;
	bool			has_names;	/* a word chooses calls; else all are chosen */
};

bool strace_choice_add(struct strace_choice *choice, char *list);
void strace_choice_free(struct strace_choice *choice);
int strace_choice_check(const struct strace_choice *choice, const struct strace_events *events);
bool strace_choice_accept(const struct strace_choice *choice,
			  const struct hyptrace_meaning *meaning, uint64_t key);
bool strace_choice_kind(const struct strace_choice *choice, const struct strace_events *events,
			enum hyptrace_kind kind);
bool strace_choice_name(const struct strace_choice *choice, enum hyptrace_kind kind,
			const char *name);
char *strace_choice_filter(const struct strace_choice *choice, const struct strace_events *events,
			   enum hyptrace_kind kind);

#endif /* STRACE_CHOICE_H */
