/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events that words of the command line name, and those that -e and -F choose.
 */
#ifndef CHOICE_H
#define CHOICE_H

#include <argp.h>

#include "lib/hyptrace.h"
#include "cli/args.h"

/* Event ids have 16 bits. */
#define CHOICE_IDS	(UINT16_MAX + 1)

/* Bytes that filter_count() writes at most */
#define FILTER_COUNT_SIZE	40

/* Arguments of a verb; the array is for free() */
struct words {
	const char	**words;
	unsigned int	nr;
};

struct choice {
	struct words		words;		/* arguments of -e */
	const char		*filter;	/* argument of -F, or NULL */
	bool			*wanted;	/* by id, what -e names; NULL: all events */
	struct hyptrace_filters	*filters;	/* the condition of -F; or NULL */
};

void cmd_add_word(struct words *words, const char *arg);
error_t cmd_add_words(struct words *words, char *list);
int cmd_choose_events(const char *verb, struct hyptrace_event *const *events, unsigned int nr,
		      const struct words *words, struct event_choice *choice);
void cmd_choose_default(const char *what, const char *remote, struct hyptrace_event *const *events,
			unsigned int nr, const struct words *only, bool quiet,
			struct event_choice *choice);

int filter_fail(const char *text, size_t at, const struct hyptrace_error *err);
int filter_parse(const char *text, struct hyptrace_event *const *events, unsigned int nr,
		 const struct hyptrace_formats *formats, struct hyptrace_filters **filters);
const char *filter_count(bool filters, uint64_t nr, char text[FILTER_COUNT_SIZE]);

int choice_make(struct choice *choice, const char *verb, struct hyptrace_event *const *events,
		unsigned int nr, const struct hyptrace_formats *formats);
void choice_free(struct choice *choice);
bool choice_accept_event(const struct hyptrace_stream_event *event, void *choice);
struct hyptrace_event **choice_list(const bool *wanted, struct hyptrace_event *const *events,
				    unsigned int *nr);

/* Are not all events chosen? */
static inline bool choice_is_made(const struct choice *choice)
{
	return choice->filters || choice->wanted;
}

#endif /* CHOICE_H */
